"""Sessions written after every rule, distilled once, and no rule was changed for them: what to expect of the next ones.

Their precision and recall are in docs/distilling.md; the tests hold them a little below.
"""

from labelled_sessions import Labelled

LAST = (
    Labelled(
        "android: a widget that drains the battery",
        "stepcount",
        (
            ("user", "users complain the widget drains their battery, one guy lost 20% overnight lol"),
            ("assistant", "I'll look at how the widget is updated."),
            (
                "assistant",
                "`StepWidget` schedules an exact alarm every minute, even when the screen is off. That wakes the "
                "phone 1,440 times a day.",
            ),
            ("user", "that's dumb. what would be better, WorkManager or a broadcast when the screen turns on?"),
            (
                "assistant",
                "The broadcast costs nothing while the screen is off; WorkManager can't run more often than every "
                "15 minutes.",
            ),
            ("user", "broadcast, widgets only matter when somebody looks at them"),
            (
                "assistant",
                "Replaced the alarm with a receiver for `ACTION_SCREEN_ON` in `StepWidget.kt`. In the overnight "
                "test the drain fell from 9 % to 1 %.",
            ),
            ("user", "wow great. min sdk stays 26 btw, a lot of our users have old phones"),
            ("assistant", "Understood, nothing I used needs more than 26."),
            ("user", "and never call the Health API on the main thread, it blocked for seconds on a Pixel 4"),
            ("assistant", "Noted, the calls run on `Dispatchers.IO` already."),
            ("user", "if we ever do an iOS version we should share this logic, but that's far away"),
        ),
        (
            (None, ("StepWidget", "every minute")),
            ("decision", ("broadcast",)),
            ("result", ("9 %", "1 %")),
            (None, ("ACTION_SCREEN_ON",)),
            (None, ("sdk", "26")),
            ("rule", ("Health API", "main thread")),
        ),
        ("one guy", "I'll look", "far away", "that's dumb"),
    ),
    Labelled(
        "latex: a thesis and its build",
        "thesis",
        (
            ("user", "latexmk takes 3 minutes every time I change a comma. help"),
            ("assistant", "Let me see which packages are loaded."),
            (
                "assistant",
                "Most of the time goes into TikZ: 41 figures are drawn again on every run. With the `external` "
                "library each is compiled once and cached as a PDF.",
            ),
            ("user", "ok do that"),
            (
                "assistant",
                "I enabled `\\usetikzlibrary{external}` in `preamble.tex`; the figures are cached in "
                "`build/tikz/`. A run takes 14 s now.",
            ),
            ("user", "nice. my supervisor wants author-year citations, so biblatex with style=authoryear, no numbers"),
            ("assistant", "Switched `biblatex` to `authoryear`. Two entries lack a year, `knuth` and `smith-draft`."),
            ("user", "smith-draft is unpublished, leave it. british spelling everywhere please, also in captions"),
            ("assistant", "OK, I set `babel` to `british` and corrected eleven words."),
            ("user", "deadline is 14 March, printing takes the shop two days"),
            (
                "assistant",
                "Good luck! Build with `latexmk -pdf -shell-escape main.tex`; without `-shell-escape` the figures "
                "are not cached.",
            ),
        ),
        (
            (None, ("TikZ", "41 figures")),
            ("result", ("14 s",)),
            (None, ("tikz", "build/tikz")),
            (None, ("author-year",)),
            (None, ("british",)),
            (None, ("14 March",)),
            ("procedure", ("latexmk -pdf -shell-escape",)),
        ),
        ("Let me see", "Good luck", "help"),
    ),
    Labelled(
        "español: un servidor de correo",
        "correo",
        (
            ("user", "los correos a gmail acaban en spam desde el lunes"),
            ("assistant", "Voy a mirar las cabeceras de uno de ellos."),
            (
                "assistant",
                "La causa es que la firma DKIM usa el selector `mail2019`, pero en el DNS solo está publicado "
                "`mail2024`.",
            ),
            ("user", "ah claro, cambié la clave. arréglalo"),
            (
                "assistant",
                "He puesto `mail2024` en `/etc/opendkim.conf` y he reiniciado el servicio. Gmail acepta los "
                "mensajes otra vez.",
            ),
            ("user", "genial. usamos Postfix y no Exim porque todo el equipo lo conoce"),
            ("assistant", "Entendido."),
            ("user", "nunca reinicies el servidor entre las 8 y las 20, hay gente trabajando"),
            ("assistant", "De acuerdo, solo por la noche."),
            ("user", "los respaldos se guardan en el NAS de la oficina y se borran a los 90 días"),
            ("assistant", "La cola bajó de 1.200 a 40 mensajes."),
            ("user", "quizás algún día pasemos a la nube"),
        ),
        (
            (None, ("mail2019", "mail2024")),
            ("decision", ("Postfix", "Exim")),
            ("rule", ("entre las 8 y las 20",)),
            (None, ("NAS", "90 días")),
            ("result", ("1.200",)),
        ),
        ("nube", "Voy a mirar", "genial"),
    ),
    Labelled(
        "rust: a parser gets faster",
        "logsift",
        (
            ("user", "we parse 40 GB of nginx logs a day and it takes 2h. can we make it 20 min?"),
            ("assistant", "I'll profile it with perf."),
            (
                "assistant",
                "Two hot spots: `Regex::captures` in `parse_line()` takes 58 % of the time, and `String` "
                "allocations another 20 %.",
            ),
            (
                "assistant",
                "A hand-written scanner over bytes would avoid both, because the format is fixed. Shall I try it?",
            ),
            ("user", "yes, go ahead"),
            (
                "assistant",
                "`parse_line()` in `src/scan.rs` now works on `&[u8]` with memchr. The day's logs take 11 minutes "
                "instead of 2 hours.",
            ),
            ("user", "holy cow. okay what happens with broken lines?"),
            (
                "assistant",
                "They are counted and written to `rejects.log`; the exit code is 3 when more than 1 % of the lines "
                "is broken.",
            ),
            ("user", "good. cargo fmt and clippy must be clean before anything is merged, CI checks both"),
            ("assistant", "Both are clean."),
            ("user", "I tried to explain memchr to my cat, no luck. anyway. we still need a flag for gzipped input"),
            ("assistant", "I can add that with flate2."),
            ("user", "not now"),
        ),
        (
            (None, ("Regex::captures", "58 %")),
            (None, ("scanner", "format is fixed")),
            ("result", ("11 minutes", "2 hours")),
            (None, ("rejects.log",)),
            (None, ("clippy", "merged")),
            ("todo", ("gzipped",)),
        ),
        ("my cat", "holy cow", "I'll profile", "flate2"),
    ),
    Labelled(
        "a quick question or two",
        "everywhere",
        (
            ("user", "what's the difference between rebase and merge"),
            ("assistant", "A merge joins two histories with a commit; a rebase writes yours anew on top of the other."),
            ("user", "ok. and which one do people like"),
            ("assistant", "It depends on the team. Many like a straight history."),
            ("user", "makes sense. thanks!"),
            ("assistant", "You're welcome!"),
            ("user", "is the build green?"),
            ("assistant", "Yes, the last run passed."),
            ("user", "great, see you tomorrow"),
            ("assistant", "See you!"),
        ),
        (),
        ("straight history", "the last run"),
    ),
)
