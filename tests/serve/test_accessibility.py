"""What axe-core finds in each kind of page, light and dark: nothing. And the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import kiprdf
from tests.nexus.support import FACTS, SCHEMA
from tests.node import FOLDER, needs_node
from tests.serve.browser import needs_browser, show_on, until
from tests.serve.running import RunningServer, serving

AXE = FOLDER / "node_modules/axe-core/axe.min.js"
FIND = 'FIND(?d.name, ?s.name, ?d.attributes.risk) WHERE { (?d, "treats", ?s) }'
KINDS = {
    "home": "explore/",
    "search": "explore/?q=aspirin",
    "search without hits": "explore/?q=zzzzzz",
    "concept": "page/Drug/Aspirin",
    "concept with long text": "page/Drug/Long",
    "fact": "page/$proposition/48ec6e8e3fe50dea/treats",
    "type": "page/$ConceptType/Drug",
    "predicate": "page/$PropositionType/treats",
    "past": "page/Drug/Aspirin?as_of=3",
    "schema": "explore/schema",
    "table": "explore/table?type=Drug&filter=risk:some:&q=a",
    "table of facts": "explore/table?predicate=treats",
    "log": "explore/log",
    "history": "explore/history/Drug/Aspirin",
    "query": "explore/kql",
    "answer": f"explore/kql?command={quote(FIND)}",
    "empty answer": "explore/kql?command=" + quote('FIND(?d) WHERE { ?d {name: "Asprin"} }'),
    "wrong query": "explore/kql?command=FIND(?x",
    "primer": "explore/kql?command=DESCRIBE%20PRIMER",
    "bars": "explore/kql?show=chart&command=" + quote("FIND(?d.type, COUNT(?d)) WHERE { ?d {} }"),
    "line": "explore/kql?show=chart&command="
    + quote("FIND(?d.metadata._created_at, COUNT(?d)) WHERE { ?d {} }"),
    "response": f"explore/kql?show=json&command={quote(FIND)}",
    "SPARQL": f"explore/kql?show=sparql&command={quote(FIND)}",
    "why": f"explore/why?command={quote(FIND)}&row=0",
    "graph": "explore/graph?element=C:Drug/Aspirin&t=Symptom",
    "graph of a fact": "explore/graph?element=P:48ec6e8e3fe50dea:treats",
    "graph of an answer": "explore/graph?command=" + quote(FIND.replace(".name", "")),
    "graph without elements": "explore/graph?command=" + quote("FIND(?d.name) WHERE { ?d {} }"),
    "proposals": "explore/proposals",
    "form": "explore/act/edit/Drug/Aspirin?key=attributes.risk",
    "long form": "explore/act/edit/Drug/Long?key=attributes.text",
    "form of a reason": "explore/act/reject/Drug/Aspirin",
    "form of a fact": "explore/act/fact/Drug/Aspirin",
    "form of a merge": "explore/act/merge/Drug/Aspirin",
    "form of an undo": "explore/act/undo/2",
    "rejections": "explore/rejections",
    "absent": "page/Drug/Asprin",
    "not found": "explore/shema",
    "not allowed": "explore/schema?as_of=soon",
}
"""The address of a page of each kind."""
LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
"""The rules that depend on the screen."""
RUN = """
  const [rules, done] = arguments;
  const options = {resultTypes: ["violations"], ...(rules && {runOnly: rules})};
  axe.run(document, options).then(
    found => done(found.violations.map(one =>
      one.id + ": " + one.nodes.map(node => node.target.join(" ")).slice(0, 5).join(", "))),
    fault => done(["axe failed: " + fault]));
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of a small nexus with something on each kind of page."""
    folder = tmp_path_factory.mktemp("small") / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
        long = 'UPSERT { CONCEPT { {type: "Drug", name: "Long"} SET ATTRIBUTES { text: :text } } }'
        nexus.execute(long, text="a long text " * 300)
        nexus.reject(("C:Drug/Long", "attributes.risk", 9), reason="Wrong.")
        with nexus.acting(author="agent", access="propose"):
            nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "<b>Bold</b>"} } }')
    with serving(folder) as running:
        yield running


@needs_browser
@needs_node
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(small: RunningServer, window: Any, kind: str) -> None:
    assert faults(window, small.address + KINDS[kind]) == []


def faults(window: Any, address: str) -> list[str]:
    """What axe finds in a page on a wide light screen, and on a narrow dark one."""
    window.get(address)
    window.execute_script(AXE.read_text("utf-8"))
    wide = window.execute_async_script(RUN, None)
    show_on(window, 390, is_dark=True)
    return wide + [f"narrow and dark: {one}" for one in window.execute_async_script(RUN, LOOKS)]


@needs_browser
@needs_node
def test_axe_finds_nothing_in_an_empty_nexus_and_a_form(tmp_path: Path, window: Any) -> None:
    kiprdf.Nexus.open(tmp_path / "kb").close()
    with serving(tmp_path / "kb", "--read-token", "r3ad") as server:
        assert faults(window, server.address) == []
        window.find_element("name", "token").send_keys("wrong\n")
        until(lambda: window.find_elements("css selector", "[role=alert]"))
        assert faults(window, f"{server.address}login") == []
        window.find_element("name", "token").send_keys("r3ad\n")
        until(lambda: "/explore/" in window.current_url)
        for path in ("explore/", "explore/?q=x", "explore/schema", "explore/log"):
            assert faults(window, server.address + path) == [], path


FOCUS = """
  const one = document.activeElement;
  const isSeen = getComputedStyle(one).outlineStyle !== "none"
    || [...one.querySelectorAll("rect, circle")].some(
      part => parseFloat(getComputedStyle(part).strokeWidth) >= 2);
  return one === document.body ? null : [isSeen, one.textContent.trim(), !!one.closest("main")];
"""


@needs_browser
def test_all_of_a_page_is_reached_by_keys(small: RunningServer, window: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    def tab() -> Any:
        window.switch_to.active_element.send_keys(Keys.TAB)
        return window.execute_script(FOCUS)

    window.get(f"{small.address}page/Drug/Aspirin")
    assert tab() == [True, "Skip to the content", False]
    reached = list(iter(tab, None))
    assert [text for is_seen, text, _ in reached if not is_seen] == []
    links = window.find_elements("css selector", "nav a, main a, summary, button")
    visible = [one.text.split("\n")[0] for one in links if one.is_displayed() and one.text]
    assert {"Schema", "Headache"} <= {*visible}
    assert [one for one in visible if not any(one in text for _, text, _ in reached)] == []
    window.get(f"{small.address}page/Drug/Aspirin")
    tab()
    window.switch_to.active_element.send_keys(Keys.ENTER)
    assert tab()[2]
