"""The forms of a clause: the table from which relations are read.

A form is an expression for a whole clause, in the words of ``words``. Its groups say what it
states: ``uses`` that the user uses the tools there, ``uses_ended`` that this was so before,
``uses_denied`` that it is not so (which ends what another note states), and so on for each
predicate. A clause with a word that its form does not have states nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from kiprdf.memory.extraction import words
from kiprdf.memory.extraction.document import FILE
from kiprdf.memory.extraction.words import (
    ADJUNCTS,
    ADVERBS,
    APPOSITION,
    BE,
    DATE,
    DOING,
    GERUND,
    HAVE,
    HOW_LONG,
    IS_NOT,
    LIKED,
    LIKED_LIST,
    LOWER_NAME,
    MONTH,
    NAME,
    NO_MORE,
    NO_TOOLS,
    NOT,
    NOW,
    PLACE,
    PLAIN_WORD,
    PREFERRED,
    PROJECT,
    PROJECTS,
    THING,
    TOOL,
    TOOLS,
    TOOLS_FOR,
    WE,
    WITHIN,
    WORD,
    compiled,
    lazily,
    one_of,
)

_LAST = (
    "(?:too|though|actually|btw|by the way|tbh|thanks|please|personally|honestly|of course|as well"
    "|after all|sadly|haha|then|lol|imo|full stop|obviously|naturally|hands down)"
)
STOP = (
    r"(?= *(?:$|,| (?:and|but|because|since|so|although|though|even though|while|whereas|which|as) "
    rf"|{_LAST}$))"
)
"""What may follow a form: the end of a clause."""


@dataclass(frozen=True)
class Pattern:
    """A form, the name of its pattern, and an example with the name of an object that it states.

    ``I`` or ``we`` may be left out after "and", and before a verb such as "using" or "switched".
    An expression that ends with the group ``decided`` has the rest of the clause in it. A sentence
    without one of the ``words`` is passed over, so that few expressions need to be compiled.
    """

    name: str
    expression: str
    example: str
    object: str
    words: str = ""

    @cached_property
    def is_open(self) -> bool:
        return self.expression.endswith(("(?P<decided>)", "(?P<decided_ended>)"))

    @cached_property
    def has_subject(self) -> bool:
        return self.expression.startswith(WE)

    @cached_property
    def adjuncts(self) -> re.Pattern[str] | None:
        """What else the clause may have after the expression."""
        return next((after() for mark, after in AFTER if self.expression.endswith(mark)), None)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        expression = self.expression
        if self.has_subject:
            expression = f"(?P<subject>{WE})?{expression.removeprefix(WE)}"
        for mark, _ in AFTER:
            expression = expression.removesuffix(mark)
        end = "" if self.is_open else STOP if self.adjuncts is None else r"(?![\w-])"
        return compiled(f" *{expression}{end}")

    def may_match(self, sentence: str) -> bool:
        if self._needs_tool and words.TOOL_MARK not in sentence:
            return False
        return any(word in sentence for word in self._needed)

    @cached_property
    def _needs_tool(self) -> bool:
        return "(?P<uses" in self.expression and "(?P<works_on" not in self.expression

    @cached_property
    def _needed(self) -> list[str]:
        return [word.replace("_", " ") for word in self.words.split()] or [""]


HOW, THEN = "<how>", "<then>"
"""The marks of the adjuncts that an expression may have at its end."""

# Verbs.
_USES = one_of("""
    uses? rel(?:y|ies)_(?:heavily_|a_lot_)?(?:up)?on depends?_on runs? reach(?:es)?_for
    defaults?_to sticks?_(?:to|with) (?:live|code|program|write|work|think|compose|sketch)s?_in
    works?_with swears?_on makes?_use_of utili[sz]es? leverages? pays?_for opens? employs?
    (?:can't|cannot|can_not|could_not|couldn't)_(?:live|work)_without wouldn't_trade
    find_myself_(?:using|reaching_for) keeps?_(?:using|reaching_for) started_(?:using|to_use) go_to
    subscribes?_to turns?_to can't_imagine_(?:working|living|life)_without administers? adopted
    set_up installed standardi[sz]ed_on settled_into taken_up
    (?:am|are)_(?:hooked_on|still_on|back_on) find_myself_in spends?_my_days_in
    """)
_USING = one_of("using use running relying_on working_in coding_in programming_in writing_in on")
_AM = rf"(?:{BE}|{HAVE} been| been|)"
_INSTEAD = (
    rf"(?: (?P<uses_denied>(?:instead of|rather than) {TOOLS})(?= *$))?"
    rf"(?: (?:instead of|rather than) {TOOLS})?{HOW}"
)
_DO = one_of("""
    writ(?:es?|ing) wrote draws? drew drawing makes? made making builds? built building keeps? kept
    host(?:s|ed|ing)? runs? ran running do(?:es|ing)? did deploy(?:s|ed|ing)? track(?:s|ed|ing)?
    manag(?:es?|ed|ing) stor(?:es?|ed|ing) edit(?:s|ed|ing)? design(?:s|ed|ing)? test(?:s|ed|ing)?
    plan(?:s|ned|ning)? pars(?:es?|ed|ing) process(?:es|ed|ing)? plot(?:s|ted|ting)?
    automat(?:es?|ed|ing) record(?:s|ed|ing)? mix(?:es|ed)? produc(?:es?|ed|ing) render(?:s|ed|ing)?
    animat(?:es?|ed|ing) typ(?:es?|ed|ing) draft(?:s|ed|ing)? sketch(?:es|ed|ing)?
    publish(?:es|ed|ing)? back(?:s|ed)?_up organi[sz](?:es?|ed|ing) develop(?:s|ed|ing)?
    prototyp(?:es?|ed|ing) model(?:s|led|ling)? cod(?:es?|ed|ing) program(?:s|med|ming)?
    analy[sz](?:es?|ed|ing) debug(?:s|ged|ging)? creat(?:es?|ed|ing) generat(?:es?|ed|ing)
    takes? taking logs? marks? send(?:s|ing)? sent set(?:s|ting)?_up chat(?:s|ting)?
    collaborat(?:es?|ed|ing) script(?:s|ed)?
    communicat(?:es?|ing) budget(?:s|ed)? journal(?:s|ed)? blog(?:s|ged)? implement(?:s|ed|ing)?
    format(?:s|ted|ting)? typeset(?:s|ting)? outlin(?:es?|ed|ing) compos(?:es?|ed|ing)
    visuali[sz](?:es?|ed|ing) monitor(?:s|ed|ing)? sync(?:s|ed|ing)? schedul(?:es?|ed|ing)
    convert(?:s|ed|ing)? export(?:s|ed|ing)? train(?:s|ed|ing)? present(?:s|ed)? scrap(?:es?|ed|ing)
    solv(?:es?|ed|ing) log(?:s|ged|ging)? captur(?:es?|ed)
    fix(?:es|ed) migrat(?:es?|ed) paint(?:s|ed)? annotat(?:es?|ed) collect(?:s|ed)? sav(?:es?|ed)
    """)
_LIKES = "(?:tend to (?:like|prefer)|like|dig|love|enjoy|adore|appreciate|cherish|favou?r|value)s?"
_LEFT = one_of("""
    ditched dropped abandoned retired got_rid_of got_off gave_up(?:_on)? phased_out decommissioned
    sunset uninstalled left quit(?:_using)? stopped_using outgrew moved_off(?:_of)? deleted
    said_goodbye_to parted_ways_with (?:migrated|moved|switched)_(?:away|off)_(?:from|of)
    (?:migrated|moved|switched)_away_from removed cancelled canceled threw_out ripped_out
    (?:(?:am|are|'m|'re|is)_)?(?:done|finished|through)_with stopped_bothering_with
    """)
_SWITCHED = "(?:switched|moved|migrated|changed|transitioned|went|converted|ported)"
_WHAT = (
    r"(?: (?:over|fully|completely|away|everything|back|entirely|all (?:of )?(?:my|our|the) \w+"
    r"|(?:the|our|my|their|his|her) (?:\w+ ){0,2}?\w+))?"
)
_PERFECT = (
    rf"(?:{HAVE})?(?: (?:finally|recently|just|now|also|already|fully|completely|since|have|long"
    r"|all))*"
)
_BUSY = one_of("""
    (?:super_|very_)?busy_with heads(?:-|_)down_on focus(?:ed|ing)_on all_in_on leading maintaining
    coordinating hacking(?:_away)?_(?:on|at) polishing prototyping rebuilding rewriting redesigning
    back_(?:on|to) in_charge_of responsible_for (?:the_)?(?:main_|lead_|sole_)?developer_of
    (?:the_)?(?:main_|lead_|sole_)?(?:maintainer|author)_of occupied_with tinkering_with
    contributing_to contribute_to designing help(?:ing)?_(?:out_)?with volunteer(?:ing)?_(?:for|at)
    (?:got_)?assigned_to
    kicked_off kicking_off putting_together (?:in_)?the_middle_of neck-deep_in knee-deep_in
    deep_in up_to_my_(?:ears|neck)_in pairing_with_\\w+_on responsible_of (?:have_)?taken_over
    (?:currently_|still_|now_)?on started_(?:work_)?on
    """)
_WORKING = (
    rf" (?:(?:still|now|currently|also|mainly|mostly|just|busy|actively|happily|all) )*"
    rf"(?:(?:keep |kept |started |start )?(?:working|work) (?:{HOW_LONG} )?"
    rf"(?:(?:hard|together|full-time|part-time|right now|now|mostly|mainly|a lot) )?"
    rf"(?:on|in (?=(?:the )?[Pp]roject ))|(?:started )?(?:building|developing)|{_BUSY}"
    rf"|(?:spend|spending) (?:all |most of )?my (?:\w+ ){{1,2}}(?:working )?on)"
)
_FINISHED = one_of("""
    finished completed shipped launched released delivered wrapped_up dropped abandoned shelved
    cancelled canceled killed retired archived scrapped handed_over closed sunset stopped_working_on
    stopped_maintaining quit_working_on finished_working_on moved_on_from left
    """)
_IS_FINISHED = (
    "(?:done|finished|complete|completed|shipped|launched|released|delivered|cancelled|canceled"
    "|shelved|closed|over|history|wrapped up|live|out the door|behind (?:me|us))"
)

_TODAY = "(?:today|all day|this (?:morning|afternoon|evening|week)|tonight|just now)"
_TIME = one_of("time days? weeks? evenings? weekends? nights attention energy work_hours mornings")

# Times and places.
_ONCE = (
    r"(?:before|previously|formerly|originally|at first|initially|back then|in the past|earlier"
    r"|(?:many |some |\w+ )?years ago|once|years before|back in \w+(?: \w+)?"
    r"|(?:in|at|from) (?:my|our) (?:old|last|previous|former|first|early) \w+(?: \w+)?"
    r"|in (?:college|school|university|(?:19|20)\d\d|the (?:past|\w+ties|\d\ds|beginning))"
    r"|at (?:university|school|college|that time|the time)|those days|in those days"
    r"|as a (?:student|kid|child|teenager|junior)|for a (?:summer|while|short time|summer job)"
    r"|last (?:year|summer|winter|spring|autumn|fall)"
    r"|(?:when|while) (?:I|we|i) (?:was|were|lived|worked|studied)(?: \w+){0,5}"
    r"|(?:until|till) (?!now\b)\w+(?: \w+){0,3}|before (?:the|our|my|that|this) \w+(?: \w+)?"
    rf"|before {TOOL}(?: (?:came along|existed|arrived|took over|was a thing))?)"
)
_THEN_ADJUNCTS = (
    rf"(?:,? (?:in (?:early |late )?(?:{MONTH}|\d{{4}}|{words.SEASON})|last \w+|this \w+|yesterday"
    rf"|today|recently|on \w+day|{NOW}|(?:a|an|two|three|some|many) \w+ ago|ages ago|for good"
    rf"|completely|entirely|already|too|at last|in the end|since {DATE}))*"
)
_TO_SOMEBODY = "(?: to [A-Z]\\w+)?"
_FOR = rf"(?:,? for (?!good){THING})?"
_IN_THE_END = (
    rf"(?: (?:in the end|at last|now|instead|after all|this time|after (?:some|much) discussion"
    rf"|for (?!example|instance){THING}))*"
)

# Decisions.
_BY = (
    r"(?: (?:today|finally|now|then|together|yesterday|instead|unanimously|this \w+|last \w+"
    r"|on \w+day|with [A-Z]\w+|at the (?:\w+ )?(?:meeting|retro|standup)|as a team"
    r"|over (?:lunch|coffee|dinner|breakfast)|on the (?:phone|call)"
    r"|in the (?:meeting|retro|call|standup)))?,?"
)
_HAVE = (
    r"(?: (?:have|has)|'ve)?(?: (?:jointly|unanimously|eventually|ultimately|today|yesterday|now"
    r"|then|all|together|also|just|finally|already|recently|officially|both))*"
)
_TO_DO = r"to (?!(?:the|a|an|all|his|her|their|this|that|these|those)\b)"
_OPTIONS = (
    r"(?:options?|plans?|versions?|approach|designs?|variants?|models?|offers?|proposals?|vendors?"
    r"|providers?|themes?|colou?rs?|logos?|formats?|layouts?|setups?|stacks?|databases?"
    r"|frameworks?|library|libraries|hosts?|suppliers?|tiles?|paint|route|venue|dates?|names?|one"
    r"|licen[cs]e|contractor|supplier|quote|bid|package|tariff)"
)
_OPTION = (
    rf"(?:{TOOLS}|(?:(?:the|a|an|our|my) )?(?:{PLAIN_WORD} ){{0,3}}{_OPTIONS}"
    rf"(?: (?:[A-Z]|\d+|{TOOL}))?(?: (?:of|from) {THING})?)"
)
_CHOICE = (
    rf"(?:{_OPTION}(?: for {THING})?|(?:[a-z]\w+ for {THING}|[A-Z]\w+ over {WORD}|(?:(?:the|a|an"
    rf"|our) )?{WORD}(?: {WORD}){{1,3}})"
    rf"(?: (?:of|in|from|over|at|for) {THING}){{0,2}})"
)

# Nouns.
_PERSON = one_of("""
    brother sister wife husband boss manager colleagues? friends? father mother mum mom dad son
    daughter kids? children parents partner neighbou?rs? teacher client clients customers? intern
    girlfriend boyfriend uncle aunt cousin students? roommate flatmate grandma grandpa doctor lawyer
    """)
_NOUN = one_of("""
    editors? ide IDE shell terminal(?:_emulator)? os OS operating_system distros? vcs database db
    (?:window|package|password|task|note)_manager framework linter orm (?:programming_)?languages?
    (?:web_)?browser (?:tech_)?stack ci CI hosting cloud formatter (?:mail_|email_)?client calendar
    notes (?:note|notes|notebook)_app (?:issue_|bug_)?tracker queue cache broker bundler
    build_(?:tool|system) back-?end front-?end blog website site servers? infra(?:structure)?
    monitoring dashboards? docs documentation repos? repositor(?:y|ies) code(?:base)? tickets wiki
    toolchain version_control daily_driver go-to default setup slides photos files backups?
    passwords bookmarks tasks to-?dos? drafts diagrams scripts workflow apps? data search_engine
    chat environment platform crm CRM notebook tools? (?:text|code)_editor builds? pipelines?
    newsletters? schedule tests
    """)
_WHICH = (
    r"(?:main|current|daily|primary|default|work|home|own|personal|usual|everyday|private|code"
    r"|text|whole|entire|new|only|\w+ing|family)"
)
_KEPT = (
    r"(?:(?:is|are)(?: (?:now|still|all|mostly|just|currently))?(?: (?:built|written|made|typeset"
    r"|kept|stored|hosted|tracked|managed|deployed|drawn|drafted|planned|designed|run))?"
    r"(?: (?:in|on|with|by|using))?|(?:lives?|sits?|runs?)(?: (?:all|now|mostly))? (?:in|on)"
    r"|remains?|runs)"
)
_FAVORITE = r"(?:(?:all-time|current|absolute|personal) )?(?:favou?rite|preferred|go-to)"
_OTHER = rf"(?:the |a |an |my )?(?![A-Z]){WORD}(?: {WORD}){{0,3}}"
_OVER = rf"(?: (?:over|than) {_OTHER})"
_COMPARED = rf"(?:{_OVER}|,? (?:to(?! \w+ing \w)|rather than|instead of|more than) {_OTHER})?"
_MUCH = "(?: very much| a lot| most| best| more| too)?"
_DO_NOT = rf" (?:{NOT})(?: really| actually| currently| even| particularly| much)*"

AFTER = (
    (HOW, lazily(ADJUNCTS + STOP)),
    (THEN, lazily(_THEN_ADJUNCTS + STOP)),
)

PATTERNS = (
    # Work.
    Pattern("i_work_on", rf"{WE} (?:am |are )?{ADVERBS}(?:works? on|maintains?|leads?|coordinates?"
         rf"|contributes? to|develops?|builds?) (?P<works_on>{PROJECTS})"
         rf"{APPOSITION}(?: in {TOOLS})?(?: (?:with|using) (?P<uses>{TOOLS}))?{HOW}",
         "I work on Harbor.", "Harbor"),
    Pattern("works_on", rf"{WE}{_AM}{_WORKING} (?P<works_on>{PROJECTS}){APPOSITION}(?:,? (?:which"
         rf"|that)"
         rf" uses (?P<project_uses>{TOOLS}))?(?: in {TOOLS})?(?:,? (?:with|using) "
         rf"(?P<uses>{TOOLS}))?{HOW}",
         "I'm working on Brightwater.", "Brightwater"),
    Pattern("works_on", rf"{WE}{_AM} {ADVERBS}working on (?P<works_on>{LOWER_NAME}"
         rf"(?: and {LOWER_NAME})?)(?: in {TOOLS})?(?: (?:with|using) (?P<uses>{TOOLS}))?(?: "
         rf"(?:{NOW}|again|in \ue002+))?",
         "Working on meshalyzer.", "Meshalyzer"),
    Pattern("works_on", rf"{WE} (?:was|were|had been) {ADVERBS}(?:working on|building|developing) "
         rf"(?P<works_on_ended>{PROJECT}),? {_ONCE}",
         "I was working on Pelican until March.", "Pelican",
         "was were had"),
    Pattern("works_on", rf"(?i:{_ONCE}),? {WE} (?:was|were|worked) (?:working on|building"
         rf"|developing"
         rf"|on)"
         rf" (?P<works_on_ended>{PROJECT})",
         "Back then I was working on Nimbus.", "Nimbus",
         "was were worked"),
    Pattern("works_on", rf"{WE} (?:was|were) {ADVERBS}(?:working on|building|developing) "
         rf"(?P<works_on>{PROJECTS}) {_TODAY}", "I was working on Pelican today.", "Pelican",
         "was were"),
    Pattern("works_on", rf"(?i:{_TODAY}),? {WE} (?:was|were|worked|have been) {ADVERBS}"
         rf"(?:working on|building|developing|on) (?P<works_on>{PROJECTS})",
         "Today I was working on Pelican.", "Pelican",
         "was were worked been"),
    Pattern("works_on", rf"{WE} spent (?:(?:the|my|all|most of the|this|a) )?(?:(?:whole|entire) )?"
         rf"(?:day|morning|afternoon|evening|week|weekend|night|hours) (?:working )?on "
         rf"(?P<works_on>{PROJECTS})(?: {_TODAY})?",
         "Spent the day working on Harbor.", "Harbor",
         "spent"),
    Pattern("works_on", rf"{WE}(?:{BE})? no longer (?:work(?:s"
         rf"|ing)? )?on (?P<works_on_ended>{PROJECT})",
         "I no longer work on Harbor.", "Harbor",
         "no_longer"),
    Pattern("works_on", rf"{WE}(?:{HAVE})? (?:stopped"
         rf"|quit) working on (?P<works_on_ended>{PROJECT})"
         rf"{THEN}", "I stopped working on Tidepool.", "Tidepool",
         "stopped quit"),
    Pattern("busy_with_x", rf"(?:[Mm]y|[Oo]ur) (?:current|main|new|latest|big|side|only"
         rf"|day) (?:project|focus|job|priority)"
         rf"(?: {NOW})? is (?:called |named )?(?P<works_on>{PROJECT}){APPOSITION}{HOW}",
         "My current project is Lumen.", "Lumen",
         "project focus job priority"),
    Pattern("x_keeps_me_busy", rf"(?P<works_on>{NAME}) (?:is (?:my|our) (?:current |main |new "
         rf"|latest "
         rf"|side )?project|(?:still )?keeps (?:me|us) (?:\w+ )?busy|is what {WE}{BE} working on)"
         rf"{HOW}", "Lumen keeps me busy.", "Lumen",
         "is keeps"),
    Pattern("x_keeps_me_busy", rf"(?P<works_on>{NAME})(?:{APPOSITION},?)? (?:takes?|gets?|eats?"
         rf"|fills?"
         rf"|is "
         rf"taking|is eating|consumes)(?: up)? (?:all |most of )?(?:of )?(?:my|our) {_TIME}{HOW}",
         "Kestrel eats my weekends.", "Kestrel",
         "tak get eat fill consum"),
    Pattern("busy_with_x", rf"(?:(?:[Mm]ost|[Aa]ll) of )?(?:[Mm]y |[Oo]ur )?(?i:{_TIME}) (?:goes|go"
         rf"|belongs?) "
         rf"(?:in)?to (?P<works_on>{PROJECT}){APPOSITION}{HOW}",
         "My weekends go to Kestrel.", "Kestrel",
         "go belong"),
    Pattern("busy_with_x", rf"(?i:this (?:week|sprint|month|quarter)|currently|now|today|right now"
         rf"|building"
         rf"|in progress|doing|current projects?|on my (?:plate|desk))(?::| is(?: all)? about) "
         rf"(?P<works_on>{PROJECTS})", "This week: Lumen.", "Lumen",
         ": about"),
    Pattern("finished_x", rf"{WE}(?:{_PERFECT} {_FINISHED}|{BE}(?: \w+)? (?:done|finished|through) "
         rf"(?:with|working on)|{IS_NOT} (?:working )?on|{_DO_NOT} work on)"
         rf" (?P<works_on_denied>{PROJECT})(?: {NO_MORE})?{_TO_SOMEBODY}{THEN}",
         "I finished Lumen last week.", "Lumen"),
    Pattern("x_keeps_me_busy", rf"(?:[Pp]roject )?(?P<works_on_denied>{NAME}) (?:is|has been|was"
         rf"|got) "
         rf"(?:(?:now|finally|officially|all|already|fully) )*{_IS_FINISHED}{THEN}",
         "Lumen is done.", "Lumen",
         "is has_been was got"),
    # Use.
    Pattern("i_use_x", rf"{WE}{_AM} {ADVERBS}{_USING}(?: {HOW_LONG})? (?P<uses>{TOOLS}) "
         rf"(?:now |these days )?(?P<uses_ended>(?:instead of|rather than) {TOOLS})"
         rf" (?:now|nowadays|these days|any ?more)",
         "I use Podman instead of Docker now.", "Docker",
         "instead rather"),
    Pattern("i_use_x", rf"{WE} (?:now|nowadays|these days) (?:use|using) (?P<uses>{TOOLS}) "
         rf"(?P<uses_ended>(?:instead of|rather than) {TOOLS})",
         "Now using Podman instead of Docker.", "Docker",
         "instead rather"),
    Pattern("i_use_x", rf"{WE}(?: am| are)? {ADVERBS}{_USES}(?: mostly| mainly| everyday| now| only"
         rf"| a lot| normally| always| still)?(?: {HOW_LONG})? (?P<uses>{TOOLS_FOR}){_INSTEAD}",
         "I use Vim.", "Vim"),
    Pattern("i_use_x", rf"{WE}{_AM} {ADVERBS}{_USING}(?:"
         rf" {HOW_LONG})? (?P<uses>{TOOLS_FOR}){_INSTEAD}",
         "Using Redis for the cache.", "Redis"),
    Pattern("i_use_x", rf"{WE}{HAVE} {ADVERBS}(?:started (?:using|to use)|adopted|set up|installed"
         rf"|standardi[sz]ed on|settled into|taken up) (?P<uses>{TOOLS_FOR}){HOW}",
         "I've started using Obsidian for my notes.", "Obsidian",
         "started adopted set_ installed standardi settled taken"),
    Pattern("i_use_x", rf"{WE}{HAVE} (?:used|relied on) (?P<uses>{TOOLS_FOR}) {HOW_LONG}{HOW}",
         "I have used Vim for ten years.", "Vim",
         "used relied"),
    Pattern("i_use_x", rf"{WE}{HAVE} (?:always|long) (?:used|relied on) (?P<uses>{TOOLS_FOR}){HOW}",
         "We've always used Docker.", "Docker",
         "used relied"),
    Pattern("i_use_x", rf"{WE}(?:{_DO_NOT} (?:use|touch|run|need|rely on)|{HAVE} never used"
         rf"|{IS_NOT}(?: really"
         rf"| actually| currently)? (?:using|on)) (?P<uses_denied>{NO_TOOLS})"
         rf"(?: at all| here| myself| after all)?", "I don't use Kafka.", "Kafka",
         "not n't dont doesnt never"),
    Pattern("i_use_x", rf"{WE}(?:{_DO_NOT} (?:use|touch|run|need|rely on)|{IS_NOT}(?: really"
         rf"| actually| currently)? (?:using|on)) (?P<uses_ended>{NO_TOOLS}) {NO_MORE}",
         "We don't use MySQL anymore.", "MySQL",
         "more longer"),
    Pattern("i_use_x", rf"{WE}(?:(?: am| are|'m|'re)? no longer (?:use|using|uses|on|run|rely on)"
         rf"|(?:{HAVE})? (?:given up|gave up) using| used to (?:use|run|rely on"
         rf"|(?:write|code|program|work) in)) (?P<uses_ended>{NO_TOOLS})"
         rf"(?:,? but (?:now )?(?P<uses>{TOOLS}))?{THEN}", "I used to use Emacs.", "Emacs",
         "no_longer up_using used_to"),
    Pattern("i_use_x", rf"{WE} (?:had been using|(?:was|were) (?:still )?using|used|had used|ran"
         rf"|relied on) (?P<uses_ended>{TOOLS})(?: for {THING})?,? {_ONCE}(?: for {THING})?",
         "We were using Mongo before.", "MongoDB",
         "using used ran relied"),
    Pattern("i_use_x", rf"{WE} (?:had been using|(?:once|previously|formerly|originally|initially"
         rf"|first) used) (?P<uses_ended>{TOOLS})(?: for {THING})?(?:,? {_ONCE})?",
         "We previously used Jenkins.", "Jenkins",
         "using used"),
    Pattern("i_use_x", rf"(?i:{_ONCE}),? {WE} (?:used|ran|relied on|was using|were using"
         rf"|had been using) (?P<uses_ended>{TOOLS})(?: for {THING})?",
         "Formerly we used Redis for queues.", "Redis",
         "used ran relied using"),
    Pattern("uses_x", rf"{WE}{_AM} {ADVERBS}{_DO}(?: {THING})?(?: (?:for|of|in|at) {THING})?"
         rf"(?: mostly| mainly| only)? (?:in|on|inside) (?P<uses>{TOOLS_FOR})(?: and {THING} (?:in"
         rf"|with|on) "
         rf"(?P<uses_2>{TOOLS}))?{HOW}", "I write all my scripts in Ruby.", "Ruby",
         "in on inside"),
    Pattern("uses_x", rf"{WE}{_AM} {ADVERBS}{_DO}(?: {THING})?(?: (?:for|of|in|at) {THING})?"
         rf" using (?P<uses>{TOOLS_FOR}){HOW}", "Parsed it using pandas.", "pandas",
         "using"),
    Pattern("uses_with_x", rf"{WE}{_AM} {ADVERBS}{_DO}(?: {THING})?(?: (?:for|of|in|at) {THING})?"
         rf"(?: mostly| mainly| only)? (?:with|via|through) (?P<uses>{TOOLS_FOR}){HOW}",
         "Deployed via Kubernetes.", "Kubernetes",
         "with via through"),
    Pattern("my_tool_is_x", rf"(?:[Mm]y|[Oo]ur|[Aa]ll (?:my|our|of our"
         rf"|of my)) (?:{_WHICH} )?{_NOUN}"
         rf"(?: of choice)?(?: for (?:{PLAIN_WORD} )?{PLAIN_WORD})?(?: {_KEPT}|:| =) "
         rf"(?P<uses>{TOOLS_FOR}){HOW}", "My editor is Helix.", "Helix",
         "my our"),
    Pattern("my_tool_is_x", rf"(?:(?i:{_WHICH}) )?(?i:{_NOUN})"
         rf"(?: of choice)?: (?P<uses>{TOOLS_FOR})",
         "Editor: Helix", "Helix",
         ":"),
    Pattern("my_tool_is_x", rf"(?:[Mm]y|[Oo]ur) (?!{_PERSON}){PLAIN_WORD}"
         rf"(?: (?!{_PERSON}){PLAIN_WORD})? (?:(?:is|are) "
         rf"(?:now |all |mostly )?(?:built|written|made|typeset|kept|stored|hosted|tracked|managed"
         rf"|deployed|drawn|generated|powered|run) (?:in|on|with|by|using)|runs?(?: on)?"
         rf"|go(?:es)? through|sits? in) (?P<uses>{TOOLS_FOR}){HOW}",
         "My papers are typeset in Typst.", "Typst",
         "my our"),
    Pattern("my_tool_is_x", rf"{WE}{BE} (?:an? )(?:\w+ ){{0,2}}?(?P<uses>{TOOL}) (?:users?|shop"
         rf"|house"
         rf"|guy"
         rf"|girl|developer|dev){HOW}", "I'm a Thunderbird user.", "Thunderbird",
         "user shop house guy girl dev"),
    Pattern("my_tool_is_x", rf"(?P<uses>{TOOL}) users? here", "Emacs user here.", "Emacs",
         "here"),
    Pattern("my_tool_is_x", rf"{WE}(?: have|'ve got| have got) (?P<uses>{TOOLS}) (?:running"
         rf"|installed"
         rf"|set "
         rf"up|open|on (?:all )?my (?=\w)(?:phone|laptop|server|machines?|desktop"
         rf"|computer)s?){HOW}",
         "I have Syncthing running at home.", "Syncthing",
         "have got"),
    Pattern("my_tool_is_x", rf"(?i:at (?:home|work)|these days|as of today|now|for my (?:notes"
         rf"|own stuff|code|work))"
         rf",? it's (?P<uses>{TOOLS_FOR}){HOW}",
         "At home it's Arch.", "Arch Linux",
         "it's"),
    Pattern("x_is_used", rf"(?P<uses>{TOOL}) (?:(?:is|remains) (?:still |now )?(?:(?:my|our) "
         rf"(?:{_WHICH} )?{_NOUN}(?: of choice)?|what {WE} {ADVERBS}(?:use|reach for|rely on)"
         rf"|(?:how|where) {WE} {ADVERBS}{_DO}(?: {THING})?|where {WE} spend {THING}"
         rf"|part of (?:my|our) (?:daily )?\w+)|(?:handles|runs|powers|hosts|serves|manages|drives"
         rf"|does) (?:all |most of )?(?:my|our) {PLAIN_WORD}(?: {PLAIN_WORD})?)(?: for {THING})?",
         "Redis handles our queues.", "Redis",
         "my our is remains"),
    Pattern("uses_x", rf"{WE} {ADVERBS}(?!like|love|hate|enjoy|prefer|want|need|lost|saw|met|know"
         rf"|see){PLAIN_WORD} "
         rf"(?:(?:all |most of |half of |both )?(?:of )?(?:my|our)|every|everything) ?"
         rf"(?:{WORD} ?){{0,3}} in (?P<uses>{TOOLS_FOR}){HOW}",
         "I balance our accounts in GnuCash.", "GnuCash",
         "_in_"),
    Pattern("x_is_used", rf"(?P<uses>{TOOL}) (?:still |now )?(?!has|was|is|says|costs"
         rf"|hates){PLAIN_WORD}(?<=s) "
         rf"(?:track of )?(?:all |most of |half of )?(?:of )?(?:my|our) {PLAIN_WORD}"
         rf"(?: {PLAIN_WORD}){{0,2}}{HOW}",
         "Nextcloud keeps our photos.", "Nextcloud",
         "my our"),
    Pattern("x_is_used", rf"(?P<uses>{TOOL}) is where (?:all |most of )?(?:my|our) (?:{PLAIN_WORD}"
         rf" ){{1,3}}"
         rf"(?:lives?|sits?|goes|go|ends? up|happens?|are|is){HOW}",
         "Notion is where our recipes live.", "Notion",
         "where"),
    Pattern("my_tool_is_x", rf"(?:[Mm]y|[Oo]ur|[Aa]ll (?:of )?(?:my|our)) (?!{_PERSON}){PLAIN_WORD}"
         rf"(?: (?!{_PERSON}){PLAIN_WORD})? "
         rf"(?:all )?lives? (?:now )?in (?P<uses>{TOOLS_FOR}){HOW}",
         "Our recipes live in Notion.", "Notion",
         "live"),
    Pattern("my_tool_is_x", rf"(?:[Ee]verything|[Ii]t all) (?:now )?(?:lives|sits|goes"
         rf"|runs) (?:now )?(?:in|into|on) "
         rf"(?P<uses>{TOOLS_FOR}){HOW}", "Everything lives in Notion now.", "Notion",
         "everything all"),
    Pattern("my_tool_is_x", rf"{WE} {ADVERBS}(?:get|order|buy|read|pull) (?:all )?(?:my"
         rf"|our) {WORD}(?: {WORD})? (?:from|through|via|on) "
         rf"(?P<uses>{TOOLS_FOR}){HOW}", "I get my news from Feedly.", "Feedly",
         "get order buy read pull"),
    # What took the place of what.
    Pattern("switched", rf"{WE}{_PERFECT} {_SWITCHED}{_WHAT} from (?P<uses_ended>{TOOLS})"
         rf" (?:over )?"
         rf"(?:on)?to (?P<uses>{TOOLS}){_FOR}{THEN}", "We switched from npm to pnpm.", "pnpm",
         "_from_"),
    Pattern("switched", rf"{WE}{_PERFECT} {_SWITCHED}{_WHAT} (?:off|over"
         rf"|) ?(?P<uses_ended>{TOOLS})? ?"
         rf"(?:and )?(?:on)?to (?P<uses>{TOOLS}){_FOR}{THEN}", "I moved to Podman.", "Podman",
         "to"),
    Pattern("switched", rf"{WE}{_PERFECT} (?:replaced|swapped(?: out)?|ditched|dropped|traded"
         rf"|abandoned"
         rf"|left) (?P<uses_ended>{TOOLS}) (?:with|by|for|in favou?r of) "
         rf"(?P<uses>{TOOLS}){_FOR}{THEN}",
         "We replaced Jest with Vitest.", "Vitest",
         "replaced swapped ditched dropped traded abandoned left"),
    Pattern("switched", rf"{WE}{_PERFECT} {_LEFT} (?P<uses_ended>{TOOLS})(?: and (?:then )?"
         rf"(?:adopted|picked up|started using|went with|(?:switched|moved|migrated) (?:over )?to) "
         rf"(?P<uses>{TOOLS}))?{THEN}", "We dropped npm and adopted pnpm.", "npm",
         "ditch drop abandon retired got_ gave_up phased decom sunset uninstall left quit "
         "stopped outgrew off delet goodbye "
         "parted away removed cancel threw ripped with"),
    Pattern("replaced", rf"(?:[Oo]ur |[Mm]y )?(?P<uses_ended>{TOOL}) (?:has been|was|got"
         rf"|is) (?:now "
         rf"|recently )?replaced (?:by|with) (?P<uses>{TOOL})(?: (?:now|here|in our \w+|for us))?",
         "Docker has been replaced by Podman.", "Podman",
         "replaced"),
    Pattern("replaced", rf"(?P<uses_ended>{TOOL}) is out,? (?:and )?(?P<uses>{TOOL}) is in",
         "npm is out, pnpm is in.", "pnpm",
         "is_out"),
    Pattern("project_uses", rf"(?:(?:[Tt]he |[Oo]ur |[Mm]y )?[Pp]roject )?(?P<project>{NAME}"
         rf"|(?:[Tt]he|[Oo]ur) {PLAIN_WORD}"
         rf"(?= project))(?: project)?(?:,? (?:which|that))? "
         rf"{ADVERBS}uses (?P<project_uses>{TOOLS_FOR}){HOW}",
         "Project Harbor uses Redis.", "Redis",
         "uses"),
    # Preferences.
    Pattern("prefers_x", rf"{WE}(?: {ADVERBS}prefers?(?: to use| using| more| very much)?|(?: am"
         rf"| are) "
         rf"prefer|{HAVE} (?:always |long )?preferred) (?P<prefers>{PREFERRED})(?: more| most"
         rf"| best)?{_COMPARED}{WITHIN}{HOW}", "I prefer Python.", "Python",
         "prefer"),
    Pattern("prefers_x", rf"{WE} {ADVERBS}(?:prefers?|{_LIKES}) (?P<prefers>{GERUND}){_MUCH}"
         rf"{_COMPARED}{HOW}", "I enjoy baking bread.", "baking bread",
         "ing"),
    Pattern("prefers_x", rf"{WE}(?: am| are)? {ADVERBS}{_LIKES}(?: using| writing(?: in)?"
         rf"| very much)? "
         rf"(?P<prefers>{LIKED}){_MUCH}{_COMPARED}{WITHIN}{HOW}", "I like dark mode.", "dark mode",
         "like love enjoy ador appreciat cherish favo valu dig tend"),
    Pattern("prefers_x", rf"{WE} {ADVERBS}(?:prefers?|{_LIKES}) (?P<prefers>{LIKED_LIST})"
         rf"{_MUCH}{_COMPARED}{HOW}",
         "I enjoy long walks and old films.", "long walks and old films",
         "and ,"),
    Pattern("prefers_x", rf"{WE} {ADVERBS}(?:prefers?|likes?|loves?) to (?P<prefers>{DOING})"
         rf"{_COMPARED}", "I prefer to work from home.", "work from home",
         "_to_"),
    Pattern("prefers_x", rf"{WE}(?:{BE} (?:a|an) (?:\w+ )?(?:fan|lover|admirer) of|{BE} (?:\w+ly "
         rf"|very "
         rf"|so |pretty |super )?(?:fond of|into|partial to|keen on|in love with|crazy about)"
         rf"|{HAVE} (?:fallen in love with|grown fond of)| (?:have|has|had|expressed|stated|showed"
         rf"|shows) "
         rf"a (?:\w+ )?(?:preference|soft spot|weakness|passion) for| swears? by"
         rf"| gravitates? towards?) (?P<prefers>{LIKED})(?:{_OVER})?{WITHIN}",
         "I'm a big fan of Svelte.", "Svelte",
         "fan lover admirer fond into partial keen love crazy grown prefer "
         "soft weakness passion swear gravitat"),
    Pattern("prefers_x", rf"{WE}(?:{_DO_NOT} (?:like|prefer|enjoy|love)| (?:really |absolutely )?"
         rf"(?:dislike|hate|detest|loathe|can't stand)s?) (?P<prefers_denied>{LIKED}"
         rf"|[A-Z][a-z]+days)"
         rf"(?: very much| at all| after all)?", "I don't like Java.", "Java",
         "hate dislike detest loathe stand not n't dont never"),
    Pattern("prefers_x", rf"{WE}{_DO_NOT} (?:like|prefer|enjoy|love) (?P<prefers_ended>{LIKED}) "
         rf"{NO_MORE}", "I don't like Perl anymore.", "Perl",
         "more longer"),
    Pattern("prefers_x", rf"{WE} (?:no longer (?:like|prefer|enjoy|love)s?|used to (?:like|prefer"
         rf"|enjoy"
         rf"|love)) (?P<prefers_ended>{PREFERRED})(?: a lot| very much)?(?: in the past)?",
         "I used to prefer tabs.", "tabs",
         "no_longer used_to"),
    Pattern("favorite", rf"[Mm]y {_FAVORITE} (?!part|thing|way|memory|moment|place"
         rf"|person){PLAIN_WORD}(?: {PLAIN_WORD})? (?:is|are|remains) (?:still |definitely )?"
         rf"(?P<prefers>{PREFERRED})", "My favourite editor is Helix.", "Helix",
         "favo prefer go-to"),
    Pattern("favorite", rf"(?:[Mm]y )?(?i:favou?rite|preferred) \w+(?: \w+)?:"
         rf" (?P<prefers>{PREFERRED})",
         "Favourite editor: Helix", "Helix",
         "favo prefer"),
    Pattern("favorite", rf"(?P<prefers>{TOOL}) (?:is|remains) (?:still )?my {_FAVORITE} "
         rf"(?:\w+ ){{0,2}}\w+", "Helix is my favourite editor.", "Helix",
         "favo prefer go-to"),
    Pattern("x_is_liked", rf"{WE}(?:'d| would) (?:(?:much )?rather (?:use|write(?: in)?|read|get"
         rf"|have)"
         rf"|(?:rather )?(?:pick|choose|take)) (?P<prefers>{PREFERRED}){_OVER}"
         r"(?: any ?day| any time| every time)?", "I'd pick Kotlin over Java.", "Kotlin",
         "'d would"),
    Pattern("x_is_liked", rf"{WE} can't get enough of (?P<prefers>{LIKED})",
         "I can't get enough of jazz.", "jazz",
         "enough"),
    Pattern("x_is_liked", rf"(?:[Gg]ive me )?(?P<prefers>{PREFERRED}){_OVER},? (?:always|any ?day"
         rf"|any time"
         r"|every time)", "Wool over cotton, any day.", "Wool",
         "over than"),
    Pattern("x_is_liked", rf"(?:[Hh]uge |[Bb]ig |[Mm]assive )*[Ff]an of (?P<prefers>{LIKED})",
         "Big fan of short functions.", "short functions",
         "fan"),
    Pattern("x_is_liked", rf"{WE}{BE} (?:more of )?an? (?P<prefers>{WORD}(?: {WORD})?) (?:person"
         rf"|lover"
         r"|enthusiast|drinker|addict)", "I'm a tea person.", "tea",
         "person lover enthusiast drinker addict"),
    Pattern("x_is_liked", rf"(?P<prefers>{TOOL}) (?:has|have) my heart",
         "Svelte has my heart.", "Svelte",
         "heart"),
    Pattern("favorite", rf"[Mm]y (?:\w+ )?preference is (?:for )?(?P<prefers>{PREFERRED})",
         "My preference is window seats.", "window seats",
         "preference"),
    Pattern("x_is_liked", rf"(?P<prefers>{TOOL}|[a-zA-Z][\w-]+(?: [a-z][\w-]+)?) (?:beats|>"
         rf"|over) {_OTHER},? (?:every time|any day|always|hands down)",
         "Kotlin beats Java every time.", "Kotlin", "beats > over"),
    Pattern("x_is_liked", rf"(?P<prefers>{TOOL}) > {TOOL}(?:,? every time)?",
         "pnpm > npm", "pnpm", ">"),
    Pattern("x_is_liked", rf"(?P<prefers>[A-Z]?[a-z][\w-]+(?: [a-z][\w-]+)?|{TOOL}),? (?:any ?day"
         rf"|always|all the way)",
         "Dark mode, always.", "Dark mode", "day always all_the"),
    Pattern("x_is_liked", rf"{WE}(?:'ll| will) take (?P<prefers>{PREFERRED}){_OVER} (?:any ?day"
         rf"|every time)",
         "I'll take trains over planes any day.", "trains", "take"),
    Pattern("prefers_x", rf"(?:{WE}{IS_NOT}|[Nn]ot) (?:a |an )?(?:\w+ )?(?:fan of"
         rf"|into) (?P<prefers_denied>{LIKED})",
         "I'm not a fan of Jira.", "Jira", "fan into"),
    Pattern("x_is_liked", rf"[Nn]othing beats (?P<prefers>{TOOLS}|[a-z][\w-]+ [a-z][\w-]+)"
         rf"(?: for me)?",
         "Nothing beats Blender for me.", "Blender",
         "beats"),
    # Decisions.
    Pattern("decided_x", rf"{WE}{_HAVE} (?:decided|decide|agreed|opted|chose"
         rf"|chosen|resolved|voted|elected|made (?:the|a) (?:decision|choice)){_BY} "
         rf"(?P<negation>not )?(?:for )?{_TO_DO}(?P<decided>)",
         "I decided to use SQLite for KG.", "Use SQLite for KG",
         "_to_"),
    Pattern("decided_x", rf"(?:(?:[Tt]he|[Oo]ur|[Mm]y) (?:whole )?team(?: has)? (?:finally )?"
         rf"|[Ii]t (?:was|has been|is) )decided{_BY} (?P<negation>not )?{_TO_DO}(?P<decided>)",
         "The team decided to migrate to Kubernetes.", "Migrate to Kubernetes",
         "team_ it_"),
    Pattern("decided_x", rf"{WE}{_HAVE} (?:decided|agreed){_BY} (?:that )?(?:we|I)"
         r"(?: will| should| shall|'ll)? (?!\w+ed\b|went|were|are|is|was|have|had|can|could|would"
         r"|might|may)(?P<decided>)", "We agreed that we ship on Fridays.", "Ship on Fridays",
         "decided agreed"),
    Pattern("decided_x", rf"{WE}{_HAVE} (?:decided"
         rf"|agreed){_BY} that (?!we\b|I\b|it\b|this\b|they\b|he\b"
         r"|she\b|you\b|(?:\S+ ){1,4}(?:is|are|was|were|has|had)\b)(?P<decided>)",
         "We agreed that Kim leads the team.", "Kim leads the team",
         "that"),
    Pattern("decided_x", rf"{WE}{_HAVE} (?:decided|agreed): (?!we\b|I\b|it\b|this\b)(?P<decided>)",
         "I've decided: no more late nights.", "No more late nights",
         ":"),
    Pattern("decided_x", rf"(?:[Oo]kay,? |[Ss]o,? |[Rr]ight,? )?(?P<decided>{TOOLS}"
         rf"|(?:the )?(?:{PLAIN_WORD} )?{_OPTIONS}(?: [A-Z])?) it is(?: then)?",
         "Postgres it is.", "Postgres", "it_is"),
    Pattern("decided_x", r"(?i:it's (?:decided|settled|official)|it is (?:decided|settled)|settled"
         r"|final answer|the call is|final call): (?P<decided>)",
         "Final answer: no server.", "No server", ":"),
    Pattern("decided_x", rf"(?:[Oo]ur|[Mm]y|[Tt]he) (?:choice|pick|vote) (?:is|was|fell on"
         rf"|went to) (?P<decided>{TOOLS}|{NAME}){_IN_THE_END}",
         "Our choice fell on Terraform.", "Terraform", "choice pick vote"),
    Pattern("decided_x", rf"{WE} ended up (?:choosing|going with|picking) (?P<decided>{TOOLS}"
         rf"|{_OPTION}){_IN_THE_END}",
         "We ended up choosing Stripe.", "Stripe", "ended_up"),
    Pattern("decided_x", rf"{WE}{_HAVE} (?:went|gone) for (?P<decided>{TOOLS}|(?:the "
         rf"|an? )?(?:{PLAIN_WORD} )?"
         rf"(?:options?|plan|version|approach|design)(?: \w+)?){_IN_THE_END}",
         "We went for the cheaper plan.", "The cheaper plan",
         "_for_"),
    Pattern("decided_x", rf"{WE}{_HAVE} decided (?P<against>against) (?P<decided>)",
         "We decided against buying a van.", "Against buying a van",
         "against"),
    Pattern("decided_x", rf"{WE}{_HAVE} (?:(?:decided|settled|agreed|landed) on|settled for"
         rf"|opted for"
         rf"|decided (?:for|in favou?r of)|voted for|chose|chosen|picked(?= (?:the|[A-Z]|{TOOL}))) "
         rf"(?P<decided>{_CHOICE}){_IN_THE_END}", "We chose MariaDB.", "MariaDB",
         "decided settled agreed landed opted voted chose pick"),
    Pattern("decided_x", rf"{WE}(?:{_AM} (?:now )?(?:going(?: ahead)? with|choosing(?! an? ))"
         rf"|{_HAVE} (?:went|gone) with) (?P<decided>{_OPTION}(?: for {THING})?){_IN_THE_END}",
         "I'm going with plan B.", "Plan B",
         "with choosing"),
    Pattern("decided_x", rf"{WE}{_AM} choosing (?!an? )(?P<decided>{WORD}"
         rf"(?: {WORD}){{0,2}}{_OVER}(?: for {THING})?)",
         "Choosing tabs over spaces.", "Tabs over spaces",
         "choosing"),
    Pattern("decided_x", r"(?i:(?:the |our |my )?(?:final )?(?:decision|decided|agreed|resolved"
         r"|verdict"
         r"|outcome|call))(?: made| taken)?: (?:we(?:'ll| will)? (?!are|were|have|had|did|do|can"
         r"|could|might|may|need|want)|to )?(?!(?i:tbd|none|pending|open|see|no decision|postponed"
         r"|deferred|unclear|nothing|not yet|n/a|it|this|that|yes|no|ok)\b)"
         rf"(?=\S+ \S|[A-Z]\w+ *$|{TOOL})(?P<decided>)",
         "Decision: keep the old logo", "Keep the old logo",
         ":"),
    Pattern("decided_x", rf"{WE} (?:was|were) going with (?P<decided_ended>{TOOLS}|{NAME}) until "
         r"(?:\w+ ){1,6}\w+", "We were going with Snowflake until finance said no.", "Snowflake",
         "until"),
    Pattern("decided_x", rf"{WE}{IS_NOT} going with (?P<decided_denied>{TOOLS})(?: after all"
         rf"| {NO_MORE})?", "We aren't going with Netlify after all.", "Netlify",
         "going_with"),
    Pattern("reversed", rf"{WE}(?:{HAVE})?(?: are|'re)? (?:reversed|reversing|revoked|cancell?ed"
         r"|withdrew|overturned|scrapped|dropped|abandoned|took back|rolled back) (?:the|our|my) "
         r"(?:\w+ )?decision (?P<negation>not )?to (?P<decided_ended>)",
         "We reversed the decision to use Redis.", "Use Redis",
         "decision"),
    Pattern("corrected", r"(?i:scratch that|correction|never ?mind|I misspoke"
         r"|I was wrong)[\x20\ue020:,.]+"
         rf"(?:it's |actually |we're |I'm )?not (?:using )?(?P<corrected>{TOOL})",
         "Scratch that: not Redis.", "Redis",
         "not"),
)  # fmt: skip

_LEAD = one_of("""
    and but so also plus well ok okay yes yeah btw fyi honestly personally actually generally
    in_general finally by_the_way as_for_me for_me tbh anyway long_story_short
    (?:please_)?remember_that
    (?:just_)?(?:note_that|to_note) keep_in_mind_that for_the_record for_your_information
    as_you_know
    as_I_said as_mentioned in_my_case me in_the_end usually mostly normally sometimes still
    meanwhile
    as_a_rule (?:just_)?a_heads-up_that wait turns_out on_second_thoughts? actually_no great
    I_misspoke(?:_earlier)?:? I_was_wrong I_take_it_back that_was_a_mistake correction:?
    (?:just_)?(?:a_)?quick_reminder_that just_so_you_know me_too no
    scratch_that:? ignore_my_(?:last|previous)_message
    """)
_RISK = one_of("""
    said says say claims? claimed t(?:old|ells?) lied lie lying kidding joking jokes?
    pretend(?:ing)? dreams?
    unless if until anymore any_more no_longer stopped quit used_to changed_my_mind reversed
    reverted
    cancelled canceled wish would might maybe at_least supposedly allegedly sarcasm ironically
    in_theory moved switched dropped replaced gave_up left undid imagine suppose story novel fiction
    character song lyrics movie film thought thinks? believes? believed hopes? hoped hypothetically
    example tomorrow someday later supposed asked asks wants? wanted plans? planned should could
    """)
"""Words of a clause that may take back what another clause of the sentence states."""
_FREE = rf"(?!.*\b{_RISK}\b)[^:?\ue003\ue004]*"
_SAYS = (
    "(?!(?:said|says|say|claims?|claimed|t(?:old|ells)|thinks?|thought|wrote|writes|insists?|swore"
    "|joked?) )"
)
_SOMEBODY = r"(?:he|she|they|you|[Mm]y (?:\w+ )?\w+|[Oo]ur \w+|the \w+|[A-Z][a-z]+)"
BULLET = lazily(r" *(?:[*•–-] )?(?:\d{1,2}[.)] )?")
OPENER = lazily(
    r"(?:(?:"
    r"(?:[^\W\d_]+ ){0,3}[^\W\d_]+(?: \d+)?:(?= )|(?i:hi|hello|hey|dear|thanks)(?: \w+){0,2},"
    rf"|(?i:{_LEAD}|{NOW}|{PLACE}|for (?-i:(?![A-Z])){THING}|{HOW_LONG}|as of {DATE}"
    r"|after (?:the|some|a|much) \w+(?: \w+)?|yesterday|this \w+|on \w+day|last \w+)"
    rf"|[Ww]hen(?:ever)? {WE}(?!'| (?:was|were|have|had|am|are|used|get|become|grow|will|would"
    rf"|die))"
    rf" \w+(?: {WORD}){{0,3}}|{_SOMEBODY} "
    rf"{_SAYS}[\w\x20{words.TOOL_MARK}{words.WORD_BLANK}]{{1,60}}?(?:,? but)"
    r"|[Ii]t(?:'s| is) \w+(?: \w+)?, so|[Mm]y (?:\w+ ){1,4}is \ue000+,? and"
    rf"|(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur|[Tt]he|[Ii]t|[Aa]) {_FREE[:-1]}{{1,80}}?,? (?:and|so)(?= (?:I|we"
    rf"|i) )"
    r"),? +){0,3}"
)
"""What may precede the first clause of a sentence and changes nothing."""
TAIL = lazily(
    rf"(?:(?:,? (?:because|since|as (?:it|they|we|I|that|this|he|she)\b|so\b|although|though"
    rf"|even though|while|whereas|which|where|and (?:it|they|I|we|that)\b|but (?:I|we|it)\b"
    rf"|(?:but|and) {_SOMEBODY} {_SAYS})|, (?:the|my|our|a|no|even|mostly|it's|that's|too) "
    rf"{_SAYS}){_FREE}"
    rf"|,? (?:and |but )?not (?:{TOOLS}|today)|,? {_LAST}"
    rf"|(?:,|,? and|:) (?:(?:the|my|our|its) )?(?:{WORD} ){{1,3}}(?:is|are|lives?|sits?)"
    rf"(?: (?:now|all))?(?: (?:in|at|under|on))? {FILE}+"
    rf"|,? (?:and )?(?:edited|changed|fixed|updated|refactored|opened|wrote|see|reading|editing)"
    rf" (?:the )?{FILE}+(?: {_TODAY})?"
    rf"|: (?:the|a|an|my|our|its|it|now|fixed|added) {_FREE}"
    rf"|,? but (?:only|not) (?:for|in|on|at|with|when) {_FREE})$"
)
"""What may follow the last clause of a sentence and changes nothing."""
