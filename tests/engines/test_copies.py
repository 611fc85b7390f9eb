"""What reads a whole dataset, or reads by several queries, sees one commit beside writers."""

from __future__ import annotations

import io
import threading

from kiprdf import Nexus
from tests.engines.servers import Engine

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "N"} }
  CONCEPT { {type: "$PropositionType", name: "next"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
  CONCEPT ?a { {type: "N", name: "a"} }
  CONCEPT ?b { {type: "N", name: "b"} SET PROPOSITIONS { ("next", ?a) } }
  CONCEPT { {type: "N", name: "c"} SET PROPOSITIONS { ("says", (?b, "next", ?a)) } }
}"""
SIZES = 'UPDATE ?n SET ATTRIBUTES { size: :size } WHERE { ?n {type: "N"} FILTER(?n.name != "c") }'
ALIKE = """
    FIND(?n.name, ?m.name) WHERE {
      ?n {type: "N"} FILTER(?n.name != "c")
      OPTIONAL { ?m {type: "N"} FILTER(?m.name != ?n.name)
        FILTER(?m.attributes.size == ?n.attributes.size) }
      FILTER(IS_NOT_NULL(?m))
    }
"""
"""Takes several queries, of which each reads a size."""


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
            pairs = [reader.find(ALIKE).tuples() for _ in range(5)]
            assert thread.is_alive()
        finally:
            done.set()
            thread.join()
        restored.restore(io.StringIO(snapshot))
        where = '{ ?n {type: "N"} FILTER(?n.name != "c") }'
        first, second = restored.execute(f"FIND(?n.attributes.size) WHERE {where}")
        assert first == second
        assert [len(rows) for rows in pairs] == [2] * 5
