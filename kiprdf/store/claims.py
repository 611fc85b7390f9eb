"""A lock in the bookkeeping graph, for engines that do not isolate updates (docs/decisions/077)."""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from kiprdf import budget
from kiprdf.rdf import vocab
from kiprdf.sparql import updates
from kiprdf.store.endpoint import Endpoint
from kiprdf.store.http import EndpointFault
from kiprdf.store.place import Place, highest

LEASE_S = 20.0
"""How long another's claim may stay unchanged before it counts as that of a dead process."""
USE_S = 8.0
"""How long after it was added a claim is still used."""
GRACE_S = 3.0
"""The wait after another's claim was removed: a request of its owner may still be running."""
BEAT_S = 5.0
"""How often a claim is changed while a commit that takes long uses it."""
CLAIM = NamedNode(vocab.KIP + "claim")
BEAT = NamedNode(vocab.KIP + "beat")
_PAUSE_S = 0.02


class Claims:
    """The claim of one process to write next, as one triple in the bookkeeping graph.

    This needs only that adding a triple, removing one and reading are each atomic. A process adds
    its claim, then reads all claims, and may write if its own is the only one: of two processes,
    the one whose claim came later sees the other's. Otherwise the process that began first keeps
    its claim, and the others withdraw theirs until no earlier one is left.
    """

    def __init__(self, endpoint: Endpoint, place: Place) -> None:
        self._endpoint = endpoint
        self._place = place
        self._claim: str | None = None
        self._added_at = 0.0
        self._is_alone = False
        self._seen_at: dict[tuple[str, int], float] = {}

    @property
    def held(self) -> Quad | None:
        """The triple of the claim, if no other process may write and it may still be used."""
        if self._claim is None or not self._is_alone or self._is_old:
            return None
        return self._quad(self._claim)

    @property
    def _is_old(self) -> bool:
        return time.monotonic() - self._added_at > USE_S

    def acquire(self) -> int:
        """Wait until no other process may write, and return the number of the last commit.

        Raises KIP_4001 when the time of the running command is over, and ``EndpointFault``, also
        if the store does not carry out an update that it accepts.
        """
        # The clock decides who is first, not who is safe.
        turn = f"{time.time_ns():020d}-{secrets.token_hex(8)}"
        answer = self._add(turn)
        while True:
            number, claims = self._look()
            is_there = self._claim in claims
            if not is_there and answer:
                raise self._endpoint.not_carried_out(answer)
            answer = ""
            others = {claim: beat for claim, beat in claims.items() if claim != self._claim}
            if is_there and not others and not self._is_old:
                self._is_alone = True
                return number
            is_first = all(turn < other for other in others)
            if not is_first and is_there:
                self.release()
            elif is_first and not (is_there and others):
                answer = self._add(turn)
                continue
            self._remove_dead(others)
            budget.check()
            time.sleep(_PAUSE_S * random.uniform(0.5, 1.5))

    def spent(self) -> None:
        """Note that a commit has removed the claim."""
        self._claim, self._is_alone = None, False

    def release(self) -> None:
        """Withdraw the claim, if there is one."""
        claim, self._is_alone = self._claim, False
        if claim is not None:
            self._endpoint.update(updates.delete([self._quad(claim)]))
            self._claim = None

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Change the claim from time to time, so that it is not taken for a dead process's."""
        assert self._claim is not None
        node, graph = self._node(self._claim), self._place.bookkeeping
        is_over = threading.Event()
        beats: list[Quad] = []

        def run() -> None:
            while not is_over.wait(BEAT_S):
                beats.append(Quad(node, BEAT, Literal(len(beats) + 1), graph))
                with suppress(EndpointFault):
                    self._endpoint.update(updates.insert(beats[-1:]))

        thread = threading.Thread(target=run, name="kiprdf claim", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
            if beats:
                with suppress(EndpointFault):
                    self._endpoint.update(updates.delete(beats))

    def _add(self, turn: str) -> str:
        """Add a claim, and return what the store answered."""
        self.release()
        # Noted first: an update whose answer is lost may have happened.
        self._claim, self._added_at = f"{turn}-{secrets.token_hex(4)}", time.monotonic()
        return self._endpoint.update(updates.insert([self._quad(self._claim)]))

    def _look(self) -> tuple[int, dict[str, int]]:
        """The number of the last commit, and all claims, each with its last beat."""
        text = updates.claims(self._place.bookkeeping, vocab.COMMIT, CLAIM, BEAT)
        rows: Any = self._endpoint.select(text, self._place.dataset).rows
        claims: dict[str, int] = {}
        for _, claim, beat in rows:
            if claim is not None:
                beats = claims.get(claim.value, 0), 0 if beat is None else int(beat.value)
                claims[claim.value] = max(beats)
        return highest(number for number, _, _ in rows), claims

    def _remove_dead(self, others: dict[str, int]) -> None:
        now = time.monotonic()
        self._seen_at = {claim: self._seen_at.get(claim, now) for claim in others.items()}
        dead = [claim for (claim, _), seen_at in self._seen_at.items() if now - seen_at > LEASE_S]
        if dead:
            nodes = map(self._node, dead)
            self._endpoint.update(updates.forget(nodes, self._place.bookkeeping))
            time.sleep(GRACE_S)

    def _quad(self, claim: str) -> Quad:
        return Quad(self._node(claim), CLAIM, Literal(claim), self._place.bookkeeping)

    def _node(self, claim: str) -> NamedNode:
        return self._place.node("claim", claim)
