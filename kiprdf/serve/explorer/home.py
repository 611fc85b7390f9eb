"""The start page: a search field, its results, or what there is and what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kiprdf.errors import KipError
from kiprdf.meta.primer import Survey, Waiting
from kiprdf.pages.page import View, count
from kiprdf.semantics.protected import ACTORS
from kiprdf.serve.explorer import acts, review, search, time_pages
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.fact_acts import add_link
from kiprdf.serve.explorer.histogram import histogram
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.explorer.schema import data_types, largest
from kiprdf.serve.explorer.search import Asked
from kiprdf.serve.explorer.time_pages import Moment, shown_time

TYPES, COMMITS, ELEMENTS, FACTS, SOURCES = 10, 6, 3, 5, 6
"""How many of each the page shows."""
NEWEST = 200
"""The facts of which the sources are shown."""
MOST_BYTES = 200_000
"""The size of the commits whose elements are shown: a large import takes long to read."""
_FIRST = """UPSERT {
  CONCEPT ?drug { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES {description: "A medicine."} }
  CONCEPT ?aspirin { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {risk_level: 2} }
} WITH METADATA {source: "textbook", confidence: 0.9}"""
_LEAST = """FIND(?f.id, ?f.metadata.confidence) WHERE {
  ?f (?s, ?p, ?o) FILTER(?f.metadata.confidence < 0.5)
} ORDER BY ?f.metadata.confidence ASC"""
_CONTRADICTING = 'FIND(?f.id) WHERE { ?f (?s, "contradicts", ?o) }'
_SOURCES = f"""FIND(?f.metadata.source, ?f.metadata._updated_at) WHERE {{ ?f (?s, ?p, ?o) }}
ORDER BY ?f.metadata._updated_at DESC LIMIT {NEWEST}"""


def start(explorer: Explorer, asked: Asked, address: str, query: Mapping[str, str]) -> str:
    """The page, with what a search finds unless it is empty; ``address`` is that of the server.

    A ``query`` names what the last act wrote.
    """
    term = asked.term
    page = explorer.page(search.PATH, q=term, type=asked.type)
    results = search.hits(explorer, asked) if term.strip() else None
    overview = _overview(explorer, page, address) if results is None else {}
    return page.html(
        "explorer/start.html",
        explorer.title,
        term=term,
        results=results,
        notice=acts.notice(explorer, page, query),
        **overview,
    )


def _overview(explorer: Explorer, page: ExplorerPage, address: str) -> View:
    survey = explorer.survey()
    concepts, facts = survey.types.total(), survey.predicates.total()
    types = data_types(survey)
    people = sum(type_ == "Person" for type_, _ in ACTORS)
    types.pop("Domain", None)
    number = sum(types.values())
    is_now = explorer.moment is None or explorer.moment.seq is None
    return {
        "add": add_link(explorer, page),
        "numbers": f"{count(concepts, 'concept')}, {count(facts, 'fact')}",
        "empty": _empty(explorer, page, address) if number <= people else None,
        "growth": _growth(explorer, concepts, facts),
        "types": _bars(page, types),
        "more_types": len(types) - TYPES,
        "commits": _commits(explorer, page),
        "changed": [] if explorer.moment else _changed(explorer, page, survey),
        "waiting": _waiting(explorer, page, survey.waiting),
        # Work is done now, and looking for it would double the time of a step of the past.
        "doubtful": _doubtful(explorer, page) if is_now else [],
        "sources": _sources(explorer, page),
        "machinery": [
            page.definition_link("Domain", domain.name, domain.size) for domain in survey.domains
        ],
    }


def _empty(explorer: Explorer, page: ExplorerPage, address: str) -> View:
    """What to do with a nexus in which nobody has written yet."""
    may_load = explorer.acts is not None and explorer.actor.may("write")
    return {
        "example": page.href("explore/act/example/medical") if may_load else None,
        "mcp": f"claude mcp add --transport http memory {address}mcp",
        "statement": _FIRST,
        "kip": f"{address}kip",
    }


def _growth(explorer: Explorer, concepts: int, facts: int) -> View | None:
    """The numbers of concepts and facts over time, up to what there is; None for one moment."""
    moment = explorer.moment
    bars = None if moment is None else histogram(*moment[:4])
    if moment is None or bars is None:
        return None
    until = moment.latest if moment.seq is None else moment.seq
    most = max(concepts, facts, 1)
    lines: tuple[list[str], list[str]] = ([], [])
    for bar in bars["bars"]:
        last = min(bar["last"], until)
        numbers = zip((concepts, facts), moment.timeline.grown(last, until), strict=True)
        for line, (now, more) in zip(lines, numbers, strict=True):
            line.append(f"{bar['left'] + bars['place']},{100 - 100 * (now - more) / most:.1f}")
        if bar["last"] >= until:
            break
    return {
        "total": bars["total"],
        "lines": [
            {"text": count(number, one), "points": " ".join(line), "begin": line[0].split(",")[0]}
            for one, number, line in zip(("concept", "fact"), (concepts, facts), lines, strict=True)
        ],
        "first": bars["first"],
        "end": bars["end"],
    }


def _bars(page: ExplorerPage, types: Counter[str]) -> list[View]:
    """The largest types, with the part of the largest one that each is."""
    most = max(types.values(), default=1)
    return [
        {
            **page.definition_link("$ConceptType", type_, number),
            "part": f"{100 * number / most:.1f}",
        }
        for type_, number in largest(types)[:TYPES]
    ]


def _commits(explorer: Explorer, page: ExplorerPage) -> list[View]:
    """The last commits, the newest first; none without a history, and on pages of the past."""
    moment = explorer.moment
    if moment is None or moment.seq is not None:
        return []
    journal, last = moment.timeline.journal, moment.latest
    first = since = max(moment.earliest, last - COMMITS)
    while since < last and journal.size(since, last) > MOST_BYTES:
        since += 1
    commits = explorer.nexus.changes(since, last, limit=COMMITS)["commits"]
    shown = [_in_words(page, commit) for commit in reversed(commits)]
    return shown if since == first else [*shown, _large(page, moment, since)]


def _large(page: ExplorerPage, moment: Moment, seq: int) -> View:
    """A commit whose elements take long to read, as what it added."""
    concepts, facts = moment.timeline.grown(seq - 1, seq)
    return {
        "href": page.href("explore/") + f"?as_of={seq}",
        "time": shown_time(moment.timeline.time(seq)),
        "who": f"commit {seq}",
        "done": f"{concepts:+,} concepts, {facts:+,} facts",
        "note": None,
        "rows": [],
        "more": "What it changed",
        "whole": page.href(f"explore/log?commit={seq}"),
    }


def _in_words(page: ExplorerPage, commit: dict[str, Any]) -> View:
    """A commit as who did what to how many elements, and the first of these."""
    view = time_pages.commit_view(page, commit, ELEMENTS)
    numbers = (
        {
            kind: sum(len(commit[group][kind]) for group in ("concepts", "propositions"))
            for kind in ("added", "changed", "removed")
        }
        if "concepts" in commit
        else {}
    )
    done = " and ".join(f"{kind} {number:,}" for kind, number in numbers.items() if number)
    who = commit.get("actor") or commit["author"] or "no author"
    undone = commit["undoes"] and f"undid {commit['undoes']}".replace("[", "").replace("]", "")
    done = {"REJECT": "rejected for good", "LIFT": "lifted a rejection"}.get(commit["kind"], done)
    return {**view, "who": who.partition("/")[2] or who, "done": undone or done}


def _changed(explorer: Explorer, page: ExplorerPage, survey: Survey) -> list[View]:
    """The concepts that changed last, where there is no history."""
    return [
        {**explorer.link(page, str(one["id"])), "time": shown_time(str(one["changed_at"]))}
        for one in survey.changes.concepts
    ]


def _waiting(explorer: Explorer, page: ExplorerPage, waiting: Waiting) -> list[View]:
    """What waits: proposals, commitments and tasks, each with its first ones."""
    lists: list[View] = []
    proposed = len(explorer.nexus.proposals()) if explorer.actor.is_person else 0
    if proposed:
        link = {"href": page.href(review.PATH), "text": "Review them", "note": ""}
        lists.append({"title": count(proposed, "proposal"), "links": [link], "all": None})
    for number, type_, one, due, following in (
        (waiting.commitments, "Commitment", "commitment", waiting.due, waiting.next_commitments),
        (waiting.sleep_tasks, "SleepTask", "task", 0, waiting.next_sleep_tasks),
    ):
        if number:
            links = [
                {
                    **page.definition_link(type_, str(each["name"])),
                    "note": str(each.get("due_at") or "")[:10],
                }
                for each in following
            ]
            title = count(number, one) + (f", {due:,} due" if due else "")
            table = page.table_link("$ConceptType", type_)
            lists.append({"title": title, "links": links, "all": table})
    return lists


def _doubtful(explorer: Explorer, page: ExplorerPage) -> list[View]:
    """The facts of which the memory is least sure, and those that contradict each other."""
    lists: list[View] = []
    for title, command in (("Least confident", _LEAST), ("Contradicting", _CONTRADICTING)):
        rows = _rows(explorer, f"{command} LIMIT {FACTS}")
        links = [{**explorer.link(page, id), "note": str(*note)} for id, *note in rows]
        if links:
            lists.append({"title": title, "links": links, "all": page.query_link(command)})
    conflicts = explorer.nexus.conflicts()
    if conflicts:
        links = [
            {**explorer.link(page, one["id"]), "note": one["key"]} for one in conflicts[:FACTS]
        ]
        lists.append({"title": count(len(conflicts), "conflict"), "links": links, "all": None})
    return lists


def _sources(explorer: Explorer, page: ExplorerPage) -> list[View]:
    """The sources of the newest facts, each with the time of its newest one."""
    newest: dict[str, str] = {}
    for source, moment in _rows(explorer, _SOURCES):
        if isinstance(source, str) and source:
            newest.setdefault(source, moment or "")
    return [
        {"value": page.value(source), "time": shown_time(moment)}
        for source, moment in list(newest.items())[:SOURCES]
    ]


def _rows(explorer: Explorer, command: str) -> Sequence[tuple[Any, ...]]:
    """The rows of a command; none where the nexus has no such type or predicate."""
    try:
        return explorer.nexus.find(command, entail=False).tuples()
    except KipError as error:
        if error.code.startswith("KIP_2"):
            return ()
        raise
