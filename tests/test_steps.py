"""Progress on a terminal: one line a step, drawn over itself."""

import io
import sys

from hippo_core.ops import steps


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_step_is_drawn_over_itself_without_any_code_that_a_console_may_not_know(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(steps, "_REDRAW", 0.0)
    with steps.step("packages") as running:
        running.at(1, 12_000)
        running.note = "new"
    assert "\x1b" not in screen.getvalue()
    first, *drawn = screen.getvalue().rstrip("\n").split("\r")
    assert first == "" and len(drawn) == 3
    assert "1 of 12,000" in drawn[1] and len(drawn[2]) >= len(drawn[1]), "nothing of the longer line stays"
    assert drawn[2].split() == ["packages", "new"]
