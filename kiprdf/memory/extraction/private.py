"""Masks what no entity may contain: addresses, telephone numbers, and secrets."""

from __future__ import annotations

import re

PRIVATE = "\ue000"
"""Replaces each character of it."""

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*")
_PHONE = re.compile(
    r"(?<![\w.+-])(?!\(?\d{4}[-/.]\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\d{1,3}(?:\.\d{1,3}){3})"
    r"\+?\(?\d[\d ().-]{6,18}\d(?!\w)"
)
_STREET = (
    r"(?:Street|Avenue|Road|Lane|Boulevard|Drive|Court|Square|Place|Terrace|Crescent|Parkway"
    r"|Highway|Alley|Close|Gardens|Way|Row|Walk|Mews|Grove|Circle|Trail|Quay|Circus|Broadway|Plaza"
    r"|Hill|St|Ave|Rd|Ln|Blvd|Dr|Ct|Sq|Pl|Pkwy|Hwy)\b\.?"
)
_WORDS = r"(?:[\w'.-]{1,25}\s){1,3}"
_ADDRESSES = (
    # 12 Main Street, 12 oak lane, Oak Lane 5.
    re.compile(rf"\b\d{{1,5}}[A-Za-z]?(?:[/-]\d{{1,4}})?,?\s(?=[A-Z\d]){_WORDS}{_STREET}"),
    re.compile(rf"\b\d{{1,5}}[a-z]?\s{_WORDS}(?:street|avenue|road|lane|boulevard)\b", re.I),
    re.compile(rf"\b[A-Z][\w'-]{{1,20}}\s{_STREET}\s\d{{1,4}}[A-Za-z]?\b"),
    # Hauptstraße 12, Kungsgatan 3.
    re.compile(
        r"\b[\w-]{2,40}(?:stra(?:ß|ss)e|str\.|weg|allee|gasse|platz|ring|ufer|damm|straat|gracht"
        r"|laan|plein|gatan|vägen|gate|veien|vej|gade|katu),?\s\d{1,4}\s?[a-z]?\b",
        re.I,
    ),
    # 12 rue de la Paix, Via Roma 7.
    re.compile(
        r"\b\d{1,4}(?:\s(?:bis|ter))?,?\s(?:rue|avenue|boulevard|place|quai|chemin|impasse"
        r"|allée)\s(?:[\w'-]{1,30}\s){0,3}[A-Z][\w'-]{1,30}\b|\b(?i:calle|carrer|via|viale|corso"
        r"|piazza|largo|plaza|paseo|avenida|rua|ulica|ul\."
        r"|ulitsa)\s(?:[\w'.-]{1,30}\s){0,4}?[\w'.-]{1,30},?\s(?:n[º°o]?\.?\s?)?\d{1,4}\b"
    ),
    # A number, a street, a postcode and a town.
    re.compile(
        rf"\b(?:\d{{1,5}}[a-z]?\s{_WORDS}?[\w'.-]{{2,25}}|{_WORDS}\d{{1,5}}[a-z]?)"
        r",?\s(?:[A-Z]{1,2}-)?\d{4,5}\s[A-Z][\w-]+"
    ),
    # A box, and British and American postcodes.
    re.compile(
        r"\b(?i:P\.?\s?O\.?\sBox)\s\d{1,8}\b|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b"
        r"|\b[A-Z]{2}\s\d{5}(?:-\d{4})?\b|\b(?:apt|apartment|flat|unit"
        r"|suite)\.?\s(?=\w{0,3}\d)\w{1,4}\b",
    ),
)
_HOLE = re.compile(
    r"\{{1,3}[\w .-]{1,40}\}{1,3}|<[A-Za-z][\w .-]{0,40}>(?=[\s.,;:!?]|$)|_{3,80}"
    r"|\[[A-Z][A-Z_ ]{1,30}\]"
)
"""What a template leaves open, which is no name."""
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:\s?[A-Z\d]{4}){3,7}(?:\s?[A-Z\d]{1,3})?\b")
_TOKEN = re.compile(
    r"-----BEGIN [A-Z ]{0,30}KEY-----[^-]{0,5000}(?:-----END [A-Z ]{0,30}KEY-----)?"
    r"|(?<![\w/-])(?:gh[a-z]_|github_pat_|glpat-|sk-|[srp]k_(?:live|test)_|AKIA|ASIA|AIza|xox[a-z]-"
    r"|eyJ|ya29\.|npm_|pypi-|hf_|SG\.|dop_v1_|shpat_)[\w.~+/=-]{8,500}"
    # A long word of letters of both cases and digits, or of hexadecimal digits.
    r"|(?<![\w./\\-])(?=[\w+=-]{0,60}\d)(?=[\w+=-]{0,60}[a-z])(?=[\w+=-]{0,60}[A-Z])[\w+=-]{20,500}(?![\w/\\])|(?<![\w./\\-])(?:0x)?(?=[a-f\d-]{0,60}\d)[a-f\d]{24,128}(?![\w/\\])"
)
_GROUPS = re.compile(r"\b[A-Z\d]{4}(?:-[A-Z\d]{4,6}){2,8}\b")
_CREDENTIAL = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|(?-i:PIN)|pin\scode|(?:api|access|secret|private|signing"
    r"|encryption|licen[cs]e)[\s_-]?keys?|(?:door|recovery|security|backup)\scodes?|code"
    r"|passport|bearer"
    r"|(?<!\w)\w{0,40}(?:_KEY|_SECRET|_TOKEN|_PASSWORD)(?==)|secrets?|tokens?|credentials?|login)"
)
_VALUES = (
    # The password is X, password: X, password=X; set the password to X.
    re.compile(
        rf"\b{_CREDENTIAL}\b[^.!?\n]{{0,30}}?(?:\s*[:=]\s*|\s(?:is|was)\s(?:now\s)?)"
        r"[\"'`]?(?P<value>(?!(?:not|a|an|the|to|in|on|my|our|stored|kept|too)\b)\S{3,200})",
        re.I,
    ),
    re.compile(
        rf"\b(?:set|sets|setting|reset|chang\w+|updat\w+)\s(?:[\w'-]{{1,20}}\s){{0,3}}{_CREDENTIAL}"
        r"\s(?:[\w'-]{1,20}\s){0,3}?to\s[\"'`]?(?P<value>\S{3,200})",
        re.I,
    ),
    # The password X1: only what has a digit or a sign in it.
    re.compile(
        rf"\b{_CREDENTIAL}\s+[\"'`]?(?P<value>(?=\S{{0,60}}[\d!@#$%^&*_])(?!v?\d+\.\d)\S{{4,200}})",
        re.I,
    ),
    # The password word, the pin, 1234.
    re.compile(
        r"\bpass(?:word|phrase|code)\s(?!(?:manage|generat|polic|reset|protect|field|prompt|hash"
        r"|rotat|base|auth|stor|vault|file|length|strength|rule|login|and\b|or\b|for\b|in\b|on\b"
        r"|is\b|was\b|to\b|of\b|with\b|from\b|as\b|at\b|by\b|that\b"
        r"|which\b))[\"'`]?(?P<value>[^\s.,;!?]{3,60})"
        r"(?=\W*(?:$|\n|[.,;!?]))",
        re.I,
    ),
    re.compile(r"\bpin\W{1,3}(?P<value>\d{3,12})\b", re.I),
    # X as my password.
    re.compile(
        rf"(?<!\S)[\"'`]?(?P<value>\S{{3,200}})\s(?:as|for)\s(?:my|our|the|a)\s(?:[\w-]{{1,20}}\s)?"
        rf"{_CREDENTIAL}\b",
        re.I,
    ),
)
_CREDENTIAL_WORDS = (
    *("pass", "pwd", "pin", "key", "code", "bearer", "secret", "token", "credential", "login"),
)
"""Each credential has one of them in its name."""
_DIGIT = re.compile(r"\d")


def hidden(length: int) -> str:
    """What replaces a part of a text that states nothing: a line without words.

    Not of line ends alone, since expressions take the square of the length of a run of blanks.
    """
    return "\n" * length if length < 3 else "\n" + "\ue003" * (length - 2) + "\n"


def is_credential(name: str) -> bool:
    """Whether a name is only the word for a secret, whose value stands beside it."""
    if re.search(r"\bpass(?:phrase|code)\b", name, re.I):
        return True
    return re.fullmatch(rf"(?:\w+\s+)?{_CREDENTIAL}", name, re.I) is not None


def is_private(name: str) -> bool:
    """Whether a name has a secret, an address, or a telephone number in it.

    >>> is_private("hunter2 as my password"), is_private("dark mode")
    (True, False)
    """
    return PRIVATE in without_private(without_contacts(name)) or is_credential(name)


def without_contacts(text: str) -> str:
    """A text whose e-mail addresses and secrets are masked; links and paths are not yet."""
    text = _masked(_EMAIL, text) if "@" in text else text
    if any(mark in text for mark in "{<[_"):
        text = _masked(_HOLE, text)
    return _masked(_TOKEN, text)


def without_private(text: str) -> str:
    """A text whose numbers, postal addresses and passwords are masked."""
    if _DIGIT.search(text):
        for pattern in (_IBAN, _GROUPS, _PHONE, *_ADDRESSES):
            text = _masked(pattern, text)
    lowered = text.lower()
    if any(word in lowered for word in _CREDENTIAL_WORDS):
        for pattern in _VALUES:
            text = pattern.sub(_without_value, text)
    return text


def _without_value(match: re.Match[str]) -> str:
    start, end = (place - match.start() for place in match.span("value"))
    return match[0][:start] + PRIVATE * (end - start) + match[0][end:]


def _masked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: PRIVATE * len(match[0]), text)
