"""Invented sessions as they really run: messy, about several things, in several languages, much of it not to be kept.

Distractors: hypotheticals, quotations, plans given up, jokes, pasted logs, routine. The joining of accepted proposals
and the cues of other languages were developed on these; the other half is in labelled_sessions_messy_unseen.
"""

from labelled_sessions import Labelled

MESSY = (
    Labelled(
        "ci: an image that does not build",
        "parcel-tracker",
        (
            ("user", "the docker build in ci is red since this morning, can you have a look?"),
            ("assistant", "Let me pull the job log and compare it with the last green run."),
            (
                "user",
                "here's what it prints:\n```\n#14 [builder 6/9] RUN poetry install --no-root\n#14 12.81 "
                "SolverProblemError\n#14 ERROR: process did not complete successfully: exit code: 1\n```",
            ),
            (
                "assistant",
                "Poetry 2.0 was released overnight and the Dockerfile installs it unpinned. `poetry install "
                "--no-root` fails with a `SolverProblemError` because the lock file was written by 1.8.\n\nI'll "
                "pin it.",
            ),
            (
                "assistant",
                "I pinned Poetry to 1.8.3 in `docker/Dockerfile.build`. The image builds again, and the job went "
                "from 11 minutes to 4 minutes since the layer cache is used now.",
            ),
            ("user", "nice!! lol poetry strikes again, we should all become farmers"),
            ("assistant", "Farming has fewer dependency conflicts. Anything else?"),
            (
                "user",
                "yeah. while we're at it: what would it take to move to uv? just asking, not planning to do it now",
            ),
            (
                "assistant",
                "You would need to convert `[tool.poetry]` to `[project]` and replace the lock file. If we moved, "
                "CI could probably save another two minutes.",
            ),
            ("user", "ok, later. btw images get pushed to ghcr only from the release branch, main only builds"),
            ("assistant", "Noted. The `publish` job has the matching `if:` condition already."),
            ("user", "and please don't ever use `latest` tags in our compose files, that bit us twice"),
            (
                "assistant",
                "Understood. I replaced the two `latest` tags in `compose.yml` by digests.\n\n**Still open:** the "
                "arm64 image is not built yet because the runner has no QEMU.",
            ),
            ("user", "right, Marek wants to sort out the runner next week. thx, that's all"),
        ),
        (
            (None, ("SolverProblemError", "1.8")),
            (None, ("Dockerfile.build", "1.8.3")),
            ("result", ("11 minutes", "4 minutes")),
            (None, ("ghcr", "release branch")),
            ("rule", ("latest", "compose")),
            (None, ("arm64", "QEMU")),
        ),
        ("farmer", "Farming", "two minutes", "Let me pull", "exit code", "convert"),
    ),
    Labelled(
        "deutsch: eine Rechnungs-API",
        "rechnungswerk",
        (
            ("user", "Moin, die PDF-Rechnungen haben falsche Beträge, sobald Rabatt drauf ist. Schau mal bitte."),
            ("assistant", "Ich sehe mir zuerst `invoice/totals.py` an."),
            (
                "assistant",
                "Die Ursache liegt in `apply_discount()`: der Rabatt wird nach der Mehrwertsteuer abgezogen statt "
                "davor.",
            ),
            ("user", "Genau, Rabatt muss immer vor der Steuer abgezogen werden, so will es der Steuerberater."),
            (
                "assistant",
                "Ich habe die Reihenfolge in `invoice/totals.py` umgedreht. Alle 84 Tests laufen durch.",
            ),
            ("user", "Super. Vielleicht bauen wir irgendwann mal E-Rechnungen ein, mal sehen."),
            ("assistant", "Klar, sag einfach Bescheid."),
            (
                "user",
                "Noch was: Wir haben uns für WeasyPrint entschieden, weil wkhtmltopdf nicht mehr gepflegt wird.",
            ),
            ("assistant", "Verstanden. Soll ich `wkhtmltopdf` aus dem Image entfernen?"),
            ("user", "Ja. Und committe bitte niemals direkt auf `main`, immer über einen Merge-Request."),
            ("assistant", "Erledigt, das Image ist jetzt 210 MB statt 480 MB groß."),
            ("user", "Der Kunde Hansen bekommt seine Rechnungen übrigens per Post, nicht per Mail. Tschüss!"),
        ),
        (
            (None, ("apply_discount()", "Mehrwertsteuer")),
            (None, ("Rabatt", "vor der Steuer")),
            ("decision", ("WeasyPrint", "wkhtmltopdf")),
            ("rule", ("niemals", "main")),
            ("result", ("210 MB",)),
            (None, ("Hansen", "per Post")),
        ),
        ("Moin", "Ich sehe mir", "mal sehen", "Bescheid", "Super"),
    ),
    Labelled(
        "game: a plan that was given up",
        "tidepool",
        (
            ("user", "enemies jitter when the frame rate drops below 40, any idea"),
            ("assistant", "I'll read the movement system."),
            (
                "assistant",
                "Found it: `move_enemies` in `src/systems/movement.rs` multiplies the velocity by the frame's own "
                "delta, and collisions run on a fixed step of 1/60. The two drift apart.",
            ),
            ("user", "so what do you suggest"),
            (
                "assistant",
                "Two ways: move everything to `FixedUpdate`, or interpolate the transforms. I'd recommend "
                "`FixedUpdate` with interpolation in the render world, since physics stays deterministic.",
            ),
            ("user", "yes, do that"),
            (
                "assistant",
                "Moved `move_enemies` and `resolve_collisions` to `FixedUpdate` at 64 Hz. Jitter is gone at 30 "
                "fps, and a frame takes 6.1 ms instead of 7.4 ms on the Steam Deck.",
            ),
            ("user", "great. let's rewrite the pathfinding in a compute shader next"),
            ("assistant", "I can start with a flow field in WGSL."),
            ("user", "hmm, no, forget the compute shader, wasm builds can't use it. keep A* on the CPU"),
            ("assistant", "OK, `pathfinding.rs` stays as it is."),
            (
                "user",
                "one more: the level format. We store levels as RON files under `assets/levels`, the Tiled import "
                "was dropped because it lost the spawn groups.",
            ),
            (
                "assistant",
                "Good to know. The `LevelLoader` validates spawn groups at load time and panics on a duplicate id.",
            ),
            (
                "user",
                "imagine if we shipped that panic to players, haha. TODO for v0.4: return an error instead of the "
                "panic",
            ),
        ),
        (
            (None, ("move_enemies", "1/60")),
            (None, ("FixedUpdate", "deterministic")),
            (None, ("FixedUpdate", "64 Hz")),
            ("result", ("6.1 ms", "7.4 ms")),
            ("decision", ("A*", "CPU")),
            (None, ("RON", "assets/levels")),
            (None, ("LevelLoader", "spawn groups")),
            ("todo", ("v0.4", "error")),
        ),
        ("WGSL", "rewrite the pathfinding", "imagine if", "I'll read"),
    ),
    Labelled(
        "machine learning: runs and their numbers",
        "leafscan",
        (
            (
                "user",
                "Continue with the leaf disease classifier. Goal for today is to get macro F1 above 0.85 on the "
                "field set.",
            ),
            (
                "assistant",
                "The last checkpoint has a macro F1 of 0.79 on the field set. Let me look at the confusion matrix.",
            ),
            (
                "assistant",
                "Most errors are rust mistaken for blight: 61 % of the misses. In the training set rust has only "
                "412 images, blight has 3,950.",
            ),
            ("user", "try a weighted loss?"),
            (
                "assistant",
                "Weighted cross entropy raised the macro F1 from 0.79 to 0.82, but blight recall fell from 0.93 to "
                "0.88.",
            ),
            ("user", "meh. and focal loss?"),
            (
                "assistant",
                "Focal loss with gamma 2 gives 0.81, so it is not better than the weighted loss. Oversampling rust "
                "by 4 together with RandAugment reached a macro F1 of 0.87 on the field set.",
            ),
            ("user", "there we go! keep oversampling + RandAugment, drop both losses"),
            (
                "assistant",
                "Done. The configuration is in `configs/field_v7.yaml`; train with `python train.py --config "
                "configs/field_v7.yaml`, which takes 3 h 20 min on one A10.",
            ),
            ("user", "always evaluate on the field set, never on the lab set, the lab photos are far too clean"),
            ("assistant", "Will do."),
            (
                "user",
                'reviewer 2 said: "the authors should always report accuracy" lol no. accuracy is useless with '
                "this imbalance",
            ),
            ("assistant", "Macro F1 it is, then. Shall I export to ONNX?"),
            ("user", "yes, opset 17, the phone app can't load anything newer"),
            ("assistant", "Exported `leafscan_v7.onnx`, 14.2 MB. It runs in 38 ms on a Pixel 6."),
        ),
        (
            (None, ("rust", "412")),
            ("result", ("weighted cross entropy", "0.82")),
            ("result", ("oversampling", "0.87")),
            ("decision", ("oversampling", "RandAugment")),
            (None, ("train.py", "field_v7.yaml")),
            ("rule", ("field set", "lab set")),
            (None, ("opset 17",)),
            ("result", ("38 ms", "Pixel 6")),
        ),
        ("reviewer 2", "report accuracy", "Let me look", "Will do", "Shall I"),
    ),
    Labelled(
        "infrastructure: hypotheticals and a quotation",
        "skylark-infra",
        (
            ("user", "terraform plan wants to recreate the RDS instance, wtf"),
            ("assistant", "Recreating would lose the data, so I won't apply anything. Let me see the diff."),
            (
                "assistant",
                "The plan replaces `aws_db_instance.main` because `storage_encrypted` changed from false to true, "
                "and that attribute forces a new resource.",
            ),
            ("user", "ah, that was Tim's commit. What if we just ran it at night?"),
            (
                "assistant",
                "If we applied it at night, the database would be empty afterwards. A safe way is a snapshot "
                "copied with encryption and restored under the new name.",
            ),
            ("user", "let's do it like that"),
            (
                "assistant",
                "The restored instance is `skylark-main-enc`. I imported it with `terraform import "
                "aws_db_instance.main skylark-main-enc`, and the plan is clean now.",
            ),
            ("user", "phew. add `prevent_destroy` to everything that holds data, please"),
            (
                "assistant",
                "Added `prevent_destroy = true` to the database, both buckets and the EFS volume in "
                "`modules/data/main.tf`.",
            ),
            (
                "user",
                "from the aws docs:\n> You must always enable deletion protection for production databases. Never "
                "store credentials in state files.",
            ),
            ("assistant", "Deletion protection is on as well."),
            (
                "user",
                "State lives in the S3 bucket skylark-tfstate in eu-central-1, locking through DynamoDB. Only Tim "
                "and I may apply to prod, everybody else goes through Atlantis.",
            ),
            ("assistant", "Good, `backend.tf` matches that."),
            ("user", "maybe we'll go multi region one day. not this year"),
        ),
        (
            (None, ("aws_db_instance.main", "storage_encrypted")),
            (None, ("snapshot", "encrypt")),
            (None, ("terraform import", "skylark-main-enc")),
            (None, ("prevent_destroy",)),
            (None, ("skylark-tfstate",)),
            (None, ("Atlantis",)),
        ),
        ("What if", "at night", "multi region", "deletion protection for production", "phew"),
    ),
    Labelled(
        "español: una aplicación móvil",
        "huerta",
        (
            ("user", "hola, la app se cierra al abrir el mapa en android 14"),
            ("assistant", "Voy a revisar el registro del dispositivo."),
            (
                "assistant",
                "El problema era que falta el permiso `FOREGROUND_SERVICE_LOCATION` en `AndroidManifest.xml`; "
                "Android 14 lo exige para el servicio de ubicación.",
            ),
            ("user", "vale, añádelo"),
            ("assistant", "Añadido. La app ya abre el mapa en el emulador con API 34 sin errores."),
            ("user", "perfecto, gracias. ¿usamos MapLibre o Google Maps para la versión sin conexión?"),
            ("assistant", "MapLibre permite teselas locales; Google Maps no funciona sin red."),
            ("user", "Entonces decidimos usar MapLibre porque tiene que funcionar en el campo sin cobertura."),
            ("assistant", "De acuerdo."),
            ("user", "Siempre escribe los textos de la interfaz en `i18n/es.json`, nunca dentro de los componentes."),
            ("assistant", "Entendido, lo haré así."),
            ("user", "prefiero respuestas cortas, por favor"),
            ("assistant", "El tiempo de arranque bajó de 4,1 s a 1,9 s con Hermes activado."),
        ),
        (
            (None, ("FOREGROUND_SERVICE_LOCATION",)),
            ("decision", ("MapLibre", "sin cobertura")),
            ("rule", ("i18n/es.json",)),
            ("preference", ("respuestas cortas",)),
            ("result", ("4,1 s", "1,9 s")),
        ),
        ("Voy a revisar", "gracias", "De acuerdo", "hola"),
    ),
    Labelled(
        "a long answer and what the user takes from it",
        "inkwell",
        (
            ("user", "we need search in the notes app. think about options first, no code"),
            (
                "assistant",
                "## Options\n\n1. **SQLite FTS5** - in the same file, no server, BM25.\n2. **Meilisearch** - typo "
                "tolerance, but a process to run.\n3. **lunr.js** - in the browser, index grows with the "
                "notes.\n\n## Recommendation\n\nI recommend FTS5 with the trigram tokenizer, because notes hold "
                "Japanese as well as English and users expect substring matches.\n\nWant me to go ahead?",
            ),
            ("user", "sounds right, go ahead"),
            ("assistant", "Creating the migration."),
            (
                "assistant",
                "## Summary\n\nSearch is implemented.\n\n- Migration `0012_search.sql` creates the virtual table "
                "`notes_fts` and three triggers that keep it in step\n- `searchNotes()` in `src/db/search.ts` "
                "ranks by BM25, titles weighted 4:1\n- The endpoint is `GET /api/notes/search?q=`\n\nAll 212 tests "
                "pass. A query over 50,000 notes takes 9 ms.\n\nLet me know if you'd like me to adjust anything!",
            ),
            ("user", "cool. highlighting?"),
            (
                "assistant",
                "`snippet()` does not work with the trigram tokenizer's contentless tables, so highlighting has to "
                "be done in the client.",
            ),
            ("user", "ok then in the client. use the existing `Highlight` component, don't write another one"),
            (
                "assistant",
                "Used `Highlight` in `SearchResult.tsx`. Queries shorter than three characters return nothing, "
                "since a trigram needs three.",
            ),
            ("user", "fine for now, but put it on the list: short queries must fall back to LIKE"),
            ("assistant", "I added it to `docs/roadmap.md`."),
        ),
        (
            (None, ("FTS5", "trigram", "Japanese")),
            (None, ("notes_fts", "triggers")),
            (None, ("searchNotes()", "BM25")),
            ("result", ("9 ms",)),
            (None, ("snippet()", "client")),
            (None, ("Highlight", "component")),
            (None, ("three characters",)),
            (None, ("short queries", "LIKE")),
        ),
        ("Want me to", "Meilisearch", "lunr", "Let me know", "Creating the migration"),
    ),
    Labelled(
        "chatter in which nothing happens",
        "everywhere",
        (
            ("user", "hey, you there?"),
            ("assistant", "Yes! What are we working on?"),
            ("user", "not sure yet. what do you think about tabs vs spaces"),
            ("assistant", "An old war. Most formatters decide it for you these days."),
            ("user", "haha true. can you list the files here"),
            ("assistant", "There are 14 files, mostly Python: `main.py`, `util.py`, and a few tests."),
            ("user", "run the tests"),
            ("assistant", "Running them now. All 23 tests pass."),
            ("user", "ok cool. maybe I'll rewrite it in Rust some day"),
            ("assistant", "That could be fun. Let me know if I can help!"),
            ("user", "nah, brb lunch"),
            ("assistant", "Enjoy your lunch!"),
        ),
        (),
        ("Rust", "formatters", "14 files"),
    ),
)
