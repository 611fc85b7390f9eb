"""Views: the union of nexuses, which follows their commits."""

from __future__ import annotations

import gc
import random
import signal
import threading
import weakref
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyoxigraph import Triple

import kiprdf
from kiprdf import Nexus, View
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import proposition_digits
from kiprdf.store import Delta
from tests.long_runs import SEED, amount
from tests.store.unions import DEFINITIONS, NOW, Writing, answers, searches, union

BASES = (None, "https://b.example/kb/", "urn:kip:nexus/deeper/")


def ticking(start: int) -> object:
    """A clock that goes on by a second at each call."""
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=start)

    def tick() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    return tick


def assert_same(view: Nexus, members: list[Nexus], *, thoroughly: bool = False) -> None:
    """That a view has what its members have; and, thoroughly, that it answers all questions so."""
    expected = union(members, view.base_iri)
    assert view.snapshot() == expected.snapshot()
    questions = answers if thoroughly else searches
    for (question, answer), (_, other) in zip(questions(view), questions(expected), strict=True):
        assert answer == other, question
    if thoroughly:
        report = view.check()
        assert report["faults"] == []
        assert report["index"] == "sound"


@pytest.mark.parametrize("number", range(amount("VIEWS", 3)))
def test_a_view_answers_as_the_union_of_its_members(number: int) -> None:
    choose = random.Random(f"{SEED} {number}")
    bases = [choose.choice(BASES) for _ in range(choose.choice((1, 2, 2, 3)))]
    members = [
        Nexus.memory(base, history=choose.random() < 0.5, clock=ticking(at))
        for at, base in enumerate(bases)
    ]
    writing = Writing(choose)
    for at, member in enumerate(members):
        member.execute(DEFINITIONS, text=f"text {at}")
        for _ in range(choose.randint(0, 12)):
            writing.write(member)
    view = View(members, base_iri=choose.choice(BASES), clock=lambda: NOW)
    assert_same(view, members)
    for _ in range(amount("VIEW_STEPS", 3)):
        for _ in range(choose.randint(1, 5)):
            writing.write(choose.choice(members))
        assert_same(view, members)
    assert_same(view, members, thoroughly=True)
    assert View(members, base_iri=view.base_iri).snapshot() == view.snapshot()


# One by one ---------------------------------------------------------------------------------------

ADA = '{type: "Person", name: "Ada"}'


def keys(nexus: Nexus, name: str = "Ada") -> dict[str, object]:
    """The attributes of a person; empty for one without any, and for nobody."""
    text = 'FIND(?p.attributes) WHERE { ?p {type: "Person"} FILTER(?p.name == :n) }'
    rows = nexus.execute(text, n=name)
    return dict(rows[0] or {}) if rows else {}


def person(nexus: Nexus, name: str = "Ada", **attributes: object) -> None:
    text = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES :attributes } }'
    nexus.execute(text, name=name, attributes=attributes)


def knows(nexus: Nexus, one: str, other: str, **attributes: object) -> None:
    nexus.execute(
        """UPSERT {
          CONCEPT ?a { {type: "Person", name: :one} } CONCEPT ?b { {type: "Person", name: :other} }
          PROPOSITION { (?a, "knows", ?b) SET ATTRIBUTES :attributes }
        }""",
        one=one,
        other=other,
        attributes=attributes,
    )


def test_the_later_member_has_the_value_of_a_key() -> None:
    team, ada = Nexus.memory(clock=ticking(0)), Nexus.memory(clock=ticking(10))
    view, other_way = View([team, ada]), View([ada, team])
    person(team, age=36, role="poet")
    person(ada, age=37, hobby="chess")
    person(ada, hobby="go")
    assert keys(view) == {"age": 37, "role": "poet", "hobby": "go"}
    assert keys(other_way) == {"age": 36, "role": "poet", "hobby": "go"}
    [metadata] = view.execute(f"FIND(?p.metadata) WHERE {{ ?p {ADA} }}")
    created = team.execute(f"FIND(?p.metadata._created_at) WHERE {{ ?p {ADA} }}")
    updated = ada.execute(f"FIND(?p.metadata._updated_at) WHERE {{ ?p {ADA} }}")
    assert [metadata["_created_at"], metadata["_updated_at"]] == [*created, *updated]
    assert metadata["_version"] == 2
    # The earlier value shows again.
    ada.execute(f'DELETE ATTRIBUTES {{"age"}} FROM ?p WHERE {{ ?p {ADA} }}')
    assert keys(view)["age"] == keys(other_way)["age"] == 36
    ada.execute(f"DELETE CONCEPT ?p DETACH WHERE {{ ?p {ADA} }}")
    assert keys(view) == {"age": 36, "role": "poet"}
    team.execute(f"DELETE CONCEPT ?p DETACH WHERE {{ ?p {ADA} }}")
    assert keys(view) == {}
    assert team.execute('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }') == 2


def test_links_are_united() -> None:
    team, ada = Nexus.memory(), Nexus.memory(base_iri="https://ada.example/")
    view = View([team, ada])
    knows(team, "Ada", "Bo", since=2001, place="Paris")
    knows(ada, "Ada", "Bo", since=2002)
    rows = view.find('FIND(?f.id, ?f.attributes) WHERE { ?f (?a, "knows", ?b) }').tuples()
    assert [values for _, values in rows] == [{"since": 2002, "place": "Paris"}]
    assert rows[0][0] == team.execute('FIND(?f.id) WHERE { ?f (?a, "knows", ?b) }')[0]
    assert view.execute('FIND(COUNT(?f)) WHERE { ?f (?a, "knows", ?b) }') == 1
    assert (
        view.sparql(
            "SELECT (COUNT(*) AS ?n) WHERE { ?a <%s> ?b }"
            % (team.base_iri + "$PropositionType/knows")
        )
        .tuples()[0][0]
        .value
        == "1"
    )


def test_a_fact_keeps_one_link_after_a_merge() -> None:
    team, ada = Nexus.memory(), Nexus.memory()
    knows(team, "Ada", "Bo", of="team")
    knows(ada, "Ada", "Bob", of="ada")
    person(ada, "Bo")
    [natural] = team.execute('FIND(?f.id) WHERE { ?f (?a, "knows", ?b) }')
    [kept] = ada.execute('FIND(?f.id) WHERE { ?f (?a, "knows", ?b) }')
    view, other_way = View([team, ada]), View([ada, team])
    assert view.execute('FIND(COUNT(?f)) WHERE { ?f (?a, "knows", ?b) }') == 2
    merge = 'MERGE CONCEPT ?x INTO ?y WHERE { ?x {name: "Bob"} ?y {name: "Bo"} }'
    ada.execute(merge)
    find = 'FIND(?f.id, ?b.name, ?f.attributes.of) WHERE { ?f (?a, "knows", ?b) }'
    assert natural != kept
    assert [*view.find(find).tuples()] == [(kept, "Bo", "ada")]
    assert [*other_way.find(find).tuples()] == [(natural, "Bo", "team")]
    # The id is that of another fact in a later member: this one gets the id of its ends.
    carl = Nexus.memory()
    knows(carl, "Ada", "Bob", of="carl")
    both = View([ada, carl])
    assert sorted(both.find(find).tuples()) == sorted(
        [(kept, "Bob", "carl"), (natural, "Bo", "ada")]
    )
    assert both.check()["faults"] == []


def test_definitions_of_both_are_one() -> None:
    one, other = Nexus.memory(), Nexus.memory()
    for nexus, text in ((one, "first"), (other, "second")):
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Book"} '
            "SET ATTRIBUTES {description: :text} } }",
            text=text,
        )
    view = View([one, other])
    assert view.execute('DESCRIBE CONCEPT TYPE "Book"')["attributes"]["description"] == "second"
    assert view.execute('FIND(COUNT(?p)) WHERE { ?p {type: "Person", name: "$self"} }') == 1
    with pytest.raises(kiprdf.KipError, match="KIP_2001"):
        view.execute('FIND(?x) WHERE { ?x {type: "Film"} }')
    other.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Film"} } }')
    assert view.execute('FIND(?x) WHERE { ?x {type: "Film"} }') == []


def test_strictness_belongs_to_the_members() -> None:
    strict, loose = Nexus.memory(strict_schema=True), Nexus.memory()
    view = View([strict, loose])
    person(loose, x=1)  # which lacks what the schema requires
    with pytest.raises(kiprdf.KipError, match="lacks the required attribute"):
        person(strict, x=1)
    assert keys(view) == keys(View([loose, strict])) == {"x": 1}


def test_nothing_is_written_to_a_view() -> None:
    nexus = Nexus.memory(history=True)
    view = View([nexus])
    person(nexus, age=1)
    for write in (
        lambda: person(view, age=2),
        lambda: view.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {name: "Ada"} }'),
        lambda: view.apply_capsule('UPSERT { CONCEPT { {type: "Person", name: "Eve"} } }'),
        lambda: view.import_rdf("<urn:a> a <urn:b> .", format="turtle", define=True),
        lambda: view.restore(nexus.snapshot()),
        lambda: view.forget(["C:Person/Ada"]),
        lambda: view.transaction(lambda tx: tx.execute('UPSERT { CONCEPT {name: "x"} }')),
        lambda: view.undo(seq=1),
        lambda: view.compact_history(1),
        lambda: view.optimize(),
        lambda: view.changes(1),
        lambda: view.at(1),
    ):
        with pytest.raises(kiprdf.KipError, match=r"KIP_1001 .*view") as refused:
            write()
        assert "member" in str(refused.value) or "time" in str(refused.value)
    assert keys(view) == keys(nexus) == {"age": 1}
    assert view.read_only


def test_members_are_checked() -> None:
    rdflib = pytest.importorskip("rdflib")
    nexus = Nexus.memory()
    for members in ([], [nexus, nexus], [nexus, Nexus.connect(rdflib.Graph())], nexus, ["x"]):
        with pytest.raises(kiprdf.KipError, match="KIP_1001"):
            View(members)  # type: ignore[arg-type]
    with pytest.raises(kiprdf.StoreError, match="is not an absolute IRI"):
        View([nexus], base_iri="x")


def test_a_folder_is_a_member_once(tmp_path: object) -> None:
    with Nexus.open(f"{tmp_path}/a") as nexus:
        same = Nexus.open(f"{tmp_path}/a", read_only=True)
        with pytest.raises(kiprdf.KipError, match="twice"):
            View([nexus, same])
        same.close()


def test_a_closed_member_is_named() -> None:
    team, ada = Nexus.memory(), Nexus.memory()
    view = View([team, ada])
    person(ada)
    assert view.execute(f"FIND(COUNT(?p)) WHERE {{ ?p {ADA} }}") == 1
    ada.close()
    answer = view.execute_kip({"command": f"FIND(?p) WHERE {{ ?p {ADA} }}"})
    assert answer["error"]["code"] == "KIP_4003"
    assert answer["error"]["message"] == "Member 2 of this view was closed."
    view.close()
    view.close()
    person(team)  # the store has no follower that is closed
    with pytest.raises(kiprdf.KipError, match="closed"):
        view.find('FIND(?x) WHERE { ?x {type: "Person"} }')


def test_a_view_may_be_a_member() -> None:
    team, ada, bo = Nexus.memory(), Nexus.memory(), Nexus.memory("https://bo.example/")
    inner = View([team, ada])
    outer = View([inner, bo])
    person(team, a=1, b=1, c=1)
    assert keys(outer) == {"a": 1, "b": 1, "c": 1}
    person(ada, b=2, c=2)
    person(bo, c=3)
    assert keys(outer) == {"a": 1, "b": 2, "c": 3}
    assert keys(inner) == {"a": 1, "b": 2, "c": 2}
    team.forget(["C:Person/Ada"])
    assert keys(outer) == {"b": 2, "c": 3}


@pytest.mark.parametrize("is_folder", [False, True])
def test_members_are_followed_through_everything(tmp_path: object, is_folder: bool) -> None:
    def opened(name: str) -> Nexus:
        if is_folder:
            return Nexus.open(f"{tmp_path}/{name}")
        return Nexus.memory(history=True)

    team, ada = opened("team"), opened("ada")
    view = View([team, ada])
    knows(team, "Ada", "Bo")
    knows(ada, "Ada", "Carl", text="a zebra word")
    assert_same(view, [team, ada])
    assert len(view.execute('SEARCH PROPOSITION "zebra"')) == 1
    ada.forget('FIND(?p) WHERE { ?p {name: "Carl"} }')
    assert view.execute('SEARCH PROPOSITION "zebra"') == []
    assert "zebra" not in view.snapshot()
    assert_same(view, [team, ada])
    team.undo(seq=team.info()["commit"])
    assert_same(view, [team, ada])
    knows(team, "Ada", "Dora")
    team.compact_history(team.info()["commit"])
    team.optimize()
    assert_same(view, [team, ada])
    ada.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ada"} }')
    snapshot = team.snapshot()
    ada.close()
    with opened("eve") as eve:
        view = View([eve, team])
        assert_same(view, [eve, team])
        eve.restore(snapshot)
        assert_same(view, [eve, team])


def test_readers_see_whole_commits_of_members_that_are_written() -> None:
    members = [Nexus.memory(), Nexus.memory(history=True)]
    view = View(members)
    faults: list[str] = []

    def write(member: Nexus, at: int) -> None:
        for number in range(40):
            knows(member, f"{at} {number}", f"{at} {number + 1}")  # two people, or one more
            knows(member, "hub", f"{at} {number}", number=number)

    def read() -> None:
        last = 0
        while any(thread.is_alive() for thread in writers):
            text = 'FIND(COUNT(?f), COUNT(?a)) WHERE { ?f (?a, "knows", ?b) }'
            links, ends = view.execute(text)
            if links < last or links != ends:
                faults.append(f"{links} links after {last}, {ends} ends")
            last = links

    writers = [
        threading.Thread(target=write, args=pair) for pair in zip(members, (0, 1), strict=True)
    ]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in (*writers, *readers):
        thread.start()
    for thread in (*writers, *readers):
        thread.join()
    assert faults == []
    assert view.execute('FIND(COUNT(?f)) WHERE { ?f (?a, "knows", ?b) }') == 160
    assert_same(view, members)


def test_a_writer_may_read_the_view_of_its_nexus() -> None:
    """A thread that holds the lock of a member reads the view while another one follows it."""
    members = [Nexus.memory(), Nexus.memory()]
    view = View(members)
    counted: list[int] = []

    def write(member: Nexus) -> None:
        def add(tx: object) -> None:
            counted.append(len(view.find('FIND(?p) WHERE { ?p {type: "Person"} }')))
            tx.write([{"type": "Person", "name": f"{id(member)} {len(counted)}"}])  # type: ignore[attr-defined]

        for _ in range(25):
            member.transaction(add)

    threads = [threading.Thread(target=write, args=(member,)) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()
    assert len(counted) == 50
    assert_same(view, members)


def test_a_read_only_member_stays_as_it_was_opened(tmp_path: object) -> None:
    with Nexus.open(f"{tmp_path}/a") as nexus:
        person(nexus, age=1)
        with Nexus.open(f"{tmp_path}/a", read_only=True) as reader, View([reader]) as view:
            person(nexus, age=2)
            assert keys(view) == keys(reader) == {"age": 1}


def test_a_view_as_of_a_time() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    team = Nexus.memory(history=True, clock=lambda: moment)
    person(team, age=1)
    moment = datetime(2026, 2, 1, tzinfo=UTC)
    ada = Nexus.memory(history=True, clock=lambda: moment)
    person(ada, "Bo", age=5)
    person(team, age=2)
    view = View([team, ada])
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    person(ada, age=3)
    at = """FIND(?p.name, ?p.attributes.age)
      WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 0) }"""
    for time, ages in (
        ("2026-01-15T00:00:00Z", {"Ada": 1}),
        ("2026-02-15T00:00:00Z", {"Ada": 2, "Bo": 5}),
        ("2026-03-15T00:00:00Z", {"Ada": 3, "Bo": 5}),
    ):
        with view.at(time) as past:
            assert dict(past.find(at).tuples()) == ages
            person(team, age=9)  # the past does not change
            team.undo(seq=team.info()["commit"])
            assert dict(past.find(at).tuples()) == ages
        answer = view.execute_kip({"command": at, "as_of": {"time": time}})
        assert "result" in answer, answer
        assert dict(zip(*answer["result"], strict=True)) == ages
    for when, code in (("2025-01-01T00:00:00Z", "KIP_3002"), (3, "KIP_1001"), ("x", "KIP_1001")):
        with pytest.raises(kiprdf.KipError, match=code):
            view.at(when)
    with pytest.raises(kiprdf.KipError, match="KIP_1001 This nexus has no history"):
        View([Nexus.memory(), ada]).at("2026-03-15T00:00:00Z")


def test_earlier_states_are_members() -> None:
    nexus = Nexus.memory(history=True)
    person(nexus, age=1)
    with nexus.at(nexus.info()["commit"]) as past, View([past, Nexus.memory()]) as view:
        person(nexus, age=2)
        assert keys(view) == {"age": 1}
        with View([past, nexus]) as both:
            assert keys(both) == {"age": 2}


def test_a_view_that_nothing_refers_to_is_gone() -> None:
    nexus = Nexus.memory()
    before = len(nexus.store.followers)  # type: ignore[attr-defined]
    view = View([nexus])
    assert len(nexus.store.followers) == before + 1  # type: ignore[attr-defined]
    store = weakref.ref(view.store)
    del view
    gc.collect()
    assert store() is None
    assert len(nexus.store.followers) == before  # type: ignore[attr-defined]


def test_facts_about_facts_are_nested_deeply() -> None:
    """A thousand facts, each about the one before; the first of them changes by a MERGE."""
    team, ada = Nexus.memory(), Nexus.memory(base_iri="https://ada.example/")
    for nexus in (team, ada):
        nexus.execute(DEFINITIONS, text="")
        knows(nexus, "Ada", "Bo")
        person(nexus, "Bob")
        iris = nexus.store.iris
        [link] = nexus.execute('FIND(?f.id) WHERE { ?f (?a, "knows", ?b) }')
        last, added = iris.from_id(link), []
        subject, predicate = iris.concept("Person", "$self"), iris.predicate("stated")
        for _ in range(1_010):
            assert last is not None
            digits = proposition_digits(iris.id(subject), "stated", iris.id(last))
            about = iris.proposition(digits, "stated")
            added.append((subject, predicate, last))
            added.append((about, vocab.REIFIES, Triple(subject, predicate, last)))
            last = about
        store = nexus.store
        store.write(lambda: store.apply(Delta((), tuple(added))))  # noqa: B023
    view = View([team, ada])
    count = 'FIND(COUNT(?f)) WHERE { ?f (?a, "stated", ?b) }'
    assert view.execute(count) == 1_010
    ada.execute('MERGE CONCEPT ?x INTO ?y WHERE { ?x {name: "Bo"} ?y {name: "Bob"} }')
    assert view.execute(count) == 2_020  # each is about another fact now
    assert View([team, ada]).snapshot() == view.snapshot()
    assert view.check()["faults"] == []


@pytest.mark.parametrize("number", range(amount("INTERRUPTS", 12) // 4))
def test_an_interrupt_leaves_nothing_behind(number: int) -> None:
    """A signal handler raises while a member is written or the view follows."""
    choose = random.Random(f"{SEED} interrupt {number}")
    members = [Nexus.memory(), Nexus.memory()]
    view = View(members)

    is_armed = False

    def handle(*args: object) -> None:
        if is_armed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handle)
    try:
        for step in range(6):
            is_armed = True
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, choose.uniform(0.0001, 0.006))
                try:
                    knows(choose.choice(members), "Ada", f"friend {step}", step=step)
                    view.snapshot()
                finally:
                    is_armed = False
            is_armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert view.snapshot() == union(members, view.base_iri).snapshot()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_damaged_member_says_so(tmp_path: Path) -> None:
    nexus = Nexus.open(tmp_path / "a")
    view = View([nexus, Nexus.memory()])
    person(nexus, age=1)
    assert keys(view) == {"age": 1}
    nexus.optimize()  # the view is built again
    for path in (tmp_path / "a").glob("graph*/*.sst"):
        path.write_bytes(bytes(path.stat().st_size))
    answer = view.execute_kip({"command": 'FIND(?p) WHERE { ?p {type: "Person"} }'})
    assert answer["error"]["code"] == "KIP_4003"
    assert "cannot be read: Corruption" in answer["error"]["message"]
    view.close()
    with suppress(kiprdf.StoreError):
        nexus.close()
    with Nexus.open(tmp_path / "a") as nexus:  # from its history
        assert keys(View([nexus, Nexus.memory()])) == {"age": 1}


def test_a_view_is_backed_up(tmp_path: Path) -> None:
    team, ada = Nexus.memory(), Nexus.memory()
    view = View([team, ada])
    person(ada, age=1)
    view.backup(tmp_path / "copy")
    with Nexus.open(tmp_path / "copy") as copy:
        assert copy.snapshot() == view.snapshot()
        person(copy, age=2)
    assert keys(view) == {"age": 1}
