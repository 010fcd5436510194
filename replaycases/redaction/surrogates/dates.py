"""Dates moved by whole weeks: days of the week and distances stay, the days themselves do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from replaycases.redaction.surrogates.draws import Draw

FEWEST, MOST = 26, 260
"""Weeks by which a case may be moved into the past."""

LONGEST = 60
"""Characters of a date with its time; a longer text is no date."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NAMES = {name[:length].casefold(): number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))}
_MONTH = "|".join(sorted(_NAMES, key=len, reverse=True))
_FORMS = (
    re.compile(r"(?P<y>[0-9]{4})(?P<a>[-/.])(?P<m>[0-9]{1,2})(?P<b>[-/.])(?P<d>[0-9]{1,2})"),
    re.compile(rf"(?P<d>[0-9]{{1,2}})(?P<a>\.? +|-)(?P<m>{_MONTH})(?P<b>\.?,? +|-)(?P<y>[0-9]{{4}})", re.IGNORECASE),
    re.compile(
        rf"(?P<m>{_MONTH})(?P<a>\.? +)(?P<d>[0-9]{{1,2}})(?P<b>(?:st|nd|rd|th)?,? +)(?P<y>[0-9]{{4}})", re.IGNORECASE
    ),
    re.compile(r"(?P<d>[0-9]{1,2})(?P<a>[./-])(?P<m>[0-9]{1,2})(?P<b>[./-])(?P<y>[0-9]{4})"),
)

_TIME = re.compile(r"(?:(?:,? +| *[T] *)[0-9:.,]+)?(?: *(?:Z|UTC|GMT|[AaPp]\.?[Mm]\.?))?(?: *[+-][0-9:]{2,6})?\s*")
"""What may follow a day in a text that is a date: a time, and a zone."""


def weeks(key: bytes, attempt: int) -> int:
    """By how many weeks the dates of the case with this key are moved back."""
    return FEWEST + Draw(key, "weeks", attempt).below(MOST - FEWEST + 1)


def parsed(text: str) -> date | None:
    """The day that `text` is, whatever time of it, or None. Day before month where both are numbers, unless only the
    other fits."""
    match = _match(text)
    return _day(match) if match else None


def spellings(text: str) -> tuple[str, ...]:
    """The ways in which people write the day that `text` is; none where it is no date. Of two numbers that may both be
    the month the second one is."""
    day = parsed(text)
    if day is None:
        return ()
    short = tuple(_MONTHS[day.month - 1][:length] for length in (3, None))
    numbers = {(f"{day.day}", f"{day.month}"), (f"{day.day:02}", f"{day.month:02}")}
    written = [form for between in "-/." for d, m in numbers for form in _in_numbers(f"{day.year:04}", m, d, between)]
    for month in short:
        written += [f"{d}{dot} {month} {day.year}" for d in (f"{day.day}", f"{day.day:02}") for dot in ("", ".")]
        written += [f"{month} {day.day}{th}{comma} {day.year}" for th in ("", _ordinal(day.day)) for comma in ("", ",")]
    return tuple(dict.fromkeys(form for form in written if parsed(form) == day))


def _in_numbers(year: str, month: str, day: str, between: str) -> Iterator[str]:
    for parts in ((year, month, day), (day, month, year), (month, day, year)):
        yield between.join(parts)


def _ordinal(day: int) -> str:
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def one_form(text: str) -> str:
    """The form of a date that every way to write its day shares, and what follows the day; any other text as it is."""
    match = _match(text)
    day = _day(match) if match else None
    return text if match is None or day is None else day.isoformat() + text[match.end() :]


def moved(text: str, by: int) -> str:
    """`text` with its day moved back by `by` weeks, in its own form; the time of day stays.

    Raises ValueError where it is no date.
    """
    match = _match(text)
    day = _day(match) if match else None
    if match is None or day is None:
        raise ValueError("the text is no date")
    return text[: match.start()] + _written(match, day - timedelta(weeks=by)) + text[match.end() :]


def _match(text: str) -> re.Match[str] | None:
    if len(text) > LONGEST:
        return None
    lead = len(text) - len(text.lstrip())
    matches = (form.match(text, lead) for form in _FORMS)
    return next((match for match in matches if match and _TIME.fullmatch(text, match.end())), None)


def _day(match: re.Match[str]) -> date | None:
    month, day = match["m"], int(match["d"])
    number = _NAMES.get(month.casefold()) or int(month)
    if number > 12:
        number, day = day, number
    if int(match["y"]) <= MOST // 52:
        return None
    try:
        return date(int(match["y"]), number, day)
    except ValueError:
        return None


def _written(match: re.Match[str], day: date) -> str:
    month = match["m"]
    swapped = month.isdigit() and int(month) > 12
    width = _width(match)
    values = {
        "y": f"{day.year:04}",
        "m": _month_like(month, day.day if swapped else day.month, width),
        "d": f"{day.month if swapped else day.day:0{width}}",
    }
    order = sorted("ymd", key=match.start)
    return values[order[0]] + match["a"] + values[order[1]] + match["b"] + values[order[2]]


def _width(match: re.Match[str]) -> int:
    """Digits that a day or month of this form has at least. Two digits beside a month in digits are padded ("03-21" as
    "11-30"); beside a month's name only a zero shows it ("12 March" may become "5 March")."""
    month, day = match["m"], match["d"]
    padded = len(day) == len(month) == len("03") if month.isdigit() else day.startswith("0")
    return 2 if padded else 1


def _month_like(month: str, number: int, width: int) -> str:
    if month.isdigit():
        return f"{number:0{width}}"
    name = _MONTHS[number - 1][: 3 if len(month) == 3 else None]
    return name.upper() if month.isupper() else name if month[0].isupper() else name.lower()
