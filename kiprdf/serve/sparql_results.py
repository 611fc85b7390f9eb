"""Writes the results of SELECT and ASK (SPARQL 1.1 and 1.2 Query Results JSON, XML, CSV, TSV)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from kiprdf.rdf import vocab
from kiprdf.rows import Rows
from kiprdf.serve.replies import HttpError, to_json

Term: TypeAlias = NamedNode | BlankNode | Literal | Triple
_JSON = "application/sparql-results+json"
_XML = "application/sparql-results+xml"
_ITS = "http://www.w3.org/2005/11/its"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DIRECTIONS = {BaseDirection.LTR: "ltr", BaseDirection.RTL: "rtl"}


def select_json(rows: Rows) -> bytes:
    """Solutions in JSON (SPARQL 1.2 Query Results JSON Format §3.2)."""
    names = _names(rows)
    bindings = [
        {
            name: _json_term(term)
            for name, term in zip(names, cells, strict=True)
            if term is not None
        }
        for cells in rows.tuples
    ]
    return to_json({"head": {"vars": names}, "results": {"bindings": bindings}})


def _json_term(term: Term) -> dict[str, Any]:
    if isinstance(term, NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.value}
    if isinstance(term, Triple):
        parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
        return {"type": "triple", "value": {key: _json_term(part) for key, part in parts.items()}}
    content = {"type": "literal", "value": term.value}
    if term.language is not None:
        content["xml:lang"] = term.language
        if term.direction is not None:
            content["its:dir"] = _DIRECTIONS[term.direction]
    elif term.datatype != vocab.STRING:
        content["datatype"] = term.datatype.value
    return content


def select_xml(rows: Rows) -> bytes:
    """Solutions in XML (SPARQL 1.2 Query Results XML Format §2.3)."""
    names = _names(rows)
    head = "".join(f"<variable name={quoteattr(name)}/>" for name in names)
    results = []
    for cells in rows.tuples:
        bindings = "".join(
            f"<binding name={quoteattr(name)}>{_xml_term(term)}</binding>"
            for name, term in zip(names, cells, strict=True)
            if term is not None
        )
        results.append(f"<result>{bindings}</result>\n")
    return _xml(f"<head>{head}</head>\n<results>\n{''.join(results)}</results>\n")


def _xml(content: str) -> bytes:
    if _NOT_XML.search(content):
        hint = f"Ask for {_JSON}."
        raise HttpError(406, "The results contain characters that XML does not have.", hint)
    root = f'<sparql xmlns="http://www.w3.org/2005/sparql-results#" xmlns:its="{_ITS}"'
    return f'<?xml version="1.0"?>\n{root} its:version="2.0">\n{content}</sparql>\n'.encode()


def _xml_term(term: Term) -> str:
    if isinstance(term, NamedNode):
        return f"<uri>{escape(term.value)}</uri>"
    if isinstance(term, BlankNode):
        return f"<bnode>{escape(term.value)}</bnode>"
    if isinstance(term, Triple):
        parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
        inner = "".join(f"<{key}>{_xml_term(part)}</{key}>" for key, part in parts.items())
        return f"<triple>{inner}</triple>"
    attributes = ""
    if term.language is not None:
        attributes = f" xml:lang={quoteattr(term.language)}"
        if term.direction is not None:
            attributes += f' its:dir="{_DIRECTIONS[term.direction]}"'
    elif term.datatype != vocab.STRING:
        attributes = f" datatype={quoteattr(term.datatype.value)}"
    # A parser would read a carriage return as a newline.
    return f"<literal{attributes}>{escape(term.value, {chr(13): '&#13;'})}</literal>"


def select_csv(rows: Rows) -> bytes:
    """Solutions in CSV (SPARQL 1.1 Query Results CSV and TSV Formats §3)."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(_names(rows))
    writer.writerows([_csv_cell(term) for term in cells] for cells in rows.tuples)
    return output.getvalue().encode()


def _csv_cell(term: Term | None) -> str:
    if term is None:
        return ""
    return str(term) if isinstance(term, BlankNode | Triple) else term.value


def select_tsv(rows: Rows) -> bytes:
    """Solutions in TSV (SPARQL 1.1 Query Results CSV and TSV Formats §4)."""
    lines = ["\t".join(f"?{name}" for name in _names(rows))]
    lines += ["\t".join(_tsv_cell(term) for term in cells) for cells in rows.tuples]
    return ("\n".join(lines) + "\n").encode()


def _tsv_cell(term: Term | None) -> str:
    return "" if term is None else f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


def ask_json(truth: bool) -> bytes:
    """The answer to ASK in JSON."""
    return to_json({"head": {}, "boolean": truth})


def ask_xml(truth: bool) -> bytes:
    """The answer to ASK in XML."""
    return _xml(f"<head></head>\n<boolean>{str(truth).lower()}</boolean>\n")


def _names(rows: Rows) -> Sequence[str]:
    return [column.removeprefix("?") for column in rows.columns]


SELECT_FORMATS: dict[str, Callable[[Rows], bytes]] = {
    _JSON: select_json,
    _XML: select_xml,
    "text/csv": select_csv,
    "text/tab-separated-values": select_tsv,
    "application/json": select_json,
    "application/xml": select_xml,
}
ASK_FORMATS: dict[str, Callable[[bool], bytes]] = {
    _JSON: ask_json,
    _XML: ask_xml,
    "application/json": ask_json,
    "application/xml": ask_xml,
}
MEDIA_TYPE_OF = {"application/json": _JSON, "application/xml": _XML}
"""The types that other names of a format are answered with."""
