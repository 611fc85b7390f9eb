"""Text to tree to text and back, on written commands and on generated trees."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiprdf.language import ast, parse, to_text
from kiprdf.source import NOWHERE
from tests.syntax import trees

FOLDER = Path(__file__).parent


def _commands(name: str) -> list[str]:
    return (FOLDER / name).read_text("utf-8").removesuffix("\n").split("\n---\n")


KITCHEN_SINK = _commands("kitchen_sink.kip")
IDENTITY = _commands("identity.kip")


def _nodes(node: Any) -> list[ast.Node]:
    if isinstance(node, tuple):
        return [inner for item in node for inner in _nodes(item)]
    if not isinstance(node, ast.Node):
        return []
    children = (getattr(node, field.name) for field in dataclasses.fields(node))
    return [node, *(inner for child in children for inner in _nodes(child))]


@pytest.mark.parametrize("text", KITCHEN_SINK + IDENTITY, ids=lambda text: text[:30])
def test_printed_tree_parses_to_the_same_tree(text: str) -> None:
    tree = parse(text)
    assert parse(to_text(tree)) == tree


@pytest.mark.parametrize("text", KITCHEN_SINK + IDENTITY, ids=lambda text: text[:30])
def test_printing_is_a_fixed_point(text: str) -> None:
    printed = to_text(parse(text))
    assert to_text(parse(printed)) == printed


@pytest.mark.parametrize("text", IDENTITY, ids=lambda text: text[:30])
def test_a_printed_command_prints_as_it_stands(text: str) -> None:
    assert to_text(parse(text)) == text


def test_the_kitchen_sink_holds_every_kind_of_node() -> None:
    concrete = {
        kind
        for kind in vars(ast).values()
        if isinstance(kind, type) and issubclass(kind, ast.Node) and kind is not ast.Node
    }
    met = {type(node) for text in KITCHEN_SINK for node in _nodes(parse(text))}
    assert concrete - met == set()


def test_the_kitchen_sink_holds_every_field_operator_and_function() -> None:
    nodes = [node for text in KITCHEN_SINK for node in _nodes(parse(text))]
    paths = {node.field for node in nodes if isinstance(node, ast.Path)}
    operators = {node.operator for node in nodes if isinstance(node, ast.Comparison)}
    functions = {node.function for node in nodes if isinstance(node, ast.StringTest)}
    aggregates = {node.function for node in nodes if isinstance(node, ast.Aggregate)}
    assert paths == set(get_args(ast.Field))
    assert operators == set(get_args(ast.ComparisonOperator))
    assert functions == set(get_args(ast.StringFunction))
    assert aggregates == set(get_args(ast.AggregateFunction))


@pytest.mark.parametrize("text", KITCHEN_SINK + IDENTITY, ids=lambda text: text[:30])
def test_every_node_lies_inside_its_parent(text: str) -> None:
    def check(node: ast.Node) -> None:
        assert node.span != NOWHERE, node
        for field in dataclasses.fields(node):
            value = getattr(node, field.name)
            for child in value if isinstance(value, tuple) else (value,):
                if isinstance(child, ast.Node):
                    # The span of an entry is that of its key.
                    if not isinstance(node, ast.Entry | ast.Assignment):
                        assert node.span.start <= child.span.start, (node, child)
                        assert child.span.end <= node.span.end, (node, child)
                    check(child)

    check(parse(text))


def test_every_span_begins_and_ends_at_a_token() -> None:
    for text in KITCHEN_SINK + IDENTITY:
        for node in _nodes(parse(text)):
            covered = text[node.span.start : node.span.end]
            assert covered, node
            assert covered == covered.strip(), node


@given(tree=trees.commands)
def test_generated_tree_is_read_back_from_its_text(tree: ast.Command) -> None:
    assert parse(to_text(tree)) == tree


@given(tree=trees.commands, spaces=st.sampled_from(("\t", "\r\n", "  ", " // c ?x {\n", "\n//\n")))
def test_layout_does_not_matter(tree: ast.Command, spaces: str) -> None:
    lines = to_text(tree).split("\n")
    assert parse(spaces.join(["", *lines, ""])) == tree
