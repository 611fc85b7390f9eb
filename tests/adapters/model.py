"""A scripted language model behind the HTTP interfaces of OpenAI and Anthropic, on loopback.

It knows one trick: it asks with a wrong command, repairs the command with the hint of the error,
and answers with the result. A request that the real interfaces would refuse is answered with 400.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jsonschema

WRONG = 'FIND(?d.name) WHERE { (?d, "treat", {type: "Symptom", name: "Nausea"}) }'
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ScriptedModel:
    """The requests so far; ``calls`` replaces the calls of the first round."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.calls: list[tuple[str, Any]] = [("execute_kip_readonly", {"command": WRONG})]
        self.address = ""

    def environment(self) -> dict[str, str]:
        """Where the clients look for the interface."""
        return {
            "OPENAI_API_KEY": "key",
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": self.address,
        }

    def next_step(self, responses: list[dict[str, Any]]) -> list[tuple[str, Any]] | str:
        """The next calls, or the answer in words, by the responses to the calls so far."""
        if not responses:
            return self.calls
        last = responses[-1]
        if "error" in last:
            hint = last["error"]["hint"]
            right = re.search(r"Did you mean '(\w+)'", hint)
            assert right, hint
            repaired = WRONG.replace('"treat"', f'"{right.group(1)}"')
            return [("execute_kip_readonly", {"command": repaired})]
        return f"{' and '.join(last['result'])} treats nausea."

    # The two interfaces -----------------------------------------------------------------------

    def openai(self, body: dict[str, Any]) -> dict[str, Any]:
        """POST /v1/chat/completions."""
        for tool in body["tools"]:
            assert set(tool) == {"type", "function"}, tool
            assert tool["type"] == "function"
            check_schema(tool["function"]["name"], tool["function"]["parameters"])
        assert [message["role"] for message in body["messages"][:2]] == ["system", "user"]
        pending: list[str] = []
        responses = []
        for message in body["messages"]:
            if message["role"] == "tool":
                pending.remove(message["tool_call_id"])
                responses.append(json.loads(message["content"]))
            else:
                assert not pending, "each call needs a response"
            pending += [call["id"] for call in message.get("tool_calls") or ()]
        assert not pending, "each call needs a response"
        step = self.next_step(responses)
        message = {"role": "assistant", "content": step if isinstance(step, str) else None}
        if not isinstance(step, str):
            message["tool_calls"] = [
                {
                    "id": f"call_{len(responses)}_{number}",
                    "type": "function",
                    "function": {
                        "name": name,
                        "arguments": given if isinstance(given, str) else json.dumps(given),
                    },
                }
                for number, (name, given) in enumerate(step)
            ]
        reason = "stop" if isinstance(step, str) else "tool_calls"
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        }

    def anthropic(self, body: dict[str, Any]) -> dict[str, Any]:
        """POST /v1/messages."""
        assert isinstance(body["max_tokens"], int)
        for tool in body["tools"]:
            check_schema(tool["name"], tool["input_schema"])
            assert set(tool) <= {"name", "description", "input_schema", "strict"}, tool
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        pending: list[str] = []
        responses = []
        for message in body["messages"]:
            blocks = message["content"] if isinstance(message["content"], list) else []
            for block in blocks:
                if block["type"] == "tool_result":
                    pending.remove(block["tool_use_id"])
                    response = json.loads(block["content"])
                    assert block["is_error"] == ("error" in response)
                    responses.append(response)
            assert not pending, "each call needs a result in the next message"
            pending = [block["id"] for block in blocks if block["type"] == "tool_use"]
        step = self.next_step(responses)
        content: list[dict[str, Any]] = [{"type": "text", "text": step}]
        if not isinstance(step, str):
            content = [{"type": "text", "text": "I look into my memory."}]
            for number, (name, given) in enumerate(step):
                id = f"toolu_{len(responses)}_{number}"
                content.append({"type": "tool_use", "id": id, "name": name, "input": given})
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "end_turn" if isinstance(step, str) else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


def check_schema(name: str, schema: dict[str, Any]) -> None:
    """What both interfaces demand of a function."""
    assert _NAME.fullmatch(name), name
    assert schema["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(schema)


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """A model that answers at its ``address``."""
    model = ScriptedModel()
    routes = {"/v1/chat/completions": model.openai, "/v1/messages": model.anthropic}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(body)
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, reply = 200, {}
            try:
                reply = routes[self.path](body)
            except (AssertionError, KeyError, ValueError, jsonschema.SchemaError) as fault:
                status, reply = 400, {"error": {"message": repr(fault)}}
            text = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments: Any) -> None:
            """Requests are recorded, not printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
