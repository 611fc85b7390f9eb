"""N-Triples and N-Quads: a triple a line, in RDF 1.2 with triple terms.

A dataset has one graph, so its N-Quads are its N-Triples. The text of a term is that of the engine;
only characters that people and other tools do not see are escaped besides.
"""

from __future__ import annotations

import re

from pyoxigraph import BlankNode, Triple

from kiprdf.interchange.formats.ordering import UNSHOWN, Dataset, header, node_name
from kiprdf.interchange.formats.output import Output
from kiprdf.interchange.staging_store import Term
from kiprdf.rdf.iris import Iris

_UNSHOWN = re.compile(f"[{UNSHOWN}]")


def write(dataset: Dataset, output: Output, iris: Iris) -> None:
    """Write a dataset, sorted, after a comment that names the base."""
    output.write(f"# {header(iris)}\n")
    for subject, own in dataset.blocks(iris, _text):
        beginning = _node(subject)
        output.write("".join([f"{beginning} {_node(name)} {text} .\n" for name, _, text in own]))
        output.count(len(own))


def _text(term: Term) -> str:
    if isinstance(term, Triple):
        return f"<<( {' '.join(map(_text, term))} )>>"
    return node_name(term) if isinstance(term, BlankNode) else _escaped(str(term))


def _node(name: str) -> str:
    return name if name.startswith("_:") else _escaped(f"<{name}>")


def _escaped(text: str) -> str:
    return text if text.isascii() else _UNSHOWN.sub(lambda c: f"\\u{ord(c.group()):04X}", text)
