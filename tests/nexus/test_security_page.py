"""The table of docs/security.md: who may do what, each cell tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import kiprdf
from kiprdf.actors import ACCESSES, Access, Kind
from tests.nexus.support import element

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$PropositionType", name: "likes"} }
  CONCEPT { {type: "Person", name: "Plain"} SET ATTRIBUTES { n: 1 } }
  CONCEPT { {type: "Person", name: "Reviewed"} SET ATTRIBUTES { n: 1 } }
    WITH METADATA { status: "reviewed" }
  CONCEPT { {type: "Person", name: "Retracted"} } WITH METADATA { status: "retracted" }
}
"""
REVIEWED, RETRACTED = "C:Person/Reviewed", "C:Person/Retracted"
REJECTED = ("C:Person/Plain", "likes", REVIEWED)

Do = Callable[[kiprdf.Nexus], Any]


def upsert(name: str, attributes: str = "", metadata: str = "") -> Do:
    text = f'UPSERT {{ CONCEPT {{ {{type: "Person", name: "{name}"}}'
    text += f" SET ATTRIBUTES {{ {attributes} }} }} }} WITH METADATA {{ {metadata} }}"
    return lambda nexus: nexus.execute(text)


def delete(name: str) -> Do:
    text = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: :name} }'
    return lambda nexus: nexus.execute(text, name=name)


def merge(name: str, into: str = "Plain") -> Do:
    text = "MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: :a} ?b {name: :b} }"
    return lambda nexus: nexus.execute(text, a=name, b=into)


def propose(nexus: kiprdf.Nexus) -> Any:
    return upsert("New")(nexus)


def write_rejected(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { PROPOSITION { ({type: "Person", name: "Plain"}, "likes",'
        ' {type: "Person", name: "Reviewed"}) } }'
    )


def decide(nexus: kiprdf.Nexus) -> None:
    (proposal,) = nexus.proposals()
    nexus.decline(proposal["id"], "No.")


def restore(nexus: kiprdf.Nexus) -> None:
    nexus.restore(SNAPSHOT)


with kiprdf.Nexus.memory(genesis=False) as small:
    SNAPSHOT = small.snapshot()

DOES: dict[str, list[Do]] = {
    "ask, search, read the history, export a snapshot": [
        lambda nexus: nexus.execute("FIND(?p) WHERE { ?p {} }"),
        lambda nexus: nexus.execute('SEARCH CONCEPT "Plain"'),
        lambda nexus: nexus.history("C:Person/Plain"),
        lambda nexus: nexus.snapshot(),
    ],
    "[propose](how-to/review.md) a command that writes": [propose],
    "write, delete and merge what nobody has judged": [
        upsert("Plain", "n: 2"),
        delete("Plain"),
        merge("Other"),
    ],
    "import, and apply a capsule": [
        lambda nexus: nexus.import_rdf("<urn:a> a <urn:T> .", define=True),
        lambda nexus: nexus.apply_capsule('UPSERT { CONCEPT { {type: "Person", name: "B"} } }'),
    ],
    "undo": [lambda nexus: nexus.undo(seq=nexus.info()["commit"])],
    "forget": [lambda nexus: nexus.forget(["C:Person/Plain"])],
    "set `draft`, `deprecated` or `retracted` on what nobody has judged": [
        upsert("Plain", metadata=f'status: "{status}"')
        for status in ("draft", "deprecated", "retracted")
    ],
    "change a value of what is reviewed": [upsert("Reviewed", "n: 2")],
    "set `reviewed`": [upsert("Plain", metadata='status: "reviewed"')],
    "take `reviewed` away": [upsert("Reviewed", metadata='status: "draft"')],
    "delete, forget or merge away what is reviewed": [
        delete("Reviewed"),
        merge("Reviewed"),
        lambda nexus: nexus.forget([REVIEWED]),
    ],
    "lift what a person retracted": [upsert("Retracted", metadata='status: "active"')],
    "delete, forget or merge away what a person retracted": [
        delete("Retracted"),
        merge("Retracted"),
        lambda nexus: nexus.forget([RETRACTED]),
    ],
    "reject a value, lift a rejection": [
        lambda nexus: nexus.reject((REVIEWED, "likes", RETRACTED), reason="No."),
        lambda nexus: nexus.lift(nexus.rejections()[0]["name"]),
    ],
    "write a value that is rejected": [write_rejected],
    "approve or decline what others proposed": [decide],
    "change the core schema and the directives of `$self`": [
        upsert("$self", "core_directives: []"),
        lambda nexus: nexus.execute(
            'UPSERT { CONCEPT { {type: "Domain", name: "CoreSchema"} SET ATTRIBUTES { n: 1 } } }'
        ),
    ],
    "compact the history": [lambda nexus: nexus.compact_history(nexus.info()["commit"])],
    "restore a snapshot into an empty nexus": [restore],
}


def rows() -> list[tuple[str, str, str, str]]:
    """The rows of the table: what, access, and the answers for people and for others."""
    lines = PAGE.read_text("utf-8").split("## Who may do what")[1].split("\n## ")[0].split("\n")
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [(what, access.strip("`"), human, other) for what, access, human, other in table[1:]]


def world() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    with nexus.acting(author="proposer", access="propose"):
        upsert("Proposed")(nexus)
    nexus.reject(REJECTED, reason="No.")
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Other"} } }')
    return nexus


def test_each_row_of_the_table_is_tried() -> None:
    assert [what for what, *_ in rows()] == list(DOES)


@pytest.mark.parametrize(("what", "access", "human", "other"), rows())
def test_who_may_do_what(what: str, access: Access, human: str, other: str) -> None:
    less = ACCESSES[max(0, ACCESSES.index(access) - 1)]
    for do in DOES[what]:
        answers = {"human": human, "model": other} | ({"job": other} if human != other else {})
        for kind, answer in answers.items():
            for given in dict.fromkeys((access, less)):
                may = answer != "no" and given == access
                nexus = kiprdf.Nexus.memory(genesis=False) if do is restore else world()
                with nexus, nexus.acting(author="x", kind=cast(Kind, kind), access=given):
                    assert is_done(do, nexus) == may, (kind, given)
                    if may and what == "change a value of what is reviewed":
                        status = element(nexus, REVIEWED)["metadata"]["status"]
                        assert status == answer.split()[-1]


def is_done(do: Do, nexus: kiprdf.Nexus) -> bool:
    """Whether something is done; else it is KIP_3004, or a proposal, and nothing is written."""
    before, code = nexus.info()["commit"], ""
    result: Any = None
    try:
        result = do(nexus)
    except kiprdf.KipError as error:
        code = error.code
    is_proposed = isinstance(result, dict) and "proposed" in result
    if code or is_proposed:
        assert code in ("", "KIP_3004")
        assert nexus.info()["commit"] == before
    return not code and (not is_proposed or do is propose)
