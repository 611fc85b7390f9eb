"""The cycle, the queue, operations of an application, events and tasks.

Clauses C078, C105, C110, C120 to C129, C143 and C170 to C173.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest

from kiprdf import chunks
from tests.chunks.engine_tables import Case, content, table


@table(
    Case(
        "C129 actions that change no buffer of the rule clear the goal and pop the queue",
        """start {} => one {@do queue}, two {@do queue}
           one {} => show {@do show; value 1}
           two {} => show {@do show; value 2}""",
        shown=[1, 2],
        fired=[0, 1, 2],
        buffers={"goal": None},
    ),
    Case(
        "C129 decision i: writing another buffer of the conditions keeps the goal",
        """start {on !} => n {@module facts; v 1}, start {on true}
           start {on true}, n {@module facts; v 1} => n {@module facts; v 2}
           start {on true}, n {@module facts; v 2} => end {}""",
        fired=[0, 1, 2],
        buffers={"goal": "end {}"},
    ),
    Case(
        "C129 writing a buffer that no condition names clears the goal",
        "start {} => n {@module facts; v 1}",
        fired=[0],
        buffers={"goal": None, "facts": "n {v 1}"},
    ),
    Case(
        "C129 decision i: the same values written again are a change",
        "start {} => start {}",
        fired=[0] * 50,
        stopped="limit",
        buffers={"goal": "start {}"},
    ),
    Case(
        "C143 queue into an empty buffer is at once in the buffer",
        "start {} => a {@do queue; @module facts; n 1}, b {@do queue; @module facts}",
        buffers={"facts": "a {n 1}"},
        queues={"facts": "b {}"},
    ),
    Case(
        "C173 decision n: nothing matches, and the next of the queue replaces the goal",
        "start {} => odd {}, a {@do queue}\na {} => show {@do show; value 1}",
        fired=[0, 1],
        shown=[1],
    ),
    Case(
        "C173 decision n: with an empty queue the goal stays",
        "start {} => odd {n 1}",
        fired=[0],
        buffers={"goal": "odd {n 1}"},
    ),
    Case(
        "C105 a priority outside of 1 to 10 is the default",
        """start {} => a {@do queue; @priority 99}, b {@do queue; @priority 6}, end {}""",
        buffers={"goal": "a {}"},
    ),
)
def test_cycles_and_the_queue(case: Case) -> None:
    case.check()


def test_c127_c128_the_queue_is_ordered_by_priority_and_then_by_arrival() -> None:
    engine = chunks.Engine("a {} => b {}")
    engine.goal("now {}")
    for text, priority in (
        ("p5 {}", 5),
        ("p1 {}", 1),
        ("p10 {}", 10),
        ("q5 {}", 5),
        ("q10 {}", 10),
    ):
        engine.push(text, priority=priority)
    queue = engine.module("goal").queue
    assert [chunk.type for chunk in queue] == ["p10", "q10", "p5", "q5", "p1"]


def test_push_fills_an_empty_buffer_and_checks_its_priority() -> None:
    engine = chunks.Engine("a {} => b {}", {"facts": ""})
    engine.push("first {}", module="facts")
    engine.push("second {}", module="facts")
    facts = engine.module("facts")
    assert content([facts.buffer]) == [("first", {})]
    assert content(facts.queue) == [("second", {})]
    with pytest.raises(chunks.ChunksError, match="priority"):
        engine.push("third {}", priority=11)


def test_c123_a_buffer_can_be_set_and_emptied() -> None:
    engine = chunks.Engine("a {} => b {}")
    goal = engine.module("goal")
    goal.buffer = "a {n 1}"
    assert content([goal.buffer]) == [("a", {"n": 1})]
    goal.buffer = chunks.Chunk("b")
    assert content([goal.buffer]) == [("b", {})]
    goal.buffer = None
    assert goal.buffer is None


@pytest.mark.parametrize("text", ["a {} b {}", "", "a {", "a {} => b {}"])
def test_a_goal_is_one_chunk(text: str) -> None:
    with pytest.raises(chunks.ChunksError):
        chunks.Engine("a {} => b {}").goal(text)


def test_c004_a_step_is_one_firing_with_its_bindings_and_place() -> None:
    engine = chunks.Engine("a {n ?n; of ?list} => b {}\nb {} => c {}")
    engine.goal("a {n 1; of x, y}")
    firing = engine.step()
    assert firing is not None
    assert (dict(firing.bindings), firing.index) == ({"n": 1, "list": ("x", "y")}, 0)
    assert firing.rule.conditions[0].chunk["n"] == chunks.Variable("n")
    assert [firing.index for firing in engine.run()] == [1]
    assert engine.step() is None


def test_a_run_stops_quietly_at_the_limit_and_goes_on() -> None:
    engine = chunks.Engine("n {} => n {}")
    engine.goal("n {}")
    assert len(engine.run(max_cycles=7)) == 7
    assert engine.stopped == "limit"
    assert len(engine.run()) == 1000
    engine.goal("m {}")
    assert engine.run() == []
    assert engine.stopped == "quiet"


def test_c171_among_rules_that_match_the_seed_chooses_and_each_is_equally_likely() -> None:
    rules = "a {} => one {}\na {} => two {}\na {} => three {}"

    def chosen(seed: int) -> list[int]:
        engine = chunks.Engine(rules, seed=seed)
        places = []
        for _ in range(300):
            engine.goal("a {}")
            firing = engine.step()
            assert firing is not None
            places.append(firing.index)
        return places

    assert chosen(3) == chosen(3) != chosen(4)
    assert min(Counter(chosen(3)).values()) > 70


def test_c171_among_chunks_the_seed_chooses() -> None:
    facts = "dog {n 1}\ndog {n 2}\ndog {n 3}"
    counts: Counter[Any] = Counter()
    for seed in range(60):
        engine = chunks.Engine("a {} => dog {@module facts; @do get}", {"facts": facts}, seed=seed)
        engine.goal("a {}")
        engine.run()
        buffer = engine.module("facts").buffer
        assert buffer is not None
        counts[buffer["n"]] += 1
    assert len(counts) == 3
    assert min(counts.values()) > 8


# Operations of an application ------------------------------------------------------------------


def test_c079_an_operation_gets_its_action_with_values() -> None:
    engine = chunks.Engine(
        "ask {of ?p} => arm {@do move; @module robot; @tag t1; to ?p; fast true}", {"robot": ""}
    )
    calls: list[chunks.Call] = []
    engine.operation("move", calls.append, module="robot")
    engine.goal("ask {of left, right}")
    engine.run()
    (call,) = calls
    assert (call.name, call.module, call.tag) == ("move", "robot", "t1")
    assert call.properties == {"to": ("left", "right"), "fast": True}
    assert call.bindings == {"p": ("left", "right")}
    assert call.engine is engine
    assert (call.action.type, call.action["to"]) == ("arm", ("left", "right"))
    assert engine.module("robot").status == "okay"


RESPONSE = """
ask {n ?n} => sum {@do double; @module math; n ?n}, wait {}
wait {}, answer {@module math; v ?v} => show {@do show; value ?v}
"""


@pytest.mark.parametrize("response", ["answer {v 4}", chunks.Chunk("answer", {"v": 4})])
def test_c078_a_response_fills_the_buffer_of_the_module(response: Any) -> None:
    engine = chunks.Engine(RESPONSE, {"math": ""})
    shown: list[Any] = []
    engine.operation("double", lambda call: response)
    engine.operation("show", lambda call: shown.append(call.properties["value"]))
    engine.goal("ask {n 2}")
    engine.run()
    assert shown == [4]


def test_a_response_to_the_goal_waits_in_its_queue() -> None:
    engine = chunks.Engine("ask {} => x {@do compute}\nanswer {v ?v} => end {v ?v}")
    engine.operation("compute", lambda call: "answer {v 1}")
    engine.goal("ask {}")
    assert [firing.index for firing in engine.run()] == [0, 1]
    assert content([engine.module("goal").buffer]) == [("end", {"v": 1})]


def test_c121_an_operation_of_one_module_is_preferred_to_one_of_all() -> None:
    engine = chunks.Engine("a {} => x {@do say}, x {@do say; @module facts}", {"facts": ""})
    names: list[str] = []
    engine.operation("say", lambda call: names.append("all"))
    engine.operation("say", lambda call: names.append("facts"), module="facts")
    engine.goal("a {}")
    engine.run()
    assert names == ["all", "facts"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (None, "no operation explode"),
        (lambda call: 1 / 0, "division by zero"),
        (lambda call: "no chunk", ""),
        (lambda call: 7, "7"),
    ],
)
def test_c125_a_failing_or_unknown_operation_is_a_status_and_an_event(
    function: Any, message: str
) -> None:
    engine = chunks.Engine(
        "a {} => x {@do explode; @module facts}, b {}\nb {} => c {}", {"facts": ""}
    )
    if function is not None:
        engine.operation("explode", function)
    failures: list[chunks.Event] = []
    engine.on_event(
        lambda event: failures.append(event) if isinstance(event.detail, Exception) else None
    )
    engine.goal("a {}")
    assert len(engine.run()) == 2
    assert engine.module("facts").status == "failed"
    (event,) = failures
    assert (event.kind, event.module) == ("operation", "facts")
    assert message in str(event.detail)


LATER_RULES = """
ask {} => x {@do think; @module mind; @tag t7}, wait {}
wait {}, thought {@module mind; @tag t7; about ?a} => end {a ?a}
"""


def test_c110_c125_a_reply_from_another_thread_is_seen_by_the_next_run() -> None:
    engine = chunks.Engine(LATER_RULES, {"mind": ""})
    calls: list[chunks.Call] = []

    def think(call: chunks.Call) -> Any:
        calls.append(call)
        return chunks.LATER

    engine.operation("think", think)
    engine.goal("ask {}")
    assert [firing.index for firing in engine.run()] == [0]
    assert (engine.stopped, engine.module("mind").status) == ("waiting", "pending")
    thread = threading.Thread(target=calls[0].reply, args=("thought {about cats}",))
    thread.start()
    thread.join()
    assert [firing.index for firing in engine.run()] == [1]
    assert (engine.stopped, engine.module("mind").status) == ("quiet", "okay")
    assert content([engine.module("goal").buffer]) == [("end", {"a": "cats"})]


def test_c110_another_tag_does_not_match() -> None:
    engine = chunks.Engine(LATER_RULES.replace("@tag t7; about", "@tag t8; about"), {"mind": ""})
    engine.operation("think", lambda call: "thought {about cats}")
    engine.goal("ask {}")
    assert [firing.index for firing in engine.run()] == [0]


@pytest.mark.parametrize("status", ["okay", "nomatch", "forbidden", "failed"])
def test_c125_a_reply_without_a_chunk_sets_the_status(status: str) -> None:
    engine = chunks.Engine(
        "ask {} => x {@do think; @module mind}, wait {}\n"
        "wait {}, !* {@module mind; @status ?s} => end {s ?s}",
        {"mind": ""},
    )
    calls: list[chunks.Call] = []
    engine.operation("think", lambda call: (calls.append(call), chunks.LATER)[1])
    engine.goal("ask {}")
    engine.step()
    calls[0].reply(None, status=status)
    engine.run()
    assert content([engine.module("goal").buffer]) == [("end", {"s": status})]
    with pytest.raises(chunks.ChunksError, match="pending"):
        calls[0].reply(None, status="ok")


# Events ----------------------------------------------------------------------------------------


def test_events_follow_a_firing() -> None:
    engine = chunks.Engine("a {} => b {}, c {@do queue}, x {@do show; value 1}")
    engine.operation("show", lambda call: None)
    events: list[chunks.Event] = []
    engine.on_event(events.append)
    engine.goal("a {}")
    engine.step()
    assert [(event.kind, event.module) for event in events] == [
        ("buffer", "goal"),
        ("fired", "goal"),
        ("buffer", "goal"),
        ("operation", "goal"),
        ("queue", "goal"),
        ("operation", "goal"),
    ]
    assert isinstance(events[1].detail, chunks.Firing)
    assert content([events[2].detail]) == [("b", {})]
    assert (events[3].detail.name, events[5].detail.name) == ("queue", "show")
    assert content(events[4].detail) == [("c", {})]


# Bad input -------------------------------------------------------------------------------------


def test_a_queue_that_grows_without_end_is_an_error_and_the_engine_stays_usable() -> None:
    engine = chunks.Engine("\na {} => a {}, b {@do queue}")
    engine.goal("a {}")
    with pytest.raises(chunks.ChunksError, match="Line 2: The queue of module goal is full"):
        engine.run(max_cycles=20_000)
    engine.goal("c {}")
    engine.module("goal").buffer = None
    assert len(engine.module("goal").queue) == 10_000
    engine.step()


def test_kinds_in_a_circle_end() -> None:
    engine = chunks.Engine("a kindof b\nb kindof a\n* {@kindof c} => x {}")
    engine.goal("a {}")
    assert engine.run() == []


# Tasks -----------------------------------------------------------------------------------------

TASKS = """
process1 {} =>
  a {@do task; @task ?t1},
  b {@do task; @task ?t2},
  process2 {@all ?t1, ?t2},
  either {@any ?t1, ?t2},
  recover1 {@failed ?t1, ?t2}
a {} => x {@do show; value a}, a {@do done}
process2 {} => x {@do show; value all}
either {} => x {@do show; value any}
recover1 {} => x {@do show; value failed}
"""


@table(
    Case(
        "E02 tasks that are done",
        TASKS + "b {} => x {@do show; value b}, b {@do done}",
        "process1 {}",
        shown=["a", "b", "any", "all"],
    ),
    Case(
        "E02 a task that fails",
        TASKS + "b {} => x {@do show; value b}, b {@do fail}",
        "process1 {}",
        shown=["a", "b", "any", "failed"],
    ),
    Case(
        "E02 what rules of a task write belongs to it",
        TASKS + "b {} => later {}\nlater {@task ?t} => x {@do show; value later}, b {@do done}",
        "process1 {}",
        shown=["a", "later", "any", "all"],
    ),
    Case(
        "E02 a condition may name a task",
        """start {} => a {@do task; @task job}
           a {@task job} => x {@do show; value ok}
           a {@task other} => wrong {}""",
        shown=["ok"],
    ),
)
def test_tasks(case: Case) -> None:
    case.check()
