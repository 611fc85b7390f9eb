"""Entities and relations in plain text, without a model: only what is read whole is stated.

``document`` finds the sentences and masks what is quoted, ``outline`` says which of them stand
under which heading or label, and ``labels`` what lists under labels state; ``files`` and ``tools``
find paths and known tools, ``patterns`` has the clauses that state something (the table is
``forms.txt``, read by ``words``), ``grammar`` reads sentences by them, and ``phrases`` names what
they state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kiprdf.memory.extraction import document as documents
from kiprdf.memory.extraction import grammar, labels, phrases, tools
from kiprdf.memory.extraction.document import Document
from kiprdf.memory.extraction.grammar import Statement, Text
from kiprdf.memory.extraction.words import listed
from kiprdf.memory.items import Extraction, Found, FoundEdge

MOST_CHARACTERS = 10_000_000
NO_PROJECT_NAME = listed("NO_PROJECT_NAME")
_PROJECT_X = re.compile(
    r"\b[Pp]roject\s+(?P<name>[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,2}|[a-z][\w'-]*)"
)
_X_PROJECT = re.compile(
    r"(?P<article>\b(?:[Tt]he|[Oo]ur|[Mm]y)\s+)?(?<![\w'-])(?P<name>[A-Z][\w'-]{0,60}"
    r"(?:\s+[A-Z\d][\w'-]{0,60}){0,3}(?:\s+[a-z]\w{0,30})?|[\w'-]{1,60})\s+project\b"
)
_BEFORE_PROJECT = re.compile(
    r"(?:^|[.!?;:,(\n-]|\b(?:of|on|for|in|about|with|to|from|into|and|see|re|by|called|is))\s*$",
    re.I,
)
_IN_PROJECT = re.compile(r"\b(?:in|inside|within)\s+(?:(?:the|my|our)\s+)?(?:project\s+)?$", re.I)
_BLANK = re.compile(r"\W*")
_NOW = re.compile(r"\b(?:now|instead|nowadays|these\s+days)\b", re.I)
_MOST_REFERENCES = 32
"""References of one sentence; this bounds the time."""
_REFERRING = re.compile(
    r"[^\w\n]*(?:(?:see|details?|rationale|background|notes?|more|docs|documentation"
    r"|documented|described|discussion|reasons?|reasoning|spec|design|context|benchmarks|minutes"
    r"|written up|recorded|full \w+|write-?up)(?: and \w+)?(?: (?:is|are|lives?))?"
    r"|(?:it(?:'s| is)|(?:the|a) (?:\w+ ){1,4}(?:is|are)) "
    r"(?:documented|described|explained|written up|recorded|kept|specified))"
    r"(?: (?:in|at|under|here))?:? (?:the )?\ue002",
    re.I,
)
"""The beginning of a sentence that says where more is written about the one before it."""
_BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd\ud800-\udfff]")
_BINARY_SAMPLE = 4096


def extract(text: str) -> Extraction:
    """The entities and edges that a text states, each once, in the order of the text.

    The time is linear in the length. A text that looks like binary data states nothing. Raises
    ``TypeError`` for what is no text, ``ValueError`` for a text of more than 10 000 000 characters.

    >>> extraction = extract("I prefer Python, and decided to use SQLite for KG.")
    >>> [(entity.type, entity.name) for entity in extraction.entities]
    [('tool', 'Python'), ('decision', 'Use SQLite for KG'), ('tool', 'SQLite')]
    >>> [(edge.predicate, edge.object.name, edge.weight) for edge in extraction.edges]
    [('prefers', 'Python', 1.0), ('decided', 'Use SQLite for KG', 1.0)]
    """
    check_text(text)
    if _is_binary(text):
        return Extraction()
    document = documents.read(text)
    source = Text(document, list(tools.mentions(document.mentions)))
    labelled = labels.statements(source)
    statements = [
        *labelled,
        *grammar.statements(source),
        *_projects_named(document),
        *(
            Statement(mention.start, Found("tool", mention.name, pattern="tool"))
            for mention in source.tools
        ),
        *(
            Statement(path.start, Found("file", path.name, pattern="file_path"))
            for path in document.files
        ),
    ]
    statements = _of_named_projects(labels.of_projects(source, statements))
    statements += list(_uses_in_project(source, statements))
    statements += _references(document, statements)
    statements += list(_corrected(statements))
    statements = list(_with_successors(document, statements))
    statements.sort(key=lambda statement: statement[0])
    return _each_once(statements)


def check_text(text: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` for what cannot be a memory."""
    if not isinstance(text, str):
        raise TypeError(f"A memory is a str, not {type(text).__name__}.")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(
            f"The text has {len(text)} characters; a memory has at most {MOST_CHARACTERS}."
        )


def _is_binary(text: str) -> bool:
    """Whether more than a tenth of the beginning is no text."""
    sample = text[:_BINARY_SAMPLE]
    return len(_BINARY.findall(sample)) * 10 > len(sample)


def _projects_named(document: Document) -> Iterator[Statement]:
    """``project X`` and ``X project``: capitalised words, or one word that is no ordinary one."""
    prose = document.prose
    if "roject" not in prose:
        return
    for match in _PROJECT_X.finditer(prose):
        words = match["name"].split()
        first = words[0].lower()
        if first in NO_PROJECT_NAME or first.endswith("'s"):
            continue
        before = prose[max(0, match.start() - 12) : match.start()]
        if words[0] != first or _BEFORE_PROJECT.search(before):
            yield from _project(match.start("name"), match["name"], "project_x")
    for match in _X_PROJECT.finditer(prose):
        words = match["name"].split()
        while words and (words[0].lower() in NO_PROJECT_NAME or words[0].endswith("'s")):
            words.pop(0)
        name = " ".join(words)
        is_marked = name != name.lower() or match["article"] is not None
        if words and is_marked and words[-1].lower() not in NO_PROJECT_NAME:
            yield from _project(match.end("name") - len(name), name, "x_project")


def _project(place: int, words: str, pattern: str) -> Iterator[Statement]:
    name = phrases.project_name(words.strip(" .,'-"))
    if name is not None:
        yield Statement(place, Found("project", name, pattern=pattern))


def _of_named_projects(statements: list[Statement]) -> list[Statement]:
    """The statements without those about the tools of what the text does not name as a project."""
    named = {
        each.entity.key
        for each in statements
        if each.entity.type == "project" and not each.is_ended
    }
    return [
        each
        for each in statements
        if not each.edge or each.edge.subject.type == "user" or each.edge.subject.key in named
    ]


def _uses_in_project(source: Text, statements: list[Statement]) -> Iterator[Statement]:
    """``I use T in project X``: X uses T, too, if the sentence names no other project."""
    document = source.document
    projects: dict[int, dict[tuple[str, str], Statement]] = {}
    for statement in statements:
        if statement.entity.type == "project" and not statement.is_ended:
            sentence = document.sentence_at(statement.place).start
            projects.setdefault(sentence, {}).setdefault(statement.entity.key, statement)
    for place, tool, edge, is_ended in statements if projects else ():
        named = list(projects.get(document.sentence_at(place).start, {}).values())
        if edge is None or edge.predicate != "uses" or is_ended or len(named) != 1:
            continue
        at = named[0].place
        if _IN_PROJECT.search(document.prose, max(0, at - 30), at):
            own = FoundEdge(named[0].entity, "uses", tool, 0.8, "project_uses")
            yield Statement(place, tool, own)


def _references(document: Document, statements: Iterable[Statement]) -> Iterator[Statement]:
    """A project or decision and a file in one sentence, or in the next: "Details: plan.md"."""
    if not document.files:
        return
    by_sentence: dict[int, tuple[dict[tuple[str, str], Found], list[tuple[int, Found]]]] = {}
    labelled: dict[tuple[str, str], Found] = {}
    for place, entity, _, is_ended in statements:
        if not is_ended and entity.type in ("project", "decision", "file"):
            sentence = document.sentence_at(place).start
            subjects, files = by_sentence.setdefault(sentence, ({}, []))
            if entity.type == "file":
                files.append((place, entity))
            else:
                subjects.setdefault(entity.key, entity)
            if entity.type == "project" and entity.pattern == labels.PATTERN:
                labelled.setdefault(entity.key, entity)
    for start, (subjects, files) in by_sentence.items():
        if files and not subjects and _REFERRING.match(document.prose, start):
            before = document.sentence_before(start)
            subjects, others = by_sentence.get(before, ({}, []))
            subjects = {} if others else subjects
            if not subjects and len(labelled) == 1:
                subjects = labelled
        pairs = [
            (subject, *file) for file in files[:_MOST_REFERENCES] for subject in subjects.values()
        ]
        for subject, place, file in pairs[:_MOST_REFERENCES]:
            edge = FoundEdge(subject, "references", file, 0.7, "references")
            yield Statement(place, file, edge)


def _corrected(statements: list[Statement]) -> Iterator[Statement]:
    """``Scratch that: not T`` ends each decision before it that names T."""
    decisions = [each for each in statements if each.edge and each.edge.predicate == "decided"]
    for place, tool, edge, is_ended in statements if decisions else ():
        if edge is not None and is_ended and tool.pattern == "corrected":
            for decision in decisions:
                words = decision.entity.normalized_name.split()
                if decision.place < place and tool.normalized_name in words:
                    yield decision._replace(place=place, is_ended=True)


def _with_successors(document: Document, statements: list[Statement]) -> Iterator[Statement]:
    """``I no longer use A, I use B``: B took the place of A, if the sentence states one only.

    In the next sentence it is one that is stated with ``now`` or ``instead``.
    """
    news: dict[object, dict[object, FoundEdge]] = {}
    for place, _, edge, is_ended in statements:
        if edge is not None and not is_ended:
            kind = document.sentence_at(place).start, edge.subject.key, edge.predicate
            news.setdefault(kind, {})[edge.key] = edge
    for statement in statements:
        edge = statement.edge
        if edge is not None and statement.is_ended and edge.superseded_by is None:
            sentence = document.sentence_at(statement.place)
            relation = edge.subject.key, edge.predicate
            of_kind = list(news.get((sentence.start, *relation), {}).values())
            if not of_kind:
                blank = _BLANK.match(document.prose, sentence.end)
                following = document.sentence_at(blank.end() if blank else sentence.end)
                if _NOW.search(document.prose, following.start, following.end):
                    of_kind = list(news.get((following.start, *relation), {}).values())
            if len(of_kind) == 1:
                statement = statement._replace(edge=replace(edge, superseded_by=of_kind[0]))
        yield statement


def _each_once(statements: Iterable[Statement]) -> Extraction:
    """Each entity once, and each edge once with its highest weight; the last place decides."""
    entities: dict[tuple[str, str], Found] = {}
    edges: dict[object, FoundEdge] = {}
    is_last_ended: dict[object, bool] = {}
    for _, entity, edge, is_ended in statements:
        if not is_ended:
            entities.setdefault(entity.key, entity)
        if edge is not None:
            previous = edges.get(edge.key)
            by = edge.superseded_by or (previous and is_ended and previous.superseded_by) or None
            if previous is not None and previous.weight >= edge.weight:
                edge = previous
            edges[edge.key] = edge if edge.superseded_by is by else replace(edge, superseded_by=by)
            is_last_ended[edge.key] = is_ended
    held = tuple(edge for key, edge in edges.items() if not is_last_ended[key])
    ended = tuple(edge for key, edge in edges.items() if is_last_ended[key])
    return Extraction(tuple(entities.values()), held, ended)
