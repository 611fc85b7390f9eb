"""KIP text to a typed tree and back, independent of any data.

In the order of use: ``ast`` (the nodes), ``limits`` (size limits), ``names`` (keywords,
identifiers), ``values`` (the scanner of values), ``grammar`` (in pyparsing), ``readers`` (the
grammar compiled to functions), ``commands`` (one command), ``parser`` (text to tree; the hints of
its errors are in ``kiprdf.advice``), ``sizes`` and ``parameters`` (placeholders replaced by
values), ``literals`` (texts that differ only in literals), ``printer`` (tree to text).
"""

from kiprdf.language.parameters import Template, bind
from kiprdf.language.parser import parse
from kiprdf.language.printer import to_text

__all__ = ["Template", "bind", "parse", "to_text"]
