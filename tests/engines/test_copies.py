"""The copy in memory, which answers what an engine cannot, follows the commits of all processes."""

from __future__ import annotations

import io
import threading

from kiprdf import Nexus
from kiprdf.rdf import vocab
from kiprdf.store.oxigraph import OxigraphStore
from tests.engines.servers import Engine

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "N"} }
  CONCEPT { {type: "$PropositionType", name: "next"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
  CONCEPT ?a { {type: "N", name: "a"} }
  CONCEPT ?b { {type: "N", name: "b"} SET PROPOSITIONS { ("next", ?a) } }
  CONCEPT { {type: "N", name: "c"} SET PROPOSITIONS { ("says", (?b, "next", ?a)) } }
}"""
STATEMENTS = (
    'UPSERT { CONCEPT ?d { {type: "N", name: "d"} SET ATTRIBUTES { tags: ["x", "y"] } '
    'SET PROPOSITIONS { ("next", {type: "N", name: "b"}) } } }',
    'UPDATE ?n SET ATTRIBUTES { tags: ["z"], size: 0.5 } WHERE { ?n {type: "N", name: "d"} }',
    'UPDATE ?l SET METADATA { confidence: 0.5 } WHERE { ?l (?x, "next", ?y) }',
    'DELETE PROPOSITIONS ?l WHERE { ?l (?x, "next", {type: "N", name: "b"}) }',
    'MERGE CONCEPT ?a INTO ?d WHERE { ?a {type: "N", name: "a"} ?d {type: "N", name: "d"} }',
    'DELETE CONCEPT ?n DETACH WHERE { ?n {type: "N", name: "d"} }',
    'UPSERT { CONCEPT { {type: "$ConceptType", name: "M"} } }',
)
SIZES = 'UPDATE ?n SET ATTRIBUTES { size: :size } WHERE { ?n {type: "N"} FILTER(?n.name != "c") }'


def _quads(copy: OxigraphStore) -> set[str]:
    return {str(quad) for quad in copy.engine if quad.graph_name != vocab.BOOKKEEPING}


def test_a_copy_in_memory_follows_every_statement(server: Engine) -> None:
    with (
        Nexus.connect(**server.arguments) as reader,
        Nexus.connect(**server.arguments) as writer,
    ):
        writer.execute(SCHEMA)
        store = reader.store
        first = store.read(store.in_memory)
        for statement in STATEMENTS:
            before = _quads(first)
            writer.execute(statement)
            assert store.read(store.in_memory) is first, "it is not read again as a whole"
            assert _quads(first) == _quads(store.copy())
            assert _quads(first) != before, statement


def test_writers_do_not_hold_up_what_reads_the_whole(server: Engine) -> None:
    """Two concepts always have the same ``size``."""
    done = threading.Event()

    def write() -> None:
        for size in range(2_000):
            if done.is_set():
                break
            writer.execute(SIZES, size=size)

    with (
        Nexus.connect(**server.arguments) as reader,
        Nexus.connect(**server.arguments) as writer,
        Nexus.memory(genesis=False) as restored,
    ):
        writer.execute(SCHEMA)
        writer.execute(SIZES, size=0)
        thread = threading.Thread(target=write)
        thread.start()
        try:
            snapshot = reader.snapshot()
            copy = reader.store.read(reader.store.in_memory)
            assert thread.is_alive()
        finally:
            done.set()
            thread.join()
        restored.restore(io.StringIO(snapshot))
        where = '{ ?n {type: "N"} FILTER(?n.name != "c") }'
        first, second = restored.execute(f"FIND(?n.attributes.size) WHERE {where}")
        assert first == second
        read = {str(triple.object) for triple in copy.match(None, vocab.attribute("size"), None)}
        assert len(read) == 1
