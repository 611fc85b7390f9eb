"""The definitions of a nexus as SHACL shapes (docs/decisions/030).

The shapes say what a nexus with ``strict_schema`` enforces: what an ``instance_schema`` asks of the
members of its type, and the types of the ends of a predicate. In RDF null is ``kip:null``, and
arrays and objects are ``rdf:JSON`` in canonical form (docs/mapping.md), so that regular expressions
check their kind and their items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.interchange.formats import Profile
from kiprdf.interchange.vocabularies.schema import (
    Description,
    Each,
    Members,
    attribute,
    attribute_rules,
    definitions,
    described,
    end_types,
    part,
)
from kiprdf.interchange.vocabularies.standards import sh
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import Json, to_term
from kiprdf.store import Store

_ONE = Literal("1", datatype=vocab.INTEGER)
_TRUE = Literal("true", datatype=vocab.BOOLEAN)
_NOTHING: Description = {sh("in"): Members()}
"""A condition that no node meets."""
_NULL: Description = {sh("in"): Members([vocab.NULL])}
_INTEGRAL = r"-?[0-9]+(\.0|(\.[0-9]+)?e\+[0-9]+)?"
"""Numbers without a fraction, as Python writes them: doubles from 1e+16 on have none."""
_ITEMS = {
    "string": r'"([^"\\]|\\.)*"',
    "number": r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?",
    "integer": _INTEGRAL,
    "boolean": "(true|false)",
    "null": "null",
}
"""The items of an array in canonical JSON, as regular expressions of XPath and of Python."""
_ARRAYS = {
    **{item_type: rf"^\[({item},?)*\]$" for item_type, item in _ITEMS.items()},
    # Nested brackets are not a regular language: only the first and the last one are checked.
    "array": r"^\[(\[.*\])?\]$",
    "object": r"^\[(\{.*\})?\]$",
}
"""The arrays that an ``item_type`` allows."""
_OWN = (vocab.STRING, vocab.BOOLEAN, vocab.INTEGER, vocab.DOUBLE, vocab.JSON)


def shapes(store: Store, profile: Profile = "rdf11") -> Iterator[Triple]:
    """SHACL shapes for the dataset of a nexus in a profile.

    ``rdf11``: SHACL 1.0, with a shape for each ``rdf:Statement``. ``rdf12``: the facts have
    reifier shapes of SHACL 1.2 instead. KIP_1001 for another profile.
    """
    if profile not in get_args(Profile):
        message = f"There is no profile {profile!r}."
        raise KipError("KIP_1001", message, 'The profiles are "rdf11" and "rdf12".')
    for concept, attributes in definitions(store, "$ConceptType"):
        rules = attribute_rules(attributes)
        if rules:
            yield from _type_shape(concept, rules)
    for concept, attributes in definitions(store, "$PropositionType"):
        for role in ("subject", "object"):
            yield from _end_shape(concept, role, end_types(attributes, role), store.iris)
        if profile == "rdf12":
            yield from _reified_shape(concept)
    if profile == "rdf11":
        yield from _statement_shape(store.iris)


def _type_shape(concept: Concept, rules: dict[str, dict[str, Any]]) -> Iterator[Triple]:
    shape = part(concept.node, "shape")
    parts = {key: part(shape, key) for key in rules}
    yield from described(
        shape,
        {
            vocab.TYPE: sh("NodeShape"),
            sh("targetClass"): concept.node,
            sh("property"): Each(parts.values()),
        },
    )
    for key, node in parts.items():
        yield from described(node, _attribute_shape(key, rules[key]))


def _attribute_shape(key: str, rule: dict[str, Any]) -> Description:
    """One value, or null where it is not required; the conditions are those of strict_schema."""
    shape: Description = {
        vocab.TYPE: sh("PropertyShape"),
        sh("path"): attribute(key),
        sh("name"): Literal(key),
        sh("maxCount"): _ONE,
    }
    if isinstance(rule.get("description"), str):
        shape[sh("description")] = Literal(rule["description"])
    default = rule.get("default_value")
    if default is not None:
        shape[sh("defaultValue")] = to_term(default)
    conditions = _conditions(rule)
    if rule.get("is_required") is True:
        absent = {sh("nodeKind"): sh("Literal")}
        return {**shape, sh("minCount"): _ONE, sh("and"): Members([absent, *conditions])}
    if conditions:
        all_of = conditions[0] if len(conditions) == 1 else {sh("and"): Members(conditions)}
        shape[sh("or")] = Members([_NULL, all_of])
    return shape


def _conditions(rule: dict[str, Any]) -> list[Description]:
    """What a value that is not null must meet, each independent of the others."""
    conditions = [_kind(rule.get("type")), _items(rule.get("item_type")), _options(rule)]
    return [condition for condition in conditions if condition is not None]


def _any(*alternatives: Description) -> Description:
    return alternatives[0] if len(alternatives) == 1 else {sh("or"): Members(alternatives)}


def _json(pattern: str) -> Description:
    return {sh("datatype"): vocab.JSON, sh("pattern"): Literal(pattern)}


def _kind(json_type: Json) -> Description | None:
    """The literals of a JSON type; an unknown name of a type allows everything."""
    integer: Description = {sh("datatype"): vocab.INTEGER}
    double: Description = {sh("datatype"): vocab.DOUBLE}
    # Literals with a language or a datatype of other vocabularies are objects to KIP.
    foreign = [{sh("not"): {sh("datatype"): datatype}} for datatype in _OWN]
    kinds: dict[str, Description] = {
        "string": {sh("datatype"): vocab.STRING},
        "boolean": {sh("datatype"): vocab.BOOLEAN},
        "number": _any(integer, double),
        "integer": _any(integer, {**double, sh("pattern"): Literal(f"^{_INTEGRAL}$")}),
        "array": _json(r"^\["),
        "object": _any(_json(r"^\{"), {sh("nodeKind"): sh("Literal"), sh("and"): Members(foreign)}),
        "null": _NOTHING,
    }
    return kinds.get(json_type) if isinstance(json_type, str) else None


def _items(item_type: Json) -> Description | None:
    """Arrays hold items of one JSON type; other values are not checked."""
    if not isinstance(item_type, str) or item_type not in _ARRAYS:
        return None
    return _any({sh("not"): _json(r"^\[")}, _json(_ARRAYS[item_type]))


def _options(rule: dict[str, Any]) -> Description | None:
    """The literals that are equal to an option; arrays and objects only as they are written."""
    options = rule.get("enum")
    if not isinstance(options, list):
        return None
    terms = [term for option in options for term in _equal_terms(option)]
    return {sh("in"): Members(dict.fromkeys(terms))}


def _equal_terms(option: Json) -> list[Literal | NamedNode]:
    """The terms of the values that are equal to an option: 1 equals 1.0."""
    if option is None:
        return []
    if isinstance(option, bool) or not isinstance(option, int | float):
        return [to_term(option)]
    numbers: list[int | float] = [option, float(option), 0.0, -0.0]
    if float(option).is_integer():
        numbers.append(int(option))
    return [to_term(number) for number in numbers if number == option]


def _end_shape(
    concept: Concept, role: str, names: list[str] | None, iris: Iris
) -> Iterator[Triple]:
    """The ends of the facts of a predicate, on the asserted triples, which both profiles have."""
    if names is None:
        return
    classes = [{sh("class"): iris.type(name)} for name in dict.fromkeys(names)]
    target = "targetSubjectsOf" if role == "subject" else "targetObjectsOf"
    allowed = _any(*classes) if classes else _NOTHING
    yield from described(
        part(part(concept.node, "shape"), role),
        {vocab.TYPE: sh("NodeShape"), sh(target): concept.node, **allowed},
    )


def _statement_shape(iris: Iris) -> Iterator[Triple]:
    """A proposition in RDF 1.1: one subject, one object, and a predicate that is defined."""
    parts = {
        "subject": (vocab.SUBJECT, {}),
        "predicate": (vocab.PREDICATE, {sh("class"): iris.type("$PropositionType")}),
        "object": (vocab.OBJECT, {}),
    }
    shape = NamedNode(f"{iris.base}$proposition/#shape")
    yield from described(
        shape,
        {
            vocab.TYPE: sh("NodeShape"),
            sh("targetClass"): vocab.STATEMENT,
            sh("nodeKind"): sh("IRI"),
            sh("property"): Each(part(shape, name) for name in parts),
        },
    )
    for name, (path, condition) in parts.items():
        one = {sh("minCount"): _ONE, sh("maxCount"): _ONE, sh("nodeKind"): sh("IRI")}
        kind = {vocab.TYPE: sh("PropertyShape"), sh("path"): path}
        yield from described(part(shape, name), {**kind, **one, **condition})


def _reified_shape(concept: Concept) -> Iterator[Triple]:
    """A proposition in RDF 1.2: each fact has a reifier, which reifies nothing else."""
    shape = part(part(concept.node, "shape"), "facts")
    fact = part(shape, "fact")
    link = part(shape, "link")
    yield from described(
        shape,
        {
            vocab.TYPE: sh("NodeShape"),
            sh("targetSubjectsOf"): concept.node,
            sh("property"): fact,
        },
    )
    yield from described(
        fact,
        {
            vocab.TYPE: sh("PropertyShape"),
            sh("path"): concept.node,
            sh("nodeKind"): sh("IRI"),
            sh("reifierShape"): link,
            sh("reificationRequired"): _TRUE,
        },
    )
    yield from described(
        link,
        {
            vocab.TYPE: sh("NodeShape"),
            sh("nodeKind"): sh("IRI"),
            sh("property"): {
                vocab.TYPE: sh("PropertyShape"),
                sh("path"): vocab.REIFIES,
                sh("minCount"): _ONE,
                sh("maxCount"): _ONE,
            },
        },
    )
