"""Writes N-Triples and N-Quads: one triple per line, in RDF 1.2 with triple terms.

A dataset has one graph, so its N-Quads are its N-Triples. The text of a term is that of the engine;
characters that people and other tools do not see are escaped as well.
"""

from __future__ import annotations

import re

from kiprdf.interchange import n_triples
from kiprdf.interchange.formats.ordering import (
    UNSHOWN,
    Dataset,
    Memo,
    header,
    node_name,
    predicate_of,
)
from kiprdf.interchange.formats.output import Output
from kiprdf.rdf.iris import Iris

_UNSHOWN = re.compile(f"[{UNSHOWN}]")


def write(dataset: Dataset, output: Output, iris: Iris) -> None:
    """Write a dataset, sorted, after a comment that names the base."""
    output.write(f"# {header(iris)}\n")
    predicates = Memo(lambda key: _node(predicate_of(key)))
    objects = Memo(_text)
    for subject, entries in dataset.blocks(iris):
        beginning = _node(subject)
        lines = [f"{beginning} {predicates[key]} {objects[value]} .\n" for key, value in entries]
        output.write("".join(lines))
        output.count(len(entries))


def _text(text: str) -> str:
    if text.startswith("<<("):
        return f"<<( {' '.join(map(_text, n_triples.parts(text)))} )>>"
    return node_name(text) if text.startswith("_:") else _escaped(text)


def _node(name: str) -> str:
    return name if name.startswith("_:") else _escaped(f"<{name}>")


def _escaped(text: str) -> str:
    return text if text.isascii() else _UNSHOWN.sub(lambda c: f"\\u{ord(c.group()):04X}", text)
