"""A second set of invented sessions, longer ones, written before the distiller was run on any of them.

What they gave at first sight is in docs/distilling.md; the distiller was developed further on them.
"""

from labelled_sessions import Labelled

LONG = (
    Labelled(
        "web app: uploads fail, and how pages are cached",
        "recipe-site",
        (
            ("user", "Photo uploads above 1 MB fail with a 413 on staging. It works on my laptop."),
            ("assistant", "I'll look at the proxy first."),
            (
                "assistant",
                "nginx in front of staging has `client_max_body_size` unset, so the default of 1 MB applies. I set it "
                "to 20m in `deploy/nginx.conf` and reloaded. An 8 MB photo now uploads fine.",
            ),
            ("user", "Great. Now the recipe page. It's slow for logged-out visitors."),
            (
                "assistant",
                "Two ways to do this: cache whole pages in Varnish, or cache fragments in Redis. Varnish is faster "
                "but needs its own box.",
            ),
            ("user", "Fragments in Redis then. We have no budget for another box."),
            (
                "assistant",
                "Added `FragmentCache` in `app/cache/fragments.py`; keys carry the recipe's `updated_at`, so an edit "
                "invalidates them. Median response went from 840 ms to 95 ms for logged-out visitors.",
            ),
            ("user", "nice. don't cache anything for logged-in users, their pages show allergies"),
            ("assistant", "Right, I'll skip the cache when `request.user` is set. Tests pass: 88 of them."),
            ("user", "ok commit it"),
        ),
        (
            (None, ("413", "client_max_body_size")),
            (None, ("FragmentCache", "fragments.py")),
            (None, ("Redis", "budget")),
            ("result", ("840 ms", "95 ms")),
            (None, ("cache", "logged-in users")),
            (None, ("default of 1 MB",)),
        ),
        ("I'll look", "commit it", "slow for logged-out visitors. It"),
    ),
    Labelled(
        "data pipeline: duplicate rows and a late partition",
        "sales-etl",
        (
            ("user", "The revenue dashboard doubled last night. Find out why."),
            ("assistant", "Let me compare the row counts per partition."),
            (
                "assistant",
                "The 02:00 run was retried by Airflow after its worker died, and `load_orders` appends instead of "
                "merging. So every retry inserts the same orders again.",
            ),
            ("user", "Make it idempotent. We use MERGE on `order_id` everywhere else."),
            (
                "assistant",
                "Changed `load_orders` to a MERGE on `order_id` in `dags/orders/load.sql`. I replayed the last three "
                "days twice and the counts stay at 1,204,331.",
            ),
            ("user", "and the partitions for Sunday come late, why?"),
            (
                "assistant",
                "The vendor exports Sunday's file on Monday at 05:30 UTC, but the sensor `wait_for_export` times out "
                "at 05:00. I raised its timeout to three hours and last Sunday's partition loaded.",
            ),
            ("user", "Good. Backfills must go through `make backfill DAY=...`, never by hand in the Airflow UI."),
            ("assistant", "Noted. Running `make backfill DAY=2024-03-10` took 11 minutes and loaded 48,211 rows."),
            ("user", "great, that's all for today"),
        ),
        (
            (None, ("load_orders", "appends instead of merging")),
            (None, ("MERGE", "order_id")),
            (None, ("vendor", "05:30")),
            (None, ("wait_for_export", "timeout")),
            (None, ("make backfill", "never by hand")),
            ("result", ("11 minutes",)),
        ),
        ("Let me compare", "that's all", "Find out why"),
    ),
    Labelled(
        "CLI tool: a crash in a pipe, and the exit codes",
        "csvq",
        (
            ("user", "add a --limit flag"),
            (
                "assistant",
                "Added the `--limit` flag in `src/args.rs`; it stops reading after N rows instead of filtering the "
                "output, so large files end at once.",
            ),
            (
                "assistant",
                "Running `cargo test` failed with `thread 'main' panicked at 'failed printing to stdout: Broken "
                "pipe'`.",
            ),
            (
                "assistant",
                "Rust ignores SIGPIPE by default, so writing to a closed pipe panics in `println!`. I replaced it with "
                "`writeln!` and return quietly on `ErrorKind::BrokenPipe`. All 61 tests pass now.",
            ),
            ("user", "what exit code do we return for a bad query?"),
            ("assistant", "At the moment 1, the same as for an I/O error."),
            ("user", "Use 2 for usage errors and 1 for I/O. grep does it like that and people script against it."),
            (
                "assistant",
                "Exit codes are defined in `src/exit.rs` now: 0 for success, 1 for I/O errors, 2 for usage errors.",
            ),
            ("user", "I'd rather have the long flags only, no short ones, except -h"),
            ("assistant", "Okay, I removed `-l` and `-d`. `csvq --limit 5 big.csv` runs in 0.02 s on a 2 GB file."),
        ),
        (
            (None, ("--limit", "src/args.rs")),
            (None, ("Broken", "BrokenPipe")),
            (None, ("SIGPIPE",)),
            (None, ("2 for usage errors",)),
            (None, ("long flags only",)),
            ("result", ("0.02 s",)),
        ),
        ("Okay, I removed", "At the moment", "what exit code"),
    ),
    Labelled(
        "infra: a cluster upgrade",
        "platform-infra",
        (
            ("user", "We are on EKS 1.27 and have to be on 1.29 before the end of support. Plan it."),
            (
                "assistant",
                "## Plan\n\n1. Upgrade the add-ons\n2. Upgrade the control plane to 1.28, then 1.29\n3. Roll the "
                "node groups\n\nShall I start with the add-ons on staging?",
            ),
            ("user", "yes"),
            (
                "assistant",
                "`terraform apply` failed on staging: `PodDisruptionBudget` of the payments service allows zero "
                "disruptions, so the nodes never drain.",
            ),
            (
                "assistant",
                "I set `maxUnavailable: 1` in `charts/payments/values.yaml`, and the node group rolled in 14 minutes.",
            ),
            ("user", "Good. State lives in the bucket acme-tfstate, and only the CI role may apply to production."),
            ("assistant", "Understood, I won't apply to production from here."),
            (
                "user",
                "we chose managed node groups over Karpenter because two of us know Karpenter and both are leaving",
            ),
            ("assistant", "Makes sense. I documented that in `docs/adr/0007-node-groups.md`."),
            ("user", "Marta is on call for the cluster until the upgrade is through."),
            ("assistant", "Staging runs on 1.29 now. Production still needs to be upgraded."),
        ),
        (
            (None, ("PodDisruptionBudget", "maxUnavailable")),
            (None, ("PodDisruptionBudget", "never drain")),
            (None, ("acme-tfstate",)),
            ("decision", ("managed node groups", "Karpenter")),
            ("person", ("Marta",)),
            (None, ("Staging", "1.29")),
            (None, ("0007-node-groups",)),
            ("todo", ("Production still needs",)),
        ),
        ("Shall I start", "Understood", "Makes sense"),
    ),
    Labelled(
        "mobile: a crash at start and the signing of builds",
        "trail-app",
        (
            ("user", "the android release build crashes at start, debug is fine"),
            (
                "assistant",
                "The crash is a `ClassNotFoundException: com.trail.model.Track`, which R8 strips because Moshi reaches "
                "it by reflection only.",
            ),
            ("user", "so what do we do"),
            (
                "assistant",
                "I added a keep rule for `com.trail.model.**` to `app/proguard-rules.pro`. The release build starts "
                "on the Pixel 6 and the emulator.",
            ),
            ("user", "yep works. next: offline maps. mbtiles or vector tiles from our own server?"),
            (
                "assistant",
                "MBTiles need about 400 MB per region, vector tiles about 60 MB, but the latter need a style file "
                "that we host.",
            ),
            ("user", "vector tiles. Users complained about the download size more than about anything else."),
            (
                "assistant",
                "I created `TileStore` in `core/map/TileStore.kt`, which downloads a region's tiles into "
                "`filesDir/tiles` and evicts the oldest at 2 GB.",
            ),
            ("user", "Release builds are signed by Fastlane, the keystore password comes from 1Password."),
            ("assistant", "Thanks, then I'll leave `signingConfigs` alone. The APK shrank from 48 MB to 31 MB."),
        ),
        (
            (None, ("ClassNotFoundException", "R8")),
            (None, ("keep rule", "proguard-rules")),
            (None, ("vector tiles", "download size")),
            (None, ("MBTiles", "400 MB")),
            (None, ("TileStore", "TileStore.kt")),
            (None, ("Fastlane",)),
            ("result", ("48 MB", "31 MB")),
        ),
        ("so what do we do", "yep works", "leave `signingConfigs` alone"),
    ),
    Labelled(
        "library: a breaking change and its release",
        "pydantic-units",
        (
            ("user", "Users report that `Quantity` isn't hashable since 2.0."),
            (
                "assistant",
                "Confirmed: `Quantity.__eq__` was added in 2.0 without `__hash__`, so Python sets `__hash__` to None.",
            ),
            ("user", "fix and release 2.0.1"),
            (
                "assistant",
                "I added `__hash__` over the value in base units in `units/quantity.py`, with a test that `1 km` and "
                "`1000 m` hash alike. 412 tests pass.",
            ),
            (
                "assistant",
                "`twine upload` failed with `403 Invalid or non-existent authentication information`. The token in "
                "`~/.pypirc` had expired.",
            ),
            (
                "user",
                "We publish from GitHub Actions with trusted publishing now, no tokens. Tag it and push the tag.",
            ),
            ("assistant", "Pushed the tag `v2.0.1`; the `publish.yml` workflow uploaded the wheel."),
            ("user", "We support Python 3.9 until October. Don't use match statements before that."),
            ("assistant", "Understood. I replaced the two `match` statements in `units/parse.py` with dictionaries."),
            ("user", "thanks!"),
        ),
        (
            (None, ("Quantity", "__hash__")),
            (None, ("__hash__", "units/quantity.py")),
            ("result", ("412 tests",)),
            (None, ("trusted publishing",)),
            (None, ("Python 3.9",)),
            (None, ("match statements",)),
            (None, ("publish.yml",)),
        ),
        ("thanks!", "Understood", "Tag it and push"),
    ),
    Labelled(
        "a short look around that leads nowhere",
        "intranet",
        (
            ("user", "what does this repo do?"),
            ("assistant", "It looks like an intranet portal. Would you like me to go through the modules?"),
            ("user", "no, just wondering. The login page is really slow today"),
            ("assistant", "I could profile it if you like. It may be the network."),
            ("user", "nah, leave it"),
        ),
        (),
        ("portal", "slow", "network", "leave it"),
    ),
    Labelled(
        "machine learning: a training run and its data",
        "bird-calls",
        (
            ("user", "training stalls at epoch 3 with the GPU at 4%"),
            (
                "assistant",
                "The loader decodes FLAC on the fly in one process. With `num_workers=0` the GPU waits for data most "
                "of the time.",
            ),
            (
                "assistant",
                "I set `num_workers` to 6 and cached the spectrograms as `.npy` under `data/spec/`. An epoch takes "
                "3 minutes instead of 41 minutes.",
            ),
            ("user", "wow ok. Validation recordings must come from other sites than training ones, or it leaks."),
            (
                "assistant",
                "I split by `site_id` with `GroupKFold` in `train/split.py`. Macro F1 fell from 0.93 to 0.81, which "
                "is the honest figure.",
            ),
            ("user", "focal loss or class weights for the rare species?"),
            ("assistant", "Class weights are simpler; focal loss has a parameter to tune."),
            ("user", "Let's go with class weights, simpler to explain in the paper."),
            ("assistant", "Done: `loss.py` uses class weights by inverse frequency. Macro F1 is 0.84 with them."),
            ("user", "The GPU box is called heron, ssh heron, data sits in /srv/birds there."),
        ),
        (
            (None, ("num_workers", "GPU waits")),
            (None, ("num_workers", "6")),
            (None, ("3 minutes", "41 minutes")),
            (None, ("other sites",)),
            (None, ("0.93", "0.81")),
            (None, ("class weights",)),
            (None, ("heron",)),
            (None, ("GroupKFold",)),
        ),
        ("wow ok",),
    ),
    Labelled(
        "backend: a queue that loses messages",
        "notify",
        (
            ("user", "Password reset mails get lost sometimes. The support team is getting complaints."),
            ("assistant", "I'll check how the consumer acknowledges."),
            (
                "assistant",
                "The consumer acknowledges before it sends, so a crash in between loses the mail. That happens about "
                "40 times a day, according to the logs.",
            ),
            ("user", "ack after sending then. duplicates are fine for us, lost mails are not"),
            (
                "assistant",
                "The consumer in `worker/consume.go` acknowledges after the SMTP server has accepted the mail. I "
                "killed the worker 200 times in a loop, and no mail was lost.",
            ),
            ("user", "Set the prefetch to 20. We measured it last year, above that the SMTP relay throttles us."),
            ("assistant", "Set `PREFETCH=20` in `deploy/notify.env`."),
            ("user", "To try it locally you need `docker compose up rabbit mailhog` first."),
            ("assistant", "Good to know. MailHog's UI is at http://localhost:8025."),
            ("user", "Jonas wants a dead letter queue, we still need to decide how long it keeps messages."),
        ),
        (
            (None, ("acknowledges before it sends",)),
            (None, ("mails", "acknowledges after")),
            (None, ("duplicates are fine",)),
            (None, ("prefetch", "20")),
            (None, ("docker compose up rabbit mailhog",)),
            (None, ("8025",)),
            (None, ("dead letter queue",)),
        ),
        ("I'll check", "getting complaints"),
    ),
)
