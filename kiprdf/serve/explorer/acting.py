"""What a person does to the nexus on a page, in two steps: it is shown, then it is written.

An act is described once: its title, the fields of its form, and its plan, which is a statement of
KIP or a call. The dry run of the plan is shown as what it changes; what was shown is sent again to
be written, with the version that was seen (docs/decisions/221).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import quote

from kiprdf.actors import Access
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.execution import proposals
from kiprdf.execution.proposals import Preview
from kiprdf.kml.draft import version
from kiprdf.nexus import Nexus
from kiprdf.pages.page import View
from kiprdf.rdf.elements import Element, read_element
from kiprdf.rdf.literals import Json
from kiprdf.serve.explorer import time_pages
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.routes.linked import no_element, node_at
from kiprdf.serve.state import number_of
from kiprdf.spelling import visible

MOST_SHORT = 80
"""The characters of a value in a sentence."""
_LONG = 200
"""The characters that are left out of a text at least."""
_AROUND = 40
"""The characters that are shown around those that differ."""
_SHOWN = 300
"""The changed elements that a page shows: the undo of an import has many thousands."""
Given: TypeAlias = Mapping[str, str]
"""The fields of a form as they were sent, without its key."""


class Field(NamedTuple):
    """A field of a form: ``kind`` is text, area, choice or a macro of the template."""

    name: str
    label: str
    kind: str = "text"
    value: str = ""
    choices: Sequence[tuple[str, str]] = ()
    """The values of a choice, with their texts."""
    is_required: bool = False
    note: str = ""
    candidates: View | None = None
    """What the words of a search may mean."""
    type: str = ""
    """The only type that is searched; "" for all elements."""
    new_type: str = ""
    """The type of a new concept."""


class Subject(NamedTuple):
    """What an act is about, and who acts."""

    explorer: Explorer
    path: str
    """What follows the name of the act in the address."""
    key: str = ""
    """The key of the query."""
    id: str = ""
    element: Element | None = None
    version: int = 0
    """That of the element, in a view of all that it states; 0 of what is none."""
    plan: Plan | None = None
    """What is done, where the address says all of it."""

    @property
    def is_view(self) -> bool:
        """Whether this is a view of several scopes, whose versions are those of its members."""
        return bool(self.explorer.nexus._engine.writer.place)


@dataclass(frozen=True)
class Statement:
    """A plan that is a statement of KIP; what people typed is in its parameters."""

    text: str
    parameters: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    notes: Sequence[str] = ()
    """What people should know beside the difference."""
    target: str = ""
    """The path of the page that is shown when it is written; "" for that of the act."""

    def preview(self, nexus: Nexus) -> Preview:
        """What it would change."""
        return proposals.preview(nexus._engine, self.text, self.parameters)

    def write(self, nexus: Nexus) -> Any:
        """Write it, and return its receipt."""
        return nexus.answer(self.text, self.parameters).result


@dataclass(frozen=True)
class Call:
    """A plan that is no statement of KIP, with what it will do in words."""

    words: str
    dry_run: Callable[[], Preview | None]
    run: Callable[[], Any]
    text: str = ""
    """What the audit log has of it."""
    notes: Sequence[str] = ()
    target: str = ""

    def preview(self, nexus: Nexus) -> Preview | None:
        """What it would change; None where the words say all."""
        return self.dry_run()

    def write(self, nexus: Nexus) -> Any:
        """Do it."""
        return self.run()


Plan: TypeAlias = Statement | Call


class Act:
    """One kind of act; its address is ``explore/act/NAME/PATH?key=KEY``."""

    name: ClassVar[str]
    access: ClassVar[Access] = "propose"
    """Who only proposes makes a proposal of a statement; a call needs ``write``."""
    template: ClassVar[str] = "explorer/act/act.html"

    def offer(self, on: Subject) -> str | None:
        """The text of the link on the page of an element; None where it has none."""
        raise NotImplementedError

    def refusal(self, on: Subject) -> str | None:
        """Why who looks may not do it, as a sentence; None if they may."""
        return None

    def title(self, on: Subject) -> str:
        """The heading of the form."""
        raise NotImplementedError

    def fields(self, on: Subject, given: Given) -> list[Field]:
        """The fields of the form, with the values that were sent, or those of the element."""
        raise NotImplementedError

    def plan(self, on: Subject, given: Given) -> Plan | None:
        """What the fields ask for; None where a field has to be chosen first.

        Raises ``KipError`` where they ask for nothing sensible.
        """
        raise NotImplementedError

    def subject(self, explorer: Explorer, path: str, key: str) -> Subject:
        """What an address is about: an element; raises ``HttpError`` where that is not there."""
        return of_element(explorer, path, key)

    def check(self, on: Subject) -> None:
        """Raise ``KipError`` where no form is opened: the element, or the key, has none."""
        if on.element is not None and self.offer(on) is None and self.refusal(on) is None:
            message = f"{on.id} has no form for this: {self.name}."
            raise KipError("KIP_2002", message, "Its page has the links to those that it has.")

    def target(self, on: Subject) -> str:
        """The path of the page that is shown when it is done."""
        return f"page/{on.path}"


def of_element(explorer: Explorer, path: str, key: str = "") -> Subject:
    """The element at a percent-encoded path, as it is; 404 where it does not exist."""
    store, node = explorer.store, node_at(explorer.store, path)
    triples = list(store.describe(node))
    element = read_element(store.iris, node, triples)
    if element is None:
        raise no_element()
    on = Subject(explorer, path, key, store.iris.id(node), element, version(element))
    if not on.is_view:
        return on
    # The version of a view is the largest of its members: the change of another does not show.
    return on._replace(version=zlib.crc32("\n".join(sorted(map(str, triples))).encode()))


def form_of(act: Act, path: str, key: str) -> str:
    """The text of which the key of a form is made, beside who acts."""
    return json.dumps(["act", act.name, path, key])


def short(value: Json) -> str:
    """A value in a sentence; "…" stands for the end of a long one.

    >>> short([1, "a"])
    '[1, "a"]'
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SHORT else text[:MOST_SHORT] + "…"


def link(page: ExplorerPage, act: Act, on: Subject, key: str = "") -> str:
    """The address of the form of an act."""
    query = f"?key={quote(key, safe='')}" if key else ""
    return page.href(f"explore/act/{act.name}/{on.path}{query}")


# The two steps --------------------------------------------------------------------------------


def form(act: Act, on: Subject) -> str:
    """The page of an act, with its form; one without fields shows at once what it does."""
    if act.refusal(on) is None and not act.fields(on, {}):
        return shown(act, on, {"version": str(on.version)})[0]
    return _page(act, on, {})


def shown(act: Act, on: Subject, given: Given) -> tuple[str, KipError | None]:
    """The page with what an act will do, or with why it cannot be done, and that error.

    KIP_3005 where the element has changed since the form was opened: the page has what was changed,
    and what the act does to that.
    """
    try:
        plan = act.plan(on, given)
        if plan is None:
            return _page(act, on, given), None
        preview = plan.preview(on.explorer.nexus)
    except KipError as error:
        return failed(act, on, given, error), error
    conflict = _conflict(on, given)
    return _page(act, on, given, plan, preview, conflict), conflict


def failed(act: Act, on: Subject, given: Given, error: KipError) -> str:
    """The page of an act that cannot be done; its form is still that of the version it had."""
    return _page(act, on, given, error=error)


class Written(NamedTuple):
    """What was done: its plan and receipt, and the query of the page that says so."""

    plan: Plan
    receipt: Any
    query: dict[str, str] | None
    target: str
    """The path of the page that is shown."""


def write(act: Act, on: Subject, given: Given) -> Written:
    """Do what was shown; KIP_3005 where the element has changed since.

    The subject has its address only: what is there is read as it is when it is written.
    """
    nexus = on.explorer.nexus
    store = nexus._engine.writer.store

    def run() -> Written:
        now, before = act.subject(on.explorer, on.path, on.key), store.commit()
        conflict = _conflict(now, given)
        if conflict is not None:
            raise conflict
        plan, target = act.plan(now, given), act.target(now)
        if plan is None:
            raise KipError("KIP_1001", "Something is not chosen yet.", "Choose it in the form.")
        receipt, seq = plan.write(nexus), store.commit()
        if isinstance(receipt, dict) and "proposed" in receipt:
            return Written(plan, receipt, {"proposed": receipt["proposed"]}, target)
        query = None if seq == before else {"done": str(seq)}
        return Written(plan, receipt, query, plan.target or target)

    return store.write(run)


def _conflict(on: Subject, given: Given) -> KipError | None:
    if given.get("version") == str(on.version):
        return None
    what = on.id or "What this is about"
    message = f"{what} has changed since the form was opened: nothing is written."
    hint = "Look at what was changed. Write yours on top of it, or leave it as it is."
    return KipError("KIP_3005", message, hint)


def _page(
    act: Act,
    on: Subject,
    given: Given,
    plan: Plan | None = None,
    preview: Preview | None = None,
    error: KipError | None = None,
) -> str:
    explorer, refusal = on.explorer, act.refusal(on)
    assert explorer.acts is not None
    page = explorer.page(f"explore/act/{act.name}/{on.path}")
    seen = {"version": str(on.version), "commit": str(explorer.store.commit())}
    return page.html(
        act.template,
        act.title(on),
        heading=act.title(on),
        of=None if on.element is None else explorer.link(page, on.id),
        back=page.href(act.target(on)),
        action=link(page, act, on, on.key),
        key=explorer.acts.key(form_of(act, on.path, on.key)),
        refusal=refusal,
        # What others changed is shown beside a plan alone.
        hidden_fields=seen if plan or not given else {name: given.get(name, "") for name in seen},
        fields=[] if refusal else [each._asdict() for each in act.fields(on, given)],
        plan=None if plan is None else _plan(page, plan, preview),
        sent=json.dumps({**given, **seen}),
        proposes=not explorer.actor.may("write") or bool(preview and preview.reason),
        theirs=_theirs(page, on, given) if plan is not None and error is not None else None,
        error=None if error is None else _error(error),
    )


def _error(error: KipError) -> View:
    message = list(visible(error.message))
    return {"code": error.code, "message": message, "hint": error.hint}


def _plan(page: ExplorerPage, plan: Plan, preview: Preview | None) -> View:
    """What will be done: a statement or words, and what it changes."""
    changes = None if preview is None else preview.difference.to_json()
    counts = {} if changes is None else changes["counts"]
    has_any = any(number for each in counts.values() for number in each.values())
    statement, parameters = None, ""
    if isinstance(plan, Statement):
        statement = list(visible(plan.text, "\n\t"))
        parameters = json.dumps(plan.parameters, ensure_ascii=False, indent=1)
    rows = [] if changes is None else list(changed(page, changes))
    return {
        "words": list(visible(plan.words)),
        "notes": [list(visible(note)) for note in plan.notes],
        "statement": statement,
        "parameters": list(visible(parameters, "\n")),
        "rows": rows[:_SHOWN],
        "more": time_pages.omitted(len(rows), _SHOWN),
        "is_empty": changes is not None and not has_any,
        "warnings": [] if preview is None else [_warning(one) for one in preview.warnings],
        "reason": None if preview is None or preview.reason is None else _error(preview.reason),
    }


def changed(page: ExplorerPage, changes: dict[str, Any]) -> Iterator[View]:
    """The elements that are changed; of a long text the part that differs."""
    for kind in ("concepts", "propositions"):
        for shown in changes[kind]["changed"]:
            for sides in (
                *shown.get("attributes", {}).values(),
                *shown.get("metadata", {}).values(),
            ):
                sides.update(differing(sides))
    return time_pages.changed_rows(page, changes)


def differing(sides: dict[str, Any]) -> dict[str, Any]:
    """Two long texts, ``before`` and ``after``, cut to where they differ.

    >>> differing({"before": "a" * 300 + "b", "after": "a" * 300 + "c"})["after"]
    '…aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac'
    """
    before, after = sides.get("before"), sides.get("after")
    if not (isinstance(before, str) and isinstance(after, str)):
        return sides
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    first, last = max(0, start - _AROUND), max(0, end - _AROUND)
    if first + last < _LONG:
        return sides

    def cut(text: str) -> str:
        parts = ("…" if first else "", text[first : len(text) - last], "…" if last else "")
        return "".join(parts)

    return {"before": cut(before), "after": cut(after)}


def _common(text: str, other: str) -> int:
    """How many characters two texts begin with that are the same."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))


def _warning(warning: Any) -> View:
    return {"message": list(visible(warning.message)), "hint": warning.hint}


def _theirs(page: ExplorerPage, on: Subject, given: Given) -> list[View]:
    """What others changed since a form was opened, the newest first; empty without a history."""
    since = number_of(given.get("commit", ""))
    if not on.id or on.explorer.nexus.store.journal is None or since is None:
        return []
    entries = on.explorer.nexus.history(on.id)["entries"]
    later = [each for each in entries if each["seq"] > since]
    for entry in later:
        entry["keys"] = [{**item, **differing(item)} for item in entry["keys"]]
    return [time_pages.history_entry(page, on.id, each) for each in later]
