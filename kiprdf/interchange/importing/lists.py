"""``rdf:List`` cells gathered into one value each (RDF Schema 5.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from pyoxigraph import BlankNode, NamedNode

from kiprdf.budget import check, paced
from kiprdf.interchange.importing.foreign import (
    Items,
    Node,
    Object,
    Statement,
    replaced_in,
)
from kiprdf.rdf import vocab

LIST = NamedNode(vocab.RDF + "List")
"""The class of cells, which says nothing more."""
NESTING = 60
"""How deep lists may nest in lists: an attribute's value nests to 64."""
_SOME = 256
"""How many cells are read between two looks at the clock."""
BROKEN = "it belongs to a list that is not well-formed, or nests too deep"
"""Why the statements of other cells are skipped."""


def gather(statements: Iterable[Statement]) -> tuple[dict[Statement, Statement], list[Statement]]:
    """Each statement that is no cell, with what it is when lists are values; other cells.

    A list is well-formed when each cell has one ``rdf:first``, one ``rdf:rest`` and nothing else,
    is referred to once, and the last is followed by ``rdf:nil``. So it is a tree, and reading it
    takes linear time.
    """
    found = list(statements)
    cells = _cells(found)
    lists: dict[Node, Object] = {vocab.NIL: Items(())}
    consumed: set[Node] = set()
    for statement in paced(found):
        head = statement.object
        if statement.predicate in (vocab.FIRST, vocab.REST):
            continue
        if isinstance(head, NamedNode | BlankNode) and head in cells:
            own: set[Node] = set()
            items = _items(head, cells, own, NESTING)
            if items is not None:
                lists[head] = items
                consumed |= own
    kept = {s: replaced_in(s, lists) for s in paced(found) if not _is_cell_part(s, cells)}
    return kept, [s for s in paced(found) if _is_cell_part(s, cells) and s.subject not in consumed]


def _is_cell_part(statement: Statement, cells: dict[Node, dict[NamedNode, Object]]) -> bool:
    is_part = statement.predicate in (vocab.FIRST, vocab.REST) or statement.object == LIST
    return is_part or statement.subject in cells


def _cells(statements: list[Statement]) -> dict[Node, dict[NamedNode, Object]]:
    """The well-formed cells: their ``rdf:first`` and ``rdf:rest``."""
    said: dict[Node, list[Statement]] = defaultdict(list)
    referred: Counter[Object] = Counter()
    for statement in paced(statements):
        said[statement.subject].append(statement)
        if isinstance(statement.object, NamedNode | BlankNode):
            referred[statement.object] += 1
    return {
        node: {s.predicate: s.object for s in own}
        for node, own in paced(said.items())
        if referred[node] == 1 and _is_cell(own)
    }


def _is_cell(own: list[Statement]) -> bool:
    told = [s.predicate for s in own if (s.predicate, s.object) != (vocab.TYPE, LIST)]
    return sorted(told, key=str) == [vocab.FIRST, vocab.REST]


def _items(
    head: Object, cells: dict[Node, dict[NamedNode, Object]], seen: set[Node], depth: int
) -> Items | None:
    """The items behind a cell, None when it does not end well; ``seen`` gets its cells."""
    items: list[Object] = []
    while head != vocab.NIL:
        if not isinstance(head, NamedNode | BlankNode) or head not in cells or depth == 0:
            return None
        seen.add(head)
        if not len(seen) % _SOME:
            check()
        item: Object | None = cells[head][vocab.FIRST]
        if isinstance(item, NamedNode | BlankNode) and (item in cells or item == vocab.NIL):
            item = _items(item, cells, seen, depth - 1)
        if item is None:
            return None
        items.append(item)
        head = cells[head][vocab.REST]
    return Items(tuple(items))
