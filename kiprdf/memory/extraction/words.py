"""The words that a clause may have: the parts of which the forms in ``patterns`` are made.

An expression has one blank where a text may have several. ``TOOL`` stands for a known tool, which
``grammar`` replaces by marks before a clause is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial


def word_set(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(word_set("on at on"))
    ['at', 'on']
    """
    return frozenset(text.split())


def one_of(text: str) -> str:
    """An expression for one of several, the longest first, in which ``_`` stands for a blank.

    >>> one_of("if in_case")
    '(?:in case|if)'
    """
    parts = sorted(text.split(), key=len, reverse=True)
    return f"(?:{'|'.join(part.replace('_', ' ') for part in parts)})"


TOOL_MARK = "\ue010"
WORD_BLANK = "\ue020"
"""The blank before a word that is no function word, so that expressions can them apart."""


def compiled(expression: str) -> re.Pattern[str]:
    """An expression in which each blank stands for any number of blanks."""
    return re.compile(re.sub(" ([?*+]?)", _blanks, expression))


def lazily(expression: str) -> Callable[[], re.Pattern[str]]:
    """A function that compiles an expression once, when it is first needed."""
    return cache(partial(compiled, expression))


def _blanks(match: re.Match[str]) -> str:
    return f"[\\x20{WORD_BLANK}]{'*' if match[1] in ('?', '*') else '+'}"


NO_PROJECT_NAME = word_set("""
    a abandoned about actual after again ai all also an and another any api are area areas art as at
    backend bad based because before began begins best better between big board both brownfield
    budget but by called can capstone certain charter client code commercial community company
    completed complex config configuration construction cool cost costs could cross-team crypto
    current customer daily dashboard data deadline deadlines demo description details different
    directory docs documentation done during each end ended ends engineering entire every example
    existing failed failure favorite favourite few file files final finished first five folder
    folders for four free from frontend fun garden gets github gitlab given goal goals goes good got
    great greenfield group gutenberg's had handover hardware has have he her here his hobby home
    house huge i id idea ideas if important in in-house info information infrastructure interesting
    internal into is it its joint just kickoff large last later latest lead leader leads legacy
    level list lists little long long-term looks main major management manager managers many may
    meeting meetings member member's members might migration milestone milestones minor ml mobile
    more most multi-year must my name named names need needs new next nice nightly no nor not note
    notes now number of off old on one ongoing open or oriented original other our out over own
    owner owners page pages particular per personal pet phase pilot plan planner planning plans
    previous private project projects proposal public python-based quick real recent refactoring
    repo report reports repos repository requirement requirements research review reviews rewrite
    root runs same sample school science science-fair scope second secret seems semester separate
    setting settings setup several shared she short-term should side side-project similar simple
    since single site size small so software some soon source space special specific stalled start
    started starts startup status still structure structures student success successful such team
    team's teams template templates test that the their then there these thesis they third this
    those three timeline tiny to today tomorrow too toy tracker tracking two type types under
    unfinished university unnamed up upcoming update updates use used uses using view views was we
    web website weekend went were what when which while who whole whose wide will with without work
    work-related works would year yesterday you your
    """)

TOPICS = word_set("""
    action actions agenda agreed also answer attendees background backend blocked blockers btw
    conclusion config context correction database db decided decision decisions deployment details
    done edit editor editors environment example fact facts favorite favourite findings friday
    frontend fyi goal goals hosting idea ideas important info insight issue language languages later
    learned learning lesson log meeting memo memory monday next note notes now os outcome plan plans
    preference preferences problem profile progress project projects ps question reason remember
    reminder confession opinion take truth heads-up quick personal recap rule result results
    saturday setup shell solution stack standup status step subject summary sunday task tasks
    thursday tip title tldr today todo tomorrow tools topic tuesday update updates warning wednesday
    work yesterday misspoke earlier home office honestly morning afternoon evening kick-off kickoff
    sync retro minutes call review planning workshop session daily weekly browser terminal distro
    did night noon week weekend month quarter sprint not currently
""")
"""Words of a label before a colon, which is not the name of who speaks."""

NO_LABELS = word_set(
    "considered questions wishes todos candidates possibilities discarded unsure"
    " goal goals idea ideas plan plans planned planning todo next tomorrow wish wishlist proposal"
    " proposals suggestion suggestions option options alternative alternatives rejected question"
    " example examples task tasks requirement requirements advert ad job title article headline"
    " topic subject quote story scenario dream"
    " someday maybe backlog roadmap future pros cons against advice"
)
"""Words of a label or heading under which nothing is stated."""

LABELS = (TOPICS - NO_LABELS) | word_set("my our the made final taken team doing working this")

TOOL = f"{TOOL_MARK}+"

FUNCTION_WORDS = word_set("""
    i we you he she it they me him her us them my our your his its their this that these those who
    whom whose which what where when why how if unless whether because since so but and or nor not
    no never none nobody nothing everyone everybody someone anyone anybody neither either
    for in on at by to of from with without about over under than then as into onto off out up down
    upon via through is are was were be been being am do does did has had have will would can could
    may might must shall should a an the there here just only really very too also until till
    once while though although again ever yet anymore any more less most least said says say like
    instead almost nearly hardly maybe perhaps between against last else both all every each much
    many few some such same own other another rather soon later tomorrow yesterday today now back
    lately nowadays recently currently tbh lol imo btw imho haha anyway please thanks always usually
    mostly mainly especially particularly everywhere forever regret regretted
    example examples instance metaphor joke placeholder
    together full-time part-time isn don didn doesn won can cannot ain aren wasn weren haven hasn
    wouldn shouldn gonna
    """)
"""A noun phrase has none of them, so that it cannot be a clause."""
PLAIN_WORD = rf"(?:(?<={WORD_BLANK})\w[\w-]*)"
WORD = rf"(?:{TOOL}|(?<={WORD_BLANK})\w[\w-]*(?:\.\d+)*)"


def with_marks(prose: str) -> str:
    """A text with a mark in the place of the blank before each word that is no function word."""
    return _WORD_AFTER_BLANK.sub(_marked, prose)


_WORD_AFTER_BLANK = re.compile(r" ([^\W_][\w-]*)")


def _marked(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in FUNCTION_WORDS else f"{WORD_BLANK}{match[1]}"


ITS = (
    "(?:the|a|an|my|our|its|some|all my|all our|all the|all of my|all of our|most of my|most of our"
    "|both my|every|each|any|much of my|these|this)"
)
THING = (
    rf"(?:(?:{ITS} )?{WORD}(?: {WORD}){{0,3}}|everything|it all|it|them|everything else|that|this)"
)
"""A noun phrase, as far as its words show."""

# Who, and in which tense.
WE = (
    "(?:[Ii]|[Ww]e|[Mm]y (?:wife|husband|partner|team|brother|sister|colleagues?|friends?"
    "|flatmates?) and I)"
)
BE = "(?:'?m| am|'re| are| is)"
HAVE = "(?:'?ve| have| has)"
ADVERB = one_of("""
    always usually mostly often still also now just generally typically personally actually mainly
    primarily exclusively currently really regularly normally all both daily already only simply
    happily sometimes do does occasionally gladly recently finally officially definitely honestly
    truly absolutely very_much quite even strongly much always_just heavily
    """)
ADVERBS = rf"(?:{ADVERB} ){{0,3}}"
NOT = one_of("do_not does_not don't doesn't dont doesnt not never")
IS_NOT = "(?:(?:'m|'re| am| are| is) not| aren't| isn't)"
NO_MORE = "(?:any ?more|any longer)"

# When, where and for what: what may follow without changing what is stated.
NUMBER = one_of("""
    \\d+ a an one two three four five six seven eight nine ten twelve fifteen twenty many several
    some a_few a_couple_of a_dozen
    """)
MONTH = one_of("""
    January February March April May June July August September October November December Jan Feb
    Mar Apr Jun Jul Aug Sept? Oct Nov Dec
    """)
DAY = "(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)"
SEASON = one_of("spring summer autumn fall winter Christmas Easter")
DATE = (
    rf"(?:\d{{4}}|(?:early |late |mid-)?{MONTH}(?: \d{{4}})?|{DAY}|{SEASON}|last \w+|yesterday"
    rf"|(?:my|the|our) {PLAIN_WORD}(?: {PLAIN_WORD})?(?:'s)?|the beginning|forever|day one|college"
    rf"|university)"
)
YEARS = "(?:years?|months?|weeks?|days|decades?|ages|hours)"
HOW_LONG = (
    rf"(?:since {DATE}|since (?:over |about |almost )?{NUMBER} {YEARS}"
    rf"|for (?:(?:about|over|almost|around|more than|nearly|at least|the last|the past"
    rf"|well over) )?"
    rf"(?:{NUMBER} )?{YEARS}(?: now)?)"
)
PERIOD = (
    "(?:week|month|quarter|year|sprint|morning|afternoon|evening|semester|term|season|spring|summer"
    "|autumn|winter|weekend)"
)
NOW = (
    rf"(?:now|right now|at the moment|nowadays|these days|currently|today|tonight|this {PERIOD}"
    r"|at present|lately|recently|for now|presently|as of (?:today|now)|all this \w+)"
)
HOW_OFTEN = (
    rf"(?:every (?:single )?(?:day|week|month|morning|evening|night|weekend|time|year|other day"
    rf"|{DAY})|daily|weekly"
    rf"|{NUMBER} (?:days|hours|times|nights|evenings) (?:a|per) (?:week|day|month)"
    r"|a lot|all the time|all day(?: long)?|most of the time|most days|regularly|mostly|still"
    r"|once in a"
    r" while|now and then|heavily|exclusively|everywhere|again|too|as well|together|instead|on"
    rf" (?:weekends|{DAY})|(?:in the |at )(?:mornings?|evenings?|afternoons?|night)|full-time"
    r"|part-time|very much|quite a bit|all week|side by side|whenever possible|here|for everything"
    r"|for fun|by default|(?:after|before) (?:lunch|dinner|breakfast|work|school|class"
    r"|(?:a|each|every) \w+))"
)
CAPITAL = (
    r"(?:[A-Z\u3040-\u9fff\uac00-\ud7a3][\w-]*|[a-z]+[A-Z][\w-]*|[a-z]\w*-\w[\w-]*|\w*\d[\w-]*)"
)
PLACE_NOUN = one_of("""
    work home school university uni production tests? dev development staging prod projects?
    teams? company office job labs? servers? laptops? phones? desktops? machines? computers?
    tablets? back-?ends? front-?ends? cloud pipelines? repos? repositor(?:y|ies) services? apps?
    sites? websites? blogs? scripts? code(?:base)? stack setup notebooks? clusters? workshop
    studio shop clinic kitchen garden class(?:es)? classroom course dotfiles spare_time
    free_time evenings weekends side meetings? day_job research department warehouse workflow
    cluster CI terminal browser house business agency practice parish bakery library platform
    product org(?:anisation|anization)?
    """)
PLACE = (
    rf"(?:(?:in|at|on|inside|within|across|from|throughout|during|for) (?:(?:the|my|our|all my|all"
    rf" our|all|both|most of our|most of my|every) )?(?:(?!(?:old|last|previous|former|first|next"
    rf"|new"
    rf"|dream|ideal|alternate|parallel|another)\b){PLAIN_WORD} )?{PLACE_NOUN}"
    rf"|(?:in|on|inside|under) (?:the |my |our |a )?(?:{TOOL}|Mac|PC|MacBook|ThinkPad|Pi|VPS|NAS)"
    rf"|(?:in|on|inside) (?:the |my |our )?project {CAPITAL}(?: {CAPITAL})?"
    rf"|(?:in|on) the {CAPITAL}(?: {CAPITAL})? project|(?:in|from|under|at|see) \ue002+)"
)
PURPOSE = (
    rf"(?:(?:mostly |mainly |only |especially )?(?:for|as) (?:all (?:of )?)?{THING}(?:(?:, "
    rf"(?:and )?| and ){THING})?"
    rf"(?: (?:of|in|at|on|from|with|to|and) {THING})?)"
)
AIM = (
    rf"(?:(?:in order )?to (?!be\b|\w+ing\b)(?=[a-z]){WORD}(?: (?:it|them|up|out|the|a|an|my|our"
    rf"|all|in|on|for|from|of|with|and|into|at|over|what|as|by|to|every|some|down|between|how much"
    rf"|back|{WORD})){{0,9}})"
)
COMPANY = (
    r"(?:(?:together )?with (?:my|our|the|two|three|a|some|a few|a couple of) (?:\w+ )?(?:team"
    r"|friends?|colleagues?|sister|brother|wife|husband|partner|students?|cousins?|kids|daughter"
    r"|son|co-?founder|father|mother|dad|mum|flatmate|roommate)|with [A-Z]\w+(?: and [A-Z]\w+)?)"
)
ADJUNCTS = rf"(?:,? (?:{NOW}|{HOW_OFTEN}|{HOW_LONG}|{PLACE}|{COMPANY}|{PURPOSE}|{AIM})){{0,4}}"
"""Any of them, after what is stated."""

# Tools.
_THEIR = (
    r"(?:(?:the|my|our|a|an|plain|mostly|mainly|both|just|only|good old|pure|vanilla|latest|some"
    r"|either|self-hosted|local|old|new|modern) ){0,2}"
)
_TOOL_NOUN = (
    "(?: (?:apps?|CLI|cli|desktop|version|code|scripts?|framework|database|language|plugins?"
    "|stack|(?:key ?)?bindings|extensions?))?"
)
_TOOL = rf"{_THEIR}{TOOL}(?: v?\d[\w.+]*)?{_TOOL_NOUN}"
AND = (
    "(?:, (?:and (?:also )?|plus )?| (?:and|plus|as well as|and also|along with|together with"
    "|alongside) | ?& ?| ?/ ?| ?\\+ ?)"
)
_FOR = rf"(?:,? (?:for|as|on|at|in) (?:{ITS} )?{PLAIN_WORD}(?: {PLAIN_WORD}){{0,2}})?"
TOOLS = rf"{_TOOL}(?:{AND}{_TOOL})*"
_UNKNOWN = rf"{CAPITAL}(?= *(?:$|,| (?:and|for|in|at|on|as|to|with) ))"
TOOLS_FOR = (
    rf"{_TOOL}(?:{_FOR}(?:{AND}{_TOOL}|,? and {_UNKNOWN}))*(?: (?:with|via) {_TOOL}"
    rf"(?:{AND}{_TOOL})*)?"
)
"""Each tool may say what it is for: "Redis for caching and Kafka for events"."""
NO_TOOLS = rf"(?!just|only|plain){_TOOL}(?:(?:{AND}|,? n?or ){_TOOL})*"

# What is preferred.
_WORDS = rf"{WORD}(?: {WORD}){{0,4}}"
_DETAIL = (
    rf"(?: (?:(?:with|of|without|from) (?:(?:the|a|an|my|our) )?|in (?=[A-Z])){WORD}"
    rf"(?: {WORD}){{0,2}}){{0,2}}"
)
_NO_THING = "(?:idea|way|look|sound|concept|thought|plan|fact|feeling|notion|part|one)"
LIKED = (
    rf"(?:{TOOLS}(?!{WORD_BLANK})|(?:(?:an?|the(?! {_NO_THING}\b)|my) )?(?=[a-z\d]|{TOOL})"
    rf"{_WORDS}{_DETAIL})"
)
"""A tool, or words that begin with a small letter: "I love Julia" may be about a person."""
PREFERRED = (
    rf"(?:{TOOLS}(?!{WORD_BLANK})|(?:(?:the|a|an|my) )?(?:(?=[a-z\d]|{TOOL})|(?=[A-Z]\w* "
    rf"(?:\w+ )?[a-z])){_WORDS}{_DETAIL})"
)
_AND_WORDS = rf"(?:(?:, | and |, and )(?:(?:the|a|an) )?{WORD}(?: {WORD}){{0,2}}){{0,2}}"
LIKED_LIST = rf"(?=[a-z\d]){_WORDS}{_DETAIL}{_AND_WORDS}"
_SMALL = (
    "(?:up|out|the|a|an|my|our|all|in|on|for|from|of|with|into|at|over|what|as|by|down|your|their"
    "|some|every|other|people's|through|between|most|this|that)"
)
DOING = (
    rf"(?!(?:go|move|think|say|believe|see|inform|let|t(?:ell)|point|use|be|thank|know|hear|have"
    rf"|announce|remind)\b){PLAIN_WORD}(?: (?:{_SMALL}|and|{WORD})){{0,6}}"
)
GERUND = (
    rf"(?!(?:working on it|using|being|having|going|doing|seeing|nothing|something|anything"
    rf"|everything)\b)[a-z]{{2,}}ing(?: (?:{_SMALL}|{WORD})){{1,6}}"
)
WITHIN = (
    rf"(?: (?:in|on|at|for|by|about|as) (?!theory|principle|general)(?:(?:the|a|an|my|our|all my"
    rf"|all) )?{WORD}(?: {WORD}){{0,3}}){{0,2}}"
)

# Projects.
_NUMBERED = one_of("""
    Figure Chapter Version Phase Part Section Issue Ticket Question Task Page Step Level Sprint
    Table
    Milestone Season Episode Unit Lesson Exercise Bug PR Day Week Release Problem Item Act Scene
    Volume
    """)
NO_NAME = (
    rf"(?:{_NUMBERED} (?:\d[\w.]*|[A-Z]\w*)|{MONTH}|{DAY}|{SEASON}|I|[A-Z]\w+(?:ish|ese)"
    rf"|[A-Z]{{1,4}}s?|Q\d|[\d:.-]+)"
)
NAME = rf"(?!(?:{NO_NAME})(?![\w-])){CAPITAL}(?: [A-Z\d][\w-]*){{0,3}}"
"""Words that have the form of a name: a capital letter, a digit or a hyphen."""
_KIND = one_of("""
    project app application website site bot library tool platform dashboard parser game engine
    plugin compiler editor service tracker migration rewrite redesign prototype port portal exporter
    module proposal importer pipeline audit frontend backend client server API CLI SDK docs script
    report thesis novel book paper extension generator planner scraper simulator model firmware
    release course podcast album film documentary chatbot handbook catalogue
    """)
_OWN = one_of("thesis dissertation novel book portfolio phd PhD memoir masters podcast blog album")
APPOSITION = (
    r"(?:, (?:an?|our|my|the) [^,.;:?!()]{1,80}(?=,|$)| \((?:the|an?|our|my) [^()?]{1,60}\))?"
)
LOWER_NAME = (
    rf"(?!(?:\w+(?:ing|tion|sion|ment|ness|ity|ance|ence|ship|ism|s|ics|ed|ly)"
    rf"|\w{{1,3}})\b){PLAIN_WORD}"
)
PROJECT = (
    rf"(?:(?:(?:the|my|our) )?(?:new |own |old |little |big |current )?(?:project )?{NAME}"
    rf"(?: {_KIND}){{0,2}}"
    rf"|(?:the |our |my )?project {PLAIN_WORD}"
    rf"|(?:the |our |my )(?:{PLAIN_WORD} ){{1,2}}project"
    rf"|(?:an?|my|our|the) (?:{PLAIN_WORD} ){{0,4}}?(?:called|named) {NAME}"
    rf"|(?:an?|my|our|the) (?:(?:{PLAIN_WORD}|{TOOL}) ){{1,3}}{_KIND}|my {_OWN})"
)
PROJECTS = rf"{PROJECT}(?:{AND}(?:the )?{NAME})*"
