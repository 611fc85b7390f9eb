"""Rules, conditions and matching (clauses C040 to C053, C070 to C086, C091, C101 to C112)."""

from __future__ import annotations

import pytest

from kiprdf import chunks
from tests.chunks.engine_tables import Case, table

EXPLICIT = """
rule r1 {
  @condition c1
  @action a1, a2
}
remember c1 {}
next a1 {@do clear}
memory a2 {@module facts}
"""


@table(
    Case(
        "C070 C072 a rule of cited conditions and actions",
        EXPLICIT,
        "remember {}",
        fired=[0],
        buffers={"goal": None, "facts": "memory {}"},
    ),
    Case(
        "C073 the compact form equals it",
        "remember {} => next {@do clear}, memory {@module facts}",
        "remember {}",
        fired=[0],
        buffers={"goal": None, "facts": "memory {}"},
    ),
    Case(
        "C071 a chunk of type rule without condition and action is ignored",
        "rule r1 {condition g1; action a1}\nstart {} => go {}",
        fired=[0],
        buffers={"goal": "go {}"},
    ),
    Case(
        "C074 all of several conditions must hold",
        """start {n ?n}, seen {@module facts; n ?n} => both {n ?n}
           start {n ?n}, seen {@module facts; n 3} => never {}
           start {n ?n} => seen {@module facts; n 2}, start {n ?n; @module goal}""",
        "start {n 2}",
        buffers={"goal": "both {n 2}"},
    ),
    Case(
        "C075 C076 a condition is about the goal unless it names a module",
        "dog {} => wrong {}\ndog {@module facts} => wrong {}\ncat {} => right {}",
        "cat {}",
        fired=[2],
        buffers={"goal": "right {}"},
    ),
    Case(
        "C077 an action is about the goal unless it names a module",
        "start {} => mid {@module facts; n 1}, end {n 2}",
        buffers={"facts": "mid {n 1}", "goal": "end {n 2}"},
    ),
    Case(
        "C024 C086 C154 type * matches any chunk",
        "* {} => done {@module facts}, x {@do clear}",
        "anything {}",
        fired=[0],
        buffers={"facts": "done {}"},
    ),
    Case("C086 other types do not match", "start {} => end {}", "begin {}", fired=[]),
    Case(
        "C040 C084 C155 a property * must be there, and other properties are tested too",
        "basket {fruit *; size 2} => wrong {}\nbasket {fruit *; size 1} => right {}",
        "basket {fruit apple; size 1}",
        fired=[1],
    ),
    Case("C155 a property * that is absent", "basket {fruit *} => wrong {}", "basket {}", fired=[]),
    Case(
        "C041 C083 C161 ! means that the property is absent",
        "basket {fruit !} => empty {}\nbasket {fruit ?f} => full {f ?f}",
        "basket {}",
        fired=[0],
    ),
    Case(
        "C083 ! fails if it is there", "basket {fruit !} => empty {}", "basket {fruit a}", fired=[]
    ),
    Case(
        "C042 C159 !v holds for another value",
        "basket {fruit !banana} => right {}",
        "basket {fruit apple}",
        fired=[0],
    ),
    Case("C159 !v fails for v", "a {p !b} => wrong {}", "a {p b}", fired=[]),
    Case(
        "C043 C044 C150 C151 the first occurrence binds, the next compares",
        "count {from ?n; to ?n} => same {n ?n}\ncount {from ?n; to !?n} => other {n ?n}",
        "count {from 1; to 2}",
        fired=[1],
        buffers={"goal": "other {n 1}"},
    ),
    Case(
        "C151 across conditions",
        "a {n ?n}, b {@module facts; n ?n} => wrong {}",
        "a {n 1}",
        fired=[],
    ),
    Case(
        "C045 C156 C160 lists of one length, position by position",
        """basket {fruit ?a, !banana, ?o} => wrong {}
           basket {fruit ?a, ?b} => wrong {}
           basket {fruit apple, *, ?o} => right {o ?o}""",
        "basket {fruit apple, banana, orange}",
        fired=[2],
        buffers={"goal": "right {o orange}"},
    ),
    Case(
        "C152 a variable binds a list and compares it as a whole",
        "basket {fruit ?f; again ?f} => same {fruit ?f}",
        "basket {fruit a, b; again a, b}",
        buffers={"goal": "same {fruit a, b}"},
    ),
    Case(
        "C153 a list of variables does not match a single value",
        "a {p ?x, ?y} => w {}",
        "a {p 1}",
        fired=[],
    ),
    Case(
        "C030 a name and a string of the same letters differ",
        'a {p "x"} => wrong {}\na {p x} => right {}',
        "a {p x}",
        fired=[1],
    ),
    Case("C010 numbers are equal by value", "a {p 4} => right {}", "a {p 4.0}", fired=[0]),
    Case("C011 true is not 1", "a {p 1} => wrong {}", "a {p true}", fired=[]),
    Case(
        "C052 C080 C091 a context must be the same",
        """a {} => wrong {}
           a {@context c2} => wrong {}
           a {@context ?c} => right {c ?c}""",
        "a {@context c1}",
        fired=[2],
        buffers={"goal": "right {c c1}"},
    ),
    Case(
        "C051 C053 a context matches no chunk without one",
        "a {@context c1} => wrong {}",
        "a {}",
        fired=[],
    ),
    Case("C081 @id", "a {@id a2} => wrong {}\na {@id ?i} => right {i ?i}", "a a1 {}", fired=[1]),
    Case("C159 @id !v", "person {@id !John} => right {}", "person Mary {}", fired=[0]),
    Case("C159 @id !v, the same", "person {@id !John} => wrong {}", "person John {}", fired=[]),
    Case("C165 !! cancels itself", "person {@id !!John} => right {}", "person John {}", fired=[0]),
    Case(
        "C085 C112 @type binds the type, whatever the condition's own",
        "thing {@type ?t; n !} => right {t ?t; n 1}",
        "dog {}",
        buffers={"goal": "right {t dog; n 1}"},
    ),
    Case("C085 @type compares the type", "thing {@type cat} => wrong {}", "dog {}", fired=[]),
    Case(
        "C082 C099 @kindof follows a chain of links",
        "* {@kindof animal} => right {}\n* {@kindof plant} => wrong {}",
        "penguin {}",
        "penguin kindof bird\nbird kindof animal",
        fired=[0],
    ),
    Case(
        "C082 the links may be those of the rules",
        "dog kindof mammal\n* {@kindof mammal} => right {}",
        "dog {}",
        fired=[0],
    ),
    Case(
        "C102 @more and @index",
        "item {@more true} => wrong {}\nitem {@more false; @index ?i} => right {i ?i}",
        "item {@more false; @index 3}",
        fired=[1],
        buffers={"goal": "right {i 3}"},
    ),
    Case(
        "C061 @subject and @object",
        "likes {@subject ?a; @object ?b} => right {a ?a; b ?b}",
        "likes {@subject ann; @object bob}",
        buffers={"goal": "right {a ann; b bob}"},
    ),
    Case(
        "E01 @gt and @lteq compare two values",
        """n {v ?v; @gt ?v, 5} => big {}
           n {v ?v; @lteq ?v, 5} => small {}""",
        "n {v 5}",
        fired=[1],
    ),
    Case(
        "E01 @gt with one value is about the property before it",
        "n {v ?v; @gt 5} => big {}",
        "n {v 6}",
        fired=[0],
    ),
)
def test_conditions(case: Case) -> None:
    case.check()


@table(
    Case(
        "C157 !c holds if c does not",
        "!dog {} => right {}\n!cat {} => wrong {}",
        "cat {}",
        fired=[0],
        cycles=1,
        stopped="limit",
    ),
    Case(
        "C158 the explicit form",
        "rule {@condition !c1; @action a1}\nperson c1 {@id John}\nright a1 {}",
        "person Mary {}",
        fired=[0],
        cycles=1,
        stopped="limit",
    ),
    Case(
        "C157 decision 6: it holds for an empty buffer",
        "start {}, !* {@module facts} => right {}",
        fired=[0],
    ),
    Case(
        "C157 decision 6: it binds nothing",
        "start {}, !dog {name ?n} => right {n ?n}",
        fired=[0],
        buffers={"goal": "right {}"},
    ),
    Case(
        "C109 it binds @status",
        """start {} => dog {@module facts; @do get}, wait {}
           wait {}, !dog {@module facts; @status ?s} => end {s ?s}""",
        buffers={"goal": "end {s nomatch}"},
    ),
    Case(
        "C109 C126 a status of a buffer that is empty",
        """start {} => dog {@module facts; @do get}, wait {}
           wait {}, * {@module facts; @status okay} => wrong {}
           wait {}, * {@module facts; @status nomatch} => right {}""",
        fired=[0, 2],
    ),
    Case(
        "C124 a status is okay at first",
        "start {@status ?s} => end {s ?s}",
        buffers={"goal": "end {s okay}"},
        statuses={"goal": "okay", "facts": "okay"},
    ),
)
def test_negated_conditions_and_statuses(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("claim", "rules", "message"),
    [
        ("C075", "a {@module nowhere} => b {}", "no module nowhere"),
        ("C077", "a {} => b {@module nowhere}", "no module nowhere"),
        ("C139", "a {} => b {@do properties; @to nowhere}", "no module nowhere"),
        ("C070", "rule r {@condition c9; @action a1}\na a1 {}", "c9"),
        ("C162", "count {start !?n} => b {}", r"\?n"),
        ("C162 action", "count {start ?m} => dog {@do get; n !?n}", r"\?n"),
        ("C163", "basket {fruit ?a, !, ?o} => b {}", "list"),
        ("C164", "* {} => basket {@do update; fruit !apple}", "fruit !"),
        ("C164 default", "* {} => basket {fruit !apple}", "fruit !"),
        ("C097", "a {} => b {@do get; @for 1, 2}", "@for"),
    ],
)
def test_an_invalid_rule_is_a_rule_error_when_it_is_loaded(
    claim: str, rules: str, message: str
) -> None:
    with pytest.raises(chunks.RuleError, match=message) as raised:
        chunks.Engine(rules)
    assert isinstance(raised.value, chunks.ChunksError)


@pytest.mark.parametrize(
    "rules",
    [
        "count {start ?n; end !?n} => b {}",
        "a {n ?n}, b {@module goal; m !?n} => c {}",
        "* {} => basket {@do update; fruit !}",
        "* {} => dog {@do get; name !Rex}",
        "* {} => dog {@do delete; name !Rex}",
    ],
)
def test_c162_to_c164_valid_uses_of_the_negation(rules: str) -> None:
    assert chunks.Engine(rules).run() == []


def test_c122_the_module_goal_is_always_there_and_rules_is_that_of_the_rules() -> None:
    engine = chunks.Engine("a {} => b {}")
    assert engine.module("goal").buffer is None
    assert engine.module("goal").name == "goal"
    assert len(engine.module("rules").graph.rules) == 1
    with pytest.raises(chunks.ChunksError, match="nowhere"):
        engine.module("nowhere")
