"""Looks up the IRIs, datatypes and languages that imports recorded in a nexus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from typing import NamedTuple, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, shown
from kiprdf.interchange.forms import iri_of, listed, term_of, usual_value
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.external import Items, Object
from kiprdf.interchange.importing.names import OTHER_TYPES
from kiprdf.interchange.importing.origins import IRI, LISTS, NAME_IRI, SCHEMAS
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.importing.values import to_value, together
from kiprdf.interchange.mapping.apply import list_cells
from kiprdf.kml.merged_origins import ORIGINAL, POSITION
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, ElementName, Iris, PropositionName
from kiprdf.rdf.literals import DIRECTIONS, Json, canonical_json, normal, to_json

Rule: TypeAlias = dict[str, str]
KeyPlace: TypeAlias = tuple[bool, str]
"""Whether a key is one of metadata, and the key."""
Groups: TypeAlias = dict[NamedNode, list[Triple]]

_TYPES_RULE = {"iri": vocab.TYPE.value, "datatype": "@id"}
_MEANING = {
    term.value
    for term in (
        vocab.TYPE,
        vocab.STATEMENT,
        vocab.REIFIES,
        vocab.SUBJECT,
        vocab.PREDICATE,
        vocab.OBJECT,
    )
}
"""IRIs that say what an element is, and hence are not classes or properties of its data."""
_SPACES = ((vocab.ATTRIBUTE, False), (vocab.METADATA, True))


class OriginalValue(NamedTuple):
    """A value of a key in the original data: its property and its term."""

    property: NamedNode
    term: Object


@dataclass
class Definition:
    """What a type or a predicate records about its instances."""

    iri: str | None = None
    name_iri: str | None = None
    rules: dict[KeyPlace, Rule] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[NamedNode, list[KeyPlace]]:
        """The keys by their properties."""
        places: dict[NamedNode, list[KeyPlace]] = defaultdict(list)
        for place, rule in self.rules.items():
            places[NamedNode(rule["iri"])].append(place)
        return dict(places)


_NOTHING = Definition()


class Record:
    """The original IRIs and forms of the elements of a dataset.

    ``groups`` are the triples of each element. Raises KIP_3003 where two elements have one IRI.
    """

    def __init__(self, groups: Groups, iris: Iris) -> None:
        self.iris = iris
        self._definitions: dict[ConceptName, Definition] = {}
        self.own: dict[NamedNode, NamedNode] = {}
        """The original IRI of each element that has one."""
        for node, triples in paced(groups.items()):
            name = iris.name(node.value)
            if isinstance(name, ConceptName) and name.type in META_TYPES:
                self._definitions[name] = self._definition(triples)
        self._claim(groups)

    def _claim(self, groups: Groups) -> None:
        """Give each IRI to its element.

        A concept comes before the definition that its instances have: the class of one resource
        may be a resource itself.
        """
        claimed: dict[NamedNode, ElementName] = {}
        definitions: list[tuple[NamedNode, NamedNode]] = []
        for node, triples in paced(groups.items()):
            name = self.iris.name(node.value)
            own = self._own_iri(triples)
            if name is None or own is None:
                continue
            if name in self._definitions:
                definitions.append((own, node))
                continue
            if claimed.setdefault(own, name) != name:
                raise _claimed_twice(own, claimed[own], name)
            self.own[node] = own
        free = {own: node for own, node in reversed(definitions) if own not in claimed}
        self.own |= {node: own for own, node in free.items()}

    def definition(self, name: ElementName | None) -> Definition:
        """The definition of the type of a concept, or of the predicate of a proposition."""
        if isinstance(name, ConceptName):
            return self._definitions.get(ConceptName(META_TYPES[0], name.type), _NOTHING)
        if isinstance(name, PropositionName):
            return self._definitions.get(ConceptName(META_TYPES[1], name.predicate), _NOTHING)
        return _NOTHING

    def element(self, node: NamedNode, triples: Iterable[Triple]) -> Element:
        return Element(node, self.iris.name(node.value), list(triples), self)

    def _own_iri(self, triples: Iterable[Triple]) -> NamedNode | None:
        """The first IRI of ``same_as``, unless it is one of the nexus or of the project."""
        for triple in triples:
            if triple.predicate.value == vocab.ATTRIBUTE + SAME_AS:
                first = self.external(next(iter(listed(value_of(triple))), None))
                return None if first is None else NamedNode(first)
        return None

    def external(self, value: Json) -> str | None:
        """A value that is an IRI of other data; None for those with a meaning in a nexus."""
        iri = iri_of(value)
        is_ours = iri is None or iri in _MEANING or iri.startswith((self.iris.base, *vocab.OWN))
        return None if is_ours else iri

    def _definition(self, triples: Iterable[Triple]) -> Definition:
        definition = Definition()
        for triple in triples:
            key = triple.predicate.value.removeprefix(vocab.ATTRIBUTE)
            if key in (IRI, NAME_IRI):
                setattr(definition, key, self.external(value_of(triple)))
            for is_metadata, schema in SCHEMAS.items():
                rules = value_of(triple) if key == schema else None
                for name, rule in rules.items() if isinstance(rules, dict) else ():
                    if isinstance(rule, dict) and self.external(rule.get(IRI)) is not None:
                        definition.rules[is_metadata, name] = _usable(rule)
        return definition


def _usable(rule: JsonMap) -> Rule:
    """The parts of a rule that RDF can have; definitions are written by hand, too."""
    texts = {key: value for key, value in rule.items() if isinstance(value, str)}
    with suppress(ValueError):
        Literal("", language=texts.get("language", "en"))
        if texts.get("direction", "ltr") in DIRECTIONS:
            return texts
    return {key: text for key, text in texts.items() if key not in ("language", "direction")}


def _claimed_twice(own: NamedNode, first: ElementName, second: ElementName) -> KipError:
    message = f"'{shown(first.id)}' and '{shown(second.id)}' both have the IRI <{own.value}>."
    hint = "Merge the two, or change same_as of one: its first IRI is the IRI of the element."
    return KipError("KIP_3003", message, hint)


def _is_place(numbers: list[Json]) -> bool:
    return bool(numbers) and all(type(number) in (int, float) for number in numbers)


class Element:
    """One concept or proposition and its original forms."""

    def __init__(
        self, node: NamedNode, name: ElementName | None, triples: list[Triple], record: Record
    ) -> None:
        self.node, self.name, self.triples = node, name, triples
        self._external = record.external
        self.definition = record.definition(name)
        original = next((value_of(t) for t in triples if t.predicate == _ORIGINAL), None)
        self.is_noted = original is not None
        """Whether an import noted something of this very element."""
        self._original: JsonMap = original if isinstance(original, dict) else {}

    def noted(self, key: str) -> Json:
        """What an import noted under a key of ``original``."""
        return self._original.get(key)

    @property
    def classes(self) -> list[NamedNode]:
        """What the type of a concept is in the original data."""
        return self._iris("@type", self.definition.iri)

    @property
    def properties(self) -> list[NamedNode]:
        """What the predicate of a proposition is in the original data."""
        return self._iris("predicate", self.definition.iri)

    @property
    def names(self) -> list[NamedNode]:
        """The properties that state the name of a concept."""
        return self._iris("name", self.definition.name_iri)

    def _iris(self, key: str, usual: str | None) -> list[NamedNode]:
        noted = self._original.get(key)
        iris = listed(noted) if key in self._original else listed(usual)
        return [NamedNode(iri) for one in iris if (iri := self._external(one)) is not None]

    @property
    def lists(self) -> list[tuple[NamedNode, int | str, tuple[float, ...]]]:
        """The places of a link in lists: the property, the number of the list, the positions.

        Those in one list are where the attribute ``position`` says, which may have changed.
        """
        entries = [
            (NamedNode(entry[0]), entry[1], tuple(entry[2:]))
            for entry in listed(self._original.get(LISTS))
            if isinstance(entry, list)
            and len(entry) > 2
            and self._external(entry[0]) is not None
            and isinstance(entry[1], int | str)
            and all(isinstance(number, int) for number in entry[2:])
        ]
        ours = (t for place, t in self.values() if place == (False, POSITION))
        position = next((value_of(t) for t in ours if not self.forms((False, POSITION), t)), None)
        if position is None or len({entry[:2] for entry in entries}) != 1:
            return entries
        is_inside = len(entries) == 1 and len(entries[0][2]) > 1
        places = [listed(one) for one in ([position] if is_inside else listed(position))]
        if len(places) != len(entries) or not all(map(_is_place, places)):
            return entries
        return [(*entries[0][:2], tuple(cast(list[float], place))) for place in places]

    def values(self) -> Iterator[tuple[KeyPlace, Triple]]:
        """The attributes and metadata: places and triples."""
        for triple in self.triples:
            place = place_of(triple)
            if place is not None:
                yield place, triple

    def forms(self, place: KeyPlace, triple: Triple) -> list[OriginalValue]:
        """The original forms of the value of a key; none where its IRI is not known."""
        if place == (False, SAME_AS):
            first, *others = listed(value_of(triple))
            reflexive = canonical_json(first) in self._noted(place)
            return self._forms(place, [first, *others] if reflexive else others)
        return self._forms(place, value_of(triple))

    def is_array(self, place: KeyPlace) -> bool:
        rule = self._rule(place)
        return rule is not None and rule.get("container") == "@set"

    def _forms(self, place: KeyPlace, value: Json) -> list[OriginalValue]:
        rule, entries = self._rule(place), self._noted(place)
        whole = entries.get(canonical_json(value))
        if whole is not None:
            return [_form(entry, rule) for entry in whole]
        is_list = rule is not None and rule.get("container") == "@list"
        items = listed(value)
        are_several = all(isinstance(item, list) for item in items) or any(
            canonical_json(item) in entries for item in items
        )
        if is_list and not (items and are_several):
            items = [value]
        forms: list[OriginalValue] = []
        for item in items:
            noted = entries.get(canonical_json(item))
            if noted is not None:
                forms += [_form(entry, rule) for entry in noted]
            elif rule is _TYPES_RULE and iri_of(item) is None:
                continue  # changed by hand: a class is an IRI
            elif rule is not None and item is not None:
                forms.append(_form(usual_value(item, rule), rule))
        return forms

    def _rule(self, place: KeyPlace) -> Rule | None:
        is_types = place == (False, OTHER_TYPES)
        return _TYPES_RULE if is_types else self.definition.rules.get(place)

    def _entries(self, place: KeyPlace) -> list[JsonMap]:
        """What ``original`` has of a key."""
        is_metadata, key = place
        noted = self._original.get("metadata" if is_metadata else "attributes")
        entries = noted.get(key) if isinstance(noted, dict) else None
        return [cast(JsonMap, entry) for entry in listed(entries) if self._is_form(entry)]

    def _is_form(self, entry: Json) -> bool:
        """Whether an entry can be written; it may have been changed by hand."""
        if not isinstance(entry, dict) or not {"@id", "@value", "@list"} & entry.keys():
            return False
        if "property" in entry and self._external(entry["property"]) is None:
            return False
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            term_of(entry)
            return True
        return False

    def _noted(self, place: KeyPlace) -> dict[str, list[JsonMap]]:
        """What ``original`` has of a key, by the values that it belongs to."""
        noted: dict[str, list[JsonMap]] = defaultdict(list)
        has_rule = self._rule(place) is not None
        for entry in self._entries(place):
            if has_rule or "property" in entry:
                value = entry["value"] if "value" in entry else to_value(term_of(entry))
                noted[canonical_json(value)].append(entry)
        return noted


_ORIGINAL = NamedNode(vocab.METADATA + ORIGINAL)


def place_of(triple: Triple) -> KeyPlace | None:
    """The key whose value a triple states."""
    predicate = triple.predicate.value
    for space, is_metadata in _SPACES:
        if predicate.startswith(space):
            return is_metadata, predicate[len(space) :]
    return None


def value_of(triple: Triple) -> Json:
    """The value of an attribute or metadata triple."""
    value: Json = to_json(normal(cast("Literal | NamedNode", triple.object)))
    return value


def values_of(triples: Iterable[Triple]) -> tuple[JsonMap, JsonMap]:
    """The attributes and the metadata among some triples."""
    values: tuple[JsonMap, JsonMap] = {}, {}
    for triple in triples:
        place = place_of(triple)
        if place is not None:
            values[place[0]][place[1]] = value_of(triple)
    return values


def read_back(terms: Iterable[Object], is_array: bool) -> Json:
    """The value that terms are read as."""
    return together([to_value(term) for term in terms], is_array)


def _form(entry: JsonMap, rule: Rule | None) -> OriginalValue:
    property = entry.get("property") or (rule or {})["iri"]
    return OriginalValue(NamedNode(cast(str, property)), term_of(entry))


def triples_of(subject: NamedNode, form: OriginalValue, *, with_cells: bool = True) -> list[Triple]:
    """A form as triples, the cells of lists included, with their IRIs and their class if asked."""
    seed = f"{subject.value} {form.property.value} {form.term}"
    if not with_cells:
        form = form._replace(term=_plain(form.term))
    node, cells = _with_cells(form.term, seed)
    return [Triple(subject, form.property, node), *cells]


def _with_cells(term: Object, seed: str) -> tuple[Literal | NamedNode, list[Triple]]:
    """A term, of a list its first cell, and all cells."""
    if not isinstance(term, Items):
        return cast("Literal | NamedNode", term), []
    inner = [_with_cells(item, f"{seed} {number}") for number, item in enumerate(term.terms)]
    head, cells = list_cells([item for item, _ in inner], seed, term.cells)
    if term.container:
        members = (cell.object for cell in cells if cell.predicate == vocab.FIRST)
        cells = [
            Triple(head, NamedNode(f"{vocab.RDF}_{number}"), member)
            for number, member in enumerate(members, 1)
        ]
        cells.append(Triple(head, vocab.TYPE, NamedNode(vocab.RDF + term.container)))
    cells += [
        Triple(cells[2 * number].subject, vocab.TYPE, NamedNode(iri)) for number, iri in term.typed
    ]
    return head, [*cells, *(cell for _, of_item in inner for cell in of_item)]


def _plain(term: Object) -> Object:
    return Items(tuple(map(_plain, term.terms))) if isinstance(term, Items) else term
