"""The start page: a search field, its results, or what there is."""

from __future__ import annotations

from typing import Any

from kiprdf.pages.page import View, count
from kiprdf.serve.explorer import search
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.explorer.schema import data_types
from kiprdf.serve.explorer.time_pages import shown_time


def start(explorer: Explorer, term: str) -> str:
    """The page, with what a term finds unless it is empty."""
    page = explorer.page("explore/", q=term)
    results = search.hits(explorer, term) if term.strip() else None
    overview = _overview(explorer, page) if results is None else {}
    return page.html("explorer/start.html", explorer.title, term=term, results=results, **overview)


def _overview(explorer: Explorer, page: ExplorerPage) -> View:
    primer: Any = explorer.nexus.execute("DESCRIBE PRIMER")
    totals = primer["totals"]
    return {
        "numbers": f"{count(totals['concepts'], 'concept')}, "
        f"{count(totals['propositions'], 'fact')}",
        "types": [
            page.definition_link("$ConceptType", type_, number)
            for type_, number in data_types(totals).items()
        ],
        "domains": [
            page.definition_link("Domain", domain["name"], domain["concept_count"])
            for domain in primer["domain_map"]
        ],
        "changed": [
            {**explorer.link(page, change["id"]), "time": shown_time(change["changed_at"])}
            for change in primer["recent_changes"]["concepts"]
        ],
    }
