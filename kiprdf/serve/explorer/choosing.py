"""The fields of forms in which people choose an element by words."""

from __future__ import annotations

from typing import NamedTuple

from kiprdf.kml.draft import version
from kiprdf.pages.page import View, render
from kiprdf.pages.page import name as cut
from kiprdf.rdf.elements import Concept, attribute, read_element
from kiprdf.serve.explorer.acting import Field, Given
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.page import ExplorerPage
from kiprdf.serve.state import number_of

MOST = 12
"""The elements of which people choose."""
NEW = "new"
"""What is chosen for a concept that does not exist yet."""
NAMES = ("other", "predicate")
"""The names of these fields."""
PREDICATE = "$PropositionType"
_ABOUT = 120


class Chosen(NamedTuple):
    """What people chose: the id of an element, and the version that they saw."""

    id: str
    version: int


def chosen(given: Given, name: str) -> str:
    """The value that was chosen for the words that are in a field now; "" for none."""
    is_same = given.get(f"{name}_asked") == given.get(name)
    return given.get(f"{name}_is", "") if is_same else ""


def element_of(value: str) -> Chosen | None:
    """The element that a value names."""
    text, _, id = value.partition(" ")
    seen = number_of(text)
    return Chosen(id, seen) if seen is not None and id else None


def search_field(
    explorer: Explorer,
    given: Given,
    name: str,
    label: str,
    note: str = "",
    type: str = "",
    types: tuple[str, ...] = (),
) -> Field:
    """A field of words, with what they may mean once they were sent.

    ``type`` is the only one that is searched; a new concept may be of each of the ``types``.
    """
    text = given.get(name, "")
    listed = candidates(explorer, name, text, type, is_new=bool(types)) if text.strip() else None
    if listed is not None:
        listed["chosen"] = chosen(given, name) or listed["chosen"]
    choices = [(one, one) for one in types]
    new_type = given.get(f"{name}_type", "")
    return Field(name, label, "search", text, choices, True, note, listed, type, new_type)


def candidates(
    explorer: Explorer, name: str, text: str, type: str = "", *, is_new: bool = False
) -> View:
    """The elements that words may mean: one with that id, those of that name, and what a search
    lists."""
    find = _predicates if type == PREDICATE else _concepts
    ids = [text.strip(), *find(explorer, text.strip(), type)]
    page = explorer.page("explore/choices")
    shown = [_candidate(explorer, page, id, type) for id in dict.fromkeys(ids)]
    options = [one for one in shown if one is not None][:MOST]
    same = [one for one in options if one["name"] == text.strip()]
    first = same[0]["value"] if len(same) == 1 else options[0]["value"] if len(options) == 1 else ""
    return {
        "name": name,
        "asked": text,
        "options": options,
        "new": text.strip() if is_new else None,
        "chosen": first or (NEW if is_new and not options else ""),
    }


def _predicates(explorer: Explorer, text: str, type: str) -> list[str]:
    """The predicates whose names have all words of a text."""
    iris, asked = explorer.store.iris, text.casefold().replace("_", " ").split()
    names = sorted(explorer.nexus._engine.writer.catalog().predicates)
    listed = (name for name in names if all(word in name.casefold() for word in asked))
    return [iris.id(iris.predicate(name)) for name in listed]


def _concepts(explorer: Explorer, text: str, type: str) -> list[str]:
    """The concepts of a name, and those that a search lists."""
    iris, nexus = explorer.store.iris, explorer.nexus
    if type:
        ids = [iris.id(iris.concept(type, text))]
        search, given = "SEARCH CONCEPT :text WITH TYPE :type", {"text": text, "type": type}
    else:
        command = f"FIND(?x.id) WHERE {{ ?x {{name: :text}} }} LIMIT {MOST}"
        ids = [id for (id,) in nexus.find(command, entail=False, text=text).tuples()]
        search, given = "SEARCH CONCEPT :text", {"text": text}
    request = {"command": f"{search} LIMIT {MOST}", "parameters": given}
    answer = nexus.execute_kip_readonly(request)
    return [*ids, *(hit["id"] for hit in answer.get("result") or ())]


def _candidate(explorer: Explorer, page: ExplorerPage, id: str, type: str) -> View | None:
    store = explorer.store
    node = store.iris.from_id(id)
    element = None if node is None else read_element(store.iris, node, store.describe(node))
    if element is None or (type and not (isinstance(element, Concept) and element.type == type)):
        return None
    about = attribute(element, "description")
    concept = element if isinstance(element, Concept) else None
    return {
        "value": f"{version(element)} {id}",
        "link": explorer.link(page, id),
        "name": concept and concept.name,
        "type": concept.type if concept else "fact",
        "about": cut(about, _ABOUT) if isinstance(about, str) else "",
    }


def choices(explorer: Explorer, name: str, text: str, type: str, is_new: bool) -> str:
    """The candidates alone, for a script that asks as people type."""
    if name not in NAMES or not text.strip():
        return ""
    listed = candidates(explorer, name, text, type, is_new=is_new)
    return render("explorer/act/choices.html", listed=listed)
