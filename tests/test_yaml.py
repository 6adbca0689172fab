"""YAML that people wrote: read, or refused with one error, and never more than that."""

from __future__ import annotations

import pytest
from refusals import refused

from lift import yaml
from lift.skill import fields_of, load

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{', '.join([f'*{chr(97 + level)}'] * 9)}]\n"
    for level in range(12)
)

MALFORMED = {
    "code": "x: !!python/object/apply:os.system ['ls']",
    "timestamp": "x: !!timestamp x",
    "date": "x: 2026-99-99",
    "zone": "x: 2001-12-14t21:59:43.10-99:99",
    "integer": "x: !!int abc",
    "no integer": "x: !!int ''",
    "no number": "x: !!float ''",
    "boolean": "x: !!bool abc",
    "binary": "x: !!binary é",
    "set": "x: !!set [a]",
    "pairs": "x: !!omap a",
    "long integer": f"x: {'9' * 5000}",
    "merge": "<<: [1]",
    "unknown anchor": "<<: *a",
    "key": "? [a]\n: b",
    "itself": "x: &a [*a]",
    "deep list": f"x: {'[' * 100_000}{']' * 100_000}",
    "deep mapping": f"x: {'{a: ' * 5000}{'}' * 5000}",
    "deep block": "- " * 100_000,
    "bomb": BOMB,
    "surrogate": 'x: "\\ud800"',
    "character": 'x: "\\UFFFFFFFF"',
    "documents": "a: 1\n---\nb: 2",
    "control": "x: a\0b",
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_yaml_is_one_error(text: str):
    with pytest.raises(yaml.Malformed) as refused:
        yaml.load(text)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: [1, b, true]", {"a": [1, "b", True]}),
        ("a: &x [b]\nc: *x", {"a": ["b"], "c": ["b"]}),
        ("x: &a {p: 1}\ny:\n  <<: *a\n  q: 2", {"x": {"p": 1}, "y": {"p": 1, "q": 2}}),
    ],
)
def test_what_is_yaml_is_read(text: str, value: object):
    assert yaml.load(text) == value


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_frontmatter_that_is_no_yaml_is_read_by_its_lines(text: str):
    fields = fields_of(f"name: greet\n{text}\ndescription: Use when greeting: always.\n")

    assert fields["name"] == "greet"
    assert fields["description"] == "Use when greeting: always."


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_a_skill_with_such_frontmatter_is_a_skill(tmp_path, text: str):
    path = tmp_path / "greet" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(f"---\nname: greet\n{text}\n---\nGreet.\n", "utf-8")

    assert load(path).name == "greet"


@pytest.mark.parametrize("kind", ["timestamp", "boolean", "no integer", "bomb"])
def test_the_lint_says_what_is_wrong_with_it(project, kind):
    text = f"---\nname: greet\ndescription: Use when x.\n{MALFORMED[kind]}\n---\n# T\n\ntext\n"
    project.skill.write_text(text, "utf-8")
    done = project.lift("lint", "skills/greet")

    assert done.returncode in (0, 1), done.stderr
    assert "lint " in done.stdout
    refused(project.lift("activation", "skills/greet"), 2, "no trigger prompts")
