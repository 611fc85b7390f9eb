"""The code of a how-to page, as a reader copies it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to"


def code_of(page: str, blocks: int = 1) -> dict[str, Any]:
    """The names that the first blocks of a page define that import something and call nothing."""
    text = (HOW_TO / page).read_text("utf-8")
    code = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    namespace: dict[str, Any] = {"__name__": page}
    defining = [block for block in code if "import " in block and ">>>" not in block]
    for block in defining[:blocks]:
        exec(compile(block, page, "exec"), namespace)
    return namespace
