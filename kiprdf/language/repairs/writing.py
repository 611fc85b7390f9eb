"""UPSERT, UPDATE, MERGE and DELETE."""

from __future__ import annotations

import re
from fractions import Fraction

from kiprdf.language.repairs.rows import Insert, Repair

_END = "^the end of the command$"
_BLOCK = r"^a CONCEPT or PROPOSITION block"
_IDENTITY = r"^\{type:"
_SECTION = "^EXPECT VERSION, SET"
_SETS = "^ATTRIBUTES or"
_UPDATES = "^SET ATTRIBUTES or SET METADATA|^ATTRIBUTES or METADATA|^WHERE$"
_MAP = "^an object or a placeholder"
_SECTIONS = r"(?:SET\s+(?:ATTRIBUTES|PROPOSITIONS)\s*{BRACES}|EXPECT\s+VERSION\s+[0-9]+)"
_METADATA = r"METADATA\s*(?:{BRACES}|:\w+)"
_AFTER = "WITH METADATA comes after the closing brace of its block. {Write}."


def _calculated(match: re.Match[str]) -> str | None:
    """Arithmetic with an operator as a function."""
    path, number = match["path"], match["number"]
    match match["sign"]:
        case "+":
            return f"ADD({path}, {number})"
        case "-":
            return f"ADD({path}, -{number})"
        case "*":
            return f"MUL({path}, {number})"
    return _divided(path, number)


def _divided(path: str, number: str) -> str | None:
    return f"MUL({path}, {float(1 / Fraction(number))})" if Fraction(number) else None


def _negative(match: re.Match[str]) -> str:
    number = match["number"]
    return f"ADD({match['path']}, {number[1:] if number.startswith('-') else '-' + number})"


def _assigned(match: re.Match[str]) -> str:
    """Assignments of SQL as an object."""
    pairs = re.findall(
        r'(?:\?\w+\.)?(?:attributes\.)?(\w+)\s*[=:]\s*("[^"]*"|[^\s,]+)', match["pairs"]
    )
    return f"ATTRIBUTES {{ {', '.join(f'{key}: {value}' for key, value in pairs)} }}"


def _sql_update(match: re.Match[str]) -> str:
    key = match["key"]
    field = key if key in ("id", "type", "name") else f"attributes.{key}"
    return (
        f'UPDATE ?x SET {_assigned(match)} WHERE {{ ?x {{type: "{match["type"]}"}} '
        f"FILTER(?x.{field} == {match['value']}) }}"
    )


def _sql_delete(match: re.Match[str]) -> str:
    key = match["key"]
    field = key if key in ("id", "type", "name") else f"attributes.{key}"
    return (
        f'CONCEPT ?x DETACH WHERE {{ ?x {{type: "{match["type"]}"}} '
        f"FILTER(?x.{field} == {match['value']}) }}"
    )


_PAIR = r"(?:{VAR}\.)?(?:attributes\.)?\w+\s*[=:]\s*{VALUE}"
_PAIRS = rf"(?P<pairs>{_PAIR}(?:\s*,\s*{_PAIR})*)"


ROWS = (
    # UPSERT: its blocks
    Repair(
        r"^'\{'$",
        r"(?:CONCEPT|PROPOSITION)\b",
        Insert("{ ", " }"),
        before=r"(?<=UPSERT)\s*",
        command="UPSERT",
    ),
    Repair(r"^'\{'$", r"\[(?P<items>.*)\]\s*\Z", r"{\g<items>}", before=r"(?<=UPSERT)\s*"),
    Repair(
        _BLOCK,
        r"(?P<matcher>{MATCHER})",
        r"CONCEPT { \g<matcher> }",
        "A concept is written in a CONCEPT block. {Write}.",
    ),
    Repair(
        _BLOCK,
        r"(?P<matcher>{PARENTHESES})",
        r"PROPOSITION { \g<matcher> }",
        "A proposition is written in a PROPOSITION block. {Write}.",
    ),
    Repair(_BLOCK, "EXPECT", hint="EXPECT VERSION n belongs in a block, after its matcher."),
    Repair(_BLOCK, "[,;]", "", "Blocks have no separator. {Write}."),
    Repair(_BLOCK, r"METADATA(?=\s*[{:])", Insert("WITH ")),
    Repair(_BLOCK, r"\s*\Z", Insert(" }")),
    Repair(
        r"^'\('$",
        r"(?P<s>{MATCHER}|{VAR})\s*,?\s*(?P<p>{STRING})\s*,?\s*(?P<o>{MATCHER}|{VAR})",
        r"(\g<s>, \g<p>, \g<o>)",
        "A proposition has parentheses. {Write}.",
        command="UPSERT",
    ),
    Repair("^','$", ":", ",", before=r"(?<=\")\s*", command="UPSERT"),
    Repair(
        "^a handle or '{'",
        r"(?P<matcher>{PARENTHESES}(?:\s*" + _SECTIONS + ")*)",
        r"{ \g<matcher> }",
        "A block has braces. {Write}.",
    ),
    Repair(
        _IDENTITY,
        r"(?P<matcher>(?:type|name|id)\s*:[^{}]*)\}(?P<sections>(?:\s*"
        + _SECTIONS
        + r")*)(?=\s*\})"
        r"(?!\s*\}\s*\Z)",
        r"{ {\g<matcher>}\g<sections> }",
        "The matcher has its own braces. {Write}.",
        r"\{\s*",
    ),
    Repair(
        _IDENTITY,
        r"(?P<matcher>(?:type|name|id)\s*:[^{}]*)\}(?P<sections>(?:\s*" + _SECTIONS + ")*)",
        r"{ {\g<matcher>}\g<sections> }",
        "The matcher has its own braces. {Write}.",
        r"\{\s*",
    ),
    Repair(
        _IDENTITY,
        r"\(\s*(?P<matcher>(?:type|name|id)\s*:[^(){}]*)\)",
        r"{\g<matcher>}",
        "A concept matcher has braces. {Write}.",
    ),
    Repair(
        _IDENTITY,
        "EXPECT",
        hint="The matcher comes first, then EXPECT VERSION n.",
    ),
    Repair(
        _IDENTITY,
        "",
        hint='A block begins with a matcher: CONCEPT ?x { {type: "…", name: "…"} … }.',
    ),
    # UPSERT: the sections of a block
    Repair(
        _SECTION,
        rf"(?P<metadata>WITH\s+{_METADATA})(?P<sections>(?:\s*{_SECTIONS})*)\s*\}}",
        lambda match: f"{match['sections'].strip()} }} {match['metadata']}".strip(),
        _AFTER,
    ),
    Repair(
        _SETS,
        rf"(?P<metadata>{_METADATA})(?P<sections>(?:\s*{_SECTIONS})*)\s*\}}",
        lambda match: f"{match['sections'].strip()} }} WITH {match['metadata']}".strip(),
        _AFTER,
        r"SET\s+",
        "UPSERT",
    ),
    Repair(_SECTION, r"ATTRIBUTES|PROPOSITIONS", Insert("SET ")),
    Repair(
        f"{_SECTION}|{_SETS}",
        "PROPOSITIONS",
        hint="A PROPOSITION block takes SET ATTRIBUTES; write another block for a link.",
        before=r"SET\s+",
        command="UPSERT",
    ),
    Repair(
        "^ATTRIBUTES$",
        "PROPOSITIONS",
        hint="A PROPOSITION block takes SET ATTRIBUTES only; write another block for a link.",
    ),
    Repair(_SECTION, "[,;]", "", "Sections have no separator. {Write}."),
    Repair(_SETS + "|^ATTRIBUTES$", r"\{", Insert("ATTRIBUTES ")),
    Repair(
        _SETS,
        r"(?:ATTRIBUTE|ATTRS?|PROPERTIES)(?=\s*\{)",
        "ATTRIBUTES",
    ),
    Repair(
        _SETS,
        r"PROPOSITION(?=\s*\{)",
        "PROPOSITIONS",
    ),
    Repair(_SETS, _PAIRS, _assigned),
    Repair(
        _MAP,
        r"\((?P<entries>[^()]*)\)",
        r"{\g<entries>}",
        "An object has braces. {Write}.",
    ),
    Repair(
        _MAP,
        r"\[\s*(?P<object>{BRACES})\s*\]",
        r"\g<object>",
        "An object has braces. {Write}.",
    ),
    Repair(
        r"^'\{'$",
        r"\[(?P<links>(?:[^\[\]]|\[[^\[\]]*\])*)\]",
        r"{\g<links>}",
        "The block has braces. {Write}.",
        r"(?<=PROPOSITIONS)\s*",
    ),
    Repair(
        r"^'\{'$",
        r"(?P<link>{PARENTHESES})",
        r"{ \g<link> }",
        "The block has braces. {Write}.",
        r"(?<=PROPOSITIONS)\s*",
    ),
    Repair(
        r'^\("predicate"',
        r"(?P<predicate>{STRING})\s*:\s*(?P<target>{MATCHER}|{VAR})",
        r"(\g<predicate>, \g<target>)",
        "A link is a pair. {Write}.",
    ),
    Repair(
        "^a string(?: or a placeholder)?$",
        r"(?:{VAR}|{MATCHER})\s*,\s*(?={STRING}\s*,)",
        "",
        "The concept of the block is the subject. {Write}.",
    ),
    Repair(
        "^a string(?: or a placeholder)?$",
        r":?(?P<name>[A-Za-z_]\w*)",
        r'"\g<name>"',
        "A predicate has double quotes. {Write}.",
        command="UPSERT",
    ),
    Repair(
        "^an endpoint|^\\(subject",
        r'"?(?P<name>[^",(){}?]+?)"?(?=\s*[,)])',
        hint=r'Name the concept by type and name: {type: "…", name: "\g<name>"}.',
        command="UPSERT",
    ),
    Repair(
        "^a value",
        r"(?P<v>{VAR})(?:\.\w+)*",
        hint=r"A value is JSON, without variables. Link the concepts: "
        r'SET PROPOSITIONS { ("predicate", \g<v>) }; or read the value with FIND first, and send '
        "it as a parameter.",
        command="UPSERT",
    ),
    Repair("^METADATA$", r"\{", Insert("METADATA ")),
    Repair("number or a placeholder", r"==?", "", "{Write}."),
    Repair("number or a placeholder", r"[<>]=?", "", "{Write}."),
    Repair("number or a placeholder", r"\(\s*(?P<n>[0-9.]+)\s*\)", r" \g<n>"),
    Repair("number or a placeholder", r"\"(?P<n>[0-9.]+)\"", r"\g<n>"),
    Repair("number or a placeholder", "", hint="Write a number, such as 10, or a placeholder."),
    Repair("^VERSION$", r"[0-9]+|:\w+", Insert("VERSION ")),
    Repair(
        _END,
        r"METADATA(?=\s*[{:])",
        Insert("WITH "),
        command="UPSERT",
    ),
    # UPDATE
    Repair(
        "^a variable$",
        rf"\"?(?P<type>[A-Za-z_]\w*)\"?\s+SET\s+{_PAIRS}\s+WHERE\s+(?P<key>\w+)\s*={{1,2}}\s*"
        r"(?P<value>{VALUE})",
        _sql_update,
        before=r"UPDATE\s+",
        command="UPDATE",
    ),
    Repair(
        "^a variable$",
        r"(?P<matcher>{MATCHER})(?P<sections>.*)",
        r"?x\g<sections> WHERE { ?x \g<matcher> }",
        "WHERE binds the variable. {Write}.",
        r"(?<=UPDATE)\s+",
        "UPDATE",
    ),
    Repair(
        "^a variable$",
        r"(?:CONCEPTS?|PROPOSITIONS?)\b",
        "",
        "WHERE determines what the variable is. {Write}.",
        command="UPDATE",
    ),
    Repair(_UPDATES, _PAIRS, _assigned, command="UPDATE"),
    Repair(
        _UPDATES,
        r"(?P<where>WHERE\s*{BRACES})\s*(?P<sections>(?:SET\s+(?:ATTRIBUTES|METADATA)\s*{BRACES})(?:\s*SET\s+(?:ATTRIBUTES|METADATA)\s*{BRACES})*)",
        r"\g<sections> \g<where>",
        "SET comes before WHERE. {Write}.",
        command="UPDATE",
    ),
    Repair(_UPDATES, r"WITH(?=\s+METADATA)", "SET", command="UPDATE"),
    Repair(_UPDATES, r"ATTRIBUTES|METADATA", Insert("SET "), command="UPDATE"),
    Repair(
        "^ATTRIBUTES or METADATA",
        "PROPOSITIONS?",
        hint="UPDATE writes values; create links with UPSERT.",
        command="UPDATE",
    ),
    Repair(
        "calculation",
        r"(?P<path>{PATH})\s*(?P<sign>[-+*/])\s*(?P<number>[0-9]+(?:\.[0-9]+)?)",
        _calculated,
        "Arithmetic is written with functions. {Write}.",
    ),
    Repair(
        "^a calculation",
        r"{VAR}\.(?:id|type|name|subject|predicate|object)\b",
        hint="UPDATE copies numbers only: read the text with FIND, and send it as a parameter.",
    ),
    Repair(
        "^a calculation",
        r"(?P<path>{PATH})",
        r"ADD(\g<path>, 0)",
        "A number is copied by ADD: {write}. A text is read with FIND, and sent as a parameter.",
    ),
    Repair(
        "^a calculation|^an argument",
        r"(?i:SUB|SUBTRACT|MINUS)\s*\(\s*(?P<path>{PATH})\s*,\s*(?P<number>-?[0-9.]+)\s*\)",
        _negative,
        "The functions are ADD, MUL, CLAMP and COALESCE. {Write}.",
    ),
    Repair(
        "^a calculation|^an argument",
        r"(?i:DIV|DIVIDE)\s*\(\s*(?P<path>{PATH})\s*,\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*\)",
        lambda match: _divided(match["path"], match["number"]),
        "The functions are ADD, MUL, CLAMP and COALESCE. {Write}.",
    ),
    Repair(
        "^a calculation|^an argument",
        r"(?i:INCREMENT|INC|PLUS|SUM)(?=\s*\()",
        "ADD",
        "The functions are ADD, MUL, CLAMP and COALESCE. {Write}.",
        command="UPDATE",
    ),
    Repair(
        "^a calculation|^an argument",
        r"(?i:MULTIPLY|TIMES|PRODUCT)(?=\s*\()",
        "MUL",
        "The functions are ADD, MUL, CLAMP and COALESCE. {Write}.",
        command="UPDATE",
    ),
    # MERGE
    Repair(
        "^a variable$",
        r"(?P<from>{MATCHER})\s*(?:INTO|WITH|TO)\s*(?P<to>{MATCHER})",
        r"?a INTO ?b WHERE { ?a \g<from> ?b \g<to> }",
        "WHERE binds the variables. {Write}.",
        command="MERGE",
    ),
    Repair("^CONCEPT$", r"{VAR}", Insert("CONCEPT "), command="MERGE"),
    Repair("^CONCEPT$", r"CONCEPTS|NODES?|ENTIT(?:Y|IES)", "CONCEPT", command="MERGE"),
    Repair(
        "^CONCEPT$",
        r"\(\s*\w*\s*:\s*(?P<type>\w+)\s*\{\s*name\s*:\s*(?P<name>{STRING})\s*\}\s*\)",
        r'UPSERT { CONCEPT { {type: "\g<type>", name: \g<name>} } }',
        "A write is UPSERT {…}; MERGE joins two concepts. {Write}.",
        r"MERGE\s*",
        "MERGE",
    ),
    Repair("^INTO$", r"(?:WITH|TO|AND|AS|,)(?=\s)|->", "INTO", command="MERGE"),
    # DELETE
    Repair("^DETACH$", r"WHERE|FROM", Insert("DETACH ")),
    Repair(
        "^a variable$",
        r"(?P<matcher>{MATCHER})(?:\s*DETACH)?",
        r"?x DETACH WHERE { ?x \g<matcher> }",
        "WHERE binds the variable. {Write}.",
        r"(?<=CONCEPT)\s+",
        "DELETE",
    ),
    Repair("^a variable$", r"DETACH\s+(?P<v>{VAR})", r"\g<v> DETACH", command="DELETE"),
    Repair(
        "^a variable$",
        r"(?P<link>{PARENTHESES})\s*WHERE\s*\{",
        r"?link WHERE { ?link \g<link>",
        "A link has a variable, which WHERE binds. {Write}.",
        command="DELETE",
    ),
    Repair(
        "^a variable$",
        r"(?P<link>{PARENTHESES})\s*\Z",
        r"?link WHERE { ?link \g<link> }",
        "A link has a variable, which WHERE binds. {Write}.",
        r"(?<=PROPOSITIONS)\s*",
        "DELETE",
    ),
    Repair(
        "^a variable$",
        r"WHERE\s*\{\s*(?P<link>\()",
        r"?link WHERE { ?link \g<link>",
        "A link has a variable, which WHERE binds. {Write}.",
        r"(?<=PROPOSITIONS)\s*",
        "DELETE",
    ),
    Repair(
        "^a variable$",
        r"(?P<matcher>{MATCHER})",
        r"?x WHERE { ?x \g<matcher> }",
        "WHERE binds the variable. {Write}.",
        command="DELETE",
    ),
    Repair(
        "^ATTRIBUTES, METADATA",
        r"FROM\s+\"?(?P<type>[A-Za-z_]\w*)\"?\s+WHERE\s+(?P<key>\w+)\s*={1,2}\s*(?P<value>{VALUE})",
        _sql_delete,
    ),
    Repair(
        "^ATTRIBUTES, METADATA",
        r"(?P<v>{VAR})\.(?P<map>attributes|metadata)\.(?P<key>\w+)",
        lambda match: f'{match["map"].upper()} {{"{match["key"]}"}} FROM {match["v"]}',
    ),
    Repair(
        "^ATTRIBUTES, METADATA",
        r"(?P<v>{VAR})(?:\s*DETACH)?",
        r"CONCEPT \g<v> DETACH",
        r"For a concept, {write}; for links, DELETE PROPOSITIONS.",
    ),
    Repair(
        "^ATTRIBUTES, METADATA",
        r"(?P<matcher>{MATCHER})",
        r"CONCEPT ?x DETACH WHERE { ?x \g<matcher> }",
    ),
    Repair(
        "^ATTRIBUTES, METADATA",
        r"(?:PROPOSITION|LINKS?|RELATIONS?|EDGES?)\b",
        hint="Did you mean PROPOSITIONS?",
    ),
    Repair("^ATTRIBUTES, METADATA", r"(?:CONCEPTS|NODES?)\b", hint="Did you mean CONCEPT?"),
    Repair("^ATTRIBUTES, METADATA", r"ATTRIBUTE\b", hint="Did you mean ATTRIBUTES?"),
    Repair(
        "^a key in", r"(?P<key>[A-Za-z_]\w*)", r'"\g<key>"', "A key has double quotes. {Write}."
    ),
    Repair("^',' or '}'", r"{STRING}", Insert(", "), command="DELETE"),
    Repair(
        r"^'\{'$",
        r"\[(?P<keys>[^\[\]]*)\]",
        r"{\g<keys>}",
        "Keys are in braces. {Write}.",
        command="DELETE",
    ),
    Repair(
        r"^'\{'$",
        r"(?P<key>[A-Za-z_]\w*)(?=\s+FROM\b)",
        r'{"\g<key>"}',
        "Keys are in braces. {Write}.",
        command="DELETE",
    ),
    Repair(
        r"^'\{'$",
        r"(?P<keys>{STRING}(?:\s*,\s*{STRING})*)",
        r"{\g<keys>}",
        "Keys are in braces. {Write}.",
        command="DELETE",
    ),
    Repair(
        "^FROM$",
        r"WHERE(?=\s*\{[^?]*(?P<v>{VAR}))",
        Insert(r"FROM \g<v> "),
        "FROM names the variable. {Write}.",
    ),
)

LAST = (
    Repair(
        "^a calculation|^an argument",
        r"[A-Za-z_]\w*(?=\s*\()",
        hint="The functions are ADD, MUL, CLAMP and COALESCE, over numbers and paths of the "
        "target.",
        command="UPDATE",
    ),
)
"""Hints that are less specific than those of the other tables."""
