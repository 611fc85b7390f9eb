"""The built-in operations (clauses C103 to C116, C129 to C146)."""

from __future__ import annotations

import pytest

from kiprdf import chunks
from tests.chunks.engine_tables import Case, content, table

DOGS = """
dog d1 {name "Fido"; age 4; breed collie}
dog d2 {name "Rex"; age 7; breed boxer}
cat c1 {name "Tom"; age 4}
"""


@table(
    Case(
        "C130 C144 update keeps the other properties",
        "count {state start} => count {state counting; step 1}",
        "count {state start; from 1; to 3}",
        buffers={"goal": "count {state counting; from 1; to 3; step 1}"},
    ),
    Case(
        "C145 update of another type starts a new chunk",
        "count {state start} => sum {state counting}",
        "count {state start; from 1}",
        buffers={"goal": "sum {state counting}"},
    ),
    Case(
        "C144 an update of an empty buffer starts a chunk",
        "start {} => foo {@module facts; a 1; c 2}",
        buffers={"facts": "foo {a 1; c 2}", "goal": None},
    ),
    Case(
        "C146 update with ! removes a property",
        "basket {fruit ?f} => basket {@do update; fruit !; had ?f}",
        "basket {fruit apple, pear; size 2}",
        buffers={"goal": "basket {size 2; had apple, pear}"},
    ),
    Case(
        "C144 an update writes no @ properties, and keeps those that are there",
        "a {@context ?c; n 1} => a {n 2; @context other; @subject x}",
        "a {@context c1; n 1}",
        buffers={"goal": "a {@context c1; n 2}"},
    ),
    Case(
        "C144 type * updates a chunk of any type",
        "* {state a} => * {state b}",
        "dog {state a; age 4}",
        buffers={"goal": "dog {state b; age 4}"},
    ),
    Case(
        "C144 type * has no meaning for an empty buffer",
        "start {} => * {@module facts; n 1}, * {@module facts; @do put; n 1}, end {}",
        statuses={"facts": "failed"},
        buffers={"facts": None, "goal": "end {}"},
        graphs={"facts": ""},
    ),
    Case(
        "C133 clear empties the buffer and pops the queue",
        "start {} => one {@do queue}, two {@do queue}, next {@do clear}",
        fired=[0],
        buffers={"goal": "two {}"},
    ),
    Case(
        "C172 actions run in their order",
        "start {} => a {n 1}, a {n 2}, a {m 3}",
        buffers={"goal": "a {n 2; m 3}"},
    ),
)
def test_update_and_clear(case: Case) -> None:
    case.check()


@table(
    Case(
        "C135 get loads a copy, which may change without the graph",
        """start {} => dog {@module facts; @do get; name "Fido"}
           dog {@module facts; age 4} => dog {@module facts; age 5}""",
        facts=DOGS,
        buffers={"facts": 'dog {name "Fido"; age 5; breed collie}'},
        statuses={"facts": "okay"},
        graphs={"facts": DOGS},
    ),
    Case(
        "C136 C126 a get without a match empties the buffer: nomatch",
        "start {} => dog {@module facts; age 1}, dog {@module facts; @do get; age 9}, next {}",
        facts=DOGS,
        buffers={"facts": None},
        statuses={"facts": "nomatch", "goal": "okay"},
    ),
    Case(
        "C098 get with @id does not look at the type of the action",
        "start {} => animal {@module facts; @do get; @id c1}, next {}",
        facts=DOGS,
        buffers={"facts": 'cat {name "Tom"; age 4}'},
    ),
    Case(
        "C086 get of type *",
        'start {} => * {@module facts; @do get; name "Tom"}, next {}',
        facts=DOGS,
        buffers={"facts": 'cat {name "Tom"; age 4}'},
    ),
    Case(
        "C085 get by @type",
        "start {t ?t} => lookup {@module facts; @do get; @type ?t; age 7}, next {}",
        "start {t dog}",
        facts=DOGS,
        buffers={"facts": 'dog {name "Rex"; age 7; breed boxer}'},
    ),
    Case(
        "C091 get in a context",
        "start {r ?r} => lunch {@module facts; @do get; @context ?r}, next {}",
        "start {r mario}",
        facts="""lunch {food soup; @context luigi}
                 lunch {food pizza; @context mario}
                 lunch {food tea}""",
        buffers={"facts": "lunch {food pizza; @context mario}"},
    ),
    Case(
        "C083 get with ! and !v",
        "start {} => dog {@module facts; @do get; breed !collie; owner !}, next {}",
        facts=DOGS,
        buffers={"facts": 'dog {name "Rex"; age 7; breed boxer}'},
    ),
    Case(
        "C062 get of a link",
        "start {} => likes {@module facts; @do get; @subject ann}, next {}",
        facts="ann likes bob\nbob likes ann",
        buffers={"facts": "likes {@subject ann; @object bob}"},
    ),
    Case(
        "C013 get of a date",
        "start {d ?d} => iso8601 {@module facts; @do get; @id ?d}, next {}",
        "start {d 1879-03-14}",
        buffers={"facts": "iso8601 {year 1879; month 3; day 14}"},
    ),
    Case(
        "C013 a date is read-only: forbidden",
        "start {d ?d} => iso8601 {@module facts; @do put; @id ?d; year 1}, next {}",
        "start {d 1879-03-14}",
        statuses={"facts": "forbidden"},
    ),
    Case(
        "C141 put with @id overwrites as a whole",
        "start {} => dog {@module facts; @do put; @id d1; age 5}, next {}",
        facts=DOGS,
        graphs={
            "facts": 'dog {age 5} dog {name "Rex"; age 7; breed boxer} cat {name "Tom"; age 4}'
        },
    ),
    Case(
        "C141 put with @id creates",
        """start {} => dog {@module facts; @do put; @id d9; age 5},
             cat {@module facts; @do get; @id d9}, next {}""",
        buffers={"facts": "dog {age 5}"},
    ),
    Case(
        "C141 an identifier is a name",
        'start {} => dog {@module facts; @do put; @id "two words"; age 5}, next {}',
        statuses={"facts": "failed"},
        graphs={"facts": ""},
    ),
    Case(
        "C142 put without @id always makes a new chunk",
        """start {} => dog {@module facts; @do put; age 5},
             dog {@module facts; @do put; age 5}, next {}""",
        graphs={"facts": "dog {age 5} dog {age 5}"},
    ),
    Case(
        "C142 decision f: put saves the buffer, overlaid by the action",
        """start {} => dog {@module facts; @do get; name "Fido"}, load {}
           load {} => dog {@module facts; @do put; age 5; breed !; @context old}, next {}""",
        facts='dog d1 {name "Fido"; age 4; breed collie}',
        graphs={
            "facts": 'dog {name "Fido"; age 4; breed collie} dog {name "Fido"; age 5; @context old}'
        },
    ),
    Case(
        "C142 decision f: a buffer of another type is not saved",
        "start {} => cat {@module facts; age 1}, dog {@module facts; @do put; name rex}, next {}",
        graphs={"facts": "dog {name rex}"},
    ),
    Case(
        "C138 patch changes the chunk with the id of the buffer",
        """start {} => dog {@module facts; @do get; name "Fido"}, load {}
           load {} => dog {@module facts; age 5; breed !}, save {}
           save {} => dog {@module facts; @do patch; tail long; breed !}, next {}""",
        facts='dog d1 {name "Fido"; age 4; breed collie}',
        graphs={"facts": 'dog {name "Fido"; age 5; tail long}'},
    ),
    Case(
        "C138 patch of a buffer without an id: nomatch",
        "start {} => dog {@module facts; age 5}, dog {@module facts; @do patch}, next {}",
        facts=DOGS,
        statuses={"facts": "nomatch"},
        graphs={"facts": DOGS},
    ),
    Case(
        "C134 delete removes all that match",
        "start {} => * {@module facts; @do delete; age 4}, next {}",
        facts=DOGS,
        graphs={"facts": 'dog {name "Rex"; age 7; breed boxer}'},
        statuses={"facts": "okay"},
    ),
    Case(
        "C134 delete without a match: nomatch, and the buffer stays",
        "start {} => dog {@module facts; age 1}, bird {@module facts; @do delete}, next {}",
        facts=DOGS,
        statuses={"facts": "nomatch"},
        buffers={"facts": "dog {age 1}"},
    ),
    Case(
        "C137 next visits each matching chunk once, then nomatch",
        """start {} => dog {@module facts; @do next}, go {}
           go {}, dog {@module facts; age ?a} =>
             show {@do show; value ?a}, dog {@module facts; @do next}
           go {}, !* {@module facts; @status nomatch} => end {}""",
        facts=DOGS,
        shown=[4, 7],
        buffers={"goal": "end {}", "facts": None},
    ),
)
def test_operations_on_the_graph(case: Case) -> None:
    case.check()


def test_c137_next_after_a_get_visits_the_others() -> None:
    names = set()
    for seed in range(8):
        engine = chunks.Engine(
            """start {} => dog {@module facts; @do get}, go {}
               go {}, dog {@module facts; n ?n} =>
                 show {@do show; value ?n}, dog {@module facts; @do next}""",
            {"facts": "dog {n 1}\ndog {n 2}\ndog {n 3}"},
            seed=seed,
        )
        seen: list[object] = []
        engine.operation("show", lambda call, seen=seen: seen.append(call.properties["value"]))
        engine.goal("start {}")
        engine.run()
        assert sorted(seen) == [1, 2, 3]  # type: ignore[type-var]
        names.add(seen[0])
    assert names == {1, 2, 3}


def test_c098_update_with_an_id_gives_the_buffer_that_id() -> None:
    engine = chunks.Engine("a {n 1} => a {n 2; @id a7}")
    engine.goal("a a1 {n 1}")
    engine.run()
    buffer = engine.module("goal").buffer
    assert buffer is not None
    assert (buffer.id, dict(buffer.properties)) == ("a7", {"n": 2})


def test_c144_an_update_of_the_same_type_keeps_the_id_and_another_type_has_none() -> None:
    engine = chunks.Engine("a {n 1} => a {n 2}\na {n 2} => b {}")
    engine.goal("a a1 {n 1}")
    engine.step()
    assert engine.module("goal").buffer == chunks.Chunk("a", {"n": 2}, id="a1")
    engine.step()
    assert engine.module("goal").buffer == chunks.Chunk("b")


@table(
    Case(
        "C103 pop removes the last item",
        "digits {list 0, 1, 2; s a} => digits {@pop list; s b}",
        "digits {list 0, 1, 2; s a}",
        buffers={"goal": "digits {list 0, 1; s b}"},
    ),
    Case(
        "C104 pop with @to assigns it",
        "digits {s a} => digits {@pop list; @to item; s b}",
        "digits {list 0, 1, 2; s a}",
        buffers={"goal": "digits {list 0, 1; item 2; s b}"},
    ),
    Case(
        "C103 a list of one item is the item",
        "digits {s a} => digits {@pop list; s b}",
        "digits {list 0, 1; s a}",
        buffers={"goal": "digits {list 0; s b}"},
    ),
    Case(
        "C103 pop of a single value removes the property",
        "digits {s a} => digits {@pop list; @to item; s b}",
        "digits {list 7; s a}",
        buffers={"goal": "digits {item 7; s b}"},
    ),
    Case(
        "C103 pop of what is not there",
        "digits {s a} => digits {@pop list; @to item; s b}",
        "digits {s a}",
        buffers={"goal": "digits {s b}"},
    ),
    Case(
        "C108 shift takes the first",
        "digits {s a} => digits {@shift list; @to item; s b}",
        "digits {list 0, 1, 2; s a}",
        buffers={"goal": "digits {list 1, 2; item 0; s b}"},
    ),
    Case(
        "C106 push appends",
        "digits {s a} => digits {@push 9; @to list; s b}",
        "digits {list 0, 1; s a}",
        buffers={"goal": "digits {list 0, 1, 9; s b}"},
    ),
    Case(
        "C106 push creates the property",
        "digits {s a} => digits {@push 9; @to list; s b}",
        "digits {s a}",
        buffers={"goal": "digits {list 9; s b}"},
    ),
    Case(
        "C107 push without @to has no effect",
        "digits {s a} => digits {@push 9; s b}",
        "digits {list 0; s a}",
        buffers={"goal": "digits {list 0; s b}"},
    ),
    Case(
        "C114 unshift prepends",
        "digits {s a} => digits {@unshift 0; @to list; s b}",
        "digits {list 1, 2; s a}",
        buffers={"goal": "digits {list 0, 1, 2; s b}"},
    ),
    Case(
        "C129 decision i: a push counts as a change of the goal",
        "digits {list 0, 1} => digits {@push 9; @to list}",
        "digits {list 0, 1}",
        fired=[0],
        buffers={"goal": "digits {list 0, 1, 9}"},
    ),
)
def test_lists(case: Case) -> None:
    case.check()


LOOP = """
item {value ?v; @index ?i; @more ?m} => show {@do show; value ?v, ?i, ?m}, item {@do next}
"""


@table(
    Case(
        "C092 C094 C095 C096 C111 @for loads value, @index and @more",
        "person {friends ?f} => item {@for ?f; @from 1; @to 2}\n" + LOOP,
        "person {friends Michael, Suzy, Janet, John}",
        shown=[("Suzy", 1, True), ("Janet", 2, False)],
        buffers={"goal": None},
        statuses={"goal": "nomatch"},
    ),
    Case(
        "C094 the properties of the action are copied, with their values",
        "start {n ?n} => item {@for a, b; loop l1; n ?n}\nitem {n 3} => show {@do show; value ok}",
        "start {n 3}",
        shown=["ok"],
    ),
    Case(
        "C092 @for over a single value",
        "start {} => item {@for a}\n" + LOOP,
        shown=[("a", 0, False)],
    ),
    Case(
        "C092 @for over nothing empties the buffer",
        "start {} => item {@for a, b; @from 5}\n" + LOOP,
        shown=[],
        buffers={"goal": None},
        statuses={"goal": "nomatch"},
    ),
    Case(
        "C131 @for in another module",
        "start {} => item {@module facts; @for a, b}, end {}",
        buffers={"facts": "item {value a; @index 0; @more true}"},
    ),
    Case(
        "C139 C140 properties, written to another module",
        """run {} =>
             foo {@module facts; a 1; c 2},
             bar {@module facts; @do properties; loop prop18; @to goal}
           bar {loop prop18; name ?name; value ?value; @more ?m} =>
             console {@do show; value ?name, ?value, ?m},
             bar {@do next}""",
        "run {}",
        shown=[("a", 1, True), ("c", 2, False)],
    ),
    Case(
        "C093 @from and @to are integers from 0 on",
        "start {} => item {@for a, b; @from -1; @module facts}, end {}",
        statuses={"facts": "failed"},
        buffers={"facts": None, "goal": "end {}"},
    ),
    Case(
        "C139 a module that a variable names may not exist",
        "start {m ?m} => foo {@module facts; a 1}, x {@module facts; @do properties; @to ?m}",
        "start {m nowhere}",
        statuses={"facts": "failed"},
    ),
    Case(
        "C139 properties of an empty buffer: nomatch",
        "run {} => bar {@module facts; @do properties; @to goal}",
        "run {}",
        statuses={"facts": "nomatch"},
    ),
)
def test_iterations(case: Case) -> None:
    case.check()


MAP = "@map map1 {do @do; condition @condition; action @action; module @module}\n"
AS_CHUNKS = """
rule r1 {condition g1; action a1, a2}
start g1 {}
dog a1 {module facts; do put; age 3}
end a2 {}
"""


@table(
    Case(
        "C090 C100 C166 compile chunks of a module as a rule",
        "learn {} => put {@compile r1; @map map1; @module facts}, start {}",
        "learn {}",
        MAP + AS_CHUNKS,
        fired=[0, 1],
        buffers={"goal": "end {}"},
        graphs={"facts": MAP + AS_CHUNKS + "dog {age 3}"},
    ),
    Case(
        "C090 decision e: the map may be among the rules",
        MAP + "learn {} => put {@compile r1; @map map1; @module facts}, start {}",
        "learn {}",
        AS_CHUNKS,
        fired=[0, 1],
    ),
    Case(
        "C090 decision e: without a map names are as they are",
        "learn {} => put {@compile r1; @module facts}, start {}",
        "learn {}",
        "rule r1 {@condition g1; @action a1}\nstart g1 {}\nend a1 {}",
        fired=[0, 1],
        buffers={"goal": "end {}"},
    ),
    Case(
        "C090 decision e: a cited chunk that is missing: nomatch",
        "learn {} => put {@compile r1; @map map1; @module facts}, start {}",
        "learn {}",
        MAP + "rule r1 {condition g1; action a1}\nstart g1 {}",
        fired=[0],
        statuses={"facts": "nomatch"},
    ),
    Case(
        "C090 an invalid rule: failed",
        "learn {} => put {@compile r1; @module facts}, start {}",
        "learn {}",
        "rule r1 {@condition g1; @action a1}\nstart g1 {}\nend a1 {@module nowhere}",
        fired=[0],
        statuses={"facts": "failed"},
    ),
    Case(
        "C113 C116 uncompile a rule as chunks",
        MAP
        + """rule r1 {@condition g1; @action a1}
             start g1 {@module facts}
             end a1 {@do clear}
             learn {} => get {@uncompile r1; @map map1; @module facts}, next {}""",
        "learn {}",
        graphs={"facts": "rule {condition g1; action a1} start {module facts} end {do clear}"},
    ),
    Case(
        "C113 uncompile with @unmap",
        MAP
        + """rule r1 {@condition g1; @action a1}
             start g1 {}
             end a1 {@do clear}
             learn {} => get {@uncompile r1; @unmap map1; @module facts}, next {}""",
        "learn {}",
        graphs={"facts": "rule {condition g1; action a1} start {} end {do clear}"},
    ),
)
def test_compile_and_uncompile(case: Case) -> None:
    case.check()


def test_c090_a_list_of_rules_is_compiled_with_types_and_ids_as_they_are() -> None:
    engine = chunks.Engine(
        "learn {} => put {@compile r1, r2; @module facts}",
        {
            "facts": "rule r1 {@condition g1; @action a1} a g1 {} b a1 {}\n"
            "rule r2 {@condition g2; @action a2} b g2 {} c a2 {}"
        },
    )
    engine.goal("learn {}")
    engine.run()
    assert content([engine.module("rules").graph["r2"]]) == [
        ("rule", {"@condition": "g2", "@action": "a2"})
    ]
    engine.goal("a {}")
    assert [firing.index for firing in engine.run()] == [1, 2]


def test_c132_an_application_cannot_replace_a_built_in_operation() -> None:
    engine = chunks.Engine("a {} => b {}")
    for name in ("update", "clear", "get", "put", "patch", "delete", "next", "properties", "queue"):
        with pytest.raises(ValueError, match=name):
            engine.operation(name, print)
