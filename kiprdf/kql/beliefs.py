"""What is believed: elements that are neither draft, deprecated, retracted nor superseded, and that
are valid at a time (docs/decisions/180).

``believed`` marks a FIND. ``Beliefs`` finds the elements that are not believed by index; a ``View``
has these, and all facts that have one of them as an end, directly or through other facts. A FIND is
compiled with a condition for each pattern that could match one, and reads a ``BelievedStore``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Triple, Variable

from kiprdf.budget import without_row_limit
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.kql.comparisons import (
    BELIEVED,
    OPERATORS,
    TESTS,
    LiteralOperand,
    ValueOperand,
    covering,
    equal,
)
from kiprdf.kql.queries import select
from kiprdf.kql.reader import Reader, link_of
from kiprdf.language import ast, parse
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_term
from kiprdf.rdf.readings import read
from kiprdf.semantics import periods
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import BGP, Condition, Filter, Pattern, Select, TriplePattern
from kiprdf.store import NexusStore, Store, Written
from kiprdf.store.base import Tests

if TYPE_CHECKING:
    from kiprdf.kql.entailment import Clusters, Rules, Sight

MARK = "// Believed "
"""What the first line of a marked command begins with: it is believed now, or at a time."""
_LINE = re.compile(rf"{MARK}(?:now|at (\S+))\n")
STATUSES = ("draft", "deprecated", "retracted")
SUPERSEDED, NOT_VALID, END = "superseded", "not valid at that time", "about what is not believed"
"""Why an element is not believed, besides its status."""
_STATUS, _SUPERSEDED, _SUPERSEDED_BY, _FROM, _UNTIL = (
    vocab.metadata(key)
    for key in ("status", SUPERSEDED, "superseded_by", periods.VALID_FROM, periods.VALID_UNTIL)
)
_PERIOD_FROM, _PERIOD_UNTIL = (
    NamedNode(vocab.ATTRIBUTE + key) for key in (periods.FROM, periods.UNTIL)
)
_KEYS = {_STATUS, _SUPERSEDED, _SUPERSEDED_BY, _FROM, _UNTIL, _PERIOD_FROM, _PERIOD_UNTIL}
_X, _VALUE = Variable("x"), Variable("value")
_OPEN, _TRUE = Literal(periods.OPEN), to_term(True)
_LAST = ":"
"""After every time."""
MOST_VIEWS = 4
MOST_NAMED = 2_000
"""Facts of a predicate that a query names."""
ALWAYS = "always"
"""The time of a view for which validity has no meaning."""


def believed(command: str, *, at: str | date | None = None) -> str:
    """A FIND that sees only what is believed ``at`` a time, else when it runs.

    Each pattern, also in OPTIONAL, NOT and UNION, matches only elements and ends that are not
    ``draft``, ``deprecated``, ``retracted`` or superseded, and that are valid. The result is the
    command after a line, which every call and request of a nexus understands; another engine reads
    a comment. Raises ``KipError``: KIP_1001 for another command, and for what is not a time.

    >>> print(believed('FIND(?d.name) WHERE { ?d {type: "Drug"} }', at="2026-03-01"))
    // Believed at 2026-03-01T00:00:00Z
    FIND(?d.name) WHERE { ?d {type: "Drug"} }
    """
    refuse_marked(command)
    parsed = parse(command)
    if not isinstance(parsed, ast.Find):
        raise not_a_find(parsed).in_source(command)
    return marked(command, at)


def marked(command: str, at: object = None) -> str:
    """A command with the line of ``believed``."""
    time = "now" if at is None else f"at {periods.instant(at, 'at')}"
    return f"{MARK}{time}\n{command}"


class Moment(NamedTuple):
    """When something is believed, and how its view is named in cursors."""

    at: str
    name: str = ""


def unmarked(command: str, now: datetime) -> tuple[str, Moment]:
    """A marked command without its line, and the moment that it is asked for."""
    line = _LINE.match(command)
    if line is None:
        message = "The first line is not one that `believed` writes."
        raise KipError("KIP_1001", message, "Write `// Believed now`, or leave it out.")
    at = _time(now) if line[1] is None else periods.instant(line[1], "at")
    return command[line.end() :], Moment(at, line[0])


def _time(now: datetime) -> str:
    """A time as ``periods.instant`` writes it, in a part of the time."""
    utc = now.replace(tzinfo=UTC) if now.tzinfo is None else now.astimezone(UTC)
    return f"{utc.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def is_marked(command: object) -> bool:
    """Whether a command begins with the line of ``believed``."""
    return isinstance(command, str) and command.startswith(MARK)


def refuse_marked(command: str) -> None:
    """Raise KIP_1001 for a marked command, where all is read."""
    if is_marked(command):
        message = "The view of what is believed is for one FIND that is asked, and not for this."
        raise KipError("KIP_1001", message, "Leave the first line out: it then reads all.")


def not_a_find(command: ast.Command) -> KipError:
    """The error of another command that asks for what is believed."""
    message = "Only a FIND can be asked for what is believed."
    return KipError("KIP_1001", message, "Leave the view out, or send a FIND.", command.span)


# What is not believed ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The elements of one commit that are not believed, from one moment to before another one.

    ``hidden`` has them, and what their propositions state. ``kinds`` are the types of the concepts
    and the predicates of the propositions among them; ``rdf:type`` and ``rdf:reifies`` if there is
    any. ``reasons`` say why.
    """

    commit: int
    since: str
    until: str
    hidden: frozenset[object]
    kinds: frozenset[NamedNode]
    reasons: Mapping[NamedNode, str]

    def covers(self, at: str) -> bool:
        """Whether it is that of a time."""
        return self.since <= at < self.until

    def facts(self, predicate: NamedNode) -> Sequence[Triple] | None:
        """The facts of a predicate that are not believed; None for more than a query can name."""
        every = (fact for fact in self.hidden if isinstance(fact, Triple))
        facts = list(islice((f for f in every if f.predicate == predicate), MOST_NAMED + 1))
        return facts if len(facts) <= MOST_NAMED else None

    @property
    def tests(self) -> Tests:
        """The functions that a query may call."""
        hidden = self.hidden
        return {**TESTS, BELIEVED: lambda _, term: term not in hidden}


class BelievedStore:
    """A store of which only what is believed is seen by a FIND, or with what follows by ``rules``
    and as ``clusters`` (``kql.entailment``); all else is that of the store."""

    def __init__(
        self,
        store: Store,
        view: View | None,
        name: str,
        rules: Rules | None = None,
        clusters: Clusters | None = None,
    ) -> None:
        self.seen = store, view, name, rules, clusters
        self.plain = store
        self.view = view
        self.name = name
        self.rules = rules
        self.clusters = clusters
        # These are called for each triple.
        self.lookup, self.match, self.commit = store.lookup, store.match, store.commit
        self.iris = store.iris
        self.sight: Sight | None = None

    @property
    def abilities(self) -> Abilities:
        """Those of the store; each question asks for them, and ``__getattr__`` takes longer."""
        return self.plain.abilities

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


def view_of(store: Store) -> View | None:
    """What is not believed in a store; None where a FIND sees all."""
    return store.view if isinstance(store, BelievedStore) else None


def reasons_of(store: Store) -> Mapping[NamedNode, str]:
    """The elements that are not believed in a store, and why."""
    view = view_of(store)
    return {} if view is None else view.reasons


def name_of(store: Store) -> str:
    """What cursors are bound to: what is served, and the name of the view of it.

    Empty where one nexus is served, and a FIND sees all.
    """
    view = store.name if isinstance(store, BelievedStore) else ""
    return view + getattr(store, "served_as", "")


def plain(store: Store) -> Store:
    """The store itself, without a view."""
    return store.plain if isinstance(store, BelievedStore) else store


class Beliefs:
    """The views of a store, each kept until a commit changes it."""

    def __init__(self, store: NexusStore, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock
        self._views = _Views()
        self._last: BelievedStore | None = None
        if store.embedded is not None:
            store.embedded.follow(self._views)

    def view(self, at: str | None = None) -> View:
        """What is not believed at a time, else now; ``ALWAYS``: at any time."""
        if at is None:
            at = _time(self._clock())
        commit = self._store.commit()
        for view in self._views.current:
            if view.commit == commit and view.covers(at):
                return view
        view = _Finder(self._store, commit, at).view()
        if self._store.commit() == commit:
            self._views.add(view)
        return view

    def store(self, moment: Moment) -> NexusStore:
        """The store of which a FIND sees what is believed at a moment."""
        view, last = self.view(moment.at), self._last
        if last is None or last.view is not view or last.name != moment.name:
            last = self._last = BelievedStore(self._store, view, moment.name)
        return cast(NexusStore, last)


class _Views:
    """The last views; a commit that touches nothing of a view keeps it."""

    def __init__(self) -> None:
        self.current: tuple[View, ...] = ()

    def add(self, view: View) -> None:
        current = [each for each in self.current if each.commit == view.commit]
        self.current = (view, *current[: MOST_VIEWS - 1])

    def note(self, number: int, removed: Iterable[Written], added: Iterable[Written]) -> None:
        before, self.current = self.current, ()
        kept = [view for view in before if view.commit == number - 1]
        for triples in (removed, added) if kept else ():
            for subject, predicate, value in triples:
                if _is_mark(predicate, value):
                    return
                kept = [v for v in kept if subject not in v.hidden and value not in v.hidden]
        self.current = tuple(replace(view, commit=number) for view in kept)

    def clear(self) -> None:
        self.current = ()

    def close(self, number: int) -> None:
        """Nothing: they are only in memory."""


def _is_mark(key: NamedNode, value: object) -> bool:
    """Whether a triple may decide what is believed; a writer may note in each that it is active."""
    if key == _STATUS and isinstance(value, Literal) and value.datatype == vocab.STRING:
        return value.value in STATUSES
    is_key = key in _KEYS or key.value.endswith(f"/{periods.PREDICATE}")
    return is_key and value != vocab.NULL


class _Finder:
    """Finds the elements that are not believed: by their own metadata, then by their ends."""

    def __init__(self, store: Store, commit: int, at: str) -> None:
        self._store, self._commit, self._at = store, commit, Literal(at)
        self._links = store.iris.propositions
        self._hidden: set[object] = set()
        self._kinds: set[NamedNode] = set()
        self._reasons: dict[NamedNode, str] = {}
        self._moments = ["", _LAST]

    def view(self) -> View:
        self._hide(self._by_state())
        at = self._at.value
        if at != ALWAYS:
            self._hide((node, NOT_VALID) for node in self._not_valid())
            since = max(moment for moment in self._moments if moment <= at)
            until = min(moment for moment in self._moments if moment > at)
        else:
            since, until = at, f"{at}{_LAST}"
        hidden, kinds = frozenset(self._hidden), frozenset(self._kinds)
        return View(self._commit, since, until, hidden, kinds, self._reasons)

    def _by_state(self) -> Iterator[tuple[NamedNode, str]]:
        """The elements that are not believed by their status, and what was superseded."""
        for status in STATUSES:
            for node in self._with_value(_STATUS, Literal(status)):
                yield node, status
        for node in self._with_value(_SUPERSEDED, _TRUE):
            yield node, SUPERSEDED
        for triple in self._store.match(None, _SUPERSEDED_BY, None):
            if triple.object != vocab.NULL:
                yield cast(NamedNode, triple.subject), SUPERSEDED

    def _with_value(self, key: NamedNode, value: Any) -> Iterator[NamedNode]:
        """The elements with a value as FILTER reads it: an array is each of its items."""
        store = self._store
        if store.abilities.lookups:
            for graph in (None, vocab.TEXTS):
                for each in store.lookup(None, key, value, sys.maxsize, graph):
                    yield cast(NamedNode, each.subject)
            return
        is_equal = cast(Condition, equal(ValueOperand(_VALUE), LiteralOperand(value)))
        test = covering(is_equal, lambda _: None, lambda _: True, store.abilities).test
        pattern: Pattern = BGP((TriplePattern(_X, key, _VALUE),))
        pattern = pattern if test is None else Filter(pattern, test)
        query = Select((_X, _VALUE), pattern, distinct=False)
        rows: Any = without_row_limit(lambda: select(query, store))
        yield from (node for node, cell in rows if _IS_EQUAL(cell, value))

    def _hide(self, elements: Iterable[tuple[NamedNode, str]]) -> None:
        """Add elements, and level by level the facts that have them as ends."""
        new: dict[NamedNode, str] = {}
        for node, why in elements:
            if node not in self._reasons:
                new.setdefault(node, why)
        level: dict[NamedNode, Triple | None] = dict.fromkeys(new)
        self._store.prefetch(level)
        while level:
            self._reasons |= {node: new.get(node, END) for node in level}
            for node, fact in level.items():
                self._add(node, fact)
            self._store.prefetch((), ends=level)
            facts = [fact for node in level for fact in self._store.facts(node)]
            facts = [fact for fact in dict.fromkeys(facts) if fact not in self._hidden]
            self._store.prefetch((), facts)
            level = {}
            for fact in facts:
                link = link_of(self._store, fact)
                if link is not None and link not in self._reasons:
                    level[link] = fact

    def _add(self, node: NamedNode, fact: Triple | None) -> None:
        self._hidden.add(node)
        if not node.value.startswith(self._links):
            definition = self._store.iris.type_of(node)
            self._kinds |= {vocab.TYPE} if definition is None else {vocab.TYPE, definition}
            return
        if fact is None:
            fact = Reader(self._store).fact(node)
        if fact is not None:
            self._hidden.add(fact)
            self._kinds |= {vocab.REIFIES, fact.predicate}

    # Validity, as in valid_at -----------------------------------------------------------------

    def _not_valid(self) -> list[NamedNode]:
        """The elements that have an interval, and none around the time."""
        intervals: dict[NamedNode, list[tuple[Any, Any]]] = {}
        starts, ends = (self._values(key) for key in (_FROM, _UNTIL))
        for node in (*starts, *(node for node in ends if node not in starts)):
            intervals[node] = [(starts.get(node), ends.get(node))]
        during = self._store.iris.predicate(periods.PREDICATE)
        facts = list(self._store.match(None, during, None))
        if facts:
            starts, ends = (self._values(key) for key in (_PERIOD_FROM, _PERIOD_UNTIL))
        for fact in facts:
            node, period = cast(NamedNode, fact.subject), cast(NamedNode, fact.object)
            is_interval = self._store.iris.type_of(period) == self._store.iris.type(periods.TYPE)
            # One that is not believed itself limits nothing.
            if not is_interval or starts.get(period) is None or fact in self._hidden:
                continue
            if node.value.startswith(self._links):
                end = ends.get(period, vocab.NONE)
                until = None if end == _OPEN else end
                intervals.setdefault(node, []).append((starts[period], until))
        for ends_of in intervals.values():
            self._moments += [
                value
                for term in (end for pair in ends_of for end in pair)
                if term is not None and isinstance(value := read(term), str)
            ]
        return [node for node, each in intervals.items() if not any(map(self._is_around, each))]

    def _values(self, key: NamedNode) -> dict[NamedNode, Any]:
        """The values under a key that are not null."""
        triples = self._store.match(None, key, None)
        return {cast(NamedNode, t.subject): t.object for t in triples if t.object != vocab.NULL}

    def _is_around(self, interval: tuple[Any, Any]) -> bool:
        start, end = interval
        has_begun = start is None or _AT_MOST(start, self._at)
        return has_begun and (end is None or _LATER(end, self._at))


_AT_MOST, _LATER, _IS_EQUAL = (cast(Any, OPERATORS[symbol].python) for symbol in ("<=", ">", "=="))
