"""FIND, WHERE, matchers and propositions."""

from __future__ import annotations

import re

from kiprdf.language.repairs.rows import Insert, Repair, fresh, variables

_CLAUSE = r"a clause \("
_MATCHER = r"^'\{' or '\('"
_TRIPLE = r"^\(subject"
_PREDICATE = "^a predicate"
_ENDPOINT = "^an endpoint"
_EXPRESSION = "aggregate"
_KEY = "^':' after the key"
_ITEM = r"^',' or '[\]}]'"
_FIELD = re.compile("id|type|name")
_NAMED = r"(?P<name>[A-Z]\w*)"
_ARROW = r"-\s*\[\s*\w*\s*:?\s*\"?(?P<predicate>\w+)\"?\s*\]\s*->?"


def _first_variable(match: re.Match[str]) -> str | None:
    """The variable that the command is about, if it has only one."""
    named = variables(match.string)
    return named[0] if len(named) == 1 else None


def _path(match: re.Match[str]) -> str | None:
    """A word without a variable: a variable, a field or an attribute."""
    word, path = match["word"], match["rest"]
    is_variable = f"?{word}" in variables(match.string) or re.search(
        rf"\b{word}\s*[{{(]|\(\s*{word}\s*[,:]", match.string
    )
    if is_variable:
        return f"?{word}{path}"
    variable = _first_variable(match)
    if variable is None:
        return None if word in ("id", "type", "name") or not path else f"?{word}{path}"
    if word in ("attributes", "metadata") or _FIELD.fullmatch(word):
        return f"{variable}.{word}{path}"
    return f"?{word}{path}" if path else f"{variable}.attributes.{word}"


def _star(match: re.Match[str]) -> str | None:
    named = variables(match.string)
    if not named:
        return None
    is_counted = match.string[: match.start()].rstrip().endswith("COUNT(")
    return named[0] if is_counted else ", ".join(named)


def _all(match: re.Match[str]) -> str | None:
    shown = _star(match)
    return shown and f"({shown})"


def _shown(match: re.Match[str]) -> str:
    parts = re.findall(r"\w+\s*\([^()]*\)|[^\s,]+", match["shown"])
    return f"({', '.join(parts)})"


def _if_variable(match: re.Match[str]) -> str | None:
    """A variable for a word that the command has as one, or that begins as no name does."""
    variable = f"?{match['v']}"
    return variable if variable[1] == "_" or variable in variables(match.string) else None


def _labelled(match: re.Match[str]) -> str | None:
    """A pattern of Cypher: nodes with labels, an arrow between them."""
    nodes = []
    for node in (match["head"] + match["tail"], match["object"]):
        inner = re.fullmatch(
            r"\s*\??(?P<v>\w*)\s*(?::\s*(?P<type>\w+))?\s*(?:\{\s*(?P<rest>[^{}]*?)\s*\})?\s*", node
        )
        if inner is None:
            return None
        named = f'type: "{inner["type"]}"' if inner["type"] else ""
        matcher = ", ".join(part for part in (named, inner["rest"] or "") if part)
        variable = f"?{inner['v']}" if inner["v"] else ""
        parts = (variable, f"{{{matcher}}}" if matcher else "")
        nodes.append(" ".join(part for part in parts if part) or "?x")
    return f'({nodes[0]}, "{match["predicate"]}", {nodes[1]})'


def _step(match: re.Match[str]) -> str:
    return fresh(match.string, "?step", "?between", "?middle")


def _hops(match: re.Match[str]) -> str:
    """``*``, ``+``, ``*2`` and ``*1..3`` as a hop range."""
    if match["m"] is None:
        return "{0,}" if match["hops"] == "*" else "{1,}"
    is_range = ".." in match.group()
    return f"{{{match['m']},{match['n'] or ''}}}" if is_range else f"{{{match['m']}}}"


_BLOCK_OPENED = re.compile(r"(?:CONCEPT|PROPOSITION)\s*(?:\?\w+\s*)?\{\s*\Z")
_CLAUSE_OPENED = re.compile(r"(?<![,(])(?<![,(] )(\?\w+)\s*\Z")


def _outside(match: re.Match[str]) -> str | None:
    """A matcher without the keys that it does not take, which are set or tested after it."""
    extra = match["extra"] or match["nested"] or ""
    entries = re.findall(r'"?(\w+)"?\s*:\s*("[^"]*"|[^\s,{}"]+)', extra)
    if not entries:
        return None
    matcher = f"{{{match['kept'].rstrip(', ')}}}"
    start = match.string[: match.start()]
    if _BLOCK_OPENED.search(start):
        values = ", ".join(f"{key}: {value}" for key, value in entries)
        return f"{matcher} SET ATTRIBUTES {{ {values} }}"
    clause = _CLAUSE_OPENED.search(start)
    if clause is None:
        return None
    tests = " && ".join(f"{clause[1]}.attributes.{key} == {value}" for key, value in entries)
    return f"{matcher} FILTER({tests})"


def _named(match: re.Match[str]) -> str:
    """Alternatives of a name as a FILTER."""
    names = ", ".join([match["one"], *re.findall(r'"[^"]*"', match["more"])])
    return f"{match['v']}{match['kept']}}} FILTER(IN({match['v']}.name, [{names}]))"


def _unless_used(match: re.Match[str]) -> str | None:
    """Nothing instead of a variable in a matcher, if it occurs nowhere else."""
    occurrences = re.findall(re.escape(match["v"]) + r"\b", match.string)
    return "" if len(occurrences) == 1 else None


_CLAUSE_VARIABLE = r"(?<![,(])(?<![,(] )(?P<v>{VAR})"
_NODE = r"(?:[^(){}]|\{[^{}]*\})*"
_OPERATED = r"(?P<rest>\.[\w.]+\s*[=!<>]=?\s*{OPERAND})"

ROWS = (
    # FIND
    Repair(
        r"^'\('$",
        r"(?P<shown>(?:(?:[A-Z]+\s*\([^()]*\)|{PATH})[\s,]*)+?)\s*(?=WHERE\b|\{)",
        _shown,
        before=r"(?<=FIND)\s*",
    ),
    Repair(r"^'\('$", r"\*(?=\s*WHERE\b.*?(?:{VAR}))", _all, before=r"(?<=FIND)\s*"),
    Repair(
        r"^'\('$",
        r"DISTINCT\s+(?P<path>{PATH})",
        r"COUNT(DISTINCT \g<path>)",
        before=r"COUNT\s+",
    ),
    Repair("aggregate|variable or dot path", r"\*", _star, "Name the variables. {Write}."),
    Repair(
        "variable or dot path",
        r"\)",
        lambda match: f"COUNT({_first_variable(match)})" if _first_variable(match) else None,
        before=r"COUNT\s*\(\s*",
    ),
    Repair(r"^',' or '\)'", r"(?i:AS)\s+[?\"]?\w+\"?", "", "A column has no other name. {Write}."),
    Repair(_EXPRESSION, r"DISTINCT\b", "", "FIND lists each node once. {Write}."),
    Repair(r"^',' or '\)'", r"WHERE\b", Insert(") ")),
    Repair(r"^',' or '\)'", r"(?P<path>{PATH}|[A-Z]+\s*\()", Insert(", ")),
    Repair(_EXPRESSION, r"\)", ")", before=r",\s*"),
    Repair(_EXPRESSION, r"(?P<next>LIMIT|CURSOR)", r" \g<next>", before=r",\s*"),
    Repair("^BY$", r"{PATH}|[A-Z]+(?=\s*\()", Insert("BY ")),
    Repair(r"'\)'", r"\}", Insert(")"), "A parenthesis is not closed. {Write}."),
    Repair(
        "",
        r"-(?P<end>[A-Za-z]\w*)",
        r"\g<start>_\g<end>",
        "Names of variables have no hyphen. {Write}.",
        r"(?P<start>{VAR})",
    ),
    Repair("^WHERE$", r"\)", ""),
    Repair("^WHERE$", r"FROM(?=\s*[{?])", "WHERE"),
    Repair("^WHERE$", r"\{", Insert("WHERE ")),
    Repair("^WHERE$", r"\Z", hint='Write WHERE { … }, such as WHERE { ?x {type: "…"} }.'),
    Repair(
        _EXPRESSION,
        r"(?P<direction>DESC|ASC)\s*\(\s*(?P<path>{PATH})\s*\)",
        r"\g<path> \g<direction>",
        "The direction comes last. {Write}.",
    ),
    Repair(_EXPRESSION, r"-\s*(?P<path>{PATH})", r"\g<path> DESC"),
    Repair(
        "aggregate|condition|dot path",
        r"(?!(?:null|true|false|not|[A-Z_]{2,})\b)(?P<word>[A-Za-z_]\w*)(?P<rest>(?:\.\w+)*)(?![\w(.])",
        _path,
        "A path begins with a variable. {Write}.",
    ),
    Repair(
        _EXPRESSION,
        r"\"(?P<word>[A-Za-z_]\w*)\"(?P<rest>)",
        _path,
        "FIND takes variables and paths. {Write}.",
    ),
    # Clauses
    Repair(_CLAUSE, r"[,.;]", "", "Clauses have no separator. {Write}."),
    Repair(
        _CLAUSE,
        r"(?:AND|&&|WHERE|WITH|IF|HAVING)\s*\(?(?P<condition>{PATH}\s*[=!<>]=?\s*{OPERAND})\)?",
        r"FILTER(\g<condition>)",
        "A condition is a FILTER. {Write}.",
    ),
    Repair(_CLAUSE, r"(?i:AND|&&|MATCH|WHERE|WITH)\b", "", "Clauses have no separator. {Write}."),
    Repair(_CLAUSE, r"&&", "", "Clauses have no separator. {Write}."),
    Repair(_CLAUSE, r"(?:OR|\|\|)\s*(?=\{)", "UNION "),
    Repair(
        _CLAUSE,
        r"(?:OR|\|\|)\s*(?P<clause>{ENDPOINT}|{PARENTHESES})",
        r"UNION { \g<clause> }",
    ),
    Repair(
        _MATCHER,
        _OPERATED,
        r"FILTER(\g<path>\g<rest>)",
        "A condition is a FILTER. {Write}.",
        r"(?P<path>{VAR})",
    ),
    Repair(
        _CLAUSE,
        r"(?P<condition>(?:!\s*)?(?:IN|IS_NULL|IS_NOT_NULL|CONTAINS|STARTS_WITH|ENDS_WITH|REGEX)"
        r"\s*{PARENTHESES})",
        r"FILTER(\g<condition>)",
        "A condition is a FILTER. {Write}.",
    ),
    Repair(_CLAUSE, r"MINUS(?=\s*\{)", "NOT"),
    Repair(_CLAUSE, r"EXISTS\s*\{\s*(?P<inner>(?:[^{}]|{MATCHER})*?)\s*\}", r"\g<inner>"),
    Repair(_CLAUSE, r"(?:NOT|FILTER)\s+EXISTS(?=\s*\{)", "NOT"),
    Repair(r"^'\{'$", r"EXISTS\b", "", before=r"(?<=NOT )"),
    Repair(
        _CLAUSE,
        r"BIND\s*{PARENTHESES}",
        "",
        "Paths need no variable: {write}, and use the path.",
    ),
    Repair(
        _CLAUSE,
        r"\{(?P<inner>(?:[^{}]|{MATCHER})*)\}\s*(?=UNION)",
        r"\g<inner> ",
        "UNION is a clause after the clauses that it is united with. {Write}.",
    ),
    Repair(
        _CLAUSE,
        r"(?=\{\s*(?:type|name|id)\b)(?P<matcher>{MATCHER})",
        lambda match: f"{(variables(match.string) or ['?x'])[0]} {match['matcher']}",
        "A concept clause begins with a variable. {Write}.",
    ),
    Repair(_CLAUSE, r"(?P<v>[a-z]\w*)(?=\s*[{(]\s*(?:type|name|id)\b)", r"?\g<v>"),
    Repair(r"^a clause .*or '\}'$", r"\Z", Insert("\n}"), "A block is not closed. {Write}."),
    Repair(
        _CLAUSE,
        r"(?P<modifiers>(?:ORDER|LIMIT|CURSOR)\b[^{}]*)\}",
        r"} \g<modifiers>",
        "Modifiers come after WHERE {…}. {Write}.",
    ),
    Repair(
        r"^'\{'$",
        r"(?P<clauses>.*?)\s*(?=(?:ORDER\s+BY|LIMIT|CURSOR)\b|\Z)",
        r"{ \g<clauses> }",
        "WHERE has braces. {Write}.",
        r"(?<=WHERE)\s+",
    ),
    Repair(
        r"^'\{'$",
        r"(?P<pattern>{PARENTHESES})",
        r"{ \g<pattern> }",
        "The block has braces. {Write}.",
        r"(?<=NOT|NAL|ION)\s*",
    ),
    Repair(
        r"^'\{'$",
        r"(?P<pattern>{VAR}\s*(?:{MATCHER}|{PARENTHESES}))",
        r"{ \g<pattern> }",
        "The block has braces. {Write}.",
        r"(?<=NOT|NAL|ION)\s*",
    ),
    # Concept clauses
    Repair(
        _MATCHER,
        r"(?P<inner>(?:type|name|id)\s*:\s*{VALUE}(?:\s*,\s*(?:type|name|id)\s*:\s*{VALUE})*)",
        r"{\g<inner>}",
        "A concept matcher has braces. {Write}.",
    ),
    Repair(
        _TRIPLE,
        r"(?P<inner>(?:type|name)\s*:[^(){}]*?)\s*\)",
        r"{\g<inner>}",
        "A concept matcher has braces. {Write}.",
        r"\(\s*",
    ),
    Repair(
        _MATCHER,
        r"\[\s*(?P<inner>(?:type|name|id)\s*:[^\[\]{}]*?)\s*\]",
        r"{\g<inner>}",
        "A concept matcher has braces. {Write}.",
    ),
    Repair(_MATCHER, r"[:=]+(?=\s*\{)", ""),
    Repair(
        _MATCHER,
        r"(?::\s*|(?:a|rdf:type|IS|is|isa|IS\s+A|is\s+a|INSTANCE\s+OF)\s+)(?:\w*:)?\"?(?P<type>[A-Z]\w*)\"?"
        r"(?!\w)(?!\s*[?{(])",
        r' {type: "\g<type>"}',
        "A concept clause has a matcher. {Write}.",
    ),
    Repair(
        "^','$",
        r":\s*(?P<type>\w+)\s*\)(?!\s*-)",
        r'\g<v> {type: "\g<type>"}',
        "A concept clause has a matcher. {Write}.",
        r"\(\s*(?P<v>{VAR})\s*",
    ),
    Repair(
        _TRIPLE,
        r"(?P<v>[a-z]\w*)\s*:\s*(?P<type>\w+)\s*\)(?!\s*-)",
        r'?\g<v> {type: "\g<type>"}',
        "A concept clause has a matcher. {Write}.",
        r"\(\s*",
    ),
    # Propositions
    Repair(
        _MATCHER,
        r"(?:,\s*)?(?:-\s*\[?\s*)?:?(?:\w+:)?\"?(?P<predicate>[A-Za-z_]\w*)\"?(?:\s*\]?\s*->?)?"
        r"\s*,?\s*(?P<object>{ENDPOINT})",
        r'(\g<subject>, "\g<predicate>", \g<object>)',
        "A proposition has parentheses. {Write}.",
        r"(?P<subject>{VAR})\s*",
    ),
    Repair(
        _MATCHER,
        r"(?:,\s*)?:?(?:\w+:)?\"?(?P<predicate>[A-Za-z_]\w*)\"?\s*,?\s*(?P<object>{STRING})",
        r'(\g<subject>, "\g<predicate>", {name: \g<object>})',
        "A proposition has parentheses, and names a concept by a matcher. {Write}.",
        r"(?P<subject>{VAR})\s*",
    ),
    Repair(
        rf"{_TRIPLE}|^','$",
        rf"(?P<tail>{_NODE})\)\s*{_ARROW}\s*\((?P<object>{_NODE})\)",
        _labelled,
        'A link is (subject, "predicate", object). {Write}.',
        rf"\((?P<head>{_NODE})",
    ),
    Repair(
        _TRIPLE,
        r"\"(?P<text>[^\"]*)\"",
        r'{name: "\g<text>"}',
        "A concept is named by a matcher. {Write}.",
    ),
    Repair(
        f"{_TRIPLE}|{_ENDPOINT}",
        r"(?P<type>[A-Z]\w*):(?P<name>\w+)(?=\s*[,)])",
        r'{type: "\g<type>", name: "\g<name>"}',
        "A concept is named by a matcher. {Write}.",
    ),
    Repair(
        f"{_TRIPLE}|{_ENDPOINT}",
        r"(?P<v>[A-Za-z_]\w*)(?=\s*[,)])",
        _if_variable,
        'For the variable, {write}; for a concept, write a matcher: {name: "…"}.',
    ),
    Repair(
        f"{_TRIPLE}|{_ENDPOINT}",
        r"(?P<name>[^\W\d_]\w*(?:[ '-]+\w+)*)(?=\s*[,)\"])",
        r'{name: "\g<name>"}',
        "A concept is named by a matcher. {Write}.",
    ),
    Repair(
        f"{_TRIPLE}|{_ENDPOINT}",
        _NAMED + r"(?!\w*\s*[(:])",
        r'{name: "\g<name>"}',
        "A concept is named by a matcher. {Write}.",
    ),
    Repair(
        _ENDPOINT,
        r"(?P<text>{STRING})",
        r"{name: \g<text>}",
        "A concept is named by a matcher. {Write}.",
    ),
    Repair(
        "^','$",
        r"\)",
        lambda match: f", {fresh(match.string, '?x', '?y', '?z', '?other')})",
        before=r"(?<=\")\s*",
    ),
    Repair(
        "^','$",
        r"/\s*(?P<two>{STRING})\s*,\s*(?P<object>{ENDPOINT})\s*\)",
        lambda match: (
            f"({match['subject']}, {match['one']}, {_step(match)}) "
            f"({_step(match)}, {match['two']}, {match['object']})"
        ),
        "A path of two predicates is two clauses. {Write}.",
        r"\(\s*(?P<subject>{ENDPOINT})\s*,\s*(?P<one>{STRING})\s*",
    ),
    Repair(
        "^','$",
        r"\)\s*[-=<]",
        hint='A link is (subject, "predicate", object), with commas and without arrows.',
    ),
    Repair("^','$", r"{STRING}|{ENDPOINT}|\(", Insert(", ")),
    Repair("^','$", r"(?P<hops>[*+])\s*(?P<m>[0-9]+)?(?:\.\.(?P<n>[0-9]+)?)?", _hops),
    Repair(
        "^','$",
        r"\[\s*(?P<m>[0-9]+)\s*(?:,|\.\.|-)?\s*(?P<n>[0-9]*)\s*\]",
        r"{\g<m>,\g<n>}",
        "Hops have braces. {Write}.",
    ),
    Repair("^','$", r"\?", "{0,1}", "A hop range has braces. {Write}."),
    Repair(
        "^a hop range", r"\{\s*(?P<m>[0-9]+)\s*(?:\.\.+|-|:)\s*(?P<n>[0-9]*)\s*\}", r"{\g<m>,\g<n>}"
    ),
    Repair("^a hop range", r"\{\s*,\s*(?P<n>[0-9]+)\s*\}", r"{1,\g<n>}"),
    Repair("^a hop range", r"\{\s*(?:type|name|id)\b[^{}]*\}", Insert(", ")),
    Repair("^a hop range", r"\{\s*\*\s*\}", "{0,}"),
    Repair("^a hop range", r"\{\s*\+\s*\}", "{1,}"),
    Repair(
        r"^'\)'",
        r",\s*(?P<two>{PATH})\s*\)",
        hint=r"An aggregate reads one variable or path. For pairs, write `\g<one>, \g<two>` "
        r"instead of `\g<0>`, and count the rows; for each alone, write "
        r"`\g<call>\g<one>), \g<call>\g<two>)` instead of `\g<0>`.",
        before=r"(?P<call>[A-Z]+\s*\(\s*(?:DISTINCT\s+)?)(?P<one>{PATH})\s*",
    ),
    Repair(
        r"^'\)'",
        r",\s*(?:{ENDPOINT}|{STRING})(?=\s*\))",
        "",
        "A proposition has three parts. {Write}.",
    ),
    Repair("^','$", r"(?i:OR)\b|\|\|", "|", before=r"(?<=\")\s*"),
    Repair("^a string(?: or a placeholder)?$", r"\|", "|", before=r"\|\s*"),
    Repair(
        _PREDICATE,
        r"\[\s*(?P<items>{STRING}(?:\s*,\s*{STRING})*)\s*\]",
        lambda match: " | ".join(re.findall(r'"[^"]*"', match["items"])),
        "Alternatives are separated by |. {Write}.",
    ),
    Repair(
        _PREDICATE,
        r"!\s*(?P<name>{STRING})(?P<rest>\s*,\s*{ENDPOINT}\s*\))",
        lambda match: f"?p{match['rest']} FILTER(?p != {match['name']})",
        "A predicate is negated by a FILTER. {Write}.",
    ),
    Repair(
        _PREDICATE,
        r"(?:\*|_)(?=\s*,)",
        lambda match: fresh(match.string, "?p", "?predicate"),
        "A variable matches any predicate. {Write}.",
    ),
    Repair(
        _PREDICATE,
        r":?(?:\w+:)?(?P<name>(?!(?:NOT|OPTIONAL|UNION|FILTER)\b)[A-Za-z_]\w*)",
        r'"\g<name>"',
        "A predicate has double quotes. {Write}.",
    ),
    # Matchers and objects
    Repair(_KEY, r"=>|={1,3}|:=", ":"),
    Repair(
        _KEY,
        r"\}",
        r":\g<name>",
        "Placeholders are :name. {Write}, and send its value in parameters.",
        r"(?:(?<=: )|(?<=:))\{\s*(?P<name>\w+)\s*",
    ),
    Repair(
        _KEY,
        r"\}",
        hint=r'A matcher has keys: {type: "\g<name>"} or {name: "\g<name>"}.',
        before=r"\{\s*\"?(?P<name>[A-Z]\w*)\"?\s*",
    ),
    Repair(
        _KEY,
        r"\}",
        hint=r'A matcher has a value for each key: {\g<key>: "…"}.',
        before=r"\{\s*(?P<key>\w+)\s*",
    ),
    Repair(_KEY, r"{VALUE}|[\[{]", Insert(": ")),
    Repair(
        _KEY,
        r"\.(?P<extra>[^{}]*)\}",
        _outside,
        before=r"\{\s*(?P<kept>(?:(?:type|name|id)\s*:\s*{VALUE}\s*,\s*)+)(?:attributes)",
    ),
    Repair(
        _KEY,
        r"(?:-|\.|\s)(?P<rest>\w+)(?=\s*[:=])",
        r"\g<key>_\g<rest>",
        "Keys are identifiers. {Write}.",
        r"(?P<key>\b[A-Za-z_]\w*)\s*",
    ),
    Repair(
        _ITEM,
        r"(?P<more>(?:\|\|?\s*{STRING}\s*)+)\}",
        _named,
        "A matcher has one name. {Write}.",
        rf"{_CLAUSE_VARIABLE}(?P<kept>\s*\{{[^{{}}]*?),?\s*name\s*:\s*(?P<one>{{STRING}})\s*",
    ),
    Repair(
        "^one string|^a value",
        r"(?:IN\s*\(\s*)?\[?\s*(?P<items>{STRING}(?:\s*,\s*{STRING})*)\s*\]?\s*\)?\s*\}",
        r"\g<v>\g<kept>} FILTER(IN(\g<v>.name, [\g<items>]))",
        "A matcher has one name. {Write}.",
        rf"{_CLAUSE_VARIABLE}(?P<kept>\s*\{{[^{{}}]*?),\s*name\s*:\s*",
    ),
    Repair("^one string", r"\[\s*(?P<one>{STRING})\s*\]", r"\g<one>"),
    Repair(
        "^one string", r"(?P<value>-?[0-9][0-9.]*)", r'"\g<value>"', "A name is a string. {Write}."
    ),
    Repair(
        "^one string",
        r"null",
        "",
        "Leave the key out. {Write}.",
        r",\s*(?:name|type)\s*:\s*",
    ),
    Repair("^a key of a matcher", r"\"?(?i:types?|class)\"?(?=\s*:)", "type", before=r"(?<=\{)\s*"),
    Repair("^a key of a matcher", r"\"?(?i:names?)\"?(?=\s*:)", "name"),
    Repair("^a key of a matcher", r"(?i:id|_id|uri|iri)(?=\s*:)", "id"),
    Repair(
        "^a key of a matcher",
        r"(?:attributes\s*:\s*\{(?P<nested>[^{}]*)\}|(?P<extra>[^{}]*))\s*\}",
        _outside,
        before=r"\{\s*(?P<kept>(?:(?:type|name|id)\s*:\s*{VALUE}\s*,\s*)*)",
    ),
    Repair(
        "^a value",
        r"{VAR}\s*\}",
        "{}",
        "A matcher compares with strings; read the type as a path. {Write}.",
        r"\{\s*type\s*:\s*",
        "FIND",
    ),
    Repair(
        "^a value",
        r"(?P<v>{VAR})(?=\s*\})",
        _unless_used,
        "A matcher compares with strings; read the name as a path. {Write}.",
        r",\s*name\s*:\s*",
        "FIND",
    ),
    Repair(
        "^a value",
        r"(?P<v>{VAR})\s*\}",
        hint="A matcher compares with strings. Leave the name out, read it as a path, ?x.name, and "
        "compare two names in a FILTER: FILTER(?x.name == ?y.name).",
        before=r",\s*name\s*:\s*",
        command="FIND",
    ),
    Repair(_ITEM, r";", ","),
    Repair(
        _ITEM, r"%", r'"\g<number>%"', "A text has double quotes. {Write}.", r"(?P<number>[0-9.]+)"
    ),
    Repair(
        "^a number",
        r"(?P<text>[0-9]+[.][0-9]+[.][0-9.]+|[0-9.]+[A-Za-z%][\w%/]*)",
        r'"\g<text>"',
        "A text has double quotes. {Write}.",
    ),
    Repair("^a number", r"0+(?P<number>[1-9][0-9]*)", r"\g<number>"),
    Repair("^a number", r"[0-9]+(?:_[0-9]+)+", lambda match: match.group()[1:].replace("_", "")),
    Repair("^a number", r"(?P<number>-?[0-9]+)\.(?![0-9])", r"\g<number>"),
    Repair(
        _ITEM,
        r"(?P<next>{STRING}|[A-Za-z_]\w*)(?=\s*[:=])",
        Insert(", "),
        "Entries have commas between them. {Write}.",
    ),
    Repair(
        r"^',' or '\]'",
        r"{VALUE}|[\[{]",
        Insert(", "),
        "Items have commas between them. {Write}.",
    ),
    Repair(r"^',' or '\]'", r"\}", Insert("]")),
    Repair(r"^',' or '\}'", r"\]", ""),
    Repair(
        _ITEM,
        r"\+\s*(?P<two>{STRING})",
        lambda match: f"{match['one'][:-1]}{match['two'][1:]}",
        "Write the whole text. {Write}.",
        r"(?P<one>{STRING})\s*",
    ),
    Repair(
        r"key or '\}'",
        r",",
        "",
    ),
    Repair(
        "^a value",
        r"-?(?:NaN|Infinity|inf|nan)\b",
        hint="Numbers are finite; write null, or leave the key out.",
    ),
    Repair(_ITEM, r"[-+*/]", hint="A value has no arithmetic; write the result."),
    Repair(
        "^a value",
        r"(?P<id>[CP]:[\w$/:.-]+)",
        r'"\g<id>"',
        "A string has double quotes. {Write}.",
    ),
    Repair(
        "^a value",
        r"\((?P<items>[^()]*)\)",
        r"[\g<items>]",
        "A list has square brackets. {Write}.",
    ),
    Repair("^a value", r"(?=[,}\])])", hint="The value is missing; write it, or null."),
    Repair(
        "^a value|^a string or",
        r"(?P<word>[A-Za-z][\w-]*)(?![\w(.])",
        r'"\g<word>"',
        "A string has double quotes. {Write}.",
    ),
    # Paths
    Repair(
        "^a field",
        r"(?P<key>created_at|updated_at|version)\b(?!\.)",
        r"\g<v>.metadata._\g<key>",
        "{Write}, or .attributes.",
        r"(?P<v>{VAR})\.\s*",
    ),
    Repair(
        "^a field",
        r"(?:attributes?|attrs?|attribute|properties|props|data|values?)\.(?P<key>\w+)",
        r"\g<v>.attributes.\g<key>",
        before=r"(?P<v>{VAR})\.\s*",
    ),
    Repair(
        "^a field",
        r"(?:meta|metadatas?|info)\.(?P<key>\w+)",
        r"\g<v>.metadata.\g<key>",
        before=r"(?P<v>{VAR})\.\s*",
    ),
    Repair(
        "^a field",
        r"(?P<key>_\w+|source|author|confidence|status)\b(?!\.)",
        r"\g<v>.metadata.\g<key>",
        "{Write}, or .attributes.",
        r"(?P<v>{VAR})\.\s*",
    ),
    Repair("^a field", r"(?:title|label)\b(?!\.)", "name"),
    Repair(
        "^a field",
        r"(?P<key>\w+)",
        r"\g<v>.attributes.\g<key>",
        before=r"(?P<v>{VAR})\.\s*",
    ),
    Repair(
        "^the end of the path",
        r"\w+",
        hint=r"\g<path> is an id. Name the element in the pattern, (?s, …, ?o), and read a path of "
        "it, such as ?o.name.",
        before=r"(?P<path>{VAR}\.(?:subject|object))\.\s*",
    ),
    Repair(
        "^the end of the path",
        r"(?P<key>\w+)",
        hint=r"A value is read and compared as a whole: read \g<path> with FIND, and take \g<key> "
        "from the answer.",
        before=r"(?P<path>{PATH})\.\s*",
    ),
)
