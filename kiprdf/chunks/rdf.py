"""Graphs of chunks as RDF, without loss (docs/chunks.md, docs/decisions/069).

A chunk is a resource of its type, a context a named graph, a list an RDF list. A name has its
mapped IRI, by the graph or by a mapping file, unless another name would be read from it: then it
is written under the base.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import quote, unquote

import pyoxigraph as ox

from kiprdf.arguments import mapping_of
from kiprdf.chunks.graph import Graph
from kiprdf.chunks.model import Chunk, ChunksError, Date, Name, Text, is_name, items, to_value
from kiprdf.chunks.parser import parse_chunk
from kiprdf.chunks.printer import value_text
from kiprdf.chunks.vocabulary import Vocabulary

if TYPE_CHECKING:
    from kiprdf.arguments import MappingSources
    from kiprdf.interchange.mapping.contexts import Mapping

BASE = "urn:chunks:"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TYPE, _FIRST, _REST, _NIL = (
    ox.NamedNode(f"{_RDF}{name}") for name in ("type", "first", "rest", "nil")
)
_INTEGER, _DOUBLE, _DATE, _DATE_TIME, _MONTH, _ANY_IRI = (
    ox.NamedNode(f"{_XSD}{name}")
    for name in ("integer", "double", "date", "dateTime", "gYearMonth", "anyURI")
)
_DATES = (_DATE, _DATE_TIME, _MONTH)
_NOTATION = ox.NamedNode(f"{BASE}notation")
"""The datatype of values with an operator, and of times without seconds."""
_GIVEN_ID = re.compile(r"_:([0-9]+)")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_SAFE_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._\-/:#%~?=&+]*")
_RESERVED = {"@subject": f"{_RDF}subject", "@object": f"{_RDF}object"}
_STRUCTURE = (_TYPE.value, _FIRST.value, _REST.value)
_MAP = Name("@rdfmap")

_Node: TypeAlias = ox.NamedNode | ox.BlankNode


class _Names:
    """The IRIs of names, and the names of IRIs.

    ``owner`` is the type of the chunk if the name is that of a property: a mapping file may
    define the attributes of each type apart.
    """

    def __init__(
        self, base: str, vocabulary: Vocabulary, mapping: Mapping | None, maps: set[str]
    ) -> None:
        self._base = base
        self._vocabulary = vocabulary
        self._mapping = mapping
        self._maps = maps
        self._of_iri = {iri: name for name, iri in _RESERVED.items()}
        for name in vocabulary.names:
            self._of_iri.setdefault(vocabulary.iri(name) or "", name)

    def node(self, name: str, owner: str | None = None) -> _Node:
        """The IRI or blank node of a name."""
        if given := _GIVEN_ID.fullmatch(name):
            return ox.BlankNode(given[1])
        iri = None if name in self._maps else self._iri(name, owner)
        if iri is not None and iri not in _STRUCTURE and self.name(iri, owner) == name:
            try:
                return ox.NamedNode(iri)
            except ValueError:
                pass  # A mapping may be no IRI at all.
        return self.plain(name)

    def plain(self, name: str) -> ox.NamedNode:
        """The IRI of a name under the base, mapped or not."""
        is_written = is_name(name.removeprefix("@"))
        return ox.NamedNode(self._base + (name if is_written else quote(name, safe="")))

    def name(self, iri: str, owner: str | None = None) -> str:
        """The name that is read from an IRI."""
        if iri.startswith(self._base):
            name = iri.removeprefix(self._base)
            return name if "://" in name else unquote(name)
        if iri in self._of_iri:
            return self._of_iri[iri]
        for name in self._candidates(iri, owner):
            if is_name(name) and self._iri(name, owner) == iri:
                return name
        return iri

    def _iri(self, name: str, owner: str | None) -> str | None:
        """The IRI of a name by the graph's maps, else by the files, else under ``@base``."""
        if name[0] in "@*":
            return _RESERVED.get(name)
        return (
            self._vocabulary.declared(name)
            or self._in_files(name, owner)
            or self._vocabulary.under_base(name)
        )

    def _in_files(self, name: str, owner: str | None) -> str | None:
        if self._mapping is None:
            return None
        if owner is None:
            type = self._mapping.concept_type(name)
            return None if type is None else type.value
        term = self._mapping.attribute(name, owner)
        return None if term is None else term.iri.value

    def _candidates(self, iri: str, owner: str | None) -> Iterator[str]:
        """Names that may have an IRI."""
        if self._mapping is not None:
            if owner is None:
                name = self._mapping.type_of(iri)
                yield from () if name is None else (name,)
            else:
                yield from (name for name, _ in self._mapping.attributes_of(iri, owner))
        for prefix, namespace in (("", self._vocabulary.base), *self._vocabulary.prefixes.items()):
            if namespace and iri.startswith(namespace):
                rest = iri.removeprefix(namespace)
                yield f"{prefix}:{rest}" if prefix else rest


# Writing --------------------------------------------------------------------------------------


def to_rdf(graph: Graph, *, base: str = BASE, mapping: MappingSources = None) -> str:
    """A graph as Turtle, or as TriG if chunks have contexts.

    Names have the IRIs of ``graph.iri``, or of a ``mapping``: the name of a pack, a path, a JSON-LD
    context, or several of these. Others begin with ``base``. Raises ``ChunksError`` for a base that
    is not an IRI, ``KipError`` for a mapping that is not valid.

    >>> print(to_rdf(Graph("dog dog1 {age 4}")).expandtabs(4), end="")
    @prefix : <urn:chunks:> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    :dog1 a :dog ;
        :age 4 .
    """
    files = mapping_of(mapping)
    try:
        names = _Names(base, graph.vocabulary, files, _cited_by_maps(graph))
        quads = list(_quads(graph, names))
        has_contexts = any(quad.graph_name != ox.DefaultGraph() for quad in quads)
        format = ox.RdfFormat.TRIG if has_contexts else ox.RdfFormat.TURTLE
        items: Any = quads if has_contexts else (quad.triple for quad in quads)
        own = graph.vocabulary.prefixes
        prefixes = _prefixes(base, own if files is None else {**files.prefixes, **own})
        text = cast(bytes, ox.serialize(items, format=format, prefixes=prefixes))
        return _with_sorted_prefixes(text.decode())
    except ValueError as error:
        raise ChunksError(f"The graph cannot be written with the base {base!r}: {error}") from None


def _prefixes(base: str, namespaces: dict[str, str]) -> dict[str, str]:
    """The prefixes of the text; those of the graph may not be possible in Turtle."""
    prefixes = {"rdf": _RDF, "xsd": _XSD}
    for prefix, namespace in namespaces.items():
        if _PREFIX.fullmatch(prefix) and _SAFE_IRI.fullmatch(namespace):
            prefixes[prefix] = namespace
    return {**prefixes, "": base}


def _with_sorted_prefixes(text: str) -> str:
    """The serializer writes the prefixes in random order."""
    lines = text.split("\n")
    count = next(place for place, line in enumerate(lines) if not line.startswith("@prefix"))
    return "\n".join([*sorted(lines[:count]), *lines[count:]])


def _cited_by_maps(graph: Graph) -> set[str]:
    """The chunks that are read before names are known: maps, and the prefixes that they cite."""
    maps = graph.of_type(_MAP)
    cited = {str(name) for chunk in maps for name in items(chunk.get("@prefix", ()))}
    return cited | {str(chunk.id) for chunk in maps}


def _quads(graph: Graph, names: _Names) -> Iterator[ox.Quad]:
    numbers = itertools.count()
    plain = _cited_by_maps(graph)
    for chunk in graph:
        assert chunk.id is not None
        context = chunk.get("@context")
        graph_name: Any = ox.DefaultGraph()
        if isinstance(context, Name) and not isinstance(context, Date):
            graph_name = names.node(context)
        yield from _chunk_quads(chunk, graph_name, names, chunk.id in plain, numbers)


def _chunk_quads(
    chunk: Chunk, graph_name: Any, names: _Names, is_plain: bool, numbers: Iterator[int]
) -> Iterator[ox.Quad]:
    """The triples of a chunk, then those of its lists."""
    subject: Any = names.node(chunk.id or "")
    lists: list[ox.Quad] = []
    yield ox.Quad(subject, _TYPE, names.node(chunk.type), graph_name)
    for name, value in chunk.properties.items():
        if name == "@context" and graph_name != ox.DefaultGraph():
            continue
        predicate = names.plain(name) if is_plain else names.node(name, chunk.type)
        if isinstance(predicate, ox.BlankNode):
            predicate = names.plain(name)
        terms = [_term(item, names, is_plain) for item in items(value)]
        if len(terms) > 1:
            nodes: list[Any] = [ox.BlankNode(f"list{next(numbers)}") for _ in terms]
            for node, term, rest in zip(nodes, terms, [*nodes[1:], _NIL], strict=True):
                lists.append(ox.Quad(node, _FIRST, term, graph_name))
                lists.append(ox.Quad(node, _REST, rest, graph_name))
            terms = list(nodes)
        yield ox.Quad(subject, predicate, terms[0], graph_name)
    yield from lists


def _term(value: Any, names: _Names, is_plain: bool) -> Any:
    """An atomic value as an RDF term."""
    match value:
        case bool():
            return ox.Literal(value)
        case int():
            return ox.Literal(str(value), datatype=_INTEGER)
        case float():
            lexical = repr(value) if math.isfinite(value) else repr(value).upper()
            return ox.Literal(lexical, datatype=_DOUBLE)
        case Text():
            return ox.Literal(str(value))
        case Date():
            return ox.Literal(str(value), datatype=_date_type(value))
        case Name():
            if is_plain and "://" in value:
                return ox.Literal(str(value), datatype=_ANY_IRI)
            is_given = _GIVEN_ID.fullmatch(value)
            return names.plain(value) if is_plain and not is_given else names.node(value)
    return ox.Literal(value_text(value), datatype=_NOTATION)


def _date_type(date: Date) -> ox.NamedNode:
    if date.parts["hour"] is not None:
        return _DATE_TIME if date.parts["second"] is not None else _NOTATION
    return _MONTH if date.day is None else _DATE


# Reading --------------------------------------------------------------------------------------


def from_rdf(text: str, *, mapping: MappingSources = None) -> Graph:
    """The graph that ``to_rdf`` wrote with the same ``mapping``.

    The base is the namespace of the empty prefix. Resources of other RDF become chunks, too, if
    their IRIs can be names. Raises ``ChunksError`` with the place for a text that is not Turtle or
    TriG, ``KipError`` for a mapping that is not valid.

    >>> from_rdf("@prefix : <urn:chunks:> . :dog1 a :dog ; :age 4 .")["dog1"]
    Chunk('dog', {Name('age'): 4}, id='dog1')
    """
    files = mapping_of(mapping)
    try:
        parser = ox.parse(text, format=ox.RdfFormat.TRIG)
        quads = list(parser)
        return _Reader(quads, parser.prefixes.get("", BASE), files).graph()
    except SyntaxError as error:
        message = f"This is not Turtle or TriG: {error.msg.split(': ', 1)[-1]}."
        raise ChunksError(message, line=error.lineno, column=error.offset) from None
    except ValueError as error:
        raise ChunksError(f"The RDF text cannot be read: {error}") from None


class _Resource:
    """The triples of one subject."""

    def __init__(self, graph_name: Any) -> None:
        self.graph_name = graph_name
        self.type: Any = None
        self.properties: dict[str, Any] = {}


class _Reader:
    """The resources of a dataset, which become chunks in their order."""

    def __init__(self, quads: list[ox.Quad], base: str, mapping: Mapping | None) -> None:
        self._base = base
        self._mapping = mapping
        self._resources: dict[Any, _Resource] = {}
        self._lists: dict[Any, dict[str, Any]] = {}
        for quad in quads:
            if quad.predicate in (_FIRST, _REST):
                self._lists.setdefault(quad.subject, {})[quad.predicate.value] = quad.object
                continue
            resource = self._resources.setdefault(quad.subject, _Resource(quad.graph_name))
            if quad.predicate == _TYPE:
                resource.type = quad.object
            else:
                resource.properties[quad.predicate.value] = quad.object

    def graph(self) -> Graph:
        maps = {
            subject: resource
            for subject, resource in self._resources.items()
            if resource.type == ox.NamedNode(f"{self._base}{_MAP}")
        }
        names = _Names(self._base, Vocabulary((), lambda id: None), None, set())
        map_chunks = [self._chunk(*item, names) for item in maps.items()]
        prefixes = {id for chunk in map_chunks for id in items(chunk.get("@prefix", ()))}
        nodes = {id: names.node(id) for id in prefixes if isinstance(id, Name)}
        cited: dict[str, Chunk] = {
            id: self._chunk(node, self._resources[node], names)
            for id, node in nodes.items()
            if node in self._resources
        }
        vocabulary = Vocabulary(map_chunks, lambda id: cited.get(id))
        mapped = _Names(self._base, vocabulary, self._mapping, set())
        chunks = []
        for subject, resource in self._resources.items():
            is_plain = subject in maps or subject in nodes.values()
            chunks.append(self._chunk(subject, resource, names if is_plain else mapped))
            if is_plain:
                type = self._value(resource.type, mapped)
                chunks[-1] = chunks[-1].with_(type=type)
        return Graph(chunks)

    def _chunk(self, subject: Any, resource: _Resource, names: _Names) -> Chunk:
        type = Name("thing") if resource.type is None else self._name(resource.type, names)
        properties: dict[str, Any] = {}
        if resource.graph_name != ox.DefaultGraph():
            properties["@context"] = self._name(resource.graph_name, names)
        for iri, term in resource.properties.items():
            properties[Name(names.name(iri, type))] = self._value(term, names)
        return Chunk(type, properties, id=self._name(subject, names))

    def _name(self, node: Any, names: _Names) -> Name:
        if isinstance(node, ox.BlankNode):
            return Name(f"_:{node.value}")
        if isinstance(node, ox.NamedNode):
            return Name(names.name(node.value))
        raise ChunksError(f"{node} is not a name.")

    def _value(self, term: Any, names: _Names) -> Any:
        if term in self._lists:
            return [self._atom(item, names) for item in self._list(term)]
        return self._atom(term, names)

    def _list(self, node: Any) -> Iterator[Any]:
        visited = set()
        while node != _NIL:
            parts = self._lists.get(node, {})
            if node in visited or len(parts) < 2:
                raise ChunksError("A list of the RDF text is not complete.")
            visited.add(node)
            yield parts[_FIRST.value]
            node = parts[_REST.value]

    def _atom(self, term: Any, names: _Names) -> Any:
        if not isinstance(term, ox.Literal):
            return self._name(term, names)
        lexical = term.value
        if term.datatype == _INTEGER:
            return int(lexical)
        if term.datatype.value in (f"{_XSD}double", f"{_XSD}decimal", f"{_XSD}float"):
            return float(lexical)
        if term.datatype.value == f"{_XSD}boolean":
            return lexical in ("true", "1")
        if term.datatype in _DATES:
            return to_value(lexical)
        if term.datatype == _ANY_IRI:
            return to_value(lexical)
        if term.datatype == _NOTATION:
            return parse_chunk(f"a {{a {lexical}}}")["a"]
        return Text(lexical)
