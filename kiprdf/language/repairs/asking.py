"""DESCRIBE, SEARCH and EXPORT."""

from __future__ import annotations

from kiprdf.language.repairs.rows import Insert, Repair

_FORM = "^PRIMER, DOMAINS"
_END = "^the end of the command$"
_KIND = "^CONCEPT or PROPOSITION$"
_NAME = r"(?P<name>[A-Za-z_]\w*)"
_TWO = (
    r"For a type, write `DESCRIBE CONCEPT TYPE \g<name>` instead of `\g<0>`; "
    r"for a concept, write `FIND(?x) WHERE { ?x {name: \g<name>} }` instead of `\g<0>`."
)
_TWO_WORDS = (
    r'For a type, write `DESCRIBE CONCEPT TYPE "\g<word>"` instead of `\g<0>`; '
    r'for a concept, write `FIND(?x) WHERE { ?x {name: "\g<word>"} }` instead of `\g<0>`.'
)

ROWS = (
    # DESCRIBE
    Repair(
        "^TYPES or TYPE$",
        r"(?P<name>{STRING})",
        hint=_TWO,
        before=r"DESCRIBE\s+CONCEPT\s+",
    ),
    Repair(
        "^TYPES or TYPE$",
        r"(?P<word>[A-Z][a-z]\w*)",
        hint=_TWO_WORDS,
        before=r"DESCRIBE\s+CONCEPT\s+",
    ),
    Repair(
        f"^TYPES or TYPE$|{_FORM}",
        r"(?P<matcher>{MATCHER})",
        r"FIND(?x) WHERE { ?x \g<matcher> }",
        before=r"DESCRIBE\s+(?:CONCEPT\s+)?",
    ),
    Repair(
        "^TYPES or TYPE$",
        r"{STRING}",
        Insert("TYPE "),
        before=r"(?<=PROPOSITION)\s+",
    ),
    Repair(_FORM, r"TYPES\b", "CONCEPT TYPES", "{Write}, or PROPOSITION TYPES."),
    Repair(_FORM, r"TYPE\s+\"?(?P<name>\w+)\"?", r'CONCEPT TYPE "\g<name>"'),
    Repair(_FORM, r"(?:CONCEPTS|CLASSES|ALL|SCHEMA|ONTOLOGY)\b", "CONCEPT TYPES"),
    Repair(_FORM, r"(?:PROPOSITIONS|PREDICATES|RELATIONS|PROPERTIES)\b", "PROPOSITION TYPES"),
    Repair(_FORM, r"PREDICATE\s+\"?(?P<name>\w+)\"?", r'PROPOSITION TYPE "\g<name>"'),
    Repair(
        _FORM,
        r"DOMAIN\s+(?P<name>{STRING})",
        r'FIND(?x) WHERE { ?x {type: "Domain", name: \g<name>} }',
        before=r"DESCRIBE\s+",
    ),
    Repair(_FORM, r"(?:NEXUS|SELF|MEMORY|KIP|SUMMARY|OVERVIEW)\b", "PRIMER"),
    Repair(_FORM, r"(?P<name>{STRING})", hint=_TWO, before=r"DESCRIBE\s+"),
    Repair(_FORM, r"(?P<word>[A-Z][a-z]\w*)", hint=_TWO_WORDS, before=r"DESCRIBE\s+"),
    Repair(
        _END,
        r"LIMIT\s+\S+",
        "",
        "It has no pages. {Write}.",
        r"(?<=DOMAINS|.PRIMER)\s+",
        "DESCRIBE",
    ),
    Repair(
        _END,
        r"(?P<name>{STRING})",
        r"TYPE \g<name>",
        "One definition is described by TYPE. {Write}.",
        r"TYPES\s+",
        "DESCRIBE",
    ),
    # SEARCH
    Repair(_KIND, r"(?P<term>{STRING})", Insert("CONCEPT "), "{Write}, or SEARCH PROPOSITION."),
    Repair(_KIND, r"CONCEPTS|NODES|ENTITIES|CONCEPTS?|FOR|ALL", "CONCEPT", command="SEARCH"),
    Repair(_KIND, r"PROPOSITIONS|LINKS|FACTS", "PROPOSITION", command="SEARCH"),
    Repair(_KIND, r"\w+(?=\s+{STRING})", "CONCEPT", command="SEARCH"),
    Repair(
        _KIND,
        r"(?P<term>[^\s\"]+)",
        r'CONCEPT "\g<term>"',
        "{Write}, or SEARCH PROPOSITION.",
        command="SEARCH",
    ),
    Repair("^a string or", r"\(\s*(?P<term>{STRING})\s*\)", r"\g<term>", command="SEARCH"),
    Repair(_END, r"TYPE(?=\s)", Insert("WITH "), command="SEARCH"),
    Repair(
        _END,
        r"(?:IN|FOR|OF|AS)\s+(?:TYPE\s+)?(?P<type>{STRING})",
        r"WITH TYPE \g<type>",
        command="SEARCH",
    ),
    Repair(
        _END,
        r"(?P<type>(?:WITH\s+TYPE|MODE|THRESHOLD)\s+(?:{STRING}|[\w.]+))",
        r"\g<type> \g<limit>",
        "LIMIT comes last. {Write}.",
        r"(?P<limit>LIMIT\s+\S+)\s+",
        "SEARCH",
    ),
    Repair(
        _END,
        r"(?:OFFSET|SKIP|CURSOR)\b",
        hint="SEARCH has no pages; LIMIT goes up to 100.",
        command="SEARCH",
    ),
    Repair(
        "keyword, semantic",
        r"(?=[A-Z\"]|\Z)",
        hint="The modes are keyword, semantic and hybrid: MODE semantic.",
    ),
    Repair("keyword, semantic", r"==?", ""),
    # EXPORT
    Repair("^a variable$", r"\(\s*(?P<v>{VAR})\s*\)", r"\g<v>", command="EXPORT"),
    Repair("^a variable$", r"WHERE\s*\{\s*(?P<v>{VAR})", r"\g<v> WHERE { \g<v>", command="EXPORT"),
    Repair(
        _END,
        r"ORDER\s+BY\s+{PATH}(?:\s+(?:ASC|DESC))?",
        "",
        "EXPORT has no order. {Write}.",
        command="EXPORT",
    ),
)
