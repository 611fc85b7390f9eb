"""The picture of the types and predicates, on a nexus of 40 types."""

from __future__ import annotations

import re
from typing import Any

from tests.serve.browser import needs_browser, show_on
from tests.serve.running import RunningServer

FAULTS = """
  const boxes = [...document.querySelectorAll(".picture-of-types rect")]
    .map(one => one.getBoundingClientRect());
  const inside = (x, y, box) =>
    x > box.left + 1 && x < box.right - 1 && y > box.top + 1 && y < box.bottom - 1;
  const faults = [];
  for (const text of document.querySelectorAll(".picture-of-types text")) {
    const own = text.getBoundingClientRect();
    const box = text.parentElement.querySelector("rect").getBoundingClientRect();
    if (own.left < box.left || own.right > box.right || own.top < box.top - 1)
      faults.push("outside: " + text.textContent);
    for (const other of text.parentElement.querySelectorAll("text")) {
      const beside = other.getBoundingClientRect();
      if (beside.left > own.left && own.right > beside.left)
        faults.push("over: " + text.textContent);
    }
  }
  boxes.forEach((one, at) => boxes.slice(at + 1).forEach(other => {
    if (one.left < other.right && other.left < one.right && one.top < other.bottom
        && other.top < one.bottom) faults.push("boxes " + at);
  }));
  for (const path of document.querySelectorAll(".picture-of-types path")) {
    const matrix = path.getScreenCTM(), length = path.getTotalLength();
    for (let step = 0; step <= 40; step++) {
      const at = path.getPointAtLength(length * step / 40).matrixTransform(matrix);
      if (boxes.some(box => inside(at.x, at.y, box))) faults.push("under a box");
    }
  }
  return [boxes.length, faults];
"""
UNSEEN = "return document.querySelector('.picture-of-types').checkVisibility()"


HTML = {"Accept": "text/html"}


def schema(server: RunningServer, query: str = "") -> str:
    answer = server.client.get(f"/explore/schema{query}", headers=HTML)
    assert answer.status_code == 200
    return answer.text


def words_of(text: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", text).split())


def test_the_picture_counts_concepts_and_facts(large_server: RunningServer) -> None:
    text = schema(large_server)
    boxes = [words_of(one) for one in re.findall("</rect>(.*?)</a>", text)]
    assert {"Person 2,200", "knows 4,450", "about 2,063 of 3,255", "a fact: works for"} <= {*boxes}
    assert "Person stated a fact: works for 250" in words_of(text)
    assert "The 40 kinds of links with the most facts; 87 more" in text


def test_the_picture_of_a_domain_has_its_types_only(large_server: RunningServer) -> None:
    text = schema(large_server, "?domain=Places")
    boxes = {words_of(one) for one in re.findall("</rect>(.*?)</a>", text)}
    assert {"City 250", "lives in 2,197"} <= boxes
    assert not {"Paper 400", "cites 1,194"} & boxes
    listed = re.findall(
        '<li><a href="/page/[$]ConceptType/([^"]*)">', text.partition("Concept types")[2]
    )
    assert sorted(listed) == ["Airport", "Building", "City", "Country", "Region", "River", "Room"]
    unknown = large_server.client.get("/explore/schema?domain=%3Cb%3E", headers=HTML)
    assert (unknown.status_code, "domain &#39;&lt;b&gt;&#39;" in unknown.text) == (404, True)
    assert '<a href="/explore/schema?domain=Places" aria-current="page">Places</a>' in text


@needs_browser
def test_no_label_is_under_a_box_and_a_phone_has_a_list(
    large_server: RunningServer, window: Any
) -> None:
    for query in ("", "?domain=Work"):
        show_on(window, 1280)
        window.get(f"{large_server.address}explore/schema{query}")
        number, faults = window.execute_script(FAULTS)
        assert (number > 20, faults) == (True, [])
        show_on(window, 390)
        assert not window.execute_script(UNSEEN)
        first = window.find_element("css selector", ".uses li")
        assert first.is_displayed()
        assert window.execute_script("return document.documentElement.scrollWidth") <= 390
