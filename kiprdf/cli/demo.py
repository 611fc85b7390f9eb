"""The demo: load example knowledge, run queries, write a Turtle snapshot."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from kiprdf import resources
from kiprdf.cli import inputs, output, tables
from kiprdf.cli.failures import Failure, writing
from kiprdf.interchange.formats.reading import base_of
from kiprdf.nexus import Nexus

SHOWN_LINES = 25

QUESTIONS = (
    (
        "What treats a headache and is not an NSAID?  NOT removes matches.",
        """\
FIND(?drug.name, ?drug.attributes.risk_level)
WHERE {
  (?drug, "treats", {type: "Symptom", name: "Headache"})
  NOT { (?drug, "is_class_of", {type: "DrugClass", name: "NSAID"}) }
}
ORDER BY ?drug.attributes.risk_level ASC""",
    ),
    (
        "What do these drugs interact with?  OPTIONAL gives null if nothing matches.",
        """\
FIND(?drug.name, ?other.name)
WHERE {
  (?drug, "treats", {type: "Symptom", name: "Headache"})
  OPTIONAL { (?drug, "interacts_with", ?other) }
}
ORDER BY ?drug.name ASC""",
    ),
    (
        "How many drugs does each class contain, over any number of hops?",
        """\
FIND(?class.name, COUNT(DISTINCT ?drug))
WHERE {
  (?drug, "is_class_of", ?direct)
  (?direct, "is_subclass_of"{0,}, ?class)
}
ORDER BY COUNT(DISTINCT ?drug) DESC
LIMIT 6""",
    ),
    (
        "Who stated which fact?  A proposition can refer to a proposition.",
        """\
FIND(?who.name, ?fact, ?statement.metadata.confidence)
WHERE {
  ?fact (?drug, "treats", ?symptom)
  ?statement (?who, "stated", ?fact)
}""",
    ),
)

_NEXT = """\
What to try next:
  kiprdf load medical        load the same knowledge into the folder ./nexus
  kiprdf shell               run your own commands; .help lists the shell's commands
  kiprdf run 'SEARCH CONCEPT "aspirin"'
  kiprdf run 'DESCRIBE PRIMER'
  kiprdf explain 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
  kiprdf --help"""


def run_demo(target: Path) -> None:
    """Run the demo and write the snapshot to a file."""
    _refuse_other_file(target)
    with Nexus.memory() as nexus:
        _heading("1. Load a knowledge capsule")
        added = inputs.apply(nexus, resources.example_capsule("medical").text)
        output.show_text(
            f"The bundled capsule medical.kip, a small pharmacy, into a new nexus in memory:\n"
            f"{added}. This is an illustration, not medical advice.\n"
        )
        _heading("2. Query it with KIP")
        for question, command in QUESTIONS:
            _show_question(nexus, question, command)
        _heading("3. Export everything as Turtle")
        with writing(target):
            text = nexus.snapshot(target)
    lines = text.splitlines()
    output.show_text(f"Wrote {target.resolve()}, {len(lines)} lines. The first lines:\n")
    output.show_code("\n".join(lines[:SHOWN_LINES]), "turtle", crop=True)
    output.show_text("…\n")
    output.show_text(_NEXT)


def _heading(text: str) -> None:
    output.show_text(Text(f"{text}\n", "bold"))


def _show_question(nexus: Nexus, question: str, command: str) -> None:
    """Print a question in English and in KIP, and its answer."""
    output.show_text(f"// {question}")
    output.show_text(output.KipHighlighter()(Text(command)))
    rows = nexus.find(command)
    output.show(tables.table(rows.columns, rows.tuples(), output.console()))
    output.show_text("")


def _refuse_other_file(target: Path) -> None:
    """Overwrite an earlier snapshot, but no other file; refuse what is no place of a file."""
    if target.is_dir() or not target.parent.is_dir():
        reason = "it is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise Failure(f"{target} cannot be written: {reason}.")
    if target.is_file():
        with target.open("rb") as file:
            beginning = file.read(200).decode("utf-8", "replace")
        if beginning and base_of(beginning, "turtle") is None:
            raise Failure(f"{target} exists and is not a snapshot; choose another file with --out.")
