"""Sets of words, such as those next to ``project`` that do not name a project."""

from __future__ import annotations

import re
from itertools import groupby


def word_set(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(word_set("on at on"))
    ['at', 'on']
    """
    return frozenset(text.split())


def any_of(text: str) -> re.Pattern[str]:
    """An expression for one of several words, as ``one_of`` makes it."""
    return re.compile(rf"\b{one_of(text)}\b", re.I)


def one_of(text: str) -> str:
    """An expression for one of several expressions, in which ``_`` stands for blanks.

    They are grouped by their first letter, which is several times as fast as a plain alternative.

    >>> one_of("if in_case")
    '(?:i(?:f|n\\\\s+case))'
    """
    alternatives = sorted(part.replace("_", r"\s+") for part in text.split())
    groups = (
        rf"{first}(?:{'|'.join(part[1:] for part in group)})"
        if first.isalpha()
        else "|".join(group)
        for first, group in groupby(alternatives, lambda part: part[0])
    )
    return f"(?:{'|'.join(groups)})"


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

PLANS = word_set(
    "considered questions wishes todos candidates possibilities discarded unsure"
    " goal goals idea ideas plan plans planned planning todo next tomorrow wish wishlist proposal"
    " proposals suggestion suggestions option options alternative alternatives rejected question"
    " example examples task tasks requirement requirements advert ad job title article headline"
    " topic subject quote story scenario dream"
    " someday maybe backlog roadmap future pros cons against advice"
)
"""Words of a label or heading under which nothing is stated."""

PEOPLE = (
    r"colleagues?|co-?workers?|friends?|boss|manager|teammates?|clients?|customers?|company"
    r"|vendors?|brother|sister|wife|husband|interns?|contractors?|guys|folks|developers?"
    r"|students?|girlfriend|boyfriend|partner|mother|father|daughter|son"
    r"|kids|children|parents|mum|mom|dad|neighbou?rs?|teachers?|doctor"
)

GIVEN_NAMES = word_set("cassandra crystal dart hugo julia pascal ruby")
"""Tools that have the name of a person: "with Ruby" alone is no use of it."""
