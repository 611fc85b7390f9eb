"""FIND on a server beside the good SPARQL that an expert would send it by hand.

``python -m tests.engines.yardstick fuseki`` prints a line for each question.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from kiprdf import Nexus
from tests.benchmarks import data
from tests.benchmarks.__main__ import line
from tests.benchmarks.measure import Ratio, side_by_side
from tests.benchmarks.questions import mean
from tests.benchmarks.shapes import SHAPES, Shape
from tests.engines import bulk
from tests.engines.servers import KINDS, Engine, running

TARGET = 1.5
PROPOSITIONS = 10_000
WARM_UP = 50
"""Questions before the measured ones: Java compiles what runs often."""


def measured(engine: Engine, propositions: int = PROPOSITIONS) -> Iterator[Ratio]:
    """Every question, and the geometric means; fills the empty engine first."""
    with tempfile.TemporaryDirectory() as folder, Nexus.memory(genesis=False) as embedded:
        snapshot = Path(folder) / "data.ttl"
        data.write_turtle(propositions, snapshot)
        embedded.restore(snapshot)
        path = bulk.write(engine.name, embedded)
    bulk.load(engine, path)
    path.unlink()
    drugs = data.sizes(propositions)[0]

    def number(turn: int) -> int:
        """A drug of which an author stated something."""
        return (drugs // 2 + turn * 8) % drugs // 8 * 8

    ratios = []
    with Nexus.connect(**engine.arguments, genesis=False) as nexus:
        for shape in SHAPES:
            ratios.append(_beside(nexus, ByHand(engine), shape, number))
            yield ratios[-1]
    yield mean("all of them", ratios, TARGET)


class ByHand:
    """Queries sent on one kept connection, as an expert's program would."""

    def __init__(self, engine: Engine) -> None:
        self._is_rdf11 = engine.default_graph is not None
        self._form = (
            {} if engine.default_graph is None else {"default-graph-uri": engine.default_graph}
        )
        url = urlsplit(engine.target)
        self._path = url.path
        self._connection = http.client.HTTPConnection(url.netloc)

    def rows(self, shape: Shape, number: int) -> list[Any]:
        form = {**self._form, "query": shape.query(number, rdf11=self._is_rdf11)}
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/sparql-results+json",
        }
        self._connection.request("POST", self._path, urlencode(form), headers)
        answer = json.loads(self._connection.getresponse().read())
        names = answer["head"]["vars"]
        rows = answer["results"]["bindings"]
        return [[_value(row.get(name)) for name in names] for row in rows]


def _value(cell: dict[str, str] | None) -> Any:
    if cell is None:
        return None
    kind = cell.get("datatype", "").rpartition("#")[2]
    return int(cell["value"]) if kind == "integer" else cell["value"]


def _beside(nexus: Nexus, by_hand: ByHand, shape: Shape, number: Callable[[int], int]) -> Ratio:
    def ours(turn: int) -> Any:
        return nexus.execute(shape.kip, **shape.parameters(number(turn)))

    def yardstick(turn: int) -> list[Any]:
        return by_hand.rows(shape, number(turn))

    answer, expected = ours(0), yardstick(0)
    rows = len(answer[0] if answer and isinstance(answer[0], list) else answer)
    if rows != len(expected):
        sys.exit(f"{shape.name}: {rows} rows, and {len(expected)} by hand")
    for turn in range(WARM_UP):
        ours(turn)
        yardstick(turn)
    return side_by_side(shape.name, ours, yardstick, target=TARGET, rounds=7)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.engines.yardstick", description=__doc__)
    parser.add_argument("name", choices=[name for name, kind in KINDS.items() if kind.start])
    parser.add_argument("--propositions", type=int, default=PROPOSITIONS)
    arguments = parser.parse_args()
    with running(arguments.name) as engine:
        for ratio in measured(engine, arguments.propositions):
            print(line(ratio), flush=True)


if __name__ == "__main__":
    main()
