"""Tokens, hosts, origins, headers, limits."""

from __future__ import annotations

import html
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import kiprdf
from tests.serve.running import RunningServer, serving

READ = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'
WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: "Written"} } }'
PATHS = [
    "/",
    "/sparql?query=ASK{}",
    "/graph?default",
    "/data/Drug/Aspirin",
    "/metrics",
    "/nothing",
    "/.well-known/void",
    "/openapi.json",
    "/kb/Drug/Aspirin",
]


@pytest.fixture(scope="module")
def with_tokens(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with both tokens, on a copy of the nexus."""
    copy = tmp_path_factory.mktemp("with_tokens") / "kb"
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(copy)
    with serving(copy, KIPRDF_TOKEN="s3cret", KIPRDF_READ_TOKEN="r3ad") as running:
        yield running


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("headers", [{}, bearer("wrong"), {"Authorization": "Basic czNjcmV0"}])
def test_without_a_token_every_route_is_401(
    with_tokens: RunningServer, path: str, headers: dict[str, str]
) -> None:
    answer = with_tokens.client.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "KIP_1001"


def test_health_needs_no_token(with_tokens: RunningServer) -> None:
    answer = with_tokens.client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_body_without_a_token_is_not_read(with_tokens: RunningServer) -> None:
    host, port = with_tokens.address.removeprefix("http://").strip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = f"POST /kip HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 1000000\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_reads_and_writes(with_tokens: RunningServer, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} s3cret"}
    assert with_tokens.kip(READ, headers).status_code == 200
    assert with_tokens.kip(WRITE, headers).status_code == 200


def test_the_read_token_only_reads(with_tokens: RunningServer) -> None:
    headers = bearer("r3ad")
    assert with_tokens.kip(READ, headers).status_code == 200
    assert with_tokens.kip(WRITE, headers).status_code == 403
    assert with_tokens.kip(WRITE, headers, dry_run=True).status_code == 403
    batch = {"method": "execute_kip", "params": {"commands": [READ, WRITE]}}
    assert with_tokens.client.post("/kip", json=batch, headers=headers).status_code == 403
    assert with_tokens.client.get("/graph?default", headers=headers).status_code == 200


def test_with_a_read_token_alone_nobody_writes(folder: Path) -> None:
    with serving(folder, "--read-token", "r3ad", "--read-only") as server:
        assert server.kip(READ).status_code == 401
        assert server.kip(READ, bearer("r3ad")).status_code == 200
        assert server.kip(WRITE, bearer("r3ad")).status_code == 403


def test_the_cookie_of_login_reads_only(with_tokens: RunningServer) -> None:
    browser = httpx.Client(base_url=with_tokens.address)
    html = {"Accept": "text/html"}
    assert browser.get("/explore/", headers=html).headers["location"] == "/login?next=/explore/"
    assert "<form" in browser.get("/login").text
    assert browser.post("/login", data={"token": "wrong"}).status_code == 401
    answer = browser.post("/login", data={"token": "s3cret", "next": "/graph?default"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/graph?default")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "s3cret" not in cookie
    assert browser.get("/graph?default").status_code == 200
    call = {"method": "execute_kip", "params": {"command": WRITE}}
    assert browser.post("/kip", json=call).status_code == 403


@pytest.mark.parametrize(
    "target", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_login_never_leads_to_another_host(with_tokens: RunningServer, target: str) -> None:
    answer = with_tokens.client.post("/login", data={"token": "s3cret", "next": target})
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:1", 200),
        ("[::1]", 200),
        ("LOCALHOST:80", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example:80", 421),
        ("[::1].evil.example", 421),
        ("localhost:evil.example", 421),
    ],
)
@pytest.mark.parametrize("path", ["/health", "/graph?default"])
def test_only_names_of_this_machine_are_hosts(
    server: RunningServer, host: str, status: int, path: str
) -> None:
    assert server.client.get(path, headers={"Host": host}).status_code == status


def test_a_second_host_is_checked_too(server: RunningServer) -> None:
    host, port = server.address.removeprefix("http://").strip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        fields = "Host: localhost\r\nHost: evil.example"
        connection.sendall(f"GET /health HTTP/1.1\r\n{fields}\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 421")


def test_login_leads_to_the_page_with_its_query(with_tokens: RunningServer) -> None:
    path = "/explore/kql?command=DESCRIBE%20DOMAINS&x=a%2Fb"
    browser = httpx.Client(base_url=with_tokens.address)
    answer = browser.get(path, headers={"Accept": "text/html"})
    form = browser.get(answer.headers["location"]).text
    target = re.search('name="next"[^>]* value="([^"]*)"', form)
    assert target is not None
    assert html.unescape(target[1]) == path


def test_a_host_can_be_allowed(folder: Path) -> None:
    with serving(folder, "--read-only", "--allow-host", "kb.example") as server:
        assert server.client.get("/health", headers={"Host": "kb.example:81"}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://localhost.evil.example"]
)
def test_a_post_of_another_origin_is_403(server: RunningServer, origin: str) -> None:
    assert server.kip(READ, {"Origin": origin}).status_code == 403


def test_a_post_of_the_own_origin_is_answered(server: RunningServer) -> None:
    answer = server.kip(READ, {"Origin": server.address.rstrip("/")})
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_cors_is_on_request(folder: Path) -> None:
    with serving(folder, "--read-only", "--cors", "https://app.example") as server:
        headers = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
        preflight = server.client.options("/kip", headers=headers)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == "https://app.example"
        answer = server.kip(READ, {"Origin": "https://app.example"})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert server.kip(READ, {"Origin": "https://other.example"}).status_code == 403


@pytest.mark.parametrize("path", [*PATHS, "/login", "/health"])
def test_every_answer_forbids_sniffing(server: RunningServer, path: str) -> None:
    headers = server.client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"


def test_pages_have_a_content_policy(with_tokens: RunningServer) -> None:
    policy = with_tokens.client.get("/login").headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/kip", "GET", 405),
        ("/kip", "PUT", 405),
        ("/graph?default", "POST", 405),
        ("/graph?default", "DELETE", 405),
        ("/nothing", "GET", 404),
        ("//kip", "GET", 404),
        ("/kip/", "GET", 404),
        ("/static/../../etc/passwd", "GET", 404),
        ("/%2e%2e/etc/passwd", "GET", 404),
        ("/kb/%2e%2e/%2e%2e/etc", "GET", 404),
    ],
)
def test_other_methods_and_paths(
    server: RunningServer, path: str, method: str, status: int
) -> None:
    answer = raw_request(server, method, path)
    assert answer.startswith(f"HTTP/1.1 {status} "), answer[:200]
    assert (status != 405) or "allow:" in answer.lower()
    assert "location:" not in answer.lower()


def raw_request(server: RunningServer, method: str, path: str) -> str:
    """The answer to a request whose path no client changes."""
    host, port = server.address.removeprefix("http://").strip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        chunks = []
        while chunk := connection.recv(65_536):
            chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace")


@pytest.fixture(scope="module")
def long_query() -> dict[str, Any]:
    return {"query": "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"}


def test_clients_that_hang_up_free_the_server(folder: Path) -> None:
    product = (
        "FIND(COUNT(?a)) WHERE { "
        + " ".join(
            f'?{letter} {{type: "$ConceptType"}} (?{letter}, ?p{letter}{{0,9}}, ?x)'
            for letter in "abc"
        )
        + " }"
    )
    with serving(folder, "--read-only", "--timeout", "50") as server:

        def hang_up(_: int) -> None:
            with httpx.Client(base_url=server.address, timeout=0.5) as client:
                call = {"method": "execute_kip", "params": {"command": product}}
                try:
                    client.post("/kip", json=call)
                except httpx.TimeoutException:
                    return

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(hang_up, range(80)))
        begun = time.monotonic()
        assert server.kip(READ).status_code == 200
        assert time.monotonic() - begun < 10


def test_200_silent_connections_hold_up_nobody(server: RunningServer) -> None:
    host, port = server.address.removeprefix("http://").strip("/").split(":")
    silent = []
    try:
        for number in range(200):
            connection = socket.create_connection((host, int(port)), timeout=10)
            if number % 2:
                connection.sendall(b"POST /kip HTTP/1.1\r\nContent-Le")
            silent.append(connection)
        begun = time.monotonic()
        assert server.kip(READ).status_code == 200
        assert time.monotonic() - begun < 5
    finally:
        for connection in silent:
            connection.close()
