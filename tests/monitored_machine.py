"""An installation that is looked at over time, for the tests of the monitor."""

import os
from datetime import datetime

import transcript_files as records

from hippo_core import heartbeat
from hippo_core.monitor.run import Schedule, run_once
from hippo_core.schedule.jobs import job_named

HOUR, DAY = 3_600.0, 86_400.0
NOON = datetime(2026, 11, 27, 12).timestamp()
SCHEDULE = Schedule((job_named("watch"), job_named("monitor")), NOON - 90 * DAY)


class Machine:
    """An installation over time. A look at a time of its own; what was sent is what `server` received."""

    def __init__(self, paths, projects, monkeypatch):
        self.paths, self.projects, self._monkeypatch = paths, projects, monkeypatch
        self.schedule = SCHEDULE
        self.at(NOON)

    def at(self, now):
        self.now = now
        self._monkeypatch.setenv("HIPPO_NOW", str(now))

    def watch_runs(self, **beat):
        beat = {"worked": False, "counts": {}, "error": None, "result": "ok", **beat}
        heartbeat.beat(self.paths, "watch", **beat)

    def transcript(self, name, changed, *said):
        path = self.projects / "-shop" / f"{name}.jsonl"
        values = [
            records.user(text, number, sessionId=name, uuid=f"{name}-{number}") for number, text in enumerate(said, 1)
        ]
        records.write(path, *values)
        os.utime(path, (changed, changed))
        return path

    def look(self, after=0.0, watch=True):
        """One look; watch: with a healthy watch job behind it."""
        self.at(self.now + after)
        if watch:
            self.watch_runs()
        return run_once(self.paths, self.schedule, [self.projects])

    def lose_watch_for_hours(self):
        """The watch job is silent for three hours and then back; the last look."""
        self.look()
        for _ in range(6):
            self.look(after=HOUR / 2, watch=False)
        for _ in range(3):
            look = self.look(after=HOUR / 2)
        return look

    def logged(self):
        return (self.paths.log / "alerts.log").read_text(encoding="utf-8")


def keys(look):
    return [finding.key for finding in look.found]
