"""MCP on standard input and output, over a view of several scopes that writes one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kiprdf import Brains, Nexus
from kiprdf.memory import Memory
from tests.cli.runner import invoke
from tests.serve.running import over_pipes

if TYPE_CHECKING:
    from mcp import ClientSession

PERSON = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES { team: :team } } }'
PEOPLE = (
    'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(IS_NOT_NULL(?p.attributes.team)) }'
    " ORDER BY ?p.name"
)


@pytest.fixture(scope="module")
def three_scopes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scopes team, ada and bob, each with a person and a note; to be copied."""
    directory = tmp_path_factory.mktemp("scopes")
    with Brains(directory) as brains:
        for name in ("team", "ada", "bob"):
            scope = brains.add(name)
            scope.execute(PERSON, name=f"From {name}", team=1)
            Memory(scope).add(f"The password of {name} is on the blackboard.")
    return directory


@pytest.fixture
def scopes(three_scopes: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_scopes, tmp_path / "scopes"))


@asynccontextmanager
async def client(scopes: Path, *options: str) -> AsyncIterator[ClientSession]:
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    arguments = ["-m", "kiprdf", "mcp", "--scopes", str(scopes), *options]
    with over_pipes(arguments, KIPRDF_NEXUS="nowhere") as program:
        async with stdio_client(program) as streams, ClientSession(*streams[:2]) as session:
            await session.initialize()
            yield session


async def called(session: ClientSession, name: str, **arguments: Any) -> Any:
    response: Any = (await session.call_tool(name, arguments)).structured_content
    return response.get("result", response)


def find(folder: Path, command: str, **parameters: Any) -> Any:
    with Nexus.open(folder, read_only=True) as nexus:
        return nexus.execute(command, **parameters)


def test_a_client_reads_its_scopes_and_writes_one(scopes: Path) -> None:
    async def run() -> None:
        options = ("--read", "team,ada", "--write", "ada", "--as", "claude")
        # Another process may write to what is only read.
        async with client(scopes, *options) as session:
            Nexus.open(scopes / "team").close()
            assert await called(session, "execute_kip_readonly", command=PEOPLE) == [
                "From ada",
                "From team",
            ]
            block = await called(session, "recall", query="password blackboard")
            assert "password of ada" in block
            assert "password of team" in block
            assert "bob" not in block
            written = await called(
                session, "execute_kip", command=PERSON, parameters={"name": "New", "team": 2}
            )
            assert written["upsert_concept_nodes"] == ["C:Person/New"]
            note = await called(session, "remember", text="The team meets at noon.")
            assert note["id"].startswith("mem_")
            assert "meets at noon" in await called(session, "recall", query="noon")
            # What only another scope has stays as it is.
            update = 'UPDATE ?p SET ATTRIBUTES { team: 3 } WHERE { ?p {name: "From team"} }'
            refused = await called(session, "execute_kip", command=update)
            assert refused["error"]["code"] == "KIP_3004"
            assert "team" in refused["error"]["message"]

    asyncio.run(run())
    assert find(scopes / "ada", PEOPLE) == ["From ada", "New"]
    assert find(scopes / "team", PEOPLE) == ["From team"]
    assert find(scopes / "bob", PEOPLE) == ["From bob"]
    notes = 'FIND(?e.attributes.content) WHERE { ?e {type: "MemoryItem"} } ORDER BY ?e'
    assert len(find(scopes / "team", notes)) == 1
    assert "The team meets at noon." in find(scopes / "ada", notes)
    with Nexus.open(scopes / "ada", read_only=True) as ada:
        entry = ada.history("C:Person/New")["entries"][0]
    assert (entry["author"], entry["session"][:4]) == ("claude", "mcp-")
    actor = 'FIND(?p.metadata._actor) WHERE { ?p {name: "New"} }'
    assert find(scopes / "ada", actor) == ["model/claude"]


def test_without_a_scope_to_write_a_client_only_reads(scopes: Path) -> None:
    async def run() -> None:
        options = ("--read", "team", "--read", "ada", "--write", "ada", "--read-only")
        # Beside a program that writes to one of them.
        with Nexus.open(scopes / "team"):
            async with client(scopes, *options) as session:
                tools = (await session.list_tools()).tools
                assert {tool.name for tool in tools} == {"execute_kip_readonly", "recall"}
                people = await called(session, "execute_kip_readonly", command=PEOPLE)
                assert people == ["From ada", "From team"]

    asyncio.run(run())


SCOPES = ("--scopes", "scopes")
READS = (*SCOPES, "--read", "team,ada")
WRONG: dict[str, tuple[tuple[str, ...], int, str]] = {
    "read alone": (("--read", "team"), 2, "--read and --write name scopes: add --scopes DIR."),
    "write alone": (("--write", "ada"), 2, "--read and --write name scopes: add --scopes DIR."),
    "no names": (SCOPES, 2, "add --read, such as --read team,ada."),
    "a foreign write": ((*READS, "--write", "bob"), 2, "--write bob is not among the scopes to"),
    "a case twin": ((*READS, "--write", "Ada"), 2, "--write Ada is not among the scopes to read"),
    "twice": ((*READS, "--read", "ada"), 2, "--read names a scope twice."),
    "over HTTP": ((*READS, "--http"), 2, "use kiprdf serve --scopes DIR --principals FILE."),
    "a nexus": ((*READS, "scopes/ada"), 2, "--scopes has the place of a nexus: leave NEXUS and"),
    "--nexus": ((*READS, "--nexus", "scopes/ada"), 2, "--scopes has the place of a nexus"),
    "--sync": ((*READS, "--sync", "full"), 2, "--scopes has the place of a nexus"),
    "--erasures": ((*READS, "--erasures", "x"), 2, "--scopes has the place of a nexus"),
    "--create": ((*READS, "--create"), 2, "use kiprdf scopes add NAME --dir scopes."),
    "a proposal": ((*READS, "--propose"), 2, "--propose needs the scope to write: add --write."),
    "no scope": ((*SCOPES, "--read", "eve"), 1, "no scope 'eve' in scopes: it has ada, bob, team."),
    "a near name": ((*SCOPES, "--read", "teams"), 1, "in scopes: did you mean 'team'?"),
    "another case": ((*SCOPES, "--read", "ADA"), 1, "There is no scope 'ADA' in scopes"),
    "a path": ((*SCOPES, "--read", "../scopes/ada"), 1, "There is no scope '../scopes/ada' in"),
    "a comma too much": ((*SCOPES, "--read", "team,"), 1, "There is no scope '' in scopes"),
    "no directory": (("--scopes", "other", "--read", "ada"), 1, "There are no scopes in other"),
    "a nexus for DIR": (("--scopes", "scopes/ada", "--read", "ada"), 1, "ada is a nexus; give"),
    "a file": (("--scopes", "scopes/ada/nexus.json", "--read", "ada"), 1, "it is a file."),
}  # fmt: skip


@pytest.mark.parametrize(("options", "status", "sentence"), WRONG.values(), ids=WRONG)
def test_options_of_scopes_that_do_not_go(
    three_scopes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    status: int,
    sentence: str,
) -> None:
    (tmp_path / "scopes").symlink_to(three_scopes)
    monkeypatch.chdir(tmp_path)
    done = invoke("mcp", *options)
    assert (done.exit_code, done.stdout) == (status, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scope_that_cannot_be_opened(scopes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scopes.parent)
    (scopes / "bob" / "nexus.json").write_text("{", "utf-8")
    for write in ((), ("--write", "ada")):
        done = invoke("mcp", *SCOPES, "--read", "ada,bob", *write)
        assert (done.exit_code, "bob/nexus.json cannot be read" in done.stderr) == (1, True)
    # What was open is closed again.
    Nexus.open(scopes / "ada").close()
