"""The grammar of KIP 1.0 in pyparsing; ``docs/grammar.md`` shows it as EBNF.

``-`` instead of ``+`` commits: after it no alternative is tried, so that an error is reported at
its place. Values, variables and dot paths are single tokens (``values``). ``Built`` makes the
node of a rule from its span and its parts. ``readers`` compiles the rules to functions, and these
are what runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast, get_args

import pyparsing as pp

from kiprdf.errors import KipError
from kiprdf.language import ast, values
from kiprdf.language.names import KEYWORDS
from kiprdf.language.readers import Built, Scanned, Word
from kiprdf.source import Span

T = TypeVar("T")


def _syntax(message: str, hint: str | None, span: Span, expected: str | None = None) -> KipError:
    return KipError("KIP_1001", message, hint, span, expected=expected)


def _whole(span: Span, node: T) -> T:
    """A node with the span of the whole rule, which begins before its first part."""
    return replace(node, span=span)  # type: ignore[type-var]


# Tokens ---------------------------------------------------------------------------------------


def _keyword(word: str) -> pp.ParserElement:
    # Not pp.Keyword: it reports an error in a longer word at the end of the word.
    return Word(rf"{word}(?![A-Za-z0-9_])").suppress().set_name(word)


def _one_of(words: tuple[str, ...], name: str) -> pp.ParserElement:
    pattern = "|".join(sorted(words, key=len, reverse=True))
    return Word(rf"(?:{pattern})(?![A-Za-z0-9_])").set_name(name)


def _symbol(text: str, name: str | None = None) -> pp.ParserElement:
    return pp.Suppress(text).set_name(name or f"'{text}'")


def _text(value: ast.Scalar) -> str:
    return cast(str, value.value)


_QUESTION_MARK = re.compile(r"\?")
_QUOTE = re.compile('"')
_BRACE = re.compile(r"\{")
_BRACE_OR_COLON = re.compile(r"[{:]")
_STRING_OR_COLON = re.compile('[":]')

variable = Scanned("a variable", _QUESTION_MARK, values.scan_variable)
path = Scanned("a variable or dot path", _QUESTION_MARK, values.scan_path)
value = Scanned("a value", values.VALUE_START, values.scan_value)
string = Scanned("a string", _QUOTE, values.scan_string)
string_value = Scanned("a string or a placeholder", _STRING_OR_COLON, values.scan_value)
number_value = Scanned("a number or a placeholder", re.compile(r"[-0-9:]"), values.scan_value)
map_value = Scanned("an object or a placeholder", _BRACE_OR_COLON, values.scan_value)
handle = variable.copy().set_name("a handle")
comma = _symbol(",")


def _list_of(item: pp.ParserElement, closer: pp.ParserElement) -> pp.ParserElement:
    """Items separated by commas; after each comma the rule is committed."""
    return item + pp.ZeroOrMore(comma - item) - closer


# Matchers and endpoints (KIP 3.4.1, 3.4.2) ----------------------------------------------------


_NAMED = re.compile(
    r"\{ type : STRING , name : STRING \}".replace(" ", values.SPACE).replace(
        "STRING", values.PLAIN_STRING
    )
)


def _scan_concept_matcher(text: str, offset: int) -> tuple[ast.ConceptMatcher, int]:
    """Read a concept matcher; the form with type and name, the most frequent, in one step."""
    named = _NAMED.match(text, offset)
    if named is None:
        parsed, end = values.scan_object(text, offset)
        return _concept_matcher(parsed), end
    type_, name = values.plain_string(named, 1), values.plain_string(named, 2)
    return ast.ConceptMatcher(type=type_, name=name, span=Span(*named.span())), named.end()


def _concept_matcher(parsed: ast.Object) -> ast.ConceptMatcher:
    parts: dict[str, ast.Value] = {}
    for entry in parsed.entries:
        if entry.key not in ("id", "type", "name"):
            message = f"'{entry.key}' is not allowed in a concept matcher."
            hint = (
                'Match a concept by {id: "…"}, {type: "…", name: "…"}, {type: "…"} or {name: "…"}; '
                "test attributes with FILTER(?x.attributes.key == …)."
            )
            raise _syntax(message, hint, entry.span, "a key of a matcher")
        if not isinstance(entry.value, ast.Placeholder) and not _is_text(entry.value):
            span = entry.value.span
            message = f"The {entry.key} in a matcher is one string."
            raise _syntax(message, None, span, "one string")
        parts[entry.key] = entry.value
    if "id" in parts and len(parts) > 1:
        hint = 'Write {id: "…"}, {type: "…", name: "…"}, {type: "…"} or {name: "…"}.'
        raise _syntax("A concept matcher takes id, or type and/or name.", hint, parsed.span)
    return ast.ConceptMatcher(**parts, span=parsed.span)


def _is_text(value: ast.Value) -> bool:
    return isinstance(value, ast.Scalar) and isinstance(value.value, str)


_HOPS = re.compile(r"\{\s*([0-9]{1,9})\s*(?:(,)\s*([0-9]{1,9})?\s*)?\}")


def _scan_hops(text: str, offset: int) -> tuple[ast.Hops, int]:
    match = _HOPS.match(text, offset)
    if match is None:
        hint = 'Write "p"{3}, "p"{1,3} or "p"{1,}; parameters are not allowed here.'
        raise _syntax("This is not a hop range.", hint, Span(offset, offset + 1), "a hop range")
    minimum = int(match.group(1))
    maximum = minimum if match.group(2) is None else None
    if match.group(3) is not None:
        maximum = int(match.group(3))
    span = Span(offset, match.end())
    if maximum is not None and minimum > maximum:
        message = f"The minimum of the hop range {{{minimum},{maximum}}} exceeds its maximum."
        written = text[offset : match.end()]
        hint = f"Write `{{{maximum},{minimum}}}` instead of `{written}`."
        raise _syntax(message, hint, span)
    return ast.Hops(minimum, maximum, span=span), match.end()


def _scan_predicate_variable(text: str, offset: int) -> tuple[ast.Variable, int]:
    variable, end = values.scan_variable(text, offset)
    following = text[values.skip_space(text, end) :][:1]
    if following in ("{", "|"):
        message = "A predicate variable cannot have hops or alternatives."
        hint = 'Name the predicates: "follows"{1,3}, or "follows" | "connects".'
        raise _syntax(message, hint, variable.span)
    return variable, end


hops = Scanned("a hop range", _BRACE, _scan_hops)
predicate_name = Built(
    string_value + pp.Opt(hops), lambda span, *parts: ast.PredicateName(*parts, span=span)
)
predicates = Built(
    predicate_name + pp.ZeroOrMore(_symbol("|") - predicate_name),
    lambda span, *names: ast.Predicates(names, span=span),
)
predicate = (
    predicates | Scanned("a predicate variable", _QUESTION_MARK, _scan_predicate_variable)
).set_name('a predicate in double quotes, such as "treats"')

concept_matcher = Scanned("'{'", _BRACE, _scan_concept_matcher)
proposition_matcher = pp.Forward()
matcher = (concept_matcher | proposition_matcher).set_name("'{' or '('")


def _matched(
    span: Span, variable: ast.Variable | None, matcher: Any
) -> ast.ConceptClause | ast.PropositionClause:
    if isinstance(matcher, ast.ConceptMatcher):
        return ast.ConceptClause(variable, matcher, span=span)
    return ast.PropositionClause(variable, matcher, span=span)


def _endpoint(span: Span, first: Any, *rest: Any) -> ast.Endpoint:
    if not isinstance(first, ast.Variable):
        return _matched(span, None, first)
    return _matched(span, first, rest[0]) if rest else first


endpoint = Built(
    (variable + pp.Opt(matcher) | matcher).set_name("an endpoint: ?variable, {…} or (…)"),
    _endpoint,
).set_name("an endpoint: ?variable, {…} or (…)")
identity = Built(
    _keyword("id") + _symbol(":") - string_value,
    lambda span, identifier: ast.PropositionId(identifier, span=span),
)
triple = Built(
    endpoint - comma - predicate - comma - endpoint,
    lambda span, s, p, o: ast.PropositionMatcher(s, p, o, span=span),
)
proposition_matcher <<= Built(
    _symbol("(") - (identity | triple).set_name('(subject, "predicate", object)') - _symbol(")"),
    _whole,
)

# Expressions (KIP 3.2, 3.3, 3.4.3) ------------------------------------------------------------

aggregate = Built(
    _one_of(get_args(ast.AggregateFunction), "an aggregate")
    - _symbol("(")
    - pp.Opt(_one_of(("DISTINCT",), "DISTINCT"))
    - path
    - _symbol(")"),
    lambda span, function, *rest: _aggregate(span, function, *rest),
)


def _aggregate(span: Span, function: ast.AggregateFunction, *rest: Any) -> ast.Aggregate:
    distinct = len(rest) == 2
    if distinct and function != "COUNT":
        message = f"DISTINCT is allowed only in COUNT, not in {function}."
        raise _syntax(message, f"Write {function}(…) or COUNT(DISTINCT …).", span)
    return ast.Aggregate(function, rest[-1], distinct, span=span)


expression = (path | aggregate).set_name("a variable, a dot path or an aggregate")
operand = (path | value).set_name("a dot path, a variable or a value")
condition = pp.Forward()


def _compared(span: Span, left: ast.Operand, *rest: Any) -> ast.Condition:
    if not rest:
        return ast.Truth(left, span=span)
    operator, right = rest
    return ast.Comparison(operator, left, right, span=span)


def _joined(
    span: Span, make: Callable[..., ast.Condition], parts: tuple[ast.Condition, ...]
) -> ast.Condition:
    return parts[0] if len(parts) == 1 else make(parts, span=span)


def _membership(
    span: Span, tested: ast.Operand, options: ast.Array | ast.Placeholder | ast.Path | ast.Variable
) -> ast.Membership:
    if isinstance(options, ast.Variable):
        hint = f"Name an attribute or metadata key: ?{options.name}.attributes.key."
        raise _syntax("A variable holds no list.", hint, options.span)
    # An empty list in the text is an error; an empty parameter matches nothing.
    if isinstance(options, ast.Array) and not options.items:
        raise _syntax("The list of IN is empty.", "Name at least one value.", options.span)
    return ast.Membership(tested, options, span=span)


membership = Built(
    _keyword("IN")
    - _symbol("(")
    - operand
    - comma
    - (path | Scanned("a list or a placeholder", re.compile(r"[\[:]"), values.scan_value)).set_name(
        "a list, a placeholder or a dot path"
    )
    - _symbol(")"),
    lambda span, tested, options: _membership(span, tested, options),
)
null_test = Built(
    _one_of(("IS_NULL", "IS_NOT_NULL"), "a null test") - _symbol("(") - operand - _symbol(")"),
    lambda span, function, tested: ast.NullTest(tested, function == "IS_NOT_NULL", span=span),
)
string_test = Built(
    _one_of(get_args(ast.StringFunction), "a string function")
    - _symbol("(")
    - operand
    - comma
    - operand
    - _symbol(")"),
    lambda span, function, tested, argument: ast.StringTest(function, tested, argument, span=span),
)
grouped = _symbol("(") - condition - _symbol(")", "'&&', '||' or ')'")
call = membership | null_test | string_test
negation = pp.Forward()
negatable = call | grouped | negation | Built(operand, _compared)
negation <<= Built(
    Word(r"!(?!=)").suppress() - negatable.set_name("a condition after '!'"),
    lambda span, negated: ast.Negation(negated, span=span),
)
comparison = Built(
    operand + pp.Opt(pp.one_of(get_args(ast.ComparisonOperator)) - operand), _compared
)
atom = (call | grouped | negation | comparison).set_name("a condition")
conjunction = Built(
    atom + pp.ZeroOrMore(_symbol("&&") - atom),
    lambda span, *parts: _joined(span, ast.Conjunction, parts),
)
condition <<= Built(
    conjunction + pp.ZeroOrMore(_symbol("||") - conjunction),
    lambda span, *parts: _joined(span, ast.Disjunction, parts),
)

# WHERE (KIP 3.4) ------------------------------------------------------------------------------

block = pp.Forward()
filter_clause = Built(
    _keyword("FILTER") - _symbol("(") - condition - _symbol(")", "an operator or ')'"),
    lambda span, tested: ast.Filter(tested, span=span),
)
pattern_clause = Built(variable - matcher | proposition_matcher, _endpoint)
not_clause = Built(_keyword("NOT") - block, lambda span, body: ast.Not(body, span=span))
optional_clause = Built(
    _keyword("OPTIONAL") - block, lambda span, body: ast.Optional(body, span=span)
)
union_clause = Built(_keyword("UNION") - block, lambda span, body: ast.Union(body, span=span))
_CLAUSE_NAME = "a clause (?v {…}, (…), FILTER, NOT, OPTIONAL, UNION)"
clause = (pattern_clause | filter_clause | not_clause | optional_clause | union_clause).set_name(
    _CLAUSE_NAME
)
block <<= Built(
    _symbol("{") - clause - pp.ZeroOrMore(clause) - _symbol("}", f"{_CLAUSE_NAME} or '}}'"),
    lambda span, *clauses: ast.Block(clauses, span=span),
)
where = _keyword("WHERE") - block

# KQL (KIP 3) ----------------------------------------------------------------------------------


def _clause_value(key: str) -> Callable[[Span, Any], tuple[str, Any]]:
    return lambda span, value: (key, value)


def _order_key(span: Span, key: ast.Expression, direction: str = "ASC") -> ast.OrderKey:
    return ast.OrderKey(key, direction == "DESC", span=span)


limit = Built(_keyword("LIMIT") - number_value, _clause_value("limit"))
cursor = Built(_keyword("CURSOR") - string_value, _clause_value("cursor"))
order_key = Built(expression + pp.Opt(_one_of(("ASC", "DESC"), "ASC or DESC")), _order_key)
order_by = Built(
    _keyword("ORDER") - _keyword("BY") - order_key - pp.ZeroOrMore(comma - order_key),
    lambda span, *keys: ("order_by", keys),
)
find = Built(
    _keyword("FIND")
    - _symbol("(")
    - pp.Group(_list_of(expression, _symbol(")", "',' or ')'")))
    - where
    - pp.Opt(order_by)
    - pp.Opt(limit)
    - pp.Opt(cursor),
    lambda span, expressions, body, *modifiers: ast.Find(
        tuple(expressions), body, **dict(modifiers), span=span
    ),
)

# KML (KIP 4) ----------------------------------------------------------------------------------

metadata = Built(_keyword("WITH") - _keyword("METADATA") - map_value, _clause_value("metadata"))
set_proposition = Built(
    _symbol("(")
    - Built(string_value, lambda span, name: ast.PredicateName(name, span=span))
    - comma
    - endpoint
    - _symbol(")")
    - pp.Opt(metadata)
    - pp.Opt(comma),
    lambda span, name, target, *rest: ast.SetProposition(name, target, **dict(rest), span=span),
).set_name('("predicate", target)')
set_attributes = Built(_keyword("ATTRIBUTES") - map_value, _clause_value("attributes"))
set_propositions = Built(
    _keyword("PROPOSITIONS")
    - _symbol("{")
    - pp.ZeroOrMore(set_proposition)
    - _symbol("}", "(\"predicate\", target) or '}'"),
    lambda span, *links: ("propositions", links),
)


expect_version = Built(
    _keyword("EXPECT") - _keyword("VERSION") - number_value, _clause_value("expected_version")
)


def _scan_assignments(text: str, offset: int) -> tuple[ast.Assignments | ast.Value, int]:
    if text[offset] == ":":
        return values.scan_value(text, offset)
    return values.scan_assignments(text, offset)


def _section(span: Span, section: tuple[str, Any]) -> tuple[str, Any, Span]:
    return (*section, span)


def _sections(parts: tuple[Any, ...]) -> dict[str, Any]:
    """The sections of a block or statement by name; each may occur once."""
    sections: dict[str, Any] = {}
    for name, part, *span in parts:
        if name in sections:
            if name == "expected_version":
                raise _syntax("EXPECT VERSION occurs twice.", "Keep one of the two.", *span)
            raise _syntax(f"SET {name.upper()} occurs twice.", "Combine them into one.", *span)
        sections[name] = part
    return sections


def _block(make: Callable[..., T]) -> Callable[..., T]:
    def build(span: Span, *parts: Any) -> T:
        handle = parts[0] if isinstance(parts[0], ast.Variable) else None
        matcher, *rest = parts[1:] if handle else parts
        return make(handle, matcher, **_sections(tuple(rest)), span=span)

    return build


def _opened_block(
    keyword: str, identified: pp.ParserElement, section: pp.ParserElement, closer: str
) -> pp.ParserElement:
    return (
        _keyword(keyword)
        - pp.Opt(handle)
        - _symbol("{", "a handle or '{'")
        - identified
        - pp.ZeroOrMore(Built(_keyword("SET") - section | expect_version, _section))
        - _symbol("}", closer)
        - pp.Opt(metadata)
    )


concept_block = Built(
    _opened_block(
        "CONCEPT",
        concept_matcher.copy().set_name('{type: "…", name: "…"} or {id: "…"}'),
        (set_attributes | set_propositions).set_name("ATTRIBUTES or PROPOSITIONS"),
        "EXPECT VERSION, SET ATTRIBUTES, SET PROPOSITIONS or '}'",
    ),
    _block(ast.ConceptBlock),
)
proposition_block = Built(
    _opened_block(
        "PROPOSITION",
        proposition_matcher,
        set_attributes,
        "EXPECT VERSION, SET ATTRIBUTES or '}'",
    ),
    _block(ast.PropositionBlock),
)
upsert_block = Built(
    _keyword("UPSERT")
    - _symbol("{")
    - pp.Group(pp.OneOrMore(concept_block | proposition_block)).set_name(
        "a CONCEPT or PROPOSITION block"
    )
    - _symbol("}", "a CONCEPT or PROPOSITION block or '}'")
    - pp.Opt(metadata),
    lambda span, items, *rest: ast.UpsertBlock(tuple(items), **dict(rest), span=span),
)
upsert = Built(pp.OneOrMore(upsert_block), lambda span, *blocks: ast.Upsert(blocks, span=span))

assignments = Scanned("an object or a placeholder", _BRACE_OR_COLON, _scan_assignments)
update_section = Built(
    _keyword("SET")
    - (
        Built(_keyword("ATTRIBUTES") - assignments, _clause_value("attributes"))
        | Built(_keyword("METADATA") - assignments, _clause_value("metadata"))
    ).set_name("ATTRIBUTES or METADATA"),
    _section,
).set_name("SET ATTRIBUTES or SET METADATA")
update = Built(
    _keyword("UPDATE") - variable - pp.Group(pp.OneOrMore(update_section)) - where - pp.Opt(limit),
    lambda span, target, sections, body, *rest: ast.Update(
        target, body, **_sections(tuple(sections)), **dict(rest), span=span
    ),
)
merge = Built(
    _keyword("MERGE") - _keyword("CONCEPT") - variable - _keyword("INTO") - variable - where,
    lambda span, source, target, body: ast.MergeConcept(source, target, body, span=span),
)

key = Built(string, lambda span, name: ast.Key(_text(name), span=span))
keys = pp.Group(
    _symbol("{")
    - key.set_name("a key in double quotes")
    - pp.ZeroOrMore(comma + key)
    - pp.Opt(comma)
    - _symbol("}", "',' or '}'")
)
source = _keyword("FROM") - variable - where


def _delete_keys(make: Callable[..., T]) -> Callable[..., T]:
    return lambda span, keys, target, body: make(tuple(keys), target, body, span=span)


def _delete(make: Callable[..., T]) -> Callable[..., T]:
    return lambda span, target, body: make(target, body, span=span)


delete_form = (
    Built(_keyword("ATTRIBUTES") - keys - source, _delete_keys(ast.DeleteAttributes))
    | Built(_keyword("METADATA") - keys - source, _delete_keys(ast.DeleteMetadata))
    | Built(_keyword("PROPOSITIONS") - variable - where, _delete(ast.DeletePropositions))
    | Built(_keyword("CONCEPT") - variable - _keyword("DETACH") - where, _delete(ast.DeleteConcept))
).set_name("ATTRIBUTES, METADATA, PROPOSITIONS or CONCEPT")
delete = Built(_keyword("DELETE") - delete_form, _whole)

# META (KIP 5) ---------------------------------------------------------------------------------


_MODE_WORD = re.compile(r"[a-zA-Z]+(?![A-Za-z0-9_])")


def _scan_mode(text: str, offset: int) -> tuple[ast.Value, int]:
    """Read a mode of SEARCH, quoted or unquoted."""
    match = _MODE_WORD.match(text, offset)
    if match is None:
        return values.scan_value(text, offset)
    if match.group() in KEYWORDS:
        hint = "Modes are keyword, semantic and hybrid."
        raise _syntax("The mode is missing.", hint, Span(*match.span()))
    return ast.Scalar(match.group(), span=Span(*match.span())), match.end()


def _described(span: Span, kind: ast.Kind, form: str, *rest: Any) -> ast.Describe:
    if form == "TYPE":
        return ast.DescribeType(kind, rest[0], span=span)
    return ast.DescribeTypes(kind, **dict(rest), span=span)


kind = _one_of(get_args(ast.Kind), "CONCEPT or PROPOSITION")
mode = Scanned("keyword, semantic or hybrid", re.compile(r'[":a-zA-Z]'), _scan_mode)
describe_form = (
    Built(_keyword("PRIMER"), lambda span: ast.DescribePrimer(span=span))
    | Built(
        _keyword("DOMAINS") - pp.Opt(limit) - pp.Opt(cursor),
        lambda span, *rest: ast.DescribeDomains(**dict(rest), span=span),
    )
    | Built(
        kind
        - (
            _one_of(("TYPES",), "TYPES") - pp.Opt(limit) - pp.Opt(cursor)
            | _one_of(("TYPE",), "TYPE") - string_value
        ).set_name("TYPES or TYPE"),
        _described,
    )
).set_name("PRIMER, DOMAINS, CONCEPT TYPES, CONCEPT TYPE, PROPOSITION TYPES or PROPOSITION TYPE")
describe = Built(_keyword("DESCRIBE") - describe_form, _whole)
search = Built(
    _keyword("SEARCH")
    - kind
    - string_value
    - pp.Opt(Built(_keyword("WITH") - _keyword("TYPE") - string_value, _clause_value("type")))
    - pp.Opt(Built(_keyword("MODE") - mode, _clause_value("mode")))
    - pp.Opt(Built(_keyword("THRESHOLD") - number_value, _clause_value("threshold")))
    - pp.Opt(limit)
    - pp.Opt(cursor),
    lambda span, kind, term, *rest: ast.Search(kind, term, **dict(rest), span=span),
)
export = Built(
    _keyword("EXPORT") - variable - where - pp.Opt(limit) - pp.Opt(cursor),
    lambda span, target, body, *rest: ast.Export(target, body, **dict(rest), span=span),
)

COMMANDS: dict[str, pp.ParserElement] = {
    "FIND": find,
    "UPSERT": upsert,
    "UPDATE": update,
    "MERGE": merge,
    "DELETE": delete,
    "DESCRIBE": describe,
    "SEARCH": search,
    "EXPORT": export,
}
