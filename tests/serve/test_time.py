"""The bars above the slider, what it says of a commit, and pages of the past."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kiprdf
from kiprdf.serve.explorer.histogram import BARS, histogram
from kiprdf.store.timeline import Timeline
from tests.serve.browser import needs_browser, until
from tests.serve.running import RunningServer, serving

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
DRUG = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES { n: 1 } } }'


def bars_of(times: list[datetime], earliest: int = 0, seq: int | None = None) -> Any:
    """The histogram of commits at some times."""
    timeline = Timeline.__new__(Timeline)
    timeline.numbers = [*range(1, len(times) + 1)]
    timeline.times = [f"{time.isoformat(timespec='milliseconds')[:23]}Z" for time in times]
    return histogram(timeline, earliest, len(times), seq)


@pytest.mark.parametrize(
    ("days", "label", "first"),
    [
        (0.03, "minute", "2026-01-01 12:00 UTC: 1 commit"),
        (1, "hour", "2026-01-01 12:00 UTC: 1 commit"),
        (59, "day", "2026-01-01: 1 commit"),
        (60, "week", "Week of 2025-12-29: 1 commit"),
        (410, "week", "Week of 2025-12-29: 1 commit"),
        (430, "month", "2026-01: 1 commit"),
        (1_900, "year", "2026: 1 commit"),
    ],
)
def test_a_bar_is_the_shortest_time_of_which_there_are_few(
    days: float, label: str, first: str
) -> None:
    view = bars_of([START, START + timedelta(days=days), START + timedelta(days=days)])
    assert view["label"] == f"Commits by {label}"
    assert [bar["last"] for bar in view["bars"]] == [1, 3]
    assert view["bars"][0]["text"] == first
    assert view["bars"][1]["text"].endswith(": 2 commits")
    assert [bar["height"] for bar in view["bars"]] == [20, 40]
    assert view["bars"][1]["left"] == view["total"] - view["place"] <= (BARS - 1) * view["place"]


def test_commits_that_no_few_bars_show_have_none() -> None:
    assert bars_of([]) is None
    assert bars_of([START]) is None
    assert bars_of([START.replace(year=1), START.replace(year=9999)]) is None
    assert bars_of([START, START + timedelta(days=3)], earliest=1) is None
    assert bars_of([START, START + timedelta(days=3)]) is not None


def test_the_marker_is_in_the_bar_of_its_commit() -> None:
    times = [START, *[START + timedelta(days=2, hours=hour) for hour in range(4)]]
    times.append(START + timedelta(days=9))
    hours = {seq: float(bars_of(times, seq=seq)["marker"]) for seq in range(len(times) + 1)}
    places = [bar["left"] for bar in bars_of(times)["bars"]]
    assert places == [0, 20, 90]
    assert hours == {0: 0, 1: 10, 2: 22.5, 3: 25, 4: 27.5, 5: 30, 6: 100}
    assert float(bars_of(times)["marker"]) == 100


def test_many_commits_have_few_bars() -> None:
    times = [START + timedelta(minutes=7 * number) for number in range(100_000)]
    view = bars_of(times)
    assert view["label"] == "Commits by month"
    assert len(view["bars"]) == 17
    assert [bar["text"] for bar in view["bars"]][:2] == [
        "2026-01: 6,275 commits",
        "2026-02: 5,760 commits",
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Commits of a person over eleven days: the last of the first day is number 4."""
    folder = tmp_path_factory.mktemp("time") / "kb"
    moment = START

    def clock() -> datetime:
        return moment

    with kiprdf.Nexus.open(folder, clock=clock) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
        with nexus.acting(author="ada", kind="human"):
            for day, name in ((0, "A"), (0, "B"), (5, "C"), (10, "<b>D</b>")):
                moment = START + timedelta(days=day)
                nexus.execute(DRUG, name=name)
    with serving(folder) as running:
        yield running


def text_of(server: RunningServer, address: str) -> str:
    answer = server.client.get(address, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    return answer.text


def test_bars_are_links_to_their_last_commits(server: RunningServer) -> None:
    text = text_of(server, "/explore/?q=a%26b")
    bars = re.findall(r'<a href="([^"]*)" tabindex="-1" data-last="(\d+)"><title>([^<]*)', text)
    assert [html.unescape(href) for href, _, _ in bars] == [
        f"?q=a%26b&as_of={last}" for last in (4, 5, 6)
    ]
    assert [title for _, _, title in bars] == [
        "2026-01-01: 4 commits", "2026-01-06: 1 commit", "2026-01-11: 1 commit"
    ]  # fmt: skip
    assert 'aria-label="Commits by day"' in text
    assert " style=" not in text
    long = text_of(server, f"/explore/?q={'a' * 400}")
    assert long.count("data-last=") == 3
    assert '<a href="?' not in long


def test_a_page_of_the_past_says_so_and_has_no_forms(server: RunningServer) -> None:
    now, past = (text_of(server, f"/page/Drug/A{query}") for query in ("", "?as_of=4"))
    assert 'href="/explore/act/' in now
    assert "/explore/act/" not in past
    assert 'method="post"' not in past.lower()
    assert "This is the past." not in now
    assert "<strong>This is the past.</strong> As of <output>commit 4 · " in past
    assert '<a href="/page/Drug/A">Back to now</a>' in past


def test_the_slider_shows_what_a_commit_is(server: RunningServer) -> None:
    assert server.client.get("/explore/commit?seq=5").json() == {
        "seq": 5,
        "at": "2026-01-06T12:00:00.000Z",
        "author": "human/ada",
        "changes": 1,
        "text": "commit 5 · 2026-01-06 12:00 UTC · human/ada · 1 change",
    }
    assert server.client.get("/explore/commit?seq=0").json() == {"seq": 0, "text": "commit 0"}
    for seq in ("7", "-1", "x", ""):
        assert server.client.get(f"/explore/commit?seq={seq}").status_code == 404


@needs_browser
def test_keys_say_what_a_commit_is_and_bars_lead_to_theirs(
    server: RunningServer, window: Any
) -> None:
    from selenium.webdriver.common.keys import Keys

    def marker() -> str:
        return str(window.find_element("css selector", ".marker").get_attribute("d"))

    window.get(f"{server.address}page/Drug/A")
    before = marker()
    window.find_element("css selector", ".time input").send_keys(Keys.ARROW_LEFT)
    output = window.find_element("css selector", ".time output")
    shown = "commit 5 · 2026-01-06 12:00 UTC · human/ada · 1 change: Enter shows it"
    until(lambda: output.text == shown)
    assert (before, marker()) == ("M110 0V40", "M60 0V40")
    assert window.current_url.endswith("/page/Drug/A")
    window.find_element("css selector", ".time input").send_keys(Keys.ENTER)
    until(lambda: window.current_url.endswith("/page/Drug/A?as_of=5"))
    assert marker() == "M60 0V40"
    window.find_elements("css selector", ".bars a")[0].click()
    until(lambda: window.current_url.endswith("/page/Drug/A?as_of=4"))
    window.find_element("link text", "Back to now").click()
    until(lambda: window.current_url.endswith("/page/Drug/A"))
    assert window.get_log("browser") == []
