"""Finds the notes that answer a query, and what they state (docs/decisions/137)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, datetime
from functools import cache, cached_property
from itertools import compress, groupby, islice, takewhile
from typing import cast
from unicodedata import category

from pyoxigraph import NamedNode

from kiprdf import collector
from kiprdf.budget import spend_half, without_limit
from kiprdf.errors import KipError
from kiprdf.execution.support import MENTIONS, STATES
from kiprdf.memory import context, texts
from kiprdf.memory.evidence import newest_first
from kiprdf.memory.graph import ITEM, Believed, Graph
from kiprdf.memory.items import Edge, Hit, Item, comparable
from kiprdf.memory.recalled import NO_NOTES, Recall, RecalledNote, excerpt, shown
from kiprdf.memory.tables import Names, Notes
from kiprdf.meta.search import Question
from kiprdf.prompt import quoted
from kiprdf.rdf import vocab
from kiprdf.search import (
    EXACT,
    NoWordError,
    asked_tokens,
    embedders,
    matches,
    means,
    tokens_of,
)
from kiprdf.search.dates import Period, period, without_period
from kiprdf.search.embedders import Embedder
from kiprdf.search.words import Word
from kiprdf.semantics.arguments import Mode

LIMIT = 10
MAX_FACTS = 20
"""The most edges of the entities that a query names."""
LEAST = 0.2
"""The least cosine with which a note without a word of the query is found."""
NEXT, SECOND, PREVIOUS = 0.4, 0.2, 0.1
"""The part of a note's score that the next note in its session gets, the one after that, with which
its speaker often goes on, and the one before it."""
IN_SESSION = 0.3
"""The part of the mean of the best notes of its session that a note gets."""
IN_PERIOD, NAMED = 0.2, 0.1
"""What a note of the time, or with an entity, that the query names gets."""
_HIGHEST = (1 + NEXT + SECOND + PREVIOUS) * (1 + IN_SESSION) + IN_PERIOD + NAMED
BECAUSE = ("words", "meaning", "time", "session", "entity")
MOST_NOTES = 3
"""The notes whose facts a context shows."""
_RANKED, _OF_SESSIONS = 200, 100
"""The best notes of a ranking that are looked at, that lift those beside them, and that are lifted
by their sessions."""
_READ_AT_ONCE = 100
_COMPARED = 10_000
"""Characters of a note in which all words of a query are looked for."""
_NEARLY_BEST = 0.8
"""The part of the best score that a note with all words has at least."""
_VECTOR_SECONDS = 2
"""The most time of a recall for vectors that are missing."""
_MOST_EMBEDDED = 0.9
"""The part of the notes that have vectors, below which a recall is by words."""
_MOST_STATING = 1_000


@dataclass(frozen=True)
class Filters:
    """Which notes are asked for; times are ISO 8601 in UTC, ``tags`` are all required."""

    since: str | None = None
    until: str | None = None
    tags: frozenset[str] = frozenset()
    session: str | None = None

    @classmethod
    def of(cls, since: object, until: object, tags: object, session: object) -> Filters:
        """The filters of a recall; ``ValueError`` for invalid arguments."""
        if isinstance(tags, str | Mapping) or not isinstance(tags, Iterable):
            raise ValueError("tags is a list of texts.")
        tags = frozenset(tags)
        if not all(isinstance(tag, str) for tag in tags):
            raise ValueError("tags is a list of texts.")
        if session is not None and not isinstance(session, str):
            raise ValueError("session is a text.")
        if isinstance(until, str) and re.fullmatch(r"\d{4}-?\d\d-?\d\d", until):
            until += "T23:59:59.999999"  # the whole day
        first, last = (
            None if time is None else comparable(texts.iso_time(time)) for time in (since, until)
        )
        return cls(first, last, tags, session)

    def prepare(self, notes: Notes) -> None:
        """Read what ``admits`` needs."""
        notes.refresh()
        if self.since is not None or self.until is not None:
            notes.read_times()
        if self.session is not None:
            notes.read_session(self.session)

    def admits(self, key: str, notes: Notes) -> bool:
        """Whether a note passes all but the tags."""
        moment = notes.moments.get(key, "")
        return (
            (self.since is None or moment >= self.since)
            and (self.until is None or moment <= self.until)
            and (self.session is None or notes.session_of.get(key) == self.session)
        )

    @cached_property
    def names(self) -> str:
        """The names of the filters that are given."""
        given = {"since": self.since, "until": self.until, "tags": self.tags}
        names = [name for name, value in given.items() if value]
        return " and ".join([*names, *(["session"] if self.session is not None else [])])


def count(value: object, name: str) -> int:
    """A number that bounds a recall; ``ValueError`` for other values."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} is a number from 0.")
    return value


@dataclass
class _Question:
    """A query with what is asked for, and the scores of the notes, by words and by meaning."""

    text: str
    limit: int
    filters: Filters
    reasons: list[str] = field(default_factory=list)
    searched: list[Word] = field(default_factory=list)
    words: dict[str, float] = field(default_factory=dict)
    meaning: set[str] = field(default_factory=set)
    scores: dict[str, float] = field(default_factory=dict)
    excluded: int = 0
    is_searched: bool = True
    """False where the time of the request ended before."""
    span: Period | None = None
    is_only_span: bool = False

    @cached_property
    def tokens(self) -> frozenset[str]:
        return asked_tokens(self.text)

    @cached_property
    def forms(self) -> list[frozenset[str]]:
        """The forms of each word that was searched."""
        return [frozenset(filter(None, (e.token, *e.stems, e.base))) for e in self.searched]

    @cached_property
    def pieces(self) -> list[str]:
        """What may be the name of a session."""
        return self.text.split()

    def is_whole_in(self, item: Item) -> bool:
        """Whether a note has all words."""
        tokens = tokens_of(f"{item.speaker or ''} {item.content[:_COMPARED]}")
        return not any(map(tokens.isdisjoint, self.forms))


class Recaller:
    """Answers queries from the notes of a graph, with tables that it keeps."""

    def __init__(self, graph: Graph, clock: Callable[[], datetime]) -> None:
        self._graph, self._clock = graph, clock
        self._store, self._indexer = graph.nexus.store, graph.nexus.index
        self.notes, self.names = Notes(graph), Names(graph)

    def with_words(self, text: str) -> Iterator[NamedNode]:
        """The best three notes that have a word of a text."""
        tokens = asked_tokens(text)
        asked = Question("concept", text, ITEM, limit=MOST_NOTES)
        hits = self._indexer.rankings(asked).words.hits if tokens else ()
        self.notes.refresh()
        believed = self._graph.believed()
        for hit in hits:
            item = None if hit.key in believed.notes else self.notes.item(hit.key)
            if item is not None and matches(item.content, tokens):
                yield NamedNode(hit.key)

    def recall(self, query: object, limit: int, filters: Filters, max_chars: int) -> Recall:
        """The answer to a query."""
        text = query if isinstance(query, str) else ""
        question = _Question(text[: context.LONGEST_QUERY], limit, filters)
        if len(text) > context.LONGEST_QUERY:
            question.reasons.append(
                f"Only the first {context.LONGEST_QUERY} characters of the query were read."
            )
        with suppress(OverflowError, ValueError):  # a time outside of the calendar
            question.span = period(question.text, self._clock())
        searched = question.text
        if question.span is not None:
            searched, question.is_only_span = without_period(searched)
        if searched and self._graph.is_ready:
            self._rank(question, searched)

        # The time of the request bounds the search; the tables serve the next recall, too.
        def answer() -> Recall:
            return collector.paused(lambda: self._answer(question, max_chars))

        return without_limit(lambda: self._store.read(answer))

    @cached_property
    def _installed(self) -> Embedder | None:
        """The embedder of the extra ``semantic``, for a nexus that was opened without one."""
        return _embedder() if embedders.is_installed() else None

    def _rank(self, question: _Question, searched: str) -> None:
        """Rank all notes: by words, and by meaning where that is possible; a date has none."""
        embedder = self._installed
        is_hybrid = embedder is not None or "hybrid" in self._indexer.modes
        mode: Mode = "hybrid" if is_hybrid and not question.is_only_span else "keyword"
        most = None if question.filters.names else _RANKED
        asked = Question("concept", searched, ITEM, mode, most, _VECTOR_SECONDS, LEAST)
        try:
            rankings = spend_half(lambda: self._indexer.rankings(asked, embedder))
        except NoWordError:
            self._rank_symbols(question, searched.strip())
            return
        except KipError as error:
            if error.code != "KIP_4001":
                raise
            question.reasons.append(f"{error.message} {error.hint}".strip())
            question.is_searched = False
            return
        ranked, by_meaning, warnings = rankings
        words, meaning = ranked.sums, by_meaning.cosines if by_meaning else None
        if by_meaning and words and by_meaning.embedded < _MOST_EMBEDDED * by_meaning.total:
            # A note with a vector would be before a better one that has none yet.
            meaning = None
        if most is None:
            filters = question.filters
            without_limit(lambda: self._store.read(lambda: filters.prepare(self.notes)))
            admitted = [key for key in words if filters.admits(key, self.notes)]
            question.excluded = len(words) - len(admitted)
            count = len(admitted) if filters.tags else _RANKED
            words = {key: words[key] for key in admitted[:count]}
            meaning = meaning and {
                key: meaning[key] for key in meaning if filters.admits(key, self.notes)
            }
        for warning in warnings:
            is_left_out = meaning is None and warning.name == "UnfinishedIndex"
            head = warning.message.partition(";")[0]
            question.reasons.append(
                f"{head}: these notes are by words." if is_left_out else warning.message
            )
        question.searched, question.words = ranked.words, words
        near = dict[str, float]()
        if meaning:
            near = {key: of for key, of in meaning.items() if of >= LEAST or key in words}
            least = next(iter(near.values()), 0.0) / 2
            question.meaning = {key for key, of in near.items() if of >= least}
        # Of a mean, words alone are a half.
        whole = 1.0 if near or question.is_only_span else 2.0
        if question.span is not None and ranked.near:
            self.notes.refresh()
            best = self.notes.item(next(iter(words))) if words else None
            if best is not None and not matches(best.content, asked_tokens(searched)):
                whole *= IN_PERIOD / 2  # a note of the time is before one with a near word only
        exact = [*takewhile(lambda key: words[key] >= EXACT, words)]
        others = {key: words[key] for key in islice(words, len(exact), None)} if exact else words
        question.scores = means(others, near, whole) | dict.fromkeys(exact, 1.0)

    def _rank_symbols(self, question: _Question, symbols: str) -> None:
        """Rank the notes that have symbols, such as an emoji, which are no words of the index."""
        command = (
            "FIND(?m.id) WHERE { ?m {type: :type} FILTER(CONTAINS(?m.attributes.content, :text)) }"
            f" LIMIT {_RANKED}"
        )
        is_asked = any(category(character).startswith("S") for character in symbols)
        ids = self._graph.column(command, type=ITEM, text=symbols) if is_asked else []
        nodes = filter(None, map(self._store.iris.from_id, ids))
        question.words = dict.fromkeys((node.value for node in nodes), 1.0)
        question.scores = dict(question.words)

    def _answer(self, question: _Question, max_chars: int) -> Recall:
        question.filters.prepare(self.notes)
        self.names.refresh()
        believed = self._graph.believed()
        unbelieved = question.scores.keys() & believed.notes
        for key in unbelieved:
            del question.scores[key]
        if unbelieved:
            what = "note is" if len(unbelieved) == 1 else "notes are"
            question.reasons.append(f"{len(unbelieved)} {what} of the query, but not believed.")
        asked = context.ask(self._graph, self.names, question.text, believed)
        scores, because = self._scores(question, asked, believed)
        chosen, reasons = self._chosen(question, scores)
        edges: dict[NamedNode, Edge | None] = {}
        relations: dict[str, context.Relation] = {}

        def facts_of(links: Iterable[NamedNode]) -> list[Edge]:
            listed = list(links)
            for link in listed:
                if link not in edges:
                    stored = context.stored_edge(self._graph, self.names, link, believed)
                    edges[link] = None if stored is None else stored[0]
                    if stored is not None:
                        relations[stored[0].id] = stored[1]
            read = [edge for link in listed if (edge := edges[link]) is not None]
            return newest_first(read) if len(read) > 1 else read

        notes = [
            RecalledNote(
                item,
                round(scores[node.value] / _HIGHEST, 6),
                excerpt(item.content, lambda: question.tokens),
                tuple(facts_of(self._graph.stated_links(node))),
                self._reasons(question, node.value, item, because),
            )
            for node, item in chosen
        ]
        # What an entity has may be from outside of a filter.
        of_entities = () if question.filters.names else asked.relations
        best = sorted(of_entities, key=context.relation_order)[:MAX_FACTS]
        facts = facts_of(relation.link for relation in best)
        every = {edge.id: edge for edge in (*facts, *(e for note in notes for e in note.facts))}
        facts = newest_first(every.values())
        entities = [
            Hit(node.entity, match.score)
            for match in asked.matches[:MAX_FACTS]
            if (node := self._graph.read_entity(match.named.node)) is not None
        ]
        return Recall(
            tuple(notes),
            tuple(entities),
            tuple(facts),
            tuple(reasons),
            lambda edge: context.relation_line(relations[edge.id], shown),
            max_chars,
        )

    # Scores -----------------------------------------------------------------------------------

    def _scores(
        self, question: _Question, asked: context.Asked, believed: Believed
    ) -> tuple[dict[str, float], dict[str, set[str]]]:
        """The scores of all notes that may be answers, and those that something else than the query
        lifted."""
        own, scores, notes = question.scores, dict(question.scores), self.notes
        of_time, stating = set[str](), set[str]()
        best = _best(own, _RANKED)
        notes.read(best)
        values = [*map(own.__getitem__, best)]
        next_ones = [*map(notes.after.get, best)]
        second_ones = [key and notes.after.get(key) for key in next_ones]
        previous_ones = map(notes.before.get, best)
        for beside, part in ((previous_ones, PREVIOUS), (next_ones, NEXT), (second_ones, SECOND)):
            for key, value in zip(beside, values, strict=True):
                if key is not None:
                    scores[key] = scores.get(key, 0.0) + part * value
        self._lift_by_sessions(scores, values)
        if question.span is not None:
            notes.read_times()
            # The year of an open end is none in UTC, where the clock has another zone.
            start, end = (
                comparable(texts.iso_time(moment))
                if MINYEAR < moment.year < MAXYEAR
                else moment.isoformat()
                for moment in question.span
            )
            by = 1.0 if question.is_only_span else IN_PERIOD
            of_time = {key for key, moment in notes.moments.items() if start <= moment < end}
            for key in of_time:
                scores[key] = scores.get(key, 0.0) + by
        for node in self._stating(asked):
            stating.add(node.value)
            scores[node.value] = scores.get(node.value, 0.0) + NAMED
        for key in scores.keys() & believed.notes:
            del scores[key]
        return scores, {"time": of_time, "entity": stating}

    def _lift_by_sessions(self, scores: dict[str, float], own: Sequence[float]) -> None:
        """Give the best notes a part of the scores of the other best notes of their sessions.

        ``own`` are the highest scores before those beside them lifted any.
        """
        least = own[_OF_SESSIONS - 1] if len(own) >= _OF_SESSIONS else 0.0
        best = _best({key: of for key, of in scores.items() if of >= least}, _OF_SESSIONS)
        sessions = [*map(self.notes.session_of.get, best)]
        sums, counts = dict.fromkeys(sessions, 0.0), dict.fromkeys(sessions, 0)
        for key, session in zip(best, sessions, strict=True):
            if counts[session] < MOST_NOTES:
                counts[session] += 1
                sums[session] += scores[key]
        sums[None] = 0.0
        part = IN_SESSION / MOST_NOTES
        for key, session in zip(best, sessions, strict=True):
            scores[key] += part * sums[session]

    def _stating(self, asked: context.Asked) -> set[NamedNode]:
        """The notes that state or mention an entity whose whole name is in the query."""
        whole = {match.named.node for match in asked.matches if match.is_whole}
        whole.discard(self._graph.user_node())
        ends: list[tuple[str, NamedNode]] = [(MENTIONS, node) for node in whole]
        ends += [
            (STATES, each.link)
            for each in asked.relations
            if whole.intersection((each.subject.node, each.object.node))
        ]
        of = self._store.iris.predicate
        triples = (t for name, end in ends for t in self._store.match(None, of(name), end))
        return {cast(NamedNode, triple.subject) for triple in islice(triples, _MOST_STATING)}

    def _chosen(
        self, question: _Question, scores: dict[str, float]
    ) -> tuple[list[tuple[NamedNode, Item]], list[str]]:
        """The best notes that pass the filters, and why they are fewer than asked."""
        filters, chosen = question.filters, list[tuple[NamedNode, Item]]()
        left = self._best_first(scores)
        if filters.names:
            left = (key for key in left if filters.admits(key, self.notes))
        excluded = question.excluded
        while len(chosen) < question.limit:
            count = _READ_AT_ONCE if filters.tags else question.limit - len(chosen)
            nodes = [NamedNode(key) for key in islice(left, count)]
            if not nodes:
                break
            self._store.prefetch(nodes)
            for node in nodes:
                item = self.notes.item(node.value) if len(chosen) < question.limit else None
                if item is None:
                    continue
                if filters.tags.issubset(item.tags):
                    chosen.append((node, item))
                else:
                    excluded += node.value in question.scores
        reasons = [*question.reasons, *self._lacks(question, len(chosen), excluded)]
        return _with_all_words_first(question, chosen, scores), reasons

    def _best_first(self, scores: dict[str, float]) -> Iterator[str]:
        """The notes by score; of equal ones, the newest is first, then the one with the first key.

        A set may have brought them: its order differs between two processes.
        """
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)
        for _, group in groupby(ranked, key=scores.__getitem__):
            equal = list(group)
            if len(equal) > 1:
                self.notes.read(equal)
                equal.sort()
                equal.sort(key=lambda key: self.notes.place(key)[:2], reverse=True)
            yield from equal

    def _lacks(self, question: _Question, number: int, excluded: int) -> Iterator[str]:
        """Why there are fewer notes than asked."""
        filters = question.filters
        if number >= question.limit:
            if not question.limit:
                yield "The limit is 0."
            return
        item = self._store.iris.type(ITEM)
        if not number and next(self._store.match(None, vocab.TYPE, item), None) is None:
            yield NO_NOTES
            return
        if filters.session is not None and not self.notes.sessions.get(filters.session):
            yield f"No note has the session {quoted(filters.session)}."
        if not question.tokens and not question.scores:
            yield "The query has no word to search for."
        elif excluded:
            matching = f"{excluded} {'other ' * (number > 0)}note{'s' * (excluded > 1)}"
            yield f"{matching} matched, but not the filter: {filters.names}."
        elif not number and question.is_searched:
            has = "is of the time" if question.is_only_span else "has a word"
            yield f"No note {has} of the query."
        elif number:
            yield f"Only {number} note{'s' * (number > 1)} matched."

    def _reasons(
        self, question: _Question, key: str, item: Item, because: dict[str, set[str]]
    ) -> tuple[str, ...]:
        """Why a note is among the best."""
        is_by_words, own = key in question.words, question.scores
        is_of = (
            is_by_words,
            key in question.meaning or (key in own and not is_by_words),
            key in because["time"],
            question.filters.session is not None
            or item.session in question.pieces
            or self._is_lifted(key, own),
            key in because["entity"],
        )
        return tuple(compress(BECAUSE, is_of))

    def _is_lifted(self, key: str, own: dict[str, float]) -> bool:
        """Whether a note has a third of its score, or more, from the notes beside it."""
        before, after = self.notes.before, self.notes.after
        previous = before.get(key, "")
        by = NEXT * own.get(previous, 0.0) + SECOND * own.get(before.get(previous, ""), 0.0)
        by += PREVIOUS * own.get(after.get(key, ""), 0.0)
        return by > 0 and 2 * by >= own.get(key, 0.0)


def _best(scores: dict[str, float], count: int) -> list[str]:
    """What has the highest scores; of so few, sorting is faster than a heap."""
    return sorted(scores, key=scores.__getitem__, reverse=True)[:count]


def _with_all_words_first(
    question: _Question, notes: Iterable[tuple[NamedNode, Item]], scores: dict[str, float]
) -> list[tuple[NamedNode, Item]]:
    """The notes in their order; but one that has all words of the query is before those that have
    not, and are higher only because of what is beside them."""
    own, ordered = question.scores, list[tuple[NamedNode, Item]]()
    least = _NEARLY_BEST * max(own.values(), default=0.0)
    for node, item in notes:
        score, at = own.get(node.value, 0.0), len(ordered)
        while score >= least and at and own.get(ordered[at - 1][0].value, 0.0) < score:
            at -= 1
        if at < len(ordered) and question.is_whole_in(item):
            while at < len(ordered) and question.is_whole_in(ordered[at][1]):
                at += 1
            scores[node.value] = max(
                scores[each.value] for each, _ in [*ordered[at:], (node, item)]
            )
            ordered.insert(at, (node, item))
        else:
            ordered.append((node, item))
    return ordered


@cache
def _embedder() -> Embedder:
    """One for all memories; its model is loaded when it is first used."""
    return embedders.wordllama()
