"""Folders of Markdown: a vault of Obsidian, a project of basic-memory (docs/decisions/236).

A note is a note of the memory under its title, with its properties as attributes and its text as
content; its links are propositions. The way of a folder: its files are found and read (``_read``,
``front_matter``), titles become names (``_Folder``), and ``Note.links`` are resolved as the tool
does. What the tools read was taken from the help of Obsidian 1.10 and the code of basic-memory
0.24.1 (``markdown/plugins.py``, ``markdown/entity_parser.py``, ``services/link_resolver.py``).
"""

from __future__ import annotations

import mimetypes
import os
import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from kiprdf.errors import KipError
from kiprdf.importers.front_matter import FrontMatterError, front_matter
from kiprdf.importers.plan import Plan, read_text
from kiprdf.importers.times import moment
from kiprdf.memory.graph import ITEM
from kiprdf.memory.texts import KEYS

ATTACHMENT, OBSERVATION, OBSERVES = "Attachment", "Observation", "has_observation"
_NOTES = (".md", ".markdown")
_SHOWN = 5
"""The most files that a warning names."""
_DRAWING = "excalidraw-plugin"
_OWN = frozenset((*KEYS, "path"))
"""The attributes of a note of the memory: a property of such a name gets another one."""
_WIKILINK = re.compile(r"(?<!\\)(!?)\[\[([^\[\]\n|#]*)(#[^\[\]\n|]*)?(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(
    r"(?<!\\)(!?)\[([^\[\]\n]{0,1000})\]"
    r"\((<[^<>\n]{0,2000}>|(?:[^\s<>()]|\([^\s()]*\)){1,2000})(?: +\"[^\"\n]*\")?\)"
)
_SCHEME = re.compile(r"[a-z][\w+.-]*:", re.ASCII | re.IGNORECASE)
_TAG = re.compile(r"(?<!\S)#([^\s#,.;:!?'\"()\[\]{}<>`@$%^&*+=|\\~]+)")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?([^\W\d_][\w /-]{0,60}?)::[ \t]+(\S.*)$", re.MULTILINE)
_INLINE_FIELD = re.compile(
    r"[\[(]([^\W\d_][\w /-]{0,60}?)::[ \t]+([^\[\]()\n]*(?:\[\[[^\[\]\n]*\]\])?)[\])]"
)
_OPENING = re.compile(r"(?m:^[ \t>]*(?P<fence>`{3,}|~{3,}))|(?P<ticks>`+)|(?P<mark>%%|<!--)")
_CONTEXT = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)|")
_CATEGORY = re.compile(r"\[([^\[\]()]*)\]\s+(\S.*)")
_NO_CATEGORY = re.compile(r"[xX]|[^\w]|_|\d{1,3}:\d\d(?:[:.,\d]| - )*")
"""The marks of tasks, and the times in a transcript."""
_ONLY_LINK = re.compile(r"\[\[.*\]\]|\[[^\]]*\]\([^)]*\)")
_QUALIFIER = re.compile(
    r"@(?P<kind>effective|valid|occurred|due|mentioned)?"
    r"(?:[\[(](?P<since>[^\[\](),]*),(?P<until>[^\[\](),]*)[\])]|:?(?P<quote>\"?)(?P<on>\d[\w:.+-]{3,})"
    r"(?P=quote))(?:\s+|$)"
)
_DESCRIPTIONS = {
    "links_to": "The text of a note links to another note or file.",
    "embeds": "A note shows another note or a file in its text.",
    OBSERVES: "A note has an observation.",
}
Json = dict[str, Any]
_CLOSING = {"%%": "%%", "<!--": "-->"}


def obsidian(path: str | os.PathLike[str], *, source: str | None = None) -> Plan:
    """A plan of a vault of Obsidian: notes, their links, properties, tags and inline fields.

    Hidden folders and symbolic links are not read; files that are no Markdown are reported.
    Raises ``KipError``: KIP_1001 for what is no folder with Markdown. Needs the extra ``markdown``.

    >>> Path("vault").mkdir()
    >>> _ = Path("vault/Aspirin.md").write_text("Thins the [[Blood]].", "utf-8")
    >>> obsidian("vault").propositions[0]["predicate"]
    'links_to'
    """
    return _plan("obsidian", path, source)


def basic_memory(path: str | os.PathLike[str], *, source: str | None = None) -> Plan:
    """A plan of a project of basic-memory: as ``obsidian``, and with observations and relations.

    The original id of a note is its permalink, or else its path.
    """
    return _plan("basic-memory", path, source)


def _plan(format: str, path: str | os.PathLike[str], source: str | None) -> Plan:
    root = Path(path)
    if not root.is_dir():
        message = f"{root.name} is not a folder."
        raise KipError("KIP_1001", message, "Give the folder that has the Markdown files.")
    plan = Plan(format, source or root.resolve().name, has_titles=True)
    notes, others = _read(root, plan)
    if not notes:
        message = f"{plan.source} has no Markdown file that can be read."
        raise KipError("KIP_1001", message, "Give the folder that has the Markdown files.")
    folder = (_Project if format == "basic-memory" else _Vault)(plan, notes, others)
    for note in notes:
        folder.add(note)
    for note in notes:
        folder.add_links(note)
    folder.report_others()
    return plan


# Files ----------------------------------------------------------------------------------------


@dataclass
class Note:
    """A Markdown file. ``plain`` is its body with blanks in the place of code and comments."""

    path: str
    properties: dict[str, Any]
    body: str
    modified: datetime
    plain: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plain = masked(self.body)

    @property
    def stem(self) -> str:
        """The name of the file, without its ending."""
        return PurePosixPath(self.path).stem


def _read(root: Path, plan: Plan) -> tuple[list[Note], list[str]]:
    """The notes of a folder, and the paths of its other files."""
    notes: list[Note] = []
    others: list[str] = []
    hidden: list[str] = []

    def unreadable(fault: OSError) -> None:
        plan.skip(Path(str(fault.filename)).name, f"it cannot be read: {fault.strerror}")

    seen: set[str] = set()
    for place, folders, files in os.walk(root, onerror=unreadable):
        below = "" if place == str(root) else f"{Path(place).relative_to(root).as_posix()}/"
        hidden += [below + name for name in folders if name.startswith(".")]
        hidden += [below + name for name in files if name[0] == "." and name.endswith(_NOTES)]
        links = [name for name in (*folders, *files) if os.path.islink(os.path.join(place, name))]
        for name in sorted(links):
            plan.skip(below + name, "a symbolic link is not followed")
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in files if name[0] != "." and name not in links):
            file = os.path.join(place, name)
            path = unicodedata.normalize("NFC", below + name)
            if not os.path.isfile(file) or path in seen:
                reason = "another file has this name" if path in seen else "this is no regular file"
                plan.skip(below + name, reason)
                continue
            seen.add(path)
            if not name.lower().endswith(_NOTES):
                others.append(path)
            elif note := _note(Path(file), path, plan):
                notes.append(note)
    if hidden:
        plan.warn(f"What is hidden is not read: {', '.join(sorted(hidden))}.")
    return notes, others


def _note(file: Path, path: str, plan: Plan) -> Note | None:
    try:
        text = read_text(file).replace("\r\n", "\n").replace("\0", "")
        modified = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except (KipError, OSError) as fault:
        reason = f"{fault.message} {fault.hint}" if isinstance(fault, KipError) else str(fault)
        plan.skip(path, reason.strip())
        return None
    try:
        properties, body, twice = front_matter(text)
    except FrontMatterError as fault:
        plan.warn(f"{path}: {fault} The front matter is kept in the text.")
        return Note(path, {}, text, modified)
    for key in twice:
        plan.skip(f"{path}: {key}", "the front matter has this property twice; the last one counts")
    if _DRAWING in properties:
        plan.skip(path, "a drawing of Excalidraw")
        return None
    return Note(path, properties, body, modified)


# Markdown -------------------------------------------------------------------------------------


def masked(text: str) -> str:
    """A text with blanks in the place of code and comments, in which links do not count.

    >>> masked("a `[[b]]` %%[[c]]%% [[d]]")
    'a                   [[d]]'
    """
    parts: list[str] = []
    at = 0
    unclosed: set[str] = set()
    while match := _OPENING.search(text, at):
        opening = match[match.lastgroup or 0]
        end = None if opening in unclosed else _end_of(text, match, opening)
        if end is None:
            unclosed.add(opening)
        start, end = (match.start(), end) if end else (match.end(), match.end())
        parts += [text[at:start], _blank(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _end_of(text: str, match: re.Match[str], opening: str) -> int | None:
    """Where code or a comment ends: 0 if not in its paragraph, None if nowhere."""
    if match["mark"]:
        end = text.find(_CLOSING[opening], match.end())
        return None if end < 0 else end + len(_CLOSING[opening])
    if match["fence"]:
        closing = re.compile(rf"^[ \t>]*{opening}{opening[0]}*[ \t]*$", re.MULTILINE)
        closed = closing.search(text, match.end())
        return closed.end() if closed else len(text)
    closed = re.compile(rf"(?<!`)`{{{len(opening)}}}(?!`)").search(text, match.end())
    if closed is None:
        return None
    return 0 if "\n\n" in text[match.end() : closed.start()] else closed.end()


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class Link(NamedTuple):
    """A link in a note: its target as written, and what is said of it."""

    predicate: str
    target: str
    details: dict[str, str]


def _wikilink(match: re.Match[str], predicate: str = "") -> Link:
    embeds, target, section, label = match.groups()
    details = {"section": (section or "")[1:].strip(), "label": (label or "").strip()}
    details = {key: value for key, value in details.items() if value}
    predicate = predicate or ("embeds" if embeds else "links_to")
    return Link(predicate, target.rstrip("\\").strip(), details)


def _markdown_link(match: re.Match[str]) -> Link | None:
    """The link to a file of the folder; None for one to the web."""
    embeds, label, address = match.groups()
    address = address.strip("<>")
    if _SCHEME.match(address) or address.startswith(("//", "#")):
        return None
    path, _, section = unquote(address).partition("#")
    details = {key: value for key, value in (("section", section), ("label", label)) if value}
    return Link("embeds" if embeds else "links_to", path, details)


def links_of(text: str) -> Iterator[Link]:
    """The links of a text without code.

    >>> [(link.predicate, link.target) for link in links_of("![[a.png]] [b](c%20d.md) [e](x:f)")]
    [('embeds', 'a.png'), ('links_to', 'c d.md')]
    """
    yield from map(_wikilink, _WIKILINK.finditer(text))
    yield from filter(None, map(_markdown_link, _MARKDOWN_LINK.finditer(text)))


def only_links(value: Any) -> list[re.Match[str]]:
    """The links of a value that is nothing but links; none of another value."""
    match value:
        case [[str(target)]]:  # without quotation marks, YAML reads [[target]] as lists
            value = f"[[{target}]]"
        case list():
            matches = [only_links(one) for one in value]
            return [match for each in matches for match in each] if all(matches) else []
    if not isinstance(value, str) or _WIKILINK.sub("", value).strip(" ,;"):
        return []
    return list(_WIKILINK.finditer(value))


def tags_of(value: Any) -> list[str]:
    """The tags of a property: a list, or a text with commas or blanks between them."""
    listed = value if isinstance(value, list) else re.split(r"[,\s]+", str(value or ""))
    names = (str(one).strip().lstrip("#") for one in listed if one is not None)
    return [name for name in names if name]


# Names and links ------------------------------------------------------------------------------


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


class _Folder:
    """The files of a folder, by what links call them, and the plan of their notes."""

    def __init__(self, plan: Plan, notes: list[Note], others: list[str]) -> None:
        self.plan = plan
        self._others = others
        self._concepts: dict[str, tuple[str, str]] = {}
        self._missing: dict[str, tuple[str, str]] = {}
        self._paths: dict[str, list[str]] = defaultdict(list)
        """The files of each name and end of a path, the one with the shortest path first."""
        self._whole: dict[str, list[str]] = defaultdict(list)
        """The files of each whole path, with its ending and without."""
        titles = {note.path: self._title(note) for note in notes}
        numbers = Counter(titles.values())
        taken: set[str] = set()
        self._names: dict[str, str] = {}
        for path, title in titles.items():
            names = (*([title] if numbers[title] == 1 else []), os.path.splitext(path)[0], path)
            self._names[path] = next(name for name in names if name not in taken)
            taken.add(self._names[path])
        self._files = Counter(posixpath.basename(path) for path in others)
        for note in notes:
            whole = PurePosixPath(note.path)
            keys = {*_endings(whole.with_suffix("")), *_endings(whole), titles[note.path]}
            keys |= {self._id(note)}
            for key in {_key(key) for key in keys}:
                self._paths[key].append(note.path)
            for key in {_key(note.path), _key(str(whole.with_suffix("")))}:
                self._whole[key].append(note.path)
        for path in others:
            for ending in _endings(PurePosixPath(path)):
                self._paths[_key(ending)].append(path)
            self._whole[_key(path)].append(path)
        for paths in (*self._paths.values(), *self._whole.values()):
            paths.sort(key=lambda path: (path.count("/"), len(path), path))

    def _title(self, note: Note) -> str:
        return note.stem

    def _id(self, note: Note) -> str:
        """What the tool itself knows a note by."""
        return note.path

    def add(self, note: Note) -> None:
        """Add a note with its properties; its links follow when all notes have names."""
        plan, name = self.plan, self._names[note.path]
        properties = dict(note.properties)
        tags = tags_of(properties.pop("tags", None)) + tags_of(properties.pop("tag", None))
        without_links = _MARKDOWN_LINK.sub(" ", _WIKILINK.sub(" ", note.plain))
        names = (match[1] for match in _TAG.finditer(without_links))
        tags += [tag for tag in names if not tag.isdecimal()]
        for key in ("aliases", "alias"):
            if isinstance(properties.get(key), str):
                properties[key] = [properties[key]]
        note.fields = self._fields(note)
        attributes: dict[str, Any] = {"path": note.path}
        for key, value in [*properties.items(), *note.fields]:
            if only_links(value):
                continue
            own = f"own_{key}" if key in _OWN else key
            if own != key:
                plan.warn(f"The key {key!r} of a note is written as {own!r}.")
            if own in attributes and attributes[own] != value:
                before = attributes[own] if isinstance(attributes[own], list) else [attributes[own]]
                value = [*before, value]
            attributes[own] = value
        metadata = {"original_id": self._id(note), "folder": plan.source}
        tags = list(dict.fromkeys(tags))
        try:
            concept = plan.add_note(
                note.body,
                id=name,
                timestamp=_time(note, properties),
                tags=tags,
                attributes=attributes,
                metadata=metadata,
            )
        except ValueError as fault:  # no text, or too much
            if note.body.strip():
                plan.skip(f"{note.path}: {note.body}", f"the text: {fault}")
            concept = plan.add_concept(ITEM, name, {**attributes, "tags": tags}, metadata=metadata)
        self._concepts[note.path] = concept

    def _fields(self, note: Note) -> list[tuple[str, str]]:
        return []

    def add_links(self, note: Note) -> None:
        """Add the links of a note, one for each predicate and target."""
        linked: dict[tuple[str, tuple[str, str]], dict[str, list[str]]] = {}
        subject = self._concepts[note.path]
        for link in self._links(note):
            target = self._target(link, note)
            if target is not None:
                details = linked.setdefault((link.predicate, target), {})
                for key, value in link.details.items():
                    if value not in details.setdefault(f"{key}s", []):
                        details[f"{key}s"].append(value)
        for (predicate, target), details in linked.items():
            self.plan.predicate(predicate, _DESCRIPTIONS.get(predicate, ""))
            self.plan.add_proposition(subject, predicate, target, details)

    def _links(self, note: Note) -> Iterator[Link]:
        for key, value in [*note.properties.items(), *note.fields]:
            matches = only_links(value)
            for match in matches:
                yield _wikilink(match, key)
            if not matches:
                for text in _texts(value):
                    yield from links_of(text)
        yield from self._links_in_text(note)

    def _links_in_text(self, note: Note) -> Iterator[Link]:
        return links_of(note.plain)

    def _target(self, link: Link, note: Note) -> tuple[str, str] | None:
        """The concept that a link leads to; None for a heading of the note itself."""
        if not link.target:
            return None
        path = self._find(link.target, note)
        if path is None:
            return self._absent(link, note)
        if path not in self._concepts:
            name = posixpath.basename(path)
            name = path if self._files[name] > 1 else name
            self.plan.type(ATTACHMENT, "A file that notes link to; the nexus has its path.")
            self._concepts[path] = self.plan.add_concept(
                ATTACHMENT,
                name,
                {"path": path},
                original_id=path,
                metadata={"folder": self.plan.source},
            )
        return self._concepts[path]

    def _find(self, target: str, note: Note) -> str | None:
        """The file that a link means: from the root, else beside the note, else the shortest."""
        here = posixpath.dirname(note.path)
        if target.startswith(("./", "../")):
            target = posixpath.normpath(posixpath.join(here, target))
        target = target.lstrip("/")
        paths = self._paths.get(_key(target), [])
        if len(paths) < 2:
            return paths[0] if paths else None
        for exact in (target, posixpath.join(here, target)):
            if nearest := self._whole.get(_key(exact)):
                return nearest[0]
        shown = " or ".join(sorted(paths[:_SHOWN]))
        more = f" or {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        self.plan.warn(f"{note.path}: [[{target}]] may be {shown}{more}; it is {paths[0]}.")
        return paths[0]

    def _absent(self, link: Link, note: Note) -> tuple[str, str]:
        """A note or file that is not there (yet), as a concept without a text."""
        name = link.target.removesuffix(".md")
        if _key(name) not in self._missing:
            is_file = link.predicate == "embeds" and mimetypes.guess_type(name)[0]
            metadata = {"folder": self.plan.source}
            type = ATTACHMENT if is_file else ITEM
            concept = self.plan.add_concept(type, name, metadata=metadata)
            self._missing[_key(name)] = concept
            self.plan.warn(f"{note.path} links to '{name}', which is not there.")
        return self._missing[_key(name)]

    def report_others(self) -> None:
        """Report the files that are no Markdown."""
        for path in self._others:
            kept = "only its path is kept" if path in self._concepts else "it is left out"
            self.plan.skip(path, f"this is no Markdown: {kept}")


def _endings(path: PurePosixPath) -> list[str]:
    """The ends of a path: ``a/b/c``, ``b/c`` and ``c``."""
    return ["/".join(path.parts[at:]) for at in range(len(path.parts))]


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _time(note: Note, properties: dict[str, Any]) -> str | datetime:
    """When a note was made: by its properties, by its name, or else when its file was changed."""
    candidates = (*(properties.get(key) for key in ("created", "date")), note.stem)
    times = (moment(one) for one in candidates if isinstance(one, str))
    return next(filter(None, times), note.modified)


# Obsidian -------------------------------------------------------------------------------------


class _Vault(_Folder):
    """A vault of Obsidian. The title of a note is the name of its file."""

    def _fields(self, note: Note) -> list[tuple[str, str]]:
        """The inline fields of a note; they are taken out of its plain text."""
        fields: list[tuple[str, str]] = []

        def take(match: re.Match[str]) -> str:
            fields.append((match[1].strip(), note.body[match.start(2) : match.end(2)].strip()))
            return _blank(match[0])

        for pattern in (_INLINE_FIELD, _FIELD):
            note.plain = pattern.sub(take, note.plain)
        return fields


# basic-memory ---------------------------------------------------------------------------------


class _Project(_Folder):
    """A project of basic-memory. A note may have a title and a permalink in its front matter."""

    def _title(self, note: Note) -> str:
        title = note.properties.get("title")
        return title.strip() if isinstance(title, str) and title.strip() else note.stem

    def _id(self, note: Note) -> str:
        permalink = note.properties.get("permalink")
        return permalink if isinstance(permalink, str) and permalink else note.path

    def add_links(self, note: Note) -> None:
        """Add the links and the observations of a note."""
        super().add_links(note)
        concept = self._concepts[note.path]
        for match in _items(note):
            observation = _observation(match[1], note.body[match.start(1) : match.end(1)])
            if observation is not None:
                content, attributes, metadata = observation
                self.plan.type(OBSERVATION, "What a note of basic-memory states in one line.")
                name = f"{concept[1]}: {content}"
                metadata["folder"] = self.plan.source
                made = self.plan.add_concept(OBSERVATION, name, attributes, metadata=metadata)
                self.plan.predicate(OBSERVES, _DESCRIPTIONS[OBSERVES])
                self.plan.add_proposition(concept, OBSERVES, made)

    def _links_in_text(self, note: Note) -> Iterator[Link]:
        """Each ``- type [[Target]] (context)`` with its type, and the other links."""
        rest = note.plain
        for match in _items(note):
            if (relation := _relation(match[1])) is not None:
                yield relation
                rest = rest[: match.start()] + _blank(match[0]) + rest[match.end() :]
        if note.properties.get("bm_parse_semantics") is not False:
            yield from links_of(rest)


def _items(note: Note) -> Iterator[re.Match[str]]:
    """The items of lists, as basic-memory reads them."""
    if note.properties.get("bm_parse_semantics") is not False:
        yield from _ITEM.finditer(note.plain)


def _relation(text: str) -> Link | None:
    """The link of ``type [[Target]] (context)``; None for a sentence with a link in it.

    The type is one word, or several in quotation marks.

    >>> _relation("'pairs with' [[Milk]] (often)")
    Link(predicate='pairs with', target='Milk', details={'context': 'often'})
    """
    before, _, rest = text.partition("[[")
    target, closing, after = rest.partition("]]")
    type, context = before.strip(), _CONTEXT.fullmatch(after.strip())
    if len(type) > 2 and type[0] in "'\"" and type.endswith(type[0]):
        type = type[1:-1].strip()
    elif re.search(r"\s", type):
        return None
    if not (type and target.strip() and closing and context):
        return None
    details = {"context": context[1].strip()} if context[1] else {}
    return Link(type, target.strip().replace("::", "/", 1), details)


def _observation(plain: str, text: str) -> tuple[str, Json, Json] | None:
    """The text, the attributes and the metadata of an observation; None if a line is none.

    >>> _observation(*["[tip] Rinse #brewing (at home)"] * 2)[1]
    {'content': 'Rinse #brewing', 'category': 'tip', 'context': 'at home', 'tags': ['brewing']}
    """
    category, content = "", text.strip().removesuffix(" #bm:links_to")  # said of its links
    match = _CATEGORY.fullmatch(content)
    tags = [
        tag
        for word in plain[: len(content)].split()
        if word[0] == "#"
        for tag in word.split("#")
        if tag
    ]
    if match and _NO_CATEGORY.fullmatch(match[1].strip()):
        if match[1] in (" ", "x", "-"):
            return None  # a task
        match = None
    if _ONLY_LINK.fullmatch(content) or not (tags or (match and match[1].strip())):
        return None
    if match:
        category, content = match[1].strip(), match[2].strip()
    attributes: Json = {"category": category or None}
    metadata: Json = {}
    if qualifier := _QUALIFIER.match(content):
        kind, (since, until) = qualifier["kind"] or "valid", _period(qualifier)
        if since or until:
            content = content[qualifier.end() :]
            own = {"valid_from": since, "valid_until": until}
            if kind in ("valid", "effective"):
                metadata = {key: value for key, value in own.items() if value}
            else:
                attributes[kind] = since or until
    if content.endswith(")") and (start := content.rfind("(")) >= 0:
        attributes["context"] = content[start + 1 : -1].strip()
        content = content[:start].strip()
    if not content:
        return None
    attributes = {"content": content, **attributes, "tags": tags}
    return content, {key: value for key, value in attributes.items() if value}, metadata


def _period(qualifier: re.Match[str]) -> tuple[str | None, str | None]:
    """The times of a qualifier, from and until; None for what is no time in ISO 8601."""
    return moment(qualifier["since"] or qualifier["on"]), moment(qualifier["until"])
