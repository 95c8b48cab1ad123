"""The half of the messy sessions that was labelled with the other and not distilled until the rules were written.

Some faults that they showed were mended since. What they gave at first sight is in docs/distilling.md.
"""

from labelled_sessions import Labelled

MESSY_UNSEEN = (
    Labelled(
        "database: a migration that locks",
        "ticketbooth",
        (
            ("user", "deploy last night locked the orders table for 6 min, customers were not amused :/"),
            ("assistant", "Ouch. I'll go through the migrations in the release."),
            (
                "user",
                "pg log:\n2025-05-12 23:10:04 UTC [811] LOG: process 811 still waiting for "
                "AccessExclusiveLock\n2025-05-12 23:16:10 UTC [811] LOG: duration: 366204 ms statement: ALTER "
                "TABLE orders",
            ),
            (
                "assistant",
                "It's `20250512_add_channel.rb`: `ALTER TABLE orders ALTER COLUMN channel SET NOT NULL` scans all "
                "38 million rows while holding an ACCESS EXCLUSIVE lock.",
            ),
            ("user", "how do we do that without the lock"),
            (
                "assistant",
                "Add a `CHECK (channel IS NOT NULL) NOT VALID` constraint first, validate it in a second "
                "migration, and only then set NOT NULL. Postgres skips the scan when a validated constraint proves "
                "it.",
            ),
            ("user", "perfect, do it that way"),
            (
                "assistant",
                "Split it into two migrations. On the staging copy the lock was held for 40 ms instead of 6 minutes.",
            ),
            ("user", "and set lock_timeout to 5s for all migrations"),
            ("assistant", "Set `lock_timeout` to 5s in `config/initializers/migrations.rb`."),
            ("user", "what if we moved to MySQL, would that be better? (kidding)"),
            ("assistant", "MySQL has its own metadata locks, so I doubt it."),
            (
                "user",
                "ok last thing. deploys are frozen from Thursday noon on because of the weekend sales, Ines from "
                "ops keeps the calendar",
            ),
            ("assistant", "Understood, I won't propose one before Monday."),
        ),
        (
            (None, ("20250512_add_channel", "NOT NULL")),
            (None, ("NOT VALID", "constraint")),
            ("result", ("40 ms", "6 minutes")),
            (None, ("lock_timeout", "5s")),
            (None, ("Thursday", "sales")),
        ),
        ("MySQL", "amused", "I'll go through", "Ouch", "still waiting", "duration"),
    ),
    Labelled(
        "français: une boutique Django",
        "boutique",
        (
            ("user", "salut, le panier se vide quand on se connecte. tu peux regarder ?"),
            ("assistant", "Je regarde `cart/middleware.py`."),
            (
                "assistant",
                "Le problème vient de `login()` : Django renouvelle la session, et le panier est stocké sous "
                "l'ancienne clé de session.",
            ),
            ("user", "ah ok. corrige ça stp"),
            (
                "assistant",
                "Corrigé : `merge_carts()` dans `cart/signals.py` fusionne les deux paniers au signal "
                "`user_logged_in`. Les 57 tests passent.",
            ),
            (
                "user",
                "top. on a décidé d'abandonner PayPal parce que les frais sont trop élevés, il ne reste que Stripe",
            ),
            ("assistant", "D'accord, je retire le module PayPal."),
            ("user", "peut-être qu'on ajoutera Alma plus tard, on verra"),
            ("assistant", "Pas de souci."),
            ("user", "n'utilise jamais de float pour les prix, toujours Decimal"),
            ("assistant", "Compris."),
            ("user", "les prix sont stockés hors taxes et la TVA est ajoutée à l'affichage. bonne soirée !"),
        ),
        (
            (None, ("login()", "session")),
            (None, ("merge_carts()", "signals.py")),
            ("decision", ("PayPal", "frais")),
            ("rule", ("float", "Decimal")),
            (None, ("hors taxes", "TVA")),
        ),
        ("Je regarde", "Alma", "salut", "bonne soirée", "Pas de souci"),
    ),
    Labelled(
        "ios: several things on one afternoon",
        "trailmate",
        (
            (
                "user",
                "crash on launch for iOS 16 users, see Crashlytics: `dyld: Symbol not found: _$s7SwiftUI...onChange`",
            ),
            ("assistant", "That's an API that only exists on newer systems. Let me look for it."),
            (
                "assistant",
                "The two-parameter `onChange(of:initial:_:)` is iOS 17 only, but `TrailMap` calls it through a "
                "package that was compiled with the wrong minimum version, so dyld can't find the symbol on iOS "
                "16.",
            ),
            (
                "assistant",
                "Set `platforms: [.iOS(.v16)]` in `Packages/MapKitExtras/Package.swift` and used the one-parameter "
                "form. The app launches on the iOS 16.4 simulator again.",
            ),
            ("user", "good catch!! we keep supporting iOS 16 until march, 11% of our users are on it"),
            ("assistant", "OK, I'll keep that in mind for new code."),
            ("user", "next: offline tiles eat 3 GB on some phones"),
            (
                "assistant",
                "`TileCache` never evicts. Options are an LRU with a byte limit or an expiry by age. I'd go for "
                "the LRU, since old trails are still opened by hikers who return.",
            ),
            ("user", "LRU it is, 500 MB"),
            ("assistant", "Implemented in `TileCache.swift`: least recently used tiles are evicted above 500 MB."),
            ("user", "hm should the limit be a setting? ... nah, nobody will touch that"),
            ("assistant", "Then it stays a constant, `TileCache.byteLimit`."),
            (
                "user",
                "We ship via TestFlight on Tuesdays; fastlane beta does the upload, never upload from Xcode by hand",
            ),
            ("assistant", "Got it. `bundle exec fastlane beta` finished in 7 minutes, build 412 is processing."),
            ("user", "sweet. I'd love a dark mode for the map one day"),
        ),
        (
            (None, ("onChange", "iOS 16")),
            (None, ("Package.swift", "v16")),
            (None, ("iOS 16", "march")),
            (None, ("LRU", "hikers")),
            (None, ("500 MB",)),
            (None, ("TestFlight", "fastlane")),
        ),
        ("good catch", "dark mode", "Let me look", "nobody will touch", "I'll keep that in mind"),
    ),
    Labelled(
        "go: a release with surprises",
        "shipkit",
        (
            ("user", "goreleaser fails on windows/arm64, error: `undefined: syscall.Kill`"),
            (
                "assistant",
                "`internal/proc/stop.go` uses `syscall.Kill`, which does not exist on Windows. There is no build "
                "tag on the file.",
            ),
            (
                "assistant",
                "I split it into `stop_unix.go` and `stop_windows.go`; the Windows one calls `TerminateProcess`. "
                "`goreleaser build --snapshot` passes for all nine targets now.",
            ),
            ("user", "awesome. can we sign the mac binaries"),
            (
                "assistant",
                "Yes, with quill, which signs and notarizes from Linux. The alternative is a macOS runner, which "
                "costs ten times as much per minute.",
            ),
            ("user", "quill then"),
            (
                "assistant",
                "Added quill as a post hook in `.goreleaser.yaml`. The certificate is read from `QUILL_SIGN_P12`.",
            ),
            ("user", "who needs windows anyway :D"),
            ("assistant", "About a fifth of your downloads, apparently."),
            (
                "user",
                "lol fair. ok conventions: release notes are generated from PR labels, so every PR needs exactly "
                "one `kind/*` label. I hate squash merges, use merge commits",
            ),
            ("assistant", "Understood. Shall I add a check for the label?"),
            ("user", "yes please"),
            ("assistant", "`.github/workflows/labels.yml` fails a PR without exactly one `kind/*` label."),
            (
                "assistant",
                "v2.3.0 is published. To release, push a tag `vX.Y.Z` to `main`; everything else happens in "
                "`.github/workflows/release.yml`.",
            ),
            ("user", "homebrew tap isn't updated yet, we'll still need to create a token for it"),
        ),
        (
            (None, ("syscall.Kill", "Windows")),
            (None, ("stop_windows.go", "TerminateProcess")),
            (None, ("quill", "notariz")),
            (None, ("QUILL_SIGN_P12",)),
            (None, ("kind/*", "PR")),
            (None, ("squash", "merge commits")),
            (None, ("tag", "release.yml")),
            ("todo", ("token",)),
        ),
        ("who needs windows", "a fifth", "Shall I", "yes please"),
    ),
    Labelled(
        "firmware: deutsch und englisch gemischt",
        "heatpump-fw",
        (
            ("user", "Der Watchdog schlägt alle paar Stunden zu, Log hängt an. Can you check the I2C driver?"),
            ("assistant", "Looking at `drivers/i2c.c` and the watchdog feed."),
            (
                "assistant",
                "`i2c_read()` spins forever when a slave holds SCL low, so the watchdog is never fed. The sensor "
                "does that after a brown-out.",
            ),
            ("user", "ok, dann Timeout rein. 20 ms reichen laut Datenblatt"),
            (
                "assistant",
                "I added a timeout of 20 ms and a bus recovery with nine clock pulses to `i2c_read()`. The soak "
                "test has been running for 14 hours without a reset.",
            ),
            (
                "user",
                "Sehr gut. Für die Zukunft: niemals `malloc` nach dem Init benutzen, wir haben nur statischen "
                "Speicher.",
            ),
            ("assistant", "Alles klar, `malloc` bleibt draußen."),
            ("user", "Wir verwenden FreeRTOS statt Zephyr, weil der Hersteller nur dafür Support gibt."),
            ("assistant", "Verstanden."),
            ("user", "Stell dir vor wir hätten Zephyr genommen, haha. Oder Arduino."),
            ("assistant", "Dann hätten wir jetzt andere Probleme."),
            ("user", "flash it with `west flash`? no wait, that's zephyr"),
            (
                "assistant",
                "Use `make flash PORT=/dev/ttyACM0` to flash the board; the bootloader must be unlocked with the "
                "jumper J3 first.",
            ),
            ("user", "Ich bevorzuge Kommentare auf Englisch, Doku auf Deutsch."),
        ),
        (
            (None, ("i2c_read()", "watchdog")),
            (None, ("timeout of 20 ms",)),
            ("rule", ("malloc",)),
            ("decision", ("FreeRTOS", "Zephyr")),
            ("procedure", ("make flash",)),
            ("preference", ("Englisch",)),
        ),
        ("Arduino", "west flash", "Looking at", "Alles klar", "andere Probleme"),
    ),
    Labelled(
        "frontend: performance, a quotation and a mood",
        "citymap",
        (
            (
                "user",
                'our lighthouse score is 43 on mobile. product owner wrote me: "you must fix this by friday, '
                'always test on phones" ugh',
            ),
            ("assistant", "I'll profile the start page."),
            (
                "assistant",
                "Findings:\n\n- `moment` with all locales is 290 KB of the bundle\n- The hero image is a PNG of "
                "2.4 MB\n- The map library is loaded before the first paint although the map is below the fold",
            ),
            ("user", "ok so first moment. dayjs or date-fns?"),
            ("assistant", "dayjs has the same API, so the change is small; date-fns shakes better."),
            ("user", "dayjs, less work"),
            ("assistant", "Replaced `moment` by `dayjs` in 34 files. The bundle shrank from 1.1 MB to 820 KB."),
            ("user", "and the map lazily please"),
            (
                "assistant",
                "`MapPanel` is now loaded with `defineAsyncComponent` when it scrolls into view. Lighthouse on "
                "mobile went up from 43 to 81.",
            ),
            ("user", "wow ok. that's a beer. what would happen if we dropped vue entirely?"),
            ("assistant", "You'd rewrite 60 components; I wouldn't for the sake of a score."),
            (
                "user",
                "no no, we stay on Vue 3, just dreaming. Images go through the imgproxy at img.citymap.example, "
                "don't commit PNGs over 200 KB",
            ),
            ("assistant", "The hero image is served as AVIF through imgproxy now, 96 KB."),
            ("user", "done for today, friday is saved"),
        ),
        (
            (None, ("moment", "290 KB")),
            ("decision", ("dayjs",)),
            ("result", ("820 KB",)),
            (None, ("MapPanel", "defineAsyncComponent")),
            ("result", ("43 to 81",)),
            (None, ("Vue 3",)),
            (None, ("imgproxy",)),
        ),
        ("by friday", "beer", "dropped vue", "60 components", "I'll profile"),
    ),
    Labelled(
        "etl: a plan is replaced",
        "grainstats",
        (
            ("user", "goal: the nightly import has to finish before 5:00, currently it's done at 7:30"),
            ("assistant", "I'll look where the time goes."),
            (
                "assistant",
                "Of 4.5 hours, 3.1 are spent in `normalize_units()`, which is called row by row with `df.apply`.",
            ),
            ("user", "let's move it all to Spark then"),
            ("assistant", "I can set up a Spark job; for 12 GB a vectorized version may be enough, though."),
            ("user", "oh. ok then no Spark, vectorize it"),
            (
                "assistant",
                "I vectorized `normalize_units()` with a lookup table in `grain/units.py`. The import now takes 52 "
                "minutes, down from 4.5 hours.",
            ),
            ("user", "holy. and results are identical?"),
            (
                "assistant",
                "Compared on the last 30 nights: identical except for 14 rows whose unit is `bu.` with a trailing "
                "dot. Those were dropped silently before.",
            ),
            ("user", "yeah keep those rows, the USDA files spell it with a dot since 2023"),
            ("assistant", "OK, `bu.` is mapped to bushel."),
            ("user", "cron runs on the box etl-2 at 3:00 as user grain. logs in /var/log/grain"),
            ("assistant", "Thanks. I noticed the crontab has no lock, so two imports may overlap when one is slow."),
            ("user", "true, wrap it in flock"),
            ("assistant", "The crontab line is now `flock -n /run/grain.lock /opt/grain/import.sh`."),
            ("user", "next time we should do the backfill for 2019, the files are at the old FTP server. not today"),
        ),
        (
            (None, ("before 5:00",)),
            (None, ("normalize_units()", "row by row")),
            (None, ("vectoriz", "normalize_units()")),
            ("result", ("52 minutes",)),
            (None, ("USDA", "dot")),
            (None, ("etl-2", "3:00")),
            (None, ("flock",)),
            (None, ("backfill", "2019")),
        ),
        ("move it all to Spark", "set up a Spark job", "I'll look", "holy"),
    ),
    Labelled(
        "small talk and a look around",
        "everywhere",
        (
            ("user", "morning"),
            ("assistant", "Good morning! How can I help?"),
            ("user", "what does this repo do?"),
            (
                "assistant",
                "It looks like a small web server with a command line client. The entry point is the usual one.",
            ),
            ("user", "hm ok. do you like jazz"),
            ("assistant", "I don't listen, but I enjoy talking about it."),
            ("user", "fair. show me git status"),
            ("assistant", "Nothing to commit, the working tree is clean."),
            ("user", "never mind, I always forget what I wanted"),
            ("assistant", "It happens. Just tell me when it comes back to you."),
            ("user", "k bye"),
        ),
        (),
        ("jazz", "forget", "web server"),
    ),
)
