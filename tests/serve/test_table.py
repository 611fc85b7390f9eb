"""A type as a table: each page, number and download is what the KQL that it shows answers."""

from __future__ import annotations

import csv
import html
import io
import random
import re
from typing import Any
from urllib.parse import parse_qsl

import kiprdf
from kiprdf.actors import Actor
from kiprdf.serve.explorer import table
from kiprdf.serve.explorer.explorer import Explorer
from tests.long_runs import SEED, amount

BASE = "http://kb.example/kb/"
TABLES = amount("TABLES", 60)
DEFINED = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Part"} }
  CONCEPT { {type: "$PropositionType", name: "fits"} }
}"""
PART = (
    'UPSERT { CONCEPT { {type: "Part", name: :name} SET ATTRIBUTES :values } WITH METADATA :about }'
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=1+1",
    "a:is:b",
    "😀 中文",
)
VALUES: tuple[Any, ...] = (
    *(0, 1, 3, 3.0, -5, 2.5, 1e300, 2**53 + 1, True, False, None, "", "3", "true", "null"),
    *("2024-01-31", "2024-02-01T10:00:00Z", "Lisbon", "lisbon (old)", "-5", '"quoted"', "=1+1"),
    *HOSTILE,
    {"@value": "Lisbon", "@language": "pt"},
    {"@value": "3", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},
    {"a": 1},
    *([], ["Lisbon", 3], ["Lisbon", "Lisbon", None], [True, [1]], ["=1+1", {"a": 1}]),
)
CHOICE = re.compile(r'<a href="[^"]*[?]([^"]*)"(?: class="null")?><bdi>[^<]*</bdi> <small>([\d,]+)')
Address = list[tuple[str, str]]


def explorer(nexus: kiprdf.Nexus) -> Explorer:
    return Explorer(nexus, nexus.store, "kb", Actor())


def page(nexus: kiprdf.Nexus, address: Address) -> str:
    return table.table(explorer(nexus), table.Asked.of(address))


def ids(nexus: kiprdf.Nexus, address: Address) -> list[str]:
    """The rows of a download, in their order."""
    rows = csv.reader(io.StringIO(table.download(explorer(nexus), table.Asked.of(address), "csv")))
    return [row[0] for row in rows][1:]


def command(text: str) -> str:
    (shown,) = re.findall("<pre>(FIND.*?)</pre>", text, re.DOTALL)
    return html.unescape(shown)


def number(text: str) -> int:
    (shown,) = re.findall(r"<h1>.*?<small>([\d,]+)", text)
    return int(shown.replace(",", ""))


def random_address(chance: random.Random) -> Address:
    columns = ("name", "a", "b", "c", "metadata.source", "metadata.missing", "attributes.name")
    address = [("type", "Part")]
    for _ in range(chance.randrange(3)):
        value = chance.choice([one for one in VALUES if isinstance(one, str | int | float)])
        text = table.value_text(value) if chance.random() < 0.8 else str(value)
        one = chance.choice(columns), chance.choice([*table.OPERATORS]), text
        address.append(("filter", ":".join(one)))
    if chance.random() < 0.7:
        address += [("sort", chance.choice(columns)), ("order", chance.choice(("asc", "desc")))]
    if chance.random() < 0.3:
        address.append(("q", chance.choice(("LISB", "3", ".*", "(old)", "<", "名"))))
    if chance.random() < 0.5:
        address += [("show", one) for one in chance.sample(columns[1:], 3)]
    return address


def test_each_table_is_the_kql_that_it_shows() -> None:
    chance = random.Random(SEED)
    with kiprdf.Nexus.memory(BASE) as nexus:
        nexus.execute(DEFINED)
        for at in range(70):
            keys = chance.sample(("a", "b", "c", "name"), chance.randrange(5))
            values = {key: chance.choice(VALUES) for key in keys}
            about = {"source": chance.choice(("x", "=x", "3"))} if chance.random() < 0.5 else {}
            name = f"{chance.choice(('Lisbon', 'part', *HOSTILE))} {at}"
            nexus.execute(PART, name=name, values=values, about=about)
        for _ in range(TABLES):
            address = random_address(chance)
            text = page(nexus, address)
            answered = [row[0]["id"] for row in nexus.find(command(text)).tuples()]
            assert ids(nexus, address) == answered, address
            assert number(text) == len(answered), address
            assert text.count("<tr>") == min(len(answered), table.SIZE) + bool(answered), address
            choices = re.findall(
                r'<a href="[^"]*[?]([^"]*)"(?: class="null")?><bdi>[^<]*</bdi> <small>([\d,]+)',
                text,
            )
            for query, expected in choices:
                assert len(ids(nexus, parse_qsl(html.unescape(query)))) == int(expected), address
