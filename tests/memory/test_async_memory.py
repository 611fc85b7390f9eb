"""The memory for asyncio, and models that are asked."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from typing import Any

import pytest

import kiprdf
from kiprdf import AsyncNexus, Nexus
from kiprdf.memory import AsyncMemory, Memory

ANSWER = {
    "entities": [{"type": "tool", "name": "postgres", "description": "a database"}],
    "edges": [
        {
            "subject": {"type": "user", "name": "Primary User"},
            "predicate": "uses",
            "object": {"type": "tool", "name": "k8s", "version": 1},
            "weight": 0.8,
            "reason": "the text says so",
        }
    ],
    "notes": "none",
}


def tools(memory: Memory) -> list[str]:
    return [entity.name for entity in memory.entities("tool")]


@pytest.mark.parametrize("in_async_nexus", [False, True])
def test_the_methods_are_coroutines(in_async_nexus: bool) -> None:
    async def run() -> None:
        nexus = Nexus.memory()
        memory = AsyncMemory(AsyncNexus(nexus) if in_async_nexus else nexus)
        ids = await asyncio.gather(
            *(memory.add(f"Note {number}: I use Docker.", session="s") for number in range(20))
        )
        assert sorted(item.turn or 0 for item in await memory.items()) == list(range(1, 21))
        assert len(set(ids)) == 20
        await memory.add_messages([{"role": "user", "content": "I use Vim."}], session="t")
        await memory.add_many(["I prefer Rust."])
        assert [edge.predicate for edge in await memory.edges()] == ["prefers", "uses", "uses"]
        assert "Docker" in await memory.context("docker")
        assert await memory.forget(ids[0])
        assert (await memory.erase(ids[1]))["erased"]
        assert (await memory.stats())["memories"] == 20
        with pytest.raises(ValueError, match="cannot be the id"):
            await memory.add("x", id=" ")

    asyncio.run(run())


def test_it_has_every_method_of_a_memory() -> None:
    public = {name for name, _ in inspect.getmembers(Memory, callable) if not name.startswith("_")}
    for name in public:
        method = getattr(AsyncMemory, name)
        assert inspect.iscoroutinefunction(method), name
        assert inspect.signature(method) == inspect.signature(getattr(Memory, name))
    assert kiprdf.AsyncMemory is AsyncMemory


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "```json\n{}\n```",
        "```\n{}\n```\n",
        "Here is the answer:\n\n```json\n{}\n```\nThat is all.",
        "Sure! {} Done.",
        "The {{subject}} is the user:\n```json\n{}\n```\nAsk me for {{more}}.",
    ],
)
def test_an_answer_is_read_in_a_fence_and_with_other_keys(form: str) -> None:
    memory = Memory(Nexus.memory(), enricher=lambda prompt: form.format(json.dumps(ANSWER)))
    memory.add("The database.")
    assert tools(memory) == ["Kubernetes", "PostgreSQL"]
    assert [edge.evidence["src"] for edge in memory.edges()] == ["llm"]


def test_a_secret_or_an_address_in_an_answer_is_no_entity() -> None:
    names = (
        *("dark mode", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "password hunter2"),
        *("221B Baker Street, London NW1 6XE", "+49 170 1234567"),
    )
    objects = [{"type": "concept", "name": name} for name in names]
    edge = {**ANSWER["edges"][0], "predicate": "prefers"}  # type: ignore[dict-item, index]
    answer = {"entities": objects, "edges": [{**edge, "object": one} for one in objects]}
    memory = Memory(Nexus.memory(), enricher=lambda prompt: json.dumps(answer))
    memory.add("What I like.")
    assert [entity.name for entity in memory.entities("concept")] == ["dark mode"]
    assert len(memory.edges()) == 1


def test_an_enricher_may_be_a_coroutine_function() -> None:
    async def ask(prompt: str) -> str:
        await asyncio.sleep(0)
        return json.dumps(ANSWER)

    memory = Memory(Nexus.memory(), enricher=ask)
    memory.add("The database.")
    assert tools(memory) == ["Kubernetes", "PostgreSQL"]


def test_an_enricher_of_an_async_memory_runs_on_the_loop_of_the_caller() -> None:
    loops: list[Any] = []

    async def run() -> None:
        gate = asyncio.Event()

        async def ask(prompt: str) -> str:
            loops.append(asyncio.get_running_loop())
            await gate.wait()
            return json.dumps(ANSWER)

        memory = AsyncMemory(Nexus.memory(), enricher=ask)
        adding = asyncio.create_task(memory.add("The database."))
        await asyncio.sleep(0.05)
        gate.set()
        await adding
        assert tools(memory.memory) == ["Kubernetes", "PostgreSQL"]
        assert loops == [asyncio.get_running_loop()]

    asyncio.run(run())


def test_what_a_model_says_of_another_speaker_is_no_fact_of_the_user() -> None:
    memory = Memory(Nexus.memory(), enricher=lambda prompt: json.dumps(ANSWER))
    memory.add("I use it.", speaker="assistant")
    assert memory.edges() == []
    assert tools(memory) == ["Kubernetes", "PostgreSQL"]


@pytest.mark.parametrize(
    ("variables", "is_asked"),
    [
        ({}, True),
        ({"MILTON_KG_LLM_ENRICH_ENABLED": "true"}, True),
        ({"MILTON_KG_LLM_ENRICH_ENABLED": "false"}, False),
        ({"KIPRDF_MEMORY_LLM_ENRICH_ENABLED": " OFF "}, False),
        (
            {"KIPRDF_MEMORY_LLM_ENRICH_ENABLED": "yes", "MILTON_KG_LLM_ENRICH_ENABLED": "no"},
            True,
        ),
        ({"KIPRDF_MEMORY_LLM_ENRICH_ENABLED": "", "MILTON_KG_LLM_ENRICH_ENABLED": "no"}, False),
    ],
)
def test_a_model_that_is_not_asked_is_reported_when_the_memory_is_made(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    variables: dict[str, str],
    is_asked: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return json.dumps(ANSWER)

    with caplog.at_level(logging.WARNING, "kiprdf"):
        memory = Memory(Nexus.memory(), enricher=ask)
    assert ("The model is not asked: KIPRDF_MEMORY_LLM_ENRICH_ENABLED" in caplog.text) != is_asked
    memory.add("The database.")
    assert bool(prompts) == is_asked


@pytest.mark.parametrize("prefix", ["KIPRDF_MEMORY_", "MILTON_KG_"])
def test_the_variables_have_two_names(monkeypatch: pytest.MonkeyPatch, prefix: str) -> None:
    memory = Memory(Nexus.memory())
    memory.add("I use Docker, Vim and Rust.")
    monkeypatch.setenv("MILTON_KG_CONTEXT_MAX_EDGES", "2")
    monkeypatch.setenv(f"{prefix}CONTEXT_MAX_EDGES", "1")
    assert "Relationships (1/3)" in memory.context("docker vim rust")
    monkeypatch.setenv(f"{prefix}CONTEXT_MAX_CHARS", "10")
    assert memory.context("docker vim rust") == ""
    monkeypatch.delenv(f"{prefix}CONTEXT_MAX_CHARS")
    monkeypatch.setenv(f"{prefix}CONTEXT_ENABLED", "false")
    assert memory.context("docker vim rust") == ""
    monkeypatch.setenv(f"{prefix}CONTEXT_ENABLED", "true")
    assert memory.context("docker vim rust") != ""
