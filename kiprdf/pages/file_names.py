"""File names for IRIs: paths below the base that work on every file system.

A segment of an IRI becomes the file name that a web server looks for, with percent-encoding
removed. Names that a file system might refuse or confuse are changed:

=====================================================  =====================================
segment                                                file name
=====================================================  =====================================
forbidden or invisible characters, and ``~``           stay percent-encoded (``%2F``)
a leading or final dot or space, ``CON``, ``nul.x``    that character percent-encoded
more than 120 bytes                                    the beginning, ``~``, 20 digits of hash
the second of two that differ in case or composition   the name, ``~``, 20 digits of hash
=====================================================  =====================================
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote

LONGEST = 120
"""The maximum bytes of a name without suffix; some systems limit paths to 260 characters."""

_DIGITS = 20
# Printable ASCII that is encoded in IRIs but valid on every file system.
_HARMLESS = re.compile("%(20|21|26|27|28|29|2B|2C|3B|3D|40|5B|5D|5E|60|7B|7D)")
_EDGES = re.compile(r"^[. ]|[. ]$")
# Windows treats these names as devices, with any suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)", re.IGNORECASE)


def file_name(segment: str) -> str:
    """The file name, without suffix, for one segment of an IRI.

    >>> file_name("Vitamin%20C%2F阿司匹林"), file_name(".."), file_name("NUL.x")
    ('Vitamin C%2F阿司匹林', '%2E%2E', '%4EUL.x')
    """
    name = _HARMLESS.sub(lambda m: chr(int(m.group(1), 16)), segment).replace("~", "%7E")
    name = _EDGES.sub(_encoded, name)
    if _DEVICE.match(name):
        name = _encoded_text(name[0]) + name[1:]
    return name if len(name.encode()) <= LONGEST else _with_hash(name, segment)


def href(path: str, origin: str = "") -> str:
    """A relative link from one file to another, both given as paths from the root folder.

    >>> href("Drug/Vitamin C.html", "Symptom/Pain.html")
    '../Drug/Vitamin%20C.html'
    """
    return "../" * origin.count("/") + quote(path, safe="/$,;=@!'()&+~")


@dataclass
class Paths:
    """Assigns each IRI below a base a path without suffix, unique on any file system.

    >>> paths = Paths.of("urn:kip:nexus/", ["urn:kip:nexus/Drug/NSAID", "urn:kip:nexus/Drug/nsaid"])
    >>> sorted(paths.by_iri.values())
    ['Drug/NSAID', 'Drug/nsaid~db3c2abad1b11353f552']
    """

    by_iri: dict[str, str] = field(default_factory=dict)
    _folders: dict[str, dict[str, str]] = field(default_factory=dict)
    _used: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, base: str, iris: Iterable[str]) -> Paths:
        """Paths for IRIs; the same IRIs get the same paths in any order."""
        paths = cls()
        for iri in sorted(iris):
            *folders, last = iri.removeprefix(base).split("/")
            folder = ""
            for segment in folders:
                folder += paths._folder(folder, segment) + "/"
            paths.by_iri[iri] = folder + paths._unused(folder, last)
        return paths

    def _folder(self, parent: str, segment: str) -> str:
        names = self._folders.setdefault(parent, {})
        if segment not in names:
            names[segment] = self._unused(parent, segment)
        return names[segment]

    def _unused(self, folder: str, segment: str) -> str:
        """The name of a segment, with a hash if the folder already contains the name."""
        used = self._used.setdefault(folder, set())
        name = file_name(segment)
        if _folded(name) in used:
            name = _with_hash(name, segment)
        used.add(_folded(name))
        return name


def _folded(name: str) -> str:
    """Equal for names that some file system does not distinguish."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())


def _with_hash(name: str, segment: str) -> str:
    digits = hashlib.sha256(segment.encode()).hexdigest()[:_DIGITS]
    kept = name.encode()[: LONGEST - _DIGITS - 1].decode(errors="ignore")
    # Remove half of a "%2F" that was cut.
    return re.sub("%.?$", "", kept).split("~")[0].rstrip(" .") + "~" + digits


def _encoded(match: re.Match[str]) -> str:
    return _encoded_text(match.group())


def _encoded_text(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())
