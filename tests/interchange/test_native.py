"""What the engine loads and judges at once is as it would be quad by quad, and refused alike."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

import kiprdf
from kiprdf.interchange import dataset
from kiprdf.interchange.formats import lengths, native, parsing, reading
from kiprdf.rdf import vocab
from tests.interchange.nexuses import colliding, demonstration, hostile, small, thousands
from tests.interchange.test_restore import (
    DEFINITIONS,
    FIRST,
    LINK,
    OTHER,
    REIFIED,
    STATED,
    STATEMENT,
    TREATS,
    A,
    B,
    empty,
)
from tests.nexus.support import facts

PROFILES: tuple[Any, ...] = ("rdf11", "rdf12")
NEXUSES = (small, colliding, hostile, demonstration, lambda: thousands(60))


def outcome(text: str, base: str = "urn:kip:nexus/") -> object:
    """What restoring a text leads to: a dataset, or an error and its place."""
    nexus = empty(base_iri=base)
    try:
        count = nexus.restore(text)
    except kiprdf.KipError as error:
        assert not facts(nexus)
        return error.code, error.message, error.hint, error.span
    return count, frozenset(facts(nexus)), nexus.snapshot()


def slowly(text: str, base: str = "urn:kip:nexus/") -> object:
    """The same, each quad and each link looked at in Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "loaded", lambda *_: None)
        patch.setattr(dataset._Known, "has_sound_links", lambda *_: False)
        return outcome(text, base)


def is_loaded(text: str) -> bool:
    return native.loaded(text, "turtle", parsing.check_tokens(text, "turtle")) is not None


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("made", NEXUSES)
def test_snapshots_are_loaded_at_once_and_are_the_same(made: Any, profile: Any) -> None:
    nexus = made()
    text = nexus.snapshot(profile=profile)
    assert outcome(text, nexus.base_iri) == slowly(text, nexus.base_iri)


@pytest.mark.parametrize("profile", PROFILES)
def test_an_ordinary_snapshot_is_loaded_at_once(profile: Any) -> None:
    assert is_loaded(thousands(60).snapshot(profile=profile))


MARKS = ["_:b", "~", "[]", "()", "<<( ", " )>>", "{| |}", "\r", '"""', "'''", "#", '"', "a", ";",
         ",", " .\n", "<urn:x>", "rdf:Statement", "rdf:subject", "rdf:reifies",
         "@prefix rdf: <urn:y/> .\n",
         "PREFIX x: <urn:z>\n", "@base <urn:b/> .\n", '"x"@de', "1", "NaN", "1.0e0", "\\", "\x00",
         "_score", "rdfs:label", "^^xsd:integer", "meta:_version", "\ufeff"]  # fmt: skip


def damaged(text: str, chance: random.Random) -> str:
    """A text with a few lines, words or characters that are gone, doubled, moved or exchanged."""
    for _ in range(chance.randrange(1, 4)):
        how = chance.randrange(7)
        lines = text.splitlines(keepends=True)
        one, other = (chance.randrange(1, len(lines)) for _ in range(2))
        if how == 0:
            del lines[one]
        elif how == 1:
            lines.insert(other, lines[one])
        elif how == 2:
            lines[one], lines[other] = lines[other], lines[one]
        elif how == 3:
            words, donor = lines[one].split(" "), lines[other].split(" ")
            words[chance.randrange(len(words))] = chance.choice(donor).strip()
            lines[one] = " ".join(words)
        elif how == 4:
            at = chance.randrange(len(lines[one]))
            lines[one] = lines[one][:at] + chance.choice(MARKS) + lines[one][at:]
        elif how == 5:
            at = chance.randrange(len(lines[one]))
            lines[one] = lines[one][:at] + lines[one][at + 1 :]
        else:
            end = min(len(lines), one + chance.randrange(1, 6))
            lines[other:other] = lines[one:end]
        text = "".join(lines)
    return text


@pytest.mark.parametrize("profile", PROFILES)
def test_a_damaged_snapshot_is_refused_as_it_would_be_quad_by_quad(profile: Any) -> None:
    chance = random.Random(20261122)
    texts = [made().snapshot(profile=profile) for made in (small, hostile, lambda: thousands(12))]
    kept = 0
    for _ in range(400):
        text = damaged(chance.choice(texts), chance)
        found = outcome(text)
        assert found == slowly(text), text
        kept += isinstance(found[0], int)  # type: ignore[index]
    assert 20 < kept < 380


ODD = {
    "a statement told twice": STATED + STATEMENT + STATEMENT,
    "a statement of two facts": STATED + STATEMENT + STATEMENT.replace(B, A),
    "a statement and another subject": STATED + STATEMENT + f"{LINK} rdf:subject {B} .",
    "a statement without a type": STATED + STATEMENT.replace("a rdf:Statement ; ", ""),
    "a statement and what it stands for": STATED + STATEMENT + REIFIED,
    "another word for rdf": STATED + "@prefix rdf: <urn:other/> .\n" + STATEMENT,
    "a statement in a long string": f'{A} attr:x """\n{STATEMENT}""" .',
    "a statement in a comment": STATED + REIFIED + f"# {STATEMENT}",
    "a link to itself": f"{A} {TREATS} {A} .\n" + STATEMENT.replace(B, A),
    "a missing end": STATED.replace(B, "<urn:kip:nexus/Drug/C>")
    + STATEMENT.replace(B, "<urn:kip:nexus/Drug/C>"),
    "a fact without a link": STATED,
    "a link without a fact": STATEMENT,
    "two links of one fact": STATED + STATEMENT + STATEMENT.replace(LINK, OTHER),
    "another predicate in the IRI": STATED + STATEMENT.replace("cdef/treats", "cdef/cures"),
    "a link with a label": STATED + STATEMENT + f'{LINK} rdfs:label "x" .',
    "a link with a type": STATED + STATEMENT + f"{LINK} a <urn:kip:nexus/$ConceptType/Drug> .",
    "no link at all": STATED + STATEMENT + '<urn:kip:nexus/$proposition/x/y> attr:x "1" .',
    "a blank subject": STATED + STATEMENT + "[] attr:x 1 .",
    "a nameless reifier": f"{A} {TREATS} {B} ~ .",
    "a blank value": STATED + STATEMENT + f"{A} attr:x _:x .",
    "a ring of links": f"{OTHER} {TREATS} {B} .\n{LINK} {TREATS} {A} .\n"
    f"{LINK} rdf:reifies <<( {OTHER} {TREATS} {B} )>> .\n"
    f"{OTHER} rdf:reifies <<( {LINK} {TREATS} {A} )>> .\n",
    "a link about a link": STATED + REIFIED + f"{LINK} {TREATS} {A} .\n"
    f"{OTHER} rdf:reifies <<( {LINK} {TREATS} {A} )>> .\n",
}


@pytest.mark.parametrize("laid_out", [False, True])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_statements_are_judged_as_they_would_be_quad_by_quad(odd: str, laid_out: bool) -> None:
    text = odd.replace(" ; ", " ;\n    ").replace(" .\n", " ;\n.\n") if laid_out else odd
    assert outcome(DEFINITIONS + text) == slowly(DEFINITIONS + text)


def test_statements_become_reifying_triples_only_where_rdf_is_what_it_says() -> None:
    laid = STATEMENT.replace(" ; ", " ;\n    ").replace(" .\n", " ;\n.\n")

    def told(text: str) -> str:
        return native._reified(text, parsing.check_tokens(text, "turtle"))

    assert "rdf:reifies <<(" in told(FIRST + laid)
    for other in ("@prefix rdf: <urn:other/> .\n", "PREFIX rdf: <urn:o/>\n", "@base <urn:b/> .\n"):
        assert told(FIRST + other + laid) == FIRST + other + laid
        assert told(FIRST + STATED + other + laid) == FIRST + STATED + other + laid


def long_words() -> dict[str, str]:
    prefix = "@prefix p: <urn:" + "x" * 5000 + "/> .\n"
    return {
        "an IRI": f"{A} attr:x <urn:{'y' * 8180}> .",
        "a prefix and a name": prefix + f"{A} attr:x p:{'y' * 4000} .",
        "a language": f'{A} attr:x "x"@{"-".join(["abcdefgh"] * 1000)} .',
    }


@pytest.mark.parametrize("text", long_words().values(), ids=long_words())
def test_what_may_become_too_long_is_not_loaded_at_once(text: str) -> None:
    assert not is_loaded(DEFINITIONS + text)
    assert outcome(DEFINITIONS + text) == slowly(DEFINITIONS + text)


def test_terms_that_become_far_longer_than_the_text_are_not_loaded_at_once() -> None:
    text = FIRST + "@prefix p: <urn:" + "x" * 4000 + "/> .\n"
    text += "".join(f"p:a{number} p:b p:c .\n" for number in range(8000))
    assert not is_loaded(text)
    assert outcome(text)[0] == "KIP_4002"  # type: ignore[index]


def test_a_string_that_reifiers_repeat_counts_as_often() -> None:
    text = FIRST + f'{A} {TREATS} "{"x" * 100_000}"' + " ~ <urn:a>" * 3000 + " ."
    assert not is_loaded(text)
    assert not is_loaded(text.replace('" ~', '"\n ~', 1))


def test_what_is_loaded_at_once_is_never_longer_than_it_may_be() -> None:
    chance = random.Random(3)
    for _ in range(200):
        namespace = "urn:" + "n" * chance.randrange(1, 400) + "/"
        text = f"@prefix p: <{namespace}> .\n"
        for number in range(chance.randrange(1, 40)):
            value = chance.choice(
                [f"p:{number}", '"a\\tb\t\x01"', "1.5e0", '"x"^^p:t', "p:a ~ <urn:r>"]
            )
            text += f"p:s{number} {chance.choice(['a', 'p:p'])} {value} ;\n  p:q {value} , p:r .\n"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lengths, "ALLOWANCE", chance.randrange(0, 40_000))
            patch.setattr(lengths, "GROWTH", chance.randrange(1, 30))
            if not is_loaded(text):
                continue
            # Does not raise.
            list(parsing.quads(text, "turtle"))


def test_a_value_in_another_spelling_is_respelled_when_it_was_loaded_at_once() -> None:
    staged = reading.stage(
        DEFINITIONS + f'{A} attr:x "[1 ,2]"^^rdf:JSON ; attr:y "007"^^xsd:integer .',
        "turtle",
        "urn:kip:nexus/",
    )
    key = NamedNode(vocab.ATTRIBUTE + "x")
    assert staged.objects(key) == [Literal("[1,2]", datatype=vocab.JSON)]
