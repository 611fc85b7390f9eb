"""The properties at the top of a Markdown file, which are YAML 1.2 (extra ``markdown``)."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

from kiprdf.errors import StoreError

MOST_VALUES = 10_000
"""The values of one front matter; an alias counts each time it is used."""
_SHORT = 2_000
"""The most characters that the parser in C reads: it does not end where values nest too deep."""
_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
_SCALARS = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
)
"""The values of YAML 1.2 that are no texts. PyYAML reads 1.1, where 12:30 is 750 and no is false;
dates stay texts, as they are written."""


class FrontMatterError(ValueError):
    """Says why a front matter cannot be read, and where."""


def front_matter(text: str) -> tuple[dict[str, Any], str, list[str]]:
    """The properties of a Markdown text, the text below them, and the properties named twice.

    Raises ``FrontMatterError`` for what is no YAML, or no mapping.

    >>> front_matter("---\\ntime: 12:30\\nrank: 2\\n---\\nText")
    ({'time': '12:30', 'rank': 2}, 'Text', [])
    """
    first, _, rest = text.partition("\n")
    if first.rstrip(" \t") != "---" or (end := _END.search(rest)) is None:
        return {}, text, []
    value, twice = _parsed(rest[: end.start()])
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise FrontMatterError("Its front matter has no properties.")
    return value, rest[end.end() + 1 :], twice


def _parsed(text: str) -> tuple[Any, list[str]]:
    yaml, fast, safe = _loaders()
    loader = (fast if len(text) < _SHORT else safe)(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, []
        names = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        value = _json(loader.construct_document(node), [MOST_VALUES])
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 2 if fault.problem_mark else 1
        raise FrontMatterError(f"Line {line} is not YAML: {fault.problem}.") from None
    except (yaml.YAMLError, ValueError, TypeError) as fault:
        raise FrontMatterError(f"Its front matter is not read: {fault}.") from None
    except RecursionError:
        raise FrontMatterError("Its front matter nests too deep.") from None
    finally:
        loader.dispose()
    keys = [name for name in names if isinstance(name, str)]
    return value, [name for name in dict.fromkeys(keys) if keys.count(name) > 1]


@cache
def _loaders() -> tuple[Any, Any, Any]:
    """PyYAML, and its loaders of safe values: one in C, if there is one, and one in Python."""
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        raise StoreError("Markdown needs PyYAML: pip install 'kiprdf[markdown]'.") from None
    loaders = []
    for base in (getattr(yaml, "CSafeLoader", yaml.SafeLoader), yaml.SafeLoader):
        loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}})
        for name, pattern, first in _SCALARS:
            tag = f"tag:yaml.org,2002:{name}"
            characters = [*first, *([""] if name == "null" else [])]
            loader.add_implicit_resolver(tag, re.compile(rf"(?:{pattern})\Z"), characters)
        loaders.append(loader)
    return yaml, *loaders


def _json(value: Any, left: list[int]) -> Any:
    """A value as JSON. ``ValueError`` if it has too many values."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"it has more than {MOST_VALUES} values")
    if isinstance(value, dict):
        return {str(key): _json(one, left) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [_json(one, left) for one in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
