"""Texts that the parsers refuse."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from kiprdf.interchange.formats import Format
from kiprdf.interchange.formats.parsing import parse


def refusal(content: str | bytes, format: Format, **options: Any) -> kiprdf.KipError:
    """The error of a text that is not parsed."""
    with pytest.raises(kiprdf.KipError) as raised:
        parse(content, format, **options)
    return raised.value
