"""Snapshots that were edited or damaged: each is restored whole or refused, and leaves nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode

import kiprdf
from kiprdf.rdf import vocab
from tests.interchange.nexuses import hostile, small, thousands
from tests.interchange.test_restore import (
    DEFINITIONS,
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
from tests.long_runs import amount
from tests.nexus.support import facts, restored_from

DAMAGED = amount("DAMAGES", 1) * 40
"""How often each form of a snapshot is damaged."""
PROFILES: tuple[Any, ...] = ("rdf11", "rdf12")


def outcome(text: str) -> int | str:
    """The number of restored elements, or the code of the error."""
    nexus = empty()
    try:
        count = nexus.restore(text)
    except kiprdf.KipError as error:
        assert not facts(nexus)
        return error.code
    # What is restored is a dataset of a nexus: it is written and restored again.
    assert empty().restore(nexus.snapshot()) == count
    return count


INSERTED = ["_:b", "~", "[]", "()", "<<( ", " )>>", "{| |}", "\r", '"""', "'''", "#", '"', "a", ";",
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
            lines[one] = lines[one][:at] + chance.choice(INSERTED) + lines[one][at:]
        elif how == 5:
            at = chance.randrange(len(lines[one]))
            lines[one] = lines[one][:at] + lines[one][at + 1 :]
        else:
            end = min(len(lines), one + chance.randrange(1, 6))
            lines[other:other] = lines[one:end]
        text = "".join(lines)
    return text


@pytest.mark.parametrize("profile", PROFILES)
def test_a_damaged_snapshot_is_restored_or_refused(profile: Any) -> None:
    chance = random.Random(20261122)
    texts = [made().snapshot(profile=profile) for made in (small, hostile, lambda: thousands(12))]
    outcomes = [outcome(damaged(chance.choice(texts), chance)) for _ in range(DAMAGED)]
    assert 0.05 < sum(isinstance(outcome, int) for outcome in outcomes) / DAMAGED < 0.95
    assert "KIP_4003" not in outcomes


LONG = "@prefix p: <urn:" + "x" * 5000 + "/> .\n"
ODD: dict[str, tuple[str, int | str]] = {
    "a statement written twice": (STATED + STATEMENT + STATEMENT, 5),
    "a statement of two facts": (STATED + STATEMENT + STATEMENT.replace(B, A), "KIP_2002"),
    "a statement and another subject": (
        STATED + STATEMENT + f"{LINK} rdf:subject {B} .",
        "KIP_2002",
    ),
    "a statement without a type": (
        STATED + STATEMENT.replace("a rdf:Statement ; ", ""),
        "KIP_2002",
    ),
    "a statement and what it stands for": (STATED + STATEMENT + REIFIED, 5),
    "another word for rdf": (STATED + "@prefix rdf: <urn:other/> .\n" + STATEMENT, "KIP_2002"),
    "a statement in a long string": (f'{A} attr:x """\n{STATEMENT}""" .', 4),
    "a statement in a comment": (STATED + REIFIED + f"# {STATEMENT}", 5),
    "a link to itself": (f"{A} {TREATS} {A} .\n" + STATEMENT.replace(B, A), 5),
    "a missing end": (
        STATED.replace(B, "<urn:kip:nexus/Drug/C>")
        + STATEMENT.replace(B, "<urn:kip:nexus/Drug/C>"),
        "KIP_3002",
    ),
    "a fact without a link": (STATED, "KIP_2002"),
    "a link without a fact": (STATEMENT, "KIP_2002"),
    "two links of one fact": (STATED + STATEMENT + STATEMENT.replace(LINK, OTHER), "KIP_3003"),
    "another predicate in the IRI": (
        STATED + STATEMENT.replace("cdef/treats", "cdef/cures"),
        "KIP_2002",
    ),
    "a link with a label": (STATED + STATEMENT + f'{LINK} rdfs:label "x" .', "KIP_2002"),
    "a link with a type": (
        STATED + STATEMENT + f"{LINK} a <urn:kip:nexus/$ConceptType/Drug> .",
        "KIP_2002",
    ),
    "no link at all": (
        STATED + STATEMENT + '<urn:kip:nexus/$proposition/x/y> attr:x "1" .',
        "KIP_2002",
    ),
    "a blank subject": (STATED + STATEMENT + "[] attr:x 1 .", "KIP_2002"),
    "a nameless reifier": (f"{A} {TREATS} {B} ~ .", "KIP_2002"),
    "a blank value": (STATED + STATEMENT + f"{A} attr:x _:x .", "KIP_2002"),
    "a ring of links": (
        f"{OTHER} {TREATS} {B} .\n{LINK} {TREATS} {A} .\n"
        f"{LINK} rdf:reifies <<( {OTHER} {TREATS} {B} )>> .\n"
        f"{OTHER} rdf:reifies <<( {LINK} {TREATS} {A} )>> .\n",
        "KIP_2002",
    ),
    "a link about a link": (
        STATED + REIFIED + f"{LINK} {TREATS} {A} .\n"
        f"{OTHER} rdf:reifies <<( {LINK} {TREATS} {A} )>> .\n",
        6,
    ),
    "an IRI": (f"{A} attr:x <urn:{'y' * 8180}> .", "KIP_2002"),
    "a prefix and a name": (LONG + f"{A} attr:x p:{'y' * 4000} .", "KIP_4002"),
    "a language": (f'{A} attr:x "x"@{"-".join(["abcdefgh"] * 1000)} .', "KIP_4002"),
}
BY_LINES = {"another word for rdf", "a statement in a comment", "a prefix and a name"}


@pytest.mark.parametrize("name", ODD)
def test_odd_statements_are_judged_wherever_their_lines_end(name: str) -> None:
    text, expected = ODD[name]
    assert outcome(DEFINITIONS + text) == expected
    if name not in BY_LINES:
        text = text.replace(" ; ", " ;\n    ").replace(" .\n", " ;\n.\n")
        assert outcome(DEFINITIONS + text) == expected


def test_terms_that_become_far_longer_than_the_text_are_refused() -> None:
    text = DEFINITIONS + "@prefix p: <urn:" + "x" * 4000 + "/> .\n"
    text += "".join(f"p:a{number} p:b p:c .\n" for number in range(8000))
    assert outcome(text) == "KIP_4002"


def test_a_string_that_reifiers_repeat_counts_as_often() -> None:
    text = DEFINITIONS + f'{A} {TREATS} "{"x" * 100_000}"' + " ~ <urn:a>" * 3000 + " ."
    assert outcome(text) == "KIP_4002"


def test_a_value_in_another_form_is_normalized() -> None:
    nexus = restored_from(
        DEFINITIONS + f'{A} attr:x "[1 ,2]"^^rdf:JSON ; attr:y "007"^^xsd:integer .'
    )
    key = NamedNode(vocab.ATTRIBUTE + "x")
    (quad,) = nexus.store.engine.quads_for_pattern(None, key, None, DefaultGraph())
    assert quad.object == Literal("[1,2]", datatype=vocab.JSON)
