"""Sessions written and labelled when the rules for the messy ones were there; some faults that they showed were mended.

What they gave at first sight is in docs/distilling.md.
"""

from labelled_sessions import Labelled

FRESH = (
    Labelled(
        "kubernetes: pods are killed",
        "orderhub",
        (
            ("user", "checkout pods get OOMKilled every couple of hours since 4.2, can you figure out why"),
            ("assistant", "I'll compare the memory graphs of 4.1 and 4.2 first."),
            (
                "assistant",
                "Memory grows by about 30 MB an hour. The heap dump shows 400,000 `PriceQuote` objects held by the "
                "static map in `QuoteCache`, which was introduced in 4.2 and has no size limit.",
            ),
            ("user", "ugh. that was me"),
            ("assistant", "Happens. I can bound it or key it by cart, what do you prefer?"),
            ("user", "bound it, 10k entries should do"),
            (
                "assistant",
                "`QuoteCache` uses Caffeine now with a maximum of 10,000 entries and a TTL of 15 minutes. After "
                "three hours under load the heap is flat at 310 MB.",
            ),
            (
                "user",
                "lovely. btw helm values for prod are in the ops repo, not in this one, so don't edit charts/ here "
                "for prod",
            ),
            ("assistant", "Thanks, I'll leave `charts/` alone."),
            ("user", "someone on reddit says java is dead, what do you think"),
            ("assistant", "It has been declared dead for twenty years and still runs your checkout."),
            ("user", "ha. ok, release it as 4.2.1; hotfixes are always cut from the release branch, never from main"),
            ("assistant", "Tagged 4.2.1 on `release/4.2`. The rollout took 9 minutes."),
        ),
        (
            (None, ("PriceQuote", "QuoteCache")),
            (None, ("Caffeine", "10,000")),
            ("result", ("310 MB",)),
            (None, ("helm", "ops repo")),
            ("rule", ("hotfix", "release branch")),
        ),
        ("reddit", "dead", "I'll compare", "that was me"),
    ),
    Labelled(
        "a library and its types",
        "pyshapes",
        (
            ("user", "mypy explodes after the numpy upgrade: 212 errors. where do we even start"),
            (
                "assistant",
                "Nearly all come from one place: `Vector` in `pyshapes/types.py` is an alias of `np.ndarray` "
                "without a dtype, and NumPy 2 made that `ndarray[Any, Any]`.",
            ),
            (
                "assistant",
                "I'd suggest defining `Vector = npt.NDArray[np.float64]` and converting at the public functions, "
                "because users pass lists and float32 arrays all the time.",
            ),
            ("user", "ok good, do it"),
            ("assistant", "Done. mypy is down from 212 errors to 3, all in `contrib/`."),
            ("user", "ignore contrib, nobody maintains it. we'll remove it in 3.0"),
            ("assistant", "I excluded `contrib/` in `pyproject.toml`."),
            (
                "user",
                "the numpy docs say:\n> You should always use `np.asarray` on input and never rely on dtype "
                "promotion.\n\nis that what we do?",
            ),
            ("assistant", "Yes, `_as_vector()` calls `np.asarray` with `dtype=float`."),
            ("user", "great. we support python 3.10 to 3.13, and tests run against numpy 1.26 and 2.x in tox"),
            ("assistant", "Understood. `tox -e py313-np2` passes; the whole matrix takes 4 min 10 s."),
            ("user", "public functions must keep working with plain lists, that's a promise from the readme"),
            ("assistant", "There's a test for that in `tests/test_inputs.py`."),
        ),
        (
            (None, ("Vector", "dtype")),
            (None, ("NDArray[np.float64]", "lists")),
            ("result", ("212", "3")),
            (None, ("contrib", "3.0")),
            (None, ("3.10", "3.13")),
            (None, ("plain lists",)),
        ),
        ("where do we even start", "np.asarray", "dtype promotion"),
    ),
    Labelled(
        "deutsch: ein Lagerverwaltungsprogramm",
        "lagerfix",
        (
            ("user", "Der Import der Lieferscheine dauert ewig, gestern 50 Minuten für 2000 Zeilen."),
            ("assistant", "Ich messe erst einmal, wo die Zeit bleibt."),
            (
                "assistant",
                "Das Problem ist die Artikelsuche: `find_article()` lädt für jede Zeile die ganze Artikeltabelle neu.",
            ),
            ("user", "Uff. Und was schlägst du vor?"),
            ("assistant", "Ich würde die Artikel einmal vorab in ein Dictionary laden."),
            ("user", "Ja, mach das so."),
            ("assistant", "Fertig. Der Import dauert jetzt 40 Sekunden statt 50 Minuten."),
            ("user", "Wahnsinn! Artikelnummern sind übrigens nicht eindeutig, erst zusammen mit dem Lieferanten."),
            ("assistant", "Gut zu wissen, dann nehme ich beides als Schlüssel."),
            ("user", "Lösche nie Bewegungen aus der Tabelle `bewegung`, Stornos sind immer Gegenbuchungen."),
            ("assistant", "Verstanden, ich buche Stornos als Gegenbuchung."),
            ("user", "Wir nutzen Firebird und bleiben auch dabei, der Kunde hat keinen anderen Server. Feierabend!"),
        ),
        (
            (None, ("find_article()",)),
            ("result", ("40 Sekunden", "50 Minuten")),
            (None, ("Artikelnummern", "Lieferanten")),
            ("rule", ("bewegung", "Gegenbuchungen")),
            (None, ("Firebird",)),
        ),
        ("Uff", "Ich messe", "Wahnsinn", "Feierabend"),
    ),
    Labelled(
        "security: a review with ifs and buts",
        "vaultline",
        (
            ("user", "please review the upload endpoint, pentest is in two weeks"),
            ("assistant", "I'll go through `api/upload.py` and the storage layer."),
            (
                "assistant",
                "Three findings:\n\n1. `save_upload()` trusts the client's file name, so `../` escapes the upload "
                "folder.\n2. SVGs are served from the main domain with `image/svg+xml`, which lets them run "
                "scripts.\n3. There is no limit on the size of a request.",
            ),
            ("user", "damn. what if an attacker combined the first two?"),
            ("assistant", "They could replace a static page and steal sessions. That would be bad."),
            ("user", "fix all three. for svg: sanitize or other domain?"),
            ("assistant", "Sanitizers get bypassed now and then; a separate domain holds even then."),
            ("user", "other domain then, we own vaultline-usercontent.example anyway"),
            (
                "assistant",
                "File names are now random UUIDs, uploads are served from `vaultline-usercontent.example`, and "
                "nginx rejects bodies above 25 MB.",
            ),
            ("user", "why 25? marketing uploads 80 MB videos"),
            ("assistant", "Raised `client_max_body_size` to 100m in `nginx/upload.conf`."),
            ("user", "ok. we still have to rotate the signing key before the pentest. Jonas does that"),
            ("assistant", "I'll note it in the checklist."),
            ("user", "and don't put findings into public github issues, they belong into the private tracker"),
        ),
        (
            (None, ("save_upload()", "file name")),
            (None, ("SVG", "scripts")),
            ("decision", ("domain",)),
            (None, ("client_max_body_size", "100m")),
            ("todo", ("signing key",)),
            ("rule", ("findings", "private tracker")),
        ),
        ("what if an attacker", "They could", "damn", "25 MB"),
    ),
    Labelled(
        "analytics: numbers that did not agree",
        "churnboard",
        (
            ("user", "the dashboard says 4.1% churn for march, finance says 5.6. who's right?"),
            ("assistant", "Let me recompute both from the raw events."),
            (
                "assistant",
                "Finance is right. `monthly_churn` in `models/churn.sql` counts customers by their signup month "
                "instead of their billing month, so people on annual plans are missed.",
            ),
            ("user", "ok so fix the model. definition: a customer has churned when no invoice was paid for 45 days"),
            (
                "assistant",
                "I rewrote `monthly_churn` in `models/churn.sql` with the 45 days rule. March is 5.6 % now, the "
                "same as finance has.",
            ),
            ("user", "perfect!! and can dbt tell us next time before the cfo does?"),
            (
                "assistant",
                "A dbt test could compare the two figures each night and fail above a difference of 0.2 points.",
            ),
            ("user", "yes, do that please"),
            ("assistant", "Added `assert_churn_matches_finance` in `tests/churn.sql`."),
            ("user", "we thought about looker once but it's too expensive, we stay with metabase"),
            ("assistant", "Metabase works well with the model as it is."),
            ("user", "btw numbers in dashboards use a comma for thousands, the CEO hates dots"),
            ("assistant", "Sure. Changed the number format in both dashboards."),
        ),
        (
            (None, ("monthly_churn", "signup month")),
            (None, ("churned", "45 days")),
            (None, ("dbt test", "0.2 points")),
            (None, ("assert_churn_matches_finance",)),
            (None, ("metabase",)),
            (None, ("comma",)),
        ),
        ("who's right", "Let me recompute", "next time before"),
    ),
    Labelled(
        "a look at the weather",
        "everywhere",
        (
            ("user", "hi! can you tell me what time it is in Tokyo"),
            ("assistant", "Tokyo is nine hours ahead of UTC, so it's late in the evening there."),
            ("user", "thanks. what's in this folder?"),
            ("assistant", "Two text files and a spreadsheet, nothing else."),
            ("user", "open notes.txt"),
            ("assistant", "It contains a shopping list: milk, eggs and bread."),
            ("user", "lol right. always buy eggs, they say"),
            ("assistant", "Sound advice!"),
            ("user", "ok that was all, thank you"),
            ("assistant", "You're welcome, have a nice day!"),
        ),
        (),
        ("eggs", "Tokyo", "spreadsheet"),
    ),
)
