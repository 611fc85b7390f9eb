"""Tokens, hosts, origins, headers, limits."""

from __future__ import annotations

import html
import re
import socket
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

import kiprdf
from tests.serve.raw import connect, head, raw_request
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
    error = answer.json()["error"]
    assert (error["code"], error["name"]) == ("HTTP_401", "Unauthorized")


def test_health_needs_no_token(with_tokens: RunningServer) -> None:
    answer = with_tokens.client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_body_without_a_token_is_not_read(with_tokens: RunningServer) -> None:
    with connect(with_tokens) as connection:
        connection.sendall(head("POST", "/kip", "Content-Length: 1000000"))
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


JSON_BODY = {"Content-Type": "application/json"}
CALL = b'{"method": "execute_kip", "params": {"command": "%s"}}'


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status", "code", "name"),
    [
        ("POST", "/kip", JSON_BODY, CALL % b"FIND(?x", 400, "KIP_1001", "InvalidSyntax"),
        ("POST", "/kip", JSON_BODY, b"{", 400, "KIP_1001", "InvalidSyntax"),
        ("GET", "/graph", {}, b"", 400, "KIP_1001", "InvalidSyntax"),
        ("POST", "/kip", {}, b"{}", 415, "HTTP_415", "Unsupported Media Type"),
        ("POST", "/kip", JSON_BODY, b" " * 3_000_000, 413, "HTTP_413", HTTPStatus(413).phrase),
        ("GET", "/kip", {}, b"", 405, "HTTP_405", "Method Not Allowed"),
        ("PUT", "/sparql", {}, b"", 405, "HTTP_405", "Method Not Allowed"),
        ("PUT", "/mcp", {}, b"", 405, "HTTP_405", "Method Not Allowed"),
        ("POST", "/explore/", {}, b"", 405, "HTTP_405", "Method Not Allowed"),
        ("POST", "/kip", {"Origin": "http://evil.example"}, b"", 403, "HTTP_403", "Forbidden"),
        ("POST", "/mcp", {"Origin": "http://evil.example"}, b"", 403, "HTTP_403", "Forbidden"),
        (
            "POST",
            "/sparql",
            {"Content-Type": "application/sparql-update"},
            b"DELETE WHERE { ?s ?p ?o }",
            403,
            "HTTP_403",
            "Forbidden",
        ),
        ("POST", "/sparql", {}, b"x", 415, "HTTP_415", "Unsupported Media Type"),
        (
            "GET",
            "/sparql?query=ASK{}",
            {"Accept": "image/png"},
            b"",
            406,
            "HTTP_406",
            "Not Acceptable",
        ),
        ("GET", "/graph?default", {"Accept": "image/png"}, b"", 406, "HTTP_406", "Not Acceptable"),
        ("GET", "/graph?graph=urn:x", {}, b"", 404, "HTTP_404", "Not Found"),
        ("GET", "/data/Drug/Nobody", {}, b"", 404, "HTTP_404", "Not Found"),
        ("GET", "/kb/Drug/Nobody", {}, b"", 404, "HTTP_404", "Not Found"),
        ("GET", "/static/nothing.js", {}, b"", 404, "HTTP_404", "Not Found"),
        ("GET", "/nothing", {}, b"", 404, "HTTP_404", "Not Found"),
        ("GET", "/kip", {"Host": "evil.example"}, b"", 421, "HTTP_421", "Misdirected Request"),
    ],
)
def test_only_a_wrong_command_has_the_code_of_one(
    server: RunningServer,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes,
    status: int,
    code: str,
    name: str,
) -> None:
    answer = server.client.request(method, path, headers=headers, content=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["name"]) == (status, code, name)


def test_a_missing_right_is_no_mistake_in_the_command(
    with_tokens: RunningServer, folder: Path
) -> None:
    answer = with_tokens.kip(WRITE, bearer("r3ad"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "HTTP_403")
    assert with_tokens.client.post("/login", data={"token": "x"}).json()["error"] == {
        "code": "HTTP_401",
        "name": "Unauthorized",
        "message": "This token is not valid.",
        "hint": "Send another token.",
    }
    with serving(folder, "--read-only") as server:
        answer = server.kip(WRITE)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "HTTP_403")
        assert server.kip(READ).status_code == 200
        code = server.client.get("/openapi.json").json()["components"]["schemas"]["Error"][
            "properties"
        ]["error"]["properties"]["code"]
        assert re.fullmatch(code["pattern"], "HTTP_403")
        assert re.fullmatch(code["pattern"], "KIP_2001")


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
    with connect(server) as connection:
        connection.sendall(head("GET", "/health", "Host: evil.example"))
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


def test_in_a_network_the_names_and_addresses_of_this_machine_are_hosts(folder: Path) -> None:
    options = ("--read-only", "--host", "0.0.0.0", "--insecure-no-token")
    with serving(folder, *options, "--allow-host", "kb.example") as server:
        port = server.address.strip("/").rpartition(":")[2]
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}")

        def status(host: str, path: str = "/health") -> int:
            return client.get(path, headers={"Host": host}).status_code

        own = [socket.gethostname(), socket.getfqdn(), socket.gethostname().upper() + ":80"]
        own += ["0.0.0.0", "localhost", "127.0.0.1", "[::1]:8080", "127.0.1.1", "kb.example"]
        assert {host: status(host) for host in own} == dict.fromkeys(own, 200)
        # Addresses for documentation belong to no machine.
        foreign = ["evil.example", "203.0.113.7", "[2001:db8::1]", "localhost.evil.example", "x:y"]
        assert {host: status(host) for host in foreign} == dict.fromkeys(foreign, 421)
        assert status("evil.example", "/graph?default") == 421
        client.close()


def test_on_loopback_other_addresses_of_this_machine_are_no_hosts(server: RunningServer) -> None:
    for host in ("0.0.0.0", "127.0.1.1", f"{socket.gethostname()}.local"):
        assert server.client.get("/health", headers={"Host": host}).status_code == 421


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
    origins = ("https://app.example", "https://two.example")
    options = [text for origin in origins for text in ("--cors", origin)]
    with serving(folder, "--read-only", "--token", "s3cret", *options) as server:
        for origin in origins:
            asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            for path in ("/kip", "/mcp", "/sparql", "/nothing"):
                preflight = server.client.options(path, headers=asked)
                assert preflight.status_code == 204
                assert preflight.headers["access-control-allow-origin"] == origin
                assert "Authorization" in preflight.headers["access-control-allow-headers"]
            for token, status in (("s3cret", 200), ("wrong", 401)):
                answer = server.kip(READ, {"Origin": origin, **bearer(token)})
                assert answer.status_code == status
                assert answer.headers["access-control-allow-origin"] == origin
                assert "Origin" in answer.headers["vary"]
        other = {"Origin": "https://other.example", **bearer("s3cret")}
        assert server.kip(READ, other).status_code == 403
        answer = server.client.options("/kip", headers=other)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "//evil.example/explore/",
        "//evil.example/%2f..",
        "/\\evil.example/",
        "/%5cevil.example",
        "/explore//evil.example",
        "/page//evil.example",
        "/..//evil.example",
        "/%2e%2e/%2e%2e//evil.example",
        "/%00",
        "/kb//evil.example",
        "/kb/..//evil.example",
        "http://evil.example/",
        "http://evil.example//evil.example/explore/",
    ],
)
@pytest.mark.parametrize("is_open", [True, False])
def test_no_redirect_leads_to_another_host(
    server: RunningServer, with_tokens: RunningServer, path: str, is_open: bool
) -> None:
    answer = raw_request(server if is_open else with_tokens, "GET", path, "Accept: text/html")
    fields = answer.partition("\r\n\r\n")[0].lower().split("\r\n")
    targets = [field.split(": ")[1] for field in fields if field.startswith("location:")]
    assert all(re.match("/[a-z]", target) for target in targets)


def test_a_wrong_token_is_a_page_for_people_and_json_for_programs(
    with_tokens: RunningServer,
) -> None:
    for accept, media_type in (("text/html", "text/html"), ("*/*", "application/json")):
        headers = {"Accept": accept}
        answer = with_tokens.client.post("/login", data={"token": "wrong"}, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["content-type"].startswith(media_type)
        assert "set-cookie" not in answer.headers


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
