"""The first word of a text, and what follows a complete command."""

from __future__ import annotations

import re

from kiprdf.language.repairs.rows import Insert, New, Repair, variables

_COMMAND = "^a command$"
_END = "^the end of the command$"
_START = (
    r"(?:FIND\s*\(|UPSERT\s*\{|UPDATE\s+\?|MERGE\s+CONCEPT|DELETE\s+[A-Z]|DESCRIBE\s+[A-Z]"
    r"|SEARCH\s+[A-Z]|EXPORT\s+\?)"
)
_CREATE = "(?:INSERT|CREATE|ADD|NEW|PUT|SET|ASSERT)"
_TYPES = {
    "TYPES": "CONCEPT TYPES",
    "CONCEPTS": "CONCEPT TYPES",
    "CLASSES": "CONCEPT TYPES",
    "PREDICATES": "PROPOSITION TYPES",
    "RELATIONS": "PROPOSITION TYPES",
    "DOMAINS": "DOMAINS",
}


def _find_all(match: re.Match[str]) -> str | None:
    """``FIND(…)`` of every variable of the text, or of those that are named."""
    named = variables(match["named"] or "") or variables(match.string)
    return f"FIND({', '.join(named)}) " if named else None


def _find(template: str) -> New:
    def new(match: re.Match[str]) -> str:
        shown = re.sub(r"\(\s*(\w+\s*\([^()]*\))\s+AS\s+\?\w+\s*\)", r"\1", match["shown"].strip())
        parts = re.findall(r"\w+\s*\([^()]*\)|[^\s,]+", shown)
        return template.replace("…", ", ".join(parts))

    return new


def _described(match: re.Match[str]) -> str:
    return f"DESCRIBE {_TYPES[match['what'].upper()]}"


ROWS = (
    # The first word
    Repair(
        _COMMAND, "```", hint="Remove the code fences: the lines that begin with three backticks."
    ),
    Repair(_COMMAND, rf'"\s*{_START}', hint="Remove the quotes around the command."),
    Repair(
        _COMMAND,
        r'\{\s*"(?:command|commands|parameters)"',
        hint='This is a request. Send it as an object, or send the text of its "command" alone.',
    ),
    Repair(
        _COMMAND,
        r"\w+\(\s*\"",
        hint="Send the text of the command alone, without a call around it.",
    ),
    Repair(
        _COMMAND,
        r"SELECT\s+(?:DISTINCT\s+)?(?P<shown>(?:\(?(?:\w+\s*\([^()]*\)|{PATH})"
        r"(?:\s+AS\s+{VAR}\s*\))?[\s,]*)+)(?=WHERE\b|\{)",
        _find("FIND(…) "),
        "A query is FIND(…) WHERE {…}. {Write}.",
    ),
    Repair(
        _COMMAND,
        r"SELECT\s+(?:DISTINCT\s+)?\*\s*(?P<named>)(?=WHERE\s*\{)",
        _find_all,
        "A query is FIND(…) WHERE {…}. {Write}.",
    ),
    Repair(
        _COMMAND,
        r"SELECT\s+.*?\bFROM\s+(?P<type>\w+)",
        hint=r'A query is FIND(?x.name, ?x.attributes.key) WHERE { ?x {type: "\g<type>"} '
        r'FILTER(?x.name == "…") } ORDER BY ?x.name LIMIT n.',
    ),
    Repair(
        _COMMAND,
        r"MATCH\s*\(\s*(?P<v>\w+)\s*:\s*(?P<type>\w+)\s*\)\s*RETURN\s+(?P=v)"
        r"(?P<field>\.(?:name|id|type))?\s*;?\s*\Z",
        r'FIND(?\g<v>\g<field>) WHERE { ?\g<v> {type: "\g<type>"} }',
        "A query is FIND(…) WHERE {…}. {Write}.",
    ),
    Repair(
        _COMMAND,
        r"(?:OPTIONAL\s+)?MATCH\s*\(\s*(?P<v>\w+)\s*:\s*(?P<type>\w+)",
        hint=r'A query is FIND(?\g<v>.name) WHERE { ?\g<v> {type: "\g<type>"} '
        r'(?\g<v>, "predicate", ?y {name: "…"}) }.',
    ),
    Repair(
        _COMMAND,
        r"(?:MATCH|RETURN|ASK|SELECT|GET|FETCH|QUERY|query)\b",
        hint='A query is FIND(?x.name) WHERE { ?x {type: "…"} (?x, "predicate", ?y) }.',
    ),
    Repair(
        _COMMAND,
        r"(?:SHOW|LIST|GET)\s+(?:ALL\s+)?(?P<what>TYPES|CONCEPTS|CLASSES|PREDICATES|RELATIONS"
        r"|DOMAINS)\b",
        _described,
    ),
    Repair(
        _COMMAND,
        r"(?P<what>(?:COUNT|SUM|AVG|MIN|MAX)\s*\([^()]*\))\s*(?=WHERE\b)",
        r"FIND(\g<what>) ",
        "A query is FIND(…) WHERE {…}. {Write}.",
    ),
    Repair(
        _COMMAND,
        r"WHERE(?=\s*\{[^?]*(?P<v>{VAR}))",
        Insert(r"FIND(\g<v>) "),
        "A query is FIND(…) WHERE {…}. {Write}.",
    ),
    Repair(
        _COMMAND,
        r"(?:PREFIX|BASE|@prefix)\b",
        hint='KIP has no IRIs and no prefixes. A query is FIND(?x.name) WHERE { ?x {type: "…"} }.',
    ),
    Repair(_COMMAND, r"(?:INSERT|CREATE|ADD)(?=\s*\{)", "UPSERT"),
    Repair(
        _COMMAND,
        rf"{_CREATE}(?=\s+(?:CONCEPT|PROPOSITION)\b)",
        "UPSERT {",
        "{Write}, and add ` }` at the end.",
    ),
    Repair(_COMMAND, "CONCEPT|PROPOSITION", Insert("UPSERT { ", " }")),
    Repair(
        _COMMAND,
        rf"{_CREATE}\s+(?:CONCEPT\s+)?(?:TYPE|CLASS|LABEL)\s+\"?(?P<name>[A-Za-z_]\w*)\"?",
        r'UPSERT { CONCEPT { {type: "$ConceptType", name: "\g<name>"} } }',
    ),
    Repair(
        _COMMAND,
        rf"{_CREATE}\s+(?:PREDICATE|RELATION|PROPERTY)\s+\"?(?P<name>[A-Za-z_]\w*)\"?",
        r'UPSERT { CONCEPT { {type: "$PropositionType", name: "\g<name>"} } }',
    ),
    Repair(
        _COMMAND,
        rf"{_CREATE}\s*\(\s*\w*\s*:\s*(?P<type>\w+)\s*\{{\s*name\s*:\s*(?P<name>{{STRING}})\s*\}}"
        r"\s*\)",
        r'UPSERT { CONCEPT { {type: "\g<type>", name: \g<name>} } }',
        "A write is UPSERT {…}. {Write}.",
    ),
    Repair(
        _COMMAND,
        r"SET\s+(?P<v>{VAR})\.(?:attributes\.)?(?P<key>\w+)\s*=\s*(?P<value>{VALUE})",
        r"UPDATE \g<v> SET ATTRIBUTES { \g<key>: \g<value> }",
    ),
    Repair(
        _COMMAND,
        rf"{_CREATE}\b(?:\s+INTO\s+(?P<type>\w+))?",
        hint='A write is UPSERT { CONCEPT { {type: "…", name: "…"} SET ATTRIBUTES {…} } }.',
    ),
    Repair(_COMMAND, r"DETACH\s+DELETE\s+(?P<v>{VAR})", r"DELETE CONCEPT \g<v> DETACH"),
    Repair(
        _COMMAND,
        r"(?:DROP|REMOVE)\s+(?:CONCEPT\s+)?(?:TYPE|CLASS)\s+\"?(?P<name>\w+)\"?",
        r'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "$ConceptType", name: "\g<name>"} }',
    ),
    Repair(_COMMAND, r"(?:DROP|REMOVE|DETACH)(?=\s+[A-Z]{4})", "DELETE"),
    Repair(
        _COMMAND,
        r"DETACH|DROP|REMOVE",
        hint="Write DELETE CONCEPT ?x DETACH WHERE { ?x {…} }.",
    ),
    Repair(
        _COMMAND,
        "EXPECT",
        hint="EXPECT VERSION n belongs in a block of UPSERT, after its matcher.",
    ),
    Repair(
        _COMMAND,
        rf"(?=[^\n]{{0,150}}{_START})(?P<prose>.+?)(?=\b{_START})",
        "",
        "Send the text of the command alone. {Write}.",
    ),
    # What follows a complete command
    Repair(
        _END,
        r"(?P<order>ORDER\s+BY\s+[^{}]*?)\s*\Z",
        r"\g<order> \g<limit>",
        "ORDER BY comes before LIMIT. {Write}.",
        r"(?P<limit>(?:LIMIT|CURSOR)\s+\S+)\s+",
        "FIND",
    ),
    Repair(
        _END,
        r"(?P<limit>LIMIT\s+\S+)",
        r"\g<limit> \g<cursor>",
        "LIMIT comes before CURSOR. {Write}.",
        r"(?P<cursor>CURSOR\s+\S+)\s+",
    ),
    Repair(
        _END,
        r"(?P<set>SET\s+(?:ATTRIBUTES|METADATA)\s*{BRACES})",
        r"\g<set> \g<where>",
        "SET comes before WHERE. {Write}.",
        r"(?P<where>WHERE\s*{BRACES})\s*",
        "UPDATE",
    ),
    Repair(_END, r"[A-Z][a-z]+\s+[a-z].*\Z", "", "Send the text of the command alone. {Write}."),
    Repair(_END, "`+", hint="Remove the code fences: the lines that begin with three backticks."),
    Repair(
        _END,
        r",\s*[0-9]+",
        hint="LIMIT takes one number. Page with CURSOR: send the next_cursor of the previous page.",
        before=r"LIMIT\s+[0-9]+\s*",
    ),
    Repair(
        "^the end of the command$|^a clause",
        r"(?:OFFSET|SKIP|PAGE)\b",
        hint="Page with LIMIT and CURSOR: send the next_cursor of the previous page.",
    ),
    Repair(
        _END,
        r"GROUP\s+BY\s+{PATH}(?:\s*,\s*{PATH})*",
        "",
        "Rows are grouped by the other expressions of FIND. {Write}.",
    ),
    Repair(
        _END,
        r"HAVING\b",
        hint="Aggregates cannot be filtered: remove HAVING, and filter the rows of the answer.",
    ),
    Repair(
        _END,
        r"EXPECT\b",
        hint="EXPECT VERSION n belongs in a block of UPSERT, after its matcher; elsewhere "
        "write FILTER(?x.metadata._version == n).",
    ),
    Repair(_END, r"[;.,]+(?=\s*\Z)", "", "A command ends without punctuation. {Write}."),
    Repair(_END, r"[})\]]", "", "This bracket closes nothing. {Write}."),
    Repair(_END, "DESCENDING|Descending|descending", hint="Did you mean DESC?"),
    Repair(_END, "ASCENDING|Ascending|ascending", hint="Did you mean ASC?"),
    Repair(_END, r"(?i:SORT|ORDERED)\s+(?i:BY)\b", "ORDER BY"),
    Repair(_END, r"(?i:order\s+by)\b", "ORDER BY", "Keywords are upper case: {write}."),
    Repair(_END, r"(?i:TOP|FETCH|FIRST)\s+(?P<n>\d+)", r"LIMIT \g<n>"),
    Repair(_END, r"(?i:RETURN|YIELD|SELECT|AS)\b[^\n]*", "", "FIND(…) lists the results. {Write}."),
    Repair(
        _END,
        r"(?P<filter>FILTER\s*{PARENTHESES})",
        r"\g<filter> }",
        "FILTER belongs in WHERE {…}. {Write}.",
        r"\}\s*",
    ),
    Repair(
        _END,
        r"(?:AND\b|&&|WHERE\b)\s*(?P<condition>\(?{PATH}\s*[=!<>]=?\s*{VALUE}\)?)",
        r"FILTER(\g<condition>) }",
        "A condition is a FILTER in WHERE {…}. {Write}.",
        r"\}\s*",
    ),
    Repair(
        _END,
        r"(?P<block>(?:NOT|OPTIONAL|UNION)\s*{BRACES})",
        r"\g<block> }",
        "The block belongs in WHERE {…}. {Write}.",
        r"\}\s*",
    ),
    Repair(
        _END,
        r"UNION\s+FIND\b",
        hint="Write one FIND, with UNION { … } as a clause in its WHERE.",
    ),
    Repair(
        _END,
        r"{PATH}",
        Insert(", "),
        "Several sort keys have commas between them. {Write}.",
        r"ORDER\s+BY\s[^{}]*",
    ),
)
