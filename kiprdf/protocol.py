"""Requests and responses of KIP 6, and the function-calling schemas.

The two schemas, ``execute_kip`` and ``execute_kip_readonly``, are generated from ``Request``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kiprdf.errors import KipError, KipWarning, encodable
from kiprdf.given_json import json_in, request_in
from kiprdf.loading import load

if TYPE_CHECKING:
    from kiprdf.request_models import Request

BATCH_COMMANDS = 256
LEAST_CHARS = 400
"""The least ``max_chars`` of a request."""
MAX_CHARS = 20_000
"""The ``max_chars`` of a call over MCP."""
_FIELDS = (
    "The fields are command or commands, parameters, dry_run, as_of, view, why, entail, max_chars."
)
_FORMS = {
    "command": '`command` is one text: {"command": "DESCRIBE PRIMER"}.',
    "commands": '`commands` is a list: {"commands": ["DESCRIBE PRIMER"]}.',
    "parameters": '`parameters` is an object: {"parameters": {"name": "Ada"}}.',
    "as_of": '`as_of` is {"time": "2026-01-31T12:00:00Z"} or {"seq": 12}.',
    "dry_run": "`dry_run` is true or false.",
    "max_chars": f"`max_chars` is an integer from {LEAST_CHARS}, such as 20000.",
    "why": "`why` is true or false.",
    "entail": '`entail` is true, false or "same_as"; left out, the memory decides.',
    "view": '`view` is "believed", or left out to read all.',
}
"""The hints for fields that callers often send in another form."""
_PLAIN = {"command", "parameters"}
_STRICT = ("command", "commands", "parameters", "dry_run")
_NULL = {"type": "null"}
_OBJECT = "An object is sent as a text, which is its JSON."
_READ = """\
Begin with `DESCRIBE PRIMER`, which says what the memory contains, and \
`DESCRIBE CONCEPT TYPE "Person"`, which lists the attributes and relations of a type. \
`SEARCH CONCEPT "words" LIMIT 5` finds elements by text, \
`FIND(?p.name, ?d.name) WHERE { ?p {type: "Person"} (?p, "belongs_to_domain", ?d) } LIMIT 10` \
by patterns: `{…}` is a concept, `(subject, "predicate", object)` a fact. Types, predicates and \
names are case-sensitive. After an `error`, correct the command with its `hint`. A result may come \
with `warnings`: why nothing was found, what was cut, what a SEARCH has not compared, or that what \
was written looks like a mistake."""
_WRITE = """\
`UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {role: "engineer"} } } \
WITH METADATA {source: "conversation", confidence: 0.9}` creates or updates; UPDATE, MERGE and \
DELETE change and remove. """
_FUNCTIONS = {
    "execute_kip": f"Read and write the long-term memory with KIP commands. {_WRITE}{_READ}",
    "execute_kip_readonly": "Ask the long-term memory with KIP commands that only read. Prefer it "
    f"whenever nothing is to be written. {_READ}",
}
Style: TypeAlias = Literal["openai", "anthropic", "gemini", "mcp"]
_ARGUMENTS_OF = {
    "openai": "parameters",
    "anthropic": "input_schema",
    "gemini": "parameters",
    "mcp": "inputSchema",
}


def error_object(error: KipError) -> dict[str, str]:
    """The error object of a response; the message begins with the place as ``line:column``."""
    message, hint = encodable(error.located_message), encodable(error.hint)
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
        response["warnings"] = [*map(warning_object, warnings)]
    return response


def warning_object(warning: KipWarning) -> dict[str, str]:
    """A warning of a response; the message begins with the place as ``line:column``."""
    content = {"name": warning.name, "message": encodable(warning.located_message)}
    return content if warning.hint is None else {**content, "hint": encodable(warning.hint)}


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
        if arguments.keys() & {"function", "arguments"} and "command" not in arguments:
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
    if request.max_chars is not None and request.max_chars < LEAST_CHARS:
        message = f"`max_chars` is {request.max_chars}, and is at least {LEAST_CHARS}."
        raise KipError("KIP_1001", message, "Send a larger one, or leave it out for all.")
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

    A style is a provider, and names the schema of the arguments: ``parameters`` for ``openai`` (the
    object ``function`` of a tool) and ``gemini`` (a function declaration), ``input_schema`` for
    ``anthropic``, ``inputSchema`` for ``mcp``. No schema has references, defaults or constants,
    which some converters refuse; that of ``mcp`` does not say which objects are closed.

    ``strict`` gives the schema that strict modes demand: all objects are closed and all fields
    required, some of them nullable. These modes allow no object with free keys: ``parameters`` is
    JSON in a text, and commands have no parameters of their own. Fields that few commands need are
    missing, since the modes limit the number of nullable ones. ``openai`` and ``anthropic``
    definitions then have ``strict``. Gemini, which has no such mode, refuses objects with free
    keys and unions: it gets texts in their place, and all fields. Raises ``ValueError`` for another
    style.

    >>> [schema["name"] for schema in function_schemas()]
    ['execute_kip', 'execute_kip_readonly']
    >>> sorted(function_schemas("anthropic", strict=True)[0])
    ['description', 'input_schema', 'name', 'strict']
    """
    return [
        in_style(name, description, _request_schema(), style, strict=strict, fields=_STRICT)
        for name, description in _FUNCTIONS.items()
    ]


def in_style(
    name: str,
    description: str,
    schema: dict[str, Any],
    style: Style,
    *,
    strict: bool = False,
    fields: Collection[str] | None = None,
) -> dict[str, Any]:
    """The definition of a function in a style; a strict one has the ``fields``, or all."""
    if style not in _ARGUMENTS_OF:
        raise ValueError(f"The styles are {', '.join(_ARGUMENTS_OF)}.")
    if style == "gemini":
        schema = _without_unions(schema)
    elif strict:
        schema = _strict_schema(_without_unions(schema), fields)
    elif style == "mcp":
        # The package of Gemini, which takes tools of MCP, fails at a Boolean in the place of one.
        schema = json.loads(json.dumps(schema), object_hook=_open)
    flag = {"strict": True} if strict and style in ("openai", "anthropic") else {}
    return {"name": name, "description": description, _ARGUMENTS_OF[style]: schema, **flag}


def _request_schema() -> dict[str, Any]:
    """The JSON Schema of a request, without the title and description of the class."""
    load("kiprdf.request_models")
    from kiprdf.request_models import Request

    schema = Request.model_json_schema()
    plain: dict[str, Any] = _plain(schema, schema.pop("$defs"))
    del plain["description"]
    return plain


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A schema of pydantic with all in its place, and without what only pydantic reads.

    A field that may be null may as well be missing.
    """
    if "$ref" in schema:
        definition = definitions[schema["$ref"].rpartition("/")[2]]
        # What the field says comes before what its class says.
        schema = {**definition, **{key: schema[key] for key in schema if key != "$ref"}}
    plain: dict[str, Any] = {}
    for key, part in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(field, definitions) for name, field in part.items()}
        elif key == "items":
            plain[key] = _plain(part, definitions)
        elif key == "const":
            plain["enum"] = [part]
        elif key == "anyOf":
            options = [_plain(one, definitions) for one in part if one != _NULL]
            plain = {**plain, key: options} if len(options) > 1 else {**options[0], **plain}
        elif key not in ("default", "title"):
            plain[key] = part
    return plain


def _open(node: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in node.items() if key != "additionalProperties"}


def _without_unions(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without unions, free keys and closed objects: texts, which are read as well."""
    schema = _open(schema)
    if "anyOf" in schema:
        options = schema.pop("anyOf")
        names = [name for one in options for name in one.get("enum", ())]
        switches = ["true", "false"] if {"type": "boolean"} in options else []
        kind: dict[str, Any] = {"enum": switches + names} if names else {"description": _OBJECT}
        return {"type": "string", **kind, **schema}
    if "items" in schema:
        schema["items"] = _without_unions(schema["items"])
    elif "properties" in schema:
        properties = schema["properties"].items()
        schema["properties"] = {name: _without_unions(field) for name, field in properties}
    elif schema["type"] == "object":
        schema["type"] = "string"
        schema["description"] += f" {_OBJECT}"
    return schema


def _strict_schema(schema: dict[str, Any], fields: Collection[str] | None) -> dict[str, Any]:
    """A schema of an object without unions, in which some fields, or all, are required."""
    required, properties = schema.get("required", ()), {}
    for name, field in schema["properties"].items():
        if fields is None or name in fields:
            has_null = name not in required and field["type"] != "boolean"
            meaning = {"description": field.pop("description")}
            properties[name] = {**({"anyOf": [field, _NULL]} if has_null else field), **meaning}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
