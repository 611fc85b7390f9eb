"""Keeps the statements of a fact apart that several triples or reifiers state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.external import PARTS, ExternalTriple, Node
from kiprdf.interchange.importing.facts import Fact, Facts
from kiprdf.interchange.importing.identities import Context
from kiprdf.interchange.importing.node_values import GRAPH, ValueReader
from kiprdf.interchange.importing.origins import ORIGINAL, REIFIED_IN, STATEMENTS, Part
from kiprdf.interchange.importing.plan import JsonMap, Proposition
from kiprdf.interchange.importing.values import NodeValues, listed
from kiprdf.kml.merged_origins import (
    OWN,
    as_they_were,
    merged_parts,
    statement_order,
    statements_of,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json

_USUAL = {"predicate", "lists", "attributes", "metadata"}
"""What is noted of a statement that does not distinguish it from others."""


def several(
    fact: Fact, context: Context, facts: Facts, by_node: Mapping[Node, NodeValues]
) -> list[Part]:
    """The statements of a fact, if there are several, or if one has another end than usual.

    ``noted`` are the IRI of the reifier, and the ends that are not the usual nodes of the elements.
    """
    if len(fact.statements) == 1 and _is_bare(fact, context, facts):
        return []
    parts: list[Part] = []
    properties = {one for one in fact.properties if not context.naming.is_below_base(one)}
    graphs = context.external.graphs
    differ = len({tuple(sorted(graphs[statement])) for statement, _, _ in fact.statements}) > 1
    for statement, reifiers, lists in fact.statements if properties else ():
        noted: JsonMap = {"predicate": [statement.predicate.value]} if len(properties) > 1 else {}
        if lists:
            noted = {"lists": lists} if statement in facts.asserted else _only_in(lists)
        for key, node in (("subject", statement.subject), ("object", statement.object)):
            if isinstance(node, NamedNode | BlankNode) and _is_other(node, context, facts):
                noted[key] = node.value
        if differ:
            noted[GRAPH] = sorted(graphs[statement])
        for reifier in (*reifiers, *(() if reifiers else (None,))):
            values = NodeValues() if reifier is None else by_node.get(reifier, NodeValues())
            own: JsonMap = {}
            others = sorted(iri for iri in values.same_as if facts.is_free(iri, fact.id))
            if reifier is not None and (others or not is_blank(reifier) or reifier in facts.ends):
                own["id"] = reifier.value
            if others:
                own[SAME_AS] = list(others)
            places = {} if reifier is None else _places(reifier, statement, context)
            if any(one != sorted(graphs[statement]) for one in places.values()):
                is_one = len({tuple(one) for one in places.values()}) == 1
                own[REIFIED_IN] = next(iter(places.values())) if is_one else places
            if own or noted or not reifiers or _has_values(values):
                parts.append(Part({**own, **noted}, values))
    parts = _with_earlier(parts, fact, context)
    if len(parts) == 1:
        kept = ("subject", "object", REIFIED_IN)
        ends = {key: one for key, one in parts[0].noted.items() if key in kept}
        return [Part(ends, NodeValues())] if ends else []
    if not any(part.noted.keys() - _USUAL or part.shown or _has_values(part[1]) for part in parts):
        return []
    return sorted(parts, key=lambda part: statement_order(part.noted, shown_values(part, {})))


def _places(reifier: Node, fact: ExternalTriple, context: Context) -> dict[str, Json]:
    """The graphs of each triple that says what a reifier stands for, by its property."""
    structure = [ExternalTriple(reifier, vocab.REIFIES, fact)]
    structure.append(ExternalTriple(reifier, vocab.TYPE, vocab.STATEMENT))
    structure += [ExternalTriple(reifier, part, end) for part, end in zip(PARTS, fact, strict=True)]
    graphs = context.external.graphs
    return {one.predicate.value: sorted(graphs[one]) for one in structure if one in graphs}


def _is_bare(fact: Fact, context: Context, facts: Facts) -> bool:
    """Whether one triple states a fact, and nothing distinguishes it; so are most."""
    record = context.originals.get(fact.id)
    if fact.reifiers or fact.lists or (isinstance(record, dict) and STATEMENTS in record):
        return False
    ((statement, _, _),) = fact.statements
    ends = statement.subject, cast(Node, statement.object)
    return not any(_is_other(end, context, facts) for end in ends)


def _with_earlier(parts: list[Part], fact: Fact, context: Context) -> list[Part]:
    """The statements of this import, and those of earlier ones that it does not state again."""
    link = context.index.link(fact.id) if parts else None
    earlier = [] if link is None else [Part(n, NodeValues(), s) for n, s in statements_of(link)]
    new = [_identity(part, len(earlier) > 1) for part in parts]
    kept = [
        part
        for part in earlier
        if part.noted.keys() - _USUAL or part.shown
        if _identity(part, len(earlier) > 1) not in new
    ]
    if not kept:
        return parts
    return kept + [p for p in parts if p.noted.keys() - _USUAL or _has_values(p.values)]


def _identity(part: Part, by_values: bool) -> list[Json]:
    """What makes a statement another one: the IRI of its reifier, else its ends, and its values if
    there are several.
    """
    if "id" in part.noted:
        return [part.noted["id"]]
    ends = [part.noted.get("subject"), part.noted.get("object")]
    return [*ends, shown_values(part, {})] if by_values else [*ends]


def is_merged(node: Node, identity: ConceptName, values: ValueReader, context: Context) -> bool:
    """Whether a node states nothing but what a concept that was merged states already."""
    record = context.originals.get(identity.id)
    if not isinstance(record, dict) or OWN not in record:
        return False
    part = merged_parts(record).get(node.value)
    if part is None:
        before = as_they_were(context.index.attributes(identity.id), record[OWN])
    else:
        before = cast(JsonMap, part.get("attributes"))
    stated = values.by_node[node].attributes.json()
    return all(key in before and before[key] == value for key, value in stated.items())


def unchanged_links(propositions: Iterable[Proposition], context: Context) -> Iterator[str]:
    """The ids of propositions of which the nexus has the same statements."""
    for one in propositions:
        before = context.originals.get(one.key)
        now = cast(JsonMap, one.metadata.get(ORIGINAL) or {})
        statements = listed(now.get(STATEMENTS))
        if not isinstance(before, dict) or len(statements) < 2:
            continue
        shown = one.attributes.get(STATEMENTS)
        is_same = before.get(STATEMENTS) == statements
        if is_same and context.index.value(one.key, STATEMENTS) == shown:
            yield one.key


def _only_in(lists: list[list[Json]]) -> JsonMap:
    """What is noted of a statement that only lists make."""
    return {"lists": lists, "predicate": []}


def _has_values(values: NodeValues) -> bool:
    return any((*values.attributes.external, *values.metadata.external))


def _is_other(node: NamedNode | BlankNode, context: Context, facts: Facts) -> bool:
    """Whether the node of an end is not the one that its element is written as."""
    if context.naming.is_below_base(node.value):
        return False
    if node in facts.by_reifier:
        fact = facts.by_reifier[node]
        own = context.index.originals.get(fact.id, (node.value,))[0]
        return len(fact.reifiers) > 1 or own != node.value
    resource = context.identities.resources.get(node)
    if resource is None:
        return False
    return context.index.originals.get(resource.identity.id, (node.value,))[0] != node.value


def shown_values(part: Part, attributes: JsonMap) -> JsonMap:
    """What KQL sees of a statement: the IRI of its reifier, its values.

    Metadata are among them, unless one has the key of an attribute.
    """
    if part.shown is not None:
        return part.shown
    own, metadata = part.values.attributes.json(), part.values.metadata.json()
    hidden = {key: value for key, value in metadata.items() if key in attributes}
    shown = {key: value for key, value in metadata.items() if key not in attributes}
    iri = part.noted.get("id")
    named = {} if iri is None or is_blank(NamedNode(iri)) else {"id": iri}
    return {**named, **shown, **own, **({"metadata": hidden} if hidden else {})}
