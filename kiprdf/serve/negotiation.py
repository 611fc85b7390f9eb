"""Chooses a media type by an Accept header (RFC 9110 §12.5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MediaRange:
    """One part of an Accept header: ``text/turtle;version=1.2;q=0.5``."""

    type: str
    parameters: dict[str, str]
    quality: float

    def specificity(self, media_type: str) -> int:
        """How specifically the range matches a type: 0 if it does not match."""
        if self.type in ("*/*", "*"):
            return 1
        if self.type.endswith("/*"):
            return 2 if media_type.startswith(self.type[:-1]) else 0
        return 3 if self.type == media_type else 0


def media_ranges(accept: str | None) -> list[MediaRange]:
    """The ranges of a header; without one, everything is accepted."""
    ranges = []
    for part in (accept or "*/*").split(","):
        media_type, *settings = (piece.strip() for piece in part.split(";"))
        parameters = {
            name.strip().lower(): value.strip().strip('"')
            for name, _, value in (setting.partition("=") for setting in settings)
        }
        if media_type:
            quality = _quality(parameters.pop("q", "1"))
            ranges.append(MediaRange(media_type.lower(), parameters, quality))
    return ranges


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0


def choose(accept: str | None, offers: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """The best of the offered types, with the parameters of its range; None if none is acceptable.

    Offers of equal quality are chosen in their order.

    >>> choose("text/html;q=0.8, text/turtle;version=1.2", ["text/html", "text/turtle"])
    ('text/turtle', {'version': '1.2'})
    >>> choose("image/png", ["text/html"])
    """
    ranges = media_ranges(accept)
    best: tuple[str, dict[str, str]] | None = None
    best_quality = 0.0
    for offer in offers:
        matches = [(one.specificity(offer), one) for one in ranges if one.specificity(offer)]
        if not matches:
            continue
        most = max(specificity for specificity, _ in matches)
        specific = [one for specificity, one in matches if specificity == most]
        chosen = max(specific, key=lambda one: one.quality)
        if chosen.quality > best_quality:
            best, best_quality = (offer, chosen.parameters), chosen.quality
    return best
