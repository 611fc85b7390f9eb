"""``nexus.draw``: what is drawn, and that the SVG stands alone."""

from __future__ import annotations

import asyncio
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import AsyncNexus, KipError, Nexus
from kiprdf.pages import svg
from tests.cases import each_case
from tests.nexus import support

SVG = "{http://www.w3.org/2000/svg}"
SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Thing"} }
  CONCEPT { {type: "$PropositionType", name: "leads_to"} }
  CONCEPT { {type: "$PropositionType", name: "part_of"} }
}"""
HOSTILE = '</title><script>alert(1)</script><a href="javascript:x">& \ufffe\u202e'
LONG = "A name that is much longer than any box of a drawing 名前"


class Seen:
    """What an SVG shows."""

    def __init__(self, text: str) -> None:
        self.root = ElementTree.fromstring(text)
        boxes = list(self.root.iter(f"{SVG}g"))
        self.names = [box.findtext(f"{SVG}title") for box in boxes]
        self.rects = [
            tuple(float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
            for box in boxes
            for rect in box.iter(f"{SVG}rect")
        ]
        self.links = [
            one.findtext(f"{SVG}title")
            for one in self.root.iter(f"{SVG}text")
            if one.attrib["class"].startswith("link")
        ]


def graph(*links: tuple[str, str, str]) -> Nexus:
    nexus = Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    nexus.transaction(
        lambda tx: tx.write(
            [
                *({"type": "Thing", "name": name} for s, _, o in links for name in (s, o)),
                *(
                    {
                        "subject": {"type": "Thing", "name": subject},
                        "predicate": predicate,
                        "object": {"type": "Thing", "name": object},
                    }
                    for subject, predicate, object in links
                ),
            ]
        )
    )
    return nexus


def test_an_element_is_drawn_with_its_neighbours() -> None:
    drawing = support.medical().draw("C:Drug/Aspirin")
    seen = Seen(drawing.svg)
    assert seen.names == ["Aspirin", "Fever", "Headache"]
    assert seen.links == ["treats", "treats"]
    assert repr(drawing) == "<Drawing: The neighbours of Aspirin: 3 elements, 2 links>"
    assert drawing._repr_svg_() == drawing.svg


def test_a_fact_is_drawn_between_its_ends_with_the_facts_about_it() -> None:
    nexus = graph(("a", "leads_to", "b"))
    (fact,) = nexus.find('FIND(?l.id) WHERE { ?l (?x, "leads_to", ?y) }').single().values()
    assert Seen(nexus.draw(fact).svg).names == ["a", "b"]
    nexus.execute(
        """UPSERT { CONCEPT ?c { {type: "Thing", name: "c"} }
             PROPOSITION { (?c, "leads_to", ({type: "Thing", name: "a"}, "leads_to",
                            {type: "Thing", name: "b"})) } }"""
    )
    seen = Seen(nexus.draw(fact).svg)
    assert sorted(map(str, seen.names)) == ["a", "a leads to b", "b", "c"]
    assert len(seen.links) == 2
    assert sorted(map(str, Seen(nexus.draw("C:Thing/c").svg).names)) == ["a leads to b", "c"]


def test_the_links_of_a_find_are_those_that_its_rows_come_from() -> None:
    nexus = graph(("a", "leads_to", "b"), ("b", "leads_to", "c"), ("c", "part_of", "d"))
    command = 'FIND(?x.name) WHERE { (?x, "leads_to", ?y) FILTER(?x.name == :name) }'
    assert Seen(nexus.draw(command, name="a").svg).names == ["a", "b"]
    every = Seen(nexus.draw("// All.\nFIND(?l) WHERE { ?l (?x, ?p, ?y) }").svg)
    assert sorted(map(str, every.names)) == ["a", "b", "c", "d"]
    assert sorted(map(str, every.links)) == ["leads to", "leads to", "part of"]
    path = Seen(nexus.draw('FIND(?y.name) WHERE { ({name: "a"}, "leads_to"{2}, ?y) }').svg)
    assert path.names == ["a", "b", "c"]
    alone = Seen(nexus.draw('FIND(?x) WHERE { ?x {type: "Thing"} }').svg)
    assert (len(alone.names), alone.links) == (4, [])
    none = nexus.draw('FIND(?x) WHERE { ?x {type: "Thing"} FILTER(?x.name == "e") }')
    assert "0 elements, 0 links; 1:" in none.caption
    assert 'No Thing is called "e".' in none.caption
    assert Seen(none.svg).names == []


def test_what_is_not_drawn_is_counted_and_each_predicate_is_shown() -> None:
    many = [("hub", "leads_to", f"n{number:03}") for number in range(300)]
    nexus = graph(*many, ("hub", "part_of", "whole"))
    drawing = nexus.draw("C:Thing/hub")
    seen = Seen(drawing.svg)
    assert drawing.caption == "The neighbours of hub: 50 of 302 elements, 49 of 301 links"
    assert drawing.caption in drawing.svg
    assert len(seen.names) == svg.MOST == 50
    assert {"leads to", "part of"} == set(seen.links)
    rows = nexus.draw('FIND(?y.name) WHERE { (?x, "leads_to", ?y) }')
    assert rows.caption.endswith("50 of 101 elements, 49 of 100 links; 100 of 300 rows")
    counted = nexus.draw('FIND(COUNT(?y)) WHERE { (?x, "leads_to", ?y) }')
    assert counted.caption.endswith("; 297 more derivations of the rows")


@each_case(
    "links",
    [
        [(s, "leads_to", o) for s, o in ("ya", "ay", "xw", "wx", "xy")],
        [("a", "leads_to", "b"), ("b", "leads_to", "c"), ("c", "leads_to", "a")],
        [("a", "leads_to", "b"), ("a", "part_of", "b"), (LONG, "leads_to", "a")],
        [(f"n{number % 7}", "leads_to", f"m{number}") for number in range(25)],
    ],
)
def test_boxes_do_not_overlap_and_nothing_is_outside(links: list[tuple[str, str, str]]) -> None:
    seen = Seen(graph(*links).draw("FIND(?l) WHERE { ?l (?x, ?p, ?y) }").svg)
    width, height = (float(seen.root.attrib[key]) for key in ("width", "height"))
    assert len(seen.rects) == len({name for s, _, o in links for name in (s, o)})
    assert len(", ".join(map(str, seen.links)).split(", ")) == len(links)
    for number, (x, y, wide, high) in enumerate(seen.rects):
        assert x >= 0
        assert y >= 0
        assert x + wide <= width
        assert y + high <= height
        for x2, y2, wide2, high2 in seen.rects[:number]:
            assert x + wide <= x2 or x2 + wide2 <= x or y + high <= y2 or y2 + high2 <= y


def test_the_svg_stands_alone_and_hostile_names_are_text(tmp_path: Path) -> None:
    nexus = graph((HOSTILE, "leads_to", LONG))
    drawing = nexus.draw(f"C:Thing/{HOSTILE}")
    seen = Seen(drawing.svg)
    assert seen.names == [HOSTILE.replace("\ufffe", "\ufffd"), LONG]
    kinds = {one.tag.removeprefix(SVG) for one in seen.root.iter()}
    assert kinds == {"svg", "title", "style", "defs", "marker", "path", "rect", "text", "g"}
    attributes = {key for one in seen.root.iter() for key in one.attrib}
    assert not [key for key in attributes if key.startswith("on") or "href" in key]
    assert "url(" not in str(seen.root.findtext(f"{SVG}style"))
    assert "prefers-color-scheme: dark" in drawing.svg
    assert ">A name that is much longer th…<" in drawing.svg
    path = tmp_path / "drawing.svg"
    drawing.write(path)
    assert path.read_text(encoding="utf-8") == drawing.svg


@each_case(
    "draw, code, hint",
    [
        (lambda nexus: nexus.draw("C:Drug/Nothing"), "KIP_3002", "FIND"),
        (lambda nexus: nexus.draw("Aspirin"), "KIP_1001", "Give an id that FIND shows, or a FIND."),
        (lambda nexus: nexus.draw("DESCRIBE PRIMER"), "KIP_1001", "a FIND."),
        (lambda nexus: nexus.draw("DELETE CONCEPT ?x DETACH WHERE { ?x {} }"), "KIP_1001", "FIND"),
        (
            lambda nexus: nexus.draw("FIND(?x.nam) WHERE { ?x {} }"),
            "KIP_1001",
            "`?x.attributes.nam`",
        ),
        (lambda nexus: nexus.draw("FIND(?x) WHERE { ?x {name: :n} }"), "KIP_1001", "n"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(draw: Callable[[Any], Any], code: str, hint: str) -> None:
    with pytest.raises(KipError) as raised:
        draw(support.medical())
    assert raised.value.code == code
    assert hint in str(raised.value.hint)


def test_a_drawing_is_of_a_moment_and_of_what_follows() -> None:
    nexus = Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    nexus.execute(
        """UPSERT { CONCEPT ?b { {type: "Thing", name: "b"} }
             CONCEPT { {type: "Thing", name: "a"} SET PROPOSITIONS { ("leads_to", ?b) } }
             CONCEPT { {type: "$PropositionType", name: "leads_to"}
               SET ATTRIBUTES { is_symmetric: true } } }"""
    )
    command = 'FIND(?y.name) WHERE { ({name: "b"}, "leads_to", ?y) }'
    assert Seen(nexus.draw(command, entail=True).svg).names == ["a", "b"]
    assert Seen(nexus.draw(command).svg).names == []
    commit = nexus.info()["commit"]
    nexus.execute('DELETE CONCEPT ?b DETACH WHERE { ?b {name: "b"} }')
    with nexus.at(commit) as past:
        assert Seen(past.draw("C:Thing/a").svg).names == ["a", "b"]
    drawn = asyncio.run(AsyncNexus(nexus).draw("C:Thing/a"))
    assert Seen(drawn.svg).names == ["a"]


def test_what_is_not_believed_is_marked_with_the_reason() -> None:
    nexus = graph(("a", "leads_to", "b"), ("a", "part_of", "b"), ("a", "part_of", "c"))
    nexus.execute(
        """UPDATE ?l SET METADATA { status: "retracted" }
           WHERE { ?l ({name: "a"}, "leads_to", {name: "b"}) }"""
    )
    mixed = nexus.draw("C:Thing/a").svg
    assert "leads to (not believed: retracted), part of" in Seen(mixed).links
    assert 'class="line unbelieved"' not in mixed
    nexus.execute(
        'UPDATE ?c SET METADATA { status: "deprecated" } WHERE { ?c {type: "Thing", name: "c"} }'
    )
    marked = nexus.draw("C:Thing/a").svg
    seen = Seen(marked)
    assert seen.names == ["a", "b", "c (not believed: deprecated)"]
    assert marked.count('class="line unbelieved"') == marked.count('<g class="unbelieved">') == 1
    drawn = nexus.draw(kiprdf.believed("FIND(?x, ?y) WHERE { (?x, ?p, ?y) }")).svg
    assert Seen(drawn).links == ["part of"]
