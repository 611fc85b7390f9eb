"""What classes say about properties: OWL restrictions and SHACL property shapes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode

from kiprdf.interchange.vocabularies.definitions import Skipped
from kiprdf.interchange.vocabularies.ontology_graph import Graph, Node, Statement, Term, Values
from kiprdf.interchange.vocabularies.ontology_words import DESCRIPTIONS, JSON_TYPES
from kiprdf.interchange.vocabularies.standards import owl, rdfs, sh
from kiprdf.rdf.literals import Json, to_json


@dataclass(slots=True)
class Use:
    """What a class says about a property, and the statements that say it."""

    values: Values = field(default_factory=Values)
    least: int = 0
    most: int | None = None
    default: Term | None = None
    labels: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    of_counts: set[Statement] = field(default_factory=set)
    """What says that there must be one value, or may be one only, or what it is by default."""
    of_texts: set[Statement] = field(default_factory=set)

    def count(self, least: Mapping[Statement, int], most: Mapping[Statement, int]) -> None:
        """Take note of how many values there are. None, one and more are told apart."""
        self.least = max(self.least, *least.values(), 0)
        known = [*most.values(), *([] if self.most is None else [self.most])]
        self.most = min(known, default=None)
        self.of_counts |= {one for one, number in least.items() if number <= 1}
        self.of_counts |= {one for one, number in most.items() if number == 1}


Uses: TypeAlias = dict[str, dict[str, Use]]
"""By property, then by class."""
Homes: TypeAlias = dict[Node, tuple[str, list[str]]]
"""The property and the classes that a restriction or a property shape is about."""


def read_uses(graph: Graph, skipped: list[Skipped]) -> tuple[Uses, Homes]:
    """What all classes say; shapes that are of no class go to the report."""
    uses: Uses = defaultdict(lambda: defaultdict(Use))
    homes: Homes = {}
    restricted = _restricted(graph)
    for node in graph.having(owl("onProperty")):
        owners = restricted.get(node, {})
        for said in graph.statements(node, owl("onProperty")):
            if isinstance(said[2], NamedNode):
                homes[node] = said[2].value, sorted(owners)
                for owner, path in sorted(owners.items()):
                    graph.use([*path, said])
                    _restrict(uses[said[2].value][owner], graph, node)
    for shape in graph.having(sh("property")):
        classes = graph.shape_classes(shape)
        if not classes and isinstance(shape, NamedNode):
            skipped.append(Skipped(shape.value, "a shape of no class"))
        for member in graph.statements(shape, sh("property")):
            if not isinstance(member[2], Literal):
                _read_property_shape(uses, homes, graph, classes, member)
    return uses, homes


def _read_property_shape(
    uses: Uses, homes: Homes, graph: Graph, classes: list[str], member: Statement
) -> None:
    node = member[2]
    assert not isinstance(node, Literal)
    for said in graph.statements(node, sh("path")):
        if isinstance(said[2], NamedNode):
            before = homes.get(node, ("", []))[1]
            homes[node] = said[2].value, sorted({*before, *classes})
            for owner in classes:
                graph.use([member, said])
                _shape(uses[said[2].value][owner], graph, node)


def _restricted(graph: Graph) -> dict[Node, dict[str, list[Statement]]]:
    """The classes that OWL restrictions hold for, and what says so."""
    found: dict[Node, dict[str, list[Statement]]] = defaultdict(dict)
    predicates = rdfs("subClassOf"), owl("equivalentClass"), owl("intersectionOf")
    for node in {node for predicate in predicates for node in graph.having(predicate)}:
        if isinstance(node, NamedNode):
            for term, path in graph.superiors(node):
                if not isinstance(term, Literal):
                    found[term][node.value] = path
    return found


def _restrict(use: Use, graph: Graph, node: Node) -> None:
    fillers = [owl(n) for n in ("allValuesFrom", "someValuesFrom", "onDataRange", "onClass")]
    use.values.add(graph.said(node, *fillers))
    exact = graph.counts(node, owl("cardinality"), owl("qualifiedCardinality"))
    least = graph.counts(node, owl("minCardinality"), owl("minQualifiedCardinality"))
    most = graph.counts(node, owl("maxCardinality"), owl("maxQualifiedCardinality"))
    some = dict.fromkeys(graph.statements(node, owl("someValuesFrom"), owl("hasValue")), 1)
    use.count({**least, **exact}, {**most, **exact})
    use.least = max(use.least, *some.values(), 0)
    for said in graph.statements(node, owl("hasValue")):
        if isinstance(said[2], Literal):
            datatypes = {said[2].datatype.value}
            use.values.add(Values(datatypes=datatypes, options=[said[2]], of_options={said}))
    _note(use, graph, node)
    for axiom in graph.subjects(owl("annotatedTarget"), node):
        _note(use, graph, axiom)
        # An axiom that tells nothing else says what the restriction says.
        parts = ("annotatedSource", "annotatedProperty", "annotatedTarget")
        graph.use(graph.statements(axiom, *map(owl, parts)))


def _note(use: Use, graph: Graph, node: Node) -> None:
    use.descriptions |= graph.texts(node, *DESCRIPTIONS)
    use.of_texts.update(graph.text_statements(node, *DESCRIPTIONS))


def _shape(use: Use, graph: Graph, node: Node) -> None:
    use.values.add(graph.shape_values(node))
    use.count(graph.counts(node, sh("minCount")), graph.counts(node, sh("maxCount")))
    for said in graph.statements(node, sh("defaultValue"))[:1]:
        use.default = said[2]
        use.of_counts.add(said)
    use.labels |= graph.texts(node, sh("name"))
    use.descriptions |= graph.texts(node, sh("description"))
    use.of_texts.update(graph.text_statements(node, sh("name"), sh("description")))


def rule_of(use: Use, values: Values, is_single: bool) -> dict[str, Json]:
    """What an ``instance_schema`` says about an attribute, without the description.

    RDF allows several values unless it says otherwise. Then an import of data makes an array of
    two values and none of one, so that neither ``type`` nor ``enum`` may be said: ``item_type``
    holds for arrays and lets a single value pass.
    """
    json_type = _json_type(values.datatypes)
    is_single = is_single or use.most in (0, 1)
    rule: dict[str, Json] = {"is_required": use.least > 0}
    if json_type:
        rule["type" if is_single else "item_type"] = json_type
    if use.least > 1:
        rule["type"] = "array"
    options = list(_values(values.options))
    if options and is_single:
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
