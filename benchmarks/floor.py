"""The floor that lift is measured against: the bare SDK, asyncio.gather and a semaphore.

python benchmarks/floor.py PROJECT CONCURRENCY

Asks what `lift --full` asks of a project's only dataset, with the prompt cache on and the SDK's own
retries, and keeps nothing. Prints, as JSON, how many answers and votes came.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import anthropic

SYSTEM = "Grade the answer from 0 to 5, with a rationale."
SCHEMA = {
    "type": "object",
    "properties": {"rationale": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["rationale", "score"],
    "additionalProperties": False,
}


async def main(items: list[dict[str, str]], skill: str, concurrency: int) -> None:
    """Ask every item under both conditions, and a judge about each answer."""
    client = anthropic.AsyncAnthropic()
    places = asyncio.Semaphore(concurrency)

    async def ask(task: str, *, taught: bool) -> bool:
        system: list[Any] = [{"type": "text", "text": "You are a careful engineer."}]
        if taught:
            cached = {"type": "ephemeral"}
            system.append({"type": "text", "text": skill, "cache_control": cached})
        async with places:
            answer = await client.messages.create(
                model="claude-sonnet-5-5",
                max_tokens=8192,
                system=system,
                messages=[{"role": "user", "content": task}],
            )
        text = "".join(block.text for block in answer.content if block.type == "text")
        async with places:
            vote = await client.messages.create(
                model="claude-haiku-5-5",
                max_tokens=1024,
                system=SYSTEM,
                messages=[{"role": "user", "content": f"Task:\n{task}\n\nAnswer:\n{text}"}],
                output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
            )
        return vote.stop_reason == "end_turn"

    wanted = [ask(item["task"], taught=taught) for item in items for taught in (True, False)]
    outcomes = await asyncio.gather(*wanted, return_exceptions=True)
    print(json.dumps({"done": outcomes.count(True), "planned": len(wanted)}))


if __name__ == "__main__":
    project = Path(sys.argv[1])
    lines = (project / "items.jsonl").read_text("utf-8").splitlines()
    text = next(project.glob("skills/*/SKILL.md")).read_text("utf-8")
    asyncio.run(main([json.loads(line) for line in lines], text, int(sys.argv[2])))
