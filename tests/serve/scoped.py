"""A server of several nexuses, with principals and what each of them reads and writes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

import kiprdf
from kiprdf.principals import digest_of
from tests.serve.running import RunningServer, running

SCOPES = ("team", "ada", "bob")
ACCESS = {
    "ada": ("human", "write", ["team", "ada"], "ada"),
    "bob": ("model", "write", ["team", "bob"], "bob"),
    "alone": ("model", "write", ["bob"], "bob"),
    "reader": ("model", "read", ["team"], None),
    "viewer": ("model", "read", ["team", "ada"], None),
    "proposer": ("model", "propose", ["team", "ada"], "ada"),
    "nobody": ("model", "write", [], None),
    "root": ("human", "admin", [], None),
}
"""The principals: kind, access, the scopes that they read, and the one that they write."""
PEOPLE = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name'
WRITE = 'UPSERT { CONCEPT { {type: "Person", name: :name} } }'


def token(name: str) -> str:
    """The token of a principal, as long as those that kiprdf makes."""
    return f"{name}-".ljust(40, "x")


def principals(access: dict[str, Any]) -> str:
    """The file of principals."""
    tables = []
    for name, (kind, level, reads, writes) in access.items():
        scopes = f"read = {list(reads)!r}" + (f", write = {writes!r}" if writes else "")
        tables.append(
            f'[[principal]]\nname = "{name}"\nkind = "{kind}"\naccess = "{level}"\n'
            f'token_sha256 = "{digest_of(token(name))}"\n'
            + (f"scopes = {{ {scopes} }}\n" if reads else "")
        )
    return "\n".join(tables)


def make(directory: Path, names: Sequence[str] = SCOPES) -> None:
    """Nexuses, each with a person."""
    with kiprdf.Brains(directory) as brains:
        for name in names:
            brains.add(name).execute(WRITE, name=f"of {name}")


class ScopedServer:
    """A running server, its directory, and its file of principals."""

    def __init__(self, server: RunningServer, directory: Path, file: Path) -> None:
        self.server, self.directory, self.file = server, directory, file

    def send(self, who: str | None, method: str, path: str, **options: Any) -> httpx.Response:
        """A request of a principal."""
        headers = dict(options.pop("headers", {}))
        if who is not None:
            headers["Authorization"] = f"Bearer {token(who)}"
        return self.server.client.request(method, path, headers=headers, **options)

    def kip(
        self, who: str | None, command: str, path: str = "", **parameters: Any
    ) -> httpx.Response:
        """POST /kip, below a path."""
        params = {"command": command, "parameters": parameters}
        call = {"method": "execute_kip", "params": params}
        return self.send(who, "POST", f"{path}/kip", json=call)

    def people(self, who: str | None, path: str = "") -> Any:
        """The names that a principal reads."""
        answer = self.kip(who, PEOPLE, path)
        assert answer.status_code == 200, answer.text
        return [name for name in answer.json()["result"] if name.startswith("of ")]

    def write(self, who: str | None, name: str, path: str = "") -> httpx.Response:
        """Write a person."""
        return self.kip(who, WRITE, path, name=name)

    def allow(self, access: dict[str, Any]) -> None:
        """Replace the file of principals, which the server reads at the next signal."""
        partial = self.file.with_suffix(".new")
        partial.write_text(principals(access))
        os.replace(partial, self.file)


@contextmanager
def serving_scopes(
    place: Path, *options: str, access: dict[str, Any] | None = None, **environment: str
) -> Iterator[ScopedServer]:
    """``kiprdf serve --scopes`` on the directory ``scopes`` of a place."""
    file, directory = place / "principals.toml", place / "scopes"
    file.write_text(principals(ACCESS if access is None else access))
    given = ["--scopes", str(directory), "--principals", str(file), *options]
    # As kiprdf, but that nobody waits as long.
    run = "import kiprdf.cli, kiprdf.serve.scopes as scopes; scopes.WAIT_SECONDS = 0.5; "
    command = ["-c", run + "kiprdf.cli.main()"]
    with running([*command, "serve", "--port", "0", *given], environment) as server:
        yield ScopedServer(server, directory, file)
