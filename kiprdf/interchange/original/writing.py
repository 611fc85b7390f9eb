"""Writes imported knowledge under its original IRIs.

The record of an import decides the form of each value. In a whole snapshot a triple of the nexus is
replaced by its original forms where these lead back to it; otherwise it stays beside them
(decisions/028). What has no original IRI stays as it is. ``apart`` separates the elements that
several nodes of the original data became (decisions/124).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, groupby
from typing import Any, NamedTuple, TypeAlias, cast

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.forms import form as form_of
from kiprdf.interchange.forms import iri_of, listed
from kiprdf.interchange.importing.blank_nodes import SKOLEM
from kiprdf.interchange.importing.element_index import IMPORTED_AT, SAME_AS
from kiprdf.interchange.importing.external import CONTAINERS, Items
from kiprdf.interchange.importing.names import OTHER_TYPES
from kiprdf.interchange.importing.node_values import GRAPH, GRAPH_VALUES, NAMES, TYPES
from kiprdf.interchange.importing.origins import AXIOMS, LISTS, NAME_IRI, REIFIED_IN
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.original.record import (
    Element,
    Groups,
    KeyPlace,
    OriginalValue,
    Record,
    place_of,
    read_back,
    triples_of,
    value_of,
    values_of,
)
from kiprdf.interchange.vocabularies.axioms import shown_texts
from kiprdf.interchange.vocabularies.schema import ABOVE, ORIGINALS, hierarchy_ends
from kiprdf.interchange.vocabularies.standards import DESCRIPTIONS
from kiprdf.interchange.wikibase import writing as wikibase
from kiprdf.interchange.wikibase.elements import is_entity
from kiprdf.kml.merged_origins import (
    LABEL,
    LOOPS,
    NO_LONGER_IN,
    OF_MERGES,
    ORIGINAL,
    OWN,
    PARTS,
    STATED_BY,
    STATEMENTS,
    as_they_were,
)
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName
from kiprdf.rdf.literals import Json, canonical_json, to_term
from kiprdf.rdf.reification import to_rdf11

_GRAPHS = (GRAPH, GRAPH_VALUES)
_ORIGINAL = NamedNode(vocab.METADATA + ORIGINAL)
_STATED_BY, _NO_LONGER_IN = map(vocab.metadata, (STATED_BY, NO_LONGER_IN))
_USUAL = str(None)
"""What stands for the IRI of an end of which none is noted."""
Nodes: TypeAlias = dict[tuple[NamedNode, str], NamedNode]
"""The nodes of parts, by their element and their original IRI."""


def apart(triples: Iterable[Triple], iris: Iris) -> Iterator[Triple]:
    """The triples of a nexus in which each node of the original data is an element by itself:
    reifiers of one triple, and concepts that were merged.
    """
    groups: Groups = defaultdict(list)
    for triple in triples:
        groups[cast(NamedNode, triple.subject)].append(triple)
    noted = {node: record for node, own in groups.items() if (record := _record(own))}
    for node, record in list(noted.items()):
        for number, loop in enumerate(_objects(record, LOOPS)):
            link, own = _loop(node, number, loop, iris)
            groups[link], noted[link] = own, _record(own)
    links = {node: parts for node, one in noted.items() if (parts := _objects(one, STATEMENTS))}
    nodes: Nodes = {}
    for node, record in noted.items():
        name = iris.name(node.value)
        if isinstance(name, ConceptName) and (PARTS in record or LABEL in record):
            merged = _Merged(node, name, groups[node], record, groups, iris)
            nodes |= {(node, iri): part for iri, part in merged.nodes.items()}
            groups[node] = []
            yield from merged.triples()
    for node, parts in links.items():
        for number, part in enumerate(parts):
            if isinstance(part.get("id"), str):
                nodes[node, part["id"]] = _node(node, number, iris)
    # What an import stated of a reifier when it was the only one is stated of the first with an
    # IRI, else of a blank node.
    firsts: dict[object, NamedNode] = {}
    for node, parts in links.items():
        same_as = (value_of(t) for t in groups[node] if place_of(t) == (False, SAME_AS))
        first = (node, str(next(iter(listed(next(same_as, None))), None)))
        blank = (nodes[node, i] for part in parts if (i := str(part.get("id"))).startswith(SKOLEM))
        if len(parts) > 1:
            firsts[node] = nodes.get(first) or next(blank, _node(node, 0, iris))
        elif first in nodes:
            firsts[node] = nodes[first]
        if node in firsts:
            nodes[node, _USUAL] = firsts[node]
    for node, own in groups.items():
        if node in links:
            yield from _Link(node, own, links[node], nodes, iris).triples()
        elif firsts and _is_about(own, firsts):
            yield from _Link(node, own, [{}], nodes, iris).triples()
        else:
            yield from own


def _is_about(triples: list[Triple], ends: Mapping[object, NamedNode]) -> bool:
    """Whether an imported link is about one of some links."""
    facts: list[Any] = [t.object for t in triples if t.predicate == vocab.REIFIES]
    is_about = any({one.subject, one.object} & ends.keys() for one in facts)
    return is_about and any(place_of(triple) == (True, IMPORTED_AT) for triple in triples)


def _record(triples: Iterable[Triple]) -> JsonMap:
    """What imports and merges noted of an element."""
    original = next((value_of(t) for t in triples if t.predicate == _ORIGINAL), None)
    return original if isinstance(original, dict) else {}


def _objects(record: JsonMap, key: str) -> list[JsonMap]:
    return [part for part in listed(record.get(key)) if isinstance(part, dict)]


def _loop(
    concept: NamedNode, number: int, loop: JsonMap, iris: Iris
) -> tuple[NamedNode, list[Triple]]:
    """A link between two concepts that MERGE made one."""
    digits = hashlib.sha256(f"{concept.value} {number}".encode()).hexdigest()[:16]
    predicate = str(loop.get("predicate"))
    link = iris.proposition(digits, predicate)
    triples = [Triple(link, vocab.REIFIES, Triple(concept, iris.predicate(predicate), concept))]
    for key, space in (("attributes", vocab.ATTRIBUTE), ("metadata", vocab.METADATA)):
        triples += (_value(link, space, name, one) for name, one in _object(loop, key).items())
    return link, triples


class _Merged:
    """A concept that MERGE made of several; each is written as it was imported."""

    def __init__(
        self,
        node: NamedNode,
        name: ConceptName,
        triples: list[Triple],
        record: JsonMap,
        groups: Groups,
        iris: Iris,
    ) -> None:
        self._node, self._name, self._triples, self._record = node, name, triples, record
        self._parts = [part for part in _objects(record, PARTS) if isinstance(part.get("id"), str)]
        definition = groups.get(iris.type(name.type), [])
        named = (value_of(t) for t in definition if place_of(t) == (False, NAME_IRI))
        self._name_iri = next(named, None)
        self._type = iris.type(name.type)
        self.nodes = {
            part["id"]: iris.concept(name.type, f"{name.name} merged with {part['id']}")
            for part in self._parts
        }
        """The nodes of the others by their original IRIs."""

    def triples(self) -> Iterator[Triple]:
        others = {
            iri for part in self._parts for iri in listed(_object(part, "attributes").get(SAME_AS))
        }
        attributes = as_they_were(values_of(self._triples)[0], self._record.get(OWN))
        same_as = [iri for iri in listed(attributes.get(SAME_AS)) if iri not in others]
        own = {key: one for key, one in self._record.items() if key not in OF_MERGES}
        yield from (t for t in self._triples if place_of(t) is None)
        for (is_metadata, key), triple in self._values():
            if is_metadata and key != ORIGINAL:
                yield triple
        yield from self._concept(
            self._node, self._record.get(LABEL), {**attributes, SAME_AS: same_as}, own
        )
        for part in self._parts:
            node, metadata = self.nodes[part["id"]], _object(part, "metadata")
            yield Triple(node, vocab.TYPE, self._type)
            for key in _GRAPHS:
                if key in metadata:
                    yield _value(node, vocab.METADATA, key, metadata[key])
            original = _object(metadata, ORIGINAL)
            yield from self._concept(node, part.get("name"), _object(part, "attributes"), original)

    def _values(self) -> Iterator[tuple[KeyPlace, Triple]]:
        for triple in self._triples:
            place = place_of(triple)
            if place is not None:
                yield place, triple

    def _concept(
        self, node: NamedNode, name: Json, attributes: JsonMap, original: JsonMap
    ) -> Iterator[Triple]:
        """The values of one of the concepts; its name is one, if the node has another."""
        if isinstance(name, str):
            iris = listed(original.get("name", self._name_iri))
            forms = [{"@value": name, "property": iri} for iri in iris]
            noted = {**_object(original, "attributes"), NAMES: forms}
            attributes = {**attributes, NAMES: name}
            original = {**original, "name": [], "attributes": noted}
        yield _value(node, vocab.METADATA, ORIGINAL, original)
        for key, value in attributes.items():
            yield _value(node, vocab.ATTRIBUTE, key, value)


def _object(record: JsonMap, key: str) -> JsonMap:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _node(link: NamedNode, number: int, iris: Iris) -> NamedNode:
    name = cast(PropositionName, iris.name(link.value))
    digits = hashlib.sha256(f"{name.digits} {number}".encode()).hexdigest()[:16]
    return iris.proposition(digits, name.predicate)


class _Link:
    """A link that several statements of the original data became."""

    def __init__(
        self,
        node: NamedNode,
        triples: list[Triple],
        parts: list[JsonMap],
        nodes: Nodes,
        iris: Iris,
    ) -> None:
        self._node, self._parts, self._nodes, self._iris = node, parts, nodes, iris
        self._facts = [t for t in triples if t.predicate == vocab.REIFIES]
        self._others = [t for t in triples if place_of(t) is None and t not in self._facts]
        self._attributes, self._metadata = values_of(triples)

    def triples(self) -> Iterator[Triple]:
        """The triples of each statement, and what says in which lists the link is."""
        original = cast(JsonMap, self._metadata.get(ORIGINAL, {}))
        of_parts = any(LISTS in part for part in self._parts)
        lists = {LISTS: original[LISTS]} if LISTS in original and not of_parts else {}
        yield from self._others
        if len(self._parts) == 1:
            yield from self._single()
            return
        yield from self._facts
        yield _value(self._node, vocab.METADATA, ORIGINAL, {"predicate": [], **lists})
        shown = listed(self._attributes.get(STATEMENTS))
        for number, part in enumerate(self._parts):
            values = shown[number] if number < len(shown) else {}
            node = _node(self._node, number, self._iris)
            yield from self._statement(node, part, values if isinstance(values, dict) else {})

    def _single(self) -> Iterator[Triple]:
        """The link itself, one of whose ends is another node of its element."""
        for fact in self._facts:
            yield Triple(self._node, vocab.REIFIES, self._fact(fact.object, self._parts[0]))
        for space, values in (
            (vocab.ATTRIBUTE, self._attributes),
            (vocab.METADATA, self._metadata),
        ):
            for key, value in values.items():
                if key == ORIGINAL and REIFIED_IN in self._parts[0]:
                    value = {**cast(JsonMap, value), REIFIED_IN: self._parts[0][REIFIED_IN]}
                yield _value(self._node, space, key, value)

    def _statement(self, node: NamedNode, part: JsonMap, values: JsonMap) -> Iterator[Triple]:
        for fact in self._facts:
            yield Triple(node, vocab.REIFIES, self._fact(fact.object, part))
        usual = cast(JsonMap, self._metadata[ORIGINAL])
        original = {key: usual[key] for key in ("predicate",) if key in usual}
        original |= {
            k: part[k]
            for k in ("predicate", LISTS, "attributes", "metadata", REIFIED_IN)
            if k in part
        }
        yield _value(node, vocab.METADATA, ORIGINAL, original)
        if "id" in part:
            iris = [part["id"], *(one for one in listed(part.get(SAME_AS)) if one != part["id"])]
            yield _value(node, vocab.ATTRIBUTE, SAME_AS, iris)
        graphs = self._metadata if GRAPH not in part else part
        for key in _GRAPHS:
            if key in graphs:
                yield _value(node, vocab.METADATA, key, graphs[key])
        for key, value in {**values, **cast(JsonMap, values.get("metadata", {}))}.items():
            is_metadata = key in self._metadata and key not in self._attributes
            yield _value(node, vocab.METADATA if is_metadata else vocab.ATTRIBUTE, key, value)

    def _fact(self, fact: Any, part: JsonMap) -> Triple:
        ends = ((fact.subject, str(part.get("subject"))), (fact.object, str(part.get("object"))))
        subject, end = (self._nodes.get(key, key[0]) for key in ends)
        return Triple(subject, fact.predicate, end)


def _value(node: NamedNode, space: str, key: str, value: Json) -> Triple:
    return Triple(node, NamedNode(space + key), cast(Literal, to_term(value)))


# Writing --------------------------------------------------------------------------------------


def to_original(triples: Iterable[Triple], iris: Iris) -> Iterator[Triple]:
    """The triples of a nexus under original IRIs, nothing left out; ``from_original`` undoes it."""
    writer = _Whole(triples, iris)
    for node in paced(writer.groups):
        yield from writer.written(node)


class Imported(NamedTuple):
    """Imported knowledge as RDF, and whether some of it is in the RDF model of Wikibase."""

    quads: Iterator[Quad]
    is_of_wikibase: bool


def only_imported(triples: Iterable[Triple], iris: Iris, *, rdf11: bool) -> Imported:
    """Imported knowledge as it is now, without terms of KIP, and with the original blank nodes.

    With ``rdf11`` the reifiers of facts are of ``rdf:Statement``. What came from a Wikibase is
    written in its RDF model.
    """
    every = list(paced(triples))
    ended = {one.subject for one in every if _says_ended(one)}
    if ended:
        every = [one for one in every if one.subject not in ended or _is_of_end(one, iris)]
    writer = _Imported(every, iris, cast("set[NamedNode]", ended))
    statements = writer.of_wikibase()
    others = (node for node in paced(writer.groups) if node not in statements.nodes)
    quads = (quad for node in others for quad in writer.written(node, rdf11))
    besides = (quad for node in statements.nodes for quad in writer.beside_statements(node))
    own = (Quad(*triple) for triple in statements.triples)
    of_ontologies = axioms(definitions(writer.elements.values(), writer.facts.values(), iris))
    described = (Quad(*cast(Any, map(_blank, triple))) for triple in of_ontologies)
    return Imported(chain(own, besides, quads, described), bool(statements.triples))


def _says_ended(triple: Triple) -> bool:
    """Whether a triple says that no source states its subject any more."""
    is_empty = triple.predicate == _STATED_BY and value_of(triple) == {}
    return is_empty or triple.predicate == _NO_LONGER_IN


def _is_of_end(triple: Triple, iris: Iris) -> bool:
    """Whether a triple is needed to name a concept that no source states any more."""
    is_concept = isinstance(iris.name(cast(NamedNode, triple.subject).value), ConceptName)
    return is_concept and (place_of(triple) is None or place_of(triple) == (False, SAME_AS))


class _Writer:
    """The elements of a dataset, and which facts have original forms."""

    def __init__(self, triples: Iterable[Triple], iris: Iris) -> None:
        self.groups: Groups = defaultdict(list)
        self.facts: dict[NamedNode, Triple] = {}
        for triple in paced(triples):
            self.groups[cast(NamedNode, triple.subject)].append(triple)
            if triple.predicate == vocab.REIFIES and isinstance(triple.object, Triple):
                self.facts[cast(NamedNode, triple.subject)] = triple.object
        self.record = Record(self.groups, iris)
        self.elements = {
            node: self.record.element(node, own) for node, own in paced(self.groups.items())
        }
        self._is_imported: dict[NamedNode, bool] = {}
        self.links = {fact: link for link, fact in self.facts.items()}
        self._lists: dict[Any, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for link, fact in self.facts.items():
            for property, number, place in self.elements[link].lists:
                if self.is_imported(cast(NamedNode, fact.object)):
                    self._lists[fact.subject][property, number].append((place, link))

    def lists(self, node: NamedNode) -> Iterator[tuple[OriginalValue, Element]]:
        """The lists of elements that an element has, each with the first link that is in it."""
        for (property, number), places in sorted(self._lists.get(node, {}).items(), key=str):
            places.sort(key=lambda one: one[0])
            items = [(place, self._own(self.facts[link].object)) for place, link in places]
            form = OriginalValue(property, replace(_items(items), **_number(number)))
            yield form, self.elements[places[0][1]]

    def _own(self, node: Any) -> Any:
        """The IRI that an element is written under."""
        return self.record.own.get(node, node)

    def is_imported(self, node: NamedNode) -> bool:
        """Whether an element has an original form: a concept its IRI, a fact its property too."""
        pending = [node]
        while pending:
            one = pending[-1]
            fact = self.facts.get(one)
            ends = [] if fact is None else [cast(NamedNode, fact.subject), fact.object]
            unknown = [end for end in ends if end not in self._is_imported]
            if unknown:
                pending += cast(Any, unknown)
                continue
            if fact is None:
                self._is_imported[one] = one in self.record.own
            else:
                has_form = bool(self.elements[one].properties)
                self._is_imported[one] = has_form and all(
                    self._is_imported[cast(NamedNode, end)] for end in ends
                )
            pending.pop()
        return self._is_imported[node]

    def is_definition(self, node: NamedNode) -> bool:
        name = self.elements[node].name
        return isinstance(name, ConceptName) and name.type in META_TYPES


class _Whole(_Writer):
    def written(self, node: NamedNode) -> Iterator[Triple]:
        element, own = self.elements[node], self._own(node)
        if own == node:
            yield from self._with_facts(element)
            return
        values = {triple: element.forms(place, triple) for place, triple in element.values()}
        forms = {
            triple: [one for form in of_value for one in triples_of(own, form, with_cells=False)]
            for triple, of_value in values.items()
        }
        others = [*self._facts(element), *self._identity(element)]
        written = [*others, *(one for those in forms.values() for one in those)]
        uses = Counter(one.predicate for one in written if one.subject == own)
        yield from others
        for form, _ in self.lists(node):
            yield from triples_of(own, form)
        for place, triple in element.values():
            yield from forms[triple]
            if not self._leads_back(element, place, triple, values[triple], uses):
                yield Triple(own, triple.predicate, triple.object)
        yield Triple(own, vocab.ID, Literal(cast(Any, element.name).id))

    def _with_facts(self, element: Element) -> Iterator[Triple]:
        """The triples of an element that keeps its IRI."""
        yield from self._facts(element)
        for triple in element.triples:
            if triple not in self.links and triple.predicate != vocab.REIFIES:
                yield triple

    def _facts(self, element: Element) -> Iterator[Triple]:
        """The facts of which an element is the subject, and the one that it stands for."""
        for triple in element.triples:
            if triple in self.links:
                yield from self._fact(triple)
            elif triple.predicate == vocab.REIFIES:
                own = self._own(element.node)
                yield Triple(own, vocab.REIFIES, self._fact(triple.object)[0])

    def _identity(self, element: Element) -> Iterator[Triple]:
        """What the type and the name of a concept are."""
        if isinstance(element.name, ConceptName):
            own, name = self._own(element.node), Literal(element.name.name)
            yield from (Triple(own, vocab.TYPE, iri) for iri in element.classes)
            yield from (Triple(own, iri, name) for iri in element.names)

    def _fact(self, fact: Any) -> list[Triple]:
        """The forms of a fact: its original properties, or its own predicate."""
        link = self.links[fact]
        subject, end = self._own(fact.subject), self._own(fact.object)
        predicates = self.elements[link].properties if self.is_imported(link) else []
        return [Triple(subject, iri, end) for iri in predicates or [fact.predicate]]

    def _leads_back(
        self,
        element: Element,
        place: KeyPlace,
        triple: Triple,
        forms: list[OriginalValue],
        uses: Counter[NamedNode],
    ) -> bool:
        """Whether the forms of a value are read as this value.

        ``uses`` is how often each property is written of the element.
        """
        if place == (False, SAME_AS):
            return bool(value_of(triple) == self._own(element.node).value)
        properties = {form.property for form in forms}
        if len(properties) != 1 or any(isinstance(form.term, Items) for form in forms):
            return False
        (property,) = properties
        if element.definition.places.get(property) != [place] or uses[property] != len(forms):
            return False
        value = read_back([form.term for form in forms], element.is_array(place))
        return canonical_json(value) == canonical_json(value_of(triple))


class _Imported(_Writer):
    def __init__(self, triples: Iterable[Triple], iris: Iris, ended: set[NamedNode]) -> None:
        super().__init__(apart(triples, iris), iris)
        self._ended = ended
        """What no source states any more; what is stated may link to such a concept."""
        self._are_ends = {
            end
            for link, fact in self.facts.items()
            if self.is_imported(link)
            for end in (fact.subject, fact.object)
        }

    def of_wikibase(self) -> wikibase.Written:
        """What is written in the model of Wikibase: entities, their facts, articles on them."""
        if not any(is_entity(own) for own in self.record.own.values()):
            return wikibase.Written([], set())
        triples = (triple for own in self.groups.values() for triple in own)
        return wikibase.written(triples, self.record.iris)

    def beside_statements(self, node: NamedNode) -> Iterator[Quad]:
        """What is stated about an entity in other words than those of Wikibase."""
        if not is_entity(self.record.own.get(node, node)) or self.is_definition(node):
            return
        for place, triple in self.elements[node].values():
            if place[1] not in wikibase.ITEM_KEYS:
                for form in self.elements[node].forms(place, triple):
                    yield from (Quad(*one) for one in self._triples(self._node(node), form))

    def written(self, node: NamedNode, rdf11: bool) -> Iterator[Quad]:
        element = self.elements[node]
        if node in self._ended:
            return
        if not self.is_imported(node):
            self._check(element)
            return
        if self._is_of_hierarchy(node):
            return  # ``axioms`` writes it
        own, graphs = self._node(node), _Graphs(element)
        triples = [
            (one, graphs.of(place[1], form))
            for place, triple in element.values()
            for form in element.forms(place, triple)
            for one in self._triples(own, form)
        ]
        for form, link in self.lists(node):
            triples += [(one, _Graphs(link).all) for one in self._triples(own, form)]
        if isinstance(element.name, ConceptName) and (
            element.is_noted or not self.is_definition(node)
        ):
            name = Literal(element.name.name)
            for iri in element.classes:
                triples.append(
                    (Triple(own, vocab.TYPE, iri), graphs.of(TYPES, OriginalValue(iri, iri)))
                )
            for iri in element.names:
                triples.append((Triple(own, iri, name), graphs.of(NAMES, OriginalValue(iri, iri))))
        fact = self.facts.get(node)
        if fact is not None:
            forms, reifier = self._fact(node, fact, bool(triples), rdf11)
            triples += [(one, graphs.all) for one in forms]
            triples += [(one, _reified_in(element, one) or graphs.all) for one in reifier]
        for triple, names_of_graphs in triples:
            for graph in names_of_graphs:
                yield Quad(triple.subject, triple.predicate, triple.object, graph)

    def _is_of_hierarchy(self, node: NamedNode) -> bool:
        """Whether an element is a link from a definition to one above it."""
        name = self.elements[node].name
        is_link = isinstance(name, PropositionName) and name.predicate in ABOVE.values()
        return is_link and self.is_definition(cast(NamedNode, self.facts[node].subject))

    def _check(self, element: Element) -> None:
        """Raise KIP_2002 for an imported concept that has lost its IRI: it would be left out."""
        places = {place for place, _ in element.values()}
        has_record = element.is_noted or element.definition.iri is not None
        is_concept = isinstance(element.name, ConceptName) and element.node not in self.record.own
        is_imported = is_concept and has_record and (True, IMPORTED_AT) in places
        if is_imported and not self.is_definition(element.node):
            message = f"'{shown(cast(ConceptName, element.name).id)}' was imported, but has no IRI."
            hint = "Set its same_as to its IRI; if it is new, delete its metadata key imported_at."
            raise KipError("KIP_2002", message, hint)

    def _fact(
        self, link: NamedNode, fact: Triple, has_values: bool, rdf11: bool
    ) -> tuple[list[Triple], list[Triple]]:
        """The triples of a link, and those that say which triple its reifier stands for."""
        subject, end = self._node(fact.subject), self._node(fact.object)
        forms = [Triple(subject, iri, end) for iri in self.elements[link].properties]
        if not (has_values or link in self._are_ends or link in self.record.own):
            return forms, []
        reifier = self._node(link)
        if rdf11:
            return forms, list(to_rdf11(reifier, forms[0]))
        return forms, [Triple(reifier, vocab.REIFIES, forms[0])]

    def _triples(self, own: Any, form: OriginalValue) -> Iterator[Triple]:
        for triple in triples_of(own, form):
            yield Triple(*(_blank(term) for term in triple))

    def _node(self, node: Any) -> Any:
        """The original node of an element."""
        own = self.record.own.get(node)
        if own is not None:
            return _blank(own)
        name = self.elements[node].name
        assert isinstance(name, PropositionName), node
        return BlankNode(f"f{name.digits}")


def _number(number: int | str) -> dict[str, Any]:
    """The number of a list, and which container it is."""
    container = str(number).rstrip("0123456789")
    digits = str(number)[len(container) :]
    is_container = container in CONTAINERS.values()
    return {"copy": int(digits or 0), "container": container if is_container else ""}


def _items(items: list[tuple[tuple[float, ...], Any]]) -> Items:
    """A list of terms by their positions, which are those in lists inside it, too."""
    terms: list[Any] = []
    for _, group in groupby(items, key=lambda item: item[0][0]):
        inner = [(place[1:], term) for place, term in group]
        nested = [one for one in inner if one[0]]
        terms += [term for place, term in inner if not place]
        terms += [_items(nested)] if nested else []
    return Items(tuple(terms))


def _blank(term: Any) -> Any:
    """A term, a blank node where it stands for one."""
    if isinstance(term, NamedNode):
        for space, letter in ((SKOLEM, "b"), (vocab.LIST, "l")):
            if term.value.startswith(space):
                return BlankNode(letter + term.value[len(space) :].replace("/", "x"))
    return term


class _Graphs:
    """The named graphs that state an element and its values."""

    def __init__(self, element: Element) -> None:
        _, metadata = values_of(element.triples)
        self.all = [_graph(name) for name in listed(metadata.get(GRAPH))] or [DefaultGraph()]
        by_graph = metadata.get(GRAPH_VALUES)
        self._by_graph = by_graph if isinstance(by_graph, dict) else {}

    def of(self, key: str, value: OriginalValue) -> list[Any]:
        """The graphs that state a value of a key; a new one is in those that have the key."""
        if not self._by_graph:
            return self.all
        key = TYPES if key == OTHER_TYPES else key
        terms = {
            name: {canonical_json(one) for one in listed(values.get(key))}
            for name, values in sorted(self._by_graph.items())
        }
        written = {**form_of(value.term), "property": value.property.value}
        for item in (written, read_back([value.term], False)):
            stating = [name for name in terms if canonical_json(item) in terms[name]]
            if stating:
                break
        if not stating and key not in (TYPES, NAMES):
            stating = [name for name in terms if terms[name]]
        return [_graph(name) for name in stating] or [DefaultGraph()]


def _reified_in(element: Element, triple: Triple) -> list[Any]:
    """The graphs of a triple that says what a reifier stands for, if they are noted."""
    noted = element.noted(REIFIED_IN)
    if isinstance(noted, dict):
        # One triple with ``rdf:reifies`` is written for all those of an ``rdf:Statement``.
        every = {str(name) for one in noted.values() for name in listed(one)}
        noted = noted.get(triple.predicate.value, sorted(every))
    return [_graph(name) for name in listed(noted)]


def _graph(name: Json) -> Any:
    try:
        return _blank(NamedNode(cast(str, name)))
    except (TypeError, ValueError):  # changed by hand
        return DefaultGraph()


# The statements of imported ontologies, as far as their definitions still agree -----------------


class Described(NamedTuple):
    """A definition of a nexus as it is now."""

    attributes: Mapping[str, Json]
    axioms: Json
    """What imports recorded, by source."""
    iris: list[str]
    parents: set[str]
    """The names of the definitions directly above it."""


def definitions(
    elements: Iterable[Element], facts: Iterable[Triple], iris: Iris
) -> dict[ConceptName, Described]:
    """The definitions among the elements of a dataset."""
    described: dict[ConceptName, Described] = {}
    for element in elements:
        name = element.name
        if isinstance(name, ConceptName) and name.type in META_TYPES:
            attributes, _ = values_of(element.triples)
            originals = [iri for one in listed(attributes.get(SAME_AS)) if (iri := iri_of(one))]
            described[name] = Described(attributes, element.noted(AXIOMS), originals, set())
    for fact in facts:
        ends = hierarchy_ends(fact, iris)
        if ends is not None and ends[0] in described:
            described[ends[0]].parents.add(ends[1].name)
    return described


def axioms(definitions: Mapping[ConceptName, Described]) -> Iterator[Triple]:
    """The statements that ontologies had about definitions, and what has changed since.

    A text that its definition does not have any more, and a link to a definition that is not above
    it any more, are left out; a new description and new links are written.
    """
    names = {(name.type, iri): name.name for name, one in definitions.items() for iri in one.iris}
    for name, one in definitions.items():
        yield from _of_definition(name, one, names, definitions)


def _of_definition(
    name: ConceptName,
    one: Described,
    names: Mapping[tuple[str, str], str],
    definitions: Mapping[ConceptName, Described],
) -> Iterator[Triple]:
    records = [
        record
        for record in (one.axioms.values() if isinstance(one.axioms, dict) else ())
        if isinstance(record, dict)
    ]
    if not records:
        return
    link = ORIGINALS[name.type]
    before = {parent for record in records for parent in listed(record.get("parents"))}
    for triple in _triples(records, "statements"):
        above = names.get((name.type, cast(NamedNode, triple.object).value))
        is_link = triple.predicate == link and above in before and above != name.name
        if not is_link or above in one.parents:
            yield triple
    for parent in sorted(one.parents - before):
        other = definitions.get(ConceptName(name.type, parent))
        if one.iris and other is not None and other.iris:
            yield Triple(NamedNode(one.iris[0]), link, NamedNode(other.iris[0]))
    yield from _texts(name, one, list(_triples(records, "texts")))


def _texts(name: ConceptName, one: Described, recorded: list[Triple]) -> Iterator[Triple]:
    """The texts that a definition still has; its description, if that is a new one."""
    current = shown_texts(name, one.attributes)
    kept = [triple for triple in recorded if any(_text(triple) in text for text in current)]
    yield from kept
    description = one.attributes.get("description")
    replaced = [t for t in recorded if t not in kept and t.predicate in DESCRIPTIONS]
    if replaced and isinstance(description, str):
        language = cast(Literal, replaced[0].object).language
        yield Triple(
            replaced[0].subject, replaced[0].predicate, Literal(description, language=language)
        )


def _text(triple: Triple) -> str:
    return cast(Literal, triple.object).value.strip()


def _triples(records: Iterable[Mapping[str, Json]], key: str) -> Iterator[Triple]:
    """The statements of records as triples; a line changed by hand may be none."""
    lines = (line for record in records for line in listed(record.get(key)))
    for line in dict.fromkeys(lines):
        try:
            yield from (quad.triple for quad in parse(str(line), format=RdfFormat.N_TRIPLES))
        except SyntaxError:
            continue
