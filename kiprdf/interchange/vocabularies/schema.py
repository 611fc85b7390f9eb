"""The definitions of a nexus as RDFS and OWL (docs/decisions/030).

A concept type is a class, a predicate an object property, an attribute of an ``instance_schema`` a
datatype property. The IRIs are those of the dataset, so that the schema can be loaded together with
any snapshot. Restrictions, unions and lists are blank nodes, as OWL 2 requires.

The hierarchy of types and of predicates is in propositions between definitions, ``subclass_of`` and
``subproperty_of`` (docs/decisions/083). ``context`` has the IRIs that types, predicates and keys
came with (docs/decisions/079).
"""

from __future__ import annotations

import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.budget import check, paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.interchange.forms import iri_of
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.mapping.reader import MAPS, iri_fault
from kiprdf.interchange.vocabularies.standards import (
    STANDARDS,
    owl,
    rdf,
    rdfs,
    schema,
    skos,
    xsd,
)
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, json_map, read_element
from kiprdf.rdf.iris import ConceptName, Iris, encode
from kiprdf.rdf.literals import Json, to_term
from kiprdf.store import Store

ABOVE = {META_TYPES[0]: "subclass_of", META_TYPES[1]: "subproperty_of"}
"""The predicate from a definition to those directly above it, by meta-type."""
ORIGINALS = {META_TYPES[0]: rdfs("subClassOf"), META_TYPES[1]: rdfs("subPropertyOf")}
"""The properties of RDFS that state the same."""
_DESCRIPTIONS = {
    META_TYPES[0]: "Every instance of the first concept type is one of the second, too.",
    META_TYPES[1]: "What the first predicate links, the second one links, too.",
}


def link_definition(meta_type: str) -> JsonMap:
    """The attributes of the predicate between the definitions of a meta-type.

    >>> link_definition("$ConceptType")["same_as"]
    'http://www.w3.org/2000/01/rdf-schema#subClassOf'
    """
    return {
        "description": _DESCRIPTIONS[meta_type],
        "subject_types": [meta_type],
        "object_types": [meta_type],
        "is_symmetric": False,
        "is_transitive": True,
        SAME_AS: ORIGINALS[meta_type].value,
    }


def read_parents(store: Store) -> dict[ConceptName, set[str]]:
    """The names of the definitions directly above each definition that has some."""
    parents: dict[ConceptName, set[str]] = defaultdict(set)
    for predicate in ABOVE.values():
        for fact in store.match(None, store.iris.predicate(predicate), None):
            if (ends := hierarchy_ends(fact, store.iris)) is not None:
                parents[ends[0]].add(ends[1].name)
    return parents


def hierarchy_ends(fact: Triple, iris: Iris) -> tuple[ConceptName, ConceptName] | None:
    """The definitions of a fact that puts the first below the second; None for other facts."""
    ends = (end for end in (fact.subject, fact.object) if isinstance(end, NamedNode))
    match [iris.name(end.value) for end in ends]:
        case [ConceptName() as below, ConceptName() as above] if below.type == above.type:
            link = ABOVE.get(below.type)
            return (below, above) if link and fact.predicate == iris.predicate(link) else None
    return None


# Descriptions ---------------------------------------------------------------------------------
#
# A description is data: predicates with their objects. A description among the objects becomes a
# blank node, a list an RDF list, as is usual for OWL and SHACL. The label of a blank node comes
# from its place, so that the same definition gives the same triples. Nodes that others refer to
# are named by ``part`` instead.


Description: TypeAlias = dict[NamedNode, Any]
"""Each predicate with one object or a set of them: a term, a ``Description``, a ``Members``."""


class Members(tuple[Any, ...]):
    """The members of an RDF list, in order."""

    __slots__ = ()


class Each(tuple[Any, ...]):
    """Several objects of one predicate."""

    __slots__ = ()


def part(node: NamedNode, name: str) -> NamedNode:
    """The IRI of a part: a fragment of the definition's IRI, which has none.

    >>> part(NamedNode("urn:x:Drug"), "shape").value
    'urn:x:Drug#shape'
    >>> part(NamedNode("urn:x:Drug#shape"), "risk level").value
    'urn:x:Drug#shape-risk%20level'
    """
    separator = "-" if "#" in node.value else "#"
    return NamedNode(f"{node.value}{separator}{encode(name)}")


def anonymous(place: str) -> BlankNode:
    """The blank node of a place; a place is an IRI, longer by each step into the description."""
    return BlankNode(f"b{hashlib.sha256(place.encode()).hexdigest()[:24]}")


def described(node: NamedNode | BlankNode, description: Description) -> Iterator[Triple]:
    """The triples of a description, followed by those of its nested nodes."""
    return _described(node, description, node.value)


def _described(
    node: NamedNode | BlankNode, description: Description, place: str
) -> Iterator[Triple]:
    for predicate, value in description.items():
        check()
        members = value if isinstance(value, Each) else (value,)
        for number, member in enumerate(members):
            yield from _object(node, predicate, member, f"{place} {predicate.value} {number}")


def _object(
    node: NamedNode | BlankNode, predicate: NamedNode, value: Any, place: str
) -> Iterator[Triple]:
    if isinstance(value, dict):
        inner = anonymous(place)
        yield Triple(node, predicate, inner)
        yield from _described(inner, value, place)
    elif isinstance(value, Members):
        yield from _list(node, predicate, value, place)
    else:
        yield Triple(node, predicate, cast(NamedNode | BlankNode | Literal, value))


def _list(
    node: NamedNode | BlankNode, predicate: NamedNode, members: Sequence[Any], place: str
) -> Iterator[Triple]:
    for number, member in enumerate(members):
        cell = anonymous(f"{place} {number}")
        yield Triple(node, predicate, cell)
        yield from _object(cell, vocab.FIRST, member, f"{place} {number} first")
        node, predicate = cell, vocab.REST
    yield Triple(node, predicate, vocab.NIL)


# The context of a nexus ----------------------------------------------------------------------


_COERCIONS = {"datatype": "@type", "language": "@language", "direction": "@direction"}


def context(store: Store) -> dict[str, Any]:
    """The context of a nexus as JSON-LD, terms in alphabetical order.

    A rule that several definitions have for metadata, or for attributes of propositions, is that
    of the first of them. What is not a usable IRI is left out;
    so are datatypes that a mapping may not have: their values keep them.
    """
    top: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {"attributes": {}, "metadata": {}}
    for concept, attributes in definitions(store, "$ConceptType"):
        rules = dict(_rules(attributes, "instance_schema"))
        name = _term({"iri": attributes.get("name_iri")})
        if name is not None:
            rules.setdefault("name", name)
        term = _term(attributes)
        if term is not None:
            top[concept.name] = {**term, "@context": rules} if rules else term
        _add(nested["metadata"], _rules(attributes, "metadata_schema"))
    for concept, attributes in definitions(store, "$PropositionType"):
        term = _term(attributes)
        if term is not None:
            top.setdefault(concept.name, {**term, "@type": "@id"})
        _add(nested["attributes"], _rules(attributes, "instance_schema"))
        _add(nested["metadata"], _rules(attributes, "metadata_schema"))
    for part, rules in nested.items():
        inner = {"@context": dict(sorted(rules.items()))} if rules else {}
        top[part] = {"@id": "@nest", **inner}
    return {"@context": {"@version": 1.1, **dict(sorted(top.items()))}}


def _add(terms: dict[str, Any], rules: Iterator[tuple[str, dict[str, str]]]) -> None:
    for key, term in rules:
        terms.setdefault(key, term)


def _rules(attributes: dict[str, Json], schema: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The terms of the keys of one schema."""
    rules = attributes.get(schema)
    for key, rule in sorted(rules.items()) if isinstance(rules, dict) else ():
        term = _term(rule) if isinstance(rule, dict) else None
        if term is not None and key not in MAPS:
            yield key, term


@functools.lru_cache(maxsize=1_024)
def _is_usable(keyword: str, value: str) -> bool:
    """Whether a mapping may have a datatype, a language or a direction, as data may."""
    try:
        Mapping.load({"@context": {"key": {"@id": vocab.LABEL.value, keyword: value}}})
    except KipError:
        return False
    return True


def _term(rule: dict[str, Json]) -> dict[str, str] | None:
    """The definition of a term; None without an IRI that a mapping may have."""
    iri = rule.get("iri")
    if not isinstance(iri, str) or iri_fault(iri) is not None:
        return None
    term = {"@id": iri}
    for name, keyword in _COERCIONS.items():
        value = rule.get(name)
        if isinstance(value, str) and _is_usable(keyword, value):
            term[keyword] = value
    if rule.get("container") == "@list":
        term["@container"] = "@list"
    return term


# Schema ---------------------------------------------------------------------------------------


RANGES: dict[str, tuple[NamedNode, ...]] = {
    "string": (vocab.STRING,),
    "number": (vocab.INTEGER, vocab.DOUBLE),
    "integer": (vocab.INTEGER,),
    "boolean": (vocab.BOOLEAN,),
    "array": (vocab.JSON,),
    "object": (vocab.JSON,),
}
"""The datatypes of the literals of a JSON type; see docs/mapping.md."""
User: TypeAlias = tuple[Concept, dict[str, Any]]
Users: TypeAlias = dict[str, list[User]]
_PROPERTY_KINDS = (owl("ObjectProperty"), owl("DatatypeProperty"))
DISPLAY_HINT = NamedNode(vocab.ATTRIBUTE + "display_hint")
_SINGLE = ("string", "number", "integer", "boolean")
"""The JSON types with one literal a value. An array is one here, several in other vocabularies."""


def definitions(store: Store, meta_type: str) -> list[tuple[Concept, dict[str, Json]]]:
    """The definitions of a meta-type with their attributes, in the order of their names."""
    concepts = []
    for triple in store.match(None, vocab.TYPE, store.iris.type(meta_type)):
        assert isinstance(triple.subject, NamedNode)
        element = read_element(store.iris, triple.subject, store.describe(triple.subject))
        assert isinstance(element, Concept)
        concepts.append((element, json_map(element.attributes)))
    return sorted(concepts, key=lambda pair: pair[0].name)


def attribute_rules(attributes: dict[str, Json]) -> dict[str, dict[str, Any]]:
    """The rules of an ``instance_schema`` by attribute; values that are not rules are left out."""
    rules = attributes.get("instance_schema")
    if not isinstance(rules, dict):
        return {}
    return {key: rule for key, rule in sorted(rules.items()) if isinstance(rule, dict)}


def attribute(key: str) -> NamedNode:
    """The property of an attribute; a string that is not a key gets one that nothing has."""
    return NamedNode(vocab.ATTRIBUTE + encode(key))


def end_types(attributes: dict[str, Json], role: str) -> list[str] | None:
    """The types allowed at an end of a predicate; None if all are.

    >>> end_types({"subject_types": ["Drug"]}, "subject")
    ['Drug']
    >>> end_types({"subject_types": ["*"]}, "subject")
    """
    allowed = attributes.get(f"{role}_types")
    if not isinstance(allowed, list) or "*" in allowed:
        return None
    return [name for name in allowed if isinstance(name, str) and name]


@dataclass(frozen=True, slots=True)
class _Nexus:
    """What the description of a definition refers to: names, other definitions, the mapping."""

    iris: Iris
    mapping: Mapping
    users: Users
    parents: dict[ConceptName, set[str]]
    types: frozenset[str]

    def above(self, concept: Concept) -> list[str]:
        return sorted(self.parents.get(ConceptName(concept.type, concept.name), ()))


def schema_triples(store: Store, mapping: Mapping | None = None) -> Iterator[Triple]:
    """The schema of a nexus as RDFS and OWL 2 DL; a mapping adds the equivalent terms."""
    types = definitions(store, "$ConceptType")
    users = _users(types)
    mapping = mapping or Mapping.none()
    names = frozenset(concept.name for concept, _ in types)
    nexus = _Nexus(store.iris, mapping, users, read_parents(store), names)
    yield Triple(NamedNode(f"{store.iris.base}$schema"), vocab.TYPE, owl("Ontology"))
    triples = [
        *(triple for one in types for triple in _class(*one, nexus)),
        *(
            triple
            for concept, attributes in definitions(store, "$PropositionType")
            for triple in described(concept.node, _property(concept, attributes, nexus))
        ),
        *(
            triple
            for key in sorted(users)
            for triple in described(attribute(key), _datatype_property(key, users[key], mapping))
        ),
    ]
    used = {triple.predicate for triple in triples}
    notes = [skos("definition"), schema("domainIncludes"), schema("rangeIncludes")]
    # In OWL a property annotates terms or has values of members. Here an attribute may be both; it
    # is the latter if a type has it.
    notes += [] if "display_hint" in users else [DISPLAY_HINT]
    notes = [one for one in notes if one in used]
    yield from _with_declared_equivalents(triples, notes)
    yield from (Triple(one, vocab.TYPE, owl("AnnotationProperty")) for one in notes)


def _with_declared_equivalents(
    triples: list[Triple], notes: Iterable[NamedNode]
) -> Iterator[Triple]:
    """The triples, with the declarations that OWL 2 DL requires for equivalent terms.

    An equivalent term that OWL 2 DL does not allow there is left out: one of RDF, RDFS, OWL or XSD
    itself, and a property that is one of another kind already (OWL 2 Structural Specification,
    5.8).
    """
    kinds: dict[object, NamedNode] = dict.fromkeys(notes, owl("AnnotationProperty"))
    for triple in triples:
        kind = triple.object
        if isinstance(kind, NamedNode) and kind in _PROPERTY_KINDS:
            kinds[triple.subject] = kind
    declared = set[Triple]()
    for triple in triples:
        other = triple.object
        is_class = triple.predicate == owl("equivalentClass")
        if not is_class and triple.predicate != owl("equivalentProperty"):
            yield triple
            continue
        assert isinstance(other, NamedNode)
        kind = owl("Class") if is_class else kinds[triple.subject]
        if other == owl("Thing"):
            yield triple
        elif other.value.startswith(STANDARDS):
            continue
        elif is_class or kinds.setdefault(other, kind) == kind:
            yield triple
            declared.add(Triple(other, vocab.TYPE, kind))
    yield from sorted(declared, key=str)


def _texts(concept: Concept, attributes: dict[str, Json]) -> Description:
    """Label, description and hint; both comment and definition, since tools read one of them."""
    texts: Description = {vocab.LABEL: Literal(concept.name)}
    description, hint = attributes.get("description"), attributes.get("display_hint")
    if isinstance(description, str):
        texts |= {
            skos("definition"): Literal(description),
            rdfs("comment"): Literal(description),
        }
    if isinstance(hint, str):
        texts[DISPLAY_HINT] = Literal(hint)
    return texts


def _iris_of(value: Json) -> list[NamedNode]:
    """The absolute IRIs among the strings of a value."""
    texts = value if isinstance(value, list) else [value]
    return [NamedNode(iri) for text in paced(texts) if (iri := iri_of(text)) is not None]


def _equivalent(node: NamedNode, attributes: dict[str, Json], mapped: NamedNode | None) -> Each:
    """The terms that a definition is equivalent to: in the mapping, and those of its import."""
    others = [*([] if mapped is None else [mapped]), *_iris_of(attributes.get("same_as"))]
    return Each(other for other in dict.fromkeys(others) if other != node)


def _class(concept: Concept, attributes: dict[str, Json], nexus: _Nexus) -> Iterator[Triple]:
    above = [nexus.iris.type(name) for name in nexus.above(concept)]
    rules = {k: rule for k, rule in attribute_rules(attributes).items() if is_key(k)}
    restrictions = {
        key: {
            anonymous(f"{concept.node.value} {key} {number}"): restriction
            for number, restriction in enumerate(_restrictions(key, rule, nexus.users[key]))
        }
        for key, rule in rules.items()
    }
    mapped = nexus.mapping.concept_type(concept.name)
    description: Description = {
        vocab.TYPE: Each([rdfs("Class"), owl("Class")]),
        **_texts(concept, attributes),
        rdfs("subClassOf"): Each(
            [*above, *(node for by_node in restrictions.values() for node in by_node)]
        ),
        owl("equivalentClass"): _equivalent(concept.node, attributes, mapped),
    }
    yield from described(concept.node, description)
    for key, by_node in restrictions.items():
        for node, restriction in by_node.items():
            yield from described(node, restriction)
        if by_node and not _common_text(nexus.users[key]):
            yield from _text_of_axiom(concept.node, next(iter(by_node)), rules[key])


def _restrictions(key: str, rule: dict[str, Any], users: list[User]) -> Iterator[Description]:
    """The restrictions of a type on an attribute; they hold for its members only."""
    on: Description = {vocab.TYPE: owl("Restriction"), owl("onProperty"): attribute(key)}
    values, is_required = _data_range(rule), rule.get("is_required") is True
    if values is not None:
        yield {**on, owl("allValuesFrom"): values}
    if is_required:
        yield {**on, owl("minCardinality"): _count(1)}
    if _is_single(rule):
        yield {**on, owl("maxCardinality"): _count(1)}
    is_described = isinstance(rule.get("description"), str)
    if values is None and not is_required and is_described and not _common_text(users):
        # It requires nothing and carries the description.
        yield {**on, owl("minCardinality"): _count(0)}


def _count(number: int) -> Literal:
    return Literal(str(number), datatype=xsd("nonNegativeInteger"))


def _is_single(rule: dict[str, Any]) -> bool:
    """Whether a value is one literal in any vocabulary."""
    options = rule.get("enum")
    if isinstance(options, list) and options and "type" not in rule:
        return not any(isinstance(option, list | dict) for option in options)
    return rule.get("type") in _SINGLE


def _text_of_axiom(node: NamedNode, target: BlankNode, rule: dict[str, Any]) -> Iterator[Triple]:
    """The description of an attribute within one type, on the axiom with the restriction."""
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
    """The description of an attribute if all types that have one agree."""
    texts = {rule["description"] for _, rule in users if isinstance(rule.get("description"), str)}
    return texts.pop() if len(texts) == 1 else None


def _data_range(rule: dict[str, Any]) -> NamedNode | Description | None:
    """The literals of an attribute; arrays and objects have no datatype of OWL 2."""
    options = rule.get("enum")
    if isinstance(options, list) and options:
        if any(isinstance(option, list | dict) for option in options):
            return None
        terms = [to_term(option) for option in options if option is not None]
        return {vocab.TYPE: rdfs("Datatype"), owl("oneOf"): Members(terms)} if terms else None
    ranges = [one for one in RANGES.get(str(rule.get("type")), ()) if one != vocab.JSON]
    if len(ranges) < 2:
        return ranges[0] if ranges else None
    return {vocab.TYPE: rdfs("Datatype"), owl("unionOf"): Members(ranges)}


def _property(concept: Concept, attributes: dict[str, Json], nexus: _Nexus) -> Description:
    above = [nexus.iris.predicate(name) for name in nexus.above(concept)]
    kinds = [rdf("Property"), owl("ObjectProperty")]
    if attributes.get("is_symmetric") is True:
        kinds.append(owl("SymmetricProperty"))
    if attributes.get("is_transitive") is True:
        kinds.append(owl("TransitiveProperty"))
    mapped = nexus.mapping.predicate(concept.name)
    return {
        vocab.TYPE: Each(kinds),
        **_texts(concept, attributes),
        **_end(rdfs("domain"), end_types(attributes, "subject"), nexus),
        **_end(rdfs("range"), end_types(attributes, "object"), nexus),
        rdfs("subPropertyOf"): Each(above),
        owl("equivalentProperty"): _equivalent(concept.node, attributes, mapped),
    }


def _end(predicate: NamedNode, names: list[str] | None, nexus: _Nexus) -> Description:
    """The types of an end; those without a definition are not classes."""
    classes = [nexus.iris.type(name) for name in dict.fromkeys(names or ()) if name in nexus.types]
    if not classes:
        return {}
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
    # No rdfs:domain: every type may have the attribute, and a reasoner would conclude that each
    # element that has it is a member of the types that mention it.
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
    """The datatypes of an attribute, or of its items if it may have several values."""
    return RANGES.get(str(rule.get("type", rule.get("item_type"))), ())
