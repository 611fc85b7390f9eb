"""For any text: a command or a KIP error with its place, in bounded time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kiprdf.errors import KipError
from kiprdf.language import ast, parse

SEEDS = (Path(__file__).parent / "kitchen_sink.kip").read_text("utf-8").split("\n---\n")
TOKENS = (  # noqa: SIM905
    "FIND WHERE FILTER NOT OPTIONAL UNION ORDER BY LIMIT CURSOR COUNT DISTINCT IN IS_NULL REGEX "
    "UPSERT CONCEPT PROPOSITION SET ATTRIBUTES PROPOSITIONS WITH METADATA DELETE FROM DETACH "
    "DESCRIBE TYPE TYPES SEARCH ?x ?x.name ?x.attributes.a ?1 { } ( ) [ ] , : | || && ! == != < "
    '> <= >= "a" "treats" {1,3} {2} type name id :p 1 -1 2.5 1e9 true null // \' " \\ ; . = + -'
).split()


def error_of(text: str) -> KipError | None:
    """The error of a text, or None when it is a command. Anything else that is raised goes up."""
    try:
        assert isinstance(parse(text), ast.Node)
    except KipError as error:
        return error
    return None


def check(text: str) -> None:
    error = error_of(text)
    if error is None:
        return
    assert error.code in ("KIP_1001", "KIP_1002", "KIP_4002")
    assert error.message
    assert error.hint
    if error.position is not None:
        line, column = error.position
        assert 0 <= error.span.start <= len(text)
        assert 1 <= line <= text.count("\n") + 1
        assert 1 <= column <= len(text.split("\n")[line - 1]) + 1


@given(text=st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_is_a_command_or_an_error(text: str) -> None:
    check(text)


@given(words=st.lists(st.sampled_from(TOKENS), max_size=40))
@example(words=["FIND", "(", "?x", ")", "WHERE", "{", "?x", "{", "}", "}"])
def test_any_tokens_are_a_command_or_an_error(words: list[str]) -> None:
    check(" ".join(words))
    check("FIND(?x) WHERE { " + " ".join(words))
    check("UPSERT { " + " ".join(words))


@given(
    seed=st.sampled_from(SEEDS), at=st.floats(0, 1), cut=st.integers(0, 6), put=st.text(max_size=3)
)
def test_any_change_of_a_command_is_a_command_or_an_error(
    seed: str, at: float, cut: int, put: str
) -> None:
    place = int(at * len(seed))
    check(seed[:place] + put + seed[place + cut :])


@given(seed=st.sampled_from(SEEDS), at=st.floats(0, 1))
def test_any_beginning_of_a_command_is_a_command_or_an_error(seed: str, at: float) -> None:
    check(seed[: int(at * len(seed))])


DEEP = {
    "braces": "{" * 100_000,
    "parentheses": "FIND(" + "(" * 100_000,
    "negations": 'FIND(?x) WHERE { ?x {type: "T"} FILTER(' + "!" * 100_000 + "true) }",
    "spaced_negations": 'FIND(?x) WHERE { ?x {type: "T"} FILTER(' + "! " * 50_000 + "true) }",
    "conditions": 'FIND(?x) WHERE { ?x {type: "T"} FILTER(' + "(" * 10_000 + "true",
    "lists": "UPSERT { CONCEPT { {type: " + "[" * 100_000,
    "objects": "UPSERT { CONCEPT { {type: " + '{"a":' * 50_000,
    "blocks": "FIND(?x) WHERE " + "{ NOT " * 50_000,
    "propositions": "FIND(?x) WHERE { " + "(" * 50_000 + '?a, "p", ?b',
    "closers": "FIND(?x) WHERE { " + "}" * 100_000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_refused(text: str) -> None:
    error = error_of(text)
    assert error is not None
    assert error.code in ("KIP_4002", "KIP_1001")


NESTED = {
    "negations": ("!", "true", ""),
    "conditions": ("(", "true", ")"),
}


@pytest.mark.parametrize(("opener", "inner", "closer"), NESTED.values(), ids=NESTED)
def test_sixty_levels_in_a_filter_are_read(opener: str, inner: str, closer: str) -> None:
    condition = opener * 60 + inner + closer * 60
    assert error_of(f'FIND(?x) WHERE {{ ?x {{type: "T"}} FILTER({condition}) }}') is None


@pytest.mark.parametrize(
    ("levels", "code"), [(62, None), (63, "KIP_4002")], ids=["at_the_edge", "one_past_it"]
)
def test_lists_nest_sixty_four_levels_with_the_braces_around(levels: int, code: str | None) -> None:
    # SEARCH has no braces, FILTER has WHERE's brace and its own parenthesis.
    text = f'FIND(?x) WHERE {{ ?x {{type: "T"}} FILTER({"[" * levels}{"]" * levels} == 1) }}'
    error = error_of(text)
    assert (error.code if error else None) == code


def test_flat_megabytes_are_refused_by_size() -> None:
    error = error_of('FIND(?x) WHERE { ?x {name: "' + "a" * 5_000_000 + '"} }')
    assert error is not None
    assert (error.code, error.message) == ("KIP_4002", "The command is longer than 256 KiB.")


@pytest.mark.parametrize(("extra", "code"), [(0, None), (1, "KIP_4002")])
def test_a_command_holds_256_kib(extra: int, code: str | None) -> None:
    text = 'SEARCH CONCEPT "a"'
    error = error_of(text + " " * (256 * 1024 - len(text) + extra))
    assert (error.code if error else None) == code


def test_the_size_of_a_command_is_counted_in_bytes() -> None:
    error = error_of('SEARCH CONCEPT "' + "阿" * (256 * 1024 // 3 + 1) + '"')
    assert error is not None
    assert error.code == "KIP_4002"


def test_a_capsule_may_be_larger() -> None:
    blocks = 'UPSERT { CONCEPT { {type: "Domain", name: "D"} } }\n' * 6_000
    assert isinstance(parse(blocks, limit_size=False), ast.Upsert)


def test_megabytes_of_comments_are_read() -> None:
    # A step back for each line would take hours.
    command = parse("// comment\n" * 200_000 + "DESCRIBE PRIMER", limit_size=False)
    assert isinstance(command, ast.Describe)


@pytest.mark.parametrize("point", [0, 0xB, 0xC, 0xA0, 0xD800, 0xDFFF, 0xFEFF], ids=hex)
def test_a_foreign_character_between_tokens_is_an_error(point: int) -> None:
    error = error_of(f"DESCRIBE {chr(point)} PRIMER")
    assert error is not None
    assert (error.code, error.position) == ("KIP_1001", (1, 10))


def test_positions_stay_right_behind_tabs() -> None:
    error = error_of('FIND(?d)\t\tWHERE {\n\t\t?d {type: "Drug"}\n\t\tFILTER ?d.name\n}')
    assert error is not None
    assert error.position == (3, 10)
    assert error.excerpt is not None
    assert error.excerpt.rstrip("^") == "\t\tFILTER ?d.name\n\t\t       "


def test_positions_stay_right_behind_comments() -> None:
    error = error_of('FIND(?d) // ?x "\nWHERE { // {\n  ?d {type: "Drug"} // "\n  nonsense }')
    assert error is not None
    assert error.position == (4, 3)


def test_positions_stay_right_behind_astral_characters() -> None:
    error = error_of('FIND(?d) WHERE { ?d {name: "😀😀"} 3 }')
    assert error is not None
    assert error.position == (1, 34)


def test_positions_stay_right_behind_carriage_returns() -> None:
    error = error_of("FIND(?d)\r\nWHERE {\r\n  3 }")
    assert error is not None
    assert error.position == (3, 3)


def test_a_comment_in_a_string_is_text() -> None:
    command = parse('SEARCH CONCEPT "http://example.org // no comment"')
    assert isinstance(command, ast.Search)
    assert command.term == ast.Scalar("http://example.org // no comment")


@pytest.mark.parametrize(
    "text",
    [
        "//\nDESCRIBE PRIMER",
        "DESCRIBE // x\nPRIMER",
        "DESCRIBE PRIMER // the end",
        "DESCRIBE PRIMER//",
        "// a\n// b\n  DESCRIBE//c\n//d\nPRIMER\n//e",
    ],
)
def test_comments_stand_between_any_two_tokens(text: str) -> None:
    assert parse(text) == ast.DescribePrimer()


def test_comments_stand_inside_dot_paths_hops_and_values() -> None:
    text = (
        'FIND(?d // a\n . // b\n name) WHERE { (?d, "p" // c\n { // d\n 1 // e\n , 2 }, ?e) '
        "FILTER(IN(?d.name, [ // f\n 1 // g\n , 2 ])) }"
    )
    assert parse(text) == parse(
        'FIND(?d.name) WHERE { (?d, "p"{1,2}, ?e) FILTER(IN(?d.name, [1, 2])) }'
    )
