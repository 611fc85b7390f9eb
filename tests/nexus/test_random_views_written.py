"""Random statements through a view of three members, one of which is written.

What a statement does to the member is computed a second time without a view: on a copy of the
member alone, after what the others have decided whether it is refused.
"""

from __future__ import annotations

import random
import re
from contextlib import suppress
from typing import Any

import pytest

import kiprdf
from kiprdf import Nexus, View
from tests.long_runs import SEED, amount
from tests.nexus.test_writing_views import ticking
from tests.store.unions import DEFINITIONS, NOW, Content, Words, Writing, union

BASES = ("urn:kip:nexus/", "https://b.example/kb/", "urn:kip:nexus/deeper/")
WORDS = Words(predicates=("likes", "near"), names=("a", "b", "Ünï/cödé <urn:kip:nexus/x>"))
OF_ENGINE = ("_version", "_created_at", "_updated_at", "retracted_at")


class Statements(Writing):
    """Those of a history, and some that change what others may have."""

    def any(self) -> str:
        kinds = (self.upsert, self.upsert, self.nested, self.merge, self.delete, self.by_id)
        return self._choose.choice(kinds)()

    def by_id(self) -> str:
        number = self._choose.randint(0, 50)
        return f"""UPSERT {{ CONCEPT ?a {{ {self.concept()} }}
          PROPOSITION {{ (?a, "likes", (id: ":link{number}")) SET ATTRIBUTES {{ size: 1 }} }} }}"""


def links(nexus: Nexus) -> list[str]:
    """The ids of all links."""
    ids: list[str] = nexus.execute("FIND(?f.id) WHERE { ?f (?a, ?p, ?b) } ORDER BY ?f.id")
    return ids


def with_links(text: str, nexus: Nexus) -> str:
    """A statement with the ids of links that a nexus shows."""
    ids = [id for id in links(nexus) if not id.endswith(":belongs_to_domain")]
    return re.sub(r":link(\d+)", lambda match: ids[int(match[1]) % len(ids)], text)


def values_of(nexus: Nexus) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The values of concepts, and of facts by what they state, without versions and times."""
    content = Content(nexus)

    def kept(values: dict[str, Any]) -> dict[str, str]:
        return {key: str(one) for key, one in values.items() if not key.endswith(OF_ENGINE)}

    concepts = {path: kept(values) for path, values in content.concepts.items()}
    return concepts, {content.fact(link): kept(values) for link, values in content.links.items()}


def is_real(content: Content, path: Any) -> bool:
    """Whether a member has more of a concept or a fact than its name."""
    if isinstance(path, str):
        return any(key.startswith("urn:kip:") for key in content.concepts.get(path, ()))
    links = [link for link in content.facts if content.fact(link) == path]
    return bool(links) and "urn:kip:metadata/_mentioned" not in content.links[links[0]]


def named(nexus: Nexus, ids: list[str]) -> list[Any]:
    """The paths of concepts, and the facts of links, by their ids."""
    content = Content(nexus)
    nodes = [nexus.store.iris.from_id(id) for id in ids]
    paths = [content.path(node) for node in nodes]
    return [content.fact(path) if path in content.facts else path for path in paths]


def targets(text: str, nexus: Nexus) -> list[str]:
    """The ids of what a statement would change."""
    match = re.search(r"(?:UPDATE|CONCEPT|PROPOSITIONS|FROM|INTO) \?(\w+)", text)
    assert match is not None
    where = text[text.index("WHERE") :]
    variables = ("old", "new") if text.startswith("MERGE") else (match[1],)
    with suppress(kiprdf.KipError):
        return [id for name in variables for id in nexus.execute(f"FIND(?{name}.id) {where}") if id]
    return []


@pytest.mark.parametrize("number", range(amount("WRITTEN_VIEWS", 1)))
def test_a_view_writes_what_its_member_alone_would(number: int) -> None:
    choose = random.Random(f"{SEED} {number}")
    members = [Nexus.memory(base, clock=ticking(at)) for at, base in enumerate(BASES)]
    statements = Statements(choose, WORDS)
    for at, member in enumerate(members):
        member.execute(DEFINITIONS, text=f"text {at}")
        for _ in range(choose.randint(2, 8)):
            statements.write(member)
    written = choose.choice(members)
    others = [member for member in members if member is not written]
    for one, name in zip(members, "abc", strict=True):
        one.store.scope = name
    view = View(members, write=written, base_iri=choose.choice(BASES), clock=lambda: NOW)
    outcomes = {"written": 0, "KIP_3004": 0}
    for _ in range(amount("WRITTEN_VIEW_STEPS", 9)):
        if choose.random() < 0.2:
            statements.write(choose.choice(others))
        before = [member.snapshot() for member in others]
        outcome = step(with_links(statements.any(), view), view, written, members)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        assert [member.snapshot() for member in others] == before
        assert view.snapshot() == union(members, view.base_iri).snapshot()
    assert written.check()["faults"] == view.check()["faults"] == []
    assert outcomes["written"], outcomes


def step(text: str, view: Nexus, written: Nexus, members: list[Nexus]) -> str:
    """Run a statement through a view, and compare what it does to the member; its outcome."""
    before, contents = values_of(written), [Content(member) for member in members]
    alone = Nexus.memory(written.base_iri, genesis=False)
    alone.restore(written.snapshot())
    seen = Nexus(view.store.copy(), genesis=False)
    concerned = [] if text.startswith("UPSERT") else named(seen, targets(text, seen))
    own = contents[members.index(written)]
    elsewhere = [one for one in contents if one is not own]
    tried = outcome_of(view, text, dry_run=True)
    assert values_of(written) == before
    outcome = outcome_of(view, text)
    assert tried == outcome, text
    after = values_of(written)
    if isinstance(outcome, str):
        assert after == before, text
        foreign = [
            path
            for path in concerned
            if not is_real(own, path) and any(is_real(one, path) for one in elsewhere)
        ]
        # A key may be that of another scope although the element is not.
        assert outcome != "KIP_3004" or foreign or "DELETE ATTRIBUTES" in text, text
        return outcome
    if match := re.search(r'\(id: "([^"]+)"\)', text):
        [fact] = named(seen, [match[1]])
        check_named(fact, before, after)
    else:
        with suppress(kiprdf.KipError):
            alone.execute(text)
        assert after == values_of(alone), text
    if "upsert_concept_nodes" in outcome:
        ids = outcome["upsert_concept_nodes"] + outcome["upsert_proposition_links"]
        assert {*named(view, ids)} <= {*after[0], *after[1]}, text
    return "written"


def check_named(fact: Any, before: Any, after: Any) -> None:
    """That a statement has written one fact about another, and the names in it."""
    [stated] = [
        one
        for one, values in after[1].items()
        if one[2] == fact and values != before[1].get(one) and "_mentioned" not in str(values)
    ] or [None]
    assert stated is None or after[1][stated]["urn:kip:attribute/size"].startswith('"1"')
    for kind, new in zip(before, after, strict=True):
        assert all(new[path] == kind[path] for path in kind if path != stated)
        added = [new[path] for path in new if path not in kind and path != stated]
        # The type and the name of a concept, or the marks of a fact that is only named.
        assert all(len(values) == 2 for values in added), added


def outcome_of(nexus: Nexus, text: str, **options: Any) -> Any:
    """The receipt of a statement, or the code of its error."""
    try:
        return nexus.execute(text, **options)
    except kiprdf.KipError as error:
        return error.code
