"""Writes JSON-LD 1.1 in the rdf11 profile.

Without a mapping the nodes are in expanded form; with one they are compacted by its terms, those
of attributes and metadata beside those of types and predicates, since half of the parsers ignore
nested ones. ``@base`` in the context is the base; every IRI is absolute.

Numbers are JSON numbers where these are exact. An ``rdf:JSON`` literal is its text with that
datatype: with ``@json`` every parser would write it differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.interchange import n_triples
from kiprdf.interchange.formats.ordering import (
    UNSHOWN,
    Dataset,
    Entry,
    Memo,
    node_name,
    predicate_of,
)
from kiprdf.interchange.formats.output import Output
from kiprdf.interchange.formats.prefixes import Prefixes, namespaces
from kiprdf.interchange.n_triples import Term
from kiprdf.rdf import vocab
from kiprdf.rdf.directions import direction
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.source import Span

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping as Vocabulary

# Integers that every JSON reader reads exactly, in the form of this literal.
_INTEGER = re.compile(r"-?[1-9][0-9]{0,14}|0")
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode
_ESCAPED = re.compile(f"[{UNSHOWN}]")
_BASE = re.compile(r'\s*\{\s*"@context"\s*:\s*\{\s*"@base"\s*:\s*("(?:[^"\\\n]++|\\.)*+")')


# Out ------------------------------------------------------------------------------------------


def write(dataset: Dataset, output: Output, iris: Iris, mapping: Vocabulary | None = None) -> None:
    """Write a dataset in the profile rdf11 as one JSON object, a value a line."""
    vocabulary = _Expanded() if mapping is None else _Compacted(dataset, iris, mapping)
    terms = Memo(n_triples.term)
    separator = "\n"
    # The context lists the terms in use, which are complete only after the last node.
    output.hold()
    for subject, entries in dataset.blocks(iris):
        output.write(separator + _node(subject, entries, vocabulary, terms))
        output.count(len(entries))
        separator = ",\n"
    output.release(_beginning(vocabulary, iris))
    output.write("\n]}\n")


def _beginning(vocabulary: _Expanded, iris: Iris) -> str:
    context = {"@base": iris.base, **vocabulary.context()}
    return f'{{"@context": {_lines(context)},\n"@graph": ['


def _lines(context: Mapping[str, Any]) -> str:
    if len(context) == 1:
        return _text(context)
    members = (f"  {_text(key)}: {_text(value)}" for key, value in context.items())
    return "{\n" + ",\n".join(members) + "\n}"


def _text(value: Any) -> str:
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", _ENCODE(value))


def _node(
    subject: str, entries: list[Entry], vocabulary: _Expanded, terms: Mapping[str, Term]
) -> str:
    members = [f'  "@id": {_text(subject)}']
    for key, group in groupby(entries, key=itemgetter(0)):
        predicate = predicate_of(key)
        values = [vocabulary.value(predicate, terms[value]) for _, value in group]
        if len(values) == 1 and not vocabulary.is_set(predicate):
            shown = _text(values[0])
        elif len(values) == 1:
            shown = f"[{_text(values[0])}]"
        else:
            shown = "[\n" + ",\n".join(f"    {_text(value)}" for value in values) + "\n  ]"
        members.append(f"  {_text(vocabulary.key(predicate))}: {shown}")
    return "{\n" + ",\n".join(members) + "\n}"


class _Expanded:
    """Every key is an IRI, every value an object in an array."""

    def context(self) -> dict[str, Any]:
        return {}

    def is_set(self, predicate: str) -> bool:
        return True

    def key(self, predicate: str) -> str:
        return "@type" if predicate == vocab.TYPE.value else predicate

    def value(self, predicate: str, term: object) -> Any:
        if predicate == vocab.TYPE.value:
            return self.type(cast(NamedNode, term).value)
        if not isinstance(term, Literal):
            return {"@id": node_name(str(term))}
        return self.literal(term)

    def type(self, iri: str) -> str:
        return iri

    def literal(self, literal: Literal) -> Any:
        """The value object of a literal."""
        if literal.language is not None:
            value = {"@value": literal.value, "@language": literal.language}
            return (
                value if literal.direction is None else value | {"@direction": direction(literal)}
            )
        native = _native(literal)
        if native is not None:
            return {"@value": native}
        return {"@value": literal.value, "@type": self.type(literal.datatype.value)}


def _native(literal: Literal) -> str | int | bool | None:
    """The JSON value that means exactly this literal, if there is one."""
    if literal.datatype == vocab.STRING:
        return literal.value
    if literal.datatype == vocab.BOOLEAN and literal.value in ("true", "false"):
        return literal.value == "true"
    if literal.datatype == vocab.INTEGER and _INTEGER.fullmatch(literal.value):
        return int(literal.value)
    return None


@dataclass(frozen=True, slots=True)
class _Term:
    """How a term of the written context interprets its values."""

    name: str
    type: str | None = None
    language: str | None = None
    direction: str | None = None
    is_set: bool = False

    @property
    def coerces(self) -> bool:
        return self.type is not None or self.language is not None

    def means(self, literal: Literal) -> bool:
        """Whether a bare string of this term is the literal."""
        if self.language is not None:
            towards = None if literal.direction is None else direction(literal)
            return (literal.language, towards) == (self.language, self.direction)
        return self.type == literal.datatype.value and literal.language is None


class _Compacted(_Expanded):
    """Terms of a mapping, prefixes, and bare values where the context defines their type."""

    def __init__(self, dataset: Dataset, iris: Iris, mapping: Vocabulary) -> None:
        # A prefix or term named like a scheme would capture the IRIs of that scheme.
        pairs = dataset.pairs()
        schemes = _schemes(dataset, {value for _, value in pairs})
        fixed = namespaces(iris, mapping.prefixes)
        self._prefixes = Prefixes({name: s for name, s in fixed.items() if name not in schemes})
        self._terms: dict[str, _Term] = {}
        self._types: dict[str, str] = {}
        used_names = {*fixed, *schemes}
        types = {value[1:-1] for name, value in pairs if name == vocab.TYPE.value}
        for iri in sorted(types):
            name = mapping.type_of(iri)
            if name is not None and name not in used_names:
                self._types[iri] = name
                used_names.add(name)
        concept_types = _concept_types(dataset.subjects, iris)
        linking = {name for name, value in pairs if not value.startswith('"')}
        for iri in sorted(dataset.predicates()):
            term = _term(iri, iri in linking, mapping, concept_types)
            if term is not None and term.name not in used_names:
                self._terms[iri] = term
                used_names.add(term.name)

    def context(self) -> dict[str, Any]:
        types = {name: self._short(iri) for iri, name in self._types.items()}
        terms = {term.name: self._definition(iri, term) for iri, term in self._terms.items()}
        used = {name: _prefix(namespace) for name, namespace in self._prefixes.used.items()}
        definitions = {**types, **terms}
        sorted_definitions = {name: definitions[name] for name in sorted(definitions)}
        return {
            "@version": 1.1,
            **{name: used[name] for name in sorted(used)},
            **sorted_definitions,
        }

    def _definition(self, iri: str, term: _Term) -> Any:
        definition: dict[str, Any] = {"@id": self._short(iri)}
        if term.type is not None:
            definition["@type"] = term.type if term.type == "@id" else self._short(term.type)
        if term.language is not None:
            definition["@language"] = term.language
        if term.direction is not None:
            definition["@direction"] = term.direction
        if term.is_set:
            definition["@container"] = "@set"
        return definition if len(definition) > 1 else definition["@id"]

    def _short(self, iri: str) -> str:
        return self._prefixes.short(iri) or iri

    def is_set(self, predicate: str) -> bool:
        return predicate in self._terms and self._terms[predicate].is_set

    def key(self, predicate: str) -> str:
        if predicate == vocab.TYPE.value:
            return "@type"
        term = self._terms.get(predicate)
        return self._short(predicate) if term is None else term.name

    def type(self, iri: str) -> str:
        return self._types.get(iri) or self._short(iri)

    def value(self, predicate: str, term: object) -> Any:
        definition = self._terms.get(predicate)
        if definition is None or predicate == vocab.TYPE.value:
            value = super().value(predicate, term)
            is_bare = isinstance(value, dict) and list(value) == ["@value"]
            return value["@value"] if is_bare else value
        if not isinstance(term, Literal):
            node = node_name(str(term))
            return node if definition.type == "@id" else {"@id": node}
        if definition.coerces:
            return term.value if definition.means(term) else self.literal(term)
        native = _native(term)
        return self.literal(term) if native is None else native


def _schemes(dataset: Dataset, objects: Iterable[str]) -> set[str]:
    """The schemes of all IRIs, those of datatypes included."""
    values = map(n_triples.term, objects)
    nodes = (value.datatype if isinstance(value, Literal) else value for value in values)
    iris = [*dataset.subjects, *dataset.predicates()]
    iris += [node.value for node in nodes if isinstance(node, NamedNode)]
    return {iri.partition(":")[0] for iri in iris if not iri.startswith("_:")}


def _concept_types(subjects: Iterable[str], iris: Iris) -> list[str]:
    names = map(iris.name, subjects)
    return sorted({name.type for name in names if isinstance(name, ConceptName)})


def _prefix(namespace: str) -> Any:
    """Only IRIs that end this way are prefixes by default (JSON-LD 1.1, 4.1.5)."""
    is_plain = namespace.endswith(tuple(":/?#[]@"))
    return namespace if is_plain else {"@id": namespace, "@prefix": True}


def _term(
    iri: str, is_linking: bool, mapping: Vocabulary, concept_types: Iterable[str]
) -> _Term | None:
    """The term of a predicate: a KIP predicate, an attribute of any type, a metadata key."""
    attribute = mapping.attribute_of(iri) or mapping.metadata_of(iri)
    for concept_type in concept_types:
        attribute = attribute or mapping.attribute_of(iri, concept_type)
    predicate = mapping.predicate_of(iri)
    if predicate is not None and (is_linking or attribute is None):
        return _Term(predicate, type="@id" if is_linking else None)
    if attribute is None:
        return None
    key, term = attribute
    is_set = term.container == "@set"
    if is_linking or term.is_iri:
        return _Term(key, "@id", is_set=is_set)
    if term.datatype is not None:
        return _Term(key, term.datatype.value, is_set=is_set)
    language = term.language.lower() if term.language else None
    return _Term(key, None, language, term.direction if language else None, is_set)


# In -------------------------------------------------------------------------------------------


def base_of(text: str) -> str | None:
    """The base that the context of a document names first, as in our own documents.

    Raises KIP_1001 for a base that is not a JSON string.
    """
    match = _BASE.match(text)
    if match is None:
        return None
    try:
        return str(json.loads(match.group(1)))
    except ValueError:
        message = "The @base of the JSON-LD is not a JSON string."
        span = Span(match.start(1), match.end(1))
        raise KipError("KIP_1001", message, "Correct its escapes.", span, text) from None
