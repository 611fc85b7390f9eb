"""Which literals of a text are opened, and that blocks which were parsed once are filled with them:
the same tree as the parser's, or none."""

from __future__ import annotations

import pytest

import kiprdf
from kiprdf.errors import KipError
from kiprdf.language import ast, parse
from kiprdf.language.literals import Blocks, opened
from kiprdf.language.printer import outline


def read_again(text: str) -> ast.Upsert | None:
    blocks = Blocks()
    blocks.read(text)
    shaped = blocks.read(text)
    if shaped is None:
        return None
    assert blocks.outline(shaped) == blocks.outline(shaped) == outline(parse(text))
    return shaped.command


@pytest.mark.parametrize(
    ("text", "shared", "values"),
    [
        (
            'FIND(?d) WHERE { ?d {type: "Drug", name:"A"} FILTER(?d.a >= -1.5) }',
            'FIND(?d) WHERE { ?d {type: "Drug", name::literal_0} FILTER(?d.a >= :literal_1) }',
            {"literal_0": "A", "literal_1": -1.5},
        ),
        (
            'FIND(?d) WHERE { ?d {id: "C:Drug/A"} FILTER(?d.attributes.a != "name: 7") } LIMIT 7',
            "FIND(?d) WHERE { ?d {id: :literal_0} FILTER(?d.attributes.a != :literal_1) } LIMIT 7",
            {"literal_0": "C:Drug/A", "literal_1": "name: 7"},
        ),
        (
            'FIND(?d) WHERE { ?d {name: "A"} FILTER(CONTAINS(?d.n, "x == 1 \\" name: ")) }',
            'FIND(?d) WHERE { ?d {name: :literal_0} FILTER(CONTAINS(?d.n, "x == 1 \\" name: ")) }',
            {"literal_0": "A"},
        ),
    ],
)
def test_names_ids_and_operands_are_opened(
    text: str, shared: str, values: dict[str, object]
) -> None:
    assert opened(text, {"n": 7}) == (shared, {"n": 7, **values})


@pytest.mark.parametrize(
    ("options", "shared", "values"),
    [
        ('["a", 7 ,-1.5]', "[:literal_0, :literal_1, :literal_2]", ["a", 7, -1.5]),
        (":list", "[:literal_0, :literal_1]", ["x", None]),
        (":list)) FILTER(IN(?d.name, :list)", None, ["x", None] * 2),
        ("[:x, 7]", None, None),
        ('["a\\u0042"]', None, None),
        ("[[7]]", None, None),
        (":x", None, None),
        (":long", None, None),
    ],
)
def test_the_items_of_a_list_are_opened(
    options: str, shared: str | None, values: list[object] | None
) -> None:
    text = f"FIND(?d) WHERE {{ ?d {{type: :x}} FILTER(IN(?d.attributes.a, {options})) }}"
    sent = {"x": "Drug", "list": ["x", None], "long": [7] * 51}
    answer = opened(text, sent)
    if values is None:
        assert answer is None
        return
    assert answer is not None
    if shared is not None:
        assert answer[0] == text.replace(options, shared)
    lists = {"list"} if ":list" in options else set()
    rest = {name: value for name, value in sent.items() if name not in lists}
    assert answer[1] == rest | {f"literal_{n}": value for n, value in enumerate(values)}


@pytest.mark.parametrize("path", ["?d.type", "?d.id", "?l.subject"])
def test_a_list_of_types_or_ids_is_compiled_in(path: str) -> None:
    assert opened(f'FIND(?d) WHERE {{ FILTER(IN({path}, ["a"])) }}', {}) is None


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} } }',
        'FIND(?d) WHERE { ?d {type: "Drug"} (?d, "treats"{1,2}, ?s) } LIMIT 5',
        'FIND(?d) WHERE { ?d {name: "A"} } // name: "B"',
        'FIND(?d) WHERE { ?d {name: "A\\u0042"} }',
        "FIND(?d) WHERE { FILTER(?d.attributes.a == 1e5) }",
        "FIND(?d) WHERE { FILTER(?d.attributes.a == 12345678901234567890) }",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert opened(text, {}) is None


ANY = ("FIND", "UPDATE", "DELETE")


@pytest.mark.parametrize(
    ("text", "shape", "values"),
    [
        (
            'UPDATE ?t SET ATTRIBUTES {a: "b", "c": [1, "d"], e: ADD(?t.attributes.e, 2)} '
            'WHERE { ?t {type: "T"} FILTER(?t.attributes.n == 7) } LIMIT 3',
            'UPDATE ?t SET ATTRIBUTES {a: :literal_0, "c": [:literal_1, :literal_2], '
            "e: ADD(?t.attributes.e, :literal_3)} "
            'WHERE { ?t {type: "T"} FILTER(?t.attributes.n == :literal_4) } LIMIT 3',
            ["b", 1, "d", 2, 7],
        ),
        (
            'DELETE ATTRIBUTES {"a"} FROM ?t WHERE { ?t {type: "T", name: "x"} }',
            'DELETE ATTRIBUTES {"a"} FROM ?t WHERE { ?t {type: "T", name: :literal_0} }',
            ["x"],
        ),
    ],
)
def test_all_that_an_update_writes_is_opened(text: str, shape: str, values: list[object]) -> None:
    arguments = {f"literal_{number}": value for number, value in enumerate(values)}
    assert opened(text, {}, ANY) == (shape, arguments)


@pytest.mark.parametrize(
    "text",
    [
        'UPDATE ?d SET ATTRIBUTES {a: "b"} // it"s\nWHERE { ?d {type: "T"} }',
        'UPDATE ?d SET ATTRIBUTES {a: "b WHERE", b: 1} WHERE { ?d {type: "T"} }',
        'UPDATE ?d SET ATTRIBUTES {a: "\\" WHERE", b: 1} WHERE { ?d {type: "T"} }',
        'UPDATE ?d SET ATTRIBUTES {a: 1e400} WHERE { ?d {type: "T"} }',
        'UPDATE ?d SET ATTRIBUTES {a: 9223372036854775808} WHERE { ?d {type: "T"} }',
        'DELETE ATTRIBUTES {"a"} FROM ?t WHERE { ?t {type: "T"} }',
        'EXPORT ?t WHERE { ?t {type: "T", name: "a"} }',
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "T", name: "a"} }',
        'SEARCH CONCEPT "a"',
    ],
)
def test_other_statements_stay_as_they_are(text: str) -> None:
    assert opened(text, {}, ANY) is None


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
    blocks = Blocks()
    many = upsert(*(BLOCK % number for number in range(5)))
    assert [blocks.read(upsert(BLOCK % n)) is None for n in range(3)] == [True, False, False]
    shaped = Blocks().read(many)
    assert shaped is not None
    assert shaped.command == parse(many)


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
