"""The definitions of a nexus as RDFS and OWL (docs/decisions/030).

A concept type is a class, a predicate an object property, an attribute of an ``instance_schema`` a
datatype property. The IRIs are those of the dataset, so that the schema may be loaded beside any
snapshot. Unions and lists have IRIs that extend those of their definitions: no blank nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.vocabularies.nested import Description, Each, Members, described, part
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
DISPLAY_HINT = NamedNode(vocab.ATTRIBUTE + "display_hint")


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
    for concept, attributes in types:
        local = _restrictions(concept.node, attribute_rules(attributes))
        yield from described(
            concept.node, _class(concept, attributes, list(local), store.iris, mapping)
        )
        for node, restriction in local.items():
            yield from described(node, restriction)
    for concept, attributes in definitions(store, "$PropositionType"):
        yield from described(concept.node, _property(concept, attributes, store.iris, mapping))
    yield from _attributes(types, mapping)
    yield Triple(DISPLAY_HINT, vocab.TYPE, owl("AnnotationProperty"))


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
    for text in texts:
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
    restrictions: list[NamedNode],
    iris: Iris,
    mapping: Mapping,
) -> Description:
    above = [iris.type(name) for name in _names(attributes.get("subclass_of"))]
    return {
        vocab.TYPE: Each([rdfs("Class"), owl("Class")]),
        **_texts(concept, attributes),
        rdfs("subClassOf"): Each([*above, *restrictions]),
        owl("equivalentClass"): _equivalent(
            concept.node, attributes, mapping.concept_type(concept.name)
        ),
    }


def _restrictions(
    node: NamedNode, rules: dict[str, dict[str, Any]]
) -> dict[NamedNode, Description]:
    """What a type says about attributes: true of its members and of nothing else."""
    found: dict[NamedNode, Description] = {}
    for key, rule in rules.items():
        if not is_key(key):
            continue
        on: Description = {vocab.TYPE: owl("Restriction"), owl("onProperty"): attribute(key)}
        values, description = _data_range(rule), rule.get("description")
        note = {skos("definition"): Literal(description)} if isinstance(description, str) else {}
        if values is not None:
            found[part(node, f"attribute-{key}")] = {**on, owl("allValuesFrom"): values, **note}
        if rule.get("is_required") is True:
            one = Literal("1", datatype=xsd("nonNegativeInteger"))
            found[part(node, f"attribute-{key}-required")] = {**on, owl("minCardinality"): one}
    return found


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


def _attributes(types: list[tuple[Concept, dict[str, Json]]], mapping: Mapping) -> Iterator[Triple]:
    """The attributes of all types: one property each, usual with the types that mention it."""
    users: dict[str, list[tuple[Concept, dict[str, Any]]]] = defaultdict(list)
    for concept, attributes in types:
        for key, rule in attribute_rules(attributes).items():
            if is_key(key):
                users[key].append((concept, rule))
    for key in sorted(users):
        yield from described(attribute(key), _datatype_property(key, users[key], mapping))


def _datatype_property(
    key: str, users: list[tuple[Concept, dict[str, Any]]], mapping: Mapping
) -> Description:
    # No rdfs:domain: an attribute is free for every type, and a reasoner would otherwise conclude
    # that whatever has it is of the types that mention it.
    ranges = [one for _, rule in users for one in RANGES.get(str(rule.get("type")), ())]
    texts = [rule["description"] for _, rule in users if isinstance(rule.get("description"), str)]
    mapped = {term.iri for c, _ in users if (term := mapping.attribute(key, c.name)) is not None}
    same = len(set(texts)) == 1
    return {
        vocab.TYPE: Each([rdf("Property"), owl("DatatypeProperty")]),
        vocab.LABEL: Literal(key),
        **({skos("definition"): Literal(texts[0])} if same else {}),
        schema("domainIncludes"): Each(concept.node for concept, _ in users),
        schema("rangeIncludes"): Each(dict.fromkeys(ranges)),
        owl("equivalentProperty"): Each(mapped if len(mapped) == 1 else ()),
    }
