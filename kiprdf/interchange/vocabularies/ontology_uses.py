"""What classes say about properties: OWL restrictions and SHACL property shapes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from kiprdf.interchange.vocabularies.definitions import Skipped
from kiprdf.interchange.vocabularies.ontology_graph import (
    DESCRIPTIONS,
    JSON_TYPES,
    Graph,
    Node,
    Term,
    Values,
)
from kiprdf.interchange.vocabularies.standards import owl, rdfs, sh
from kiprdf.rdf.literals import Json, to_json


@dataclass(slots=True)
class Use:
    """What a class says about a property."""

    values: Values = field(default_factory=Values)
    least: int = 0
    most: int | None = None
    default: Term | None = None
    labels: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)


Uses: TypeAlias = dict[str, dict[str, Use]]
"""By property, then by class."""


def read_uses(graph: Graph, skipped: list[Skipped]) -> Uses:
    """What all classes say; shapes that are of no class go to the report."""
    uses: Uses = defaultdict(lambda: defaultdict(Use))
    for node in graph.having(owl("onProperty")):
        for owner in _restricted(graph, node):
            for iri in graph.named(node, owl("onProperty")):
                _restrict(uses[iri][owner], graph, node)
    for shape in graph.having(sh("property")):
        classes = graph.shape_classes(shape)
        if not classes and isinstance(shape, NamedNode):
            skipped.append(Skipped(shape.value, "a shape of no class"))
        for node in graph.nodes(shape, sh("property")):
            for iri in graph.named(node, sh("path")):
                for owner in classes:
                    _shape(uses[iri][owner], graph, node)
    return uses


def _restricted(graph: Graph, restriction: Node) -> list[str]:
    """The classes that an OWL restriction holds for."""
    below = graph.subjects(rdfs("subClassOf"), restriction)
    equal = graph.subjects(owl("equivalentClass"), restriction)
    return sorted(node.value for node in below | equal if isinstance(node, NamedNode))


def _restrict(use: Use, graph: Graph, node: Node) -> None:
    fillers = [owl(n) for n in ("allValuesFrom", "someValuesFrom", "onDataRange", "onClass")]
    use.values.add(graph.values(*graph.objects(node, *fillers)))
    exact = (owl("cardinality"), owl("qualifiedCardinality"))
    least = graph.number(node, *exact, owl("minCardinality"), owl("minQualifiedCardinality"))
    most = graph.number(node, *exact, owl("maxCardinality"), owl("maxQualifiedCardinality"))
    some = 1 if graph.objects(node, owl("someValuesFrom"), owl("hasValue")) else 0
    use.least = max(use.least, least or 0, some)
    use.most = most if use.most is None else use.most
    options = [o for o in graph.objects(node, owl("hasValue")) if isinstance(o, Literal)]
    use.values.add(Values(datatypes={o.datatype.value for o in options}, options=[*options]))
    use.descriptions |= graph.texts(node, *DESCRIPTIONS)


def _shape(use: Use, graph: Graph, node: Node) -> None:
    use.values.add(graph.shape_values(node))
    use.least = max(use.least, graph.number(node, sh("minCount")) or 0)
    most = graph.number(node, sh("maxCount"))
    use.most = most if use.most is None else use.most
    use.default = next(iter(graph.objects(node, sh("defaultValue"))), use.default)
    use.labels |= graph.texts(node, sh("name"))
    use.descriptions |= graph.texts(node, sh("description"))


def rule_of(use: Use, values: Values) -> dict[str, Json]:
    """What an ``instance_schema`` says about an attribute, without the description."""
    json_type = _json_type(values.datatypes)
    rule: dict[str, Json] = {"is_required": use.least > 0}
    several = use.least > 1 or (use.most or 0) > 1
    if several:
        rule |= {"type": "array"} | ({"item_type": json_type} if json_type else {})
    elif json_type:
        rule["type"] = json_type
    options = list(_values(values.options))
    if options and not several:
        rule["enum"] = options
    for value in _values([use.default]):
        rule["default_value"] = value
    return rule


def _values(terms: Iterable[Term | None]) -> Iterator[Json]:
    """The JSON values of literals, as plain as their datatypes allow; others are left out."""
    for term in terms:
        if not isinstance(term, Literal):
            continue
        wanted = JSON_TYPES.get(term.datatype.value, "string")
        with suppress(ValueError, LookupError, RecursionError):
            if wanted == "string":
                yield term.value
            elif wanted == "number" and math.isfinite(float(term.value)):
                yield float(term.value)
            elif wanted == "integer" and -(2**63) <= int(term.value) < 2**63:
                yield int(term.value)
            elif wanted not in ("number", "integer"):
                yield to_json(term)


def _json_type(datatypes: set[str]) -> str | None:
    """The JSON type that literals of datatypes have; None where they differ or may be several."""
    types = {JSON_TYPES.get(iri, "string") for iri in datatypes}
    if types == {"integer", "number"}:
        return "number"
    return types.pop() if len(types) == 1 else None
