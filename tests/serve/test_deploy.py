"""The configuration of docs/how-to/deploy.md, in the programs that read it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.adapters.pages import HOW_TO
from tests.cli.runner import run_process
from tests.serve.running import RunningServer, serving

PAGE = (HOW_TO / "deploy.md").read_text("utf-8")
HOST = "kb.example.org"
PROGRAM = f"{Path(sys.executable).parent}/"
CADDY = shutil.which("caddy")
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")


def block(start: str) -> str:
    """The block of the page whose text begins so."""
    (text,) = (b for b in re.findall(r"```\w*\n(.*?)```", PAGE, re.DOTALL) if b.startswith(start))
    return str(text)


# The container ------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    lines = block("FROM python").replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line]


def test_the_container_runs_without_root_and_needs_a_token(tmp_path: Path) -> None:
    last = dict(instructions())
    assert last["USER"] not in ("root", "0")
    command = json.loads(last["CMD"])
    assert command[:4] == ["kiprdf", "serve", "--host", "0.0.0.0"]
    nexus = str(tmp_path / "brain")
    refused = run_process(*command[1:-1], "0", folder=tmp_path, KIPRDF_NEXUS=nexus)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--token" in refused.stderr


def test_the_health_check_succeeds_while_the_server_answers(server: RunningServer) -> None:
    (check,) = (rest for name, rest in instructions() if name == "HEALTHCHECK")
    python, *arguments = json.loads(check.partition("CMD ")[2])
    assert python == "python"
    code = [word.replace("http://127.0.0.1:8080/", server.address) for word in arguments]
    assert subprocess.run([sys.executable, *code], timeout=60).returncode == 0
    code = [word.replace("http://127.0.0.1:8080/", f"{server.address}no/") for word in arguments]
    assert subprocess.run([sys.executable, *code], capture_output=True, timeout=60).returncode == 1


# The unit -----------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="apt install systemd")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "kiprdf.service"
    unit.write_text(block("[Unit]").replace("/opt/kiprdf/bin/", PROGRAM), "utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (checked.returncode, checked.stderr) == (0, "")


# The proxies --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a self-signed certificate for the host of the page."""
    folder = tmp_path_factory.mktemp("tls")
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={HOST} -addext"
    words = [*shlex.split(command), f"subjectAltName=DNS:{HOST}", "-keyout", "key", "-out", "pem"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def token_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("deploy") / "brain"
    with serving(
        folder, "--create", "--base-url", f"https://{HOST}/", KIPRDF_TOKEN="s3cret"
    ) as running:
        yield running


def nginx(port: int, upstream: str, tls: Path) -> tuple[list[str], str]:
    text = (
        block("limit_conn_zone")
        .replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
        .replace(f"/etc/ssl/{HOST}.", f"{tls}/")
        .replace("http://127.0.0.1:8080", upstream)
    )
    paths = "".join(
        f"{kind}_temp_path {tls}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = (
        f"daemon off; pid {tls}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {paths} {text} }}"
    )
    return [str(NGINX), "-e", "stderr", "-c"], whole


def caddy(port: int, upstream: str, tls: Path) -> tuple[list[str], str]:
    text = (
        block(HOST)
        .replace(f"{HOST} {{", f"https://{HOST}:{port} {{\n    tls {tls}/pem {tls}/key", 1)
        .replace("127.0.0.1:8080", upstream.removeprefix("http://"))
    )
    command = [str(CADDY), "run", "--adapter", "caddyfile", "--config"]
    return command, "{\n    admin off\n    auto_https off\n}\n" + text


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class ThroughTls(httpx.HTTPTransport):
    """Connects to a port of this machine in place of the host of the page."""

    def __init__(self, port: int, trusted: Path) -> None:
        super().__init__(verify=ssl.create_default_context(cafile=str(trusted)))
        self._port = port

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(host="127.0.0.1", port=self._port)
        request.extensions["sni_hostname"] = HOST
        return super().handle_request(request)


@contextmanager
def proxied(start: tuple[list[str], str], port: int, tls: Path) -> Iterator[httpx.Client]:
    command, text = start
    configuration = tls / "configuration"
    configuration.write_text(text, "utf-8")
    log = tls / "log"
    with log.open("w") as stream:
        process = subprocess.Popen([*command, str(configuration)], stderr=stream, cwd=tls)
    try:
        for _ in range(200):
            with socket.socket() as connection:
                if connection.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        transport = ThroughTls(port, tls / "pem")
        with httpx.Client(base_url=f"https://{HOST}", transport=transport, timeout=60) as client:
            yield client
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(
    params=[
        pytest.param(nginx, marks=pytest.mark.skipif(NGINX is None, reason="apt install nginx")),
        pytest.param(caddy, marks=pytest.mark.skipif(CADDY is None, reason="apt install caddy")),
    ]
)
def proxy(
    request: pytest.FixtureRequest, token_server: RunningServer, certificate: Path
) -> Iterator[httpx.Client]:
    port = free_port()
    start = request.param(port, token_server.address.rstrip("/"), certificate)
    with proxied(start, port, certificate) as client:
        yield client


def test_a_proxy_passes_on_what_clients_send(proxy: httpx.Client) -> None:
    assert proxy.get("/health").json() == {"status": "ok"}
    assert proxy.get("/graph?default").status_code == 401
    token = {"Authorization": "Bearer s3cret"}
    call = {"method": "execute_kip", "params": {"command": "DESCRIBE DOMAINS"}}
    own = {**token, "Origin": f"https://{HOST}"}
    answer = proxy.post("/kip", json=call, headers=own)
    assert answer.json() == {"result": ["Archived", "CoreSchema", "System", "Unsorted"]}
    foreign = {**token, "Origin": "https://evil.example"}
    assert proxy.post("/kip", json=call, headers=foreign).status_code == 403
    long = {"method": "execute_kip", "params": {"command": "x" * 3_000_000}}
    assert proxy.post("/kip", json=long, headers=token).status_code == 413
    void = proxy.get("/.well-known/void", headers=token, follow_redirects=True)
    assert f"https://{HOST}/sparql" in void.text
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = {**token, "Accept": "application/json, text/event-stream"}
    assert '"name":"kiprdf"' in proxy.post("/mcp", json=hello, headers=accept).text
    cookie = proxy.post("/login", data={"token": "s3cret"}).headers["set-cookie"]
    assert "secure" in cookie.lower()
