"""Names for blank nodes, by what is said of them and never by a parser's label.

The same file gives the same names. A name is a skolem IRI (RDF 1.1 Concepts 3.5), so that the rest
of an import knows IRIs only.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.importing.foreign import Items, Object, Statement, text_of

SKOLEM = "urn:kip:blank/"
"""What the IRI of a named blank node begins with."""
ROUNDS = 24
"""How far away a difference between two blank nodes may lie to tell them apart."""
WORK = 200_000
"""How many statements of a component are read again to tell apart what looks the same."""

_DIGITS = 32

Part = str | BlankNode


def is_blank(node: NamedNode) -> bool:
    """Whether a node was a blank node."""
    return node.value.startswith(SKOLEM)


def blank_names(statements: Iterable[Statement]) -> dict[BlankNode, NamedNode]:
    """An IRI for each blank node, made of everything that is said about and around it.

    Blank nodes that nothing tells apart are numbered: in a way that no order of the statements
    changes where they are symmetric, by their first appearance where the work is too much.
    """
    told: dict[BlankNode, list[list[Part]]] = defaultdict(list)
    for statement in statements:
        parts = list(_parts(statement))
        for blank in dict.fromkeys(part for part in parts if isinstance(part, BlankNode)):
            told[blank].append(parts)
    names: dict[BlankNode, NamedNode] = {}
    twins: Counter[str] = Counter()
    for component in _components(told):
        colours = _Component(component, told).colours()
        signature = _digest(*sorted(colours.values()))
        number = twins[signature]
        twins[signature] += 1
        for blank, colour in colours.items():
            digest = _digest(colour, str(number)) if number else colour
            names[blank] = NamedNode(SKOLEM + digest)
    return names


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:_DIGITS]


def _parts(term: Object) -> Iterator[Part]:
    """The text of a term, with its blank nodes as they are."""
    if isinstance(term, BlankNode):
        yield term
    elif isinstance(term, Statement):
        for part in (term.subject, term.predicate, term.object):
            yield " "
            yield from _parts(part)
    elif isinstance(term, Items):
        yield "("
        for item in term.terms:
            yield " "
            yield from _parts(item)
        yield ")"
    else:
        yield text_of(term)


def _components(told: dict[BlankNode, list[list[Part]]]) -> Iterator[list[BlankNode]]:
    """Blank nodes that hang together, in order of appearance."""
    places = {blank: place for place, blank in enumerate(told)}
    seen: set[BlankNode] = set()
    for start in told:
        if start in seen:
            continue
        seen.add(start)
        component, pending = [], [start]
        while pending:
            blank = pending.pop()
            component.append(blank)
            for part in (part for parts in told[blank] for part in parts):
                if isinstance(part, BlankNode) and part not in seen:
                    seen.add(part)
                    pending.append(part)
        yield sorted(component, key=places.__getitem__)


class _Component:
    """Colour refinement: a blank node's colour is what its statements say, colours among it."""

    def __init__(self, blanks: list[BlankNode], told: dict[BlankNode, list[list[Part]]]) -> None:
        self._blanks = blanks
        self._told = told
        self._size = sum(len(told[blank]) for blank in blanks)
        self._work = 0
        self._colours = dict.fromkeys(blanks, "")

    def colours(self) -> dict[BlankNode, str]:
        """A colour for each blank node, no two the same."""
        self._refine()
        while (tied := self._tied()) and self._work < WORK:
            # Where the tied are symmetric, it makes no difference which one is the first.
            self._colours[tied[0]] = _digest(self._colours[tied[0]], "first")
            self._refine()
        seen: Counter[str] = Counter()
        for blank in self._blanks:
            colour = self._colours[blank]
            seen[colour] += 1
            if seen[colour] > 1:
                self._colours[blank] = _digest(colour, str(seen[colour]))
        return self._colours

    def _tied(self) -> list[BlankNode]:
        """The blank nodes of the first colour that several have."""
        by_colour: dict[str, list[BlankNode]] = defaultdict(list)
        for blank in self._blanks:
            by_colour[self._colours[blank]].append(blank)
        tied = [colour for colour, blanks in by_colour.items() if len(blanks) > 1]
        return by_colour[min(tied)] if tied else []

    def _refine(self) -> None:
        """Until no colour splits any more."""
        count = len(set(self._colours.values()))
        for _ in range(ROUNDS):
            self._work += self._size
            self._colours = {blank: self._colour(blank) for blank in self._blanks}
            before, count = count, len(set(self._colours.values()))
            if count == before:
                return

    def _colour(self, blank: BlankNode) -> str:
        said = ("".join(self._shown(part, blank) for part in parts) for parts in self._told[blank])
        return _digest(self._colours[blank], *sorted(said))

    def _shown(self, part: Part, blank: BlankNode) -> str:
        if isinstance(part, str):
            return part
        return "_:self" if part == blank else f"_:{self._colours[part]}"
