"""Rows as CSV (RFC 4180), which a spreadsheet opens without running a text of them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from kiprdf.rdf.elements import is_element

CSV = "text/csv; charset=utf-8; header=present"
# What spreadsheets take for the beginning of a formula, in every width (OWASP, CSV Injection).
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A line of the columns and one for each row, in UTF-8; null is empty, an element its id.

    A text that a spreadsheet would run as a formula begins with an apostrophe.

    >>> csv_bytes(["?d", "?n"], [["=1+1", -2], ["C:a/b", None]])
    b"?d,?n\\r\\n'=1+1,-2\\r\\nC:a/b,\\r\\n"
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in rows)
    return file.getvalue().encode(errors="replace")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if is_element(value):
        value = value["id"]
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if _FORMULA.match(value) else value
