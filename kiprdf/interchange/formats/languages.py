"""Repairs language tags that are not well-formed (BCP 47), which parsers refuse.

``en_US`` is read as ``en-US``; a text with any other such tag is read without a language. Lines
stay where they are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from pyoxigraph import Literal, Quad, Triple

from kiprdf.budget import paced
from kiprdf.errors import shown
from kiprdf.interchange.formats import Format, check_format
from kiprdf.interchange.formats.guard import STRINGS
from kiprdf.interchange.formats.parsing import decoded, parse
from kiprdf.interchange.mapping.terms import Loader

_TAG = r"(?P<tag>[\w-]+)"
# Comments and IRIs are tokens too: a quote in them begins no string.
_TURTLE = re.compile(
    rf"(?P<before>(?:{STRINGS})@){_TAG}|{STRINGS}|\#[^\n]*|<[^<>\"{{}}|^`\s]*+>",
    re.DOTALL | re.MULTILINE,
)
_XML = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<[^\s<>/!?](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>",
    re.DOTALL,
)
_XML_LANGUAGE = re.compile(
    r"(?P<before>\sxml:lang\s*=\s*)(?P<quote>[\"'])(?P<tag>[^\"']*)(?P=quote)"
)
_JSON_ALIAS = re.compile(r'"([^"\\@]+)"\s*:\s*"@language"')
_JSON_MAPPED = re.compile(
    r'"([^"\\]+)"\s*:\s*\{[^{}]*"@container"\s*:\s*(?:"@language"|\[[^][]*"@language"[^][]*\])'
)
_NO_TAG = "x-kipnone"
"""Written where a format cannot leave a tag out; texts with it get none."""
_DIRECTION = re.compile(r"--(?:ltr|rtl)\Z")

Note = Callable[[str, str | None], None]


def parse_foreign(
    content: str | bytes,
    format: Format,
    *,
    base_iri: str | None = None,
    loader: Loader | None = None,
) -> tuple[list[Quad], list[str]]:
    """The quads of a document as ``parse`` returns them, and a sentence for each repaired tag."""
    check_format(format)
    text, warnings = repaired(decoded(content, format), format)
    quads = parse(text, format, base_iri=base_iri, loader=loader)
    if _NO_TAG in text:
        quads = list(dict.fromkeys(Quad(*map(_without_placeholder, quad)) for quad in paced(quads)))
    return quads, warnings


def _without_placeholder(term: Any) -> Any:
    if isinstance(term, Literal) and (term.language or "").startswith(_NO_TAG):
        return Literal(term.value)
    if isinstance(term, Triple):
        return Triple(*map(_without_placeholder, term))
    return term


def repaired(text: str, format: Format) -> tuple[str, list[str]]:
    """A text in which all language tags are well-formed, and a sentence for each that was not.

    >>> repaired('<urn:a> <urn:b> "x"@en_US, "y"@1 .', "turtle")
    ('<urn:a> <urn:b> "x"@en-US, "y"   .',
     ["The language tag 'en_US' is read as 'en-US'.",
      "'1' is not a language tag (BCP 47); its texts are kept without a language."])
    """
    tags: dict[str, str | None] = {}
    if format == "rdfxml":
        text = _XML.sub(lambda tag: _in_xml(tag.group(), tags.__setitem__), text)
    elif format == "jsonld":
        text = _in_json(text, tags.__setitem__)
    else:
        text = _in_turtle(text, tags.__setitem__)
    return text, [_sentence(tag, tags[tag]) for tag in tags]


def _sentence(tag: str, correct: str | None) -> str:
    if correct is not None:
        return f"The language tag '{shown(tag)}' is read as '{correct}'."
    return f"'{shown(tag)}' is not a language tag (BCP 47); its texts are kept without a language."


def _is_tag(tag: str) -> bool:
    try:
        Literal("", language=tag)
    except ValueError:
        return False
    return True


def _correct(tag: str) -> str | None:
    """The tag with hyphens, if that is one; otherwise None."""
    hyphens = tag.replace("_", "-")
    return hyphens if _is_tag(hyphens) else None


def _in_turtle(text: str, note: Note) -> str:
    """Turtle, TriG, N-Triples or N-Quads with correct tags."""
    # Nearly all documents have good tags; looking for them takes no walk through the strings.
    tags = {match[1] for match in paced(re.finditer(r"[\"']@([\w-]+)", text))}
    if all(_is_tag(_DIRECTION.sub("", tag)) for tag in tags):
        return text

    def replaced(match: re.Match[str]) -> str:
        tag = match["tag"]
        if tag is None or _is_tag(_DIRECTION.sub("", tag)):
            return match.group()
        correct = _correct(tag)
        note(tag, correct)
        before: str = match["before"]
        return f"{before[:-1]}{' ' * (len(tag) + 1)}" if correct is None else before + correct

    return _TURTLE.sub(replaced, text)


def _in_xml(tag: str, note: Note) -> str:
    def replaced(match: re.Match[str]) -> str:
        language, quote = match["tag"], match["quote"]
        if not language:
            # The parser refuses the empty tag, which is the XML for no language.
            return f"{match['before']}{quote}{_NO_TAG}{quote}"
        if _is_tag(language):
            return match.group()
        correct = _correct(language)
        note(language, correct)
        return f"{match['before']}{quote}{correct or _NO_TAG}{quote}"

    return _XML_LANGUAGE.sub(replaced, tag) if "xml:lang" in tag else tag


def _in_json(text: str, note: Note) -> str:
    """JSON-LD with correct tags: of values, of contexts, and the keys of language maps."""
    names = "|".join(map(re.escape, ["@language", *_JSON_ALIAS.findall(text)]))
    member = rf'"(?:{names})"\s*:\s*"(?P<tag>[^"\\@][^"\\]*|)"'
    text = re.sub(
        rf"(?P<comma>,\s*)?(?P<member>{member})(?(comma)|(?P<after>\s*,)?)",
        lambda match: _json_member(match, note),
        text,
    )
    mapped = "|".join(map(re.escape, _JSON_MAPPED.findall(text)))
    if not mapped:
        return text
    return re.sub(
        rf'"(?:{mapped})"\s*:\s*\{{[^{{}}]*\}}',
        lambda match: _json_map(match.group(), note),
        text,
    )


def _json_member(match: re.Match[str], note: Note) -> str:
    tag, text = match["tag"], match.group()
    if _is_tag(tag):
        return text
    correct = _correct(tag)
    note(tag, correct)
    if correct is not None:
        return text.replace(f'"{tag}"', f'"{correct}"')
    return re.sub(r"[^\n]", " ", text)


def _json_map(text: str, note: Note) -> str:
    def replaced(match: re.Match[str]) -> str:
        tag = match["tag"]
        if tag.startswith("@") or tag == "none" or _is_tag(tag):
            return match.group()
        correct = _correct(tag)
        note(tag, correct)
        return f'"{correct or f"{_NO_TAG}-{next(number)}"}"' + match["after"]

    number = itertools.count(1)
    start = text.index("{")
    return text[:start] + re.sub(r'"(?P<tag>[^"\\]*)"(?P<after>\s*:)', replaced, text[start:])
