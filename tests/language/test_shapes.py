"""Blocks that were parsed once are filled: the same tree as the parser's, or none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import kiprdf
from kiprdf.errors import KipError
from kiprdf.language import ast, parse, to_text
from kiprdf.language.shapes import Shapes
from tests.syntax import trees


def read_again(text: str) -> ast.Upsert | None:
    shapes = Shapes()
    shapes.read(text)
    return shapes.read(text)


@settings(max_examples=100)
@given(trees.upserts)
def test_what_is_filled_equals_what_is_parsed(tree: ast.Upsert) -> None:
    text = to_text(tree)
    filled = read_again(text)
    assert filled is None or filled == parse(text)


def upsert(*blocks: str) -> str:
    return f"UPSERT {{ {' '.join(blocks)} }}"


BLOCK = 'CONCEPT { {type: "T", name: "a"} SET ATTRIBUTES { x: %s } } WITH METADATA { y: 1 }'


@pytest.mark.parametrize(
    "value",
    [
        *('"b"', "-7", "0.25", "50e-2", "1E+5", "9223372036854775806", "1e18", "true", "null"),
        *('["b", 2, [3]]', '{k: "b", "l": 4, "m": {n: "5"}}', '"a\\"b"', '"//"', '"CONCEPT {"'),
        *('"😀"', '"\\u00e9"', '""', "-0", "-0.0"),
    ],
)
def test_every_kind_of_value_is_filled_or_kept(value: str) -> None:
    text = f"{upsert(BLOCK % value, BLOCK % value)} WITH METADATA {{ z: {value} }}"
    assert repr(read_again(text)) == repr(parse(text))


@pytest.mark.parametrize(
    "text",
    [
        'FIND(?a) WHERE { ?a {type: "T"} }',
        upsert(BLOCK % 1)[:-1] + "/",
        upsert(BLOCK % 1, "//", BLOCK % 2, "\n"),
        upsert(BLOCK % 1) + upsert(BLOCK % 2),
        upsert(BLOCK % ":literal_0"),
        upsert(BLOCK % ":name"),
        upsert(BLOCK % "1e300"),
        upsert(BLOCK % "9223372036854775808"),
        upsert(BLOCK % "007"),
        upsert(BLOCK % '"\ud800"'),
        upsert(BLOCK % '"\\ud800"'),
        upsert(BLOCK % '"' + "x" * 300_000),
        upsert(),
    ],
)
def test_what_has_no_shape_is_left_to_the_parser(text: str) -> None:
    assert read_again(text) is None


def test_one_block_is_parsed_when_it_comes_again_and_many_at_once() -> None:
    shapes = Shapes()
    many = upsert(*(BLOCK % number for number in range(5)))
    assert [shapes.read(upsert(BLOCK % n)) is None for n in range(3)] == [True, False, False]
    assert Shapes().read(many) == parse(many)


def test_a_failure_shows_its_place_in_the_text() -> None:
    text = 'UPSERT { CONCEPT { {type: "Person", name: "Ada %d"} EXPECT VERSION %d } }'
    with kiprdf.Nexus.memory() as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } }')
        for number in range(3):
            nexus.execute(text % (number, 0))
        with pytest.raises(KipError) as caught:
            nexus.execute(text % (1, 0))
        failed = text % (1, 0)
        assert caught.value.code == "KIP_3005"
        assert caught.value.source == failed
        assert failed[slice(*caught.value.span)] == "0"
