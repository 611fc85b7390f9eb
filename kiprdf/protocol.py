"""Requests and responses of KIP 6, and the function-calling schemas.

The two schemas, ``execute_kip`` and ``execute_kip_readonly``, are generated from ``Request``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kiprdf.errors import KipError, KipWarning
from kiprdf.given_json import json_in, request_in
from kiprdf.loading import load

if TYPE_CHECKING:
    from kiprdf.request_models import Request

BATCH_COMMANDS = 256
_FIELDS = "The fields are command or commands, parameters, dry_run, as_of, view, why, entail."
_FORMS = {
    "command": '`command` is one text: {"command": "DESCRIBE PRIMER"}.',
    "commands": '`commands` is a list: {"commands": ["DESCRIBE PRIMER"]}.',
    "parameters": '`parameters` is an object: {"parameters": {"name": "Ada"}}.',
    "as_of": '`as_of` is {"time": "2026-01-31T12:00:00Z"} or {"seq": 12}.',
    "dry_run": "`dry_run` is true or false.",
    "why": "`why` is true or false.",
    "entail": '`entail` is true, false or "same_as"; left out, the memory decides.',
    "view": '`view` is "believed", or left out to read all.',
}
"""The hints for fields that callers often send in another form."""
_PLAIN = {"command", "parameters"}
_STRICT_COMMANDS = "KIP commands to run in order. The first write that fails ends the batch."
_READ = """\
Begin with `DESCRIBE PRIMER`, which says what the memory contains, and \
`DESCRIBE CONCEPT TYPE "Person"`, which lists the attributes and relations of a type. \
`SEARCH CONCEPT "words" LIMIT 5` finds elements by text, \
`FIND(?p.name, ?d.name) WHERE { ?p {type: "Person"} (?p, "belongs_to_domain", ?d) } LIMIT 10` \
by patterns: `{…}` is a concept, `(subject, "predicate", object)` a fact. Types, predicates and \
names are case-sensitive. After an `error`, correct the command with its `hint`. A result may come \
with `warnings`: why nothing was found, or what a SEARCH has not compared."""
_WRITE = """\
`UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {role: "engineer"} } } \
WITH METADATA {source: "conversation", confidence: 0.9}` creates or updates; UPDATE, MERGE and \
DELETE change and remove. """
_FUNCTIONS = {
    "execute_kip": f"Read and write the long-term memory with KIP commands. {_WRITE}{_READ}",
    "execute_kip_readonly": "Ask the long-term memory with KIP commands that only read. Prefer it "
    f"whenever nothing is to be written. {_READ}",
}
Style: TypeAlias = Literal["openai", "anthropic", "mcp"]
_ARGUMENTS_OF = {"openai": "parameters", "anthropic": "input_schema", "mcp": "inputSchema"}


def error_object(error: KipError) -> dict[str, str]:
    """The error object of a response; the message begins with the place as ``line:column``."""
    message, hint = _encodable(error.located_message), _encodable(error.hint)
    return {"code": error.code, "name": error.name, "message": message, "hint": hint}


def error_response(error: KipError) -> dict[str, Any]:
    """The response to a command that has failed, as JSON (KIP 6.2)."""
    return {"error": error_object(error)}


def response_of(
    result: Any, next_cursor: str | None, warnings: Sequence[KipWarning]
) -> dict[str, Any]:
    """The response to a command that has succeeded, as JSON (KIP 6.2); ``warnings`` say why its
    result is empty."""
    response: dict[str, Any] = {"result": result}
    if next_cursor is not None:
        response["next_cursor"] = next_cursor
    if warnings:
        response["warnings"] = [*map(_warning_object, warnings)]
    return response


def _warning_object(warning: KipWarning) -> dict[str, str]:
    content = {"name": warning.name, "message": _encodable(warning.located_message)}
    return content if warning.hint is None else {**content, "hint": _encodable(warning.hint)}


def _encodable(text: str) -> str:
    """A text without lone surrogates, which a quoted string may contain."""
    return text.encode("utf-8", "backslashreplace").decode()


def read_request(arguments: Any) -> Request:
    """Validate the arguments of a call; KIP_1001 names an invalid or missing field.

    What ``kiprdf.given_json`` reads is sent in another form, such as JSON in a text.

    >>> read_request({"command": "DESCRIBE PRIMER", "dry_run": "true"}).dry_run
    True
    >>> read_request({"command": "DESCRIBE PRIMER", "dryrun": True})
    Traceback (most recent call last):
    kiprdf.errors.KipError: KIP_1001 The request is malformed: dryrun is not a field. Hint: ...
    """
    load("kiprdf.request_models")
    from kiprdf.request_models import Request, ValidationError

    arguments = json_in(arguments, dict)
    if isinstance(arguments, Mapping):
        if "function" in arguments and "command" not in arguments:
            message = "The request is a function call, not its arguments."
            raise KipError("KIP_1001", message, "Send the object under `arguments` itself.")
        arguments = request_in(arguments)
        _check_size(arguments)
    try:
        request = Request.model_validate(arguments)
    except ValidationError as fault:
        faults = fault.errors(include_input=False, include_url=False)[:3]
        message = f"The request is malformed: {'; '.join(map(_detail, faults))}."
        forms = dict.fromkeys(_hint(item) for item in faults)
        raise KipError("KIP_1001", message, " ".join(forms)) from None
    except RecursionError:
        raise KipError("KIP_4002", "The request nests too deeply.", "Flatten it.") from None
    if (request.command is None) == (request.commands is None):
        message = "A request has exactly one of `command` and `commands`."
        raise KipError("KIP_1001", message, "Send one of the two.")
    return request


def plain_command(arguments: Any) -> tuple[str, dict[str, Any]] | None:
    """The command and the parameters of a request with nothing else, as nearly all are.

    None for every other one, which ``read_request`` reads (docs/decisions/104).

    >>> plain_command({"command": "DESCRIBE PRIMER"})
    ('DESCRIBE PRIMER', {})
    """
    if type(arguments) is not dict or not arguments.keys() <= _PLAIN:
        return None
    command, parameters = arguments.get("command"), arguments.get("parameters", {})
    if type(command) is not str or type(parameters) is not dict:
        return None
    for text in (command, *parameters):
        # pydantic refuses lone surrogates.
        if type(text) is not str or not text.isascii():
            return None
    return command, parameters


def _check_size(arguments: Mapping[Any, Any]) -> None:
    """Refuse requests for which pydantic would collect a huge number of errors."""
    commands = arguments.get("commands")
    if isinstance(commands, list | tuple) and len(commands) > BATCH_COMMANDS:
        message = f"A batch has {len(commands)} commands; {BATCH_COMMANDS} are allowed."
        raise KipError("KIP_4002", message, "Send several batches.")
    if len(arguments) > BATCH_COMMANDS:
        message = f"The request is malformed: it has {len(arguments)} fields."
        raise KipError("KIP_1001", message, _FIELDS)


def _detail(item: Any) -> str:
    """One validation error of pydantic as text."""
    parts = [str(part) for part in item["loc"] if part not in ("CommandItem", "str")]
    place = ".".join(parts) or "request"
    if item["type"] == "extra_forbidden":
        return f"{place} is not a field"
    if item["type"] in ("model_type", "dict_type"):
        return f"{place} must be an object"
    return f"{place}: {item['msg']}"


def _hint(item: Any) -> str:
    """The form of the field of a validation error, or the names of all fields."""
    places = item["loc"]
    if item["type"] == "extra_forbidden":
        places = [place for place in places[:-1] if place != "commands"]
    return next((_FORMS[part] for part in reversed(places) if part in _FORMS), _FIELDS)


def function_schemas(style: Style = "openai", *, strict: bool = False) -> list[dict[str, Any]]:
    """The function-calling definitions of both functions, for the tool list of a language model.

    A style names the schema of the arguments: ``parameters`` for ``openai`` (the object
    ``function`` of a tool), ``input_schema`` for ``anthropic``, ``inputSchema`` for ``mcp``.
    ``strict`` gives the schema that strict modes demand: all objects are closed and all fields
    required, some of them nullable. These modes allow no object with free keys, so ``parameters``
    and commands with their own parameters are missing: the commands contain the values. ``openai``
    and ``anthropic`` definitions then have ``strict``. Raises ``ValueError`` for another style.

    >>> [schema["name"] for schema in function_schemas()]
    ['execute_kip', 'execute_kip_readonly']
    >>> sorted(function_schemas("anthropic", strict=True)[0])
    ['description', 'input_schema', 'name', 'strict']
    """
    if style not in _ARGUMENTS_OF:
        raise ValueError(f"The styles are {', '.join(_ARGUMENTS_OF)}.")
    flag = {"strict": True} if strict and style != "mcp" else {}
    return [
        {
            "name": name,
            "description": description,
            _ARGUMENTS_OF[style]: _strict_schema() if strict else _request_schema(),
            **flag,
        }
        for name, description in _FUNCTIONS.items()
    ]


def _request_schema() -> dict[str, Any]:
    """The JSON Schema of a request, without the title and description of the class."""
    load("kiprdf.request_models")
    from kiprdf.request_models import Request

    schema = Request.model_json_schema()
    return {key: part for key, part in schema.items() if key not in ("title", "description")}


def _strict_schema() -> dict[str, Any]:
    """The JSON Schema of a request without parameters, in which every field is required."""
    load("kiprdf.request_models")
    from kiprdf.request_models import Request

    fields = Request.model_fields
    null = {"type": "null"}
    types: dict[str, dict[str, Any]] = {
        "command": {"anyOf": [{"type": "string"}, null]},
        "commands": {"anyOf": [{"type": "array", "items": {"type": "string"}}, null]},
        "dry_run": {"type": "boolean"},
    }
    properties = {
        name: {**type_, "description": fields[name].description} for name, type_ in types.items()
    }
    properties["commands"]["description"] = _STRICT_COMMANDS
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
