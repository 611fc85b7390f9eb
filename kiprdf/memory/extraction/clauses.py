"""Finds the subject of a clause, and whether the clause states something."""

from __future__ import annotations

import re
from typing import TypeAlias

from kiprdf.memory.extraction.document import Document
from kiprdf.memory.extraction.ordinary_words import PLANS, TOPICS, any_of, word_set

_WINDOW = 160
"""The characters before a verb that are read for its subject; this bounds the time."""
_BREAK = re.compile(
    r"[;:()\[\]\n]|\s(?:-{1,3}|[–—])\s|—|(?<!back),?\s(?:but|because|although|though|whereas|while"
    r"|so|then)\s|,\s*(?:(?:and|then|so|now|today)\s+)?(?=(?:i|we|he|she|they|you|it)\b)"
    r"|\sand\s+(?=(?:i|we|he|she|they|you|it)\b)",
    re.I,
)
_NEGATION = any_of("""
    not never cannot no_longer no nor neither none nobody without hardly rarely barely
    stop(?:s|ped|ping)? quit avoid(?:s|ed|ing)? refus(?:e|es|ed|ing) against instead_of rather_than
    tired_of sick_of hate dislike regret(?:ted)? gave_up giv(?:e|ing)_up drop(?:ped|ping)?
    fail(?:ed)?_to forgot_to far_from away_from ain't aren't isn't wasn't weren't don't doesn't
    didn't haven't hasn't hadn't won't wouldn't can't couldn't shouldn't mustn't needn't
    """)
_HEDGE = any_of("""
    if unless whether might may could would should maybe perhaps possibly wish hope hoping
    wonder(?:ed|ing)? consider(?:ed|ing)? thinking_(?:of|about) think_about thought_about
    want(?:s|ed)?_to wanna like_to love_to suppos(?:e|ing) imagin(?:e|ing) pretend assum(?:e|ing)
    doubt someday one_day in_theory plan(?:s|ned|ning)?_(?:to|on|for) tempted propos(?:e|ed|es|ing)
    suggest(?:s|ed|ing)? recommend(?:s|ed|ing)? let's lets talk(?:ed|ing|s)?_about according_to
    discuss(?:ed|ing|es)? dream(?:ed|ing|t)?_of how_to evaluat(?:e|ed|ing) i'd we'd i'll we'll
    hopefully ideally ideal soon tomorrow eventually for_(?:example|instance) lied yeah_right
    it's_false in_(?:a|my)_dream (?:like|as_if|as_though)_(?:i'm|i_am|i_was|i_were) some_point
    (?:in|for)_the_future next_(?:week|month|quarter|year|sprint|time)
    starting_(?:in|on|from|next|\\w+day) by_20\\d\\d from_(?:next|\\w+day) pending debating curious
    undecided not_sure guess apparently supposedly allegedly looks_like seems_(?:like|that)
    looking_(?:into|at|forward) lean(?:ing|s)?_towards? feel(?:ing)?_like will shall gonna going_to
    about_to (?:need|needs|have|has|had|ought|yet)_to must try tries trying tried todo start end_up
    remember_to almost nearly instead_of meaning_to learning_to fail(?:ed|ing)_at forced asked_to
    made_(?:us|me) dreamt miss pretending favou?r less
    (?:mention(?:s|ed)|wr(?:ote|ites)|states?|explains?|argues?|post(?:s|ed)|announce[sd]|report(?:s|ed)|joke[sd])_(?:\\w+_){0,4}that
    saying claiming insisting swears_(?:that|we|i) forget_(?:that|about|my|the)
    forget(?=\\s+(?:i|we)\\b) (?:delete|remove|erase|ignore|disregard|discard)_(?:that|the|my|what)
    you'd you_(?:might|may|would|could) ask(?:ed|ing|s)? thinks believes says said claims claimed
    insists assumes t(?:old|ells?) wants saw watched noticed heard met interviewed hired reviewed
    taught idea thought possibility option prospect concept benefits? advantages? tutorials? guides?
    articles? books? courses? workshops? videos? podcasts?
    (?:read|reading|heard|learn(?:ed|t|ing)?|watched|blogged|posts?|notes?)_(?:about|on|how)
    (?:know|knew|excited|worried|talks?|questions?|webinar|news|jokes?)_(?:about|on|how)
    (?:read|learn(?:ed|t)?|know|wrote)_(?:a|some|more|something)_(?:about|on|how)
    """)
_CONDITION = any_of("""
    if unless once(?!\\s+(?:a|an|per|every|in|again|more)\\b) assuming provided providing supposing
    pending in_case as_soon_as as_long_as
    """)
_ASIDE = re.compile(r";|,\s+(?:so\s+|please\s+)?(?:ping|call|text|mail|ask)\s+(?:me|us)\b", re.I)
_HAD = re.compile(r"\W{0,8}had\s+(?:i|we)\b", re.I)
_LATER = any_of(
    "soon tomorrow someday later_(?:this|on) next_(?:week|month|quarter|year|sprint|time)"
)
_ASKS = re.compile(
    r"[\W_]{0,8}(?:(?:so|and|but|ok|hey|hi)\W{1,2})?(?:(?:am|are|is|do|does|did|should|can|could"
    r"|would|have|has|shall|may)\s+(?:i|we|you|he|she|they|it|anyone|anybody|someone|the|this|that"
    r"|these)\b|(?:how|why|what|which|where|when|who)\b[^,]{0,40}?\b(?:do|does|did|am|are|should"
    r"|can|could|to)\s|any(?:one|body)\b)",
    re.I,
)
_IRONY = re.compile(
    r"/s\b|\bchanged\s+(?:my|our)\s+minds?\b|\bas\s+much\s+as\b|\bnot!"
    r"|\bbut\s+(?:we\s+|i\s+)?(?:later|then)\s+(?:revers|revert|cancel|undid|chang|gave)"
    r"|\bsaid\s+no\s?(?:one|body)\b",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\W{1,8}(?:not|said\s+no\s?(?:one|body)\s+ever|no\s?(?:one|body)\s+(?:ever\s+)?said"
    r"|who\s+doesn't|(?:just\s+)?kidding|jk|yeah\s+right|as\s+if|lol\s+no|just\s+joking|joking"
    r"|sarcasm|(?:she|he|they|it)\s+(?:said|says|replied)|(?:so\s+)?(?:said"
    r"|says)\s+(?!i\b)\w+)\b(?=[^\w']*(?:$|[.!?\n]|ever\b|my\b|the\b))",
    re.I,
)
"""After a sentence that was a joke, or that another person says."""
_SARCASM = re.compile(
    r"\W{0,4}(?:(?:oh|yeah|ah|wow)[, ]+(?:sure|right|great|wonderful|yes|yeah|fantastic|joy|how"
    r"|please)\b|(?:because|of\s+course)\s+(?:who|everyone|i\s+just\s+love)|yeah,?\s+right"
    r"|sure,\s+(?:because|i))",
    re.I,
)
_MAKER = re.compile(r"\bby\s+(?!me\b|us\b|hand\b|default\b|using\b|\d)", re.I)
_STARTS = re.compile(r"[\W\d]*(?:(?:and|but|so|also|because|then|that|honestly)\s+)?", re.I)
_PART = re.compile(r"[,;:(]|,?\s(?:and|but|because|so|which|that|when|while)\s")
_FINITE = any_of("""
    is isn't was are were takes? took makes? made helps? can will would has had feels? felt seems?
    needs? requires? means? gets? got costs? pays? gives? gave works saves? saved beats remains
    sounds looks turned became should must might may could keeps brings depends starts changed don't
    doesn't didn't use drives goes went comes came
    """)
_WHEN = re.compile(r"\W{0,8}(?:when(?:ever)?|after\s+(?:we|i|they|he|she|it))\b", re.I)
_UNTIL_THEN = re.compile(r"\b(?:until|till)\s+\w", re.I)
_UNTIL = re.compile(r"\W{0,8}(?:until|till)\b", re.I)
_ATTACHED = re.compile(
    r"(?:(?P<ended>\b(?:no\s+longer|stopped|quit|ceased|gave\s+up(?:\s+on)?|done|finished|through"
    r"|had\s+been))|(?P<denied>\b(?:not|never|isn't|aren't|ain't)))"
    r"\s+(?:(?:really|actually|currently|even|ever|now)\s+)?$",
    re.I,
)
ANYMORE = re.compile(r"\b(?:any\s?(?:more|longer))\b", re.I)
_WAS = re.compile(
    r"\b(?:was|were)\s+(?:(?:still|also|just|always|mainly|mostly|all|both|actually)\s+){0,2}$",
    re.I,
)
_FORMERLY = any_of("""
    previously formerly originally initially at_first at_that_time those_days back_(?:then|when|in)
    (?:in|at|from)_(?:my|our|the)_(?:past|old|last|previous|former|first|early|beginning)
    (?:years?|months?|weeks?|decades?)_ago in_(?:college|school|university) once
    as_a_(?:student|kid|child) in_(?:19|20)\\d\\d in_the_(?:\\w+ties|\\d0s|early|late)
    (?:when|while)_(?:i|we)_(?:was|were|lived|worked|studied) earlier(?=\\s*,|\\s+using)
    (?:but|and)_(?:now|these_days|since)\\b last_(?:year|summer|winter|spring|autumn|fall|century)
    not?_(?:any_?)?more for_a_(?:summer|while|short|time) (?:until|till)_\\w+
    before_(?:the|our|my|that|this|we|i)_\\w+
    before_(?:\\w+_){1,3}(?:came|existed|was|were|got|arrived|took|became|did)
    before(?=\\s*(?:$|[,;]|(?:and|but|now|that|switching|moving|migrating)\\b))
    """)
_REPORTED = re.compile(
    r"(?<!i )(?<!we )\b(?:says?|said|reads?|goes|states?|sings?|wrote|writes|replied|replies"
    r"|answered|t(?:old|ells?)\s+\w+|claims?|claimed|quot(?:e|es|ed|ing)|according\s+to\s+\w+"
    r"|announced|tweeted|posted|put\s+it|puts\s+it)(?:(?:\s+\w+){0,3}\s*:|\s*,)?\s*$",
    re.I,
)
_ATTRIBUTED = re.compile(r",\s*(?:said|says|wrote|according\s+to|quoth)\s+(?!i\b)", re.I)
_PER = re.compile(r"\W*(?:as\s+)?(?:per|from|quoting)\s", re.I)
_ONCE = re.compile(r"\W{0,8}once\s+(?!(?:a|an|per|every|in|again|more|upon)\b)", re.I)
_NAME_LABEL = re.compile(
    r"(?:^|\n)\W*(?:(?P<name>[A-Z][\w.]+(?: [A-Z][\w.]+)?)\s+[-–—]{1,3}\s*$"
    r"|(?P<own>(?!Today|Yesterday)[A-Z]\w+'s\s[^:;.\n]{1,40}:\s*$))"
)
"""Before what another person does or says: ``Tom - using Vim``, ``Tom's setup: I use Vim``."""
_LABEL = re.compile(r"([^:;.\n]{1,60}):\s*$")
Standing: TypeAlias = str
"""Whether what a verb says holds: ``HELD``, ``ENDED``, ``DENIED``, or empty for no statement."""
HELD, ENDED, DENIED = "held", "ended", "denied"
_PRONOUN = re.compile(
    r"\b(?:(?P<user>i|we|my|our|me|us)|(?P<other>he|she|they|you|who|someone"
    r"|anyone|everyone|people|nobody|others))\b",
    re.I,
)
_OF_OTHER = re.compile(r"\b(?!(?:it|that|what|here|there|today|user)'s)\w+'s\s", re.I)
_OF_NO_FIRST = re.compile(r"\s(?:is|has)\s")
"""In "the intern I trained is using": no verb of "I"."""
_PASSIVE = re.compile(
    r"\b(?:is|was|are|were|be|been|gets?|got)\s+(?:\w+ly\s+|now\s+|still\s+|already\s+|also\s+)?"
    r"(?:\w+ed|written|built|made|done|run|set|sent|kept|drawn|shown|put)\b"
)
_SUBJECTLESS = re.compile(
    r"\W{0,8}(?:\d[\d:./T-]{3,20}\s+)?(?:(?:after|during|in|on|at|for|since|by|from"
    r"|this)\b[^,]{0,60},\s*)?(?:(?:\w+ly|ok|okay|yes|yeah|well|alright|first|next|then|also|just"
    r"|now|today|yesterday|and|so|again|still|been|no\s+longer|not|never|have|has"
    r"|had)[\s,]+){0,4}(?:$|[a-z]+(?:ed|ing)\b|(?:built|wrote|made|did|set|got|spent|found|put|sent"
    r"|began|drew|ran|kept|taught|went|chose|did|gave|took|cut|drove|rebuilt|rewrote|sped|shot|read"
    r"|held|led|sold|won|all|back|busy|live|done)\b)",
    re.I,
)
_USED = re.compile(r"(?:used|loved|liked|preferred|enjoyed|worked)\b", re.I)
_WORKING = re.compile(r"(?:working\s+on|building|developing)\b", re.I)
_AFTER_PREPOSITION = re.compile(
    r"(?<!responsible )(?<!charge )(?<!middle )(?<!process )(?<!busy )(?<!job )(?<!back )"
    r"\b(?:at|in|of|for|about|to|from|by|on|against|towards?|without|than|with)\s+$",
    re.I,
)
_DIRECT = re.compile(
    r"(?:^\W*|\b(?:i|we|am|is|are|was|were|be|been|keep|keeps|kept|start|started|began|continue"
    r"|continued|like|enjoy|love|prefer|hate|back\s+to|switched\s+to|moved\s+to|ended\s+up)\s+|,\s+"
    r"|'(?:m|re|s|ve)\s+)(?:(?:also|still|now|just|already|always|usually|mostly|mainly|all|both"
    r"|currently|happily|then|today|and|so|been|been\s+happily|\w+ly)\s+){0,3}$",
    re.I,
)
_AND_ME = re.compile(
    r"\b(?:me\s+and\s+(?:\w+\s+){1,3}|and\s+(?:i|me|myself)\s+)(?:are|were"
    r"|have\s+been)\s+(?:\w+ly\s+|still\s+|now\s+)?$",
    re.I,
)
_SPENDS = re.compile(
    r"\b(?:spen[dt]|wast(?:e|ed)|busy|'ve\s+been|have\s+been|'m|am|'re|are)\b", re.I
)
_SELF = word_set("ive im i we i've we've i'll we'll and also then been have i'm we're today now")
_FILLER = word_set(
    "finally then just already also has have had been recently eventually ultimately now today"
    " yesterday and so was it later jointly together formally officially again"
    " meanwhile unanimously therefore thus hence quickly"
)


_MADE = "(?:built|wrote|made|did|set|put|sent|drew|ran|kept|rebuilt|rewrote|shot|got|spent)"
_ACTS = re.compile(
    r"(?:\b(?:i|we)(?:'?ve|'?m|'re|\s+(?:am|are|have|is|has))?(?:\s+been)?\s+|\b(?:is|are|was|were"
    r"|been|got)\s+(?=(?:\w+ly\s+)?(?:\w+ed|built|written|made|done|drawn|run|set|sent|kept)\b)"
    rf"|^\W*(?:(?:and|then|but|so|today|yesterday)\s+)?(?=(?:\w+(?:ed|ing)|{_MADE})\b))"
    r"(?:(?:\w+ly|still|now|also|always|usually|mostly|often|just|do|all|both|sometimes|have|even"
    r"|then|(?:like|enjoy|love|prefer|start(?:ed)?|keep|began)(?=\s+\w+ing\b)|(?:decided|chose"
    r"|managed|agreed)\s+to)\s+){0,3}"
    r"(?P<verb>[a-z]+)\s+(?:[\w'-]+\s+){0,9}$",
    re.I,
)
"""What the user does, before ``with`` and the like."""
_PARTICIPLE = re.compile(r"\s(?:\w+ed|built|made|written|drawn|run|set\s+up)\s+$", re.I)
_NO_ACT = any_of("""
    am are was were is be been being have had has do did went go goes going gone come came met
    meet\\w* talk\\w* sp(?:eak|oke)\\w* discuss\\w* agree\\w* disagree\\w* struggl\\w* fight\\w*
    fought compar\\w* integrat\\w* compet\\w* deal\\w* dealt play\\w* walk\\w* liv\\w* sit sat eat
    ate din\\w* lunch\\w* partner\\w* interview\\w* sign\\w* help\\w* stay\\w* fell fall end\\w* get
    got need\\w* want\\w* hop\\w* thinks? thought believ\\w* know knew see saw heard? reads?
    learn\\w* found finds? replac\\w* swap\\w* confus\\w* argu\\w* experiment\\w* tr(?:y|ied|ying)
    join\\w* shar\\w* complain\\w* wait\\w* travel\\w* dr(?:ive|ove) fl(?:y|ew) mov\\w* start\\w*
    can could may might will would should shall must hate\\w* like love prefer enjoy dislike ask\\w*
    t(?:old|ell) say said watch\\w* look\\w* visit\\w* r(?:an|un)_(?:late|into|out) danc\\w* sing
    bother\\w* sang grew sleep slept cycl\\w* hik\\w* jog\\w* t(?:ake|ook) call\\w* email\\w*
    wr(?:ite|ote)_(?:about|to) listen\\w* an? the sail\\w* sw[ai]m\\w* r[io]de\\w* climb\\w*
    camp\\w* not never don't didn't won't can't evaluat\\w* consider\\w*
    test\\w*_(?:the_)?(?:integration|compatib\\w+) bug\\w* feel felt keep_up kept_up had
    familiari\\w* wish\\w* plan_to lost lose won broke break quit stopp\\w* fail\\w* miss\\w*
    notic\\w* met was introduc\\w* worr\\w* laugh\\w* support\\w*
    """)


def start_of_clause(document: Document, place: int) -> int:
    """Where the clause begins that contains a place."""
    start = max(document.sentence_at(place).start, place - _WINDOW)
    last = document.last(_BREAK, start, place)
    return start if last is None else last.end()


def is_statement(document: Document, place: int) -> bool:
    """Whether a verb states something: no question, quotation, negation or mere possibility."""
    return standing(document, place) == HELD


def standing(document: Document, place: int, end: int | None = None) -> Standing:
    """Whether what a verb says holds; with ``end``, the verb may be of a past time."""
    sentence = document.sentence_at(place)
    if document.is_quoted(place) or sentence.is_question:
        return ""
    if _ASKS.match(document.prose, sentence.start):
        return ""
    start = start_of_clause(document, place)
    prose = document.prose
    before = prose[start:place]
    earlier = prose[max(sentence.start, start - _WINDOW) : start]
    rest = prose[place : min(sentence.end, (end or place) + _WINDOW)]
    if (
        document.first(_IRONY, place, place + len(rest))
        or _TAKEN_BACK.match(prose, sentence.end)
        or _SARCASM.match(prose, sentence.start)
        or document.last(_HEDGE, start, place)
        or _HAD.match(before)
        or _ONCE.match(prose, sentence.start)
    ):
        return ""
    if earlier.rstrip().endswith(",") and document.last(
        _HEDGE, max(start - 40, sentence.start), start
    ):
        return ""
    if _UNTIL.match(earlier) or document.last(_CONDITION, start - len(earlier), start):
        return ""
    if (
        _REPORTED.search(earlier[-40:])
        or document.first(_ATTRIBUTED, place, place + len(rest))
        or not _is_stated_after(earlier, before)
    ):
        return ""
    attached = _ATTACHED.search(before[-40:])
    if attached is not None:
        is_ended = attached["ended"] or ANYMORE.search(rest)
        return ENDED if is_ended else DENIED
    is_past = document.last(_FORMERLY, start, place) or _FORMERLY.match(prose, sentence.start)
    if end is not None and (is_past or _WAS.search(before[-40:]) or _USED.match(rest)):
        if is_past or _FORMERLY.search(rest):
            return ENDED
        return HELD if _WORKING.match(rest) else ""
    return "" if document.last(_NEGATION, start + before.rfind(",") + 1, place) else HELD


def _is_stated_after(earlier: str, before: str) -> bool:
    """Whether a clause after a label such as ``Note:`` is a statement; ``Idea:`` makes none."""
    is_user = re.search(r"\b(?:i|we)\b", before, re.I) is not None
    name = _NAME_LABEL.search(earlier)
    if name is not None and name["own"]:
        return False
    if name is not None and not is_user and TOPICS.isdisjoint(name["name"].lower().split()):
        return False
    label = _LABEL.search(earlier) if earlier.rstrip().endswith(":") else None
    if label is None or not re.search(r"[^\W\d]", earlier):
        return True
    words = set(label[1].lower().split())
    if not words.isdisjoint(PLANS) or _PER.match(label[1]):
        return False
    return is_user or not words.isdisjoint(TOPICS)


def is_formerly(document: Document, place: int) -> bool:
    """Whether a clause says that something was until a time."""
    end = min(document.sentence_at(place).end, place + _WINDOW)
    return document.first(_UNTIL_THEN, place, end) is not None


def is_topic(document: Document, place: int, end: int) -> bool:
    """Whether a clause is about what it begins with: ``Using Docker is easy``."""
    before = document.prose[start_of_clause(document, place) : place]
    if _STARTS.fullmatch(before) is None:
        return False
    last = min(document.sentence_at(place).end, end + _WINDOW)
    part = document.first(_PART, end, last)
    return document.first(_FINITE, end, part.start() if part else last) is not None


def is_conditional(document: Document, place: int, *, is_plan: bool = True) -> bool:
    """Whether the rest of a sentence makes a condition of it, or a plan."""
    rest = document.prose[place : min(document.sentence_at(place).end, place + _WINDOW)]
    if is_plan and _WHEN.match(document.prose, document.sentence_at(place).start):
        return True
    if is_plan and document.first(_LATER, place, place + len(rest)):
        return True
    condition = document.first(_CONDITION, place, place + len(rest))
    return condition is not None and not _ASIDE.search(rest, 0, condition.start() - place)


def is_of_user(document: Document, place: int) -> bool:
    """Whether the user does what a verb says: I, we, a passive, or a verb without a subject."""
    start, prose = start_of_clause(document, place), document.prose
    before = prose[start:place]
    last = document.last(_PRONOUN, start, place)
    while last is not None and last[0].lower() in ("my", "our"):
        last = document.last(_PRONOUN, start, last.start())
    if last is not None and last["other"]:
        return False
    if last is not None and last[0].lower() in ("i", "we"):
        # "The user" is "I" and blanks.
        is_user = prose.startswith("I   ", last.start())
        return is_user or _OF_NO_FIRST.search(prose, last.end(), place) is None
    if document.last(_PASSIVE, start, place):
        rest = document.prose[place : min(document.sentence_at(place).end, place + _WINDOW)]
        return not (_MAKER.search(before) or _MAKER.search(rest) or _OF_OTHER.search(before))
    return _SUBJECTLESS.match(before) is not None


def is_progressive_of_user(document: Document, place: int) -> bool:
    """As ``is_of_user``, for a verb that ends in -ing and may have an auxiliary before it."""
    before = document.prose[start_of_clause(document, place) : place]
    return _AND_ME.search(before) is not None or is_of_user(document, place)


def is_decided_by_user(document: Document, place: int) -> bool:
    """Whether the subject directly before ``decided`` is the user, or is left out."""
    before = document.prose[start_of_clause(document, place) : place]
    words = re.findall(r"[^\W\d][\w'-]*|,", before.lower())
    while words and (words[-1] in _FILLER or words[-1] == ","):
        word = words.pop()
        if word in _SELF or word == ",":
            return is_of_user(document, place)
    return not words or words[-1] in _SELF or words in (["team"], ["the", "team"])


def is_instrument(document: Document, place: int) -> bool:
    """Whether ``with``, ``via`` or ``using`` at a place says how the user does something.

    Its verb is the last one before it that makes something, unless that belongs to a noun, as in
    "an app built with Flask".
    """
    start = start_of_clause(document, place)
    acts = _ACTS.search(document.prose, start, place)
    return (
        acts is not None
        and not _PARTICIPLE.search(document.prose, acts.end("verb"), place)
        and _NO_ACT.match(document.prose, acts.start("verb")) is None
    )


def is_direct(document: Document, place: int) -> bool:
    """Whether a verb that ends in -ing is that of its clause: ``I'm using``, ``Using``."""
    start = start_of_clause(document, place)
    before = document.prose[start:place]
    if before[-3:].lower() in ("'m ", "'re ", "am "):
        return True
    return _DIRECT.search(before, max(0, len(before) - 60)) is not None


def is_main(document: Document, place: int) -> bool:
    """Whether a verb that ends in -ing is no participle of a noun: "a friend building boats"."""
    before = document.prose[start_of_clause(document, place) : place]
    if is_direct(document, place):
        return True
    return _SPENDS.search(before) is not None and _AFTER_PREPOSITION.search(before) is None
