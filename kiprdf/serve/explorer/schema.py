"""The types and predicates of a nexus."""

from __future__ import annotations

from typing import Any

from kiprdf.pages.drawing import DRAWN, Arrow, Node, drawing
from kiprdf.pages.page import words
from kiprdf.serve.explorer.explorer import Explorer


def schema(explorer: Explorer) -> str:
    """The types and predicates as a picture and as lists, with counts."""
    page, nexus = explorer.page("explore/schema"), explorer.nexus
    primer: Any = nexus.execute("DESCRIBE PRIMER")
    totals = primer["totals"]
    counts = data_types(totals)
    drawn = list(counts)[:DRAWN]
    arrows: list[Arrow] = []
    for type_ in drawn:
        usage = nexus.execute("DESCRIBE CONCEPT TYPE :type", type=type_).get("usage", {})
        for predicate, use in usage.get("outgoing", {}).items():
            arrows += [
                Arrow(drawn.index(type_), drawn.index(other), words(predicate))
                for other in use["types"]
                if other in drawn
            ]
    links = [page.definition_link("$ConceptType", type_, counts[type_]) for type_ in drawn]
    nodes = [Node(link["text"], link["number"], link["href"]) for link in links]
    title = "The types and how their concepts are linked"
    tables = [
        (heading, [page.definition_link(kind, *one) for one in totals[of].items()])
        for heading, kind, of in (
            ("Concept types", "$ConceptType", "concept_types"),
            ("Predicates", "$PropositionType", "proposition_types"),
        )
    ]
    picture = drawing(nodes, arrows, title) if nodes else None
    return page.html("explorer/schema.html", "Schema", drawing=picture, tables=tables)


def data_types(totals: dict[str, Any]) -> dict[str, int]:
    """The types of data that have members, with their numbers."""
    counts = totals["concept_types"].items()
    return {type_: number for type_, number in counts if number and not type_.startswith("$")}
