"""N-Triples and N-Quads: a triple a line, in RDF 1.2 with triple terms. Streams behind sorting.

The default graph of N-Quads is written as N-Triples is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.interchange.formats.names import Profile
from kiprdf.interchange.formats.ordering import Output, blocks, header, in_full, quoted
from kiprdf.interchange.formats.profiles import direction, to_profile
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

Term: TypeAlias = NamedNode | BlankNode | Literal | Triple


def write(triples: Iterable[Triple], output: Output, iris: Iris, profile: Profile) -> None:
    """Write a dataset in a profile, sorted, behind a comment that names the base."""
    output.write(f"# {header(iris)}\n")
    for subject, own in blocks(triples, iris, partial(to_profile, profile=profile)):
        beginning = _term(subject)
        lines = (f"{beginning} {_term(t.predicate)} {_term(t.object)} .\n" for t in own)
        output.write("".join(lines))
        output.count(len(own))


def _term(term: Term) -> str:
    if isinstance(term, NamedNode):
        return in_full(term.value)
    if isinstance(term, Literal):
        return _literal(term)
    if isinstance(term, Triple):
        return f"<<( {_term(term.subject)} {_term(term.predicate)} {_term(term.object)} )>>"
    return f"_:{term.value}"


def _literal(literal: Literal) -> str:
    text = quoted(literal.value)
    if literal.language is not None:
        towards = "" if literal.direction is None else f"--{direction(literal)}"
        return f"{text}@{literal.language}{towards}"
    datatype = literal.datatype
    return text if datatype == vocab.STRING else f"{text}^^{in_full(datatype.value)}"
