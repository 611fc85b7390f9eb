"""The session with a SPARQL store: on which commit a function reads, and what is known of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pyoxigraph import NamedNode, Quad, Triple

from kiprdf import budget
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql import requests
from kiprdf.sparql.abilities import Abilities
from kiprdf.store.base import (
    SIMPLE,
    CommitConflict,
    OwnStore,
    Reading,
    Request,
    Row,
    Solutions,
)
from kiprdf.store.delta import Delta
from kiprdf.store.endpoint import RESULTS, TABLE, Endpoint
from kiprdf.store.http import EndpointFault
from kiprdf.store.layout import CHANGED, HEAD, Head, Layout, Place, highest
from kiprdf.store.lock import FairLock
from kiprdf.store.remote_commits import Commits

T = TypeVar("T")

KEPT_ELEMENTS = 20_000
"""The elements and facts that are kept from one command to the next."""
NOTED_CHANGES = 200
"""The last commits whose touched elements are kept."""


class GoneFault(EndpointFault):
    """The store has no nexus any more, or another one."""

    hint = "Connect again."


class State:
    """One commit of the dataset, and what was read of it: elements, the links of facts, and the
    definitions of types and predicates."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.described: dict[NamedNode, list[Triple]] = {}
        self.links: dict[Triple, list[NamedNode]] = {}
        self.facts: dict[NamedNode, list[Triple]] = {}
        self.texts: dict[tuple[NamedNode | None, NamedNode], list[Quad]] = {}
        self.definitions: dict[NamedNode, list[NamedNode]] | None = None

    def after(self, number: int, changed: Collection[NamedNode], definitions: str) -> State:
        """What is known after other commits, from the elements that they touched.

        IRIs of definitions begin with ``definitions``.
        """
        state = State(number)
        kept = list(self.described.items())
        state.described = {node: triples for node, triples in kept if node not in changed}
        facts = list(self.links.items())
        state.links = {
            fact: links
            for fact, links in facts
            if links and not any(link in changed for link in links)
        }
        if not any(node.value.startswith(definitions) for node in changed):
            state.definitions = self.definitions
        return state


class Session:
    """One run of a reading function.

    ``is_checked`` while nothing was read since the commit number was seen. ``stands_alone`` while
    all that was read is one answer, which is of one commit, whichever that is.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._has_read = self.is_checked = False
        self.stands_alone = False

    @property
    def state(self) -> State:
        """What was read of the commit, and what is read from here on."""
        self._has_read, self.stands_alone = True, False
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state

    @property
    def number(self) -> int:
        """The number of the commit; with it, an answer that came before does not stand alone."""
        self.stands_alone = False
        return self._state.number

    @property
    def may_stand_alone(self) -> bool:
        """Whether nothing has been read yet."""
        return not self._has_read

    def note_answer(self, alone: bool = False) -> None:
        """Note an answer that came without the commit number."""
        self._has_read, self.is_checked, self.stands_alone = True, False, alone


class Answers(NamedTuple):
    """Sends queries about the nexus in one place; the rows have terms as kiprdf writes them."""

    endpoint: Endpoint
    place: Place
    abilities: Abilities
    layout: Layout

    def select(self, text: str, request: Request) -> Solutions:
        """The solutions of a query."""
        dataset, read, most = self.place.dataset, self.layout.rows, self.abilities.max_rows
        if most is None:
            return self.endpoint.select(text, dataset, request, read=read)
        first = self.endpoint.select(text, dataset, request._replace(keep=None), read=read)
        if len(first.rows) < most:
            return first
        return self._paged(text, first.names, most, request)

    def with_commit(
        self, text: str, names: Sequence[str], request: Request, identity: str | None
    ) -> tuple[Solutions, int | None]:
        """The solutions of a query, and the number of the commit that they are of.

        The number is None if they came in pages, since another commit may have come in between,
        and 0 where the last row is missing, or the store has another identity.
        """
        numbers: list[Any] = []
        received = 0

        def read(rows: Iterable[Iterable[Any]]) -> Iterator[Row]:
            nonlocal received
            for row in self.layout.rows(rows):
                received += 1
                if row[-1] is None:
                    yield row[:-1]
                else:
                    numbers.append(row[-1])

        key = vocab.COMMIT if identity is None else HEAD
        query = requests.with_note(text, names, self.place.bookkeeping, key, self.abilities)
        dataset, accept = self.place.dataset, TABLE if self.abilities.tables else RESULTS
        answer = self.endpoint.select(query, dataset, request, read=read, accept=accept)
        most = self.abilities.max_rows
        if most is not None and received >= most:
            return self._paged(text, names, most, request), None
        if identity is not None:
            own = [head.number for head in map(Head.read, numbers) if head.identity == identity]
            return answer, max(own, default=0)
        return answer, highest(numbers)

    def triples(self, text: str, predicate: NamedNode) -> tuple[list[Row], int]:
        """The rows ``?s ?o`` of a query, and the number of the commit that they are of.

        They are sent as triples with a predicate, which Virtuoso writes four times as fast.
        """
        place = self.place
        query = requests.as_triples(text, predicate, place.bookkeeping, vocab.COMMIT)
        triples = self.endpoint.construct(query, place.dataset)
        notes = [triple for triple in triples if triple.subject == place.bookkeeping]
        pairs = ((triple.subject, triple.object) for triple in triples if triple not in notes)
        return list(self.layout.rows(pairs)), highest(triple.object for triple in notes)

    def _paged(self, text: str, names: Sequence[str], most: int, request: Request) -> Solutions:
        """The rows of a query in the order of its variables, a page a request."""
        rows: list[Row] = []
        keep, whole = request.keep, request._replace(keep=None)
        width = len(names) if request.width is None else request.width
        number, dataset, read = 0, self.place.dataset, self.layout.rows
        spending = budget.current()
        while True:
            query = requests.ordered_page(text, names, most, number)
            page = self.endpoint.select(query, dataset, whole, read=read).rows
            number += len(page)
            rows += page
            if spending is not None:
                spending.check_rows(number, width)
            if keep is not None:
                rows = keep(rows)
            if len(page) < most:
                return Solutions(tuple(names), rows)


class RemoteSession(OwnStore):
    """The connection to a store, and the last commit that was seen of it.

    A reading function runs on that commit; if a request at its end shows another one, the function
    runs again. ``place`` says in which graphs the nexus is, ``layout`` how its triples are kept.
    """

    forked = "This nexus belongs to the process that connected it; connect in this one."
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
        super().__init__()
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
        self._state: State | None = None
        self._noted_changes: dict[int, tuple[NamedNode, ...]] = {}
        self._definitions = f"{base}$"
        self._meta_types = (self.iris.type("$ConceptType"), self.iris.type("$PropositionType"))
        self._local = threading.local()
        self._lock = FairLock()
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

    # States -----------------------------------------------------------------------------------

    @property
    def _session(self) -> Session | None:
        return getattr(self._local, "session", None)

    @property
    def _cached(self) -> State:
        """What was read of the commit on which a function runs; nothing outside of one."""
        session = self._session
        return State(0) if session is None else session.state

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
                return self.attempt(function)
            except CommitConflict:
                budget.check()

    def attempt(self, function: Callable[[], T]) -> T:
        """Run a function on the state seen last; ``CommitConflict`` if that is not the last one."""
        self._require_open()
        state = self._last()
        if len(state.described) + len(state.links) > KEPT_ELEMENTS:
            # Another one, since a function that still runs needs what it has read.
            state = self._state = State(state.number)
        session = self._local.session = Session(state)
        try:
            result = function()
            self._check(session)
            return result
        except (CommitConflict, EndpointFault):
            raise
        except Exception:
            # An error on a mix of two states may be wrong; on one state it is the answer.
            self._check(session)
            raise
        finally:
            self._local.session = None

    def _check(self, session: Session) -> None:
        """Raise ``CommitConflict`` where another commit has come."""
        if not (session.is_checked or session.stands_alone):
            self._compare(session, self.number())

    def _compare(self, session: Session, number: int) -> None:
        self._seen(number)
        if session.state.number != number:
            raise CommitConflict(number)
        session.is_checked = True

    def try_read(self, function: Callable[[], T]) -> Reading[T] | None:
        """Run a reading function once; None if a commit came in between."""
        try:
            return self.attempt(lambda: Reading(self.commit(), function()))
        except CommitConflict:
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

    # Queries ----------------------------------------------------------------------------------

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
        """The answer, without a check of the commit number."""
        self._require_open()
        return budget.without_row_limit(lambda: self._alone(text))

    def _alone(self, text: str, request: Request = SIMPLE) -> Solutions:
        if self._session is not None:
            self._session.note_answer()
        return self._answers.select(text, request)
