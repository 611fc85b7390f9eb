"""Explains an empty answer: at once, on the same state, within 50 ms or not at all.

See docs/decisions/053.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from kiprdf import budget
from kiprdf.budget import Budget
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, KipWarning
from kiprdf.kql import diagnosis
from kiprdf.kql.clauses import checked_text
from kiprdf.kql.diagnosis import Step
from kiprdf.kql.diagnosis.names import explain_name
from kiprdf.kql.identities import TURNED, check_identities, hint_of_write
from kiprdf.kql.results import Lack
from kiprdf.language import ast
from kiprdf.loading import lazy_logger
from kiprdf.meta.indexing import Indexer
from kiprdf.store import NexusStore
from kiprdf.store.cancellation import is_any_abandoned, run_cancellable

SECONDS = 0.05
"""How long the explanation of one answer may take."""
MOST_TYPES = 5
"""How many types a hint lists."""
_NAME = "UnknownName"
_NAMES = (_NAME, "UnknownKey")
_log = lazy_logger(__name__)


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What each clause of a WHERE leaves, and the reasons if that is nothing.

    ``steps`` have ``text``, ``position``, ``solutions`` and ``depth``.
    """

    steps: tuple[Step, ...]
    warnings: tuple[KipWarning, ...]

    def __repr__(self) -> str:
        """One line for each clause, then the warnings."""
        width = max((len(_counted(step)) for step in self.steps), default=0)
        lines = [f"{_counted(step):>{width}} after {_placed(step)}" for step in self.steps]
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


def diagnose(command: diagnosis.Question, text: str, store: NexusStore) -> Diagnosis:
    """The whole account of a checked command; KIP_3002 where an exact identity is missing."""
    check_identities(command.where, store)
    steps = diagnosis.steps(command, text, store)
    return Diagnosis(tuple(steps), _ordered(diagnosis.explain(command, text, store)))


def _ordered(warnings: Iterable[KipWarning]) -> tuple[KipWarning, ...]:
    """The clause first, then what is wrong in it."""
    return tuple(sorted(warnings, key=lambda warning: warning.name != "NoSolution"))


def _counted(step: Step) -> str:
    return f"{step.solutions} solution{'' if step.solutions == 1 else 's'}"


def _placed(step: Step) -> str:
    line, column = step.position
    return f"{'  ' * step.depth}{line}:{column} {step.text}"


def is_empty(command: ast.Command, result: Any) -> bool:
    """Whether the result of a command other than FIND says that nothing was found.

    >>> from kiprdf.language import parse
    >>> is_empty(parse('SEARCH CONCEPT "aspirin"'), [])
    True
    """
    match command:
        case ast.Export():
            return command.cursor is None and not (result["concepts"] or result["propositions"])
        case ast.Update():
            return not result["matched"]
        case ast.DeleteAttributes() | ast.DeleteMetadata() | ast.DeletePropositions():
            return not any(result.values())
        case ast.DeleteConcept():
            return not any(result.values())
        case ast.Search():
            return command.cursor is None and not result
        case _:
            return False


def reasons(
    command: ast.Command,
    text: str,
    commit: int,
    store: NexusStore,
    indexer: Indexer,
    lacks: Lack = "rows",
) -> tuple[KipWarning, ...]:
    """Why the answer to a command at a commit lacks something, as far as that is seen in time.

    It runs on a thread besides, since a scan of a type cannot be cancelled; none is started while
    one still runs.
    """
    spending = budget.current()
    if is_any_abandoned() or spending is None or not isinstance(text, str):
        return ()
    warnings: list[KipWarning] = []
    limit = Budget(SECONDS, max_product_rows=None)

    def explain() -> None:
        for warning in _explained(command, text, store, indexer, lacks):
            warnings.append(warning)

    def run() -> None:
        context = copy_context()  # the deadline
        run_cancellable(lambda _: context.run(store.try_read, explain), budget.current())

    try:
        budget.spend_part(limit, run)
    except KipError:
        pass  # what was seen in time is complete
    except Exception:
        # A mix of two states may break any rule.
        if store.commit() == commit:
            _log.exception("kiprdf failed to explain an empty answer")
    return _ordered(warnings) if store.commit() == commit else ()


def _explained(
    command: ast.Command, text: str, store: NexusStore, indexer: Indexer, lacks: Lack
) -> Iterator[KipWarning]:
    if isinstance(command, ast.Search):
        for warning in _explain_search(command, store, indexer):
            yield replace(warning, source=text)
    else:
        assert not isinstance(command, ast.Upsert | ast.Describe), command
        for warning in diagnosis.explain(command, text, store, lacks):
            hint = warning.hint
            if hint is not None and isinstance(command, ast.Update) and warning.name == _NAME:
                hint = hint_of_write(hint, "write")
            elif (
                hint is not None
                and isinstance(command, ast.Delete)
                and (warning.name in _NAMES or hint.startswith(TURNED))
            ):
                hint = hint_of_write(hint, "delete")
            yield replace(warning, hint=hint)


def _explain_search(
    command: ast.Search, store: NexusStore, indexer: Indexer
) -> Iterator[KipWarning]:
    """What the search finds with a lower threshold, or in other types; or names like its term."""
    if command.threshold is not None:
        for hit in indexer.search(replace(command, threshold=None, limit=ast.Scalar(1))).elements:
            score = hit["metadata"]["_score"]
            message = f"The best match has the score {score}."
            hint = f"Write THRESHOLD {score}, or leave it out."
            yield KipWarning("NoHit", message, hint, command.threshold.span)
            return
    if command.type is not None:
        hits = indexer.search(replace(command, type=None, threshold=None)).elements
        types = list(dict.fromkeys(hit.get("type", hit.get("predicate")) for hit in hits))
        if types:
            matches = f"Without WITH TYPE it matches: {', '.join(types[:MOST_TYPES])}."
            message = f"No {checked_text(command.type)} matches."
            yield KipWarning("NoHit", message, matches, command.type.span)
            return
    if command.kind == "CONCEPT":
        yield from explain_name(command.term, None, store)
