"""A view: a store in memory of what other stores have together, which follows their commits.

It has the quads of its members and nothing else, so each answer is that of a nexus with what is
visible alone. What commits of the members have touched is merged again before the next command
reads. A member that was restored, rewritten, or has forgotten something makes the view be built
again (docs/decisions/190).
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from pyoxigraph import NamedNode
from pyoxigraph import Store as Engine

from kiprdf import budget
from kiprdf.budget import Budget
from kiprdf.errors import KipError, StoreError
from kiprdf.store.base import Cell, Iri, Reading, Statement
from kiprdf.store.bookkeeping import KEPT_COMMITS, CommitNumber, commit_note
from kiprdf.store.delta import Delta, Written
from kiprdf.store.folder import checked_base, notes_of
from kiprdf.store.merging import (
    Facts,
    Renamed,
    Side,
    Union,
    change,
    load,
    moved,
    moved_copy,
    replace,
)
from kiprdf.store.oxigraph import OxigraphStore

T = TypeVar("T")

MOST_TOUCHED = 100_000
"""Touched elements of a member from which on the view is built again."""
PATIENCE = Budget(timeout_s=0.1)
"""How long a view that members overtake waits for the writers of these."""
OVERTAKEN = 3
"""How often a view is overtaken by a commit before it waits for the writers."""


class MemberClosedError(StoreError):
    """A nexus of which a view is made was closed."""

    hint = "Make a view of nexuses that are open."


class Member:
    """What the commits of one member have touched that a view does not show yet."""

    def __init__(self, store: OxigraphStore) -> None:
        self.store = store
        self.is_lost = True
        """Whether what was touched is not known: the view is to be built again."""
        self.shown = -1
        self._noted = -1
        self._touched: dict[NamedNode, int] = {}
        self._guard = threading.Lock()
        self._facts = store.iris.predicates

    # The store calls these with its lock held, and must not wait for the view.

    def note(self, number: int, removed: Sequence[Written], added: Sequence[Written]) -> None:
        with self._guard:
            is_next = number == self._noted + 1
            # A commit without triples changes records.
            if not is_next or not (removed or added) or len(self._touched) > MOST_TOUCHED:
                self.is_lost = True
            if self.is_lost:
                self._touched = {}
                return
            for subject, predicate, _ in itertools.chain(removed, added):
                # The link of a fact is touched with it; its ends are not.
                if not predicate.value.startswith(self._facts):
                    self._touched[subject] = number
            # After an interrupt before this line it is lost.
            self._noted = number

    def clear(self) -> None:
        self.is_lost = True

    def close(self, number: int) -> None:
        """Nothing: the view finds out that its member is closed."""

    # The view calls these.

    def begin(self) -> None:
        """Note what is touched from now on."""
        number = self.store.commit()
        with self._guard:
            self._noted, self._touched, self.is_lost = number, {}, False

    def touched(self) -> tuple[int, list[NamedNode]]:
        """The last commit that was noted, and what was touched up to it."""
        with self._guard:
            return self._noted, list(self._touched)

    def is_at(self, number: int, is_alone: bool) -> bool:
        """Whether the member is still at a commit that was noted.

        ``is_alone`` where nothing is written to it now.
        """
        # In this order: what is certain was noted before.
        last, is_certain = self.store.commit(), is_alone or self.store.is_certain
        noted = self._noted
        if last != noted and is_certain and last == self.store.commit():
            self.is_lost = True  # an interrupt kept the store from noting it
        return last == number == noted and not self.is_lost

    def show(self, number: int) -> None:
        """Forget what was touched up to a commit, which the view shows by now."""
        with self._guard:
            later = {node: at for node, at in self._touched.items() if at > number}
            self._touched, self.shown = later, number


class _Thread(threading.local):
    is_inside = False
    """Whether this thread runs a command on the view."""


class ViewStore(OxigraphStore):
    """The union of some stores, to read; it may own them, which are closed with it then."""

    members: Sequence[Member] = ()

    def __init__(
        self, members: Sequence[OxigraphStore], base: str, *, owns_members: bool = False
    ) -> None:
        self._thread = _Thread()
        super().__init__(Engine(), checked_base(base))
        self.read_only = True
        self.members = tuple(map(Member, members))
        self.expire: Callable[[Delta | None], object] = lambda delta: None
        """Called before a commit, None for one that replaces everything."""
        self._owns_members = owns_members
        self._loaded: Engine | None = None
        self._touched_by: dict[int, tuple[NamedNode, ...]] = {}
        self._disputed: set[NamedNode] = set()
        self._renamed: Renamed = {}
        self._steps: dict[NamedNode, NamedNode] = {}
        for member in self.members:
            member.store.follow(member)
        pairs = [(member.store, member) for member in self.members]
        self._leaving = weakref.finalize(self, _leave, pairs)
        self._leaving.atexit = False

    def close(self) -> None:
        super().close()
        self._leaving()
        for member in self.members if self._owns_members else ():
            member.store.close()

    # Commands ---------------------------------------------------------------------------------

    def _run(self, function: Callable[[], T]) -> T:
        """Call a function that sees what the members have committed before it."""
        thread = self._thread
        if thread.is_inside:
            return function()
        try:
            thread.is_inside = True
            self._follow()
            return function()
        finally:
            thread.is_inside = False

    @property
    def engine(self) -> Engine:
        if not self._thread.is_inside:
            self._run(lambda: None)
        return super().engine

    def lookup(
        self, subject: Cell, predicate: Cell, object: Cell, most: int, graph: Iri = None
    ) -> list[Statement]:
        if not self._thread.is_inside:
            self._run(lambda: None)
        return super().lookup(subject, predicate, object, most, graph)

    def read(self, function: Callable[[], T]) -> T:
        read = super().read
        return self._run(lambda: read(function))

    def try_read(self, function: Callable[[], T]) -> Reading[T] | None:
        read = super().try_read
        return self._run(lambda: read(function))

    def changed_since(self, number: int) -> Collection[NamedNode] | None:  # type: ignore[override]
        numbers = range(number + 1, self.commit() + 1)
        if not all(at in self._touched_by for at in numbers):
            return None
        return {node for at in numbers for node in self._touched_by[at]}

    def own_ids(self, member: int, ids: Sequence[str]) -> list[str]:
        """The ids in a member, by its number, of elements: after a MERGE they may be others."""
        id_of, renamed = self.iris.id, self.read(lambda: self._renamed)
        own = {id_of(link): id_of(there) for (at, there), link in renamed.items() if at == member}
        return [own.get(str(id), id) for id in ids]

    # Following --------------------------------------------------------------------------------

    def _is_behind(self) -> bool:
        self._require_open()
        for number, member in enumerate(self.members, 1):
            if member.store.closed:
                raise MemberClosedError(f"Member {number} of this view was closed.")
        return any(
            member.is_lost or member.store.commit() != member.shown for member in self.members
        )

    def _follow(self) -> None:
        """Take over what the members have committed."""
        if not self._is_behind():
            return
        with self._lock:
            for attempt in itertools.count():
                # What is done serves later requests, too.
                advance = self._advance
                if attempt < OVERTAKEN:
                    is_done = budget.without_limit(advance)
                else:
                    time.sleep(0.001)
                    is_done = self._advance_alone()
                if is_done:
                    return
                budget.check()

    def _advance_alone(self) -> bool:
        """The same while no member is written, if their writers let it soon.

        One of them may wait for this view, with the lock of its nexus, and writes nothing then.
        """
        locks = [member.store.lock for member in self.members if not member.store.read_only]

        def run(locks: Sequence[AbstractContextManager[Any]]) -> bool:
            if not locks:
                return budget.without_limit(lambda: self._advance(is_alone=True))
            with locks[0]:
                return run(locks[1:])

        try:
            return budget.spend_part(PATIENCE, lambda: run(locks))
        except KipError as error:
            if error.code != "KIP_4001":
                raise
        return budget.without_limit(self._advance)

    def _advance(self, is_alone: bool = False) -> bool:
        """Write what the members have touched; False if one of them was written meanwhile."""
        try:
            return self._take_over(is_alone)
        except BaseException:
            self.members[0].is_lost = True
            raise

    def _take_over(self, is_alone: bool) -> bool:
        facts = Facts()
        if any(member.is_lost for member in self.members):
            self._build(facts)
        stores = [member.store for member in self.members]
        sides = [Side(store.engine, store.iris, self.iris, facts) for store in stores]
        base, numbers, touched = self.iris.base, list[int](), list[set[NamedNode]]()
        for member in self.members:
            # A commit may be in the dataset and not be noted yet: the noted one counts.
            number, nodes = member.touched()
            numbers.append(number)
            touched.append(
                self._disputed.union(moved(n, member.store.iris.base, base) for n in nodes)
            )
        engine = self._engine if self._loaded is None else self._loaded
        view = Side(engine, self.iris, self.iris, facts)
        union = Union(sides, self.iris, facts)
        changed = change(union, view, touched, self._renamed, self._steps)
        pairs = list(zip(self.members, numbers, strict=True))
        if not all(member.is_at(number, is_alone) for member, number in pairs):
            return False
        self._renamed, self._steps = changed.renamed, changed.steps
        delta = Delta(changed.removed, changed.added, touched=changed.touched)
        if self._loaded is not None:
            self._replace(self._loaded, delta)
        elif delta:
            self.expire(delta)
            number = self._apply(delta)
            self._touched_by[number] = changed.touched
            self._touched_by.pop(number - KEPT_COMMITS, None)
        self._loaded, self._disputed = None, set()
        for member, number in pairs:
            member.show(number)
        return True

    def _build(self, facts: Facts) -> None:
        """Load all members into a fresh engine, while they may be written."""
        self._loaded = None
        for member in self.members:
            member.begin()
        iris, sides = self.iris, []
        for store in (member.store for member in self.members):
            engine = store.engine
            if store.iris.base != iris.base:
                engine = moved_copy(engine, store.iris.base, iris.base)
            sides.append(Side(engine, iris, iris, facts))
        fresh = Engine()
        self._disputed = load(fresh, sides, iris)
        self._loaded = fresh
        self._renamed, self._steps = {}, {}

    def _replace(self, engine: Engine, delta: Delta) -> None:
        """Take what was built, changed by a delta, as one commit."""
        replace(engine, delta.removed, delta.added)
        records: dict[str, str] = {}
        for member in self.members:
            records |= member.store.records()
        number = self._last.number + 1
        last = commit_note(number)
        engine.extend(notes_of(self.iris.base, records, last))
        self.expire(None)
        # Readers of the old engine go on, and see by the commit number that it is old.
        self._last = self._last._replace(is_certain=False, next=last)
        self._engine = engine
        self._last = CommitNumber(number, (last,))
        self._touched_by.clear()
        self._clear_derived()


def _leave(pairs: Sequence[tuple[OxigraphStore, Member]]) -> None:
    for store, member in pairs:
        store.followers.remove(member)
