"""A skill's SKILL.md as a prompt in Langfuse: one version for each content, found by its label."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from lift.journal import SkillText
from lift.langfuse.client import Connection
from lift.langfuse.faults import Refused, odd
from lift.langfuse.wire import Redact, prepared

PROMPTS = "/api/public/v2/prompts"

LABEL = "evaluated"
"""On the version that was asked with last."""

LABEL_DIGITS = 16
"""Of a content's hash, in the label that finds its version; labels have 36 characters at most."""

LONGEST_NAME = 200

NOT_NOW = (401, 429, 503)
"""What a server says that may take it another time."""


class Prompt(NamedTuple):
    """One version of a prompt."""

    name: str
    version: int


class Prompts:
    """The versions of skills, each looked up once.

    Args:
        connection: where they are.
        texts: tree hash → skill.
        redact: masks strings.
    """

    def __init__(
        self, connection: Connection, texts: Mapping[str, SkillText], redact: Redact
    ) -> None:
        self._connection, self._texts, self._redact = connection, texts, redact
        self._known: dict[str, Prompt | None] = {}
        self.why = ""
        """Why a skill is no prompt there; empty where each is."""

    def of(self, tree_hash: str | None, *, newest: bool) -> Prompt | None:
        """The version that a skill is; None where there is no skill, or the server takes none.

        Args:
            tree_hash: of the skill.
            newest: whether it is the one that is tested; the label moves there.

        Raises:
            LangfuseError: it cannot be asked.
        """
        if tree_hash is None or tree_hash not in self._texts:
            return None
        if tree_hash not in self._known:
            try:
                self._known[tree_hash] = self._version(self._texts[tree_hash], newest=newest)
            except Refused as refused:
                if refused.status in NOT_NOW:
                    raise
                self._known[tree_hash] = None
                self.why = f"the skill is no prompt in Langfuse: {refused.what}"
        return self._known[tree_hash]

    def _version(self, skill: SkillText, *, newest: bool) -> Prompt:
        text = _text(prepared(skill._asdict(), self._redact))
        name = f"skills/{skill.name.replace('|', '-')[:LONGEST_NAME]}/SKILL.md"
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        label = f"sha-{sha256[:LABEL_DIGITS]}"
        there = self._found(name, label)
        if there is None:
            body = {
                "name": name,
                "type": "text",
                "prompt": text,
                "config": {"sha256": sha256, "source": "lift"},
                "labels": [label, *([LABEL] if newest else [])],
                "tags": ["skill"],
                "commitMessage": f"sha256 {sha256[:LABEL_DIGITS]}",
            }
            made = self._connection.make(PROMPTS, body, found=lambda: self._found(name, label))
            there = _checked(made, PROMPTS)
        elif newest and LABEL not in (there.get("labels") or ()):
            path = f"{PROMPTS}/{quote(name, safe='')}/versions/{there['version']}"
            self._connection.patch(path, {"newLabels": [LABEL]})
        return Prompt(name, int(there["version"]))

    def _found(self, name: str, label: str) -> dict[str, Any] | None:
        path = f"{PROMPTS}/{quote(name, safe='')}"
        try:
            return _checked(self._connection.get(path, {"label": label}), path)
        except Refused as refused:
            if refused.status != 404:
                raise
            return None


def _checked(there: dict[str, Any], path: str) -> dict[str, Any]:
    if isinstance(there.get("version"), int):
        return there
    raise odd(path)


def _text(skill: Mapping[str, str]) -> str:
    """SKILL.md, as the journal knows it: its name, its description and its text."""
    description = skill["description"]
    if "\n" in description:
        description = json.dumps(description, ensure_ascii=False)
    front = f"name: {skill['name']}\ndescription: {description}"
    return f"---\n{front}\n---\n\n{skill['body']}"
