"""Files for IRIs: paths that match the IRIs below the base, on any file system.

A segment of an IRI becomes a file name as a web server would look for it: percent-encoding
undone. Where a file system might object, or take two names for one, the name differs:

=====================================================  =====================================
what                                                   becomes
=====================================================  =====================================
what Windows or a path forbids, ``~``, invisible ones  stays percent-encoded (``%2F``)
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
"""The bytes of a name without its suffix; whole paths should stay below 260 characters."""

_DIGITS = 20
# The printable ASCII that IRIs encode and every file system takes.
_HARMLESS = re.compile("%(20|21|26|27|28|29|2B|2C|3B|3D|40|5B|5D|5E|60|7B|7D)")
_EDGES = re.compile(r"^[. ]|[. ]$")
# With any suffix these are devices to Windows.
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)", re.IGNORECASE)


def file_name(segment: str) -> str:
    """The name, without suffix, of what one segment of an IRI stands for.

    >>> file_name("Vitamin%20C%2F阿司匹林"), file_name(".."), file_name("NUL.x")
    ('Vitamin C%2F阿司匹林', '%2E%2E', '%4EUL.x')
    """
    name = _HARMLESS.sub(lambda m: chr(int(m.group(1), 16)), segment).replace("~", "%7E")
    name = _EDGES.sub(_encoded, name)
    if _DEVICE.match(name):
        name = _encoded_text(name[0]) + name[1:]
    return name if len(name.encode()) <= LONGEST else _told_apart(name, segment)


def href(path: str, origin: str = "") -> str:
    """A relative link from one file of a folder to another, both as paths from its root.

    >>> href("Drug/Vitamin C.html", "Symptom/Pain.html")
    '../Drug/Vitamin%20C.html'
    """
    return "../" * origin.count("/") + quote(path, safe="/$,;=@!'()&+~")


@dataclass
class Paths:
    """Gives each IRI below a base a path without suffix, no two the same to any file system.

    >>> paths = Paths.of("urn:kip:nexus/", ["urn:kip:nexus/Drug/NSAID", "urn:kip:nexus/Drug/nsaid"])
    >>> sorted(paths.by_iri.values())
    ['Drug/NSAID', 'Drug/nsaid~db3c2abad1b11353f552']
    """

    by_iri: dict[str, str] = field(default_factory=dict)
    _folders: dict[str, dict[str, str]] = field(default_factory=dict)
    _taken: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, base: str, iris: Iterable[str]) -> Paths:
        """Sorted first, so that the same IRIs get the same paths."""
        paths = cls()
        for iri in sorted(iris):
            *folders, last = iri.removeprefix(base).split("/")
            folder = ""
            for segment in folders:
                folder += paths._folder(folder, segment) + "/"
            paths.by_iri[iri] = folder + paths._free(folder, last)
        return paths

    def _folder(self, parent: str, segment: str) -> str:
        known = self._folders.setdefault(parent, {})
        if segment not in known:
            known[segment] = self._free(parent, segment)
        return known[segment]

    def _free(self, folder: str, segment: str) -> str:
        """The name of a segment, told apart if another one there has it already."""
        taken = self._taken.setdefault(folder, set())
        name = file_name(segment)
        if _same(name) in taken:
            name = _told_apart(name, segment)
        taken.add(_same(name))
        return name


def _same(name: str) -> str:
    """Names are the same to some file system exactly if this is."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())


def _told_apart(name: str, segment: str) -> str:
    digits = hashlib.sha256(segment.encode()).hexdigest()[:_DIGITS]
    kept = name.encode()[: LONGEST - _DIGITS - 1].decode(errors="ignore")
    # A cut through "%2F" leaves no half of it.
    return re.sub("%.?$", "", kept).split("~")[0].rstrip(" .") + "~" + digits


def _encoded(match: re.Match[str]) -> str:
    return _encoded_text(match.group())


def _encoded_text(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())
