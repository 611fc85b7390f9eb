"""A forked child can do nothing to the nexus of its parent, and ends as it wants to.

``KIPRDF_FORKS`` sets how many children there are, ``KIPRDF_SEED`` how they end.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
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
    nexus.store._process = os.getpid()
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


def test_a_backup_and_the_history_have_what_the_parent_wrote_beside_its_child(
    tmp_path: Path,
) -> None:
    child = children.run_afresh("-c", DAMAGE, str(tmp_path / "kb"), str(tmp_path / "copy"))
    assert child.status == -9, child.output
    assert "The folder will not open again; back it up now, while it is open." in child.output
    for folder in ("copy", "kb"):
        with kiprdf.Nexus.open(tmp_path / folder) as nexus:
            assert set(nexus.execute(NAMES)) == OF_PARENT
            assert nexus.check()["faults"] == []
