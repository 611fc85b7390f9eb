"""Keeps the statements of a fact apart that several triples or reifiers state."""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.importing.blank_nodes import is_blank
from kiprdf.interchange.importing.context import Context
from kiprdf.interchange.importing.facts import Fact, Facts
from kiprdf.interchange.importing.foreign import Node
from kiprdf.interchange.importing.origins import Part
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.importing.values import NodeValues
from kiprdf.rdf.literals import canonical_json


def several(
    fact: Fact, context: Context, facts: Facts, by_node: Mapping[Node, NodeValues]
) -> list[Part]:
    """The statements of a fact, if there are several, or if one has another end than usual.

    ``noted`` are the IRI of the reifier, and the ends that are not the usual nodes of the elements.
    """
    parts: list[Part] = []
    properties = {one for one in fact.asserted if not context.naming.is_below_base(one)}
    for statement, reifiers in fact.statements if properties else ():
        ends = {
            key: node.value
            for key, node in (("subject", statement.subject), ("object", statement.object))
            if isinstance(node, NamedNode | BlankNode) and _is_other(node, context, facts)
        }
        for reifier in (*reifiers, *(() if reifiers else (None,))):
            values = NodeValues() if reifier is None else by_node.get(reifier, NodeValues())
            own: JsonMap = {"predicate": [statement.predicate.value]} if len(properties) > 1 else {}
            if reifier is not None and (not is_blank(reifier) or reifier in facts.ends):
                own["id"] = reifier.value
            if own or ends or not reifiers or _has_values(values):
                parts.append(Part({**own, **ends}, values))
    distinct = [part for part in parts if part.noted.keys() - {"predicate"} or _has_values(part[1])]
    if not distinct or (len(parts) < 2 and not parts[0].noted.keys() & {"subject", "object"}):
        return []
    return sorted(parts, key=lambda part: canonical_json([part.noted, shown_values(part, {})]))


def _has_values(values: NodeValues) -> bool:
    return any((*values.attributes.foreign, *values.metadata.foreign))


def _is_other(node: NamedNode | BlankNode, context: Context, facts: Facts) -> bool:
    """Whether the node of an end is not the one that its element is written as."""
    if context.naming.is_below_base(node.value):
        return False
    if node in facts.by_reifier:
        return len(facts.by_reifier[node].reifiers) > 1
    resource = context.identities.resources.get(node)
    if resource is None:
        return False
    return context.index.originals.get(resource.identity.id, (node.value,))[0] != node.value


def shown_values(part: Part, attributes: JsonMap) -> JsonMap:
    """What KQL sees of a statement: the IRI of its reifier, its values.

    Metadata are among them, unless one has the key of an attribute.
    """
    own, metadata = part.values.attributes.json(), part.values.metadata.json()
    hidden = {key: value for key, value in metadata.items() if key in attributes}
    shown = {key: value for key, value in metadata.items() if key not in attributes}
    iri = part.noted.get("id")
    named = {} if iri is None or is_blank(NamedNode(iri)) else {"id": iri}
    return {**named, **shown, **own, **({"metadata": hidden} if hidden else {})}
