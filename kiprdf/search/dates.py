"""Dates in texts, and the periods that queries are about, in numbers and in words.

A month that is also another word (may, march) is a date only where it cannot be that word. Takes
time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from kiprdf.loading import lazy_pattern
from kiprdf.search.segment import composed, segment_term
from kiprdf.search.words import WORDS, sections, words_of

Period = tuple[datetime, datetime]
"""From its start to before its end."""


def _numbered(*lines: str) -> dict[str, int]:
    """The place of each word in its line, from 1; the same word without accents, too."""
    return {
        word: place
        for line in lines
        for place, words in enumerate(line.split(), start=1)
        for name in words.split("|")
        for word in (
            name,
            "".join(c for c in normalize("NFD", name) if c < "\u0300" or c > "\u036f"),
        )
    }


_WORDS_OF = sections(WORDS)
_MONTHS, _WEEKDAYS, _SEASONS = (
    _numbered(*_WORDS_OF[name].splitlines()) for name in ("months", "weekdays", "seasons")
)
_COUNTS, _UNITS, _THIRDS = (
    _numbered(*_WORDS_OF[name].splitlines()) for name in ("counts", "units", "thirds")
)
_ORDINALS = _numbered("first|1st second|2nd third|3rd fourth|4th last")
_NAMES = _MONTHS.keys() | _WEEKDAYS.keys()
_SHORT = _numbered("jan feb mar apr jun jul aug sep sept oct nov dec")
_OTHER_WORDS = _numbered("may march mars mayo augustus марта мая мае")
"""Months that are dates only beside a number or after one of these words."""
_WITHIN = _numbered(
    "in during since until before after between from last next early late month week im seit en em"
    " depuis desde в entre между tra tussen",
    " ".join(_THIRDS),
)
_GLUE = _numbered("st nd rd th er of de del di the")  # between the parts of a date
_ARTICLES = _numbered("dem zum le el il la")  # before a date
_PARTS = _numbered("last about around week weekend month year", " ".join((*_THIRDS, *_ORDINALS)))
_OPEN = _numbered(
    "since after before until|till|by|through",
    "seit nach vor bis",
    "depuis|desde|sinds après|después|dopo|depois|после avant|antes|prima|voor hasta|tot|до",
)
_SINCE, _AFTER, _BEFORE, _UNTIL = range(1, 5)
_GAP = lazy_pattern(r"(?:[^\S\n]|[.,'’-]){0,3}")
_WORD, _TOKEN = re.compile(r"[^\W\d_]+"), re.compile(r"\d+|[^\W\d_]+")
_NUMBER, _YEAR = re.compile(r"\d+"), re.compile("[12][0-9]{3}")
_NUMERIC = lazy_pattern(
    r"(?<![\w.-])(?:(?P<y1>[12]\d{3})([-/.])(?P<m1>\d\d?)\2(?P<d1>\d\d?)(?!\d|[-.]\d)"
    r"|(?P<y2>[12]\d{3})-(?P<m2>\d\d)(?![\w-])"
    r"|(?P<d3>0?[1-9]|[12]\d|3[01])(?P<sign>[./-])(?P<m3>\d\d?)(?P=sign)(?P<y3>[12]\d{3})"
    r"(?!\w|[./-]\d))"
    r"|(?:(?P<y4>[12]\d{3})[年년]\s?)?(?P<m4>\d\d?)[月월](?:\s?(?P<d4>\d\d?)[日号일])?"
)
_UNSPACED = lazy_pattern("[\u1100-\u11ff\u2e80-\uffef]")  # without blanks between words
_CJK_WEEKDAY = lazy_pattern("(?:星期|礼拜|[周週])([一二三四五六日天])|([月火水木金土日])曜")
CACHED_LINE = 40
"""Characters of a line whose dates are cached: most are a date or a name."""
_SPACES = str.maketrans(dict.fromkeys([*map(chr, range(65)), *"[\\]^_`{|}~’“”–—«»"], " "))
"""Blanks in the place of ASCII characters that are no letters, and of some others."""


class _Date(NamedTuple):
    """The parts of a date that are written in a text, 0 for each other, and the word before it."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0
    before: str = ""


def date_tokens(text: str, *, asked: bool = False) -> list[str]:
    """The tokens of the dates in a text: of a day, its month and weekday, with and without year.

    Of a text that is ``asked`` for, they are only of what is written, and of the days between two
    days of a range: a month finds its days, and a day does not find its month.

    >>> date_tokens("2023-05-08T13:56:00Z")
    ['__d2023_05_08', '__m2023_05', '__d05_08', '__m05', '__w1']
    >>> date_tokens("on 8 May 2023", asked=True), date_tokens("im Mai 2023", asked=True)
    (['__d2023_05_08'], ['__m2023_05'])
    """
    tokens: list[str] = []
    for year, month, day, weekday, _ in _with_days_between(text) if asked else _dates(text):
        of_year = f"{year}_" if year else ""
        names = [f"__d{of_year}{month:02}_{day:02}"] if day else []
        if month and not (asked and day):
            names.append(f"__m{of_year}{month:02}")
        if year and not asked:
            names += [name.replace(of_year, "") for name in names]
            weekday = weekday or (date(year, month, day).isoweekday() if day else 0)
        tokens += [*names, f"__w{weekday}"] if weekday else names
    return list(dict.fromkeys(tokens))


def tokens_of_lines(text: str) -> Iterable[str]:
    """The tokens of the dates in the lines of a text.

    >>> list(tokens_of_lines("seen on 8 May\\nwith 2023 others")), list(tokens_of_lines("D2"))
    (['__d05_08', '__m05'], [])
    """
    is_named = not _NAMES.isdisjoint(text.lower().translate(_SPACES).split())
    if not is_named and text.isascii() and not _YEAR.search(text):
        return ()
    tokens: dict[str, None] = {}
    for line in text.split("\n"):
        if is_named or not line.isascii() or _YEAR.search(line):
            is_short = len(line) <= CACHED_LINE
            tokens |= dict.fromkeys((_cached_tokens if is_short else date_tokens)(line))
    return tokens


_cached_tokens = lru_cache(maxsize=1024)(date_tokens)


def _dates(text: str) -> list[_Date]:
    """The dates in a text that the calendar has."""
    text, is_ascii = composed(text), text.isascii()
    dates = [] if is_ascii and not _YEAR.search(text) else list(_in_numbers(text))
    if not is_ascii:
        for match in _CJK_WEEKDAY.finditer(text):
            dates.append(
                _Date(weekday="一二三四五六日月火水木金土".find(match[1] or match[2]) % 7 + 1)
            )
    if not _NAMES.isdisjoint(_spaced(text.lower())):
        dates += _in_words(text)
    existing = []
    for written in dates:
        with suppress(ValueError):  # in a leap year, where no year is written
            date(written.year or 2000, written.month or 1, written.day or 1)
            existing.append(written)
    return existing


def _may_have(text: str, words: Set[str]) -> bool:
    """Whether a text has a year, one of the words, or a script without blanks between words."""
    if _UNSPACED.search(text) or _YEAR.search(text):
        return True
    return not words.isdisjoint(_spaced(text.lower()))


def _with_days_between(query: str) -> list[_Date]:
    """The dates in a query, with those between the two of a range of at most a month."""
    query, dates = _read(query)
    if "–" in query and len(dates) == 2 and all(written.day for written in dates):
        has_year = any(written.year for written in dates)
        first, last = dates if has_year else (dates[0]._replace(year=2000), dates[1])
        with suppress(ValueError):  # the 29th of February
            start, stop = sorted(date(*end[:3]) for end in _with_years(first, last))
            if stop - start <= timedelta(31):
                between = (start + timedelta(number) for number in range((stop - start).days + 1))
                return [_Date(one.year if has_year else 0, one.month, one.day) for one in between]
    return dates


def _with_years(first: _Date, last: _Date) -> tuple[_Date, _Date]:
    """The ends of a range with the year that one of them has; it may pass the end of a year."""
    passed = last.month < first.month
    if not last.year:
        last = last._replace(year=first.year + passed)
    elif not first.year:
        first = first._replace(year=last.year - passed)
    return first, last


def day_numbers(query: str) -> set[str]:
    """The numbers of the days that are written in a query.

    >>> sorted(day_numbers("from 8 to 10 May"))
    ['08', '10', '8']
    """
    days = {written.day for written in _read(query)[1] if written.day}
    return {number for day in days for number in (f"{day}", f"{day:02}")}


@lru_cache(maxsize=16)  # a query is asked for its period, its days, and the dates to search for
def _read(query: str) -> tuple[str, list[_Date]]:
    """A query with its ranges written out, and "last" before each weekday that is; its dates."""
    query = composed(query)
    if not _may_have(query, _NAMES):
        return query, []
    query = _LAST_WEEKDAY.sub(lambda match: f"last {match['after'] or ''}", query)
    for pattern, written_out in _RANGES:
        query = pattern.sub(written_out, query)
    return query, _dates(query)


def _spaced(text: str) -> list[str]:
    """The words of a text in lower case."""
    return text.translate(_SPACES).split()


def _in_numbers(text: str) -> Iterator[_Date]:
    end = 0
    for number in _NUMBER.finditer(text):
        match = _NUMERIC.match(text, number.start()) if number.start() >= end else None
        if match is None:
            continue
        end = match.end()
        part = {name[0]: value for name, value in match.groupdict().items() if value}
        year, month, day = (int(part.get(name, 0)) for name in "ymd")
        if match["sign"] in ("/", "-"):  # read as month and day or as day and month
            if day <= 12 and month <= 12 and day != month:
                continue
            day, month = max(day, month), min(day, month)
        yield _Date(year, month, day, before=_word_before(text, match.start()))


def _word_before(text: str, place: int) -> str:
    """The word before a date; one that leaves an end open also before "the end of" and the like."""
    words = _WORD.findall(text[max(0, place - 40) : place].lower())
    words = [word for word in reversed(words) if word not in _GLUE and word not in _ARTICLES]
    opening = next((word for word in words if word not in _PARTS), "")
    if opening not in _OPEN:
        if words[:1] == ["week"] and _ORDINALS.keys() & words[1:2]:
            return f"{words[1]} week"
        return "" if _OPEN.keys() & words[1:2] else next(iter(words), "")
    ends = "end" in words[: words.index(opening)]
    return "until" if ends and _OPEN[opening] == _BEFORE else opening


def _is_within(before: str) -> bool:
    """Whether the word before a month says that it is a time."""
    return before.rpartition(" ")[2] in _WITHIN


def _in_words(text: str) -> Iterator[_Date]:
    """The dates with the name of a month or a weekday."""
    tokens = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]

    def beside(place: int, step: int) -> int:
        """The next token in a direction that is not glue; -1 where more is between."""
        while place >= 0 and 0 <= place + step < len(tokens):
            first, second = sorted((place, place + step))
            if not _GAP.fullmatch(text, tokens[first][2], tokens[second][1]):
                break
            place += step
            if tokens[place][0] not in _GLUE:
                return place
        return -1

    def number(place: int, least: int, most: int) -> int:
        """The whole number at a place, if it is between two; else 0."""
        word, start, end = tokens[place] if place >= 0 else ("", 0, 0)
        if not word.isdecimal() or len(word) > 4 or not least <= int(word) <= most:
            return 0
        return 0 if {text[start - 1 : start], text[end : end + 1]} & {*":/$€#+%"} else int(word)

    for place, (word, _, end) in enumerate(tokens):
        name = word.lower()
        if name not in _NAMES:
            continue
        start, first, after = tokens[place][1], beside(place, -1), beside(place, 1)
        month = _MONTHS.get(name, 0)
        day = number(first, 1, 31) if month else 0
        if day:
            start = tokens[first][1]
        elif month and not (name in _OTHER_WORDS and word.islower()):
            day = number(after, 1, 31)
            after = beside(after, 1) if day else after
        year = number(after, 1000, 2999) if month else 0
        before = _word_before(text, start)
        is_other = name in _OTHER_WORDS and not _is_within(before)
        is_alone = not (is_other or name in _SHORT or text[end : end + 2] in ("'s", "’s"))
        if day or is_alone or (year and (not is_other or name in ("may", "march"))):
            yield _Date(year, month, day, 0 if month else _WEEKDAYS[name], before)


# Periods ------------------------------------------------------------------------------------------

_PHRASE: dict[str, tuple[str, int]] = {
    text: (unit, int(ago))
    for line in _WORDS_OF["phrases"].splitlines()
    for unit, ago, texts in (re.split(":? ", line, maxsplit=2),)
    for text in texts.split("|")
}
"""The unit of a phrase, and how many of them ago it is."""
_MONTH, _WEEKDAY, _UNIT, _COUNT, _THIRD = (
    "|".join(sorted(words, key=len, reverse=True))
    for words in (_MONTHS, _WEEKDAYS, _UNITS, _COUNTS, _THIRDS)
)
_COUNT = rf"(?:\d{{1,3}}|{_COUNT})"
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_LAST = "last|letzte[nr]?|vergangenen|afgelopen|laatste|[uú]ltim(?:[oa]s|[ie])|последни[ех]"
_IN = "in|during|from|between|im jahr|em|en|nel|в|von|zwischen|entre|tussen|между"
_YEARS = r"(?:19|20)\d\d"
_TO_YEAR = "(?: ?[-–] ?| (?:and|or|to|until|und|bis|y|a|et|en|и|по) )"
_TENS = "twent|thirt|fort|fift|sixt|sevent|eight|ninet"
_RELATIVE = lazy_pattern(
    "|".join(
        (
            # Chinese, Japanese and Korean have no boundaries of words.
            *(
                text if text > "\u1100" else rf"\b{text}\b(?! of\b)"
                for text in sorted(_PHRASE)[::-1]
            ),
            rf"\b(?P<n1>{_COUNT}) (?:(?P<u1>{_UNIT})|(?P<day>{_WEEKDAY})s?)"
            r" (?:ago|fa|geleden|назад|atrás)\b",
            rf"\b(?:vor|il y a|hace|há) (?P<n2>{_COUNT}) (?P<u2>{_UNIT})\b",
            rf"(?<![\d月월])(?P<n3>{_COUNT})\s?[个個か]?(?P<u3>{_UNIT})\s?[前전]",
            rf"\b(?:past|(?:past|{_LAST}) (?P<span>{_COUNT})) (?P<of_span>{_UNIT})\b",
            # Not "start 2000 servers", nor "from 2000 to 3000 euros".
            rf"\b(?:(?P<in>{_IN}|{'|'.join(_OPEN)})"
            rf"|(?!(?:start|end|middle|beginning) \d)(?:{_THIRD})(?: of| de| di)?)[ -]"
            rf"(?P<year>{_YEARS})(?:{_TO_YEAR}(?P<last>{_YEARS}))?\b(?![-/.]\d)"
            rf"(?!{_TO_YEAR}(?:2[1-9]|[3-9]\d|\d{{3}})\d\d\b)",
            rf"(?P<year_of_cjk>{_YEARS})\s?[年년](?!\s?\d\d?[月월])",
            rf"\b(?:q(?P<quarter>[1-4])|(?P<nth>first|second|third|fourth|last) quarter of)"
            rf"[ -]?(?P<of_quarter>{_YEARS})\b",
            r"\b(?:in|during|of|since|from) the"
            rf" (?:(?P<decade>(?:19|20)?\d0)['’]?s|(?P<tens>{_TENS})ies)\b",
            rf"\b(?:(?P<which>last|this|next) )?(?P<season>{'|'.join(_SEASONS)})\b"
            rf"(?:(?: of| de)? (?P<of>{_YEARS})\b)?",
        )
    ),
    re.IGNORECASE,
)
_WRITTEN = ("year", "year_of_cjk", "of_quarter", "decade", "tens", "season")
"""What of these may be written in a note, too."""
_RELATIVE_WORDS = {
    *_numbered(
        "ago past last letzten vergangenen afgelopen laatste vor il hace fa geleden q quarter s",
        "últimos últimas ultimi ultime последние последних há atrás назад",
    ),
    *(f"{tens}ies" for tens in _TENS.split("|")),
    *_SEASONS,
    *(max(re.split("[ '-]", text), key=len) for text in _PHRASE if text < "\u1100"),
}
"""Without one of these, ``_may_have`` is false for a text that does not match."""
_LAST_WEEKDAY = lazy_pattern(
    rf"\b(?P<after>{_WEEKDAY}) (?:derni[eè]re?|pasado|passad[ao]|scors[oa])\b"
    rf"|\b(?:{_LAST}|vorige|прошл(?:ую|ый|ое)) (?={_WEEKDAY})",
    re.IGNORECASE,
)
_WEEKDAY_BY_CLOCK = lazy_pattern(rf"\b(?:last|next) (?:{_WEEKDAY})\b", re.IGNORECASE)
_ASKING = _numbered(
    "anything do done event events everything go going happen happened happening happens know list",
    "memories memory new note notes remember said say show something thing things went",
)
"""Words of a question about a time that ask for no other word."""
_RANGE = lazy_pattern(r"\b(?:between|from|zwischen|von|entre|tra|tussen)\b|–")
_TO = r"(?:\s?[-–—]\s?|\s(?:to|until|till|through|bis|au|al|hasta|a|à|até|tot|по|до)\s)"
_AND = r"\s(?:and|und|et|y|e|en|и)\s"
_THE = "(?:(?:the|zum|dem|le|el|il|o|de) )?"
_DAY = r"\d\d?(?:st|nd|rd|th|er|\.)?"
_RANGES = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), written_out)
    for pattern, written_out in (
        # 10 and 16 January.
        (
            rf"(?<![\w.:/-])({_DAY})(?:{_TO}|{_AND}){_THE}(?={_DAY} ?(?:of |de )?({_MONTH})\b)",
            r"\1 \2 – ",
        ),
        # January 10 to 16; between January 10 and 16, at the end of a query.
        (
            rf"\b({_MONTH})\.? ({_DAY})(?:{_TO}|(?<=\d)\sand\s(?=\d+\W*$))"
            rf"(?={_DAY}(?![\w:/.%]| (?:{_MONTH})\b))",
            r"\1 \2 – \1 ",
        ),
        # 3月3日から5日.
        (
            r"(\d\d?[月월]\s?)(\d\d?[日号일]?)\s?(?:到|至|から|부터|[-–~〜～])\s?(?=\d\d?[日号일])",
            r"\1\2–\1",
        ),
        # 1.5. bis 8.5.2023.
        (
            rf"(?<![\w.])(\d\d?\.\d\d?\.)(?:{_TO}|{_AND})(?=\d\d?\.\d\d?\.([12]\d{{3}}))",
            r"\1\2 – ",
        ),
        # May to July.
        (
            rf"(?<![\d.f]\s)(?<!\b(?:since|desde)\s)(?<!\bseit\s)\b({_MONTH}){_TO}(?=(?:{_MONTH})\b)",
            r"in \1 – ",
        ),
        # 28 January until 3 February.
        (
            rf"\b((?:{_MONTH})\.?(?: \d\d?)?(?:,? {_YEARS})?|{_YEARS}-\d\d-\d\d|\d\.{_YEARS})"
            rf"{_TO}{_THE}(?=\d|(?:{_MONTH})\b)",
            r"\1 – ",
        ),
    )
)
"""Ranges of dates, written out with the month at both ends and a dash between them."""
LONGEST_QUERY = 2000  # characters of a query in which a period is looked for
_PEOPLE = (4, 5, 6, 8)  # April, May, June and August are names, too


def period(query: str, now: datetime) -> Period | None:
    """The time that a query is about, by a clock; None if it is about none.

    An open end is the first or the last ``datetime``. A day or a month without a year is the last
    one that has begun, and a weekday the last one before today; after "next", the first to come.

    >>> now = datetime(2026, 2, 4, 9, 30)
    >>> [str(time) for time in period("What did I eat last week?", now)]
    ['2026-01-26 00:00:00', '2026-02-02 00:00:00']
    >>> [str(time) for time in period("in June", now)], period("June may help.", now)
    (['2025-06-01 00:00:00', '2025-07-01 00:00:00'], None)
    """
    query, dates = _read(query[:LONGEST_QUERY])
    text = query.lower()
    is_range = len(dates) > 1 and _RANGE.search(text) is not None
    if is_range and "–" in text:  # both ends are closed, also "since May until July"
        dates = [
            each._replace(before="") if _OPEN.get(each.before) in (_SINCE, _UNTIL) else each
            for each in dates
        ]
    weekdays = [written for written in dates if written.weekday]
    meant = [written for written in dates if _is_period(written, is_range)]
    dates = [date for date in dates if date in meant or (meant and date.before in ("and", "or"))]
    years = {written.year for written in dates if written.year}
    lacks_year = any(written.month and not written.year for written in dates)
    periods: list[tuple[str, Period]] = []
    for match in _RELATIVE.finditer(text) if _may_have(text, _RELATIVE_WORDS) else ():
        before = match["in"] or _word_before(text, match.start("year" if match["year"] else 0))
        unit, ago = _PHRASE.get(match[0], ("", 0))
        if unit == "year" and lacks_year and not years:
            years.add(now.year - ago)  # last year in June
        elif unit == "week" and len(weekdays) == 1:  # Friday last week
            monday = _unit(unit, ago, now)[0]
            periods.append((before, _unit("day", 1 - weekdays[0].weekday, monday)))
            dates = [written for written in dates if not written.weekday]
        elif times := _unit(unit, ago, now) if unit else _times(match, before, now):
            periods.append((before, times))
    of_all = min(years) if len(years) == 1 else 0
    if is_range and len(dates) == 2:
        first, last = dates
        if of_all and not (first.year or last.year):
            last = last._replace(year=of_all)
        elif not last.year:
            first = first._replace(year=first.year or _period_of(first, 0, now)[0].year)
        dates = [*_with_years(first, last)]
    times_of = [_period_of(written, written.year or of_all, now) for written in dates]
    periods += zip((written.before for written in dates), times_of, strict=True)
    return _joined(periods, now) if periods else None


def without_period(query: str) -> tuple[str, bool]:
    """What of a query with a period is searched for, and whether the query is only about a time.

    What only the clock explains, such as "last week", is searched for in no note.

    >>> without_period("soup last week"), without_period("What did I do last Tuesday?")
    (('soup  ', False), ('', True))
    >>> without_period("on 14 February")
    ('on 14 February', True)
    """
    rest = _RELATIVE.sub(
        lambda match: match[0] if any(map(match.group, _WRITTEN)) else " ", query[:LONGEST_QUERY]
    )
    rest = _LAST_WEEKDAY.sub(lambda match: f"last {match['after'] or ''}", rest)
    rest = _WEEKDAY_BY_CLOCK.sub(" ", rest) + query[LONGEST_QUERY:]
    counting = {word.token for word in words_of(query, ())}.intersection(segment_term(rest))
    counting -= _ASKING.keys()
    dates = {word for word in counting if word[0].isdecimal() or word in _NAMES | _SEASONS.keys()}
    if counting - dates - _PARTS.keys() - _WITHIN.keys() - _OPEN.keys():
        return rest, False
    return rest if dates else "", True


def _times(match: re.Match[str], before: str, now: datetime) -> Period | None:
    """The time of a match of ``_RELATIVE`` that is no phrase; None for a season of no year."""
    groups = {name.rstrip("123"): value for name, value in match.groupdict().items() if value}
    count = _count(groups.get("n") or groups.get("span"))
    if "day" in groups:
        return _of_weekday(_WEEKDAYS[groups["day"]], count, now)
    if "u" in groups:
        return _unit(_unit_of(groups["u"]), count, now)
    if "of_span" in groups:
        return _midnight(now, _DAYS[_unit_of(groups["of_span"])] * count), now
    if "of_quarter" in groups:
        quarter = int(groups.get("quarter") or min(_ORDINALS[groups["nth"]], 4))
        return _three_months(int(groups["of_quarter"]), 3 * quarter - 2, now)
    if "season" in groups:
        number, which, year = _SEASONS[groups["season"]], groups.get("which"), groups.get("of")
        return _season(number, which, year, now) if which or year else None
    if tens := groups.get("decade") or groups.get("tens"):
        tens = tens if tens.isdecimal() else f"{_TENS.split('|').index(tens) + 2}0"
        ago = now.year - int(tens) - (0 if len(tens) == 4 else 1900 if int(tens) > 20 else 2000)
        return _unit("year", ago, now)[0], _unit("year", ago - 9, now)[1]
    years = [groups.get("year") or groups["year_of_cjk"], *filter(None, [groups.get("last")])]
    spans = [_unit("year", now.year - int(year), now) for year in years]
    return _third(before, spans[0][0], max(spans)[1])


def _is_period(written: _Date, is_range: bool) -> bool:
    """Whether a date in a query is a time, and not a person or a habit."""
    year, month, day, weekday, before = written
    if weekday:
        return before in ("on", "last", "next", "am") or before in _OPEN
    opens = before == "from" or _OPEN.get(before, _SINCE) != _SINCE
    is_person = month in _PEOPLE and opens and before != "until"
    return bool(year or day or is_range or (_is_within(before) and not is_person))


def _joined(periods: list[tuple[str, Period]], now: datetime) -> Period | None:
    """What several open periods have in common, and the time from the first to the last closed."""
    start, end = (time.replace(tzinfo=now.tzinfo) for time in (datetime.min, datetime.max))
    closed = [times for before, times in periods if before not in _OPEN]
    for before, (begin, finish) in periods:
        side = _OPEN.get(before)
        if side in (_SINCE, _AFTER):
            start = max(start, begin if side == _SINCE else finish)
        elif side in (_BEFORE, _UNTIL):
            end = min(end, begin if side == _BEFORE else finish)
    if closed:
        start = max(start, min(begin for begin, _ in closed))
        end = min(end, max(finish for _, finish in closed))
    return (start, end) if start < end else None


def _period_of(written: _Date, year: int, now: datetime) -> Period:
    is_next = written.before == "next"
    if written.weekday:
        return _of_weekday(written.weekday, 0 if is_next else 1, now)
    # Where a year has no 29th of February.
    start = datetime(year or now.year, 2, 28, tzinfo=now.tzinfo)
    step = 1 if is_next else -1
    for tried in (year,) if year else range(now.year, now.year + 9 * step, step):
        with suppress(ValueError):
            start = datetime(tried, written.month, written.day or 1, tzinfo=now.tzinfo)
            if (start > now) is is_next:
                break
    if written.day:
        unit = written.before if written.before in ("week", "weekend") else "day"
        return _unit(unit, 0, start)
    start, end = _unit("month", 0, start)
    which, _, week = written.before.partition(" ")
    if not week:
        return _third(which, start, end)
    first = start + timedelta(7 * _ORDINALS[which] - 7)
    return (
        (first, first + timedelta(7)) if first < end - timedelta(7) else (end - timedelta(7), end)
    )


def _of_weekday(weekday: int, count: int, now: datetime) -> Period:
    """A weekday that was so many times before today; for 0 the first to come."""
    ago = now.isoweekday() - weekday
    return _unit("day", (ago - 1) % 7 + 7 * count - 6 if count else ago % 7 - 7, now)


def _third(which: str, start: datetime, end: datetime) -> Period:
    """The beginning, the middle or the end of a month or of years; all of it for another word."""
    third = _THIRDS.get(which, 0)
    days = [(end - start).days * part // 3 for part in ((third - 1, third) if third else (0, 3))]
    return start + timedelta(days[0]), start + timedelta(days[1])


def _three_months(year: int, month: int, now: datetime) -> Period:
    start = _midnight(now).replace(year, month, 1)
    return start, _unit("month", -2, start)[1]


def _season(number: int, which: str | None, year: str | None, now: datetime) -> Period:
    """Three months, of the north: winter begins in December."""
    years = [int(year)] if year else range(now.year - 2, now.year + 2)
    seasons = [_three_months(year, 3 * number - 3 or 12, now) for year in years]
    if year or which == "last":
        return [times for times in seasons if year or times[1] <= now][-1]
    return next(times for times in seasons if times[which == "this"] > now)


def _unit(unit: str, ago: int, now: datetime) -> Period:
    """The day, week, weekend, month or year that was so many of them ago."""
    if unit == "day":
        return _midnight(now, ago), _midnight(now, ago - 1)
    if unit in ("week", "weekend"):
        monday = _midnight(now, now.weekday() + 7 * ago)
        return monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(7)
    size = 12 if unit == "year" else 1
    first = now.year * 12 + (0 if unit == "year" else now.month - 1) - size * ago
    months = (divmod(number, 12) for number in (first, first + size))
    start, end = (_midnight(now).replace(year, month + 1, 1) for year, month in months)
    return start, end


def _midnight(now: datetime, days_ago: int = 0) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days_ago)


def _unit_of(word: str) -> str:
    return [*_DAYS][_UNITS[word] - 1]


def _count(text: str | None) -> int:
    """A number in digits or words; 1 for none."""
    return int(text) if text and text.isdecimal() else _COUNTS.get(text or "", 1)
