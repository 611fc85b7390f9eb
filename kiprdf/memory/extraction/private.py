"""Masks what no entity may contain: addresses, telephone numbers, and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiprdf.memory.extraction.words import word_set

PRIVATE = "\ue000"
"""Replaces each character of it."""

_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*"
    r"|(?<![\w@])@[\w.-]{1,64}:[\w-]{1,63}\.[\w.-]{1,63}"
)
_LINK = re.compile(
    r"\b[a-z][a-z\d+.-]{1,20}://(?:[^\s/?#@]{0,200}:[^\s/?#@]{0,200}@|[^\s<>\"'`]{1,500}?[?&#;]"
    r"[\w-]{0,20}(?:key|token|secret|pass\w*|pwd|sig\w*|auth|code)=)[^\s<>\"'`]{0,500}",
    re.I,
)
"""A link with a password, or with a parameter that is secret."""
_PHONE = re.compile(
    r"(?<![\w.+-])(?<!ISBN )(?<!ISBN: )(?!\(?\d{4}[-/.]\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"
    r"|\d{1,3}(?:\.\d{1,3}){3}|\d{1,3}(?: 000)+\b(?! \d))"
    r"\+?\(?\d[\d ().-]{6,18}\d(?!\w)"
)
_STREET = (
    r"(?:Street|Avenue|Road|Lane|Boulevard|Drive|Court|Square|Place|Terrace|Crescent|Parkway"
    r"|Highway|Alley|Close|Gardens|Way|Row|Walk|Mews|Grove|Circle|Trail|Quay|Circus|Broadway|Plaza"
    r"|Hill|Prospekt|St|Ave|Rd|Ln|Blvd|Dr|Ct|Sq|Pl|Pkwy|Hwy)\b\.?"
)
_WORDS = r"(?:[\w'.-]{1,25}\s){1,3}"
_ADDRESSES = (
    # 12 Main Street, 12 oak lane, Oak Lane 5.
    re.compile(rf"\b\d{{1,5}}[A-Za-z]?(?:[/-]\d{{1,4}})?,?\s(?=[A-Z\d]){_WORDS}{_STREET}"),
    re.compile(
        rf"\b\d{{1,5}}[a-z]?\s(?!(?:on|of|in|by|the|and)\b){_WORDS}"
        r"(?<!the\s)(?:street|avenue|road|lane|boulevard)\b",
        re.I,
    ),
    re.compile(rf"\b[A-Z][\w'-]{{1,20}}\s{_STREET}\s\d{{1,4}}[A-Za-z]?\b"),
    # Hauptstraße 12, Kungsgatan 3.
    re.compile(
        r"\b(?-i:(?:Am|Im|(?:An|Auf|In|Hinter)\s(?:der|dem|den)|Unter\sden|Zum|Zur)\s[A-ZÄÖÜ]\w{2,30}"
        r"|[A-Z]\w{3,20}(?:owska|ewska|ańska|ińska|ecka|icka|owa))\s\d{1,4}(?:/\d{1,4})?[a-z]?\b"
        r"|\b[\w-]{2,40}(?:stra(?:ß|ss)e|str\.|weg|allee|gasse|platz|ring|ufer|damm|straat|gracht"
        r"|laan|plein|gatan|vägen|gate|veien|vej|gade|nkatu|intie),?\s\d{1,4}\s?[a-z]?\b",
        re.I,
    ),
    # 12 rue de la Paix, Via Roma 7.
    re.compile(
        r"\b\d{1,4}(?:\s(?:bis|ter))?,?\s(?i:rue|avenue|boulevard|place|quai|chemin|impasse"
        r"|allée|rua|calle|avenida|via)\s(?:[\w'-]{1,30}\s){0,3}[A-Z][\w'-]{1,30}\b"
        r"|\b(?:(?:Via|Avenue|Jalan)\s[A-Z]|(?i:calle|carrer|viale|corso"
        r"|piazza|largo|plaza|paseo|avenida|rua|c/|ulica|ul\."
        r"|ulitsa)\s)(?:[\w'.-]{1,30}\s){0,4}?[\w'.-]{1,30},?\s(?:n[º°o]?\.?\s?)?\d{1,4}\b"
        r"|\b(?:Calle|Carrera)\s\d{1,3}[A-Z]?\s(?:No\.?|#)\s?\d[\d-]*"
        r"|\b[A-Z]\w{1,20}s\s(?:gate|vei|plass)\s\d{1,4}\b"
    ),
    # A number, a street, a postcode and a town.
    re.compile(
        rf"\b(?:\d{{1,5}}[a-z]?\s{_WORDS}?[\w'.-]{{2,25}}|{_WORDS}\d{{1,5}}[a-z]?)"
        r",?\s(?:[A-Z]{1,2}-)?\d{4,5}\s[A-Z][\w-]+"
    ),
    # A box, and British and American postcodes.
    re.compile(
        r"\b(?i:P\.?\s?O\.?\sBox)\s\d{1,8}\b|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b"
        r"|\b[A-Z]{2}\s\d{5}(?:-\d{4})?\b|\b\d{1,2}[\s-](?i:chome)\b[\d-]{0,8}(?:\s[A-Z][\w-]{1,30})?"
        r"|\b\d{1,2}-\d{1,2}-\d{1,2}\s[A-Z]\w{1,20},\s[A-Z]\w{1,20}-(?:ku|shi|cho)\b"
        r"|\b(?:House|Plot|Block)\s\d{1,4}[A-Z]?,\s(?:Road|Street|Block|Sector|Lane)\s\d{1,4}\b"
        r"|\b(?:apt|apartment|flat|unit"
        r"|suite)\.?\s(?=\w{0,3}\d)\w{1,4}\b",
    ),
)
_PLACES = (
    # Addresses of a network, not those of a version, or of a private network.
    re.compile(
        r"(?<![\w.-])(?<!version )(?=[\d.]{0,12}\d{3})"
        r"(?!(?:10|127|255)\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)"
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w-]|\.\d)"
    ),
    re.compile(
        r"\b(?:[\da-f]{2}[:-]){5}[\da-f]{2}\b|\b(?:[\da-f]{4}\.){2}[\da-f]{4}\b|(?<![\w:.])(?=[a-f:]{0,20}\d)"
        r"(?=[\da-f:]{0,40}(?:::|[a-f]))(?:[\da-f]{0,4}:){3,7}[\da-f]{0,4}(?![\w:])",
        re.I,
    ),
    # Coordinates, plates of cars, and a number of taxpayers.
    re.compile(
        r"-?\b\d{1,3}\.\d{4,}°?\s?[NS]?,\s?-?\d{1,3}\.\d{4,}|\b[NS]\s?\d{1,3}\.\d{3,}"
        r"|\b\d{1,3}°\s?\d{1,2}['′][^\s,]{0,8}"
        r"|\b(?!USB|A-B\b)[A-ZÄÖÜ]{1,3}-[A-Z]{1,2}\s\d{1,4}[EH]?(?!\w|\.\d)"
        r"|\b[A-Z]{2}\d\d\s[A-Z]{3}\b|\b[A-Z]{5}\d{4}[A-Z]\b"
    ),
    # Dates of birth.
    re.compile(
        r"\b(?:(?-i:DOB)|born(?:\son)?|date\sof\sbirth|birth\s?(?:date|day))\b(?:\W{1,3}(?:is|was)\b)?"
        r"\W{1,3}(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}(?:st|nd|rd|th)?\s[a-z]{3,9}\.?,?\s\d{4}"
        r"|[a-z]{3,9}\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4})\b",
        re.I,
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
    r"|(?<![\w/-])(?:sk-|eyJ|ya29\.|pypi-|SG\.)[\w.~+/=-]{8,500}"
    r"|(?<![A-Za-z\d])(?:gh[a-z]_|github_pat_|glpat-|[srp]k_(?:live|test)_|AKIA|ASIA|AIza|xox[a-z]-"
    r"|npm_|hf_|dop_v1_|shpat_)[\w~+=-]{8,500}"
    # A long word of letters of both cases and digits, or of hexadecimal digits.
    r"|(?<![\w./\\-])(?=[\w+=-]{0,60}\d)(?=[\w+=-]{0,60}[a-z])(?=[\w+=-]{0,60}[A-Z])[\w+=-]{20,500}(?![\w/\\])"
    r"|(?<![\w./\\-])(?<!commit )(?:0x)?(?=[a-f\d-]{0,60}\d)[a-f\d]{24,128}(?![\w/\\])"
)
_GROUPS = re.compile(r"\b(?=[A-Z-]{0,40}\d)[A-Z\d]{4,6}(?:-[A-Z\d]{4,6}){2,8}\b")
_ABOUT = (
    r"(?:manage\w*|generat\w*|polic\w*|length|lifetimes?|limits?|expir\w*|counts?|budgets?|size"
    r"|formats?|rotation|strength|hash\w*|fields?|prompts?|storage|stores?|vaults?|auth\w*|rules?"
    r"|protect\w*|based|scopes?|headers?|support|pricing|scanning|reviews?|coverage|style"
    r"|types?|usage|flow|bucket|cookies?|exchange|economy|endpoints?|service|pages?|screens?|forms?|santa|sauce|weapon|ingredient|recipe)\b"
)
"""What is said of secrets without one: "password managers", "token lifetime"."""
_CREDENTIAL = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|pwd?|\w{1,20}/pass|pin\scode|(?-i:PIN)|(?:api|access|secret"
    r"|private|signing|encryption|licen[cs]e|product|activation|recovery|master|wi-?fi|wlan|wpa2?"
    r"|network|router|pre-?shared)[\s_-]?keys?"
    r"|(?<!error )(?<!status )(?<!exit )(?<!return )(?<!response )(?<!country )(?<!source )code"
    r"|passport|bearer|otp|cvv2?|cvc|ssn|social\ssecurity\snumber|tax\s(?:id|number)"
    r"|maiden\sname|security\sanswer|plate"
    r"|\w{1,40}(?:(?:password|passwd|secret|token|apikey)(?=[\"']?\s?[=:])|_SECRET|_TOKEN"
    r"|_PASS(?:WORD|WD)?|_PWD|(?-i:_KEY))"
    r"|secrets?|tokens?|credentials?|login)"
    rf"\b(?!\s{_ABOUT})",
    re.I,
)
_VALUES = (
    # The password is X, password: X, password=X.
    re.compile(
        r"[^.!?\n]{0,30}?(?:\s*[:=]\s*|\s(?:is|was|will\sbe|should\sbe|must\sbe|becomes)\s(?:now\s)?)"
        r"[\"'`]?(?P<value>(?!(?:not|a|an|the|to|in|on|my|our|stored|kept|too)\b)\S{3,200})",
        re.I,
    ),
    # The password X1: only what has a digit or a sign in it.
    re.compile(
        r"\s+[\"'`]?(?P<value>(?=\S{0,60}[\d!@#$%^&*_]|[a-z]+-[a-z]+-[a-z])(?!v?\d+\.\d)\S{3,200})",
        re.I,
    ),
)
"""After a credential."""
_CHANGING = re.compile(
    r"\b(?:set|sets|setting|reset|chang\w+|updat\w+|rotat\w+)\s(?:[\w'-]{1,20}\s){0,3}$", re.I
)
_TO = re.compile(r"\s(?:[\w'-]{1,20}\s){0,3}?to\s[\"'`]?(?P<value>\S{3,200})", re.I)
_WITH_WORD = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|pwd?|maiden\sname|security\sanswer|(?:client|shared|webhook"
    r"|app|api|access|use(?:\sthe|\smy|\sour)?)\s(?:secret|token|bearer)"
    r"|access\scode|(?:api|access|secret|wi-?fi|wlan|network|product)\skey)$",
    re.I,
)
_WORD = re.compile(
    r",?\s(?!(?:reset|file|login|and|or|for|in|on|is|was|to|of|with|from|as|at|by|that|which)\b)"
    r"[\"'`]?(?P<value>[^\s.,;!?]{3,60})(?=\W*(?:$|\n|[.,;!?]|\s(?:for|as|in|on|at)\b))",
    re.I,
)
"""The password word, at the end of a clause."""
_AS = re.compile(
    r"(?<!\S)[\"'`]?(?P<value>\S{3,200})\s(?:as|for)\s(?:my|our|the|a)\s(?:[\w-]{1,20}\s)?$", re.I
)
_FAR = 300
_SEED = r"(?:seed|recovery|backup|mnemonic|secret)\s(?:phrase|words?)"
_OTHER_VALUES = (
    re.compile(r"\bpin\W{1,3}(?:(?:is|was|to|now)\s){0,2}(?P<value>\d{3,12})\b", re.I),
    re.compile(
        r"\b(?:card|account)\s(?:ending|number|no\.?)\s(?:in\s|is\s)?(?P<value>\d{3,})", re.I
    ),
    # In a command.
    re.compile(
        r"(?:--[\w-]{0,20}(?:key|token|secret|password)[\s=]|\b(?:curl\s[^\n]{0,80}?-u"
        r"|(?:mysql\w{0,10}|sshpass)\s[^\n]{0,80}?-p|ssh-keygen\s[^\n]{0,80}?-N"
        r"|openssl\s[^\n]{0,80}?-k|htpasswd\s-b\w{0,3}\s\S{1,80}\s\S{1,80}\s|basic\sauth\s))"
        r"\s?[\"'`]?(?P<value>\S{3,200})"
    ),
    # The words from which a wallet is made again.
    re.compile(
        rf"\b{_SEED}\W{{1,3}}(?:is\s)?(?!(?:in|on|at|to|for|with|off|from|and|or|as|that|which)\b)"
        rf"(?P<value>(?:[a-z]{{3,8}}\s){{5,23}}[a-z]{{3,8}})\b",
        re.I,
    ),
    re.compile(
        rf"\b(?P<value>(?:[a-z]{{3,8}}\s){{5,23}}[a-z]{{3,8}})\sas\s(?:(?:my|our|the)\s)?{_SEED}\b"
    ),
)
_CREDENTIAL_WORDS = word_set(
    "pass pw pin key code bearer secret token credential login otp cvv cvc ssn social tax maiden"
    " security plate card account phrase words curl mysql openssl auth"
)
"""What is hidden stands beside one of them."""
_DIGIT = re.compile(r"\d")
_UNIT = r"(?:%|[kKMGT]i?B|[mnµ]?s|px|pt|k?m|k?g|[kMG]?Hz|USD|EUR|GBP|CHF)\b"
_COUNT = r"(?<![\w.-])\d{1,3}(?:[ ,._]?\d{3}){1,3}"
_NUMBERED = re.compile(
    # A date, a round number, one with a unit, an issue, a standard, a book, a commit, a curve.
    r"(?<!\d)(?:19|20)\d\d-?[01]\d(?:-?[0-3]\d)?(?!\d)|\b\d{1,4}(?:[ ,._]?000){1,3}(?!\w)"
    rf"|{_COUNT}\s?{_UNIT}"
    r"|#\d{1,6}\b|\b(?:PR|issue|ticket|port|RFC|ISO|IEC|IEEE|PEP|EN|DIN|CVE-\d{4})[ -]?#?\d{1,6}\b"
    r"|\bISBN:?\s[\dX-]{10,17}(?!\w)|\b(?:commit|sha)\s[\da-f]{7,40}\b|\b(?:ed|x|curve)25519\b"
    r"|\bsecp\d{3}\w\d\b|\bi[3579]-\d{4,5}[A-Z]{0,2}\b|(?<![\w.])\d{1,3}\.\d{3,12}(?![\w.])"
    r"|\bid\s[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b",
    re.I,
)
"""Numbers that are neither secret nor of a person."""
_COUNTED = re.compile(rf"{_COUNT}(?=\s(?!has\b|was\b|this\b|unlocks\b|opens\b)[a-z]{{2,20}}s\b)")
_LOCKED = re.compile(
    r"\b(?:accounts?|wi-?fi|wlan|admin|safe|vault|lock(?:er|s)?|door|gate|alarm|router|unlock"
    r"|encrypt|protect|zip|log(?:s|ging)?\s?in|sign\s?in|root|rotat\w+|combination|card|hint|salt"
    r"|sim)\b",
    re.I,
)
"""What is locked, by a word or number that may stand beside it."""
_KEY = re.compile(
    r"(?!(?:19|20)\d\d\b)\b\d{4}|\d-\d+-\d|\b[a-z]{2,}-[a-z]{2,}-\d|\b(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{6,}\b",
    re.I,
)
_CODE = re.compile(
    rf"\bpass(?:word|phrase|code)\b(?!\s{_ABOUT})|\b(?-i:PIN)\b|(?:\d[ -]?){{6}}"
    # Not within a name such as Xq31337zv.
    r"|(?<![a-z])\d{5}|\d{5}(?![a-z\d])"
    # Letters and digits by turns, without a word.
    r"|(?<![\w-])(?=[a-z\d-]{8})(?![\w-]{0,80}[a-z]{4})(?:[a-z]{1,9}-?\d{1,9}-?){2}[a-z]{1,9}-?\d"
    r"|(?<![\w-])(?=[a-z\d]{8})(?:(?:[a-z]{1,20}\d{1,9}){2}|(?:\d{1,9}[a-z]{1,20}){2})"
    # Two signs within a word that has a digit.
    r"|(?<!\S)(?=\S{8})(?=\S{0,60}\d)\w{1,60}[#$%^&*!]+\w{1,60}[#$%^&*!]+\w"
    # The words of a wallet: twelve without a function word.
    r"|(?-i:(?:\b(?!(?:the|and|for|with|from|that|this|our|not|but|all|into|before|after|every"
    r"|using|each|when|per|via|over|only|than)\b)(?P<word>[a-z]{3,8})\s(?!(?P=word)\b)){11}"
    r"[a-z]{3,8}\b)"
    r"|\bcode\b.{1,30}\b(?!(?:19|20)\d\d\b)\d{4}\b"
    r"|\banswer\b.{1,60}\bsecurity\squestion|\bsecurity\squestion\b.{1,60}\banswer",
    re.I,
)


def may_be_code(name: str) -> bool:
    """Whether a name has what may be a secret, or a number of a person or a place.

    >>> may_be_code("Use 8f3k22lm99"), may_be_code("Unlock the phone with 2580")
    (True, True)
    >>> may_be_code("Use UUIDv7 for ISO 27001"), may_be_code("Cap it at 65536 rows")
    (False, False)
    """
    rest = _NUMBERED.sub("", name)
    if _LOCKED.search(name):
        return _KEY.search(rest) is not None or _CODE.search(rest) is not None
    return _CODE.search(_COUNTED.sub("", rest)) is not None


def hidden(length: int) -> str:
    """What replaces a part of a text that states nothing: a line without words.

    Not of line ends alone, since expressions take the square of the length of a run of blanks.
    """
    return "\n" * length if length < 3 else "\n" + "\ue003" * (length - 2) + "\n"


def is_credential(name: str) -> bool:
    """Whether a name is only the word for a secret, whose value stands beside it."""
    if re.search(r"\bpass(?:phrase|code)\b", name, re.I):
        return True
    named = next((each for each in _CREDENTIAL.finditer(name) if each.end() == len(name)), None)
    if named is None or not re.fullmatch(r"(?:\w+\s+)?", name[: named.start()]):
        return False
    return named.start() == 0 or named[0].lower() not in ("login", "code", "plate")


def is_private(name: str) -> bool:
    """Whether a name has a secret, an address, or a telephone number in it.

    >>> is_private("hunter2 as my password"), is_private("dark mode")
    (True, False)
    """
    masked = without_private(without_contacts(name))
    return PRIVATE in masked or is_credential(name) or may_be_code(name)


def without_contacts(text: str) -> str:
    """A text whose e-mail addresses and secrets are masked; links and paths are not yet."""
    text = _masked(_LINK, text) if "://" in text else text
    text = _masked(_EMAIL, text) if "@" in text else text
    if any(mark in text for mark in "{<[_"):
        text = _masked(_HOLE, text)
    return _masked(_TOKEN, text)


def without_private(text: str) -> str:
    """A text whose numbers, postal addresses and passwords are masked."""
    if _DIGIT.search(text):
        for pattern in (_IBAN, _GROUPS, *_PLACES, _PHONE, *_ADDRESSES):
            text = _masked(pattern, text)
    lowered = text.lower()
    if not any(word in lowered for word in _CREDENTIAL_WORDS):
        return text
    spans = [match.span("value") for each in _OTHER_VALUES for match in each.finditer(text)]
    for credential in _CREDENTIAL.finditer(text):
        spans += _values_beside(text, *credential.span())
    pieces, place = [], 0
    for start, end in sorted(spans):
        if place < end:
            pieces += [text[place:start], PRIVATE * (end - max(start, place))]
            place = end
    return "".join([*pieces, text[place:]])


def _values_beside(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The places of what may be the value of the credential that is named at a place."""
    before = text[max(0, start - _FAR) : start]
    after = [pattern.match(text, end) for pattern in _VALUES]
    if _CHANGING.search(before):
        after.append(_TO.match(text, end))
    if _WITH_WORD.search(before[-12:] + text[start:end]):
        after.append(_WORD.match(text, end))
    yield from (match.span("value") for match in after if match)
    value = _AS.search(before)
    if value is not None:
        yield value.start("value") + start - len(before), value.end("value") + start - len(before)


def _masked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: PRIVATE * len(match[0]), text)
