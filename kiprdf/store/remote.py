"""A dataset in a store that speaks SPARQL over HTTP (docs/decisions/073)."""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any, TypeVar, cast

from pyoxigraph import Literal, NamedNode, Quad, Triple, Variable
from pyoxigraph import Store as Engine

from kiprdf import budget, progress
from kiprdf.errors import ClosedError, KipError, StoreError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, decode
from kiprdf.sparql import requests
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import BGP, Select, TriplePattern, TripleTerm
from kiprdf.sparql.text import render
from kiprdf.store import remote_copy
from kiprdf.store.answers import Answers
from kiprdf.store.base import (
    SIMPLE,
    Cell,
    Iri,
    Moved,
    Nodes,
    Reading,
    Request,
    Row,
    Solutions,
    Statement,
)
from kiprdf.store.commit_log import RECORD
from kiprdf.store.delta import UNKNOWN, Delta, Origin, difference
from kiprdf.store.endpoint import Dataset, Endpoint
from kiprdf.store.guard import refuse_extensions, returns_triples
from kiprdf.store.http import EndpointFault
from kiprdf.store.layout import CHANGED, HEAD, Head, Layout, Place, highest
from kiprdf.store.lock import FairLock
from kiprdf.store.oxigraph import OxigraphStore
from kiprdf.store.remote_commits import Commits
from kiprdf.store.remote_state import Session, State
from kiprdf.store.sorted_values import Scope
from kiprdf.store.sparql_worker import SparqlAnswer
from kiprdf.store.texts import texts_in, texts_of
from kiprdf.store.update_times import UPDATED_AT, Range

T = TypeVar("T")

KEPT_ELEMENTS = 20_000
"""The elements and facts that are kept from one command to the next."""
MOST_IN_MEMORY = 200_000
"""The triples of a dataset that is read as a whole for a query that its engine cannot answer."""
DESCRIBED_AT_ONCE = 500
"""The elements that one request describes."""
NEWEST_AT_ONCE = 2_000
READ_AT_ONCE = 50_000
"""The triples that one answer has where all are read."""
NOTED_CHANGES = 200
"""The last commits whose touched elements are kept."""
PAUSE_S = 0.005
LONGEST_PAUSE_S = 0.2
"""The wait before a statement runs again because another process committed first."""
_NO_COPY: tuple[None, None] = (None, None)
_VARIABLES = (Variable("s"), Variable("p"), Variable("o"))


class GoneFault(EndpointFault):
    """The store has no nexus any more, or another one."""

    hint = "Connect again."


class RemoteStore:
    """A dataset behind a SPARQL endpoint.

    It caches what it has read of the last commit that it has seen. A reading function runs on that
    commit; if a request at its end shows another commit, the function runs again. ``place`` says in
    which graphs the nexus is, ``layout`` how its triples are kept.
    """

    folder: Path | None = None
    is_shared = True
    embedded = journal = None

    def __init__(
        self,
        endpoint: Endpoint,
        place: Place,
        abilities: Abilities,
        base: str,
        *,
        engine_name: str = "unknown",
        identity: str | None = None,
        first_identity: str | None = None,
        index_folder: Path | None = None,
        read_only: bool = False,
    ) -> None:
        self.endpoint = endpoint
        self.place = place
        self.abilities = abilities
        self.layout = Layout.of(abilities)
        self.iris = Iris(base)
        self._answers = Answers(endpoint, place, abilities, self.layout)
        self.engine_name = engine_name
        self.index_folder = index_folder
        self.read_only = read_only
        self._identity = identity
        self._first_identity = first_identity
        self._process = os.getpid()
        self._closed = False
        self._state: State | None = None
        self._noted_changes: dict[int, tuple[NamedNode, ...]] = {}
        self._definitions = f"{base}$"
        self._meta_types = (self.iris.type("$ConceptType"), self.iris.type("$PropositionType"))
        self._local = threading.local()
        self._lock = FairLock()
        self._copy_lock = FairLock()
        self._copy_in_memory: tuple[int, OxigraphStore | None] = (0, None)
        self._commits = (
            None if read_only else Commits(endpoint, place, abilities, base, self.layout)
        )

    @property
    def location(self) -> dict[str, str]:
        return {
            "endpoint": self.endpoint.url,
            "engine": self.engine_name,
            "profile": self.abilities.links,
        }

    def __repr__(self) -> str:
        return f"RemoteStore({self.endpoint.url!r})"

    def close(self) -> None:
        """Close the connections; the data stay. Closing twice is fine."""
        self.require_own_process()
        self._closed = True
        self.endpoint.close()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def is_forked(self) -> bool:
        """Whether this process was forked from the one that connected the store."""
        return self._process != os.getpid()

    def require_own_process(self) -> None:
        """Raise ``StoreError`` in a process that was forked from the one that connected."""
        if self.is_forked:
            message = "This nexus belongs to the process that connected it; connect in this one."
            raise StoreError(message)

    def _require_open(self) -> None:
        self.require_own_process()
        if self._closed:
            raise ClosedError()

    # States -----------------------------------------------------------------------------------

    @property
    def _session(self) -> Session | None:
        return getattr(self._local, "session", None)

    def number(self) -> int:
        """Ask for the number of the last commit; 0 where there is none yet.

        Raises ``EndpointFault`` where another nexus is in the store.
        """
        text = requests.noted(self.place.bookkeeping, vocab.COMMIT, HEAD)
        rows: Any = self._unchecked(text).rows
        for identity in {Head.read(head).identity for _, head in rows if head is not None}:
            if self._identity is None:
                self._identity = identity
            elif identity != self._identity:
                raise self._gone("replaced by another one")
        return highest(value for value, _ in rows)

    def _gone(self, how: str) -> GoneFault:
        return GoneFault(f"The nexus in {self.endpoint.url} has been {how}.")

    def commit(self) -> int:
        session = self._session
        if session is not None:
            return session.number
        return self._last().number

    def _last(self) -> State:
        """The last state that was seen."""
        state = self._state
        return self._seen(self.number()) if state is None else state

    def _seen(self, number: int) -> State:
        """The state of the commit that an answer shows to be the last one."""
        state = self._state
        if state is None:
            state = self._state = State(number)
        elif number == 0 < state.number:
            raise self._gone("removed")
        elif state.number != number:
            if state.number == 0:
                self.number()  # another process made the first commit: its identity
            changed = self._changes(state.number, number)
            before, state = state, State(number)
            if changed is not None:
                state = before.after(number, changed, self._definitions)
            self._state = state
        return state

    def changed_since(self, number: int) -> Collection[NamedNode] | None:
        return self._changes(number, self.commit())

    def _changes(self, first: int, last: int) -> set[NamedNode] | None:
        """The elements that the commits after one touched, up to another, as far as it is noted."""
        if not 0 < last - first <= NOTED_CHANGES:
            return set() if first == last else None
        noted = self._noted_changes
        new = (at for at in range(first + 1, last + 1) if at not in noted)
        missing = {self.place.commit(at): at for at in new}
        if missing:
            rows: Any = self._unchecked(
                requests.noted_at(self.place.bookkeeping, missing, CHANGED)
            ).rows
            for node, value in rows:
                noted[missing[node]] = tuple(map(NamedNode, value.value.split()))
            for at in sorted(noted)[:-NOTED_CHANGES]:
                noted.pop(at, None)
        # Threads share the notes, and drop the oldest.
        touched = [noted.get(at) for at in range(first + 1, last + 1)]
        if None in touched:
            return None
        return {node for nodes in touched for node in nodes or ()}

    def read(self, function: Callable[[], T]) -> T:
        self._require_open()
        if self._session is not None:
            return function()
        while True:
            try:
                return self.attempt(function, self._copied_at)
            except Moved:
                # It reads more than the copy, and is run on the last commit.
                self._local.copy = _NO_COPY
                budget.check()

    @property
    def _copied_at(self) -> int | None:
        """The commit of the copy that is kept for this thread's bulk reading."""
        number: int | None = getattr(self._local, "copy", _NO_COPY)[0]
        return number

    def attempt(self, function: Callable[[], T], copied_at: int | None = None) -> T:
        """Run a function on the last state that was seen; raise ``Moved`` if it is not the last.

        Where the dataset was copied at an earlier commit, it may read the copy of that.
        """
        self._require_open()
        state = self._last()
        if len(state.described) + len(state.links) > KEPT_ELEMENTS:
            # Another one, since a function that still runs needs what it has read.
            state = self._state = State(state.number)
        if copied_at is not None and copied_at != state.number:
            state = State(copied_at)
        session = self._local.session = Session(state, is_checked=copied_at is not None)
        try:
            result = function()
            self._check(session)
            return result
        except (Moved, EndpointFault):
            raise
        except Exception:
            # An error on a mix of two states may be wrong; on one state it is the answer.
            self._check(session)
            raise
        finally:
            self._local.session = None

    def _check(self, session: Session) -> None:
        """Raise ``Moved`` where another commit has come."""
        if not (session.is_checked or session.stands_alone):
            self._check_now(session)

    def _check_now(self, session: Session) -> None:
        self._compare(session, self.number())

    def _compare(self, session: Session, number: int) -> None:
        self._seen(number)
        if session.state.number != number:
            raise Moved(number)
        session.is_checked = True

    def try_read(self, function: Callable[[], T]) -> Reading[T] | None:
        """Run a reading function once; None if a commit came in between."""
        try:
            return self.attempt(lambda: Reading(self.commit(), function()))
        except Moved:
            return None

    def reached(self, number: int, delta: Delta | None) -> None:
        """Note a commit of this store, and what it changed; None if that may be everything."""
        before, state = self._state, State(number)
        if delta is not None:
            self._noted_changes[number] = tuple(delta.touched)
            if before is not None and before.number == number - 1:
                state = before.after(number, set(delta.touched), self._definitions)
        self._state = state
        session = self._session
        if session is not None:
            session.state, session.is_checked = state, True

    # Reading ----------------------------------------------------------------------------------

    def _select(self, text: str) -> Solutions:
        """The solutions of a query of this class, which are not those of the command."""
        return budget.without_row_limit(lambda: self._counted(text))

    def _counted(self, text: str, request: Request = SIMPLE) -> Solutions:
        """The solutions of a query, which also returns the commit number if a function reads.

        Not where it has a ``single_row`` and is the first one (docs/decisions/106).
        """
        session, names = self._session, requests.columns(text)
        self._require_open()
        if session is None or not names:
            return self._alone(text, request)
        if request.single_row and session.may_stand_alone:
            answer = self._alone(text, request)
            session.note_answer(alone=len(answer.rows) == 1)
            return answer
        answer, number = self._answers.with_commit(text, names, request, self._identity)
        if number is None:
            session.note_answer()
        elif number == 0 < session.number:
            self._compare(session, self._number_after_cut(len(answer.rows)))
        else:
            self._compare(session, number)
        return answer

    def _number_after_cut(self, rows: int) -> int:
        """The number of the last commit, for an answer without it.

        Raises ``EndpointFault`` where there is one: then the store has sent a part of the answer.
        """
        number = self.number()
        if number:
            url = self.endpoint.url
            fault = EndpointFault(
                f"The answer of {url} is incomplete: after {rows} rows, the last one is missing."
            )
            fault.hint = (
                "Ask for less with LIMIT, or raise the limit of the store on the rows of an answer "
                "(on Virtuoso, ResultSetMaxRows: 10000)."
            )
            raise fault
        return number

    def _unchecked(self, text: str) -> Solutions:
        """The same without the commit number."""
        self._require_open()
        return budget.without_row_limit(lambda: self._alone(text))

    def _alone(self, text: str, request: Request = SIMPLE) -> Solutions:
        if self._session is not None:
            self._session.note_answer()
        return self._answers.select(text, request)

    def select(self, query: str, request: Request = SIMPLE) -> list[Row]:
        return self._counted(query, request).rows

    def query(self, text: str) -> SparqlAnswer:
        """Answer SPARQL that a caller wrote and the guard let through.

        Raises ``SyntaxError`` for a text that the engine refuses, and KIP_4002 where it sends a
        part of the answer only.
        """
        self._require_open()
        graph = self.place.graph
        if graph is None and self.abilities.default_graph is not None:
            # Otherwise DESCRIBE has the triples of other graphs, too.
            graph = NamedNode(self.abilities.default_graph)
        dataset = Dataset() if graph is None else Dataset(graph)
        refuse_extensions(text)
        answer: SparqlAnswer
        try:
            if returns_triples(text):
                triples: Any = self.endpoint.construct(text, dataset)
                answer = [Triple(*terms) for terms in self.layout.rows(triples)]
            else:
                answer = self.endpoint.query(text, dataset, read=self.layout.rows)
        except EndpointFault as fault:
            if fault.status == 400:
                raise SyntaxError(str(fault).rstrip(".")) from None
            raise
        most = self.abilities.max_rows
        parts = answer.rows if isinstance(answer, Solutions) else answer
        if most is not None and isinstance(parts, list) and len(parts) >= most:
            message = f"The store returns at most {most} rows, and this query may have more."
            raise KipError("KIP_4002", message, "Page with ORDER BY, LIMIT and OFFSET.")
        return answer

    def match(self, subject: Iri, predicate: Iri, object: Cell) -> Iterator[Triple]:
        budget.check()
        return iter(self._matching(subject, predicate, object))

    def lookup(
        self, subject: Cell, predicate: Cell, object: Cell, most: int, graph: Iri = None
    ) -> list[Statement]:
        if graph is not None:
            texts = self._texts(cast(Any, subject), cast(Any, predicate))
            matching: list[Statement] = [q for q in texts if object in (None, q.object)]
            return matching[:most]
        return list(self._matching(cast(Any, subject), cast(Any, predicate), object, most)[:most])

    def _texts(self, subject: NamedNode | None, predicate: NamedNode) -> list[Quad]:
        """The texts in the values of a predicate, which other stores have in a graph."""
        session = self._session
        texts = None if session is None else session.state.texts.get((subject, predicate))
        if texts is None:
            texts = [Quad(*text) for text in texts_of(self._matching(subject, predicate, None))]
            if session is not None:
                session.state.texts[subject, predicate] = texts
        return texts

    def _matching(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object_: Cell,
        most: int | None = None,
    ) -> list[Triple]:
        """The triples of a pattern, from what is cached or by a request."""
        if subject is not None:
            if predicate is not None and not predicate.value.startswith(self.iris.predicates):
                of_subject = self.describe(subject)
                return [
                    triple
                    for triple in of_subject
                    if triple.predicate == predicate and object_ in (None, triple.object)
                ]
        elif predicate == vocab.REIFIES:
            return self._reifying(object_)
        elif predicate == vocab.TYPE and object_ in self._meta_types:
            defined = self._defined()[cast(NamedNode, object_)]
            return [Triple(node, vocab.TYPE, object_) for node in defined]
        if subject is None and predicate is None and object_ is None and most is None:
            return list(self.layout.folded(self._all()))
        if self.layout.links == "rdf11" and predicate in (None, vocab.TYPE):
            most = None  # rows of statements are dropped from the answer
        rows = self._pattern(subject, predicate, object_, most)
        return list(self.layout.folded(rows))

    def _pattern(self, *pattern: Any) -> list[tuple[Any, Any, Any]]:
        """The triples of a pattern as the store keeps them."""
        *terms, most = pattern
        given = [self.layout.term(term) for term in terms]
        if None not in given:
            # A query without variables is not a query to some engines; then other predicates count.
            given[1] = most = None
        cells = [
            variable if term is None else _in_pattern(term)
            for term, variable in zip(given, _VARIABLES, strict=True)
        ]
        free = [number for number, term in enumerate(given) if term is None]
        columns = tuple(_VARIABLES[number] for number in free)
        limit = most if most is not None and most < 10**9 else None
        query = Select(columns, BGP((TriplePattern(*cells),)), limit=limit, distinct=False)
        triples = []
        for row in self._select(render(query)).rows:
            triple = list(terms)
            for number, cell in zip(free, row, strict=True):
                triple[number] = cell
            if terms[1] in (None, triple[1]):
                triples.append(tuple(triple))
        return triples

    def _all(self, limit: int | None = None) -> Iterator[tuple[Any, Any, Any]]:
        """All triples as the store keeps them, in answers of bounded size.

        Unless a function reads, those of each predicate are of one commit, but all may not be.
        Raises KIP_4002 for more than ``limit`` triples, before any is read.
        """
        most = self.abilities.max_rows
        # One row of an answer is the commit number; a full answer may be a part.
        size = READ_AT_ONCE if most is None else min(READ_AT_ONCE, most - 2)
        counted: Any = self._select(requests.predicates()).rows
        total = sum(int(count.value) for _, count in counted)
        if limit is not None and total > limit:
            raise self._too_many(total, limit)
        for predicate, count in counted:
            number, rows = int(count.value), set[Row]()
            if number < size:
                rows = self._pages(predicate, size, requests.page)
            if len(rows) != number and (not rows or self._continues(predicate, len(rows))):
                rows = self.read(partial(self._of_predicate, predicate, size, number))
            yield from ((subject, predicate, object_) for subject, object_ in rows)

    def _continues(self, predicate: NamedNode, number: int) -> bool:
        """Whether there are more triples with a predicate than some that were received."""
        next_one = requests.page(requests.of_predicate(predicate), most=1, offset=number)
        return bool(self._select(next_one).rows)

    def _of_predicate(self, predicate: NamedNode, size: int, counted: int) -> set[Row]:
        """The subjects and objects of the triples with a predicate, of one commit.

        Raises ``EndpointFault`` where they are not as many as the store counts.
        """
        received = self._pages(predicate, size, requests.page)
        if len(received) != counted:
            # Another commit may have come since they were counted.
            counts: Any = dict(cast(Any, self._select(requests.predicates()).rows))
            counted = int(counts[predicate].value) if predicate in counts else 0
        if len(received) != counted:
            # Each page may have had another order, which sorting would take longer to prevent.
            ordered = partial(requests.ordered_page, names=("s", "o"))
            received = self._pages(predicate, size, ordered)
        if len(received) != counted:
            raise EndpointFault(
                f"{self.endpoint.url} returned {len(received)} of {counted} triples with the "
                f"predicate {predicate.value}."
            )
        return received

    def _pages(self, predicate: NamedNode, size: int, page: Callable[..., str]) -> set[Row]:
        """The subjects and objects of the triples with a predicate, by some answers."""
        query, received = requests.of_predicate(predicate), set[Row]()
        session = self._session
        for offset in itertools.count(0, size):
            text = page(query, most=size, offset=offset)
            rows, number = self._answers.triples(text, predicate)
            if session is not None:
                self._compare(session, number)
            progress.report("reading", len(rows))
            received.update(rows)
            if len(rows) < size:
                return received
        raise AssertionError("a page is the last one")

    def _defined(self) -> dict[NamedNode, list[NamedNode]]:
        """The definitions of types and of predicates, by their meta-type."""
        session = self._session
        if session is not None and session.state.definitions is not None:
            return session.state.definitions
        defined: dict[NamedNode, list[NamedNode]] = {type: [] for type in self._meta_types}
        for node, type in cast(Any, self._select(requests.typed(self._meta_types)).rows):
            defined[type].append(node)
        if session is not None:
            session.state.definitions = defined
        return defined

    def _reifying(self, fact: Any) -> list[Triple]:
        """The reifying triples of a fact, or of all."""
        if fact is None:
            rows: Any = self._select(requests.reifiers(None, self.abilities.links)).rows
            return [Triple(link, vocab.REIFIES, Triple(*ends)) for link, *ends in rows]
        session = self._session
        links = None if session is None else session.state.links.get(fact)
        if links is None:
            links = self._links_of([fact])[fact]
            if session is not None:
                session.state.links[fact] = links
        return [Triple(link, vocab.REIFIES, fact) for link in links]

    def _links_of(self, facts: Sequence[Triple]) -> dict[Triple, list[NamedNode]]:
        """The links that state each of some facts."""
        rows: Any = self._select(requests.reifiers(facts, self.abilities.links)).rows
        links: dict[Triple, list[NamedNode]] = {fact: [] for fact in facts}
        for link, *ends in rows:
            links[Triple(*ends)].append(link)
        return links

    def describe(self, node: NamedNode) -> list[Triple]:
        budget.check()
        session = self._session
        triples = None if session is None else session.state.described.get(node)
        return self._ask([node])[node] if triples is None else triples

    def statements(self, node: NamedNode) -> list[Triple]:
        return self.describe(node)

    def facts(self, node: NamedNode) -> list[Triple]:
        session = self._session
        facts = None if session is None else session.state.facts.get(node)
        return self._facts_at([node])[node] if facts is None else facts

    def _facts_at(self, nodes: Sequence[NamedNode]) -> dict[NamedNode, list[Triple]]:
        """The facts that have one of some nodes as an end; their links are kept, too."""
        facts: dict[NamedNode, list[Triple]] = {node: [] for node in nodes}
        session = self._session
        rows: Any = self._select(requests.links_at(nodes, self.layout.links)).rows
        for link, subject, predicate, object_ in rows:
            fact = Triple(subject, predicate, object_)
            for end in (subject, object_):
                if end in facts and fact not in facts[end]:
                    facts[end].append(fact)
            if session is not None and link not in session.state.links.setdefault(fact, []):
                session.state.links[fact].append(link)
        if session is not None:
            session.state.facts.update(facts)
        return facts

    def prefetch(self, nodes: Nodes, facts: Iterable[Triple] = (), ends: Nodes = ()) -> None:
        """Read each kind in one request, where a reading function runs."""
        session = self._session
        nodes, facts, ends = dict.fromkeys(nodes), dict.fromkeys(facts), dict.fromkeys(ends)
        if session is None or not (nodes or facts or ends):
            return
        unread = [end for end in ends if end not in session.state.facts]
        for at in range(0, len(unread), DESCRIBED_AT_ONCE):
            self._facts_at(unread[at : at + DESCRIBED_AT_ONCE])
        links = session.state.links
        unlinked = [fact for fact in facts if fact not in links]
        for at in range(0, len(unlinked), DESCRIBED_AT_ONCE):
            links.update(self._links_of(unlinked[at : at + DESCRIBED_AT_ONCE]))
        cached = session.state.described
        missing = [node for node in nodes if node not in cached]
        for at in range(0, len(missing), DESCRIBED_AT_ONCE):
            self._ask(missing[at : at + DESCRIBED_AT_ONCE])

    def _ask(self, nodes: Sequence[NamedNode]) -> dict[NamedNode, list[Triple]]:
        """The triples of nodes by one request, without their facts."""
        rows: Any = self._select(requests.described(nodes, self.iris.predicates)).rows
        described: dict[NamedNode, list[Triple]] = {node: [] for node in nodes}
        for triple in self.layout.folded(rows):
            described[cast(NamedNode, triple.subject)].append(triple)
        if self._session is not None:
            self._session.state.described.update(described)
        return described

    def newest(self, ranges: Sequence[Range]) -> Iterator[tuple[str, list[str]]]:
        if self._select(requests.other_values(UPDATED_AT)).rows:
            return
        offset = 0
        while True:
            # Alone, since a part of a query need not keep its order.
            text = requests.newest(UPDATED_AT, NEWEST_AT_ONCE, offset)
            rows: Any = self._unchecked(text).rows
            times: dict[str, list[str]] = {}
            for time, node in rows:
                if any(first <= node.value < end for first, end in ranges):
                    times.setdefault(time.value, []).append(node.value)
            for time, iris in times.items():
                yield time, iris
            offset += len(rows)
            if len(rows) < NEWEST_AT_ONCE:
                return

    def sorted_values(self, scope: Scope, seconds: float = 0.0) -> None:
        """None: the store has its own indexes."""

    def totals(self) -> None:
        """None: others may write."""

    def records(self) -> dict[str, str]:
        return {
            decode(key.value[len(RECORD) :]): value.value
            for key, value in self.notes()
            if key.value.startswith(RECORD)
        }

    def notes(self) -> list[tuple[NamedNode, Literal]]:
        """What the nexus notes about itself, as keys and values."""
        rows: Any = self._select(requests.notes(self.place.bookkeeping)).rows
        return list(rows)

    # Writing ----------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[Any]:
        self.require_own_process()
        if self._commits is None:
            raise StoreError("The nexus is open read-only.")
        return self._lock

    def write(self, function: Callable[[], T]) -> T:
        with self.writing():
            if self._session is not None:
                return function()
            assert self._commits is not None
            pause = PAUSE_S
            try:
                while True:
                    try:
                        return self.attempt(function)
                    except Moved as moved:
                        self._overtaken(moved)
                    budget.check()
                    sleep(random.uniform(0, pause))
                    pause = min(2 * pause, LONGEST_PAUSE_S)
            except EndpointFault as fault:
                spending = budget.current()
                if fault.is_timeout and spending is not None:
                    raise spending.expired() from None
                raise
            finally:
                self._commits.release()

    def _overtaken(self, moved: Moved) -> None:
        if moved.number is None:
            self._state = None
        else:
            self._seen(moved.number)

    def apply(self, delta: Delta) -> int:
        return self._commit(delta, delta)

    def _commit(self, delta: Delta, touching: Delta | None) -> int:
        """Write a delta; ``touching`` is the same where it names all elements that it touches."""
        session, commits = self._session, self._commits
        assert session is not None
        assert commits is not None
        records = self.records() if delta.records else {}
        before = session.state.number
        identity = self._identity if before else self._first_identity
        try:
            number = budget.without_row_limit(
                lambda: commits.commit(before, delta, records, identity)
            )
        except EndpointFault:
            self._require_same()
            raise
        self._identity = identity
        self.reached(number, touching)
        return number

    def _require_same(self) -> None:
        """Raise ``GoneFault`` where no nexus, or another one, is in the store, if it answers."""
        try:
            self._seen(self.number())
        except GoneFault:
            raise
        except (EndpointFault, KipError):
            pass

    def replace(self, dataset: Engine, records: dict[str, str], origin: Origin = UNKNOWN) -> int:
        delta = difference(self.match(None, None, None), dataset, records, origin)
        return self._commit(delta, None)

    # The whole dataset ------------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """A copy of the dataset in memory, as of one commit, for bulk reading."""
        session = self._session
        if session is None:
            return self._copied()[1]
        if self._copied_at == session.state.number:
            session.copy = self._local.copy[1]
        if session.copy is None:
            number, session.copy = self._copied()
            self._compare(session, number)
        return session.copy

    @contextmanager
    def bulk_reading(self) -> Iterator[Engine]:
        """The same for a ``with`` block, in which it is read once."""
        copy = self._local.copy = self._copied()
        try:
            yield copy[1]
        finally:
            self._local.copy = _NO_COPY

    def in_memory(self) -> OxigraphStore:
        """A copy of the dataset, kept and brought up to the commit that the function reads."""
        session = self._session
        assert session is not None
        number = session.state.number
        with self._copy_lock:
            copied_at, copy = self._copy_in_memory
            if copied_at > number:
                self._check_now(session)
            changed = None if copy is None else self._changes(copied_at, number)
            if copy is None or changed is None:
                copied_at, engine = self._copied(MOST_IN_MEMORY)
                copy = OxigraphStore(engine, self.iris.base)
                self._copy_in_memory = copied_at, copy
                self._compare(session, copied_at)
            elif changed:
                self.prefetch(changed)
                remote_copy.update(copy, {node: self.describe(node) for node in changed})
                self._copy_in_memory = number, copy
            # What is read from it later is of this commit, or of a later one as a whole.
            self._check(session)
        return copy

    def _too_many(self, triples: int, limit: int) -> KipError:
        message = (
            f"The engine {self.engine_name} cannot run this FIND, and its {triples} triples "
            f"are too many to run it in memory, which is done for up to {limit}."
        )
        hint = (
            "Use OPTIONAL, NOT and UNION without nesting them in each other, and REGEX without "
            "flags and classes."
        )
        return KipError("KIP_4002", message, hint)

    def copy(self) -> OxigraphStore:
        """A copy in memory, as of one commit."""
        return OxigraphStore(self._copied()[1], self.iris.base)

    def _copied(self, limit: int | None = None) -> tuple[int, Engine]:
        """The number of a commit, and the dataset as of it; ``limit`` as in ``_all``.

        Reading takes long: what others commit meanwhile is added to the copy, not read again.
        """
        session, self._local.session = self._session, None
        self._local.copy = _NO_COPY
        try:
            while True:
                first = self.number()
                engine = Engine()
                triples = self.layout.folded(self._all(limit))
                engine.bulk_extend(Quad(*triple) for triple in budget.paced(triples))
                engine.extend(texts_in(engine))
                copied_at = self.read(partial(self._complete, engine, first))
                if copied_at is not None:
                    return copied_at, engine
                budget.check()
        finally:
            self._local.session = session

    def _complete(self, engine: Engine, first: int) -> int | None:
        """Bring a dataset that was read after a commit up to the last one; None if it cannot be."""
        number = self.commit()
        changed = self._changes(first, number)
        if changed is None:
            return None
        if changed:
            self.prefetch(changed)
            copy = OxigraphStore(engine, self.iris.base)
            remote_copy.update(copy, {node: self.describe(node) for node in changed})
            remote_copy.remove_unstated(copy)
        graph = vocab.BOOKKEEPING
        engine.remove_graph(graph)
        engine.extend(Quad(graph, key, value, graph) for key, value in self.notes())
        return number

    def backup(self, folder: object, history: bool = True) -> None:
        """Refused: the store has its own means."""
        raise StoreError(
            f"kiprdf cannot back up the store at {self.endpoint.url}: use the backup of "
            f"{self.engine_name}, or write a snapshot."
        )


def _in_pattern(term: Any) -> Any:
    return TripleTerm(*term) if isinstance(term, Triple) else term
