"""The earlier states that pages asked for last, which stay open: the next one is near them.

What was forgotten is in none of them: they are dropped before a history is replaced by another, and
those that are read just then when the last page is made (docs/decisions/220).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock

from kiprdf.dataclasses import dataclass
from kiprdf.nexus import Nexus
from kiprdf.store.journal import Journal
from kiprdf.store.timeline import Timeline

KEPT = 3
"""The states that a server keeps open, of all its nexuses together."""


@dataclass(eq=False)
class _State:
    """An earlier state of a nexus, by its commit and by the version of the journal."""

    nexus: Nexus
    of: tuple[Timeline, str]
    number: int
    users: int = 1


class PastStates:
    """Opens earlier states, and keeps those that were used last."""

    def __init__(self) -> None:
        self._lock = Lock()
        # A state takes memory, and a processor: many clients wait for each other.
        self._opening = Lock()
        # Those that were used last are the last ones.
        self._states: list[_State] = []

    def follow(self, journal: Journal) -> Timeline:
        """The commits of a journal; states made of records that are gone are closed."""
        timeline = Timeline(journal)
        journal.dependents.append(partial(self._close, timeline))
        return timeline

    @contextmanager
    def at(self, nexus: Nexus, timeline: Timeline, number: int) -> Iterator[Nexus]:
        """The nexus as of a commit, to read; raises ``KipError`` as ``Nexus.at`` does."""
        journal = timeline.journal
        if nexus.read_only:
            # A writer may have replaced the files.
            journal.refresh()
        state = self._used(timeline, number)
        if state is None:
            with self._opening:
                state = self._used(timeline, number) or self._opened(nexus, timeline, number)
        # The default of the nexus may have changed since the state was opened.
        state.nexus._engine.inherited_entail = nexus.entail
        try:
            yield state.nexus
        finally:
            with self._lock:
                state.users -= 1
                is_dropped = state not in self._states and not state.users
            if is_dropped:
                state.nexus.close()

    def _used(self, timeline: Timeline, number: int) -> _State | None:
        """A state that is kept, with one more user."""
        of = timeline, timeline.journal.version
        with self._lock:
            for state in self._states:
                if (state.of, state.number) == (of, number):
                    state.users += 1
                    self._states.remove(state)
                    self._states.append(state)
                    return state
        return None

    def _opened(self, nexus: Nexus, timeline: Timeline, number: int) -> _State:
        while True:
            of = timeline, timeline.journal.version
            timeline.read(nexus.store.commit())
            with self._lock:
                idle = [one for one in self._states if one.of == of and not one.users]
                self._states = [one for one in self._states if one not in idle]
            opened: list[_State] = []
            try:
                past = nexus._nearest(number, [one.nexus for one in idle], timeline.size)
                opened.append(_State(past, of, number))
            finally:
                with self._lock:
                    # What was read before something was forgotten is not used.
                    is_current = of[1] == timeline.journal.version
                    states = [one for one in idle if not one.nexus.store.closed] + self._states
                    states += opened
                    surplus = [one for one in states if not one.users][: max(0, len(states) - KEPT)]
                    gone = [*surplus, *([] if is_current else [*idle, *opened])]
                    self._states = [one for one in states if one not in gone]
                for one in (*gone, *idle):
                    if one not in self._states:
                        one.nexus.close()
            if is_current:
                return opened[0]

    def _close(self, timeline: Timeline) -> None:
        """Close the states of a nexus; those that are read just now, when the last page is made."""
        with self._lock:
            dropped = [one for one in self._states if one.of[0] is timeline]
            self._states = [one for one in self._states if one not in dropped]
            unused = [one for one in dropped if not one.users]
        for state in unused:
            state.nexus.close()
