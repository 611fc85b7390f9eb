"""A transaction of the library: it reads, and what it writes is one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyoxigraph import NamedNode, Triple

from kiprdf import collector
from kiprdf.errors import KipError, shown
from kiprdf.execution.find_options import refuse_entail
from kiprdf.execution.naming import node_of
from kiprdf.execution.writer import keyword, run_in
from kiprdf.kml import statements
from kiprdf.kml.erased import drop_erased
from kiprdf.kml.rejections import FactKeys
from kiprdf.kml.trust import with_unreviewed
from kiprdf.kql.entailment import Entail
from kiprdf.language import ast
from kiprdf.language.limits import NESTING
from kiprdf.rdf.elements import Proposition
from kiprdf.rows import Rows
from kiprdf.semantics import check
from kiprdf.semantics.arguments import RESERVED_METADATA

if TYPE_CHECKING:
    from kiprdf.execution.engine import CommandEngine

T = TypeVar("T")
Key: TypeAlias = str | int
"""An id, or the number of an element in a call of ``write``."""
Fact: TypeAlias = str | tuple[str, str, str]
"""The id of a proposition, or subject, predicate and object, of which the ends are ids."""


class Transaction:
    """Reads a nexus as it was before, and drafts what ``Nexus.transaction`` commits."""

    def __init__(self, engine: CommandEngine) -> None:
        self._engine = engine
        self._draft = engine.writer.new_draft()
        self._is_over = False
        self._written: set[str] = set()
        self._removed: dict[str, NamedNode] = {}
        self._last_receipt: dict[str, Any] = {}

    @property
    def unreviewed(self) -> list[str]:
        """The ids of what was reviewed and is not any more, known after the transaction.

        The receipt of its last statement has them, too.
        """
        return self._draft.unreviewed

    def find(self, command: str, /, *, entail: Entail | None = None, **parameters: Any) -> Rows:
        """The rows of a FIND, as those of ``Nexus.find`` without the reasons of an empty answer."""
        return self._engine.find(command, parameters, entail=entail, warn=False)

    def execute(self, command: str, /, **parameters: Any) -> dict[str, Any]:
        """Run a statement that writes; return its receipt.

        Its WHERE sees the nexus as it was before.
        """
        refuse_entail(command, parameters)
        bound = self._engine.prepare(command, parameters)
        if not isinstance(bound, ast.Manipulation):
            message = "This call takes statements that write."
            raise KipError("KIP_1001", message, "Ask with find().", keyword(bound), command)
        return self._run(bound, command)

    def write(
        self, elements: Iterable[Mapping[str, Any]] = (), removed: Iterable[str] = ()
    ) -> None:
        """Write elements, and delete others by their ids with every proposition about them.

        An element is a dict as FIND shows it: ``type`` and ``name`` of a concept, or ``subject``,
        ``predicate`` and ``object`` of a proposition, and ``attributes`` and ``metadata``, which
        are added to those it has. An end is an id, or a dict with the identity of an element.
        What is ``removed`` and written in the same transaction stays, and so does what is not
        there.
        """
        numbered = _Elements()
        for element in elements:
            values = numbered.values.setdefault(numbered.number(element), ({}, {}))
            for kept, name in zip(values, ("attributes", "metadata"), strict=True):
                kept.update(_map(element, name))
        for id in [removed] if isinstance(removed, str) else removed:
            self._removed[id] = node_of(id, self._engine.store.iris)
        command = statements.upsert(numbered.written(), numbered.resolved)
        self._engine.writer.require_writable()
        receipt = self._run(command)
        self._written.update(receipt["upsert_concept_nodes"], receipt["upsert_proposition_links"])

    def drop_erased(self) -> int:
        """Leave out what the erasure list names of all that was written; return its number."""
        self._draft.listed = self._engine.writer.erasures
        drop_erased(self._draft)
        self._written -= set(map(self._draft.shown_id, self._draft.erased))
        return len(self._draft.erased)

    def exists(self, id: str) -> bool:
        """Whether there is an element, after what was written and deleted so far."""
        draft, node = self._draft.shown, node_of(id, self._engine.store.iris)
        return draft.exists(node) and node not in draft.deleted

    def was_erased(self, id: str) -> bool:
        """Whether the erasure list names an id."""
        return self._engine.writer.lists(node_of(id, self._engine.writer.store.iris))

    def rejected(self, facts: Iterable[Fact]) -> set[Fact]:
        """Those of some facts that a person has rejected, which no write may state."""
        draft, writer = self._draft.shown, self._engine.writer
        if not writer.has_rejections(draft.store):
            return set()
        names, iris = FactKeys(draft), draft.store.iris
        digests: dict[Fact, list[str]] = {}
        for fact in facts:
            if isinstance(fact, str):
                element = draft.element(node_of(fact, iris))
                digests[fact] = names.digests(element) if isinstance(element, Proposition) else []
            else:
                subject, object_ = node_of(fact[0], iris), node_of(fact[2], iris)
                digests[fact] = names.digests_of(Triple(subject, iris.predicate(fact[1]), object_))
        rejected = writer.rejected_in(draft.store).among({*chain(*digests.values())}, draft.store)
        return {fact for fact, own in digests.items() if not rejected.isdisjoint(own)}

    def _run(self, command: ast.Manipulation, source: str | None = None) -> dict[str, Any]:
        def run() -> dict[str, Any]:
            if self._is_over:
                raise KipError("KIP_1001", "The transaction is over.", "Begin another one.")
            check(command, self._engine.catalogs.catalog())
            self._last_receipt = run_in(self._draft, command)
            return self._last_receipt

        return self._engine.boundary.run(lambda: collector.paused(run), source)

    def finish(self, *, dry_run: bool) -> None:
        """Check what was written, and commit it unless this is a dry run."""
        draft, self._is_over = self._draft, True
        if not draft.commands:
            return
        nodes = [node for id, node in self._removed.items() if id not in self._written]

        def run() -> None:
            draft.delete(draft.owned(list(filter(draft.shown.exists, nodes))))
            lost = next((node for node in draft.spans if node in draft.deleted), None)
            if lost is not None:
                message = f"{shown(draft.id(lost))} is written and deleted in one transaction."
                raise KipError("KIP_2002", message, "Write it in another one.")
            if not dry_run:
                self._engine.writer.runs_transaction = False
            self._engine.writer.commit_draft(draft, dry_run=dry_run)
            self._last_receipt |= with_unreviewed({}, draft)

        self._engine.boundary.run(lambda: collector.paused(run))


def transact(engine: CommandEngine, function: Callable[[Transaction], T], dry_run: bool) -> T:
    """Call a function with a transaction, commit what it writes, and return its result."""

    writer = engine.writer

    def run() -> T:
        transaction = Transaction(engine)
        result = function(transaction)
        transaction.finish(dry_run=dry_run)
        return result

    def write() -> T:
        if writer.runs_transaction:
            message = "A transaction runs in the function of a transaction."
            raise KipError("KIP_1001", message, "Write by the transaction that the function has.")
        writer.runs_transaction = True
        try:
            return run()
        finally:
            writer.runs_transaction = False

    if dry_run:
        return engine.store.read(run)
    writer.require_writable()
    return writer.store.write(write)


class _Elements:
    """Elements of a call by numbers, the same for the same identity; ends come before."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, ...]] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._by_object: dict[int, tuple[object, int]] = {}
        self.values: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}

    def number(self, element: object, depth: int = 0) -> int:
        """The number of an element; a dict that several contain is read once."""
        if id(element) in self._by_object:
            return self._by_object[id(element)][1]
        parts = self._identity(element, depth)
        number = self._numbers.setdefault(parts, len(self._parts))
        if number == len(self._parts):
            self._parts.append(parts)
        # The element is kept, so that no other gets its id.
        self._by_object[id(element)] = element, number
        return number

    def _identity(self, element: object, depth: int) -> tuple[Any, ...]:
        if depth > NESTING:
            message = f"An element is nested in more than {NESTING} propositions."
            raise KipError("KIP_4002", message, "Write it before, and send its id.")
        if isinstance(element, Mapping):
            type, name = element.get("type"), element.get("name")
            if isinstance(type, str) and isinstance(name, str):
                return type, name
            predicate = element.get("predicate")
            if isinstance(predicate, str) and "subject" in element and "object" in element:
                ends = (element["subject"], element["object"])
                subject, object_ = (
                    end if isinstance(end, str) else self.number(end, depth + 1) for end in ends
                )
                return subject, predicate, object_
        message = f"{element!r:.100} is no element."
        hint = "Write {'type': …, 'name': …}, or {'subject': …, 'predicate': …, 'object': …}."
        raise KipError("KIP_1001", message, hint)

    def written(self) -> list[statements.Element[Key]]:
        """The elements that have values, those that are ends first."""
        return [self._element(number, *self.values[number]) for number in sorted(self.values)]

    def resolved(self, key: Key) -> statements.Element[Key] | str:
        """The element of an end that is not written."""
        return key if isinstance(key, str) else self._element(key, {}, {})

    def _element(
        self, number: int, attributes: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> statements.Element[Key]:
        match self._parts[number]:
            case type, name:
                return statements.Concept(number, type, name, attributes, metadata)
            case subject, predicate, object_:
                return statements.Proposition(
                    number, subject, predicate, object_, attributes, metadata
                )
        raise AssertionError


def _map(element: object, name: str) -> Mapping[str, Any]:
    """Attributes or metadata, without what the engine maintains."""
    values = element.get(name) if isinstance(element, Mapping) else None
    if values is None:
        return {}
    if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
        message = f"The {name} of an element are no dict with texts as keys."
        raise KipError("KIP_1001", message, f"Write {{{name!r}: {{'key': 'value'}}}}.")
    return {key: values[key] for key in values if key not in RESERVED_METADATA}
