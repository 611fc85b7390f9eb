"""The definitions of a nexus as RDFS and OWL (docs/decisions/030).

A concept type is a class, a predicate an object property, an attribute of an ``instance_schema`` a
datatype property. The IRIs are those of the dataset, so that the schema may be loaded beside any
snapshot. Restrictions, unions and lists are blank nodes: OWL 2 takes them for nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.vocabularies.nested import (
    Description,
    Each,
    Members,
    anonymous,
    described,
)
from kiprdf.interchange.vocabularies.standards import owl, rdf, rdfs, schema, skos, xsd
from kiprdf.language.names import is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, json_map, read_element
from kiprdf.rdf.iris import Iris, encode
from kiprdf.rdf.literals import Json, to_term
from kiprdf.store import Store

RANGES: dict[str, tuple[NamedNode, ...]] = {
    "string": (vocab.STRING,),
    "number": (vocab.INTEGER, vocab.DOUBLE),
    "integer": (vocab.INTEGER,),
    "boolean": (vocab.BOOLEAN,),
    "array": (vocab.JSON,),
    "object": (vocab.JSON,),
}
"""The datatypes of the literals that values of a JSON type are; see docs/mapping.md."""
User: TypeAlias = tuple[Concept, dict[str, Any]]
Users: TypeAlias = dict[str, list[User]]
DISPLAY_HINT = NamedNode(vocab.ATTRIBUTE + "display_hint")
_SINGLE = ("string", "number", "integer", "boolean")
"""The JSON types of which a value is one literal; an array is one to us, and several to others."""


def definitions(store: Store, meta_type: str) -> list[tuple[Concept, dict[str, Json]]]:
    """The definitions of a meta-type with their attributes, in the order of their names."""
    found = []
    for triple in store.match(None, vocab.TYPE, store.iris.type(meta_type)):
        assert isinstance(triple.subject, NamedNode)
        element = read_element(store.iris, triple.subject, store.describe(triple.subject))
        assert isinstance(element, Concept)
        found.append((element, json_map(element.attributes)))
    return sorted(found, key=lambda pair: pair[0].name)


def attribute_rules(attributes: dict[str, Json]) -> dict[str, dict[str, Any]]:
    """The rules of an ``instance_schema`` by attribute, without what is none."""
    rules = attributes.get("instance_schema")
    if not isinstance(rules, dict):
        return {}
    return {key: rule for key, rule in sorted(rules.items()) if isinstance(rule, dict)}


def attribute(key: str) -> NamedNode:
    """The property of an attribute, of a text that can be none too (nothing has it then)."""
    return NamedNode(vocab.ATTRIBUTE + encode(key))


def end_types(attributes: dict[str, Json], role: str) -> list[str] | None:
    """What may stand at an end of a predicate; None for everything.

    >>> end_types({"subject_types": ["Drug"]}, "subject")
    ['Drug']
    >>> end_types({"subject_types": ["*"]}, "subject")
    """
    allowed = attributes.get(f"{role}_types")
    if not isinstance(allowed, list) or "*" in allowed:
        return None
    return [name for name in allowed if isinstance(name, str) and name]


def schema_triples(store: Store, mapping: Mapping | None = None) -> Iterator[Triple]:
    """The schema of a nexus as RDFS and OWL; with a mapping, what its terms are equivalent to."""
    mapping = mapping or Mapping.none()
    types = definitions(store, "$ConceptType")
    users = _users(types)
    yield Triple(NamedNode(f"{store.iris.base}$schema"), vocab.TYPE, owl("Ontology"))
    own = [
        *(triple for one in types for triple in _class(*one, users, store.iris, mapping)),
        *(
            triple
            for concept, attributes in definitions(store, "$PropositionType")
            for triple in described(
                concept.node, _property(concept, attributes, store.iris, mapping)
            )
        ),
        *(
            triple
            for key in sorted(users)
            for triple in described(attribute(key), _datatype_property(key, users[key], mapping))
        ),
    ]
    yield from own
    yield from _declarations(own, is_hint_attribute="display_hint" in users)


def _declarations(triples: list[Triple], *, is_hint_attribute: bool) -> Iterator[Triple]:
    """What OWL wants to be told about terms that it does not know."""
    used = {triple.predicate for triple in triples}
    notes = [skos("definition"), schema("domainIncludes"), schema("rangeIncludes")]
    # A property is for notes or for values of members; what types have an attribute for is both
    # to us, and the latter to OWL.
    notes += [] if is_hint_attribute else [DISPLAY_HINT]
    for one in notes:
        if one in used:
            yield Triple(one, vocab.TYPE, owl("AnnotationProperty"))
    if any(triple.object == vocab.JSON for triple in triples):
        yield Triple(vocab.JSON, vocab.TYPE, rdfs("Datatype"))


def _texts(concept: Concept, attributes: dict[str, Json]) -> Description:
    """Label, description and hint. Both comment and definition: tools read one or the other."""
    found: Description = {vocab.LABEL: Literal(concept.name)}
    description, hint = attributes.get("description"), attributes.get("display_hint")
    if isinstance(description, str):
        found |= {
            skos("definition"): Literal(description),
            rdfs("comment"): Literal(description),
        }
    if isinstance(hint, str):
        found[DISPLAY_HINT] = Literal(hint)
    return found


def _iris_of(value: Json) -> list[NamedNode]:
    """The absolute IRIs among the strings of a value."""
    texts = value if isinstance(value, list) else [value]
    found = []
    for text in paced(texts):
        try:
            found.append(NamedNode(text))
        except (TypeError, ValueError):
            continue
    return found


def _equivalent(own: NamedNode, attributes: dict[str, Json], mapped: NamedNode | None) -> Each:
    """What a definition is the same as: by the mapping, and by where it was imported from."""
    others = [*([] if mapped is None else [mapped]), *_iris_of(attributes.get("same_as"))]
    return Each(other for other in dict.fromkeys(others) if other != own)


def _names(value: Json) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _class(
    concept: Concept,
    attributes: dict[str, Json],
    users: Users,
    iris: Iris,
    mapping: Mapping,
) -> Iterator[Triple]:
    above = [iris.type(name) for name in _names(attributes.get("subclass_of"))]
    rules = {k: rule for k, rule in attribute_rules(attributes).items() if is_key(k)}
    own = {
        key: {
            anonymous(f"{concept.node.value} {key} {number}"): restriction
            for number, restriction in enumerate(_restrictions(key, rule, users[key]))
        }
        for key, rule in rules.items()
    }
    mapped = mapping.concept_type(concept.name)
    description: Description = {
        vocab.TYPE: Each([rdfs("Class"), owl("Class")]),
        **_texts(concept, attributes),
        rdfs("subClassOf"): Each([*above, *(node for found in own.values() for node in found)]),
        owl("equivalentClass"): _equivalent(concept.node, attributes, mapped),
    }
    yield from described(concept.node, description)
    for key, found in own.items():
        for node, restriction in found.items():
            yield from described(node, restriction)
        if found and not _common_text(users[key]):
            yield from _own_text(concept.node, next(iter(found)), rules[key])


def _restrictions(key: str, rule: dict[str, Any], users: list[User]) -> Iterator[Description]:
    """What a type says about an attribute: true of its members and of nothing else."""
    on: Description = {vocab.TYPE: owl("Restriction"), owl("onProperty"): attribute(key)}
    values, is_told = _data_range(rule), False
    if values is not None:
        is_told = True
        yield {**on, owl("allValuesFrom"): values}
    if rule.get("is_required") is True:
        is_told = True
        yield {**on, owl("minCardinality"): _count(1)}
    if _is_single(rule):
        yield {**on, owl("maxCardinality"): _count(1)}
    if not is_told and isinstance(rule.get("description"), str) and not _common_text(users):
        # It asks for nothing, and bears the description.
        yield {**on, owl("minCardinality"): _count(0)}


def _count(number: int) -> Literal:
    return Literal(str(number), datatype=xsd("nonNegativeInteger"))


def _is_single(rule: dict[str, Any]) -> bool:
    """Whether a value is one literal in the terms of every vocabulary."""
    options = rule.get("enum")
    if isinstance(options, list) and options and "type" not in rule:
        return not any(isinstance(option, list | dict) for option in options)
    return rule.get("type") in _SINGLE


def _own_text(node: NamedNode, target: BlankNode, rule: dict[str, Any]) -> Iterator[Triple]:
    """The description that one type gives an attribute, at the axiom by which it speaks of it."""
    if isinstance(rule.get("description"), str):
        yield from described(
            anonymous(f"{target.value} axiom"),
            {
                vocab.TYPE: owl("Axiom"),
                owl("annotatedSource"): node,
                owl("annotatedProperty"): rdfs("subClassOf"),
                owl("annotatedTarget"): target,
                skos("definition"): Literal(rule["description"]),
            },
        )


def _common_text(users: list[User]) -> str | None:
    """The description of an attribute on which all types agree that give one."""
    texts = {rule["description"] for _, rule in users if isinstance(rule.get("description"), str)}
    return texts.pop() if len(texts) == 1 else None


def _data_range(rule: dict[str, Any]) -> NamedNode | Description | None:
    options = rule.get("enum")
    if isinstance(options, list) and options:
        terms = Members(to_term(option) for option in options if option is not None)
        return {vocab.TYPE: rdfs("Datatype"), owl("oneOf"): terms}
    ranges = RANGES.get(str(rule.get("type")), ())
    if len(ranges) < 2:
        return ranges[0] if ranges else None
    return {vocab.TYPE: rdfs("Datatype"), owl("unionOf"): Members(ranges)}


def _property(
    concept: Concept, attributes: dict[str, Json], iris: Iris, mapping: Mapping
) -> Description:
    kinds = [rdf("Property"), owl("ObjectProperty")]
    if attributes.get("is_symmetric") is True:
        kinds.append(owl("SymmetricProperty"))
    if attributes.get("is_transitive") is True:
        kinds.append(owl("TransitiveProperty"))
    above = [iris.predicate(name) for name in _names(attributes.get("subproperty_of"))]
    return {
        vocab.TYPE: Each(kinds),
        **_texts(concept, attributes),
        **_end(rdfs("domain"), end_types(attributes, "subject"), iris),
        **_end(rdfs("range"), end_types(attributes, "object"), iris),
        rdfs("subPropertyOf"): Each(above),
        owl("equivalentProperty"): _equivalent(
            concept.node, attributes, mapping.predicate(concept.name)
        ),
    }


def _end(predicate: NamedNode, names: list[str] | None, iris: Iris) -> Description:
    if not names:
        return {}
    classes = [iris.type(name) for name in dict.fromkeys(names)]
    if len(classes) == 1:
        return {predicate: classes[0]}
    return {predicate: {vocab.TYPE: owl("Class"), owl("unionOf"): Members(classes)}}


def _users(types: list[tuple[Concept, dict[str, Json]]]) -> Users:
    """The types that mention an attribute, with what they say of it."""
    users: Users = defaultdict(list)
    for concept, attributes in types:
        for key, rule in attribute_rules(attributes).items():
            if is_key(key):
                users[key].append((concept, rule))
    return users


def _datatype_property(key: str, users: list[User], mapping: Mapping) -> Description:
    # No rdfs:domain: an attribute is free for every type, and a reasoner would otherwise conclude
    # that whatever has it is of the types that mention it.
    ranges = [one for _, rule in users for one in _usual_ranges(rule)]
    text = _common_text(users)
    mapped = {term.iri for c, _ in users if (term := mapping.attribute(key, c.name)) is not None}
    return {
        vocab.TYPE: Each([rdf("Property"), owl("DatatypeProperty")]),
        vocab.LABEL: Literal(key),
        **({} if text is None else {skos("definition"): Literal(text)}),
        schema("domainIncludes"): Each(concept.node for concept, _ in users),
        schema("rangeIncludes"): Each(dict.fromkeys(ranges)),
        owl("equivalentProperty"): Each(mapped if len(mapped) == 1 else ()),
    }


def _usual_ranges(rule: dict[str, Any]) -> tuple[NamedNode, ...]:
    """The datatypes of an attribute; of one that may have several values, those of a single one."""
    return RANGES.get(str(rule.get("type", rule.get("item_type"))), ())
