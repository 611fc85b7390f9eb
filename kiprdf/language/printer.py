"""Tree to text, the inverse of the parser: ``parse(to_text(tree)) == tree`` for every tree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, assert_never

from kiprdf.language import ast
from kiprdf.language.names import is_identifier
from kiprdf.trees import replaced

_INDENT = "  "
_WIDTH = 80
"""A longer map is written with one line for each key."""
OUTLINED = 100
"""The outline of an UPSERT has its first blocks, and the first items of each."""
# ``json.dumps`` makes an encoder for each value.
_json = json.JSONEncoder(ensure_ascii=False).encode
_VALUE = ast.Placeholder("value")


def to_text(command: ast.Command) -> str:
    """The command as formatted KIP text.

    >>> from kiprdf.language import parse
    >>> print(to_text(parse('FIND(?d.name)WHERE{?d{type:"Drug"}}LIMIT 5')))
    FIND(?d.name)
    WHERE {
      ?d {type: "Drug"}
    }
    LIMIT 5
    """
    match command:
        case ast.Find():
            return _find(command)
        case ast.Upsert():
            return "\n\n".join(_upsert_block(block) for block in command.blocks)
        case ast.Update():
            return _update(command)
        case ast.MergeConcept():
            source, target = _variable(command.source), _variable(command.target)
            return f"MERGE CONCEPT {source} INTO {target}\n{_where(command.where)}"
        case ast.DeleteAttributes():
            return _delete_keys("ATTRIBUTES", command)
        case ast.DeleteMetadata():
            return _delete_keys("METADATA", command)
        case ast.DeletePropositions():
            return f"DELETE PROPOSITIONS {_variable(command.target)}\n{_where(command.where)}"
        case ast.DeleteConcept():
            return f"DELETE CONCEPT {_variable(command.target)} DETACH\n{_where(command.where)}"
        case ast.DescribePrimer():
            return "DESCRIBE PRIMER"
        case ast.DescribeDomains():
            tail = _optional(" LIMIT ", command.limit) + _optional(" CURSOR ", command.cursor)
            return f"DESCRIBE DOMAINS{tail}"
        case ast.DescribeTypes():
            tail = _optional(" LIMIT ", command.limit) + _optional(" CURSOR ", command.cursor)
            return f"DESCRIBE {command.kind} TYPES{tail}"
        case ast.DescribeType():
            return f"DESCRIBE {command.kind} TYPE {value_text(command.name)}"
        case ast.Search():
            tail = (
                _optional(" WITH TYPE ", command.type)
                + _optional(" MODE ", command.mode)
                + _optional(" THRESHOLD ", command.threshold)
                + _optional(" LIMIT ", command.limit)
                + _optional(" CURSOR ", command.cursor)
            )
            return f"SEARCH {command.kind} {value_text(command.term)}{tail}"
        case ast.Export():
            lines = [f"EXPORT {_variable(command.target)}", _where(command.where)]
            return "\n".join([*lines, *_page(command)])
        case _:
            assert_never(command)


def outline(command: ast.Manipulation) -> str:
    """The text of a command that writes, with a placeholder for each value.

    Keys, variables and structure remain. Items of an UPSERT with the same outline are written once.

    >>> from kiprdf.language import parse
    >>> print(outline(parse('UPDATE ?d SET ATTRIBUTES {risk: 2} WHERE {?d {type: "Drug"}}')))
    UPDATE ?d
    SET ATTRIBUTES {risk: :value}
    WHERE {
      ?d {type: :value}
    }
    """

    def masked(node: Any) -> Any:
        if isinstance(node, ast.Object) and isinstance(command, ast.Upsert):
            return ast.Object(tuple([ast.Entry(entry.key, _VALUE) for entry in node.entries]))
        return _VALUE if isinstance(node, ast.Value) else node

    if not isinstance(command, ast.Upsert):
        return to_text(replaced(command, masked))
    cut = (replace(block, items=block.items[:OUTLINED]) for block in command.blocks[:OUTLINED])
    blocks = (
        replace(block, items=tuple(dict.fromkeys(block.items)))
        for block in replaced(tuple(cut), masked)
    )
    return to_text(ast.Upsert(tuple(dict.fromkeys(blocks))))


def value_text(value: ast.Value) -> str:
    """One value on one line."""
    match value:
        case ast.Scalar():
            return _json(value.value)
        case ast.Array():
            return f"[{', '.join(value_text(item) for item in value.items)}]"
        case ast.Object():
            return _object_text(value)
        case ast.Placeholder():
            return f":{value.name}"
        case _:
            assert_never(value)


def _object_text(value: ast.Object) -> str:
    return f"{{{', '.join(_entries(value))}}}"


def _entries(value: ast.Object) -> Iterator[str]:
    return (f"{_key(entry.key)}: {value_text(entry.value)}" for entry in value.entries)


def _key(key: str) -> str:
    return key if is_identifier(key) else _json(key)


def _optional(prefix: str, value: ast.Value | None) -> str:
    return "" if value is None else prefix + value_text(value)


def _indented(text: str) -> str:
    # No value contains a raw line break, so that every line can be indented.
    return "\n".join(_INDENT + line for line in text.split("\n"))


def _variable(variable: ast.Variable) -> str:
    return f"?{variable.name}"


# Patterns -------------------------------------------------------------------------------------


def _concept_matcher(matcher: ast.ConceptMatcher) -> str:
    parts = [("id", matcher.id), ("type", matcher.type), ("name", matcher.name)]
    return "{" + ", ".join(f"{k}: {value_text(v)}" for k, v in parts if v is not None) + "}"


def _proposition_matcher(matcher: ast.PropositionMatcher | ast.PropositionId) -> str:
    if isinstance(matcher, ast.PropositionId):
        return f"(id: {value_text(matcher.id)})"
    subject, object_ = endpoint_text(matcher.subject), endpoint_text(matcher.object)
    return f"({subject}, {_predicate(matcher.predicate)}, {object_})"


def _predicate(predicate: ast.Predicates | ast.Variable) -> str:
    if isinstance(predicate, ast.Variable):
        return _variable(predicate)
    return " | ".join(_predicate_name(name) for name in predicate.alternatives)


def _predicate_name(name: ast.PredicateName) -> str:
    text = value_text(name.value)
    return text if name.hops is None else text + _hops(name.hops)


def _hops(hops: ast.Hops) -> str:
    if hops.maximum == hops.minimum:
        return f"{{{hops.minimum}}}"
    return f"{{{hops.minimum},{'' if hops.maximum is None else hops.maximum}}}"


def endpoint_text(endpoint: ast.Endpoint) -> str:
    """A clause, or the subject or object of one."""
    match endpoint:
        case ast.Variable():
            return _variable(endpoint)
        case ast.ConceptClause():
            text = _concept_matcher(endpoint.matcher)
        case ast.PropositionClause():
            text = _proposition_matcher(endpoint.matcher)
        case _:
            assert_never(endpoint)
    return text if endpoint.variable is None else f"{_variable(endpoint.variable)} {text}"


# Expressions ----------------------------------------------------------------------------------


def expression_text(expression: ast.Expression) -> str:
    """A FIND expression, which is also the name of its column."""
    if isinstance(expression, ast.Aggregate):
        distinct = "DISTINCT " if expression.distinct else ""
        return f"{expression.function}({distinct}{expression_text(expression.argument)})"
    return operand_text(expression)


def operand_text(operand: ast.Operand) -> str:
    """An operand of a condition on one line."""
    match operand:
        case ast.Variable():
            return _variable(operand)
        case ast.Path():
            key = "" if operand.key is None else f".{operand.key}"
            return f"{_variable(operand.variable)}.{operand.field}{key}"
        case _:
            return value_text(operand)


def condition_text(condition: ast.Condition) -> str:
    """The condition of a FILTER, or a part of it, on one line."""
    match condition:
        case ast.Comparison():
            left, right = operand_text(condition.left), operand_text(condition.right)
            return f"{left} {condition.operator} {right}"
        case ast.Membership():
            return f"IN({operand_text(condition.operand)}, {operand_text(condition.options)})"
        case ast.NullTest():
            function = "IS_NOT_NULL" if condition.negated else "IS_NULL"
            return f"{function}({operand_text(condition.operand)})"
        case ast.StringTest():
            arguments = f"{operand_text(condition.operand)}, {operand_text(condition.argument)}"
            return f"{condition.function}({arguments})"
        case ast.Truth():
            return operand_text(condition.operand)
        case ast.Negation():
            return f"!({condition_text(condition.operand)})"
        case ast.Conjunction():
            return " && ".join(_nested(operand) for operand in condition.operands)
        case ast.Disjunction():
            return " || ".join(_nested(operand) for operand in condition.operands)
        case _:
            assert_never(condition)


def _nested(condition: ast.Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, ast.Conjunction | ast.Disjunction) else text


# WHERE ----------------------------------------------------------------------------------------


def _clause(clause: ast.Clause) -> str:
    match clause:
        case ast.ConceptClause() | ast.PropositionClause():
            return endpoint_text(clause)
        case ast.Filter():
            return f"FILTER({condition_text(clause.condition)})"
        case ast.Not():
            return f"NOT {_block(clause.block)}"
        case ast.Optional():
            return f"OPTIONAL {_block(clause.block)}"
        case ast.Union():
            return f"UNION {_block(clause.block)}"
        case _:
            assert_never(clause)


def _block(block: ast.Block) -> str:
    clauses = "\n".join(_clause(clause) for clause in block.clauses)
    return f"{{\n{_indented(clauses)}\n}}"


def _where(block: ast.Block) -> str:
    return f"WHERE {_block(block)}"


# Statements -----------------------------------------------------------------------------------


def _find(command: ast.Find) -> str:
    expressions = ", ".join(expression_text(expression) for expression in command.expressions)
    lines = [f"FIND({expressions})", _where(command.where)]
    if command.order_by:
        lines.append("ORDER BY " + ", ".join(_order_key(key) for key in command.order_by))
    return "\n".join([*lines, *_page(command)])


def _page(command: ast.Find | ast.Update | ast.Export) -> list[str]:
    cursor = None if isinstance(command, ast.Update) else command.cursor
    parts = (("LIMIT", command.limit), ("CURSOR", cursor))
    return [f"{keyword} {value_text(value)}" for keyword, value in parts if value is not None]


def _order_key(key: ast.OrderKey) -> str:
    return expression_text(key.expression) + (" DESC" if key.descending else "")


def _metadata(metadata: ast.Object | ast.Placeholder | None) -> str:
    return "" if metadata is None else f" WITH METADATA {_map_text(metadata)}"


def _map_text(value: ast.Object | ast.Placeholder) -> str:
    """A map on one line, or if it is long, with one line for each key."""
    if not isinstance(value, ast.Object):
        return value_text(value)
    text = _object_text(value)
    if len(text) <= _WIDTH:
        return text
    return "{\n" + _indented(",\n".join(_entries(value))) + "\n}"


def _upsert_block(block: ast.UpsertBlock) -> str:
    body = _indented("\n".join(map(_upsert_item, block.items)))
    return f"UPSERT {{\n{body}\n}}{_metadata(block.metadata)}"


def _upsert_item(item: ast.ConceptBlock | ast.PropositionBlock) -> str:
    handle = "" if item.handle is None else f" {_variable(item.handle)}"
    if isinstance(item, ast.ConceptBlock):
        keyword, lines = "CONCEPT", [_concept_matcher(item.matcher)]
    else:
        keyword, lines = "PROPOSITION", [_proposition_matcher(item.matcher)]
    if item.expected_version is not None:
        lines.append(f"EXPECT VERSION {value_text(item.expected_version)}")
    if item.attributes is not None:
        lines.append(f"SET ATTRIBUTES {_map_text(item.attributes)}")
    if isinstance(item, ast.ConceptBlock) and item.propositions is not None:
        links = "\n".join(_set_proposition(link) for link in item.propositions)
        body = f"{{\n{_indented(links)}\n}}" if links else "{}"
        lines.append(f"SET PROPOSITIONS {body}")
    body = _indented("\n".join(lines))
    return f"{keyword}{handle} {{\n{body}\n}}{_metadata(item.metadata)}"


def _set_proposition(link: ast.SetProposition) -> str:
    head = f"({_predicate_name(link.predicate)}, {endpoint_text(link.target)})"
    return head + _metadata(link.metadata)


def _update(command: ast.Update) -> str:
    lines = [f"UPDATE {_variable(command.target)}"]
    for section, values in (("ATTRIBUTES", command.attributes), ("METADATA", command.metadata)):
        if values is not None:
            lines.append(f"SET {section} {_assignments(values)}")
    return "\n".join([*lines, _where(command.where), *_page(command)])


def _assignments(values: ast.Assignments | ast.Placeholder) -> str:
    if isinstance(values, ast.Placeholder):
        return value_text(values)
    entries = (f"{_key(entry.key)}: {_argument(entry.value)}" for entry in values.entries)
    return f"{{{', '.join(entries)}}}"


def _argument(argument: ast.Argument) -> str:
    match argument:
        case ast.Calculation():
            return f"{argument.function}({', '.join(map(_argument, argument.arguments))})"
        case ast.Path():
            return expression_text(argument)
        case _:
            return value_text(argument)


def _delete_keys(section: str, command: ast.DeleteAttributes | ast.DeleteMetadata) -> str:
    keys = ", ".join(_json(key.name) for key in command.keys)
    target = _variable(command.target)
    return f"DELETE {section} {{{keys}}} FROM {target}\n{_where(command.where)}"
