"""Requests and batches of KIP 6, JSON in and JSON out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kiprdf import protocol
from kiprdf.actors import acting_as, acting_on
from kiprdf.budget import without_limit
from kiprdf.errors import KipError
from kiprdf.execution.engine import CommandEngine
from kiprdf.execution.sizes import EACH, Sent, fitted, shared, size
from kiprdf.kql.beliefs import is_marked, marked
from kiprdf.kql.entailment import Entail
from kiprdf.language import ast
from kiprdf.semantics import check

if TYPE_CHECKING:
    from kiprdf.request_models import AsOf, Request


def respond(engine: CommandEngine, arguments: Any, *, readonly: bool) -> dict[str, Any]:
    """The response to a request; a failure is an error object in it (KIP 6.2)."""
    plain = protocol.plain_command(arguments)
    if plain is not None:
        return _run(engine, _Asked(), *plain, False, readonly)
    try:
        request = protocol.read_request(arguments)
    except KipError as error:
        return protocol.error_response(error)
    if request.command is None:
        # Each command has its own time; what they write is on the disk before the response is sent.
        batch = partial(_run_batch, engine, request, readonly)
        try:
            return engine.boundary.run(batch, spend=lambda run: run())
        except KipError as error:
            return protocol.error_response(error)
    asked = _Asked(request.as_of, request.view, request.why, request.entail)
    fit = None if request.max_chars is None else partial(fitted, most=request.max_chars)
    return _run_as(
        engine, asked, request.command, request.parameters, request.dry_run, readonly, fit
    )


def _run_batch(engine: CommandEngine, request: Request, readonly: bool) -> dict[str, Any]:
    """Run the commands in order; the first write whose execution fails is the last.

    In a dry run a write is executed on a copy of the nexus, so that later commands see its effect.
    """
    responses = []
    items = request.commands or ()
    dry_run, left, fit = request.dry_run, request.max_chars, None
    if left is not None:
        left -= size({"result": []})
        if left // EACH < len(items):
            message = f"max_chars {request.max_chars} is too small for {len(items)} responses."
            hint = f"Send max_chars {(len(items) + 1) * EACH}, or fewer commands."
            return protocol.error_response(KipError("KIP_4002", message, hint))
    with ExitStack() as stack:
        for number, item in enumerate(items, start=1):
            text = item if isinstance(item, str) else item.command
            own = {} if isinstance(item, str) else item.parameters
            parameters = {**request.parameters, **own}
            if dry_run and number < len(items) and _writes(engine, text, parameters, readonly):
                actor = acting_on(engine.writer)
                engine = stack.enter_context(closing(engine.copy()))
                # Who may only propose would change nothing that the next command sees.
                access = "write" if actor.access == "propose" else actor.access
                stack.enter_context(acting_as(engine.writer, actor._replace(access=access)))
                dry_run = False
            asked = _Asked(request.as_of, request.view, request.why, request.entail)
            if not isinstance(item, str):
                as_of, view, is_why, entail = asked
                entail = entail if item.entail is None else item.entail
                asked = _Asked(item.as_of or as_of, item.view or view, item.why or is_why, entail)
            if left is not None:
                # What a response leaves of its share is for those that follow.
                fit = partial(shared, most=left // (len(items) - number + 1) - len(", "))
            response = _run_as(engine, asked, text, parameters, dry_run, readonly, fit)
            responses.append(response)
            if left is not None:
                left -= size(response) + len(", ")
            error = response.get("error")
            if error and asked.as_of is None and _writes(engine, text, parameters, readonly, error):
                break
    return {"result": responses}


class _Asked(NamedTuple):
    """What a command is asked for besides: an earlier state, what is believed, why, and what
    follows."""

    as_of: AsOf | None = None
    view: str | None = None
    why: bool = False
    entail: Entail | None = None

    def fields(self) -> dict[str, Any]:
        """What is asked for, as the fields of a request."""
        given = {key: value for key, value in self._asdict().items() if value not in (None, False)}
        if self.as_of is not None:
            given["as_of"] = self.as_of.model_dump(exclude_none=True)
        return given if self.entail is not False else {**given, "entail": False}


class _Fit(Protocol):
    """Cuts a response to its size."""

    def __call__(self, response: dict[str, Any], *, sent: Sent) -> dict[str, Any]: ...


def _run_as(
    engine: CommandEngine,
    asked: _Asked,
    text: str,
    parameters: Mapping[str, Any],
    dry_run: bool,
    readonly: bool,
    fit: _Fit | None = None,
) -> dict[str, Any]:
    """The response to one command."""
    text = text if asked.view is None or is_marked(text) else marked(text)
    with ExitStack() as stack:
        beside = {}
        if asked.as_of is not None:
            try:
                engine = stack.enter_context(closing(engine.past(asked.as_of.when)))
            except KipError as error:
                return protocol.error_response(error)
            beside = {"snapshot_seq": engine.store.commit()}
        response = {**_run(engine, asked, text, parameters, dry_run, readonly), **beside}
        if fit is None:
            return response
        sent = Sent(engine, text, parameters, asked.entail, dry_run, asked.fields())
        return fit(response, sent=sent)


def _writes(
    engine: CommandEngine,
    text: str,
    parameters: Mapping[str, Any],
    readonly: bool,
    error: Mapping[str, Any] | None = None,
) -> bool:
    """Whether a command is a write that may run, and that its error did not refuse for its form
    (KIP 6.2.2)."""

    def check_form() -> ast.Command:
        command = engine.prepare(text, parameters, readonly)
        if error is not None and error["code"].startswith("KIP_1"):
            check(command, engine.catalogs.catalog())
        return command

    with suppress(KipError):
        # After an error the time of the request may be over.
        command = check_form() if error is None else without_limit(check_form)
        return isinstance(command, ast.Manipulation)
    return False


def _run(
    engine: CommandEngine,
    asked: _Asked,
    text: str,
    parameters: Mapping[str, Any],
    dry_run: bool,
    readonly: bool,
) -> dict[str, Any]:
    """The response to one command on the state of an engine."""
    try:
        if asked.why:
            return engine.why(text, parameters, entail=asked.entail).response()
        answer = engine.answer(
            text, parameters, dry_run=dry_run, readonly=readonly, entail=asked.entail
        )
    except KipError as error:
        return protocol.error_response(error)
    return protocol.response_of(*answer)
