"""Reads the time out of a question: "last week", "in June", "before the migration", "the latest". Pure; knows no store.

A table of the shapes people use, in the user's time zone. General date parsers were tried and left: docs/recall.md has
the figures. What is not plainly a time is left in the question.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo
from math import ceil
from typing import NamedTuple

from hippo_core.recall.quotes import QUOTED

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + "|sept"
_NUMBERS = {"a": 1, "an": 1, "a couple of": 2, "a few": 3} | {
    name: number
    for number, name in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
}
_COUNT = r"\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_UNIT_DAYS = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}
_EARLIEST = date(1971, 1, 1)  # before 1970 Windows gives no seconds, and nobody spoke with an agent
_UNIT, _CALENDAR = "hour|day|week|month|year", "weekend|week|month|quarter|year"
_FIRST_YEAR = 2010  # "in 2000 ms"
_EVENT = (
    r"(?:migration|release|outage|incident|launch|switch|move|refactor(?:ing)?|rewrite|upgrade|update|deploy(?:ment)?|"
    r"merge|review|crash|roll-?out|roll-?back|cut-?over|freeze|redesign|meeting|sprint|rename|change|audit|go-live)"
)


class When(NamedTuple):
    """A time that a question names. phrase: its words. start, end: seconds, None for open.

    event: words of what happened then, when it is named instead of a date; side: "before" or "after" it.
    latest: the newest is preferred, whatever its date.
    """

    phrase: str
    start: float | None = None
    end: float | None = None
    event: str | None = None
    side: str | None = None
    latest: bool = False

    @property
    def dated(self) -> bool:
        """Whether it is known where in time it lies."""
        return self.start is not None or self.end is not None

    @property
    def span(self) -> tuple[float | None, float | None]:
        return self.start, self.end

    def holds(self, at: float) -> bool:
        return (self.start is None or at >= self.start) and (self.end is None or at < self.end)


def read_when(text: str, now: float, zone: tzinfo | None = None) -> tuple[When | None, str]:
    """(the time, the question without its words); (None, text) when it names none. zone: None for the user's own."""
    own = _NOT_SAID.sub(lambda found: "\0" * len(found[0]), text)
    today = datetime.fromtimestamp(now, zone).date()
    if said := _range(own, today) or _first_time(own, today):
        days, side, (start, end) = said
        return _bounded(days, side, text[start:end], zone), f"{text[:start]} {text[end:]}".strip()
    return _event(own, text) or _latest(own, text) or (None, text)


def _event(own: str, text: str) -> tuple[When, str] | None:
    """An event stays in the question: what is asked may be about it as well."""
    found = re.search(rf"\b(before|after|since|until) (?:the|our) ((?:[\w.-]+ ){{0,3}}?{_EVENT})\b", own, re.IGNORECASE)
    if not found:
        return None
    side = "before" if found[1].lower() in ("before", "until") else "after"
    return When(found[0], event=found[2], side=side), text


def _latest(own: str, text: str) -> tuple[When, str] | None:
    found = re.search(
        r"(?<![\w:-])(?:the )?(?:latest|newest|most recent(?:ly)?|currently|current|nowadays|as of now|at the moment|"
        r"up[- ]to[- ]date)(?![\w-])",
        own,
        re.IGNORECASE,
    )
    if not found:
        return None
    return When(found[0], latest=True), f"{text[: found.start()]} {text[found.end() :]}".strip()


# -- the shapes: each makes (first day, day after the last) of what was found, or None ---------------------------------

Days = tuple[date, date]


def _a_day(day: date) -> Days:
    return day, day + timedelta(1)


def _named_day(found: re.Match[str], today: date) -> Days:
    back = {"today": 0, "this morning": 0, "last night": 1, "yesterday": 1, "the day before yesterday": 2}
    return _a_day(today - timedelta(back[" ".join(found["day"].lower().split())]))


def _rolling(found: re.Match[str], today: date) -> Days:
    count = _number(found["count"]) if found["count"] else 1
    return today - timedelta(ceil(count * _UNIT_DAYS[found["unit"].lower()])), today + timedelta(1)


def _lately(found: re.Match[str], today: date) -> Days:
    return today - timedelta(30), today + timedelta(1)


def _ago(found: re.Match[str], today: date) -> Days:
    """Around that day, the wider the coarser its unit: "two weeks ago" may be eleven days or seventeen."""
    length = _UNIT_DAYS[found["unit"].lower()]
    if length < 1:
        return _rolling(found, today)
    middle = today - timedelta(_number(found["count"]) * length)
    width = length // 2 or int(_number(found["count"]) > 2)
    return middle - timedelta(width), middle + timedelta(width + 1)


def _calendar(found: re.Match[str], today: date) -> Days:
    """This or the last week (from Monday), the end of it, month, quarter, year."""
    unit, back = found["unit"].lower(), 0 if found["which"].lower() == "this" else 1
    if unit in ("week", "weekend"):
        monday = today - timedelta(today.weekday() + 7 * back)
        return (monday if unit == "week" else monday + timedelta(5)), monday + timedelta(7)
    if unit == "month":
        return _month(today.year, today.month - back)
    if unit == "quarter":
        first = today.month - (today.month - 1) % 3 - 3 * back
        return _month(today.year, first)[0], _month(today.year, first + 2)[1]
    return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)


def _weekday(found: re.Match[str], today: date) -> Days:
    wanted = _DAYS.index(found["weekday"].lower())
    return _a_day(today - timedelta((today.weekday() - wanted - 1) % 7 + 1))


def _in_month(found: re.Match[str], today: date) -> Days:
    """The last such month that has begun, when the year is not said."""
    month = _month_number(found["month"])
    year = int(found["year"]) if found["year"] else today.year - (month > today.month)
    return _month(year, month)


def _in_year(found: re.Match[str], today: date) -> Days | None:
    year = int(found["year"])
    return (date(year, 1, 1), date(year + 1, 1, 1)) if _FIRST_YEAR <= year <= today.year else None


def _full_date(found: re.Match[str], today: date) -> Days | None:
    try:
        if found.groupdict().get("iso"):
            return _a_day(date.fromisoformat(found["iso"]))
        month, day = _month_number(found["month"]), int(found["dayofmonth"])
        if found["year"]:
            return _a_day(date(int(found["year"]), month, day))
        this_year = date(today.year, month, day)
        return _a_day(this_year if this_year <= today else date(today.year - 1, month, day))
    except ValueError:
        return None


_SIDE = r"(?:(?P<side>since|after|before|until|till) )?"
_WITHIN = "(?:in|over|during|within)"
_DAY = "|".join(_DAYS)
_ORDINAL = r"(?P<dayofmonth>\d{1,2})(?:st|nd|rd|th)?"
_PLACED = r"(?P<side>since|after|before|until|till|in|during|last|this|of|from|early|late|mid)"
_SHAPES: list[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days | None]]] = [
    (re.compile(pattern, re.IGNORECASE), made)
    for pattern, made in (
        (rf"\b(?:on )?{_SIDE}(?P<iso>20\d\d-\d\d-\d\d)\b(?![-\w])", _full_date),
        (rf"\b(?:on )?{_SIDE}(?:the )?{_ORDINAL} (?:of )?(?P<month>{_MONTH})\b\.?(?:,? (?P<year>20\d\d))?", _full_date),
        (rf"\b(?:on )?{_SIDE}(?P<month>{_MONTH})\.? {_ORDINAL}\b(?!\.?\d)(?:,? (?P<year>20\d\d))?", _full_date),
        (rf"\b{_SIDE}(?P<day>the day before yesterday|yesterday|today|this morning|last night)\b(?:'s)?", _named_day),
        (rf"\b(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago\b", _ago),
        (rf"\b(?:{_WITHIN} )?the (?:last|past) (?:(?P<count>{_COUNT}) )?(?P<unit>{_UNIT})s?\b(?! of\b)", _rolling),
        (rf"\b(?:last|past) (?P<count>{_COUNT}) (?P<unit>{_UNIT})s?\b", _rolling),
        (rf"\b(?:past) (?P<count>)(?P<unit>{_UNIT})\b", _rolling),
        (rf"\b{_SIDE}(?P<which>this|last|previous) (?P<unit>{_CALENDAR})\b(?:'s)?(?! of\b)", _calendar),
        (rf"\b(?:on |last |(?P<side>since|after|before|until|till) (?:last )?)(?P<weekday>{_DAY})\b", _weekday),
        (rf"\b{_PLACED} (?P<month>{_MONTH})\b(?:,? (?P<year>20\d\d))?", _in_month),
        (rf"\b(?P<month>{_MONTH}) (?P<year>20\d\d)\b", _in_month),
        (r"\b(?P<side>in|during|since|after|before|until) (?P<year>20\d\d)\b(?![-./:\w])", _in_year),
        (r"\b(?:recently|lately|these days)\b", _lately),
    )
]  # fmt: skip


_MONTH_ALONE = re.compile(rf"(?P<month>{_MONTH})\b(?:,? (?P<year>20\d\d))?", re.IGNORECASE), _in_month
_ENDS = [*_SHAPES, _MONTH_ALONE]  # of a range
# What is quoted, and what is a part of a name: no words of the question's own.
_NOT_SAID = re.compile(rf"{QUOTED.pattern}|(?<!\S)\S*(?:[\\/@=_]|[.:]\w|[^\W\d]-\d)\S*")
_VERB = re.compile(r"(?:this may|may \d{1,2}|\d{1,2} may)(?= \w)")  # "this may fail", "why may 5 processes write"

Said = tuple[Days, str, tuple[int, int]]  # the days, "since" or the like, where in the question


def _first_time(own: str, today: date) -> Said | None:
    for pattern, made in _SHAPES:
        for found in pattern.finditer(own):
            verb = _VERB.match(own, found.start())
            days = None if verb and verb.end() == found.end() else made(found, today)
            if days is not None:
                return days, (found.groupdict().get("side") or "").lower(), found.span()
    return None


def _range(own: str, today: date) -> Said | None:
    """Between two times."""
    for opening in re.finditer(r"\b(?:between|from|in) ", own, re.IGNORECASE):
        first = _time_at(own, opening.end(), today)
        joint = first and re.compile(r" (?:and|or|to|till|until) ", re.IGNORECASE).match(own, first[1])
        last = joint and _time_at(own, joint.end(), today)
        if last:
            ((start, _), _), ((_, end), place) = first, last
            if start >= end:  # November to February
                start = date(start.year - 1, start.month, min(start.day, 28))
            return (start, end), "", (opening.start(), place)
    return None


def _time_at(own: str, place: int, today: date) -> tuple[Days, int] | None:
    """The time that is said there, and where it ends."""
    for pattern, made in _ENDS:
        found = pattern.match(own, place)
        if found and (days := made(found, today)):
            return days, found.end()
    return None


def _bounded(days: Days, side: str, phrase: str, zone: tzinfo | None) -> When:
    """The span in seconds, opened to one side by "since", "before" and their like."""
    start, end = (datetime.combine(max(day, _EARLIEST), time(), zone).timestamp() for day in days)
    when = When(" ".join(phrase.split()), start, end)
    if side == "since":
        return when._replace(end=None)
    if side == "after":
        return when._replace(start=end, end=None)
    if side == "before":
        return when._replace(start=None, end=start)
    return when._replace(start=None) if side in ("until", "till") else when


def _number(words: str) -> int:
    return int(words) if words.isdigit() else _NUMBERS[" ".join(words.lower().split())]


def _month_number(name: str) -> int:
    return next(number for number, full in enumerate(_MONTHS, 1) if full.startswith(name.lower()[:3]))


def _month(year: int, month: int) -> Days:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
