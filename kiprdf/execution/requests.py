"""Requests and batches of KIP 6, JSON in and JSON out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any

from kiprdf import protocol
from kiprdf.errors import KipError
from kiprdf.execution.engine import CommandEngine
from kiprdf.language import ast
from kiprdf.semantics import check

if TYPE_CHECKING:
    from kiprdf.request_models import AsOf, Request


def respond(engine: CommandEngine, arguments: Any, *, readonly: bool) -> dict[str, Any]:
    """The response to a request; a failure is an error object in it (KIP 6.2)."""
    plain = protocol.plain_command(arguments)
    if plain is not None:
        return _run(engine, *plain, False, readonly)[0]
    try:
        request = protocol.read_request(arguments)
    except KipError as error:
        return protocol.error_response(error)
    if request.command is None:
        return _run_batch(engine, request, readonly)
    command, parameters = request.command, request.parameters
    return _run_as_of(engine, request.as_of, command, parameters, request.dry_run, readonly)[0]


def _run_batch(engine: CommandEngine, request: Request, readonly: bool) -> dict[str, Any]:
    """Run the commands in order; the first write whose execution fails is the last.

    In a dry run a write is executed on a copy of the nexus, so that later commands see its effect.
    """
    responses = []
    items = request.commands or ()
    dry_run = request.dry_run
    with ExitStack() as stack:
        for number, item in enumerate(items, start=1):
            text = item if isinstance(item, str) else item.command
            own = {} if isinstance(item, str) else item.parameters
            parameters = {**request.parameters, **own}
            if dry_run and number < len(items) and _writes(engine, text, parameters, readonly):
                engine = stack.enter_context(closing(engine.copy()))
                dry_run = False
            as_of = request.as_of if isinstance(item, str) else item.as_of or request.as_of
            response, is_last = _run_as_of(engine, as_of, text, parameters, dry_run, readonly)
            responses.append(response)
            if is_last:
                break
    return {"result": responses}


def _run_as_of(
    engine: CommandEngine,
    as_of: AsOf | None,
    text: str,
    parameters: Mapping[str, Any],
    dry_run: bool,
    readonly: bool,
) -> tuple[dict[str, Any], bool]:
    """The response to one command, which may ask for an earlier state of the nexus."""
    if as_of is None:
        return _run(engine, text, parameters, dry_run, readonly)
    try:
        past = engine.past(as_of.when)
    except KipError as error:
        return protocol.error_response(error), False
    with closing(past):
        response = _run(past, text, parameters, dry_run, readonly)[0]
        return {**response, "snapshot_seq": past.store.commit()}, False


def _writes(
    engine: CommandEngine, text: str, parameters: Mapping[str, Any], readonly: bool
) -> bool:
    """Whether a command is a write that may run."""
    with suppress(KipError):
        return isinstance(engine.prepare(text, parameters, readonly), ast.Manipulation)
    return False


def _run(
    engine: CommandEngine, text: str, parameters: Mapping[str, Any], dry_run: bool, readonly: bool
) -> tuple[dict[str, Any], bool]:
    """The response to one command, and whether it ends a batch."""
    command: ast.Command | None = None
    try:
        answer = engine.answer_cached(text, parameters)
        if answer is None:
            command = engine.prepare(text, parameters, readonly, by_shape=True)
            answer = engine.execute(command, text, parameters, dry_run)
    except KipError as error:
        is_write = isinstance(command, ast.Manipulation)
        is_last = is_write and not _is_malformed(engine, command, error)
        return protocol.error_response(error), is_last
    return protocol.response_of(*answer), False


def _is_malformed(engine: CommandEngine, command: Any, error: KipError) -> bool:
    """Whether a write failed for its form; then it was never executed (KIP 6.2.2)."""
    if not error.code.startswith("KIP_1"):
        return False
    try:
        check(command, engine.catalogs.catalog())
    except KipError:
        return True
    return False
