"""A dataset in a store that speaks SPARQL over HTTP (docs/decisions/073).

``remote_session`` has its states, ``remote_reads`` reads it; here it is written and copied.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from time import sleep
from typing import Any, TypeVar, cast

from pyoxigraph import NamedNode, Quad, Triple
from pyoxigraph import Store as Engine

from kiprdf import budget
from kiprdf.errors import KipError, StoreError
from kiprdf.loading import lazy_logger
from kiprdf.rdf import vocab
from kiprdf.store.base import (
    CommitConflict,
)
from kiprdf.store.bookkeeping import texts_in
from kiprdf.store.delta import UNKNOWN, Delta, Origin, difference
from kiprdf.store.http import EndpointFault
from kiprdf.store.oxigraph import OxigraphStore
from kiprdf.store.remote_reads import RemoteReads
from kiprdf.store.remote_session import GoneFault

T = TypeVar("T")
_log = lazy_logger("kiprdf")

PAUSE_S = 0.005
LONGEST_PAUSE_S = 0.2
"""The wait before a statement runs again because another process committed first."""


class RemoteStore(RemoteReads):
    """A dataset behind a SPARQL endpoint."""

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
                    except CommitConflict as conflict:
                        self._overtaken(conflict)
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

    def _overtaken(self, conflict: CommitConflict) -> None:
        if conflict.number is None:
            self._state = None
        else:
            self._seen(conflict.number)

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
        except (EndpointFault, KipError) as fault:
            _log.warning(
                "Whether %s still has the nexus is not known: %s", self.endpoint.url, fault
            )

    def replace(self, dataset: Engine, records: dict[str, str], origin: Origin = UNKNOWN) -> int:
        delta = difference(self.match(None, None, None), dataset, records, origin)
        return self._commit(delta, None)

    # The whole dataset ------------------------------------------------------------------------

    def copy(self) -> OxigraphStore:
        """A copy in memory, as of one commit."""
        return self.read_whole(lambda engine: OxigraphStore(engine, self.iris.base))

    def read_whole(self, function: Callable[[Engine], T]) -> T:
        """Call a function with a copy of the dataset in memory, as of one commit.

        Reading takes long: what others commit meanwhile is added to the copy, not read again.
        """
        session, self._local.session = self._session, None
        try:
            while True:
                first = self.number()
                engine = Engine()
                triples = self.layout.folded(self._all())
                engine.bulk_extend(Quad(*triple) for triple in budget.paced(triples))
                engine.extend(texts_in(engine))
                if self.read(partial(self._complete, engine, first)):
                    break
                budget.check()
        finally:
            self._local.session = session
        return function(engine)

    def _complete(self, engine: Engine, first: int) -> bool:
        """Bring a dataset that was read after a commit up to the last one, if that can be done."""
        changed = self._changes(first, self.commit())
        if changed is None:
            return False
        if changed:
            self.prefetch(changed)
            copy = OxigraphStore(engine, self.iris.base)
            update(copy, {node: self.describe(node) for node in changed})
            remove_unstated(copy)
        graph = vocab.BOOKKEEPING
        engine.remove_graph(graph)
        engine.extend(Quad(graph, key, value, graph) for key, value in self.notes())
        return True

    def backup(self, folder: object, history: bool = True) -> None:
        """Refused: the store has its own means."""
        raise StoreError(
            f"kiprdf cannot back up the store at {self.endpoint.url}: use the backup of "
            f"{self.engine_name}, or write a snapshot."
        )


def update(copy: OxigraphStore, described: Mapping[NamedNode, list[Triple]]) -> None:
    """Replace what a copy has of some elements by the triples that describe them now.

    The facts of their links follow; elements without triples were deleted.

    >>> copy = OxigraphStore.memory()
    >>> link, *ends = map(NamedNode, ("urn:link", "urn:a", "urn:b", "urn:c"))
    >>> fact = Triple(*ends)
    >>> update(copy, {link: [Triple(link, vocab.REIFIES, fact)]})
    >>> list(copy.match(None, ends[1], None)) == [fact]
    True
    >>> update(copy, {link: []})
    >>> list(copy.match(None, None, None))
    []
    """
    before = {triple for node in described for triple in copy.describe(node)}
    after = {triple for triples in described.values() for triple in triples}
    facts_before, facts_after = _facts(before), _facts(after)
    lost = {
        fact
        for fact in facts_before - facts_after
        if all(link.subject in described for link in copy.match(None, vocab.REIFIES, fact))
    }
    removed = (before - after) | lost
    copy.apply(Delta(tuple(removed), tuple((after - before) | facts_after)))


def remove_unstated(copy: OxigraphStore) -> None:
    """Remove the facts whose links were deleted before they were read."""
    stated = _facts(copy.match(None, vocab.REIFIES, None))
    facts = (
        triple
        for triple in copy.match(None, None, None)
        if triple.predicate.value.startswith(copy.iris.predicates)
    )
    copy.apply(Delta(tuple(fact for fact in facts if fact not in stated)))


def _facts(triples: Iterable[Triple]) -> set[Triple]:
    """The facts that some triples state."""
    return {cast(Triple, triple.object) for triple in triples if triple.predicate == vocab.REIFIES}
