"""KIP text to a typed tree and back; knows no graph.

In order: ``ast`` (the nodes), ``limits`` (budgets), ``names`` (identifiers), ``values`` (the
scanner), ``elements`` and ``grammar`` (pyparsing), ``readers`` (the grammar as functions),
``hints`` (what to do about a fault), ``commands`` (what is read by the grammar), ``parser`` (text
to tree), ``parameters`` (placeholders filled in the tree), ``printer`` (tree to text).
"""

from kiprdf.language.parameters import Template, bind
from kiprdf.language.parser import parse
from kiprdf.language.printer import to_text

__all__ = ["Template", "bind", "parse", "to_text"]
