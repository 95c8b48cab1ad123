"""What a later session says of the same things: a changed decision supersedes, the same fact confirms, no more.

The earlier session is one of the labelled ones; both are distilled as they would be, and brought in by the date.
"""

import pytest
from labelled_sessions import Labelled, distil
from labelled_sessions_fresh import FRESH
from labelled_sessions_messy import MESSY
from labelled_sessions_messy_unseen import MESSY_UNSEEN

from hippo_core.ingest.reconcile import Outcome, reconcile
from hippo_core.model.memory import SUPERSEDED
from hippo_core.model.scope import GLOBAL_SCOPE, project_scope

SESSIONS = {session.project: session for session in MESSY + MESSY_UNSEEN + FRESH if session.keep}
LATER = 1_000_000.0


def bring(store, drafts, session, at):
    """What became of each draft, by its text."""
    outcomes = {}
    with store.transaction():
        for scope in (GLOBAL_SCOPE, project_scope(f"example.org/{session.project}", session.project)):
            store.memories.ensure_scope(scope)
        for number, draft in enumerate(drafts):
            draft = draft._replace(observed_at=at + number, sources=(f"{at}-{number}",))
            outcomes[draft.text] = reconcile(store, draft, "test")
    return outcomes


def later(store, project, *turns):
    """Distil one of the labelled sessions, then a later one of the same project; what became of the later one's."""
    earlier = SESSIONS[project]
    bring(store, distil(earlier), earlier, 100.0)
    session = Labelled("later", project, tuple(turns))
    return bring(store, distil(session), session, LATER)


def standing(store, project):
    scopes = [project_scope(f"example.org/{project}", project).key, GLOBAL_SCOPE.key]
    return [memory.text for memory in store.memories.select(scopes=scopes)]


CHANGED = {
    "a value": ("ticketbooth", "set lock_timeout to 15s for all migrations", "lock_timeout to 5s"),
    "a choice in words": (
        "citymap",
        "we replaced dayjs with Temporal in all modules because browsers have it now",
        "the user chose: dayjs",
    ),
    "a choice with its reason": (
        "rechnungswerk",
        "Wir sind von WeasyPrint auf Typst umgestiegen, weil das Rendern zu langsam war.",
        "für WeasyPrint entschieden",
    ),
    "a choice in spanish": (
        "huerta",
        "cambiamos de MapLibre a OpenLayers porque pesa menos",
        "usar MapLibre",
    ),
    "what is used": (
        "heatpump-fw",
        "Wir verwenden jetzt Zephyr statt FreeRTOS, weil der Hersteller gewechselt hat.",
        "FreeRTOS statt Zephyr",
    ),
    "what is supported": ("trailmate", "we dropped support for iOS 16 with the april release", "supporting iOS 16"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_decision_that_changed_supersedes_the_one_before(store, name):
    project, said, old = CHANGED[name]
    outcomes = later(store, project, ("user", said))
    assert list(outcomes.values()) == [Outcome.SUPERSEDE], outcomes
    known = standing(store, project)
    assert set(outcomes) <= set(known) and not any(old in text for text in known)
    (gone,) = [memory for memory in store.memories.select(status=SUPERSEDED) if old in memory.text]
    assert gone.superseded_by is not None and gone.valid_until == LATER


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ("parcel-tracker", "please never use `latest` tags in our compose files"),
        ("leafscan", "remember: always evaluate on the field set, never on the lab set!"),
        ("skylark-infra", "Terraform state lives in the S3 bucket skylark-tfstate in eu-central-1, DynamoDB locking"),
        ("rechnungswerk", "Committe niemals direkt auf `main`, sondern immer über einen Merge-Request."),
        ("boutique", "n'utilise jamais de float pour les prix"),
        ("heatpump-fw", "Niemals `malloc` nach dem Init benutzen!"),
        ("churnboard", "a customer has churned when no invoice was paid for 45 days"),
        ("lagerfix", "Artikelnummern sind nicht eindeutig, erst zusammen mit dem Lieferanten."),
        ("grainstats", "cron runs on etl-2 at 3:00 as user grain"),
    ],
)
def test_the_same_fact_in_other_words_confirms_the_one_before(store, project, said):
    before = len(distil(SESSIONS[project]))
    outcomes = later(store, project, ("user", said))
    assert list(outcomes.values()) == [Outcome.REINFORCE], outcomes
    assert len(standing(store, project)) == before


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ("parcel-tracker", "never use `latest` as a branch name in the docs repo"),
        ("skylark-infra", "The audit logs live in the S3 bucket skylark-audit in eu-west-1"),
        ("citymap", "we replaced Leaflet with MapLibre because tiles are vectors now"),
        ("ticketbooth", "set statement_timeout to 30s for all reports"),
        ("trailmate", "we dropped support for iPads with the april release"),
        ("lagerfix", "Kundennummern sind eindeutig, auch über die Mandanten."),
        ("orderhub", "hotfixes are always announced in the release channel, never by mail"),
    ],
)
def test_what_speaks_of_something_else_is_added_beside_it(store, project, said):
    before = standing_after_the_first(store, project)
    outcomes = later(store, project, ("user", said))
    assert list(outcomes.values()) == [Outcome.ADD], outcomes
    assert set(before) <= set(standing(store, project))


def standing_after_the_first(store, project):
    earlier = SESSIONS[project]
    bring(store, distil(earlier), earlier, 100.0)
    return standing(store, project)


@pytest.mark.parametrize("project", SESSIONS)
def test_a_session_told_twice_adds_nothing(store, project):
    session = SESSIONS[project]
    bring(store, distil(session), session, 100.0)
    before = standing(store, project)
    outcomes = bring(store, distil(session), session, LATER)
    assert set(outcomes.values()) == {Outcome.REINFORCE} and standing(store, project) == before


@pytest.mark.parametrize("project", SESSIONS)
def test_a_sessions_own_memories_do_not_supersede_each_other(store, project):
    session = SESSIONS[project]
    outcomes = bring(store, distil(session), session, 100.0)
    assert set(outcomes.values()) == {Outcome.ADD}, outcomes


def test_an_older_session_that_comes_in_late_does_not_undo_a_change(store):
    session = SESSIONS["ticketbooth"]
    changed = Labelled("later", "ticketbooth", (("user", "set lock_timeout to 15s for all migrations"),))
    bring(store, distil(changed), changed, LATER)
    outcomes = bring(store, distil(session), session, 100.0)
    assert Outcome.IGNORE in outcomes.values()
    (known,) = [text for text in standing(store, "ticketbooth") if "lock_timeout" in text]
    assert "15s" in known
