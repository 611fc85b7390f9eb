"""Records the IRIs, datatypes and languages that imported knowledge had (docs/decisions/079).

Definitions get what is usual for a type, a predicate or a key; an element gets what differs from
that, in its metadata key ``original``. So the RDF can be written again as it was.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import paced
from kiprdf.collector import cached
from kiprdf.interchange.forms import (
    UNCHANGED,
    fits_datatype,
    form,
    is_usual,
    listed,
    usual_value,
)
from kiprdf.interchange.importing.element_index import SAME_AS, ElementIndex
from kiprdf.interchange.importing.external import Items, Object
from kiprdf.interchange.importing.plan import Concept, Element, JsonMap, concept
from kiprdf.interchange.importing.values import TEXTS, NodeValues, Origin, Usage, Use, to_value
from kiprdf.kml.merged_origins import OF_MERGES, ORIGINAL, STATEMENTS
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json
from kiprdf.semantics.protected import SYSTEM

REIFIED_IN = "reified_in"
"""The key of a statement with the graphs of its reifier, where the triple is in others.

An object with graphs by property if the triples that say what it stands for are in several."""
LISTS = "lists"
"""The key of ``original`` with the places of a link in lists."""
AXIOMS = "axioms"
"""The key of ``original`` with the statements about a definition, by their source."""
IRI, NAME_IRI = "iri", "name_iri"
"""The attributes of a definition with the IRI of its instances, and with that of their names."""
SCHEMAS = {False: "instance_schema", True: "metadata_schema"}
"""The attributes of a definition with the rules of attributes, and with those of metadata."""

TERM = (IRI, "datatype", "language", "direction", "container")
"""The keys of a rule that are about RDF."""

Rule: TypeAlias = dict[str, str]
"""``iri``, ``datatype``, ``language``, ``direction`` and ``container`` of a key."""
RuleKey: TypeAlias = tuple[ConceptName, bool, str]
"""A definition, whether the key is one of metadata, and the key."""


class Part(NamedTuple):
    """One of several statements that a fact comes from: what is noted of it, and its values.

    ``shown`` is what KQL sees of a statement that an earlier import brought.
    """

    noted: JsonMap
    values: NodeValues
    shown: JsonMap | None = None


class Imported(NamedTuple):
    """An element of a plan, the values that it was made from, and the IRIs of its definition.

    Links without values or a record, of which the rest is the same, are together in ``elements``.
    ``iris`` are those of its classes besides ``other_types``, or of the properties that triples
    state it with; ``lists`` its places in lists, and ``properties`` the properties of both.
    """

    elements: list[Element]
    definition: ConceptName
    values: NodeValues
    iris: tuple[str, ...]
    lists: list[list[Json]]
    properties: tuple[str, ...]
    parts: list[Part]


def record(
    imported: Iterable[Imported], index: ElementIndex, earlier: Mapping[str, Json]
) -> list[Concept]:
    """What definitions record; elements get ``original`` where they differ from it.

    ``earlier`` is what elements had there before, by their ids.
    """
    elements = list(imported)
    definitions = _Definitions(elements, index)
    for one in paced(elements):
        _note_differences(one, definitions, earlier.get(one.elements[0].key))
    return definitions.changed()


def recorded_subjects(index: ElementIndex) -> frozenset[str]:
    """The IRIs that the recorded statements of ontologies are about."""
    originals = (one for one in index.metadata(ORIGINAL).values() if isinstance(one, dict))
    axioms = (one[AXIOMS] for one in originals if isinstance(one.get(AXIOMS), dict))
    records = (record for by_source in axioms for record in by_source.values())
    lines = (line for one in records if isinstance(one, dict) for line in one.get("statements", ()))
    return frozenset(str(line).partition("> ")[0][1:] for line in lines)


_PLAIN: dict[str, type] = {vocab.STRING.value: str, vocab.INTEGER.value: int}
"""What values are that have no datatype of their own."""


class _Definitions:
    """The records of definitions: those that they have, and the usual ones of this import."""

    def __init__(self, elements: list[Imported], index: ElementIndex) -> None:
        iris: dict[ConceptName, Counter[str]] = defaultdict(Counter)
        names: dict[ConceptName, Counter[str]] = defaultdict(Counter)
        origins_of: dict[ConceptName, list[list[Origin]]] = defaultdict(list)
        for one in paced(elements):
            uses = iris[one.definition]
            if one.iris or one.properties:
                uses[(one.iris or one.properties)[0]] += len(one.elements)
            if one.values.label:
                names[one.definition][one.values.label] += 1
            if one.values.origins:
                origins_of[one.definition].append(one.values.origins)
        uses_of = {
            definition: Counter(map(itemgetter(0), chain.from_iterable(every)))
            for definition, every in origins_of.items()
        }
        rules: dict[RuleKey, Counter[Usage]] = defaultdict(Counter)
        for definition, counts in uses_of.items():
            for use, number in counts.items():
                rules[definition, use.is_metadata, use.key][use.usage] += number
        self._index = index
        self._before = {name: index.attributes(name.id) for name in iris}
        self._new: dict[ConceptName, JsonMap] = {name: {} for name in iris}
        for name in iris:
            self._add(name, IRI, iris[name])
            self._add(name, NAME_IRI, names[name])
        self.usual = cached(_Definitions._usual_iris_of, self)
        self.rules: dict[RuleKey, Rule] = {}
        for place in sorted(rules):
            self._add_rule(place, dict(_most_common(rules[place])))
        self._usual = {
            definition: {use: own for use in counts if (own := self._plain(definition, use))}
            for definition, counts in uses_of.items()
        }

    def _usual_iris_of(self, definition: ConceptName) -> tuple[str, str]:
        """The IRIs of the instances of a definition, and of their names; "" for none."""
        before, new = self._before[definition], self._new[definition]
        values = [before.get(key) or new.get(key) for key in (IRI, NAME_IRI)]
        iri, name = (one if isinstance(one, str) else "" for one in values)
        return iri, name

    def _plain(self, definition: ConceptName, use: Use) -> type | str | None:
        """What a value of a use is that has its usual form: any string, an integer that is its own
        text, or a text that fits a datatype; None for other uses."""
        rule = self.rules.get((definition, use.is_metadata, use.key), {})
        if use.key == SAME_AS or rule.get(IRI) != use.property:
            return None
        if not {"container", "language"}.isdisjoint(rule):
            return None
        datatype = rule.get("datatype")
        if datatype is None:
            return _PLAIN.get(use.kind)
        return datatype if datatype == use.kind and datatype in TEXTS else None

    def are_usual(self, definition: ConceptName, origins: list[Origin]) -> bool:
        """Whether some values are simple and have their usual form; most have."""
        usual = self._usual.get(definition, {})
        for origin in origins:
            use, term, value = origin
            plain = usual.get(use)
            if plain is str:
                continue
            if plain is int and type(value) is int and term.value == str(value):  # type: ignore[union-attr]
                continue
            if isinstance(plain, str) and fits_datatype(value, plain):
                continue
            if not self._is_usual(definition, origin):
                return False
        return True

    def _is_usual(self, definition: ConceptName, origin: Origin) -> bool:
        rule = self.rules.get((definition, origin.is_metadata, origin.key), {})
        if origin.property != rule.get(IRI) or origin.key == SAME_AS:
            return False
        return is_usual(origin.term, origin.value, rule)

    def changed(self) -> list[Concept]:
        return [concept(name, new) for name, new in sorted(self._new.items()) if new]

    def _add(self, name: ConceptName, key: str, values: Counter[str]) -> None:
        value = _most_common(values) if values else ""
        if value and name not in SYSTEM and not self._before[name].get(key):
            self._new[name][key] = value

    def _add_rule(self, place: RuleKey, rule: Rule) -> None:
        name, is_metadata, key = place
        schema = SCHEMAS[is_metadata]
        existing = self._new[name].get(schema) or self._before[name].get(schema)
        rules: dict[str, Any] = dict(existing) if isinstance(existing, dict) else {}
        before = rules.get(key)
        if isinstance(before, dict) and isinstance(before.get(IRI), str):
            self.rules[place] = before
        elif name not in SYSTEM:
            self.rules[place] = rule
            described = before if isinstance(before, dict) else {}
            self._new[name][schema] = {**rules, key: {**described, **rule}}


def _most_common(counter: Counter[Any]) -> Any:
    """The most frequent value; of several the first in their order."""
    return min(counter, key=lambda value: (-counter[value], value))


def usage_of(property: str, term: Object | None) -> Usage:
    """What a value says about its key, as the items of a rule."""
    usage: Usage = ((IRI, property),)
    if isinstance(term, Items):
        usage = (*usage, ("container", "@list"))
        term = next(iter(term.terms), None)
    if isinstance(term, NamedNode):
        return (*usage, ("datatype", "@id"))
    if not isinstance(term, Literal):
        return usage
    if term.language is not None:
        value = form(term)
        tags = ("@language", "@direction")
        return (*usage, *((tag[1:], value[tag]) for tag in tags if tag in value))
    datatype = term.datatype
    return usage if datatype in UNCHANGED else (*usage, ("datatype", datatype.value))


def _note_differences(one: Imported, definitions: _Definitions, before: Json) -> None:
    """Put ``original`` into the metadata of an element that differs from its definition."""
    difference: JsonMap = {}
    usual, name = definitions.usual(one.definition)
    if one.iris != ((usual,) if usual else ()):
        key = "@type" if one.definition.type == META_TYPES[0] else "predicate"
        difference[key] = sorted(one.iris)
    if one.lists:
        difference[LISTS] = one.lists
    is_concept = one.definition.type == META_TYPES[0]
    if is_concept and name != one.values.label:
        difference["name"] = [one.values.label] if one.values.label else []
    difference |= _unusual_values(one, definitions, one.elements[0].attributes.get(SAME_AS))
    for part in one.parts:
        of_part = one._replace(values=part.values)
        part.noted.update(_unusual_values(of_part, definitions, part.noted.get("id")))
    if one.parts:
        difference[STATEMENTS] = [part.noted for part in one.parts]
    if isinstance(before, dict):
        difference = _merged(before, difference, one)
    for element in one.elements if difference or before is not None else ():
        assert isinstance(element.metadata, dict)
        element.metadata[ORIGINAL] = difference


def _unusual_values(one: Imported, definitions: _Definitions, same_as: Json) -> JsonMap:
    """The forms of attributes and of metadata that have another form than the usual one.

    The values are written under the first IRI of ``same_as``: a triple that states it is reflexive.
    """
    if definitions.are_usual(one.definition, one.values.origins):
        return {}
    own = next(iter(listed(same_as)), None)
    places = ((False, "attributes"), (True, "metadata"))
    forms = {what: _unusual(one, is_metadata, definitions, own) for is_metadata, what in places}
    return {what: keys for what, keys in forms.items() if keys}


def _unusual(one: Imported, is_metadata: bool, definitions: _Definitions, own: Json) -> JsonMap:
    """The forms of the values that have another form than the usual one, by key."""
    stated = [
        (
            origin,
            *_written(origin, definitions.rules.get((one.definition, is_metadata, origin.key))),
        )
        for origin in one.values.origins
        if origin.is_metadata == is_metadata and not _is_too_deep(origin.term)
    ]
    stated = [
        (origin, written, usual and (origin.key, origin.value) != (SAME_AS, own))
        for origin, written, usual in stated
    ]
    if all(usual for _, _, usual in stated):
        return {}
    forms: dict[tuple[str, str], list[JsonMap]] = defaultdict(list)
    unusual: set[tuple[str, str]] = set()
    for origin, written, usual in stated:
        item = (origin.key, canonical_json(origin.value))
        forms[item].append({**written, **_value(origin)})
        if not usual:
            unusual.add(item)
    keys: dict[str, list[Json]] = {}
    for key, value in sorted(unusual):
        in_order = sorted(forms[key, value], key=canonical_json)
        keys.setdefault(key, []).extend(in_order)
    return dict(keys)


_LIST_DEPTH = 16
"""Deeper lists of lists are not noted: their forms nest twice as deep, and values at most 64."""


def _is_too_deep(term: Object, depth: int = _LIST_DEPTH) -> bool:
    if not isinstance(term, Items):
        return False
    return depth == 0 or any(_is_too_deep(item, depth - 1) for item in term.terms)


def _written(origin: Origin, rule: Rule | None) -> tuple[JsonMap, bool]:
    """A term as ``original`` has it, and whether it is the usual one of its value."""
    rule, is_list = rule or {}, isinstance(origin.term, Items)
    written = form(origin.term)
    items = listed(origin.value) if is_list else [origin.value]
    usual = (
        is_list == (rule.get("container") == "@list")
        and written == usual_value(origin.value, rule)
        and not any(map(_is_several, items))
    )
    if origin.property != rule.get(IRI):
        return {**written, "property": origin.property}, False
    return written, usual


def _is_several(value: Json) -> bool:
    """Whether a value would be read as several values, or as none."""
    return value is None or isinstance(value, list)


def _value(origin: Origin) -> JsonMap:
    """The value, if a mapping made another one of the term than the term alone would give."""
    return {} if to_value(origin.term) == origin.value else {"value": origin.value}


_KEPT = (LISTS, STATEMENTS, *OF_MERGES)
"""What an import keeps if it does not state it itself."""


def _merged(before: JsonMap, new: JsonMap, one: Imported) -> JsonMap:
    """What differs now, and what earlier imports noted of values that this one does not state."""
    merged = {key: before[key] for key in _KEPT if key in before} | new
    for is_metadata, what in ((False, "attributes"), (True, "metadata")):
        stated = {origin.key for origin in one.values.origins if origin.is_metadata == is_metadata}
        earlier = before.get(what)
        kept = {k: v for k, v in earlier.items() if k not in stated} if earlier else {}
        if kept:
            merged[what] = {**kept, **new.get(what, {})}
    return merged
