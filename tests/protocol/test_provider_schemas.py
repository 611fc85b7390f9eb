"""The schemas of function calls, by the rules and the public packages of four providers.

``google-genai`` (3.6.1 here) is large, and no extra: without it, its tests are skipped. The rules
that its package does not check are those of the table below.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kiprdf
from kiprdf.memory import functions as memory
from tests.nexus.support import medical

PLAIN = {"type", "description", "properties", "items", "enum", "required"}
KEYWORDS = {
    "openai": {*PLAIN, "anyOf", "additionalProperties"},
    "anthropic": {*PLAIN, "anyOf", "additionalProperties"},
    "mcp": {*PLAIN, "anyOf"},
    "gemini": PLAIN,
}
ALL = [(style, strict) for style in KEYWORDS for strict in (False, True)]
FIND = "FIND(?x.name) WHERE { ?x {type: :type} }"


def schemas(style: Any, strict: bool = False) -> dict[str, dict[str, Any]]:
    """The schemas of the arguments of all four functions, by name."""
    give: list[Callable[..., list[dict[str, Any]]]] = [
        kiprdf.function_schemas,
        memory.function_schemas,
    ]
    key = {"anthropic": "input_schema", "mcp": "inputSchema"}.get(style, "parameters")
    given = [one for each in give for one in each(style, strict=strict)]
    assert [one["name"] for one in given] == [
        "execute_kip",
        "execute_kip_readonly",
        "remember",
        "recall",
    ]
    return {one["name"]: one[key] for one in given}


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all within it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for one in [*inner, *([schema["items"]] if "items" in schema else [])]:
        yield from nodes(one)


@pytest.mark.parametrize(("style", "strict"), ALL)
def test_a_schema_has_no_keyword_that_a_converter_refuses(style: str, strict: bool) -> None:
    for schema in schemas(style, strict).values():
        assert schema["type"] == "object"
        for node in nodes(schema):
            assert node.keys() - {"additionalProperties" if strict else ""} <= KEYWORDS[style]
            # A list of types is refused by Gemini, an enumeration needs a type there.
            assert isinstance(node.get("type"), str) != ("anyOf" in node)


@pytest.mark.parametrize("style", ["openai", "anthropic", "mcp"])
def test_a_strict_schema_is_closed_and_has_texts_for_free_keys(style: str) -> None:
    for schema in schemas(style, strict=True).values():
        for node in nodes(schema):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
    execute = schemas(style, strict=True)["execute_kip"]["properties"]
    assert execute["parameters"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    plain = schemas(style)["execute_kip"]["properties"]["parameters"]
    assert (plain["type"], plain.get("additionalProperties", True)) == ("object", True)


def test_the_strict_functions_together_have_few_nullable_fields() -> None:
    """Anthropic limits those of all tools of a request to 16."""
    strict = schemas("anthropic", strict=True).values()
    assert sum("anyOf" in node for schema in strict for node in nodes(schema)) == 15


def test_openai_has_nothing_to_add_to_the_strict_form() -> None:
    from openai.lib._pydantic import _ensure_strict_json_schema

    for schema in schemas("openai", strict=True).values():
        given = copy.deepcopy(schema)
        assert _ensure_strict_json_schema(given, path=(), root=given) == schema


def test_anthropic_has_nothing_to_change_in_the_strict_form() -> None:
    from anthropic import transform_schema

    for schema in schemas("anthropic", strict=True).values():
        assert transform_schema(schema) == schema


def test_the_types_of_mcp_and_the_validator_of_its_package_take_them() -> None:
    import jsonschema
    import mcp_types

    for name, schema in schemas("mcp").items():
        jsonschema.Draft202012Validator.check_schema(schema)
        tool = mcp_types.Tool(name=name, description="-", input_schema=schema)
        assert tool.model_dump(by_alias=True)["inputSchema"] == schema


def test_gemini_takes_its_form_and_changes_nothing() -> None:
    types = pytest.importorskip("google.genai.types")
    from google.genai import _transformers

    for give in (kiprdf.function_schemas, memory.function_schemas):
        for one in give("gemini"):
            declaration = types.FunctionDeclaration.model_validate(one)
            assert declaration.name == one["name"]
            given = declaration.parameters.model_dump(by_alias=True, exclude_none=True, mode="json")
            kept = copy.deepcopy(one["parameters"])
            _transformers.process_schema(kept, None, order_properties=False)
            assert kept == one["parameters"]
            lower = json.loads(json.dumps(given), object_hook=_with_lower_type)
            assert lower == one["parameters"]


def _with_lower_type(node: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else value
        for key, value in node.items()
    }


def test_gemini_takes_the_tools_of_the_mcp_server() -> None:
    pytest.importorskip("google.genai")
    import mcp_types
    from google.genai import _mcp_utils

    for name, schema in schemas("mcp").items():
        tool = mcp_types.Tool(name=name, description="-", input_schema=schema)
        declared = _mcp_utils.mcp_to_gemini_tool(tool).function_declarations
        (parameters,) = [one.parameters for one in declared or ()]
        assert parameters is not None
        assert set(parameters.properties or ()) == set(schema["properties"])


# What is declared is read -------------------------------------------------------------------------

CALLS: dict[str, list[tuple[bool, dict[str, Any]]]] = {
    "openai": [
        (False, {"command": FIND, "parameters": {"type": "Drug"}, "entail": "same_as"}),
        (False, {"command": FIND, "parameters": {"type": "Drug"}, "view": "believed"}),
    ],
    "gemini": [
        (False, {"command": FIND, "parameters": '{"type": "Drug"}', "entail": "false"}),
        (
            False,
            {"command": FIND, "parameters": '{"type": "Drug"}', "entail": "true", "why": False},
        ),
    ],
    "anthropic": [
        (
            True,
            {"command": FIND, "commands": None, "parameters": '{"type": "Drug"}', "dry_run": False},
        ),
    ],
}


@pytest.mark.parametrize("style", CALLS)
def test_arguments_of_a_schema_are_read(style: str) -> None:
    import jsonschema

    nexus = medical()
    for strict, arguments in CALLS[style]:
        for name in ("execute_kip", "execute_kip_readonly"):
            jsonschema.validate(arguments, schemas(style, strict)[name])
            assert getattr(nexus, name)(arguments) == {"result": ["Aspirin"]}
    item = json.dumps({"command": FIND, "parameters": {"type": "Drug"}})
    batch = {"commands": [item], "command": None, "parameters": None, "dry_run": True}
    jsonschema.validate(batch, schemas("openai", True)["execute_kip"])
    assert nexus.execute_kip(batch) == {"result": [{"result": ["Aspirin"]}]}
