"""A lock in the bookkeeping graph, for engines that do not isolate updates (docs/decisions/077)."""

from __future__ import annotations

import random
import secrets
import time
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from kiprdf import budget
from kiprdf.rdf import vocab
from kiprdf.sparql import updates
from kiprdf.store.endpoint import Endpoint
from kiprdf.store.place import Place, highest

LEASE_S = 20.0
"""How long another's claim may stay unchanged before it counts as that of a dead process."""
USE_S = 8.0
"""How long after it was added a claim is still used."""
GRACE_S = 3.0
"""The wait after another's claim was removed: a request of its owner may still be running."""
CLAIM = NamedNode(vocab.KIP + "claim")
_PAUSE_S = 0.02


class Claims:
    """The claim of one process to write next, as one triple in the bookkeeping graph.

    It needs only that adding a triple, removing one and reading are each atomic. A process adds its
    claim, then reads all claims, and may write if its own is the only one: of two processes, the
    one whose claim came later sees the other's. Otherwise the claim of the one that began first
    stays, and the others are withdrawn until there is no earlier one.
    """

    def __init__(self, endpoint: Endpoint, place: Place) -> None:
        self._endpoint = endpoint
        self._place = place
        self._claim: str | None = None
        self._added_at = 0.0
        self._seen_at: dict[str, float] = {}

    @property
    def held(self) -> Quad | None:
        """The triple of the claim, if there is one that may still be used."""
        if self._claim is None or time.monotonic() - self._added_at > USE_S:
            return None
        return self._quad(self._claim)

    def acquire(self) -> int:
        """Wait until no other process may write, and return the number of the last commit.

        Raises KIP_4001 when the time of the running request is over, and ``EndpointFault``.
        """
        # The clock decides who is first, not who is safe.
        turn = f"{time.time_ns():020d}-{secrets.token_hex(8)}"
        self._add(turn)
        while True:
            number, claims = self._look()
            is_there = self._claim in claims
            others = claims - {self._claim}
            if is_there and not others and self.held is not None:
                return number
            is_first = all(turn < other for other in others)
            if not is_first and is_there:
                self.release()
            elif is_first and not (is_there and others):
                self._add(turn)
                continue
            self._remove_dead(others)
            budget.check()
            time.sleep(_PAUSE_S * random.uniform(0.5, 1.5))

    def spent(self) -> None:
        """Note that a commit has removed the claim."""
        self._claim = None

    def release(self) -> None:
        """Withdraw the claim, if there is one."""
        claim = self._claim
        if claim is not None:
            self._endpoint.update(updates.delete([self._quad(claim)]))
            self._claim = None

    def _add(self, turn: str) -> None:
        self.release()
        # Noted first: an update whose answer is lost may have happened.
        self._claim, self._added_at = f"{turn}-{secrets.token_hex(4)}", time.monotonic()
        self._endpoint.update(updates.insert([self._quad(self._claim)]))

    def _look(self) -> tuple[int, set[str]]:
        """The number of the last commit, and all claims."""
        text = updates.claims(self._place.bookkeeping, vocab.COMMIT, CLAIM)
        rows: Any = self._endpoint.select(text, self._place.dataset).rows
        return highest(number for number, _ in rows), {claim.value for _, claim in rows if claim}

    def _remove_dead(self, others: set[str]) -> None:
        now = time.monotonic()
        self._seen_at = {claim: self._seen_at.get(claim, now) for claim in others}
        dead = [claim for claim, seen_at in self._seen_at.items() if now - seen_at > LEASE_S]
        if dead:
            self._endpoint.update(updates.delete(map(self._quad, dead)))
            time.sleep(GRACE_S)

    def _quad(self, claim: str) -> Quad:
        graph = self._place.bookkeeping
        return Quad(NamedNode(f"{graph.value}/claim/{claim}"), CLAIM, Literal(claim), graph)
