"""The pages about time: the log of commits, the history of an element, the slider of each page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.interchange.publishing.markup import Child, Markup, element
from kiprdf.interchange.publishing.page_parts import Page, count, name, words
from kiprdf.nexus import Nexus
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.store import NexusStore

COMMITS = 30
"""The commits on a page of the log."""
ENTRIES = 100
"""The entries on a page of a history."""
SHOWN = 20
"""The elements that the log shows of a commit."""
_SIGNS = {"added": "+", "removed": "−", "changed": "~"}


class Moment(NamedTuple):
    """The commits that the slider reaches, and the one whose state is shown; None is now."""

    earliest: int
    latest: int
    seq: int | None = None
    at: str = ""


def moment_of(store: NexusStore, seq: int | None = None) -> Moment | None:
    """What the slider shows; None for a nexus without a history."""
    if store.journal is None:
        return None
    latest = store.commit()
    at = "" if seq is None else "".join(c.origin.at for c in store.journal.commits(seq - 1, seq))
    return Moment(store.journal.earliest(latest), latest, seq, at)


def slider(moment: Moment, path: str, query: dict[str, str], history: str | None) -> Markup:
    """The form of the slider, with the address of the page as it is now, and of the history."""
    now = f"{path}?{urlencode(query)}" if query else path
    shown: Child = "now"
    if moment.seq is not None:
        # Nothing is known of the time before the first commit.
        shown = [f"commit {moment.seq}", [" · ", time(moment.at)] if moment.at else None]
    field = element(
        "input",
        type="range",
        name="as_of",
        min=str(moment.earliest),
        max=str(moment.latest),
        value=str(moment.latest if moment.seq is None else moment.seq),
        aria_label="As of commit",
    )
    links = [
        None if moment.seq is None else element("a", "Back to now", href=now),
        None if history is None else element("a", "History", href=history),
    ]
    # The browser replaces the query of the address of a form.
    hidden = [element("input", type="hidden", name=key, value=query[key]) for key in query]
    label = element("span", "As of ", element("output", shown))
    show = element("button", "Show", type="submit")
    class_ = "time" if moment.seq is None else "time past"
    return element("form", label, field, hidden, show, links, action=path, class_=class_)


def log(page: Page, nexus: Nexus, moment: Moment, until: int) -> list[Child]:
    """The commits up to one, the newest first, each with what it changed."""
    since = max(moment.earliest, until - COMMITS)
    commits = nexus.changes(since, until, limit=COMMITS)["commits"]
    sections = [
        element("section", _commit_title(page, commit), _changed(page, commit), class_="commit")
        for commit in reversed(commits)
    ]
    older = None
    if since > moment.earliest:
        address = page.href("explore/log") + "?" + urlencode({"until": since})
        older = element("p", element("a", "Older commits", href=address, rel="next"))
    return [sections, older]


def history(page: Page, nexus: Nexus, id: str, cursor: str | None) -> list[Child]:
    """The changes of an element, the newest first."""
    try:
        entries = nexus.history(id, limit=ENTRIES, cursor=cursor)
    except KipError as error:
        return [element("p", error.message, class_="quiet", role="status")]
    items = [
        element("section", _entry(page, id, entry), class_="commit") for entry in entries["entries"]
    ]
    older = None
    if entries["next_cursor"] is not None:
        query = urlencode({"cursor": entries["next_cursor"]})
        older = element("p", element("a", "Older changes", href=f"?{query}", rel="next"))
    return [items, older]


def time(text: str) -> Markup:
    """A time of the engine, for people."""
    shown = f"{text[:10]} {text[11:19]} UTC" if len(text) > 19 else text
    return element("time", shown, datetime=text)


# Parts ----------------------------------------------------------------------------------------


def _commit_title(page: Page, commit: dict[str, Any]) -> Markup:
    address = page.href("explore/") + "?" + urlencode({"as_of": commit["seq"]})
    title = element("a", f"Commit {commit['seq']}", href=address)
    return element("h2", title, " ", element("small", time(commit["at"]), _who(commit)))


def _who(commit: dict[str, Any]) -> str:
    undoes = commit["undoes"]
    undone = None if undoes is None else f"undoes {str(undoes).strip('[]')}"
    kind = commit["kind"] if "kind" in commit else commit["statement"]["kind"]
    session = commit["session"] and f"session {commit['session']}"
    parts = (kind, commit["author"], session, undone)
    return "".join(f" · {part}" for part in parts if part)


def _changed(page: Page, commit: dict[str, Any]) -> list[Child]:
    rows = list(_rows(page, commit))
    if "forgotten" in commit:
        return [element("p", f"Forgot {count(commit['forgotten'], 'element')}.", class_="quiet")]
    more = len(rows) - SHOWN
    rest = element("p", f"and {count(more, 'more element')}", class_="quiet") if more > 0 else None
    return [element("ul", rows[:SHOWN], class_="hits"), rest]


def _rows(page: Page, commit: dict[str, Any]) -> Iterator[Markup]:
    for group in ("concepts", "propositions"):
        for kind, sign in _SIGNS.items():
            for shown in commit[group][kind]:
                mark = element("span", sign, class_=f"sign {kind}", title=kind)
                link = _link(page, shown, is_gone=kind == "removed", seq=commit["seq"])
                values = _values(page, shown) if kind == "changed" else None
                yield element("li", mark, " ", link, values)


def _link(page: Page, shown: dict[str, Any], *, is_gone: bool, seq: int) -> Markup:
    """A link to an element; to the state before its commit, if that removed it."""
    iris = page.site.knowledge.iris
    node = iris.from_id(shown["id"])
    text: Child = shown["id"]
    if "predicate" in shown:
        ends = [_end(iris, shown[end]) for end in ("subject", "object")]
        text = [ends[0], " ", element("i", words(shown["predicate"])), " ", ends[1]]
    elif "name" in shown:
        text = [name(shown["name"]), " ", element("small", shown["type"])]
    if node is None:
        return element("span", text)
    address = page.href(page.site.path(node))
    return element("a", text, href=f"{address}?as_of={seq - 1}" if is_gone else address)


def _end(iris: Iris, id: str) -> Child:
    node = iris.from_id(id)
    one = None if node is None else iris.name(node.value)
    return name(one.name) if isinstance(one, ConceptName) else "a fact"


def _values(page: Page, shown: dict[str, Any]) -> Markup | None:
    keys = [
        {"key": f"{part}.{key}", **sides}
        for part in ("attributes", "metadata")
        for key, sides in shown.get(part, {}).items()
    ]
    return _keys(page, keys)


def _keys(page: Page, keys: list[dict[str, Any]]) -> Markup | None:
    """The values that a commit changed, before and after."""
    rows = (
        element(
            "tr",
            element("th", words(item["key"].partition(".")[2]), scope="row", title=item["key"]),
            element("td", element("del", page.value(item["before"])) if "before" in item else None),
            element("td", element("ins", page.value(item["after"])) if "after" in item else None),
        )
        for item in keys
    )
    table = element("table", element("tbody", rows), class_="keys")
    return element("div", table, class_="wide") if keys else None


def _entry(page: Page, id: str, entry: dict[str, Any]) -> list[Child]:
    node = page.site.knowledge.iris.from_id(id)
    assert isinstance(node, NamedNode)
    address = f"{page.href(page.site.path(node))}?as_of={entry['seq']}"
    title = element("a", f"Commit {entry['seq']}", href=address)
    note = element("small", time(entry["at"]), _who(entry))
    source = None
    if entry["source"] is not None:
        source = element("p", "Source: ", page.value(entry["source"]), class_="quiet")
    text = entry["statement"]["text"]
    statement = None
    if text is not None:
        statement = element("details", element("summary", "Statement"), element("pre", text))
    return [
        element("h2", title, " ", element("i", entry["change"]), " ", note),
        _keys(page, entry["keys"]),
        source,
        statement,
    ]
