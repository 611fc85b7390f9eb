"""Dates in texts are tokens, and a query is about a period or about none."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest

from kiprdf.search.dates import date_tokens, day_numbers, period
from tests.cases import each_case

NOW = datetime(2026, 2, 4, 9, 30)  # a Wednesday
MAY_8 = ["__d2023_05_08", "__m2023_05", "__d05_08", "__m05", "__w1"]


@each_case(
    "text",
    [
        "2023-05-08T13:56:00Z",
        "2023-05-08",
        "from 2023/05/08 on",
        "8 May 2023",
        "1:56 pm on 8 May, 2023",
        "May 8, 2023.",
        "May 8th 2023",
        "the 8th of May, 2023",
        "8.5.2023",
        "am 08.05.2023.",
        "8. Mai 2023",
        "8 de mayo de 2023",
        "8 de maio de 2023",
        "le 8 mai 2023",
        "8 maggio 2023",
        "8 mei 2023",
        "8 мая 2023",
        "2023年5月8日に",
        "２０２３年５月８日",
        "2023년 5월",
    ],
)
def test_a_date_has_its_day_month_and_weekday(text: str) -> None:
    expected = ["__m2023_05", "__m05"] if text.endswith("월") else MAY_8
    assert date_tokens(text) == expected


@pytest.mark.parametrize(
    ("asked", "tokens"),
    [
        ("8 May 2023", ["__d2023_05_08"]),
        ("Monday, 8 May", ["__w1", "__d05_08"]),
        ("May 8", ["__d05_08"]),
        ("May 2023", ["__m2023_05"]),
        ("2023-05", ["__m2023_05"]),
        ("in may", ["__m05"]),
        ("im Mai", ["__m05"]),
        ("Monday", ["__w1"]),
        ("lundi", ["__w1"]),
        ("星期一", ["__w1"]),
        ("月曜日", ["__w1"]),
    ],
)
def test_what_is_asked_finds_the_day(asked: str, tokens: list[str]) -> None:
    assert date_tokens(asked, asked=True) == tokens
    assert set(tokens) <= set(MAY_8)


def test_a_range_asks_for_the_days_between() -> None:
    over_the_year = ["__d2023_12_30", "__d2023_12_31", "__d2024_01_01"]
    assert date_tokens("30 December 2023 to 1 January", asked=True) == over_the_year
    assert date_tokens("30 December to 1 January 2024", asked=True) == over_the_year
    assert date_tokens("7 to 5 May", asked=True) == ["__d05_05", "__d05_06", "__d05_07"]
    # In a year that has no such day.
    assert date_tokens("29 February to 3 March 2023", asked=True) == ["__d02_29", "__d2023_03_03"]


def test_a_number_between_two_days_is_a_word() -> None:
    assert day_numbers("room 12 from 8 to 16 May") == {"8", "08", "16"}


@each_case(
    "text",
    [
        "",
        "What may help?",
        "We march 5 miles.",
        "the planet Mars",
        "Mars 2020 landed",
        "8/5/2023",
        "10.1.2.2023",
        "v2023.5.8",
        "30 February 2023",
        "2023-13-01",
        "0.5.2023",
        "June's cat",
        "set 5 goals, sun and sat",
        "the season 2019-20",
        "a second later",
        "at 10:30 of 8 people",
        "$8 May",
    ],
)
def test_what_may_be_another_word_or_no_date_is_none(text: str) -> None:
    assert [token for token in date_tokens(text) if token != "__m05"] == []


def test_parts_of_two_lines_are_no_date() -> None:
    assert date_tokens("I have 8\nMay 2023") == ["__m2023_05", "__m05"]


@each_case(
    "query, start, end",
    [
        ("in June 2023", "2023-06-01", "2023-07-01"),
        ("Where did we go in June?", "2025-06-01", "2025-07-01"),
        ("in february", "2026-02-01", "2026-03-01"),
        ("in may", "2025-05-01", "2025-06-01"),
        ("on 8 May 2023", "2023-05-08", "2023-05-09"),
        ("2023-05-08", "2023-05-08", "2023-05-09"),
        ("on 8 May", "2025-05-08", "2025-05-09"),
        ("on 29 February", "2024-02-29", "2024-03-01"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("What did I eat yesterday?", "2026-02-03", "2026-02-04"),
        ("the day before yesterday", "2026-02-02", "2026-02-03"),
        ("last night", "2026-02-03", "2026-02-04"),
        ("today", "2026-02-04", "2026-02-05"),
        ("last week", "2026-01-26", "2026-02-02"),
        ("this week", "2026-02-02", "2026-02-09"),
        ("last weekend", "2026-01-31", "2026-02-02"),
        ("last month", "2026-01-01", "2026-02-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last year in June", "2025-06-01", "2025-07-01"),
        ("three days ago", "2026-02-01", "2026-02-02"),
        ("two weeks ago", "2026-01-19", "2026-01-26"),
        ("3 months ago", "2025-11-01", "2025-12-01"),
        ("a year ago", "2025-01-01", "2026-01-01"),
        ("in the last 3 days", "2026-02-01", "2026-02-04T09:30"),
        ("in the past week", "2026-01-28", "2026-02-04T09:30"),
        ("on Monday", "2026-02-02", "2026-02-03"),
        ("last Wednesday", "2026-01-28", "2026-01-29"),
        ("since March", "2025-03-01", None),
        ("since last week", "2026-01-26", None),
        ("after 8 May 2023", "2023-05-09", None),
        ("before 2024", None, "2024-01-01"),
        ("before yesterday's meeting", None, "2026-02-03"),
        ("until March 2023", None, "2023-04-01"),
        ("after March 2023 and before June 2023", "2023-04-01", "2023-06-01"),
        ("between March and May 2023", "2023-03-01", "2023-06-01"),
        ("from May to August 2023", "2023-05-01", "2023-09-01"),
        ("in 2022 or 2023", "2022-01-01", "2024-01-01"),
        ("from 2020 to 2022", "2020-01-01", "2023-01-01"),
        ("on Monday or Tuesday", "2026-02-02", "2026-02-04"),
        ("in June and July", "2025-06-01", "2025-08-01"),
        ("in May, or what did I say to June?", "2025-05-01", "2025-06-01"),
        ("since last June", "2025-06-01", None),
        ("since the end of May 2023", "2023-05-01", None),
        ("since the beginning of last month", "2026-01-01", None),
        ("until last Monday", None, "2026-02-03"),
        ("before the end of May", None, "2025-06-01"),
        ("before the end of June 2023", None, "2023-07-01"),
        ("before the beginning of June 2023", None, "2023-06-01"),
        ("in the week of 8 May", "2025-05-05", "2025-05-12"),
        ("the week of May 8th, 2023", "2023-05-08", "2023-05-15"),
        ("in the month of May", "2025-05-01", "2025-06-01"),
        ("next week", "2026-02-09", "2026-02-16"),
        ("tomorrow", "2026-02-05", "2026-02-06"),
        ("next month", "2026-03-01", "2026-04-01"),
        ("next year", "2027-01-01", "2028-01-01"),
        ("next Wednesday", "2026-02-11", "2026-02-12"),
        ("next Thursday", "2026-02-05", "2026-02-06"),
        ("next June", "2026-06-01", "2026-07-01"),
        ("this weekend", "2026-02-07", "2026-02-09"),
        ("in the summer of 2023", "2023-06-01", "2023-09-01"),
        ("Summer 2023", "2023-06-01", "2023-09-01"),
        ("in the fall of 2023", "2023-09-01", "2023-12-01"),
        ("in the winter of 2023", "2023-12-01", "2024-03-01"),
        ("last summer", "2025-06-01", "2025-09-01"),
        ("since last autumn", "2025-09-01", None),
        ("this winter", "2025-12-01", "2026-03-01"),
        ("next spring", "2026-03-01", "2026-06-01"),
        ("im Sommer 2023", "2023-06-01", "2023-09-01"),
        ("gestern", "2026-02-03", "2026-02-04"),
        ("letzte Woche", "2026-01-26", "2026-02-02"),
        ("im Juni", "2025-06-01", "2025-07-01"),
        ("la semaine dernière", "2026-01-26", "2026-02-02"),
        ("el mes pasado", "2026-01-01", "2026-02-01"),
        ("昨天吃了什么", "2026-02-03", "2026-02-04"),
        ("去年の夏", "2025-01-01", "2026-01-01"),
        ("na próxima semana", "2026-02-09", "2026-02-16"),
        ("la settimana scorsa", "2026-01-26", "2026-02-02"),
        ("wat deed ik vorige week", "2026-01-26", "2026-02-02"),
        ("на прошлой неделе", "2026-01-26", "2026-02-02"),
        ("이번 주", "2026-02-02", "2026-02-09"),
        ("between 10 and 16 January", "2026-01-10", "2026-01-17"),
        ("between January 10 and 16", "2026-01-10", "2026-01-17"),
        ("January 10 - January 16", "2026-01-10", "2026-01-17"),
        ("from 3 to 5 March 2024", "2024-03-03", "2024-03-06"),
        ("March 3–5, 2024", "2024-03-03", "2024-03-06"),
        ("from 1 to 16 February", "2026-02-01", "2026-02-17"),
        ("from 28 December to 3 January", "2025-12-28", "2026-01-04"),
        ("28 December to 3 January 2024", "2023-12-28", "2024-01-04"),
        ("since May until July 2023", "2023-05-01", "2023-08-01"),
        ("May-July 2023", "2023-05-01", "2023-08-01"),
        ("10.–16. Januar", "2026-01-10", "2026-01-17"),
        ("vom 10. bis 16. Januar", "2026-01-10", "2026-01-17"),
        ("vom 1.5. bis 8.5.2023", "2023-05-01", "2023-05-09"),
        ("Mai bis Juli 2023", "2023-05-01", "2023-08-01"),
        ("du 3 au 5 mars 2024", "2024-03-03", "2024-03-06"),
        ("entre el 3 y el 5 de marzo de 2024", "2024-03-03", "2024-03-06"),
        ("de 3 a 5 de março de 2024", "2024-03-03", "2024-03-06"),
        ("dal 3 al 5 marzo 2024", "2024-03-03", "2024-03-06"),
        ("van 3 tot 5 maart 2024", "2024-03-03", "2024-03-06"),
        ("с 3 по 5 марта 2024", "2024-03-03", "2024-03-06"),
        ("2024年3月3日から5日まで", "2024-03-03", "2024-03-06"),
        ("3월 3일부터 5일까지", "2025-03-03", "2025-03-06"),
        ("in the first week of May", "2025-05-01", "2025-05-08"),
        ("in the last week of May", "2025-05-25", "2025-06-01"),
        ("mid June", "2025-06-11", "2025-06-21"),
        ("Ende Mai 2023", "2023-05-21", "2023-06-01"),
        ("the weekend of 5 May 2024", "2024-05-04", "2024-05-06"),
        ("two Fridays ago", "2026-01-23", "2026-01-24"),
        ("Q1 2024", "2024-01-01", "2024-04-01"),
        ("the last quarter of 2024", "2024-10-01", "2025-01-01"),
        ("in the nineties", "1990-01-01", "2000-01-01"),
        ("in the 2010s", "2010-01-01", "2020-01-01"),
        ("mid-2023", "2023-05-02", "2023-09-01"),
        ("zwischen 2019 und 2021", "2019-01-01", "2022-01-01"),
        ("en 2023", "2023-01-01", "2024-01-01"),
        ("2023年", "2023-01-01", "2024-01-01"),
        ("vor zwei Wochen", "2026-01-19", "2026-01-26"),
        ("il y a 3 jours", "2026-02-01", "2026-02-02"),
        ("hace dos semanas", "2026-01-19", "2026-01-26"),
        ("две недели назад", "2026-01-19", "2026-01-26"),
        ("两周前", "2026-01-19", "2026-01-26"),
        ("in den letzten zwei Wochen", "2026-01-21", "2026-02-04T09:30"),
        ("letzten Freitag", "2026-01-30", "2026-01-31"),
        ("el viernes pasado", "2026-01-30", "2026-01-31"),
        ("上周五", "2026-01-30", "2026-01-31"),
        ("on Friday last week", "2026-01-30", "2026-01-31"),
        ("antes de ayer", "2026-02-02", "2026-02-03"),
        ("29 February to 3 March", "2024-02-29", "2024-03-04"),
        ("29 February to 3 March 2023", "2023-02-28", "2023-03-04"),
        ("between 16 and 10 January", "2026-01-10", "2026-01-17"),
        ("from 28 December 2023 to 3 January", "2023-12-28", "2024-01-04"),
        ("im Ma\u0308rz 2023", "2023-03-01", "2023-04-01"),
        ("vor dem 3. Mai 2023", None, "2023-05-03"),
        ("bis zum 3. Mai 2023", None, "2023-05-04"),
        ("depuis le 3 mai 2023", "2023-05-03", None),
        ("antes del 3 de mayo de 2023", None, "2023-05-03"),
        ("desde el 3 de mayo de 2023", "2023-05-03", None),
        ("sinds 3 mei 2023", "2023-05-03", None),
        ("до 3 мая 2023", None, "2023-05-04"),
    ],
)
def test_a_query_is_about_a_period(query: str, start: str | None, end: str | None) -> None:
    first = datetime.min if start is None else datetime.fromisoformat(start)
    last = datetime.max if end is None else datetime.fromisoformat(end)
    assert period(query, NOW) == (first, last)


@each_case(
    "query",
    [
        "",
        "What may I do?",
        "march to the sea",
        "a second thought about the sun",
        "What did June say?",
        "a present by June",
        "I'm interested in April's plan",
        "Tell me about May",
        "How did Mars 2020 land?",
        "on Mondays",
        "8/5/2023",
        "the 30 February 2023",
        "Python 3.11 in 10 minutes",
        "in 2023-24",
        "walk through June",
        "Monday or Tuesday",
        "before June 2023 and after 2024",
        "a walk in the spring sun",
        "before next Friday",
        "between 10 and 16",
        "chapters 3 to 5",
        "the 30s timeout",
        "how to start 2000 servers",
        "from 2000 to 3000 users",
        "zwischen 2000 und 10000 Euro",
        "Q1",
        "day",
    ],
)
def test_other_words_are_no_period(query: str) -> None:
    assert period(query, NOW) is None


def test_a_period_is_of_the_zone_of_the_clock() -> None:
    zone = timezone(timedelta(hours=9))
    start, end = period("yesterday", NOW.replace(tzinfo=zone)) or (NOW, NOW)
    assert start.isoformat() == "2026-02-03T00:00:00+09:00"
    assert end - start == timedelta(days=1)
    since = period("since 2024", NOW.replace(tzinfo=zone))
    assert since is not None
    assert since[0] < NOW.replace(tzinfo=zone) < since[1]


@pytest.mark.parametrize(
    "part",
    [
        "May 8 ",
        "8 of ",
        "2023-",
        "2023年 ",
        "1",
        "th may th ",
        "may,",
        "10 and ",
        "3月3日到",
        "May-",
    ],
)
def test_time_is_linear(part: str) -> None:
    def seconds(times: int) -> float:
        text = part * times
        began = time.process_time()
        date_tokens(text)
        date_tokens(text, asked=True)
        period(text, NOW)
        return time.process_time() - began

    short = max(min(seconds(2_000 + more) for more in range(3)), 0.002)
    assert seconds(20_000) < 40 * short
