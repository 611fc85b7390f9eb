"""The loops of docs/how-to/tool-loops.md: the real clients, a scripted model on loopback.

The tests import the packages of the clients when they run, since that takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from tests.adapters.model import WRONG, ScriptedModel, scripted_model
from tests.adapters.pages import code_of

ANSWER = "Ondansetron treats nausea."


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    with scripted_model() as model:
        for name, value in model.environment().items():
            monkeypatch.setenv(name, value)
        yield model


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    return code_of("tool-loops.md", 3)


@pytest.fixture(params=["ask_openai", "ask_anthropic"])
def ask(request: pytest.FixtureRequest, page: dict[str, Any]) -> Any:
    return page[request.param]


def responses(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The KIP responses in a request to either interface."""
    texts = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    for message in body["messages"]:
        if isinstance(message["content"], list):
            texts += [b["content"] for b in message["content"] if b["type"] == "tool_result"]
    return [json.loads(text) for text in texts]


def test_a_wrong_command_is_repaired_with_its_hint(ask: Any, model: ScriptedModel) -> None:
    assert ask("What treats nausea?") == ANSWER
    assert len(model.requests) == 3
    wrong, right = responses(model.requests[-1])
    assert wrong["error"]["code"] == "KIP_2001"
    assert wrong["error"]["message"].startswith("1:28 ")
    assert right == {"result": ["Ondansetron"]}


def test_the_model_receives_the_instructions_and_the_functions(
    ask: Any, model: ScriptedModel, page: dict[str, Any]
) -> None:
    ask("What treats nausea?")
    first = model.requests[0]
    system = first.get("system") or first["messages"][0]["content"]
    assert system == kiprdf.instructions(page["nexus"])
    names = [tool.get("name") or tool["function"]["name"] for tool in first["tools"]]
    assert names == ["execute_kip", "execute_kip_readonly"]


def test_several_calls_of_one_reply_are_answered_together(ask: Any, model: ScriptedModel) -> None:
    model.calls = [("execute_kip_readonly", {"command": WRONG})] * 2
    assert ask("What treats nausea?") == ANSWER
    assert len(responses(model.requests[1])) == 2


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("execute_kip", {"query": "x"}, "The request is malformed: query is not a field."),
        (
            "forget_it",
            {"command": 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug"} }'},
            "no command that writes",
        ),
    ],
)
def test_a_call_that_cannot_run_is_answered_with_an_error(
    ask: Any, model: ScriptedModel, name: str, arguments: Any, message: str
) -> None:
    model.calls = [(name, arguments), ("execute_kip_readonly", {"command": WRONG})]
    assert ask("What treats nausea?") == ANSWER
    first, _ = responses(model.requests[1])
    assert message in first["error"]["message"]


def test_arguments_that_are_cut_off_are_answered_with_an_error(
    model: ScriptedModel, page: dict[str, Any]
) -> None:
    model.calls = [
        ("execute_kip_readonly", '{"command": "FIND('),
        ("execute_kip_readonly", {"command": WRONG}),
    ]
    assert page["ask_openai"]("What treats nausea?") == ANSWER
    first, _ = responses(model.requests[1])
    assert first["error"]["code"] == "KIP_1001"


# The functions ------------------------------------------------------------------------------------


def test_the_parser_of_the_openai_package_takes_the_strict_form(model: ScriptedModel) -> None:
    strict, plain = (
        [{"type": "function", "function": schema} for schema in kiprdf.function_schemas(strict=way)]
        for way in (True, False)
    )
    messages: Any = [{"role": "system", "content": "-"}, {"role": "user", "content": "?"}]
    import openai

    parse: Any = openai.OpenAI().chat.completions.parse
    with pytest.raises(ValueError, match="is not strict"):
        parse(model="m", messages=messages, tools=plain)
    (call,) = parse(model="m", messages=messages, tools=strict).choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == {"command": WRONG}


def test_the_strict_form_is_what_the_anthropic_package_makes_of_it() -> None:
    from anthropic import transform_schema

    for schema in kiprdf.function_schemas("anthropic", strict=True):
        assert transform_schema(schema["input_schema"]) == schema["input_schema"]
