"""SEARCH by words, by meaning or both, and the rows of the index (KIP 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from pyoxigraph import NamedNode

from kiprdf.budget import Budget, current, spend_half, spend_part
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, KipWarning
from kiprdf.kql.reader import Reader
from kiprdf.language import ast
from kiprdf.loading import lazy_logger
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import (
    Concept,
    Element,
    Proposition,
    Term,
    Terms,
    read_element,
    read_object,
)
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, to_json
from kiprdf.search import Hit, IndexRow, Kind, NoWordError, TextIndex
from kiprdf.search.embedders import INSTALL, EmbeddingError
from kiprdf.search.fusion import fuse
from kiprdf.search.index import is_exact
from kiprdf.search.ranking import LONGEST_TERM, RankedRows
from kiprdf.search.rows import KINDS
from kiprdf.semantics.arguments import Mode, page_size, search_mode, text_of, threshold
from kiprdf.semantics.protected import is_rejection
from kiprdf.store import Store
from kiprdf.store.cancellation import run_cancellable

if TYPE_CHECKING:
    from kiprdf.search.semantic import Ranking, RowsOf, SemanticIndex

MOST_HITS = 100
READ_AT_ONCE = 500
"""The elements that are read ahead for the rows of the index."""
ALL_HITS = 1_000_000
FUSED_WORDS, FUSED_HITS = 300, 1000
"""The hits by words and by meaning that a hybrid search merges; far more than it returns, since an
element in the middle of both rankings may beat one at the top of one."""
_MICRO = 1_000_000
"""A score is rounded to millionths, and stays below 1."""

_BELOW_EXACT = 1 - 2 / _MICRO

Meaning = Callable[[], "Semantic"]
"""Returns the semantic index, which is opened when it is first needed."""
_log = lazy_logger(__name__)


@dataclass(frozen=True, slots=True)
class Semantic:
    """A semantic index, and what it reads."""

    ranks: SemanticIndex
    index: TextIndex
    rows_of: RowsOf


class Question(NamedTuple):
    """What a SEARCH asks for, in any mode; without a limit, all that matches.

    ``seconds`` bounds the time for vectors that are missing, besides half of the time that is left.
    Rows that are not among those by words may be left out if their cosine is less than ``least``.
    """

    kind: Kind
    term: str
    type: str | None = None
    mode: Mode = "keyword"
    limit: int | None = MOST_HITS
    seconds: float | None = None
    least: float = 0.0


class Hits(NamedTuple):
    """The hits of a SEARCH, and what keeps them from being those of its mode."""

    elements: list[Json]
    warnings: tuple[KipWarning, ...] = ()


def search(
    command: ast.Search, store: Store, index: TextIndex, meaning: Meaning | None = None
) -> Hits:
    """The elements that match a term best, each with ``metadata._score`` in [0, 1).

    Without ``meaning``, or when it fails, every mode degrades to keyword, and a warning says so.
    Raises KIP_1001 for a term that has no word and is not a name.
    """
    mode = search_mode(command.mode)
    term = text_of(command.term, "The term of SEARCH")
    type = None if command.type is None else text_of(command.type, "The type of SEARCH")
    limit = min(page_size(command.limit) or MOST_HITS, MOST_HITS)
    try:
        hits, warnings = rank(Question(kind_of(command), term, type, mode, limit), index, meaning)
    except NoWordError:
        message = "The term of SEARCH contains no word, and is no name."
        hint = "Search for a name, an alias or a word of a description."
        raise KipError("KIP_1001", message, hint, command.term.span) from None
    least = threshold(command.threshold) or 0.0
    scored = ((NamedNode(hit.key), _rounded(hit.score)) for hit in hits)
    objects = (
        (read_object(store.iris, node, store.statements(node)), score)
        for node, score in scored
        if score >= least
    )
    # Beside a writer, the index may contain elements that a read-only nexus does not see.
    return Hits([_hit(shown, score) for shown, score in objects if shown is not None], warnings)


class Rankings(NamedTuple):
    """The rows by words, those by meaning if the mode asks for them, None where it cannot be
    served, and the warnings."""

    words: RankedRows
    meaning: Ranking | None
    warnings: tuple[KipWarning, ...] = ()


def rank(
    question: Question, index: TextIndex, meaning: Meaning | None = None
) -> tuple[list[Hit], tuple[KipWarning, ...]]:
    """The best hits of a mode, or those by words if the mode cannot be served (KIP 5.2).

    In every mode those come first whose name or alias is the term.
    """
    limit = ALL_HITS if question.limit is None else question.limit
    by_words, by_meaning, warnings = rankings(question, index, meaning)
    words = by_words.hits
    if by_meaning is None:
        return words[:limit], warnings
    hits = by_meaning.hits
    exact = {hit.key: hit for hit in words if is_exact(hit)}
    if question.mode == "hybrid":
        hits = fuse(words[len(exact) :], hits, limit + len(exact))
    if not exact:
        return hits[:limit], warnings
    others = (Hit(key, min(score, _BELOW_EXACT)) for key, score in hits if key not in exact)
    return [*exact.values(), *others][:limit], warnings


def rankings(question: Question, index: TextIndex, meaning: Meaning | None = None) -> Rankings:
    """The two rankings of a mode, apart."""
    kind, term, type, mode, limit = question[:5]
    limit = ALL_HITS if limit is None else limit
    words = index.find(kind, term, type, max(FUSED_WORDS, limit) if mode == "hybrid" else limit)
    warnings = _searched(words)
    if mode == "keyword":
        return Rankings(words, None, warnings)
    if meaning is None:
        why = _by_words(mode, "there is no embedder", _NO_EMBEDDER)
        return Rankings(words, None, (why, *warnings))
    semantic = meaning()
    fault = _prepared(semantic, question)
    is_whole = mode == "semantic" or question.limit is None
    most = limit if is_whole else FUSED_HITS
    others = words.sums if question.least else ()
    ranking = semantic.ranks.rank(index, kind, term, type, most, question.least, others)
    if ranking is None or ranking.embedded == 0 < ranking.total:
        why = _by_words(mode, fault or "the embedder took too long", _REPEAT)
        return Rankings(words, None, (why, *warnings))
    if ranking.embedded < ranking.total:
        warnings = (_unfinished(question, ranking, fault), *warnings)
    return Rankings(words, ranking, warnings)


def _prepared(semantic: Semantic, question: Question) -> str | None:
    """Embed the term and elements that have no vectors; how the embedder failed, if it did.

    It runs on a separate thread, since an embedder cannot be cancelled. When its share of the
    time is over the thread is abandoned; the vectors that the embedder returns later are stored.
    """
    kind, term, type = question.kind, question.term, question.type

    def prepare() -> None:
        semantic.ranks.prepare(semantic.index, semantic.rows_of, kind, term, type)

    def run() -> None:
        context = copy_context()  # the deadline, and whether an embedder is running
        run_cancellable(lambda _: context.run(prepare), current())

    try:
        if semantic.ranks.is_ready(semantic.index, kind, term, type):
            prepare()
        else:
            share = Budget(timeout_s=question.seconds)
            spend_half(lambda: spend_part(share, run))
    except EmbeddingError as fault:
        _log.warning("The embedder failed: %s", fault)
        return f"the embedder failed ({fault})"
    except KipError as error:
        # The share of the time is over, or too many such threads still wait for an embedder.
        if error.code not in ("KIP_4001", "KIP_4002"):
            raise
    return None


_NO_EMBEDDER = f"Open the nexus with an embedder; this installs one: {INSTALL}"
_REPEAT = "Repeat the search later; `kiprdf embed` computes all vectors."


def _searched(ranked: RankedRows) -> tuple[KipWarning, ...]:
    """Warnings that other words were searched than those of the term."""
    warnings = [
        KipWarning(
            "NearMiss",
            f"No element has the word {word!r}: {' and '.join(map(repr, near))} was searched.",
            "If the word is right, nothing of it is stored.",
        )
        for word, near in ranked.near.items()
    ]
    if ranked.is_cut:
        message = f"The term is long: only its first {LONGEST_TERM} words were searched."
        warnings.append(KipWarning("LongTerm", message, "Ask for less at once."))
    return tuple(warnings)


def _by_words(mode: Mode, reason: str, hint: str) -> KipWarning:
    message = f"MODE {mode} was not available, because {reason}: these hits are by words."
    return KipWarning("SearchedByWords", message, hint)


def _unfinished(question: Question, ranking: Ranking, fault: str | None) -> KipWarning:
    elements = f"{question.kind}s" if question.type is None else f"elements of {question.type}"
    message = (
        f"{ranking.embedded} of {ranking.total} {elements} have vectors; MODE {question.mode} "
        f"compared only these{f', because {fault}' if fault else ''}."
    )
    return KipWarning("UnfinishedIndex", message, _REPEAT)


def _rounded(score: float) -> float:
    """A score as it is returned, and compared with a THRESHOLD."""
    return min(round(score * _MICRO), _MICRO - 1) / _MICRO


def _hit(shown: dict[str, Json], score: float) -> Json:
    shown.setdefault("metadata", {})["_score"] = score
    return shown


def index_rows(store: Store, nodes: Iterable[NamedNode]) -> Iterator[IndexRow]:
    """The index rows of the nodes that are elements, but no rejections."""
    rows = _Rows(store)
    remaining = iter(nodes)
    while some := list(islice(remaining, READ_AT_ONCE)):
        store.prefetch(some)
        for node in some:
            element = read_element(store.iris, node, store.statements(node), None)
            if isinstance(element, Concept) and is_rejection(element.type, element.name):
                continue
            if element is not None:
                yield rows.of(element)


def all_elements(store: Store, kinds: Iterable[Kind] = KINDS) -> Iterator[NamedNode]:
    """Every concept and every proposition of a store."""
    for kind in kinds:
        predicate = vocab.TYPE if kind == "concept" else vocab.REIFIES
        for triple in store.match(None, predicate, None):
            yield cast(NamedNode, triple.subject)


def kind_of(command: ast.Search) -> Kind:
    """The kind of elements that a SEARCH finds."""
    return "concept" if command.kind == "CONCEPT" else "proposition"


class _Rows:
    """Converts elements to rows, without their metadata; but former names are aliases."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = Reader(store)
        self._descriptions: dict[str, str] = {}

    def of(self, element: Element) -> IndexRow:
        """The row of an element."""
        attributes = element.attributes
        if isinstance(element, Proposition):
            predicate = element.predicate
            return IndexRow(
                key=element.node.value,
                kind="proposition",
                type=predicate,
                name=predicate,
                aliases=(self._end_name(element.subject), self._end_name(element.object)),
                description=self._description(predicate),
                text=_text(attributes, description=True),
            )
        # MERGE adds the name to the aliases, but a later write may remove it.
        merged = strings(element.metadata.get(vocab.MERGED_FROM))
        former = (name.partition(":")[2] for name in merged)
        return IndexRow(
            key=element.node.value,
            kind="concept",
            type=element.type,
            name=element.name,
            aliases=tuple(dict.fromkeys([*strings(attributes.get("aliases")), *former])),
            description=" ".join(strings(attributes.get("description"))),
            text=_text(attributes),
            content=_content_of(element.name, attributes),
        )

    def _end_name(self, node: NamedNode) -> str:
        """The name of an endpoint; for a proposition, its predicate."""
        name = self._store.iris.name(node.value)
        assert name is not None, node
        return name.name if isinstance(name, ConceptName) else name.predicate

    def _description(self, predicate: str) -> str:
        """The description of a predicate, read once."""
        if predicate not in self._descriptions:
            node = self._store.iris.predicate(predicate)
            text = self._reader.value(node, "attributes", "description")
            self._descriptions[predicate] = text if isinstance(text, str) else ""
        return self._descriptions[predicate]


def _text(attributes: Terms, description: bool = False) -> str:
    """The strings of all other attributes, joined."""
    skipped = () if description else ("aliases", "description")
    values = (strings(attributes[key]) for key in sorted(attributes) if key not in skipped)
    return "\n".join(text for strings in values for text in strings)


def _content_of(name: str, attributes: Terms) -> str:
    """The ``content`` of an element and its ``speaker``, with its name unless that is an id."""
    content = strings(attributes.get("content"))
    is_id = " " not in name and any(map(str.isdecimal, name))
    head = [*([] if is_id else [name]), *strings(attributes.get("speaker"))]
    return "\n".join([*head, *content]) if content else ""


def strings(term: Term | None) -> list[str]:
    """All strings in a value, also inside arrays and objects."""
    return [] if term is None else list(_strings_in(to_json(term)))


def _strings_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings_in(item)
