"""Requests of every kind to a server of scopes, and what of their answers can be compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from urllib.parse import quote, unquote

import httpx

from tests.scopes.questions import Questions, misspelt
from tests.scopes.world import CANARIES, HIDDEN_NAMES, HIDDEN_TYPES, HIDDEN_WORDS, World
from tests.serve.scoped import ScopedServer

MEDIA_TYPES = (
    "text/html",
    "text/turtle",
    "application/ld+json",
    "application/n-triples",
    "application/sparql-results+json",
    "text/csv",
    "image/png",
    "*/*",
)
BASE = "http://kb.example/kb/"
_REQUESTS = ("find", "count", "believed", "named", "batch", "dry", "describe", "search", "export")
_REQUESTS += ("faulty", "mutated", "named")
_VARYING = {"date", "mcp-session-id"}


@dataclass(frozen=True)
class Sent:
    """A request; ``text`` is all that it says."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    content: Any = None

    @property
    def text(self) -> str:
        return json.dumps([unquote(self.path), self.headers, self.content], ensure_ascii=False)

    def send(self, server: ScopedServer, who: str | None) -> httpx.Response:
        return server.send(who, self.method, self.path, headers=self.headers, json=self.content)

    def repeated(self, answer: httpx.Response) -> Sent | None:
        """The same with the ETag or the cursor of an answer to another reader."""
        if "etag" in answer.headers:
            return replace(self, headers={**self.headers, "If-None-Match": answer.headers["etag"]})
        match = re.search('"next_cursor":"([^"]+)"', answer.text)
        if match is None or self.content is None or "command" not in self.content["params"]:
            return None
        params = self.content["params"]
        command = f'{params["command"]} CURSOR "{match[1]}"'
        return replace(self, content={**self.content, "params": {**params, "command": command}})


def shown(answer: httpx.Response) -> dict[str, Any]:
    """What of an answer is the same each time, and at each address."""
    headers = {key: value for key, value in answer.headers.items() if key not in _VARYING}
    if "etag" in headers:
        # It begins with a number that each process chooses, and may end with a digest of it.
        headers["etag"] = re.sub('^"[0-9a-f]{8}-|[0-9a-f]{64}"$', "", headers["etag"])
    body = answer.text
    if headers.get("content-type") == "application/x-tar":
        body = "a backup"
    address = f"{answer.url.scheme}://{answer.url.netloc.decode()}"
    body = re.sub(r"<(/?)memory [0-9a-f]+>", r"<\1memory>", body.replace(address, "http://x"))
    body = re.sub(rf"{date.today()}[T ][0-9:.]+Z?", "now", body)
    body = re.sub("connection-[0-9a-f]{8}", "connection", body)
    body = re.sub('name="key" value="[^"]*"', "", body)
    return {"status": answer.status_code, "headers": headers, "body": body}


class Requests:
    """Random requests of a principal that reads the scopes team and ada of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._choose = world.choose
        self._questions = Questions(world)

    def __iter__(self) -> Iterator[Sent]:
        kinds = (self.kip, self.kip, self.kip, self.write, self.write, self.page, self.page)
        kinds += (self.data, self.data, self.sparql, self.scope, self.mcp, self.other)
        while True:
            yield self._choose.choice(kinds)()

    def _pick(self, *options: Any) -> Any:
        return self._choose.choice(options)

    def _element(self) -> str:
        """The path of an element below the base: visible, hidden, or of nothing."""
        words, choose = HIDDEN_WORDS, self._choose
        type, name = choose.choice(words.types), choose.choice(words.names)
        links = [
            "$proposition/" + "/".join(id.split(":")[1:]) for id in self._world.graph.propositions
        ]
        return str(
            self._pick(
                f"{type}/{quote(name, safe='')}",
                f"{HIDDEN_TYPES[0]}/{HIDDEN_NAMES[0]}",
                f"{misspelt(type, choose)}/{quote(name, safe='')}",
                f"$ConceptType/{type}",
                choose.choice(links),
                choose.choice(links),
                f"Item/{quote(misspelt(HIDDEN_NAMES[0], choose), safe='')}",
            )
        )

    def _root(self) -> str:
        return str(self._pick("", "", "", "/scopes/team", "/scopes/ada", "/scopes/bob"))

    # Kinds ------------------------------------------------------------------------------------

    def kip(self) -> Sent:
        question = self._questions.of(*_REQUESTS)
        name = self._pick("execute_kip", "execute_kip_readonly")
        return Sent("POST", f"{self._root()}/kip", content=_call(question.request, name))

    def write(self) -> Sent:
        """A statement, mostly run dry, on what is visible, hidden, or nowhere."""
        words = HIDDEN_WORDS
        pick = self._choose.choice
        type, name, key = pick(words.types), pick(words.names), pick(words.keys)
        concept = f'{{type: "{type}", name: "{name}"}}'
        version = self._pick("", "", *(f"EXPECT VERSION {number}" for number in range(4)))
        link = f'(?x, "{pick(words.predicates)}", {{type: "Item", name: "{pick(words.names)}"}})'
        text = self._pick(
            f"UPSERT {{ CONCEPT {{ {concept} {version} SET ATTRIBUTES {{ {key}: 1 }} }} }}",
            f'UPSERT {{ CONCEPT {{ {{id: "C:{type}/{name}"}} {version} }} }}',
            f"UPSERT {{ CONCEPT ?x {{ {concept} }} PROPOSITION {{ {link} {version} }} }}",
            f"UPDATE ?x SET ATTRIBUTES {{ {key}: 1 }} WHERE {{ ?x {concept} }}",
            f'UPDATE ?x SET METADATA {{ status: "retracted" }} WHERE {{ ?x {link[:-1]}) }}',
            f'DELETE ATTRIBUTES {{"{key}"}} FROM ?x WHERE {{ ?x {concept} }}',
            f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {concept} }}",
            f"DELETE PROPOSITIONS ?f WHERE {{ ?f {link} }}",
            f"MERGE CONCEPT ?x INTO ?y WHERE {{ ?x {concept} "
            f'?y {{type: "{type}", name: "{pick(words.names)}"}} }}',
        )
        # A hidden word that is written is not hidden.
        is_dry = self._choose.random() < 0.5 or any(canary in text for canary in CANARIES)
        request = {"command": text, "dry_run": is_dry}
        return Sent("POST", f"{self._root()}/kip", content=_call(request, "execute_kip"))

    def page(self) -> Sent:
        words = quote(self._questions_words())
        path = self._pick(
            "/explore/",
            "/explore/schema",
            "/explore/log",
            "/explore/proposals",
            "/explore/proposals/prop-1",
            f"/explore/search?q={words}",
            f"/explore/search?q={quote(self._pick(*HIDDEN_NAMES, *HIDDEN_TYPES))}",
            f"/explore/history/{self._element()}",
            f"/page/{self._element()}",
            f"/page/{self._element()}",
            f"/explore/kql?text={quote(self._find())}",
        )
        return Sent("GET", self._root() + path)

    def data(self) -> Sent:
        element = self._element()
        path = self._pick(
            f"/kb/{element}",
            f"/kb/{element}",
            f"/data/{element}",
            "/graph?default",
            f"/graph?graph={quote(BASE)}{element}",
            "/.well-known/void",
        )
        headers = {"Accept": self._pick(*MEDIA_TYPES)}
        if self._choose.random() < 0.2:
            headers["If-None-Match"] = self._pick("*", '"x"', 'W/"1"', '"1"')
        return Sent(self._pick("GET", "GET", "HEAD"), self._root() + path, headers)

    def sparql(self) -> Sent:
        question = self._questions.sparql()
        path = f"{self._root()}/sparql?query={quote(question.query or '')}"
        return Sent("GET", path, {"Accept": self._pick(*MEDIA_TYPES)})

    def scope(self) -> Sent:
        """What belongs to the server, or to scopes that are not there."""
        name = self._pick("bob", "bob", "nobody", "Bob", "b%6Fb", "..", "team", "")
        rest = self._pick("", "/", "/kip", "/explore/", "/graph", "/data/Item/a", "/health")
        return self._pick(
            Sent(self._pick("GET", "POST", "HEAD", "DELETE"), f"/scopes/{name}{rest}"),
            Sent("GET", "/scopes"),
            Sent("POST", "/scopes", content={"name": self._pick("bob", "carl", "BOB", "b/b")}),
        )

    def mcp(self) -> Sent:
        question = self._questions.of(*_REQUESTS)
        calls = (
            ("execute_kip", question.request),
            ("execute_kip_readonly", question.request),
            ("recall", {"query": self._questions_words()}),
            ("memory_recall", {"query": self._questions_words()}),
        )
        name, arguments = self._choose.choice(calls)
        called = _rpc("tools/call", {"name": name, "arguments": arguments})
        content = self._pick(_rpc("tools/list", {}), called, called, called)
        accept = {"Accept": "application/json, text/event-stream"}
        return Sent("POST", f"{self._pick('', '/scopes/bob')}/mcp", accept, content)

    def other(self) -> Sent:
        path = self._pick("/", "/health", "/ready", "/metrics", "/openapi.json", "/backup")
        path = self._pick(path, path, "/nothing", "/maintenance/check")
        return Sent(self._pick("GET", "GET", "POST"), self._root() + path)

    def _find(self) -> str:
        request = self._questions.find().request or {}
        return str(request["command"])

    def _questions_words(self) -> str:
        return str(
            self._pick("red wine", "znarfle", "zwombat wine", "peanuts", "zwhimsical", "wne")
        )


def _call(request: Any, name: str) -> Any:
    return {"method": name, "params": request}


def _rpc(method: str, params: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
