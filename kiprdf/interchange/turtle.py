"""Turtle snapshots, written and read (RDF 1.2 Turtle, docs/mapping.md).

Same dataset, same bytes: subjects are sorted by kind, then IRI, predicates and objects likewise,
one triple a line, only the prefixes in use. There are no blank nodes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal as OneOf
from typing import TypeAlias, cast, get_args

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf

from kiprdf.errors import KipError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, base_fault
from kiprdf.rdf.literals import normal
from kiprdf.rdf.reification import from_rdf11, to_rdf11
from kiprdf.source import NOWHERE, Span

Profile: TypeAlias = OneOf["rdf11", "rdf12"]
FORMAT = 1
NESTING = 100
"""How deep brackets may nest in a Turtle text; the parser crashes far beyond."""

_ENGINE_KEYS = frozenset(
    NamedNode(vocab.METADATA + key) for key in (vocab.VERSION, vocab.CREATED_AT, vocab.UPDATED_AT)
)
_HEADER = re.compile(r"# kiprdf (\d{1,9}) base <([^>\n]*)>\r?\n?")
_PREFIX_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# A part of PN_LOCAL that every parser reads; other names are written as whole IRIs.
_LOCAL_NAME = re.compile(
    r"[A-Za-z0-9_\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]"
    r"[A-Za-z0-9_\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3-]*"
)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff]')


def write(
    triples: Iterable[Triple], base: str, profile: Profile = "rdf11", engine_metadata: bool = True
) -> str:
    """A dataset as Turtle text.

    ``rdf11``: a proposition is an ``rdf:Statement``. ``rdf12``: ``s p o ~ <link> .``. The first
    line names the format and the base, by which ``read`` knows them.
    """
    if profile not in get_args(Profile):
        message = f"There is no Turtle profile {profile!r}."
        raise KipError("KIP_1001", message, 'The profiles are "rdf11" and "rdf12".')
    return _Writer(triples, base, profile, engine_metadata).text()


class _Writer:
    def __init__(
        self, triples: Iterable[Triple], base: str, profile: Profile, engine_metadata: bool
    ) -> None:
        self._iris = Iris(base)
        self._profile = profile
        self._links: dict[Triple, NamedNode] = {}
        self._by_subject: dict[NamedNode, list[Triple]] = defaultdict(list)
        self._types: set[str] = set()
        self._used: dict[str, str] = {}
        for triple in triples:
            self._sort_in(triple, engine_metadata)
        self._prefixes = self._all_prefixes()

    def _sort_in(self, triple: Triple, engine_metadata: bool) -> None:
        if triple.predicate in _ENGINE_KEYS and not engine_metadata:
            return
        subject = cast(NamedNode, triple.subject)
        if triple.predicate == vocab.REIFIES:
            fact = cast(Triple, triple.object)
            self._links[fact] = subject
            # The key is there even if the link has no other triple.
            self._by_subject[subject].extend(
                to_rdf11(subject, fact)[1:] if self._profile == "rdf11" else ()
            )
            return
        self._by_subject[subject].append(triple)
        name = self._iris.name(subject.value)
        if isinstance(name, ConceptName):
            self._types.add(name.type)

    def _all_prefixes(self) -> list[tuple[str, str]]:
        """Namespaces, longest first; each concept type is its own prefix."""
        fixed = vocab.prefixes(self._iris.base)
        typed = {
            name: f"{self._iris.base}{name}/"
            for name in self._types
            if name not in fixed and _PREFIX_NAME.fullmatch(name)
        }
        named = {**typed, **fixed}
        return sorted(((iri, name) for name, iri in named.items()), key=lambda p: -len(p[0]))

    def text(self) -> str:
        subjects = sorted(self._by_subject, key=self._rank)
        blocks = [block for subject in subjects if (block := self._block(subject))]
        header = f"# kiprdf {FORMAT} base <{self._iris.base}>\n"
        declared = "".join(
            f"@prefix {name}: <{iri}> .\n" for name, iri in sorted(self._used.items())
        )
        return header + declared + "".join(f"\n{block}" for block in blocks)

    def _rank(self, node: NamedNode) -> tuple[int, str]:
        """Definitions, then concepts, then propositions."""
        name = self._iris.name(node.value)
        if not isinstance(name, ConceptName):
            return (2, node.value)
        return (0 if name.type.startswith("$") else 1, node.value)

    def _block(self, subject: NamedNode) -> str:
        triples = sorted(self._by_subject[subject], key=self._place)
        if not triples:
            return ""
        # One triple a line, each closed alike: a fact that comes or goes touches no other line.
        lines = [f"    {self._verb(t)} {self._object(t)} ;\n" for t in triples]
        return f"{self._iri(subject)} {''.join(lines).lstrip()}.\n"

    def _verb(self, triple: Triple) -> str:
        return "a" if triple.predicate == vocab.TYPE else self._iri(triple.predicate)

    def _place(self, triple: Triple) -> tuple[int, str, str]:
        """Type and label, the parts of a statement, attributes, metadata, facts."""
        predicate = triple.predicate.value
        order = (vocab.RDF, vocab.RDFS, vocab.ATTRIBUTE, vocab.METADATA)
        rank = next((i for i, space in enumerate(order) if predicate.startswith(space)), len(order))
        if triple.predicate == vocab.TYPE:
            rank = -1
        return rank, _STATEMENT_ORDER.get(predicate, predicate), str(triple.object)

    def _object(self, triple: Triple) -> str:
        shown = self._term(cast(NamedNode | Literal, triple.object))
        if self._profile == "rdf12" and triple in self._links:
            return f"{shown} ~ {self._iri(self._links[triple])}"
        return shown

    def _term(self, term: NamedNode | Literal) -> str:
        if isinstance(term, NamedNode):
            return self._iri(term)
        term = cast(Literal, normal(term))
        if term.datatype in (vocab.INTEGER, vocab.BOOLEAN):
            return term.value
        quoted = '"' + _ESCAPED.sub(_escape, term.value) + '"'
        if term.language is not None:
            direction = f"--{_direction(term)}" if term.direction is not None else ""
            return f"{quoted}@{term.language}{direction}"
        return quoted if term.datatype == vocab.STRING else f"{quoted}^^{self._iri(term.datatype)}"

    def _iri(self, node: NamedNode) -> str:
        for namespace, name in self._prefixes:
            if node.value.startswith(namespace):
                local = node.value[len(namespace) :]
                if _LOCAL_NAME.fullmatch(local):
                    self._used[name] = namespace
                    return f"{name}:{local}"
        return f"<{node.value}>"


_PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
"""The parts of a statement, in the order in which people read them."""
_STATEMENT_ORDER = {part.value: f"{vocab.RDF}{number}" for number, part in enumerate(_PARTS)}


def _direction(literal: Literal) -> str:
    return str(literal.direction).rsplit(".", maxsplit=1)[-1].lower()


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"


# Reading --------------------------------------------------------------------------------------


def read(text: str, base: str, source_base: str | None = None) -> list[Triple]:
    """The triples of a snapshot in either profile, as the store holds them, under a base.

    The base of the snapshot is that of its first line, or ``source_base``. Raises KIP_1001 with
    line and column for a text that is no Turtle, KIP_4002 for one that nests too deeply.
    """
    text = text.removeprefix("\ufeff")
    origin = _origin(text, source_base)
    _check_nesting(text)
    if not text.isascii() and _LONE_SURROGATE.search(text):
        message = "The text holds a lone surrogate, which is no character."
        raise KipError("KIP_1001", message, "Read the file as UTF-8.")
    try:
        quads = parse_rdf(text, format=RdfFormat.TURTLE)
        triples = [_rebased(quad.triple, origin, base) for quad in quads]
    except SyntaxError as fault:
        reason = fault.msg.split(": ", 1)[-1].rstrip(".")
        span = _place(text, fault.lineno, fault.offset)
        message = f"The text is no Turtle: {reason}."
        raise KipError("KIP_1001", message, "Check the file at this place.", span, text) from None
    return list(dict.fromkeys(_reified(triples)))


def _place(text: str, line: int | None, column: int | None) -> Span:
    """Where a line and a column, counted from 1, are in a text."""
    if line is None:
        return NOWHERE
    start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + (column or 1) - 1
    return Span(start, start + 1)


def _origin(text: str, source_base: str | None) -> str:
    match = _HEADER.match(text)
    if match is not None and int(match.group(1)) > FORMAT:
        message = f"The snapshot has format {match.group(1)}; this kiprdf reads {FORMAT}."
        raise KipError("KIP_1001", message, "Use a newer kiprdf.")
    origin = source_base or (match.group(2) if match else None)
    if origin is None:
        message = "The Turtle does not begin with the line '# kiprdf 1 base <…>'."
        raise KipError("KIP_1001", message, "Give base_iri, the base of its IRIs.")
    fault = base_fault(origin)
    if fault is not None:
        raise KipError("KIP_1001", f"The base <{origin}> {fault}.", "Correct the base.")
    return origin


# Strings that are not closed are tokens too, or each quote in them would be tried in vain.
_BRACKETS = re.compile(
    r'"""(?:"{0,2}(?:[^"\\]|\\.))*(?:"""|\Z)|\'\'\'(?:\'{0,2}(?:[^\'\\]|\\.))*(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]|\\.)*(?:"|$)|\'(?:[^\'\\\n]|\\.)*(?:\'|$)'
    r'|<[^<>"{}|^`\s]*>|\#[^\n]*|<<\(?|\)?>>|[][(){}]',
    re.DOTALL | re.MULTILINE,
)


def _check_nesting(text: str) -> None:
    depth = 0
    for match in _BRACKETS.finditer(text):
        token = match.group()
        if token in ("<<", "<<(", "(", "[", "{"):
            depth += 1
        elif token in (">>", ")>>", ")", "]", "}"):
            depth -= 1
        if depth > NESTING:
            message = f"The Turtle nests deeper than {NESTING} brackets."
            raise KipError("KIP_4002", message, "A snapshot nests nothing.")


def _rebased(triple: Triple, origin: str, base: str) -> Triple:
    """A triple with the IRIs of one base moved to another, and doubles in our form."""

    def moved(term: object) -> object:
        if isinstance(term, NamedNode):
            rest = term.value.removeprefix(origin)
            return term if rest == term.value else NamedNode(base + rest)
        if isinstance(term, Literal):
            return normal(term)
        return _rebased(term, origin, base) if isinstance(term, Triple) else term

    parts = (triple.subject, triple.predicate, triple.object)
    return Triple(*map(moved, parts))  # type: ignore[arg-type]


def _reified(triples: list[Triple]) -> Iterator[Triple]:
    """Every ``rdf:Statement`` becomes the reifying triple that it stands for."""
    links = {triple.subject for triple in triples if triple.object == vocab.STATEMENT}
    facts: dict[object, dict[NamedNode, list[object]]] = {
        link: {part: [] for part in _PARTS} for link in sorted(links, key=str)
    }
    for triple in triples:
        if triple.subject not in links:
            yield triple
        elif triple.predicate in _PARTS:
            facts[triple.subject][triple.predicate].append(triple.object)
        elif triple.object != vocab.STATEMENT:
            yield triple
    for link, parts in facts.items():
        ends = {part: found[0] for part, found in parts.items() if len(found) == 1}
        nodes = (link, *ends.values())
        if len(ends) < len(_PARTS) or not all(isinstance(n, NamedNode) for n in nodes):
            message = f"{link} has not exactly one rdf:subject, rdf:predicate and rdf:object."
            raise KipError("KIP_2002", message, "A statement stands for one fact, by IRIs.")
        yield from_rdf11(cast(NamedNode, link), cast(dict[NamedNode, NamedNode], ends))
