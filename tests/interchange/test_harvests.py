"""Imports that replace what an earlier import under the same source stated."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
from rdflib import Graph
from rdflib.compare import isomorphic

import kiprdf
from tests.cases import each_case
from tests.long_runs import SEED, amount

PREFIXES = """@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <https://data.example/> .
"""
FIRST = f"""{PREFIXES}
:levels a :Dataset ; dcterms:title "Levels" ; :keyword "river" ; :publisher :office .
:rain a :Dataset ; dcterms:title "Rain" ; :publisher :office .
:office a :Office ; dcterms:title "Office" .
"""
SECOND = f"""{PREFIXES}
:levels a :Dataset ; dcterms:title "Levels" ; :publisher :agency .
:agency a :Office ; dcterms:title "Agency" .
"""
NOTHING = {"concepts": 0, "propositions": 0}


def harvest(nexus: kiprdf.Nexus, text: str, source: str = "cat", **options: Any) -> dict[str, Any]:
    """Import a text that replaces, after a dry run with the same report; return what it ended."""
    options = {"define": True, "source": source, "replace": True, **options}
    tried = nexus.import_rdf(text, dry_run=True, **options)
    report = nexus.import_rdf(text, **options)
    assert report == tried
    return dict(report["replaced"])


def changes(replaced: dict[str, Any]) -> dict[str, list[str]]:
    """The names of elements by what happened to them."""
    by_change: dict[str, list[str]] = {}
    for one in replaced["elements"]:
        by_change.setdefault(one["change"], []).append(one["element"])
    return by_change


def is_home(nexus: kiprdf.Nexus, *texts: str) -> bool:
    written = nexus.snapshot(mapping="original", only="imported")
    return isomorphic(Graph().parse(data=written), Graph().parse(data="\n".join(texts)))


def attributes(nexus: kiprdf.Nexus, name: str) -> Any:
    return nexus.execute("FIND(?d.attributes) WHERE { ?d {name: :name} }", name=name)[0]


def held(nexus: kiprdf.Nexus) -> list[str]:
    """The datasets that are believed."""
    command = 'FIND(?d.name) WHERE { ?d {type: "Dataset"} } ORDER BY ?d.name'
    return list(nexus.execute(kiprdf.believed(command)))


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(FIRST, source="cat", define=True)
    return nexus


def test_what_a_source_no_longer_states_is_superseded_and_restored(nexus: kiprdf.Nexus) -> None:
    replaced = harvest(nexus, SECOND)
    assert replaced["superseded"] == {"concepts": 2, "propositions": 2}
    assert (replaced["removed"], replaced["restored"], replaced["values"]) == (NOTHING, NOTHING, 1)
    assert changes(replaced) == {
        "superseded": [
            "Dataset:Rain",
            "Office:Office",
            "(Dataset:Levels, publisher, Office:Office)",
            "(Dataset:Rain, publisher, Office:Office)",
        ],
        "values removed": ["Dataset:Levels"],
    }
    assert held(nexus) == ["Levels"]
    (mark,) = nexus.execute('FIND(?d.metadata) WHERE { ?d {type: "Dataset", name: "Rain"} }')
    assert (mark["superseded"], mark["no_longer_in"]) == (True, "cat")
    assert mark["superseded_at"] >= mark["imported_at"]
    assert is_home(nexus, SECOND)
    assert harvest(nexus, SECOND)["elements"] == []

    assert changes(harvest(nexus, FIRST))["restored"][:2] == ["Dataset:Rain", "Office:Office"]
    assert held(nexus) == ["Levels", "Rain"]
    (mark,) = nexus.execute('FIND(?d.metadata) WHERE { ?d {type: "Dataset", name: "Rain"} }')
    assert not {"superseded", "superseded_at", "no_longer_in"} & mark.keys()
    assert is_home(nexus, FIRST)
    other = kiprdf.Nexus.memory()
    other.restore(nexus.snapshot())
    assert not nexus.diff(other)


def test_what_another_source_states_stays(nexus: kiprdf.Nexus) -> None:
    other = f"""{PREFIXES}
    :rain a :Dataset ; dcterms:title "Rain" ; :keyword "sky" ; :publisher :office .
    :levels a :Dataset ; :keyword "water" . :office a :Office ; dcterms:title "Office" ."""
    nexus.import_rdf(other, source="other", define=True)
    assert attributes(nexus, "Levels")["keyword"] == "water"
    assert changes(harvest(nexus, SECOND)) == {
        "superseded": ["(Dataset:Levels, publisher, Office:Office)"]
    }
    assert held(nexus) == ["Levels", "Rain"]
    assert attributes(nexus, "Levels")["keyword"] == "water"
    assert harvest(nexus, FIRST)["superseded"] == {"concepts": 1, "propositions": 1}
    # The other source overwrote the value again, and ends: the one that is stated is restored.
    nexus.import_rdf(other, source="other", define=True)
    assert changes(harvest(nexus, PREFIXES, "other")) == {
        "values removed": ["Dataset:Levels", "Dataset:Rain"]
    }
    assert attributes(nexus, "Levels")["keyword"] == "river"
    assert is_home(nexus, FIRST)


def test_what_people_wrote_stays(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        """UPSERT {
          CONCEPT ?rain { {type: "Dataset", name: "Rain"} SET ATTRIBUTES { note: "mine" } }
          CONCEPT ?ada { {type: "Person", name: "Ada"} }
          CONCEPT ?office { {type: "Office", name: "Office"} }
          PROPOSITION { (?ada, "knows", ?office) }
        }"""
    )
    nexus.execute(
        'UPDATE ?l SET METADATA { author: "Ada" } '
        'WHERE { ?l ({name: "Rain"}, "publisher", ?office) }'
    )
    replaced = changes(harvest(nexus, SECOND))
    assert replaced == {
        "superseded": ["(Dataset:Levels, publisher, Office:Office)"],
        "values removed": ["Dataset:Levels", "Dataset:Rain", "Office:Office"],
    }
    assert attributes(nexus, "Rain") == {"note": "mine", "same_as": "https://data.example/rain"}
    assert held(nexus) == ["Levels", "Rain"]
    assert is_home(nexus, SECOND)


def test_values_that_people_changed_stay(nexus: kiprdf.Nexus) -> None:
    nexus.execute('UPDATE ?d SET ATTRIBUTES { keyword: "lake" } WHERE { ?d {name: "Levels"} }')
    assert harvest(nexus, SECOND)["values"] == 0
    assert attributes(nexus, "Levels")["keyword"] == "lake"


def test_a_value_that_a_person_corrected_stays_until_the_source_has_another(
    nexus: kiprdf.Nexus,
) -> None:
    nexus.execute('UPDATE ?d SET ATTRIBUTES { keyword: "lake" } WHERE { ?d {name: "Levels"} }')
    assert harvest(nexus, FIRST)["elements"] == []
    assert attributes(nexus, "Levels")["keyword"] == "lake"
    harvest(nexus, FIRST.replace('"river"', '"rivers"'))
    assert attributes(nexus, "Levels")["keyword"] == "rivers"


def test_a_value_of_another_source_that_a_person_changed_is_not_restored(
    nexus: kiprdf.Nexus,
) -> None:
    nexus.execute('UPDATE ?d SET ATTRIBUTES { keyword: "lake" } WHERE { ?d {name: "Levels"} }')
    keyword = f'{PREFIXES} :levels a :Dataset ; :keyword "water" .'
    assert harvest(nexus, keyword, "other")["elements"] == []
    assert harvest(nexus, PREFIXES, "other")["values"] == 1
    assert "keyword" not in attributes(nexus, "Levels")


def test_what_another_source_says_of_the_same_things_ends_with_it(nexus: kiprdf.Nexus) -> None:
    # A class that is not the type of the concept, and the IRI of a reifier.
    other = f"""{PREFIXES}
    :levels a :Series ; dcterms:title "Levels" ; :publisher :office .
    :office a :Office ; dcterms:title "Office" .
    :s a rdf:Statement ; rdf:subject :levels ; rdf:predicate :publisher ; rdf:object :office ."""
    harvest(nexus, other, "other")
    assert "<https://data.example/s>" in nexus.snapshot(mapping="original", format="ntriples")
    harvest(nexus, FIRST)
    harvest(nexus, other, "other")
    harvest(nexus, PREFIXES, "other")
    assert is_home(nexus, FIRST)


def test_facts_about_facts_end_with_them() -> None:
    about = f"""{PREFIXES} :a a :T . :b a :T . :a :p :b . :r rdf:reifies <<( :a :p :b )>> .
    :r :said :b . :s rdf:reifies <<( :r :said :b )>> . :s :said :a ."""
    less = f"{PREFIXES} :a a :T . :b a :T ."
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(about, source="cat", define=True)
    assert harvest(nexus, less)["superseded"] == {"concepts": 0, "propositions": 3}
    assert is_home(nexus, less)
    assert harvest(nexus, about)["restored"] == {"concepts": 0, "propositions": 3}
    nexus.execute(
        'UPSERT { CONCEPT ?e { {type: "Event", name: "E"} } '
        'PROPOSITION { (?e, "mentions", ({type: "T", name: "a"}, "p", {type: "T", name: "b"})) } }'
    )
    # An event mentions the fact.
    assert harvest(nexus, less)["superseded"] == {"concepts": 0, "propositions": 2}


def test_what_a_person_rejected_or_retracted_is_left_out(nexus: kiprdf.Nexus) -> None:
    (link,) = nexus.execute('FIND(?l.id) WHERE { ?l ({name: "Levels"}, "publisher", ?o) }')
    nexus.reject(link, reason="They stopped.")
    nexus.reject(("C:Dataset/Levels", "attributes.keyword", "river"), reason="It is a lake.")
    nexus.execute('UPDATE ?d SET METADATA { status: "retracted" } WHERE { ?d {name: "Rain"} }')
    for _ in range(2):
        report = nexus.import_rdf(FIRST, source="cat", define=True, replace=True)
        assert report["skipped"] == [
            {"triple": "C:Dataset/Levels keyword", "reason": "a person has rejected it"},
            {"triple": link, "reason": "a person has rejected it"},
        ]
        assert report["replaced"]["elements"] == []
    assert "keyword" not in attributes(nexus, "Levels")
    assert held(nexus) == ["Levels"]
    with pytest.raises(kiprdf.KipError, match="KIP_3004"):
        nexus.import_rdf(FIRST, source="cat", define=True)


def test_a_fact_that_a_person_superseded_stays_so(nexus: kiprdf.Nexus) -> None:
    superseded = 'UPDATE ?d SET METADATA { superseded: true } WHERE { ?d {name: "Rain"} }'
    nexus.execute(superseded)
    for text in (FIRST, SECOND, FIRST):
        harvest(nexus, text)
        assert held(nexus) == ["Levels"]


def test_merged_concepts_stay_one() -> None:
    text = FIRST.replace(":publisher :office", ":keyword 'x'", 1)
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(text, source="cat", define=True)
    nexus.execute('MERGE CONCEPT ?s INTO ?t WHERE { ?s {name: "Rain"} ?t {name: "Levels"} }')
    assert harvest(nexus, text)["elements"] == []
    assert is_home(nexus, text)
    assert changes(harvest(nexus, SECOND))["superseded"] == [
        "Office:Office", "(Dataset:Levels, publisher, Office:Office)"
    ]  # fmt: skip
    harvest(nexus, text)
    assert is_home(nexus, text)


def test_files_that_replace_are_what_the_source_states_together(tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.memory()
    files: list[Any] = [tmp_path / "a.ttl", io.StringIO(SECOND)]
    files[0].write_text(FIRST, "utf-8")
    (report,) = nexus.import_rdf(files, source="cat", replace=True, define=True)["documents"]
    assert report["source"] == "cat"
    assert is_home(nexus, FIRST, SECOND)
    assert harvest(nexus, SECOND)["superseded"] == {"concepts": 2, "propositions": 2}


def test_several_files_need_a_source_and_errors_name_the_file(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.ttl", tmp_path / "bad.ttl"
    good.write_text(FIRST, "utf-8")
    bad.write_text("broken", "utf-8")
    nexus = kiprdf.Nexus.memory()
    with pytest.raises(kiprdf.KipError, match="KIP_1001 A document that replaces needs a source"):
        nexus.import_rdf([good, good], define=True, replace=True)
    with pytest.raises(kiprdf.KipError, match=r"KIP_1001 1:1 bad\.ttl: "):
        nexus.import_rdf([good, bad], define=True, source="cat", replace=True)
    assert nexus.info()["concepts"] == kiprdf.Nexus.memory().info()["concepts"]


def test_the_name_of_a_file_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "cat.ttl"
    path.write_text(FIRST, "utf-8")
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(path, define=True)
    path.write_text(SECOND, "utf-8")
    report = nexus.import_rdf(path, define=True, replace=True)
    assert report["replaced"]["superseded"] == {"concepts": 2, "propositions": 2}
    assert is_home(nexus, SECOND)
    with pytest.raises(kiprdf.KipError, match="KIP_1001 A document that replaces needs a source"):
        nexus.import_rdf(FIRST, replace=True)
    assert nexus.import_rdf(PREFIXES, source="cat.ttl", replace=True)["warnings"] == [
        "The document has no triples: all that 'cat.ttl' stated ends."
    ]
    assert held(nexus) == []


def test_another_import_states_again_what_had_ended(nexus: kiprdf.Nexus) -> None:
    harvest(nexus, SECOND)
    nexus.import_rdf(FIRST)
    assert held(nexus) == ["Levels", "Rain"]
    assert harvest(nexus, SECOND)["elements"] == []
    assert held(nexus) == ["Levels", "Rain"]


def test_an_ontology_and_its_data_are_taken_in_one_call() -> None:
    text = f"""{PREFIXES} @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    <https://data.example/> a owl:Ontology ; rdfs:label "Boats" ; dcterms:creator <urn:ada> .
    :Boat a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :mast ;
        owl:minCardinality 1 ] .
    :mast a owl:DatatypeProperty ; rdfs:domain :Boat ; rdfs:range xsd:string .
    :joy a :Boat ; :mast "tall" ."""
    nexus = kiprdf.Nexus.memory()
    tried = nexus.import_rdf(text, ontology=True, dry_run=True)
    assert nexus.info() == kiprdf.Nexus.memory().info() | {"base_iri": nexus.base_iri}
    report = nexus.import_rdf(text, ontology=True)
    assert report == tried
    assert report["definitions"] == {"concept_types": ["Boat"], "predicates": []}
    assert report["concepts"] == {"created": 1, "updated": 0, "unchanged": 0}
    assert not [one for one in report["skipped"] if "import it as" in one["reason"]]
    assert is_home(nexus, text)
    assert nexus.import_rdf(text, ontology=True)["concepts"]["unchanged"] == 1
    with pytest.raises(kiprdf.KipError, match="KIP_1001 1:"):
        kiprdf.Nexus.memory().import_rdf("<relative> a <urn:T> .", ontology=True)


LINK = ":levels a :Dataset . :office a :Office . :levels :publisher :office ."


def reified(number: int) -> str:
    """A reifier of the link, with a value."""
    fact = "rdf:subject :levels ; rdf:predicate :publisher ; rdf:object :office"
    return f":s{number} a rdf:Statement ; {fact} ; :since {number} ."


MOVED = LINK.replace(":office", ":agency")


def moved(number: int) -> str:
    """The same reifier of another link."""
    return reified(number).replace(":office", ":agency")


@each_case(
    "first, second",
    [
        (":levels a :Dataset ; :k 1 .", ":levels a :Series ; :k 1 ."),
        (":levels a :Dataset, :Series .", ":levels a :Series ."),
        (LINK + reified(1), LINK + reified(2)),
        (LINK + reified(1) + reified(2), LINK + reified(2) + reified(3)),
        (LINK + reified(1) + reified(2), LINK),
    ],
)
def test_types_and_reifiers_of_one_source_end_with_it(
    first: str, second: str, tmp_path: Path
) -> None:
    files = {name: tmp_path / f"{name}.ttl" for name in "ab"}
    for one, two in (("a", first), ("b", second)), (("b", second), ("a", first)):
        texts = dict([one, two])
        nexus = kiprdf.Nexus.memory()
        for _ in range(2):
            for name, text in texts.items():
                files[name].write_text(PREFIXES + text)
                replaced = harvest(nexus, str(files[name]), name)
        assert replaced["elements"] == []
        assert is_home(nexus, PREFIXES, *texts.values())
        before = nexus.snapshot()
        assert harvest(nexus, str(files["a"]), "a")["elements"] == []
        assert nexus.snapshot() == before
        files["a"].write_text(PREFIXES)
        for _ in range(2):
            harvest(nexus, str(files["a"]), "a")
            assert is_home(nexus, PREFIXES, texts["b"])
        harvest(nexus, PREFIXES + texts["a"].replace(reified(1), reified(4)), "a")
        harvest(nexus, PREFIXES + texts["a"].replace(reified(1), reified(5)), "a")
        assert is_home(nexus, PREFIXES, texts["a"].replace(reified(1), reified(5)), texts["b"])


@each_case(
    "days",
    [
        [("a", LINK + reified(1)), ("b", LINK + reified(2)), ("b", LINK + reified(3))],
        [("b", LINK + reified(1)), ("a", LINK + reified(2)), ("b", LINK), ("a", "")],
        [
            ("a", LINK + reified(1) + reified(2)),
            ("b", LINK + reified(4) + reified(3)),
            ("a", LINK + reified(2)),
        ],
        [
            ("a", LINK + reified(1) + reified(2)),
            ("b", LINK + reified(3)),
            ("a", MOVED + moved(1) + moved(2)),
        ],
        [("a", LINK), ("b", LINK + reified(1)), ("b", LINK + reified(1) + reified(2)), ("b", "")],
        [
            ("a", ":levels a :Dataset ."),
            ("b", ":levels a :Series, :Map ."),
            ("c", ":levels a :Map, :Sheet ."),
            ("b", ":levels a :Series ."),
            ("c", ""),
        ],
    ],
)
def test_what_ends_leaves_what_other_sources_say_of_the_same_things(
    days: list[tuple[str, str]],
) -> None:
    nexus, texts = kiprdf.Nexus.memory(), dict[str, str]()
    for source, text in days:
        texts[source] = text
        harvest(nexus, PREFIXES + text, source)
        assert is_home(nexus, PREFIXES, *texts.values())
        before = nexus.snapshot()
        assert harvest(nexus, PREFIXES + text, source)["elements"] == []
        assert nexus.snapshot() == before


# Any documents --------------------------------------------------------------------------------

VALUES = ['"a"', '"b", "c"', "1.10", '"2020-01-01"^^xsd:date', '"q"@de', "<http://x/>", "( 1 2 )"]
NAMES = ["d0", "d1", "d2", "d3"]


def catalogue(number: random.Random) -> str:
    """A random document of datasets with links, reified links, blank nodes and lists."""
    lines = [PREFIXES]
    there = [name for name in NAMES if number.random() < 0.7] or NAMES[:1]
    for name in there:
        others = [one for one in there if one != name]
        lines.append(f":{name} a :Dataset ; dcterms:title '{name}{number.choice('xy')}'@en .")
        for key in ("keyword", "size", "label"):
            if number.random() < 0.6:
                lines.append(f":{name} :{key} {number.choice(VALUES)} .")
        if others and number.random() < 0.7:
            end = number.choice(others)
            lines.append(f":{name} :publisher :{end} .")
            for reifier in ("[]", f":s{name}"):
                if number.random() < 0.4:
                    fact = f"rdf:subject :{name} ; rdf:predicate :publisher ; rdf:object :{end}"
                    since = number.choice("12")
                    lines.append(f"{reifier} a rdf:Statement ; {fact} ; :since {since} .")
        if number.random() < 0.4:
            lines.append(f":{name} :part [ a :Part ; :of [ a :Sum ; :v {number.choice('12')} ] ] .")
        if others and number.random() < 0.4:
            number.shuffle(others)
            lines.append(f":{name} :order ( {' '.join(':' + one for one in others)} ) .")
    return "\n".join(lines)


def test_harvests_converge() -> None:
    for seed in range(SEED, SEED + amount("HARVESTS", 2)):
        number = random.Random(seed)
        days = [catalogue(number) for _ in range(3)]
        nexus = kiprdf.Nexus.memory()
        for day in (0, 1, 2, 0, 1):
            harvest(nexus, days[day])
            assert is_home(nexus, days[day]), (seed, day)
            assert harvest(nexus, days[day])["elements"] == [], (seed, day)
