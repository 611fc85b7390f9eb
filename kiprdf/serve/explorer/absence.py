"""What a person may have looked for at an address where there is nothing."""

from __future__ import annotations

from urllib.parse import unquote, urlencode

from kiprdf.errors import nearest
from kiprdf.kql.identities import NEAR_NAMES, merged_into, names_of_type, types_of_name
from kiprdf.pages.page import View, name
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage

PAGES = {
    "schema": ("Schema", "explore/schema"),
    "log": ("Changes", "explore/log"),
    "changes": ("Changes", "explore/log"),
    "proposals": ("Proposals", "explore/proposals"),
    "kql": ("Query", "explore/kql"),
    "query": ("Query", "explore/kql"),
    "search": ("Search", "explore/"),
}
"""The pages by what a person may call them."""
MOST = 6
_PREFIXES = ("page", "data", "explore", "history")


def failure(explorer: Explorer, refused: View, path: str | None) -> str:
    """The page of a request that failed, with suggestions for a path that leads nowhere."""
    page = explorer.page("explore/failure")
    suggested = None if path is None else suggestions(explorer, page, path)
    return page.html("explorer/failure.html", refused["phrase"], suggestions=suggested, **refused)


def suggestions(explorer: Explorer, page: ExplorerPage, path: str) -> View:
    """Links to pages, types and concepts whose names are like a path, and to a search for it."""
    segments = [unquote(one, errors="replace") for one in path.split("/") if one.strip()]
    while len(segments) > 1 and segments[0] in _PREFIXES:
        del segments[0]
    term = name(segments[-1]) if segments else ""
    search = page.href("explore/?" + urlencode({"q": term}, errors="replace"))
    return {"links": _links(explorer, page, segments), "term": term, "search": search}


def _links(explorer: Explorer, page: ExplorerPage, segments: list[str]) -> list[View]:
    if not segments:
        return []
    store, last = explorer.store, segments[-1]
    types = names_of_type("$ConceptType", store)
    concepts: list[tuple[str, str]] = []
    links: list[View] = []
    if len(segments) > 1:
        merged = merged_into(last, store, segments[-2])
        concepts += [(merged.type, merged.name)] if merged else []
        for type_ in [segments[-2]] if segments[-2] in types else nearest(segments[-2], types):
            names = names_of_type(type_, store, 5 * NEAR_NAMES)
            concepts += [
                (type_, one) for one in ([last] if last in names else nearest(last, names))
            ]
    else:
        called = dict.fromkeys(PAGES[one] for one in nearest(last, PAGES))
        links = [{"link": {"href": page.href(to), "text": title}} for title, to in called]
    concepts += [(type_, last) for type_ in types_of_name(last, store)]
    for kind in ("$ConceptType", "$PropositionType"):
        concepts += [(kind, one) for one in nearest(last, names_of_type(kind, store))]
    for type_, one in list(dict.fromkeys(concepts))[:MOST]:
        links.append({"link": page.node_link(store.iris.concept(type_, one)), "type": type_})
    return links
