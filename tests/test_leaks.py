"""Nothing leaves unmasked: secrets of every kind, wherever they may stand, get nowhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langfuse_project import Langfuse
from servers import Says

from lift.redact.corpus import Case, cases, made

CASES = list({case.kind: case for case in cases() if case.kind != "private-key"}.values())
KEYS = [case for case in cases() if case.kind == "private-key"][:3]
ALL = [*CASES, *KEYS]
TOLD = "\n".join(case.text for case in ALL)
"""A secret of each kind."""
TOKEN = made("ghp_{36a}", "name")
"""That may be part of a file's name."""

MODULE = """
from lift import Dataset, Item, Rubric

DATASET = Dataset(
    name="greetings",
    skill="greet",
    judge=True,
    description={told},
    system={told},
    items=[
        Item(
            id=f"greet-{{n}}",
            category="short",
            prompt={told},
            rubric=Rubric(must_use=["hello(", {token}], must_not_use=["goodbye("]),
            judge_criteria={told},
            ground_truth={told},
            quick=True,
        )
        for n in range(2)
    ],
)
"""

TRIGGERS = """
from lift import TriggerPrompt, TriggerPrompts

DATASET = TriggerPrompts(name="triggers", skill="greet", description={told}, prompts=[
    TriggerPrompt(id="a", prompt={told}, loads=True, why={told}),
    TriggerPrompt(id="b", prompt="Add a test.", loads=True, why={told}),
])
"""


@pytest.fixture
def planted(project):
    """A project with secrets in every text that its author writes."""
    told, token = repr(TOLD), repr(TOKEN)
    project.dataset(MODULE.format(told=told, token=token))
    project.dataset(TRIGGERS.format(told=told), "triggers")
    front = f"---\nname: greet\ndescription: Use when greeting {json.dumps(TOLD)[1:-1]}\n---\n"
    body = f"# Greeting\n\nSay `hello()`. See [it](notes/{TOKEN}.md) and [{TOKEN}](#{TOKEN}).\n\n"
    project.skill.write_text(front + body + TOLD, "utf-8")
    (project.skill.parent / f"{TOKEN}.md").write_text(f"# A\n\n#{TOKEN}\n\n[x](y/{TOKEN})", "utf-8")
    return project


def replies(body: dict[str, Any], attempt: int) -> Says:
    """A model that gives away all it knows, in answers, rationales and errors."""
    asked = json.dumps(body)
    if "output_config" not in body:
        if "greet-1" in asked or attempt:
            return Says(f"hello() {TOLD}")
        return Says(f"hello() {TOLD}", fields={"model": TOKEN, "stop_reason": TOKEN})
    properties = asked[asked.find('"properties"') :]
    if '"rationale"' in properties:
        return Says(json.dumps({"rationale": TOLD, "score": 3}))
    return Says(json.dumps({"reason": TOLD, "load": False}))


def leaked(text: str, found: list[Case] = ALL) -> list[str]:
    """Kinds of the secrets that are in a text, as they are or escaped."""
    kinds = [
        case.kind
        for case in found
        if case.secret in text or json.dumps(case.secret, ensure_ascii=False)[1:-1] in text
    ]
    return [*kinds, *(["file name"] if TOKEN in text else [])]


def everything(langfuse: Langfuse) -> str:
    """All that the server was told."""
    bodies = [[asked.method, asked.path, asked.query, asked.body] for asked in langfuse.asked]
    return json.dumps([bodies, langfuse.spans], default=str, ensure_ascii=False)


def test_the_planted_secrets_are_known():
    assert len({case.kind for case in ALL}) >= 100
    assert leaked(TOLD) != []


def test_no_secret_reaches_langfuse_or_a_report(planted, serve, langfuse):
    serve(replies)

    outputs = [planted.lift("--quick", "--out", "result.json", "--experiment", "e")]
    outputs += [planted.lift("sync"), planted.lift("static"), planted.lift("push")]
    outputs += [planted.lift("static", "--json"), planted.lift("sync", "--json")]
    outputs += [planted.lift("show", "greet-0"), planted.lift("show", "greet-0", "--json")]
    outputs += [planted.lift("report"), planted.lift("report", "--format", "json")]
    outputs += [planted.lift("compare", "--json"), planted.lift("list", "--json")]
    outputs += [planted.lift("gate"), planted.lift("gate", "--json")]

    assert [done.args for done in outputs if "Traceback" in done.stderr] == []
    shown = {str(done.args): leaked(done.stdout + done.stderr) for done in outputs}
    assert {command: kinds for command, kinds in shown.items() if kinds} == {}
    assert leaked((planted.root / "result.json").read_text("utf-8")) == []
    sent = everything(langfuse)
    for part in ("hello() ", "skill-eval-judge", "static-review", "expectedOutput", "/prompts"):
        assert part in sent
    assert leaked(sent) == []


def test_no_secret_is_in_what_errors_say(planted, serve, langfuse):
    serve(lambda *_: Says(TOLD, status=400))
    planted.dataset(f"raise ValueError({TOLD!r})", f"broken_{TOKEN}")

    outputs = [planted.lift("--quick"), planted.lift("sync"), planted.lift("lint", TOKEN)]
    outputs += [planted.lift("run", f"--{TOKEN}"), planted.lift("show", TOKEN)]
    (planted.root / "datasets" / f"broken_{TOKEN}.py").unlink()
    outputs += [planted.lift("--quick"), planted.lift("show", "greet-0", "--json")]
    outputs += [planted.lift("run", "--out", f"{TOKEN}/x.json"), planted.lift("report", TOKEN)]

    assert [done.args for done in outputs if "Traceback" in done.stderr] == []
    assert [leaked(done.stdout + done.stderr) for done in outputs] == [[]] * len(outputs)
    assert leaked(everything(langfuse)) == []


@pytest.mark.parametrize("name", ["--experiment", "--model", "skill", "item"])
def test_a_name_that_holds_a_secret_is_refused_before_anything_is_asked(
    project, serve, langfuse, name: str
):
    model = serve(replies)
    slug = made("sk-lf-{uuid}")
    path = project.root / "datasets" / "greetings.py"
    module = path.read_text("utf-8")
    if name == "skill":
        text = project.skill.read_text("utf-8")
        project.skill.write_text(text.replace("name: greet", f"name: {slug}"), "utf-8")
        path.write_text(module.replace('skill="greet"', f'skill="{slug}"'), "utf-8")
    if name == "item":
        path.write_text(module.replace('f"greet-', f'f"{slug}-'), "utf-8")
    given = (name, TOKEN) if name.startswith("--") else ()
    priced = ("--price", "1,1") if name == "--model" else ()

    done = project.lift("run", "--skill", "skills/greet", *given, *priced)

    assert done.returncode == 2
    assert "looks like a secret" in done.stderr
    assert TOKEN not in done.stderr
    assert slug not in done.stderr
    assert (model.calls, langfuse.writes()) == ([], [])
