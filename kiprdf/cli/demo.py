"""The demonstration: example knowledge goes in, questions are answered, Turtle comes out."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from kiprdf import resources
from kiprdf.cli import inputs, output, tables
from kiprdf.cli.failures import Failure, writing
from kiprdf.interchange import formats
from kiprdf.nexus import Nexus

SHOWN_LINES = 25

QUESTIONS = (
    (
        "What helps against a headache and is no NSAID?  NOT takes answers away.",
        """\
FIND(?drug.name, ?drug.attributes.risk_level)
WHERE {
  (?drug, "treats", {type: "Symptom", name: "Headache"})
  NOT { (?drug, "is_class_of", {type: "DrugClass", name: "NSAID"}) }
}
ORDER BY ?drug.attributes.risk_level ASC""",
    ),
    (
        "What must not be combined with them, if anything?  OPTIONAL leaves null.",
        """\
FIND(?drug.name, ?other.name)
WHERE {
  (?drug, "treats", {type: "Symptom", name: "Headache"})
  OPTIONAL { (?drug, "interacts_with", ?other) }
}
ORDER BY ?drug.name ASC""",
    ),
    (
        "How many drugs stand below each class, over any number of hops?",
        """\
FIND(?class.name, COUNT(DISTINCT ?drug))
WHERE {
  (?drug, "is_class_of", ?own)
  (?own, "is_subclass_of"{0,}, ?class)
}
ORDER BY COUNT(DISTINCT ?drug) DESC
LIMIT 6""",
    ),
    (
        "Who stated which fact?  A link may point at a link.",
        """\
FIND(?who.name, ?fact, ?said.metadata.confidence)
WHERE {
  ?fact (?drug, "treats", ?symptom)
  ?said (?who, "stated", ?fact)
}""",
    ),
)

_NEXT = """\
What to try next:
  kiprdf load medical        the same knowledge into the folder ./nexus, to stay
  kiprdf shell               ask it yourself; .help shows how
  kiprdf run 'SEARCH CONCEPT "aspirin"'
  kiprdf run 'DESCRIBE PRIMER'
  kiprdf explain 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
  kiprdf --help"""


def run_demo(target: Path) -> None:
    """Show everything, then write the snapshot."""
    _refuse_foreign(target)
    with Nexus.memory() as nexus:
        _tell("1. A knowledge capsule goes in")
        added = inputs.apply(nexus, resources.example_capsule("medical").text)
        output.show_text(
            f"The bundled capsule medical.kip, a small pharmacy, into a new nexus in memory:\n"
            f"{added}. An illustration, no medical advice.\n"
        )
        _tell("2. Questions in KIP")
        for question, command in QUESTIONS:
            _ask(nexus, question, command)
        _tell("3. Everything comes out as Turtle")
        with writing(target):
            text = nexus.snapshot(target)
    lines = text.splitlines()
    output.show_text(f"Wrote {target.resolve()}, {len(lines)} lines. It begins:\n")
    output.show_code("\n".join(lines[:SHOWN_LINES]), "turtle", crop=True)
    output.show_text("…\n")
    output.show_text(_NEXT)


def _tell(heading: str) -> None:
    output.show_text(Text(f"{heading}\n", "bold"))


def _ask(nexus: Nexus, question: str, command: str) -> None:
    """Show a question in words, in KIP, and its answer."""
    output.show_text(f"// {question}")
    output.show_text(output.KipHighlighter()(Text(command)))
    rows = nexus.find(command)
    output.show(tables.table(rows.columns, rows.tuples, output.console()))
    output.show_text("")


def _refuse_foreign(target: Path) -> None:
    """Keep a file that no snapshot is; an earlier snapshot may be written over."""
    if target.is_file():
        with target.open("rb") as file:
            beginning = file.read(200).decode("utf-8", "replace")
        if beginning and formats.base_of(beginning, "turtle") is None:
            raise Failure(f"{target} exists and is no snapshot; name another file with --out.")
