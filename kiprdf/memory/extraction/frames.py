"""Whole clauses that state something, as tables of words: ``My editor is Helix``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiprdf.memory.extraction import clauses, phrases
from kiprdf.memory.extraction.clauses import DENIED, ENDED, HELD
from kiprdf.memory.extraction.ordinary_words import PEOPLE, one_of
from kiprdf.memory.extraction.patterns import ADVERB, Pattern, Statement, Text, tools_from
from kiprdf.memory.extraction.tools import COMPOUND

_TOOL_NOUN = one_of("""
    (?:text_|code_)?editor ide shell terminal(?:_emulator)? os operating_system distro vcs
    (?:window_|package_|password_|task_|version_)?manager wm database db framework linter orm
    (?:programming_)?languages? (?:web_)?browser stack tech_stack ci hosting cloud formatter
    (?:mail_|email_)?client calendar note(?:s|book)?(?:_app)? (?:issue_|bug_)?tracker queue cache
    broker bundler build_(?:tool|system) back-?end front-?end api (?:web)?site blog servers?
    infra(?:structure)? deployments? monitoring dashboards? tests? docs documentation pipelines?
    repos? repositor(?:y|ies) code(?:base)? tickets wiki tools? toolchain toolbox version_control
    daily_driver go-?to workhorse default setup services? slides photos files backups? passwords
    bookmarks tasks to-?dos? drafts diagrams scripts workflow apps? data search(?:_engine)? chat
    (?:tool|weapon|editor|language)_of_choice environment platform crm erp cms everything
    """)
_NOT_OF_NOW = (
    r"(?!(?:old|former|previous|first|last|next|future|dream|ideal|second|least|favou?rite"
    r"|preferred|his|her|their|your|its|other|possible|suggested|recommended|required"
    r"|alternative)\b)"
)
_OWN_TOOL = rf"(?:{_NOT_OF_NOW}[\w-]+\s+){{0,2}}?{_NOT_OF_NOW}(?P<noun>{_TOOL_NOUN})\b"
_STATE = one_of("""
    built made written typeset edited drafted planned designed done kept drawn hosted tracked stored
    managed deployed powered based set_up
    """)
_IN = one_of("on_top_of in on with via by using through to behind at inside over")
_STAYS = one_of("sits? lives? runs? stays? go(?:es)? resides?")
_HAS = rf"(?:is|are|remains?|{_STAYS})(?:\s+(?:still|now|all|just))?(?:\s+{_STATE})?(?:\s+{_IN})?"
_KEPT = (
    rf"(?:{_STAYS}(?:\s+(?:all|mostly))?\s+(?!to\b|at\b){_IN}|runs?|(?:is|are)\s+(?:(?:now|all)\s+"
    r")?"
    rf"(?:{_STATE}\s+(?:with|in|on|using|via|through)|(?:generated|powered|backed|built|run)\s+by))"
)
_DONE_WITH = one_of("""
    us(?:e|ing) spend_(?:my|most_of) reach(?:ing)?_for rely(?:ing)?_on run(?:ning)?
    writ(?:e|ing) work(?:ing)? liv(?:e|ing) cod(?:e|ing) keep(?:ing)? stor(?:e|ing) track(?:ing)?
    turn_to go_(?:to|for|with) ended_up_(?:using|with) deploy host do draft draw edit manage open
    """)
_WHICH = one_of("""
    current main new latest big pet side biggest primary only weekend hobby personal day present top
    number_one first sole full-time actual
    """)
_OWN_WORK = (
    rf"(?:my|our)\s+(?:{_WHICH}\s+){{0,3}}(?:project|focus|priority|baby|job|gig|thing|task)"
)
_BUSY = one_of("""
    (?:super_|very_|pretty_|quite_|so_)?(?:busy|occupied|swamped)_(?:with|on)
    (?:heads[_-]down|back|all[_-]in|focus(?:ed|ing)|flat_out|(?:hard_)?at_work)_(?:on|in|at)
    (?:(?:knee|neck)[_-])?deep_in(?:to)? in_the_middle_of immersed_in assigned_to in_charge_of
    responsible_for
    (?:the_)?(?:main_|lead_|sole_|core_)?(?:dev|developer|maintainer|author|owner)_(?:of|on|for)
    (?:co-?)?maintain(?:ing)? lead(?:ing)? own develop build design(?:ing)? coordinat(?:e|ing)
    hack(?:ing)?(?:_away)?_(?:on|at) tinker(?:ing)?_with contribut(?:e|ing)_to polish(?:ing)?
    prototyp(?:e|ing) chip(?:ping)?_away_at kick(?:ing|ed)_off
    spend(?:ing)?_(?:\\w+_){1,4}(?:on|with|in) (?:put|pour)(?:t?ing)?_(?:\\w+_){1,4}into
    start(?:ed|ing)(?:_work|_working)?(?:_on)? picked_up continu(?:e|ing)_(?:with|on) joined
    put(?:ting)?_together got_assigned_to up_to_(?:my|our)_\\w+_in volunteer(?:ing)?_(?:for|at|on)
    pairing(?:_with_\\w+)?_on responsible_of rebuild(?:ing)? rewrit(?:e|ing) redesign(?:ing)?
    port(?:ing)? tak(?:e|en|ing)_over (?:\\w+_)?(?:days|weeks|months|years)_into
    help(?:ing)?_(?:out_)?with juggling(?:_\\w+_(?:things|projects):)?
    (?:run|have|write|publish|host|do)_(?:a|an|my)_(?:\\w+_){1,3}(?=(?:called|named)\\b)
    """)
_FINISHED = one_of("""
    finished completed shipped launched released delivered wrapped closed dropped abandoned left
    quit shelved cancel+ed handed(?:_over|_off)? killed retired archived scrapped moved_on_from
    stopped_maintaining killed_off (?:through|done|finished)_with
    """)
_TIME = r"(?:\w+\s+)?" + one_of("time days? weeks? evenings weekends attention energy work hours")
_I = r"\b(?:i|we)(?:'?m|'re|'?ve|\s+(?:am|are|have|is|has))?(?:\s+been)?\s+"
_START = r"(?:^|(?<=[.!?:]\s))[^\w\n]{0,4}"
_SUBJECT_START = re.compile(
    r"\W*(?:(?:and|so|but|btw|honestly|well|ok|for\s+\w+(?:\s+\w+)?|at\s+\w+|these\s+days|lately"
    r"|now|our|my|the),?\s+){0,3}",
    re.I,
)
_END_OF_LABEL = re.compile(r"\s*(?:[,(;].{0,80})?$|\s+(?:for|on|with|at|in|as)\s", re.S)


def _tools_of_user(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``My editor is Helix``, ``All my notes are in Notion``, ``Editor: Helix``."""
    document = text.document
    mentions = list(tools_from(text, match.end()))
    # "My setup, if it helps: Python": the aside is no condition.
    place = match.start() if not mentions or ", if " in match[0] else mentions[0].start
    if not mentions or clauses.standing(document, place) != HELD:
        return
    rest = document.prose[mentions[-1].end : document.sentence_at(mentions[0].start).end]
    if match["label"] is not None and not _END_OF_LABEL.match(rest):
        return
    is_compound = COMPOUND.match(rest) and match["person"] is None and match["team"] is None
    if is_compound or clauses.is_conditional(document, mentions[-1].end):
        return
    for mention in mentions:
        yield pattern.statement(mention.start, "tool", mention.name)


def _tool_is_used(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``Obsidian is what I reach for``."""
    document = text.document
    mention = text.tool_to.get(match.start())
    if mention is None or clauses.standing(document, match.start()) != HELD:
        return
    start = clauses.start_of_clause(document, mention.start)
    if _SUBJECT_START.fullmatch(document.prose, start, mention.start):
        yield pattern.statement(mention.start, "tool", mention.name)


def _liked(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``Svelte has my heart``, ``I'm a tea person``."""
    document, group = text.document, match.lastgroup
    assert group is not None
    start, end = match.span(group)
    stated = match.start() if group.startswith("rather") else start
    if group == "more" and not (start in text.tool_at and match.end() in text.tool_at):
        return
    if clauses.standing(document, stated) != HELD or clauses.is_conditional(document, match.end()):
        return
    liked = phrases.concept(document, start, end)
    if liked is not None:
        name, is_tool = liked
        yield pattern.statement(start, "tool" if is_tool else "concept", name)


def _named_work(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``I'm busy with Lumen``: a project with a name, since one is busy with much else."""
    document = text.document
    standing = HELD if clauses.standing(document, match.start()) == HELD else ""
    if match["no"]:
        is_past = clauses.ANYMORE.search(document.prose, match.end(), match.end() + 60)
        standing = standing and (ENDED if is_past or match["no"] != "not" else DENIED)
    if not standing or clauses.is_conditional(document, match.end()):
        return
    for start, name in phrases.projects(document, match.end(), is_named=True):
        yield pattern.statement(start, "project", name, standing)


def _project_is(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``Lumen keeps me busy``, ``Lumen is done``."""
    document = text.document
    name = phrases.project_name(match["name"])
    if name is not None and clauses.standing(document, match.start("name")) == HELD:
        standing = HELD if match["held"] else DENIED
        yield pattern.statement(match.start("name"), "project", name, standing)


def _finished(pattern: Pattern, text: Text, match: re.Match[str]) -> Iterator[Statement]:
    """``I finished Lumen``, which need not have been a project."""
    document = text.document
    if clauses.standing(document, match.start()) == HELD:
        for start, name in phrases.projects(document, match.end()):
            yield pattern.statement(start, "project", name, DENIED)


_THING = r"[\w+#'-]+(?:\s+[\w+#'-]+){0,3}?"

FRAMES = (
    Pattern(
        "x_is_liked",
        "prefers",
        _liked,
        (
            "favo my_jam my_thing prefer alley what_i heart suits happy for_me person lover "
            "enthusiast fan addict drinker over always day time rather beats >"
        ),
        (
            rf"{_START}(?:(?:and|so|but|honestly|personally|for\s+me),?\s+)?(?:(?:the|a"
            rf"|an)\s+)?(?P<subject>{_THING})\s+"
            r"(?:(?:is|are)\s+(?:still\s+|just\s+|definitely\s+"
            r"|more\s+)?(?:my\s+(?:\w+\s+)?(?:favou?rites?|jam|thing|preference|preferred\s+\w+"
            r"|cup\s+of\s+tea|first\s+choice|top\s+pick|kind\s+of\s+\w+)"
            r"|(?:right\s+)?up\s+my\s+alley|what\s+i\s+(?:like|love|prefer)(?:\s+(?:best|most))?)"
            r"|(?:has|have)\s+my\s+heart|suits?\s+me|(?:makes?)\s+me\s+happy|works?\s+(?:best"
            r"|better)\s+for\s+me)\b"
            rf"|\b(?:i|we)(?:'m|'re|\s+am|\s+are)\s+(?:more\s+of\s+)?an?\s+(?P<person>{_THING})\s+"
            r"(?:person|lover|enthusiast|fan|addict|drinker)\b(?!\s+(?:of|who|that|in)\b)"
            rf"|^[^\w\n]{{0,4}}(?:give\s+me\s+)?(?P<first>(?!(?:i|we|it|you|he|she|they|not|as"
            rf"|my)\b){_THING})(?:\s+over\s+{_THING})?,?\s+(?:always|any\s?day|any\s+time"
            rf"|every\s+time)\W*$"
            rf"|\b(?:i'd|we'd|i\s+would|we\s+would)\s+(?:rather\s+)?(?:choose|pick|take"
            rf"|have)\s+(?:the\s+)?(?P<rather>{_THING})\s+over\s"
            rf"|\b(?:i|we)(?:'d|\s+would)\s+(?:much\s+)?rather\s+(?:write|use|get|read|(?:code|work"
            rf"|write)\s+(?:in|with))\s+(?P<rather_than>{_THING})\s+than\s+"
            r"(?!(?:to|use|write|get|read|work|code|have|go|be|do|deal|touch|see|not|ever|in|on"
            r"|with|at|for)\b)"
            rf"|{_START}(?:honestly,?\s+)?nothing\s+beats\s+(?P<best>[\w+#'-]+(?:\s+(?!(?:in|at"
            rf"|when|if|as|on|for|to)\b)[\w+#'-]+){{0,3}}?)(?:\s+for\s+me)?\s*(?=[.!,\n]|$)"
            rf"|{_START}(?:honestly,?\s+)?(?P<more>[\w.+#-]+)\s+>\s+(?=[\w.+#-]+\s*(?:[.,!]|$))"
        ),
        (("Svelte has my heart.", "Svelte"), ("I'm a tea person.", "tea")),
        starts_clause=True,
    ),
    Pattern(
        "my_tool_is_x",
        "uses",
        _tools_of_user,
        "",
        (
            rf"(?:\b(?:my|our)\s+|(?P<label>^[^\w\n]{{0,4}}(?=[\w ]{{1,30}}[:=])"
            rf"|(?<=[.;]\s)(?=\w{{1,30}}:))){_OWN_TOOL}(?:\s+of\s+choice)?(?:\s+for\s+(?:\w+"
            rf"\s+){{0,2}}?\w+)?(?:(?:,[^,:.\n]{{1,30}})?\s*[:=]\s*|\s+{_HAS}\s+)|\b(?:my"
            rf"|our)\s+(?!(?:\w+\s+)?(?:{PEOPLE})\b)(?:{_NOT_OF_NOW}[\w-]+\s+){{1,3}}?{_KEPT}\s+"
            r"|\b(?:i|we)(?:'m|'re|'ve\s+been|\s+am|\s+are"
            r"|\s+have\s+been)\s+(?:still\s+)?an?\s+(?:\w+\s+){0,2}?(?P<person>(?=[\w.+#-]+(?:"
            r"\s+\w+)?\s+(?:users?|person|shop|house|guy|girl|gal|dev|developer|programmer)\b))"
            r"|(?:(?:and|but|,)\s+)?(?:(?:everything|it\s+all)\s+(?:now\s+)?(?:lives|sits)\s+"
            r"(?:now\s+)?"
            r"(?:in|on)\s+|(?:i've\s+)?been\s+on\s+(?=[^,.\n]{1,30}\s(?:for|since)\b)|(?:at\s+"
            r"(?:home"
            r"|work)|as\s+of\s+\w+|these\s+days|nowadays|for\s+(?:my|our)\s+(?!(?:\w+\s+"
            rf")?(?:{PEOPLE})\b)(?:\w+\s+){{1,2}}),?\s*it's\s+"
            r"(?!\S+\s+(?:that|who|which)\b)|it's\s+(?=[\w.+#-]+(?:\s+[\w.]+)?\s+(?:now|these\s+"
            r"days)\W*$))"
            r"|^[^\w\n]{0,4}team\s+(?P<team>(?=\w+(?:\s+here|\s+all\s+the\s+way)?\W*$))"
        ),
        (("My editor is Helix.", "Helix"), ("All our notes are in Notion.", "Notion")),
        starts_clause=True,
    ),
    Pattern(
        "x_is_used",
        "uses",
        _tool_is_used,
        "_i_ _we_ _my_ _our_ i'm we're for_us for_me hosts",
        (
            r"(?<=\S)\s{1,3}(?:(?:is|are|remains)(?:\s+(?:still|now|simply"
            r"|just))?\s+(?:(?:what|where|how|the\s+\w+(?:\s+that)?)"
            rf"\s+(?:i|we)(?:'m|'re|\s+am|\s+are)?\s+(?:{ADVERB}\s+){{0,2}}{_DONE_WITH}\b"
            rf"|(?:my|our)\s+{_OWN_TOOL}|(?:an?\s+)?(?:\w+\s+)?part\s+of\s+(?:my|our)\s)"
            r"|gets\s+the\s+job\s+done\s+for\s+(?:me|us)\b|hosts\s+everything\b"
            r"|(?:does(?!\s+\w+\s+heads?\b)|powers|runs|handles|manages|hosts|serves|drives)\s+"
            r"(?:most\s+of\s+"
            r"|all\s+)?(?:my|our)\s)"
        ),
        (("Obsidian is what I reach for.", "Obsidian"), ("Redis handles our queues.", "Redis")),
    ),
    Pattern(
        "busy_with_x",
        "works_on",
        _named_work,
        "",
        (
            rf"(?:{_I}|{_START})(?:{ADVERB}\s+){{0,3}}{_BUSY}\s+|{_I}(?:(?P<no>not|no\s+longer|was"
            rf"|were)\s+)?(?:{ADVERB}\s+)?(?:on|busy\s+with)\s+|{_START}(?:still|now|currently"
            rf"|mostly)\s+on\s+|{_START}back\s+to\s+(?=[^,.;\n]{{1,40}}\sfor\s+(?:me|us)\b)"
            r"|\b(?:my\s+)?(?:weekends|evenings|days|nights|mornings"
            rf"|weeks)\s+(?:belong|go)\s+to\s+|\b{_OWN_WORK}(?:\s+(?:right\s+now|now|these\s+days"
            rf"|at\s+the\s+moment|currently|this\s+\w+))?"
            r"(?:\s+is|'s|:)(?:\s+(?:still|now|called|named|to\s+finish|building"
            r"|maintaining)){0,2}\s+|^[^\w\n]{0,4}(?:currently|right\s+now|these\s+days"
            r"|on\s+my\s+(?:plate|desk)|this\s+(?:week|sprint|month|quarter)|now|today|doing"
            r"|(?:my\s+|our\s+)?(?:current\s+)?projects?|building|working\s+on|main\s+focus|focus"
            r"|in\s+progress|up\s+now)(?:'s\s+focus)?(?::|\s+is\s+(?:all\s+)?about|\s+is"
            r"|\s+i'm\s+on)\s+"
            rf"|\bmost\s+of\s+(?:my|our)\s+{_TIME}\s+(?:goes|is\s+going|go)\s+(?:in)?to\s+"
        ),
        (("I'm busy with Lumen.", "Lumen"), ("My current project is Lumen.", "Lumen")),
        starts_clause=True,
    ),
    Pattern(
        "x_keeps_me_busy",
        "works_on",
        _project_is,
        "is are was been keep take eat fill occup gets shipped",
        (
            rf"{_START}(?:(?:and|so|but|now|currently|today|these\s+days|lately|right\s+now"
            rf"|nowadays|at\s+the\s+moment|(?:good\s+)?news|update),?:?\s+)?(?:the\s+)?"
            rf"(?:(?-i:[Pp])roject\s+)?(?P<name>(?!I\b){phrases.NAME})(?:\s+"
            rf"project)?(?:,\s[^,.;\n]{{1,60}},|\s\([^)\n]{{1,60}}\))?"
            rf"(?:(?P<held>\s+(?:(?:is|remains)(?:\s+(?:still|now"
            rf"|currently))?\s+(?:{_OWN_WORK}\b|(?:what|the\s+\w+(?:\s+that)?)"
            r"\s+(?:(?:i|we)(?:'m|'re|\s+am|\s+are)\s+(?:working|building|busy|on\b)"
            r"|keeps\s+(?:me|us)\s+busy)|on\s+my\s+plate)"
            r"|(?:still\s+)?(?:keeps|is\s+keeping)\s+(?:me|us)\s+(?:\w+\s+)?busy"
            rf"|(?:takes|is\s+taking|is\s+eating|eats|fills|occupies|consumes"
            rf"|gets)(?:\s+up)?\s+(?:\w+\s+){{0,3}}(?:my|our)\s+{_TIME}\b))"
            r"|(?:\s+(?:is|are|was|has\s+been|got|gets)|'s)(?:\s+(?:now|finally|officially|all"
            r"|already|fully|completely)){0,2}\s+(?:done|finished|completed?|shipped|launched|over"
            r"|released|wrapped\s+up|delivered|cancel+ed|closed|shelved|history|behind\s+(?:me|us)"
            r"|out\s+the\s+door)\b|\s+(?:shipped|launched)\s+(?=last|on|in|yesterday|today"
            r"|this)(?!\s+(?:in|by|with|using|for|through)\s))"
        ),
        (("Lumen keeps me busy.", "Lumen"), ("Lumen is done.", "Lumen")),
    ),
    Pattern(
        "finished_x",
        "works_on",
        _finished,
        (
            "finish complet shipped launched released deliver wrap clos drop abandon left quit "
            "shelv cancel handed kill retired archiv done through scrap moved_on stopped"
        ),
        (
            rf"(?:{_I}|{_START})(?:(?:finally|just|already|now|also|officially|recently|today"
            rf"|then)\s+){{0,2}}{_FINISHED}(?:\s+up)?\s+"
        ),
        (("I finished Lumen last week.", "Lumen"),),
        starts_clause=True,
    ),
)
