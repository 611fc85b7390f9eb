"""What a search finds."""

from __future__ import annotations

from typing import cast

from pyoxigraph import NamedNode

from kiprdf.pages.page import View, render
from kiprdf.serve.explorer.explorer import Explorer

MOST_HITS, MOST_RANKED = 30, 100
"""Hits of a search that are shown, and that are read where some are not believed."""


def results(explorer: Explorer, term: str) -> str:
    """The concepts that a term finds, as a list of links; without a page around them."""
    return render("explorer/results.html", results=hits(explorer, term))


def hits(explorer: Explorer, term: str) -> View:
    """The concepts that a term finds, or a note that says why there are none."""
    page = explorer.page("explore/")
    reasons = explorer.nexus.beliefs.view().reasons
    limit = MOST_RANKED if reasons else MOST_HITS  # what is not believed is behind the rest
    response = explorer.nexus.execute_kip_readonly(
        {
            "command": "SEARCH CONCEPT :term LIMIT :limit",
            "parameters": {"term": term, "limit": limit},
        }
    )
    if "error" in response:
        return {"note": response["error"]["message"], "hits": []}
    iris = explorer.store.iris
    hits = [
        {
            "link": page.identity_link(hit["id"]),
            "type": hit.get("type", ""),
            "about": _text((hit.get("attributes") or {}).get("description"))[:160],
            "unbelieved": reasons.get(cast(NamedNode, iris.from_id(hit["id"]))),
        }
        for hit in response["result"]
    ]
    hits = sorted(hits, key=lambda hit: hit["unbelieved"] is not None)[:MOST_HITS]
    return {"note": None if hits else f"No concept matches “{term}”.", "hits": hits}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
