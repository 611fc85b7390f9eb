"""The pages of proposals, on which people approve and decline them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from kiprdf.errors import KipError
from kiprdf.execution.proposals import may_approve, read_by
from kiprdf.pages.page import View
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.forms import Forms
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.explorer.time_pages import shown_time
from kiprdf.spelling import visible

PATH = "explore/proposals"
PAGE = 25
"""Proposals of a page."""
LINES = 20
"""Lines of a difference that the list shows; a longer one is decided on its page."""
_ESCAPES = re.compile(r"((?:\\u[0-9a-f]{4})+)")
_KINDS = {"+": "added", "-": "removed", "~": "changed"}


def proposals(explorer: Explorer, forms: Forms, first: int) -> str:
    """The page of the proposals that wait, the oldest first, from a number on."""
    page, waiting = explorer.page(PATH), explorer.nexus.proposals()
    shown = waiting[first : first + PAGE]
    return page.html(
        "explorer/proposals.html",
        "Proposals",
        number=f"{len(waiting):,} wait",
        proposals=[_view(page, one, forms, LINES) for one in shown],
        pager=page.pager(first, PAGE, len(waiting)),
        error=None,
    )


def proposal(explorer: Explorer, forms: Forms, id: str, error: KipError | None) -> str:
    """The page of one proposal, with all of its difference, and why a decision has failed."""
    page = explorer.page(f"{PATH}/{id}")
    fault: View | None = None
    if error is not None:
        parts = list(visible(error.message))
        fault = {"code": error.code, "message": parts, "hint": error.hint}
    return page.html(
        "explorer/proposals.html",
        f"Proposal {id}",
        number="",
        proposals=[_view(page, explorer.nexus.proposal(id), forms)],
        pager=None,
        error=fault,
    )


def _view(
    page: ExplorerPage,
    proposal: dict[str, Any],
    forms: Forms,
    most: int | None = None,
) -> View:
    """A proposal with the first lines of its difference; it is decided where all are shown."""
    id = proposal["id"]
    lines = (proposal["diff"] or "No differences.").splitlines()
    shown = lines[:most]
    is_cut = most is not None and (len(shown) < len(lines) or any("…" in line for line in lines))
    decided = ""
    if proposal["state"] != "open":
        decided = f"{proposal['state']} by {proposal['decided_by']} at {proposal['decided_at']}"
        decided += f": {proposal['reason']}" if "reason" in proposal else ""
    parameters = proposal["parameters"]
    return {
        "id": id,
        "href": page.href(f"{PATH}/{id}"),
        "time": shown_time(proposal["at"]),
        "who": list(visible(" ".join(filter(None, (proposal["by"], proposal["session"]))))),
        "decided": list(visible(decided)),
        "reason": list(visible("" if decided else proposal.get("reason", ""))),
        "lines": [_line(line) for line in shown],
        "more": "Not all of it is shown: review it" if is_cut else None,
        "is_alone": most is None,
        "text": list(visible(proposal["text"], "\n\t")),
        "parameters": parameters and list(visible(json.dumps(parameters, ensure_ascii=False))),
        "reads": list(visible(read_by(proposal))),
        "form": forms.key(id) if may_approve(forms.actor, proposal) else None,
    }


def _line(line: str) -> tuple[str, Sequence[tuple[str, str]]]:
    """The kind of a line of a difference, and its parts; some escapes are those of the JSON."""
    parts = (
        (piece, "invisible" if _ESCAPES.fullmatch(piece) else note)
        for part, note in visible(line)
        for piece in ([part] if note else _ESCAPES.split(part))
    )
    return _KINDS.get(line.lstrip()[:1], "quiet"), [part for part in parts if part[0]]
