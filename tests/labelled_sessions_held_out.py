"""Invented sessions that were written after the cues; two faults they showed were mended since.

What they gave at first sight is in docs/distilling.md.
"""

from labelled_sessions import Labelled

HELD_OUT = (
    Labelled(
        "embedded: a board and its quirks",
        "thermostat-fw",
        (
            ("user", "the i2c bus hangs after a brown-out, only on rev B boards"),
            (
                "assistant",
                "I'm going to read the driver.\n\nThe bug is that `i2c_recover()` never toggles SCL nine times, so "
                "a slave "
                "that holds SDA low stays stuck.\n\nWe use a watchdog of 8 seconds instead of the default 2 seconds "
                "because the sensor needs 5 seconds to boot.",
            ),
            ("user", "good find. Always flash rev B boards with `make flash REV=B`, the default image bricks them."),
            ("assistant", "Understood. Would you like a check in the Makefile?"),
        ),
        (
            ("insight", ("i2c_recover", "SCL")),
            ("decision", ("watchdog", "8 seconds")),
            ("rule", ("make flash REV=B",)),
        ),
        ("I'm going to", "Understood", "Would you like"),
    ),
    Labelled(
        "security: where credentials live",
        "identity",
        (
            ("user", "where do we keep the signing keys?"),
            (
                "assistant",
                "Signing keys are stored in `vault/identity/jwt` and rotated every 30 days. The service reads "
                "`JWT_KEY_ID` from the environment at start.",
            ),
            ("user", "From now on, never log request bodies in this repo, they contain credentials."),
            ("assistant", "Will do. Let me search for existing log statements."),
            (
                "assistant",
                "Found 3 places that log bodies:\n\n1. `login.py`\n2. `reset.py`\n3. `mfa.py`\n\nShall I remove them?",
            ),
        ),
        (
            ("config", ("vault/identity/jwt",)),
            ("config", ("JWT_KEY_ID",)),
            ("rule", ("never log request bodies",)),
        ),
        ("Shall I", "Let me search", "where do we keep"),
    ),
    Labelled(
        "game: numbers and a dropped engine",
        "dungeon",
        (
            (
                "user",
                "We moved from Unity to Godot in March because of the licence. The level format is described in "
                "`docs/levels.md`.",
            ),
            ("assistant", "Thanks for the context! I'll keep that in mind."),
            ("user", "profiling: frame time went from 22 ms to 9 ms after batching the sprites"),
            ("assistant", "Great result! Next, we could look at the lighting pass."),
            ("user", "not today. we still have to port the save system"),
        ),
        (
            ("decision", ("Unity", "Godot", "licence")),
            (None, ("docs/levels.md",)),
            ("result", ("22 ms", "9 ms")),
            ("todo", ("save system",)),
        ),
        ("Great result", "lighting pass", "not today"),
    ),
    Labelled(
        "frontend: taste and a correction",
        "booking-ui",
        (
            ("user", "build the date picker"),
            ("assistant", "I've created `DatePicker.tsx` using moment.js. It looks great and is fully accessible!"),
            ("user", "don't use moment, use date-fns instead"),
            ("assistant", "Sure thing! Replacing it now."),
            ("user", "My preferred way to name test files is `*.spec.ts`. I hate default exports."),
            ("assistant", "The build fails because `date-fns` v4 dropped the CommonJS entry point."),
        ),
        (
            (None, ("date-fns instead",)),
            ("preference", ("spec.ts",)),
            ("preference", ("default exports",)),
            ("insight", ("date-fns", "CommonJS")),
        ),
        ("looks great", "Sure thing", "fully accessible"),
    ),
    Labelled(
        "ops: an outage is explained",
        "status-page",
        (
            ("user", "requests to /health time out since the deploy"),
            (
                "assistant",
                "Let me check the logs.\n\n```\n12:01:03 ERROR pool exhausted\n```\n\nThe cause is the new connection "
                "pool: `max_connections` defaults to 5. Increase `max_connections` to 50 in `config/prod.toml`.",
            ),
            ("user", "fixed now"),
            ("user", "Priya is responsible for the status page."),
        ),
        (
            (None, ("time out", "max_connections")),
            ("person", ("Priya",)),
        ),
        ("12:01:03", "Let me check"),
    ),
    Labelled(
        "chatter and housekeeping",
        "blog",
        (
            ("user", "good morning"),
            ("assistant", "Good morning! What would you like to work on?"),
            ("user", "clean up the branch and open a pr"),
            ("assistant", "I'll clean up the branch first.\n\nDone. The PR is open: it has 3 commits."),
            ("user", "rename the second commit please, and don't push yet"),
            ("assistant", "Renamed."),
        ),
        (),
        ("morning", "clean up", "push yet", "3 commits", "second commit"),
    ),
    Labelled(
        "a log pasted in",
        "etl",
        (
            (
                "user",
                "any idea?\n$ python load.py\nLoading 12 tables\nWARNING always use --safe in production\n"
                "Connection to db:5432 failed\nRetrying in 5 s",
            ),
            (
                "assistant",
                "Not sure yet. It might be the firewall, or maybe the database is down. Could you run `pg_isready`?",
            ),
        ),
        (),
        ("--safe", "firewall", "pg_isready"),
    ),
    Labelled(
        "a design is settled",
        "sync-engine",
        (
            ("user", "let's settle the conflict handling"),
            (
                "assistant",
                "## Proposal\n\n- Last writer wins\n- CRDTs\n\nI'd recommend CRDTs, but they cost memory.",
            ),
            (
                "user",
                "We chose last-writer-wins over CRDTs, since devices have little memory. Clocks are synced by the "
                "server.",
            ),
            (
                "assistant",
                "Agreed. The engine is split into three layers: transport, log and merge. Each change is written to "
                "`oplog.db` before it is sent.",
            ),
        ),
        (
            ("decision", ("last-writer-wins", "memory")),
            ("architecture", ("three layers",)),
            (None, ("oplog.db",)),
        ),
        ("recommend", "Agreed"),
    ),
)
