"""What other tools remember, as plans of concepts, propositions and notes for a nexus.

Each function reads a file or folder of one tool and returns a ``Plan``, which is not written until
``apply``. The way of a memory: a format (``mem0``, ``graphiti``, ``mcp_memory``, ``langgraph``,
``chat``, ``tables``, ``markdown`` with ``front_matter``) fills a ``Plan`` (``plan``), whose rows
``Nexus.load`` writes. ``times`` reads times, ``earlier`` finds what was imported before.

>>> import kiprdf, pathlib
>>> _ = pathlib.Path("drugs.csv").write_text("name,risk\\nAspirin,2\\nIbuprofen,3\\n")
>>> plan = kiprdf.importers.csv("drugs.csv", type="Drug", key="name")
>>> plan.report()["concepts"]
2
>>> with kiprdf.Nexus.memory() as nexus:
...     plan.apply(nexus)["concepts"]
{'created': 2, 'updated': 0, 'unchanged': 0}
"""

from kiprdf.importers.chat import chat
from kiprdf.importers.graphiti import graphiti
from kiprdf.importers.langgraph import langgraph
from kiprdf.importers.markdown import basic_memory, obsidian
from kiprdf.importers.mcp_memory import mcp_memory
from kiprdf.importers.mem0 import mem0
from kiprdf.importers.plan import Plan
from kiprdf.importers.tables import csv, frame, jsonl

__all__ = [
    "Plan",
    "basic_memory",
    "chat",
    "csv",
    "frame",
    "graphiti",
    "jsonl",
    "langgraph",
    "mcp_memory",
    "mem0",
    "obsidian",
]
