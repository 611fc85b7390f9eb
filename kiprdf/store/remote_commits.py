"""Writes commits to a remote store: all or nothing, and none lost (docs/decisions/077).

A commit is one operation that tests the number of the commit before it. If the engine does not
isolate updates, a claim comes first (``Claims``). If the answer is lost, a token in the commit
shows whether it happened. A large delta is sent to separate graphs before its commit.
"""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf import budget, progress
from kiprdf.budget import Budget
from kiprdf.errors import KipError
from kiprdf.rdf import vocab
from kiprdf.sparql import requests, updates
from kiprdf.sparql.abilities import Abilities
from kiprdf.store.base import CommitConflict
from kiprdf.store.bookkeeping import record
from kiprdf.store.delta import Delta
from kiprdf.store.endpoint import WHOLE, Dataset, Endpoint
from kiprdf.store.folder import FORMAT
from kiprdf.store.http import EndpointFault
from kiprdf.store.layout import CHANGED, HEAD, LINKS, Head, Layout, Place, highest

WRITERS = frozenset(("fuseki", "oxigraph", "virtuoso"))
"""The engines on which concurrent writers lose nothing."""
MOST_MATCHED = 20
"""Typed values that a commit removes by matching them, where the engine does not by their names; a
hundred crash it."""
BATCH = 10_000
"""The most triples of one request."""
LARGEST_CLAIMED = 1_000_000
"""The most triples of one commit under a claim: while the engine reads them, which took 12 s, the
claim must not be removed, also if its process dies."""
KEPT_COMMITS = 200
"""The commits whose tokens and touched elements stay noted."""
FORGOTTEN_AT_ONCE = 50
NOTED_ELEMENTS = 500
LOOK_S = 3.0
"""How long to check for a commit whose answer was lost, while the command has time."""
SHORTEST_LOOK_S = 0.5
STAGE_HOURS = 24
"""Older stages are those of dead processes."""
TOKEN = NamedNode(vocab.KIP + "token")
INTRODUCED = NamedNode(vocab.KIP + "introduced")
_BUILT_IN = (vocab.STRING, vocab.INTEGER)
STAGE_TIME = NamedNode(vocab.KIP + "stage_time")
_NO_STAGE = updates.Stage(None, None)
_UNCERTAIN = (
    "The answer was lost, so the command may have been carried out: read what it writes before "
    "you send it again."
)
Outcome = OneOf["done", "overtaken", "open"]


class Commits:
    """Writes the commits of one store, one at a time."""

    def __init__(
        self,
        endpoint: Endpoint,
        place: Place,
        abilities: Abilities,
        base: str,
        layout: Layout,
    ) -> None:
        self._endpoint = endpoint
        self._place = place
        self._abilities = abilities
        self._layout = layout
        self._base = base
        self._claims = None if abilities.isolates else Claims(endpoint, place)
        self._introduced: set[Literal] = set()

    def commit(
        self, before: int, delta: Delta, records: dict[str, str], identity: str | None
    ) -> int:
        """Write a delta as the commit after ``before`` and return its number.

        ``records`` are those that the delta replaces, ``identity`` that of the nexus, if it has
        one. Raises ``CommitConflict`` where another commit came first, KIP_4002 for what the engine
        cannot hold, and ``EndpointFault``.
        """
        added = dict.fromkeys(self._layout.stored(delta.added))
        removed = [triple for triple in self._layout.stored(delta.removed) if triple not in added]
        self._refuse_long(added)
        self._introduce(added)
        with self._waiting(removed, list(added)) as (stage, triples):
            self._claim(before)
            if before == 0:
                # Two that change the same number exclude each other; two that add one may not.
                self._repeat(updates.insert([self._number(0)]))
            token = secrets.token_hex(16)
            notes = self._notes(before, token, delta, records, identity)
            text = self._text(before, notes, triples, stage, identity)
            is_long = self._claims is not None and stage is not _NO_STAGE
            with self._claims.beating() if self._claims and is_long else nullcontext():
                self._send(text, before, token)
        if self._claims is not None:
            self._claims.spent()
        number = before + 1
        if number % FORGOTTEN_AT_ONCE == 0:
            self._forget(number - KEPT_COMMITS)
        return number

    def _refuse_long(self, added: Iterable[Triple]) -> None:
        """Raise KIP_4002 for an IRI that the engine would cut."""
        most = self._abilities.max_iri_bytes
        if most is None:
            return
        for term in (term for triple in added for term in triple):
            if isinstance(term, NamedNode) and (size := len(term.value.encode())) > most:
                message = (
                    f"An IRI has {size} bytes, and this store keeps at most {most}: "
                    f"{term.value[:60]}…"
                )
                hint = "Give the element a shorter name; a character beyond ASCII takes 6 to 12."
                raise KipError("KIP_4002", message, hint)

    def _introduce(self, added: Iterable[Triple]) -> None:
        """Write each new datatype and language before a commit, which the engine may undo.

        When Virtuoso undoes an update, it forgets the names of those that came with it, but keeps
        using their numbers.
        """
        if self._abilities.keeps_datatypes:
            return
        examples = {
            Literal("", language=term.language) if term.language else Literal("", datatype=type)
            for term in (triple.object for triple in added)
            if isinstance(term, Literal) and (type := term.datatype) not in _BUILT_IN
        }
        new = examples - self._introduced
        if new:
            own = self._place.bookkeeping
            quads = [Quad(self._place.node("datatypes"), INTRODUCED, term, own) for term in new]
            self._repeat(updates.insert(sorted(quads, key=str)))
            self._introduced |= new

    def release(self) -> None:
        """Withdraw the claim that a statement which was not written has left."""
        if self._claims is not None:
            with suppress(EndpointFault):
                budget.spend(Budget(timeout_s=_seconds_to_look()), self._claims.release)

    def _claim(self, before: int) -> None:
        if self._claims is None or self._claims.held is not None:
            return
        number = self._claims.acquire()
        if number != before:
            raise CommitConflict(number)

    # The text ---------------------------------------------------------------------------------

    def _text(
        self,
        before: int,
        notes: tuple[list[Quad], list[Quad]],
        triples: tuple[Sequence[Triple], Sequence[Triple]],
        stage: updates.Stage,
        identity: str | None,
    ) -> str:
        graph = self._place.graph
        matched = self._matched(triples[0])
        named = [triple for triple in triples[0] if triple not in matched]
        last = self._number(before)
        removed, present = [*notes[0], last], [last]
        if before and identity is not None:
            # A store that was replaced may have the same number.
            present.append(self._head(before, identity))
        if self._claims is not None:
            claim = self._claims.held
            if claim is None:
                raise CommitConflict
            removed.append(claim)
            present.append(claim)
        return updates.commit(
            [*removed, *updates.with_graph(named, graph)],
            [*notes[1], self._number(before + 1), *updates.with_graph(triples[1], graph)],
            matched=updates.with_graph(matched, graph),
            graph=graph,
            stage=stage,
            present=present,
            only=None if before else last,
        )

    def _loses_end(self, triple: Triple) -> bool:
        """Whether a U+0000 at the end of a text is lost in an operation with a WHERE."""
        term = triple.object
        if self._abilities.unicode_constants or not isinstance(term, Literal):
            return False
        return term.value.endswith("\x00") and not term.value.isascii()

    def _matched(self, removed: Sequence[Triple]) -> list[Triple]:
        """The triples that the engine does not remove where a text names them."""
        if self._abilities.deletes_typed:
            return []
        return [triple for triple in removed if _is_typed(triple.object)]

    def _notes(
        self,
        before: int,
        token: str,
        delta: Delta,
        records: dict[str, str],
        identity: str | None,
    ) -> tuple[list[Quad], list[Quad]]:
        """The quads of the bookkeeping that a commit removes and adds, but its number."""
        own, node = self._place.bookkeeping, self._place.commit(before + 1)
        added = [self._quad(node, TOKEN, token)]
        is_listed = bool(delta.touched) or not (delta.added or delta.removed)
        if is_listed and len(delta.touched) <= NOTED_ELEMENTS:
            touched = sorted({element.value for element in delta.touched})
            added.append(self._quad(node, CHANGED, "\n".join(touched)))
        if before == 0:
            notes = {vocab.BASE: self._base, vocab.FORMAT: str(FORMAT), LINKS: self._layout.links}
            added += [self._quad(own, key, value) for key, value in notes.items()]
        changed = {key: value for key, value in delta.records.items() if records.get(key) != value}
        added += [self._quad(own, record(key), value) for key, value in changed.items()]
        removed = [self._quad(own, record(key), records[key]) for key in changed if key in records]
        if identity is not None:
            added.append(self._head(before + 1, identity))
            removed += [self._head(before, identity)] if before else []
        return removed, added

    def _head(self, number: int, identity: str) -> Quad:
        return self._quad(self._place.bookkeeping, HEAD, str(Head(number, identity)))

    def _quad(self, subject: NamedNode, key: NamedNode, value: str) -> Quad:
        return Quad(subject, key, Literal(value), self._place.bookkeeping)

    def _number(self, number: int) -> Quad:
        own = self._place.bookkeeping
        return Quad(own, vocab.COMMIT, Literal(str(number), datatype=vocab.INTEGER), own)

    # Sending ----------------------------------------------------------------------------------

    def _send(self, text: str, before: int, token: str) -> None:
        """Send a commit until it is certain that it happened, or that it never will.

        Sending it twice is harmless: it tests the number before it.
        """
        lost: EndpointFault | KipError | None = None
        try:
            answer = self._endpoint.update(text)
        except EndpointFault as fault:
            if not fault.may_have_run:
                raise
            lost = fault
        else:
            try:
                outcome, number = self._outcome(before, token)
            except (EndpointFault, KipError) as fault:
                lost = fault
            else:
                if outcome == "open" and self._claims is None:
                    raise self._endpoint.not_carried_out(answer)
        if lost is not None:
            outcome, number = self._resolved(text, before, token)
            if outcome == "open":
                raise self._uncertain(lost) from None
        if outcome != "done":
            # An open one has lost its claim.
            raise CommitConflict(number if outcome == "overtaken" else None)

    def _uncertain(self, fault: EndpointFault | KipError) -> Exception:
        if isinstance(fault, KipError):
            return KipError(fault.code, fault.message, _UNCERTAIN)
        spending = budget.current()
        if fault.is_timeout and spending is not None:
            return self._uncertain(spending.expired())
        fault.hint = _UNCERTAIN
        return fault

    def _resolved(self, text: str, before: int, token: str) -> tuple[Outcome, int]:
        """Check whether a commit happened, and send it again if it did not."""
        seconds = _seconds_to_look()
        end = time.monotonic() + seconds
        pause = 0.05
        while True:
            with suppress(EndpointFault, KipError):
                outcome, number = budget.spend(
                    Budget(timeout_s=seconds), lambda: self._outcome(before, token)
                )
                if outcome != "open":
                    return outcome, number
                if time.monotonic() < end:
                    self._endpoint.update(text)
            if time.monotonic() > end:
                return "open", before
            time.sleep(pause)
            pause = min(2 * pause, 0.5)

    def _outcome(self, before: int, token: str) -> tuple[Outcome, int]:
        """Whether a commit happened, "open" where it still can; and the number of the last one."""
        own = self._place.bookkeeping
        text = updates.outcome(own, vocab.COMMIT, self._place.commit(before + 1), TOKEN)
        rows: Any = self._endpoint.select(text, self._place.dataset).rows
        tokens = {cell.value for _, cell in rows if cell is not None}
        number = highest(cell for cell, _ in rows)
        if token in tokens:
            return "done", number
        # The token of a commit long ago is forgotten.
        is_certain = number > before and (tokens or number - before < KEPT_COMMITS)
        return "overtaken" if is_certain else "open", number

    def _forget(self, number: int) -> None:
        """Remove the notes of commits up to a number; if this fails, the next time does it."""
        first = max(1, number - 2 * FORGOTTEN_AT_ONCE)
        nodes = [self._place.commit(old) for old in range(first, number + 1)]
        if nodes:
            with suppress(EndpointFault, KipError):
                self._endpoint.update(updates.forget(nodes, self._place.bookkeeping))

    # Large commits ----------------------------------------------------------------------------

    @contextmanager
    def _waiting(
        self, removed: Sequence[Triple], added: Sequence[Triple]
    ) -> Iterator[tuple[updates.Stage, tuple[Sequence[Triple], Sequence[Triple]]]]:
        """Where the triples of a commit are staged, and those that its text itself names."""
        size = len(removed) + len(added)
        is_small = size <= (self._abilities.max_named_triples or BATCH)
        is_kept = not any(map(self._loses_end, (*removed, *added)))
        if is_small and is_kept and len(self._matched(removed)) <= MOST_MATCHED:
            yield _NO_STAGE, (removed, added)
            return
        if self._claims is not None and size > LARGEST_CLAIMED:
            most = f"this store takes at most {LARGEST_CLAIMED}"
            message = f"A commit of {size} triples is too large: {most}."
            raise KipError("KIP_4002", message, "Split it into smaller writes.")
        self._remove_old_stages()
        node = self._place.node("stage", secrets.token_hex(16))
        note = self._quad(node, STAGE_TIME, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        self._repeat(updates.insert([note]))
        stage = updates.Stage(
            self._stage(node, "removed", removed), self._stage(node, "added", added)
        )
        progress.report("committing", size)
        try:
            yield stage, ((), ())
        finally:
            with suppress(EndpointFault, KipError):
                self._remove_stage(node)

    def _stage(self, node: NamedNode, name: str, triples: Sequence[Triple]) -> NamedNode | None:
        if not triples:
            return None
        graph = NamedNode(f"{node.value}/{name}")
        remaining = iter(updates.with_graph(triples, graph))
        while batch := list(islice(remaining, self._abilities.max_triples or BATCH)):
            self._repeat(updates.insert(batch))
            progress.report("sending", len(batch))
        self._require_all(graph, len(set(triples)))
        return graph

    def _require_all(self, graph: NamedNode, expected: int) -> None:
        """Raise ``EndpointFault`` where a batch was accepted and not carried out."""
        dataset = WHOLE if self._place.graph is None else Dataset(named=(graph,))
        rows: Any = self._endpoint.select(requests.size(graph), dataset).rows
        received = highest(number for (number,) in rows)
        if received != expected:
            raise self._endpoint.not_carried_out(f"{received} of {expected} triples are there")

    def _repeat(self, text: str) -> None:
        """Send an update that may happen twice; once more if its answer is lost."""
        try:
            self._endpoint.update(text)
        except EndpointFault as fault:
            if not fault.may_have_run or fault.is_timeout:
                raise
            time.sleep(0.2)
            self._endpoint.update(text)

    def _remove_stage(self, node: NamedNode) -> None:
        # At once: the commit may still arrive, and must not find one of them alone.
        graphs = (NamedNode(f"{node.value}/{name}") for name in ("removed", "added"))
        self._endpoint.update(updates.drop(graphs))
        self._endpoint.update(updates.forget([node], self._place.bookkeeping))

    def _remove_old_stages(self) -> None:
        """Remove the stages that dead processes have left."""
        before = datetime.now(UTC) - timedelta(hours=STAGE_HOURS)
        text = updates.stages(self._place.bookkeeping, STAGE_TIME, f"{before:%Y-%m-%dT%H:%M:%SZ}")
        rows: Any = self._endpoint.select(text, self._place.dataset).rows
        for (node,) in rows:
            self._remove_stage(node)


def _seconds_to_look() -> float:
    spending = budget.current()
    left = None if spending is None else spending.seconds_left()
    return LOOK_S if left is None else min(LOOK_S, max(left, SHORTEST_LOOK_S))


def _is_typed(term: object) -> bool:
    """Whether a term is a literal of another datatype than strings and integers, or tagged."""
    return isinstance(term, Literal) and term.datatype not in _BUILT_IN


# Claims ---------------------------------------------------------------------------------------


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
