"""Times as people say them."""

import pytest

from hippo_core import clock

HOUR = 3_600.0


@pytest.mark.parametrize("age, said", [
    (0, "just now"), (59, "just now"), (60, "1 minute ago"), (2 * HOUR - 1, "119 minutes ago"),
    (2 * HOUR, "2 hours ago"), (clock.DAY - 1, "23 hours ago"), (clock.DAY, "yesterday"), (2 * clock.DAY, "2 days ago"),
    (15 * clock.DAY, "2 weeks ago"), (400 * clock.DAY, "1 year ago"), (-30, "just now"), (-HOUR, "in the future"),
])  # fmt: skip
def test_how_long_ago_something_was(monkeypatch, age, said):
    monkeypatch.setenv("HIPPO_NOW", "1800000000")
    assert clock.recently(1_800_000_000 - age) == said
