"""What only two messages say together: a proposal and the yes to it, an order and its outcome; and other languages."""

import pytest
from labelled_sessions import Labelled, distil

PROPOSAL = "I'd recommend `pgbouncer` in transaction mode, because the workers open 400 connections."


def told(*turns, project="depot"):
    return [(draft.type.value, draft.text) for draft in distil(Labelled("", project, turns))]


@pytest.mark.parametrize("yes", ["yes, do that", "sounds good", "ok", "go ahead please", "yes please", "agreed!"])
def test_a_proposal_that_the_user_agrees_to_is_a_decision(yes):
    talk = (("user", "the database is out of connections"), ("assistant", PROPOSAL), ("user", yes))
    assert (
        "decision",
        "Agreed with the user: `pgbouncer` in transaction mode, because the workers open 400 connections.",
    ) in (told(*talk))


@pytest.mark.parametrize(
    "answer",
    ["no, that's too much", "hm, not yet", "maybe later", "ok but first the tests", "why?", "what would it cost"],
)
def test_a_proposal_that_nobody_agreed_to_is_none(answer):
    talk = (("user", "the database is out of connections"), ("assistant", PROPOSAL), ("user", answer))
    assert not any("pgbouncer" in text for _, text in told(*talk))


def test_a_yes_long_after_the_proposal_agrees_to_something_else():
    talk = (("assistant", PROPOSAL), *[("assistant", f"Reading file {n}.") for n in range(3)], ("user", "yes, do that"))
    assert told(*talk) == []


def test_how_the_user_asked_for_is_decided_by_doing_it():
    talk = (
        ("user", "how do we rename the column without downtime?"),
        (
            "assistant",
            "Add the column `label` first, copy in batches with `backfill.py`, and drop `name` a release later.",
        ),
        ("user", "perfect, do it that way"),
    )
    assert [kind for kind, text in told(*talk) if "backfill.py" in text] == ["decision"]


@pytest.mark.parametrize("answer", ["zstd then", "zstd it is", "let's go with zstd", "use zstd"])
def test_the_one_thing_that_the_user_takes_is_told_with_its_reason(answer):
    talk = (
        ("user", "the backups are huge"),
        (
            "assistant",
            "With zstd they would shrink to a third, since the dumps are mostly text in `dump/`. gzip is slower.",
        ),
        ("user", answer),
    )
    (decision,) = [text for kind, text in told(*talk) if kind == "decision"]
    assert "zstd" in decision and "dumps are mostly text" in decision


def test_a_yes_with_a_condition_is_told_with_its_question():
    talk = (
        ("user", "we need thumbnails"),
        ("assistant", "Shall I generate them on upload?"),
        ("user", "yes, at 320 px, the app never shows more"),
    )
    assert told(*talk) == [
        (
            "decision",
            'In depot: Asked "Generate them on upload?", the user answered: yes, at 320 px, the app never shows more.',
        )
    ]


SUMMARY = """## Summary

Everything is complete and works perfectly!

- Parser `parse_feed()` in `feeds/rss.py`
- Beautiful, robust error handling
- Scheduler `FeedJob` with APScheduler in `feeds/jobs.py`
"""


def test_what_was_built_on_an_order_is_told_with_the_order():
    talk = (("user", "please create a feed reader with RSS and Atom"), ("assistant", SUMMARY), ("user", "thanks!"))
    (outcome,) = [text for kind, text in told(*talk) if kind == "project"]
    assert 'asked to "create a feed reader with RSS and Atom"' in outcome
    assert "feeds/rss.py" in outcome and "FeedJob" in outcome and "Beautiful" not in outcome


BLOCKS = """Here is how to work on it.

**Start the server:**
```bash
uvicorn app.main:app --port 8000
```

```sh
# Run the tests
$ pytest -q tests/
```
"""


def test_commands_that_are_listed_under_what_they_are_for_are_one_procedure():
    assert told(("user", "what are the commands here?"), ("assistant", BLOCKS)) == [
        (
            "procedure",
            "In depot: Commands: start the server: `uvicorn app.main:app --port 8000`; run the tests: `pytest -q "
            "tests/`.",
        )
    ]


@pytest.mark.parametrize(
    "block",
    [
        "Try running it again:\n```bash\nmake run\n```\n\nThen check the output:\n```bash\ncat log\n```",
        "**Old:**\n```bash\nnpm start\n```\n**New:**\n```bash\npnpm start\n```",
        "**Start:**\n```bash\nAPI_KEY=abc\n```\n**Deploy:**\n```bash\nssh <your-host> deploy\n```",
        "**Start:**\n```python\nmain()\n```\n**Deploy:**\n```python\ndeploy()\n```",
    ],
)
def test_commands_of_the_moment_alternatives_and_templates_are_none(block):
    assert told(("user", "how?"), ("assistant", block)) == []


def test_a_summary_without_an_order_builds_nothing():
    assert not any(kind == "project" for kind, _ in told(("user", "what's new?"), ("assistant", SUMMARY)))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("rule", "Bitte niemals direkt auf `main` pushen."),
        ("rule", "N'utilise jamais `eval` dans ce module."),
        ("rule", "Nunca subas el archivo `.env` al repositorio."),
        ("rule", "请务必在提交之前运行 `make lint`，不要跳过。"),
        ("rule", "本番のデータベースには絶対に直接書き込まないでください。"),
        ("decision", "Wir haben uns für Valkey entschieden, weil Redis die Lizenz geändert hat."),
        ("decision", "On a choisi Valkey parce que la licence de Redis a changé."),
        ("decision", "Decidimos usar Valkey porque Redis cambió la licencia."),
        ("decision", "我们决定用 Valkey，因为 Redis 换了许可证。"),
        ("decision", "ライセンスが変わったので、Redis ではなく Valkey を使うことにしました。"),
        ("preference", "Ich bevorzuge kurze Antworten ohne Einleitung."),
        ("preference", "Je préfère des réponses courtes sans introduction."),
        ("preference", "Prefiero respuestas cortas sin introducción."),
    ],
)
def test_what_the_user_says_in_another_language_is_kept_in_it(kind, sentence):
    ((found, text),) = told(("user", sentence))
    assert found == kind and sentence.rstrip(".。") in text


@pytest.mark.parametrize(
    "sentence",
    [
        "Vielleicht nehmen wir irgendwann Valkey statt Redis, weil die Lizenz besser ist.",
        "Stell dir vor, wir hätten uns nie für Redis entschieden.",
        "Kannst du bitte mal nach den Tests schauen, die sind alle kaputt?",
        "On utilisera peut-être Valkey plus tard parce que la licence est mieux.",
        "¿Decidimos usar Valkey o nos quedamos con Redis?",
        "也许我们以后会改用 Valkey，不过现在不急。",
        "Das ist immer so und muss auch nie anders sein, danke dir.",
    ],
)
def test_moods_and_questions_in_another_language_are_not(sentence):
    assert told(("user", sentence)) == []


def test_an_agent_makes_no_rule_in_another_language_either():
    assert told(("assistant", "Man darf niemals direkt auf `main` pushen, das ist immer eine Regel.")) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "never mind, I always forget what I wanted to say",
        "always buy eggs, they say, and never drop them",
        "someone on reddit says you should never use Java in production",
        "lol we should always use COBOL in production, kidding",
    ],
)
def test_a_joke_or_what_somebody_says_is_no_rule(sentence):
    assert told(("user", sentence)) == []


def test_a_count_of_passing_tests_is_no_memory_on_its_own():
    assert told(("user", "run the tests"), ("assistant", "All 23 tests pass.")) == []
