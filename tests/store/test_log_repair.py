"""The test for logs of two writers, which runs at each opening, reads little of a log."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import pytest

from kiprdf.store import log_repair

_FIRST, _MIDDLE, _LAST = 6, 7, 8
_CONTENT = 30_000


def _fragment(kind: int, content: bytes) -> bytes:
    return struct.pack("<IHBI", 0, len(content), kind, 8) + content


def _batch(first: int, middles: int) -> bytes:
    """A batch of two edits from a sequence number on, in many fragments."""
    start = struct.pack("<QI", first, 2)
    # The beginning may be in two fragments.
    return (
        _fragment(_FIRST, start[:5])
        + _fragment(_MIDDLE, start[5:] + bytes(_CONTENT))
        + _fragment(_MIDDLE, bytes(_CONTENT)) * middles
        + _fragment(_LAST, b"end")
    )


def test_a_batch_as_long_as_an_import_is_not_read_into_memory(tmp_path: Path) -> None:
    (tmp_path / "000008.log").write_bytes(_batch(1, 400))
    tracemalloc.start()
    try:
        assert not log_repair.is_forked(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 10 * _CONTENT
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("first", "is_forked"), [(3, False), (2, True), (1, True)])
def test_numbers_that_go_back_after_a_long_batch_are_noticed(
    tmp_path: Path, first: int, is_forked: bool
) -> None:
    (tmp_path / "000008.log").write_bytes(_batch(1, 40) + _batch(first, 3))
    assert log_repair.is_forked(tmp_path) is is_forked


def test_an_empty_log_is_no_log_of_two_writers(tmp_path: Path) -> None:
    (tmp_path / "000008.log").write_bytes(b"")
    assert not log_repair.is_forked(tmp_path)
