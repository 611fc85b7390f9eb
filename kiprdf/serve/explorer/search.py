"""What a search finds: elements by the words of their names and texts, each with where it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.meta.counts import concepts_by_type, total
from kiprdf.meta.search import Question, strings
from kiprdf.pages.page import View, count, name, render
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, read_element
from kiprdf.search.ranking import NoWordError
from kiprdf.search.words import asked_tokens, matches
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.state import number_of
from kiprdf.store.totals import kind

PATH = "explore/"
PAGE = 25
"""The hits of a page."""
CHIPS = 12
"""The types that a search can be limited to, the most frequent ones."""
SECONDS = 2.0
"""How long a page waits for the index."""
FACTS = "$facts"
"""What is asked for in place of a type, for the facts that match."""
_BEFORE, _AFTER = 60, 140
"""Characters of a text around the first word that matches."""
_WORD = re.compile(r"(\w+)")


class Asked(NamedTuple):
    """A search as its address has it."""

    term: str
    type: str = ""
    """A concept type, or ``FACTS``; empty for concepts of all types."""
    first: int = 0

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """What the fields ``q``, ``type`` and ``first`` say."""
        first = number_of(query.get("first", "")) or 0
        return cls(query.get("q", ""), query.get("type", ""), first)


def results(explorer: Explorer, asked: Asked) -> str:
    """What a search finds, without a page around it."""
    return (
        render("explorer/results.html", results=hits(explorer, asked)) if asked.term.strip() else ""
    )


def hits(explorer: Explorer, asked: Asked) -> View:
    """A page of the hits, or a note that says why there are none."""
    page = explorer.page(PATH, q=asked.term, type=asked.type)
    view: View = {"note": None, "hits": [], "chips": [], "pager": None, "is_building": False}
    reasons = explorer.nexus.beliefs.view().reasons
    try:
        with explorer.nexus.limited(timeout_s=SECONDS):
            ranked = explorer.nexus.request(lambda: _ranked(explorer, asked.term, reasons))
    except KipError as error:
        if error.code != "KIP_4001":
            return {**view, "note": error.message}
        return {**view, "note": _progress(explorer), "is_building": True}
    if ranked is None:
        return {**view, "note": "The search contains no word, and is no name."}
    concepts, facts, warnings = ranked
    iris = explorer.store.iris
    types = Counter(kind(iris, node.value) for node in concepts)
    chosen = facts if asked.type == FACTS else concepts
    if asked.type not in ("", FACTS):
        chosen = [node for node in chosen if kind(iris, node.value) == asked.type]
    first = asked.first if asked.first < len(chosen) else 0
    shown = chosen[first : first + PAGE]
    tokens = asked_tokens(asked.term)
    one = "fact" if asked.type == FACTS else "concept"
    nothing = [] if chosen else [f"No {one} matches “{name(asked.term)}”."]
    return {
        **view,
        "note": " ".join([*nothing, *warnings]) or None,
        "hits": [
            {**_hit(explorer, page, node, tokens), "unbelieved": reasons.get(node)}
            for node in shown
        ],
        "number": count(len(chosen), one),
        "chips": _chips(page, asked, types, len(concepts), len(facts)),
        "pager": page.pager(first, PAGE, len(chosen)),
    }


def _progress(explorer: Explorer) -> str:
    """How far the index is, of which a search waits."""
    store, missing = explorer.store, explorer.nexus.index.missing()
    number = concepts_by_type(store).total() + total(store, vocab.REIFIES)
    part = f", {100 * max(0, number - missing) // number} %" if missing else ""
    return f"Building the index{part}. The search goes on when it is ready."


def _ranked(
    explorer: Explorer, term: str, unbelieved: Container[NamedNode]
) -> tuple[list[NamedNode], list[NamedNode], Iterable[str]] | None:
    """The concepts and the facts that match, best first, and where other words were searched.

    What is not believed is last. None for a term without a word.
    """
    index = explorer.nexus.index
    warnings: dict[str, None] = {}

    def ranked(question: Question) -> list[NamedNode]:
        rankings = index.rankings(question)
        warnings.update(dict.fromkeys(warning.message for warning in rankings.warnings))
        nodes = (NamedNode(hit.key) for hit in rankings.words.hits)
        return sorted(nodes, key=lambda node: node in unbelieved)

    try:
        concepts = ranked(Question("concept", term, limit=None))
        return concepts, ranked(Question("proposition", term, limit=None)), warnings
    except NoWordError:
        return None


def _chips(
    page: ExplorerPage, asked: Asked, types: Counter[str], concepts: int, facts: int
) -> list[View]:
    """The types that were found with their numbers, and the facts."""
    numbers = [("", "All", concepts), *((one, one, n) for one, n in types.most_common(CHIPS))]
    if facts:
        numbers.append((FACTS, "Facts", facts))
    return [
        {
            "text": text,
            "number": f"{number:,}",
            "href": page.address(PATH, q=asked.term, type=type_),
            "is_chosen": type_ == asked.type,
        }
        for type_, text, number in numbers
    ]


def _hit(explorer: Explorer, page: ExplorerPage, node: NamedNode, tokens: frozenset[str]) -> View:
    """An element, its name with the words that match, and the text in which others do."""
    store = explorer.store
    element = read_element(store.iris, node, store.statements(node))
    link = explorer.link(page, store.iris.id(node))
    is_fact = isinstance(element, Proposition)
    view: View = {"link": link, "type": "" if is_fact else kind(store.iris, node.value)}
    view["name"] = None if is_fact or "name" not in link else _marked(link["name"], tokens)
    view["about"] = [] if element is None else _snippet(element, tokens)
    return view


def _snippet(element: Element, tokens: frozenset[str]) -> Sequence[tuple[str, bool]]:
    """The part of a text of an element where a word matches, or the beginning of what it is."""
    texts = {key: strings(term) for key, term in sorted(element.attributes.items())}
    for key, some in texts.items():
        for text in some:
            place = next(_matching(text, tokens), None)
            if place is not None:
                begin = max(0, place - _BEFORE)
                part = text[begin : place + _AFTER]
                start = "…" if begin else ""
                end = "…" if place + _AFTER < len(text) else ""
                lead = "" if key == "description" else f"{key.replace('_', ' ')}: "
                return [(lead + start, False), *_marked(part, tokens), (end, False)]
    about = next(iter(texts.get("description", ())), "")
    return [(about if len(about) <= 2 * _AFTER else f"{about[: 2 * _AFTER]}…", False)]


def _matching(text: str, tokens: frozenset[str]) -> Iterator[int]:
    """Where the words of a text begin that match."""
    return (word.start() for word in _WORD.finditer(text) if _matches(word[0], tokens))


def _marked(text: str, tokens: frozenset[str]) -> list[tuple[str, bool]]:
    """The pieces of a text, and whether each is a word that matches."""
    pieces = _WORD.split(text)
    return [(piece, bool(at % 2) and _matches(piece, tokens)) for at, piece in enumerate(pieces)]


@lru_cache(maxsize=20_000)
def _matches(word: str, tokens: frozenset[str]) -> bool:
    # Finding the stems of a word takes long, and most words begin otherwise.
    begin = word[:1].casefold()
    is_plain = begin.isascii() and word.isascii()
    if is_plain and not any(token.rpartition("_")[2][:1] == begin for token in tokens):
        return False
    return matches(word, tokens)
