"""A forked child can do nothing to the nexus of its parent, and ends as it wants to.

``KIPRDF_FORKS`` sets how many children there are, ``KIPRDF_SEED`` how they end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.cli import main
from kiprdf.errors import ForkedLogError
from tests.long_runs import SEED, amount
from tests.trust import children

NUMBER = amount("FORKS", 6)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")


def test_a_fork_cannot_use_the_nexus_and_ends_well(
    tmp_path: Path, record_property: Callable[[str, Any], None]
) -> None:
    arguments = (str(tmp_path / "kb"), str(NUMBER), str(SEED))
    child = children.run_afresh("-m", "tests.trust.forking", *arguments)
    assert child.status == 0, child.output[-10_000:]
    record_property("count", child.output.splitlines()[-1])


IN_MEMORY = """
import os, sys, kiprdf
nexus = kiprdf.Nexus.memory()
child = os.fork()
if child == 0:
    try:
        nexus.execute("DESCRIBE DOMAINS")
    except kiprdf.StoreError as error:
        own = kiprdf.Nexus.memory()
        sys.exit(len(own.execute("DESCRIBE DOMAINS")))
    sys.exit(99)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
nexus.execute("DESCRIBE DOMAINS")
"""


def test_a_nexus_in_memory_belongs_to_its_process_too_and_a_child_may_have_its_own() -> None:
    child = children.run_afresh("-c", IN_MEMORY)
    assert child.status == 0, child.output


READ_ONLY = """
import os, sys, kiprdf
nexus = kiprdf.Nexus.open(sys.argv[1])
child = os.fork()
if child == 0:
    with kiprdf.Nexus.open(sys.argv[1], read_only=True) as own:
        sys.exit(len(own.execute("DESCRIBE DOMAINS")))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
nexus.close()
"""


def test_a_child_may_open_a_folder_for_reading(tmp_path: Path) -> None:
    child = children.run_afresh("-c", READ_ONLY, str(tmp_path / "kb"))
    assert child.status == 0, child.output


# What kiprdf did before: the child writes through the engine of its parent. It writes more than a
# block of the log, behind which RocksDB would read no further, and would not say so.
DAMAGE = """
import os, signal, sys, kiprdf
nexus = kiprdf.Nexus.open(sys.argv[1])
nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }')
def write(names):
    for name in names:
        nexus.execute('UPSERT { CONCEPT { {type: "N", name: :n} SET ATTRIBUTES { x: :x } } }',
                      n=name, x="y" * 700)
write(f"before{n}" for n in range(90))
child = os.fork()
if child == 0:
    nexus._store._process = os.getpid()
    write(f"child{n}" for n in range(60))
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
write(f"after{n}" for n in range(90))
print(nexus.check()["faults"], flush=True)
if len(sys.argv) > 2:
    nexus.backup(sys.argv[2])
os.kill(os.getpid(), signal.SIGKILL)
"""
NAMES = 'FIND(?n.name) WHERE { ?n {type: "N"} }'
OF_PARENT = {f"{when}{n}" for when in ("before", "after") for n in range(90)}
OF_CHILD = {f"child{n}" for n in range(60)}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged") / "kb"
    child = children.run_afresh("-c", DAMAGE, str(folder))
    assert child.status == -9, child.output
    assert "The folder will not open again; back it up now, while it is open." in child.output
    return folder


def test_a_backup_of_a_damaged_nexus_that_is_open_has_everything(tmp_path: Path) -> None:
    child = children.run_afresh("-c", DAMAGE, str(tmp_path / "kb"), str(tmp_path / "copy"))
    assert child.status == -9, child.output
    with kiprdf.Nexus.open(tmp_path / "copy") as nexus:
        assert set(nexus.execute(NAMES)) == OF_PARENT
        assert nexus.check()["faults"] == []


def test_a_log_that_two_processes_wrote_is_reported_and_then_holds_both(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ForkedLogError) as raised:
        kiprdf.Nexus.open(damaged)
    assert str(raised.value) == (
        f"A process and a fork of it have both written to the log of the nexus in {damaged}; "
        f"repair it with: kiprdf check --nexus {damaged}"
    )
    with pytest.raises(ForkedLogError):
        kiprdf.Nexus.open(damaged, read_only=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["kiprdf", "check", "--nexus", str(damaged)])
        with pytest.raises(SystemExit) as ended:
            main()
    printed = capsys.readouterr()
    assert "no faults" in printed.out
    # The graph has the commits of both; the history, in which they have the same numbers, has not.
    assert ended.value.code == 1
    assert "The records of the history do not lead to the graph." in printed.out
    assert "contains the writes of both" in " ".join(printed.err.split())
    assert list((damaged / "damaged").glob("*.log"))

    with kiprdf.Nexus.open(damaged) as nexus:
        assert set(nexus.execute(NAMES)) == OF_PARENT | OF_CHILD
        assert nexus.execute('SEARCH CONCEPT "child7" LIMIT 1')[0]["name"] == "child7"
        assert nexus.check()["faults"] == []
