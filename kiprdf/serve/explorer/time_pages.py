"""The views of the pages about time: the log of commits, the history of an element, the slider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlencode

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.nexus import Nexus
from kiprdf.pages.page import Page, View, count, name, words
from kiprdf.rdf.elements import Proposition
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.semantics.protected import is_rejection
from kiprdf.serve.explorer.histogram import histogram
from kiprdf.store import NexusStore
from kiprdf.store.timeline import Timeline

COMMITS = 15
"""The commits on a page of the log."""
ENTRIES = 100
"""The entries on a page of a history."""
SHOWN = 20
"""The elements that the log shows of a commit."""
Query: TypeAlias = dict[str, str | list[str]]
"""The fields of an address; a list is a field for each of its texts."""
LINKED = 300
"""The longest query that each bar of the histogram has in its link."""
_SIGNS = {"added": "+", "removed": "−", "changed": "~"}


class Moment(NamedTuple):
    """The commits that the slider reaches, and the one whose state is shown; None is now."""

    timeline: Timeline
    earliest: int
    latest: int
    seq: int | None = None

    @property
    def at(self) -> str:
        """When the commit happened; "" for now, and before the first commit."""
        return "" if self.seq is None else self.timeline.time(self.seq)


def moment_of(
    store: NexusStore, timeline: Timeline | None, seq: int | None = None
) -> Moment | None:
    """What the slider shows; None for a nexus without a history."""
    if timeline is None:
        return None
    latest = store.commit()
    timeline.read(latest)
    return Moment(timeline, timeline.journal.earliest(latest), latest, seq)


def slider(moment: Moment, path: str, query: Query, history: str | None) -> View:
    """The form of the slider, with the address of the page as it is now, and of the history."""
    given = urlencode(query, doseq=True)
    return {
        "path": path,
        "query": query,
        "moment": moment,
        # Nothing is known of the time before the first commit.
        "time": shown_time(moment.at) if moment.at else None,
        "now": f"{path}?{given}" if given else path,
        "history": history,
        "bars": histogram(moment.timeline, moment.earliest, moment.latest, moment.seq),
        # Each bar would repeat a long query; the slider has it once.
        "given": None if len(given) > LINKED else f"{given}&" if given else "",
    }


def preview(nexus: Nexus, moment: Moment | None, seq: int | None) -> dict[str, Any]:
    """What the slider shows of a commit before its page; KIP_3002 for one without a record."""
    if moment is None or seq is None or not moment.earliest <= seq <= moment.latest:
        raise KipError("KIP_3002", "There is no such commit.", "Give a number of the slider.")
    text = f"commit {seq}"
    if seq == moment.earliest:
        return {"seq": seq, "text": text}
    (commit,) = nexus.changes(seq - 1, seq, limit=1)["commits"]
    at, author = commit["at"], commit.get("actor", commit["author"])
    changes = sum(
        len(commit[group][kind]) for group in ("concepts", "propositions") for kind in _SIGNS
    )
    parts = (text, shown_time(at)["text"], author, count(changes, "change"))
    shown = " · ".join(part for part in parts if part)
    return {"seq": seq, "at": at, "author": author, "changes": changes, "text": shown}


def log(page: Page, nexus: Nexus, moment: Moment, until: int) -> View:
    """The commits up to one, the newest first, each with what it changed."""
    since = max(moment.earliest, until - COMMITS)
    commits = nexus.changes(since, until, limit=COMMITS)["commits"]
    older = page.href("explore/log") + "?" + urlencode({"until": since})
    return {
        "last": until,
        "commits": [commit_view(page, commit) for commit in reversed(commits)],
        "older": older if since > moment.earliest else None,
    }


def history(page: Page, nexus: Nexus, id: str, cursor: str | None) -> View:
    """The changes of an element, the newest first."""
    try:
        entries = nexus.history(id, limit=ENTRIES, cursor=cursor)
    except KipError as error:
        return {"note": error.message, "entries": [], "older": None}
    following = entries["next_cursor"]
    return {
        "note": None,
        "entries": [history_entry(page, id, entry) for entry in entries["entries"]],
        "older": None if following is None else "?" + urlencode({"cursor": following}),
    }


def shown_time(text: str) -> View:
    """A time of the engine, for people."""
    shown = f"{text[:10]} {text[11:16]} UTC" if len(text) > 19 else text
    return {"moment": text, "text": shown}


def label(iris: Iris, node: NamedNode) -> View:
    """The name of a concept, which may not exist; the id of a proposition."""
    one = iris.name(node.value)
    return {"name": name(one.name)} if isinstance(one, ConceptName) else {"iri": iris.id(node)}


def words_of(iris: Iris, fact: Proposition) -> View:
    """The words of a proposition whose ends are not read."""
    subject, object_ = _end(iris, fact.subject), _end(iris, fact.object)
    return {"subject": subject, "verb": words(fact.predicate), "object": object_}


def _end(iris: Iris, node: NamedNode | None) -> View:
    one = None if node is None else iris.name(node.value)
    return {"name": name(one.name)} if isinstance(one, ConceptName) else {"text": "a fact"}


# Parts ----------------------------------------------------------------------------------------


def commit_view(page: Page, commit: dict[str, Any], most: int = SHOWN) -> View:
    """A commit and the first elements that it changed."""
    rows = rows_of(page, commit)
    return {
        "seq": commit["seq"],
        "href": page.href("explore/") + "?" + urlencode({"as_of": commit["seq"]}),
        "time": shown_time(commit["at"]),
        "who": _who(commit),
        "note": _note(commit),
        "kind": commit["kind"],
        "rows": rows[:most],
        "more": omitted(len(rows), most),
        "whole": page.href(f"explore/log?commit={commit['seq']}"),
    }


def rows_of(page: Page, commit: dict[str, Any]) -> list[View]:
    """The elements that a commit changed; none of one that was forgotten."""
    return [] if "forgotten" in commit else list(changed_rows(page, commit, commit["seq"] - 1))


def omitted(number: int, most: int) -> str | None:
    """How many elements a list leaves out, in words; None if it has all."""
    return f"and {count(number - most, 'more element')}" if number > most else None


def _note(commit: dict[str, Any]) -> str | None:
    """What a commit did that is no change of elements."""
    if "forgotten" in commit:
        return f"Forgot {count(commit['forgotten'], 'element')}."
    if "gate" in commit:
        return "Removed the shapes." if commit["gate"] is None else "Set shapes."
    return None


def _who(commit: dict[str, Any]) -> str:
    undoes = commit["undoes"]
    undone = None if undoes is None else f"undoes {str(undoes).strip('[]')}"
    kind = commit["kind"] if "kind" in commit else commit["statement"]["kind"]
    session = commit["session"] and f"session {commit['session']}"
    run = f"{commit['proposal']} of {commit['proposed_by']}" if "proposal" in commit else None
    parts = (kind, commit.get("actor", commit["author"]), session, undone, run)
    return "".join(f" · {part}" for part in parts if part)


def changed_rows(page: Page, changes: dict[str, Any], seq: int | None = None) -> Iterator[View]:
    """The elements of a difference, without rejections; what was removed leads to where it was."""
    for group in ("concepts", "propositions"):
        for kind, sign in _SIGNS.items():
            as_of = f"?as_of={seq}" if kind == "removed" and seq is not None else ""
            for shown in changes[group][kind]:
                if is_rejection(shown.get("type", ""), shown.get("name", "")):
                    continue
                link = _link(page, shown, as_of)
                keys = _values(page, shown) if kind == "changed" else []
                yield {"kind": kind, "sign": sign, "link": link, "keys": keys}


def _link(page: Page, shown: dict[str, Any], as_of: str) -> View:
    """A link to an element of a commit, by what the commit says of it."""
    iris = page.site.knowledge.iris
    node = iris.from_id(shown["id"])
    view: View = {"text": shown["id"]}
    if "predicate" in shown:
        subject, object_ = (_end(iris, iris.from_id(shown[end])) for end in ("subject", "object"))
        verb = words(shown["predicate"])
        view = {"words": {"subject": subject, "verb": verb, "object": object_}}
    elif "name" in shown:
        view = {"name": name(shown["name"])}
    view["type"] = shown["type"] if "name" in view else None
    return view if node is None else {"href": page.href(page.site.path(node)) + as_of, **view}


def _values(page: Page, shown: dict[str, Any]) -> list[View]:
    keys = [
        {"key": f"{part}.{key}", **sides}
        for part in ("attributes", "metadata")
        for key, sides in shown.get(part, {}).items()
    ]
    return _keys(page, keys)


def _keys(page: Page, keys: list[dict[str, Any]]) -> list[View]:
    """The values that a commit changed, before and after."""
    return [
        {
            "key": item["key"],
            "words": words(item["key"].partition(".")[2]),
            **{side: page.value(item[side]) for side in ("before", "after") if side in item},
        }
        for item in keys
    ]


def history_entry(page: Page, id: str, entry: dict[str, Any]) -> View:
    """A change of an element."""
    node = page.site.knowledge.iris.from_id(id)
    assert isinstance(node, NamedNode)
    source = entry["source"]
    return {
        "seq": entry["seq"],
        "kind": entry["statement"]["kind"],
        "href": f"{page.href(page.site.path(node))}?as_of={entry['seq']}",
        "change": entry["change"],
        "time": shown_time(entry["at"]),
        "who": _who(entry),
        "keys": _keys(page, entry["keys"]),
        "source": None if source is None else page.value(source),
        "statement": entry["statement"]["text"],
    }
