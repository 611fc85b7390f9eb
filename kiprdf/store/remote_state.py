"""The data that a remote store has read of one commit, and the run of a function that reads it."""

from __future__ import annotations

from collections.abc import Collection

from pyoxigraph import NamedNode, Quad, Triple
from pyoxigraph import Store as Engine


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

    def __init__(self, state: State, is_checked: bool = False) -> None:
        self._state = state
        self._has_read = is_checked
        self.is_checked = is_checked
        self.stands_alone = False
        self.copy: Engine | None = None

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
