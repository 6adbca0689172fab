"""The languages of replies: how they write comments and strings, and which one a text is in."""

from __future__ import annotations

import re
from typing import NamedTuple


class Syntax(NamedTuple):
    """How one language writes comments and strings."""

    marks: tuple[str, ...]
    """A source that has none of these has no comment."""
    token: re.Pattern[str]
    """Finds what comes next; the group that matched tells what it is.

    `comment` and `string` are whole. `open` starts a string that may have holes with code in
    them, `brace` may end such a hole, `slash` may start a regular expression; `skip` is code.
    """
    in_hole: re.Pattern[str]
    """The same, within a hole."""
    bodies: dict[str, re.Pattern[str]]
    """For each `open` the rest of the string: to its end (`close`) or to the next `hole`."""
    nests: bool
    """Whether a block comment may hold another."""


# Quantifiers are possessive, and an unclosed literal still matches, so nothing is read twice.
# A literal that must not span lines ends where its line does.
_LINE = r"//[^\r\n]*+"
_BLOCK = r"/\*[\s\S]*?(?:\*/|\Z)"
_C_COMMENT = rf"{_LINE}|{_BLOCK}"
_ESCAPE = r"\\(?:\r\n|[\s\S])"
_DOUBLE = rf'"(?>(?:[^"\\\r\n]++|{_ESCAPE})*)"?'
_SINGLE = rf"'(?>(?:[^'\\\r\n]++|{_ESCAPE})*)'?"
_DOUBLE_LINE = r'"(?>(?:[^"\\\r\n]++|\\[^\r\n])*)"?'
_DOUBLE_3 = r'"""(?>(?:[^"\\]++|\\[\s\S]|"(?!""))*)(?:""")?'
_SINGLE_3 = r"'''(?>(?:[^'\\]++|\\[\s\S]|'(?!''))*)(?:''')?"
_CHAR = r"'(?:\\[^\r\n][0-9A-Fa-fu{}]{0,10}|[^'\\\r\n])'"
_VERBATIM = r'(?:@\$?|\$@)"(?>(?:[^"]++|"")*)"?'
_BRACE = r"(?P<brace>[{}])"
_SLASH = r"(?P<slash>/)"
_NOTHING = r"(?!)"
_NO_HOLE = r"\$(?!\{)"

# In JavaScript a name never stands right before a quote: `don't` is text between tags.
_KEYWORDS = ["return", "case", "typeof", "in", "of", "import", "from", "default", "else", "as"]
_MAY_START = "|".join([r"(?<![\w$])", *(rf"(?<=\b{word})" for word in _KEYWORDS)])
_ADDRESS = r"(?P<skip>\bhttps?://)"

_PLAIN_PREFIX = r"(?>(?:(?<!\w)[rbuRBU]{1,2})?)"
_FORMAT_PREFIX = r"(?<!\w)(?:[ftFT][rR]?|[rR][ftFT])"
_NO_FIELD = r"\{\{|\\(?:N\{[^}\"'\r\n]*+\}|\r\n|[^{])|\\(?=\{)"

_WORD_SINGLE = r"(?<!\w)'[^'\r\n]*+'"
_CLOSED_DOUBLE = r'"(?>(?:[^"\\\r\n]++|\\[^\r\n])*)"'


def _syntax(
    starts: str,
    marks: str,
    comment: str,
    string: str,
    code: str = _NOTHING,
    *,
    bodies: dict[str, re.Pattern[str]] | None = None,
    comments_in_holes: bool = True,
    nests: bool = False,
) -> Syntax:
    """A syntax of the patterns of its parts.

    Args:
        starts: every character a token may start with; what is not one of them is passed fast.
        marks: separated by spaces.
        comment: a pattern.
        string: a pattern.
        code: pattern of named groups.
        bodies: see Syntax.
        comments_in_holes: whether code in a hole may have comments.
        nests: see Syntax.
    """
    ahead = rf"(?=[{starts}])" if starts else _NOTHING
    rest = rf"(?P<string>{string})|{code}"
    token = re.compile(rf"{ahead}(?:(?P<comment>{comment})|{rest})", re.MULTILINE)
    in_hole = token if comments_in_holes else re.compile(rf"{ahead}(?:{rest})")
    return Syntax(tuple(marks.split()), token, in_hole, bodies or {}, nests)


def _body(text: str, close: str, hole: str = r"\$\{") -> re.Pattern[str]:
    return re.compile(rf"(?>(?:{text})*)(?:(?P<close>{close})|(?P<hole>{hole}))?")


SYNTAXES = {
    "java": _syntax(r"/\"'", "// /*", _C_COMMENT, rf"{_DOUBLE_3}|{_DOUBLE_LINE}|{_CHAR}"),
    "c": _syntax(
        r"/\"'`@$", "// /*", _C_COMMENT, rf"{_DOUBLE_3}|{_VERBATIM}|{_DOUBLE}|{_CHAR}|`[^`]*+`?"
    ),
    "kotlin": _syntax(
        r"/\"'{}",
        "// /*",
        rf"{_LINE}|/\*",
        _CHAR,
        rf'(?P<open>"""|")|{_BRACE}',
        bodies={
            '"': _body(rf'[^"\\$\r\n]++|\\[^\r\n]|{_NO_HOLE}', '"'),
            '"""': _body(rf'[^"$]++|"(?!"")|{_NO_HOLE}', '"""+'),
        },
        nests=True,
    ),
    "groovy": _syntax(
        r"/\"'{}",
        "// /*",
        _C_COMMENT,
        rf"{_SINGLE_3}|{_SINGLE}",
        rf'(?P<open>"""|")|{_SLASH}|{_BRACE}',
        bodies={
            '"': _body(rf'[^"\\$\r\n]++|\\[^\r\n]|{_NO_HOLE}', '"'),
            '"""': _body(rf'[^"\\$]++|\\[\s\S]|"(?!"")|{_NO_HOLE}', '"""'),
        },
    ),
    "javascript": _syntax(
        r"/\"'`{}h",
        "// /*",
        _C_COMMENT,
        rf"{_DOUBLE}|(?:{_MAY_START}){_SINGLE}",
        rf"(?P<open>`)|{_SLASH}|{_BRACE}|{_ADDRESS}",
        bodies={"`": _body(rf"[^`\\$]++|\\[\s\S]|{_NO_HOLE}", "`")},
    ),
    "python": _syntax(
        r"#\"'{}bBfFrRtTuU",
        "# \"\"\" '''",
        r"#[^\r\n]*+",
        rf"{_PLAIN_PREFIX}(?:{_DOUBLE_3}|{_SINGLE_3}|{_DOUBLE}|{_SINGLE})",
        rf"""{_FORMAT_PREFIX}(?P<open>\"{{3}}|'{{3}}|"|')|{_BRACE}""",
        bodies={
            '"': _body(rf'[^"\\{{\r\n]++|{_NO_FIELD}', '"', r"\{"),
            "'": _body(rf"[^'\\{{\r\n]++|{_NO_FIELD}", "'", r"\{"),
            '"""': _body(rf'[^"\\{{]++|"(?!"")|{_NO_FIELD}', '"""', r"\{"),
            "'''": _body(rf"[^'\\{{]++|'(?!'')|{_NO_FIELD}", "'''", r"\{"),
        },
        comments_in_holes=False,  # `#` is part of a format there: f"{number:#x}"
    ),
    "hash": _syntax(
        r"#\"'\\", "#", r"(?<![^\s;|&()])#[^\r\n]*+", rf"{_WORD_SINGLE}|{_CLOSED_DOUBLE}|\\[\s\S]"
    ),
    "properties": _syntax(r" \t#!", "# !", r"^[ \t]*+[#!][^\r\n]*+", _NOTHING),
    "markup": _syntax("<", "<!--", r"<!--[\s\S]*?(?:-->|\Z)", r"<!\[CDATA\[[\s\S]*?(?:\]\]>|\Z)"),
    "sql": _syntax(r"-/\"'", "-- /*", rf"--[^\r\n]*+|{_BLOCK}", r"'[^']*+'?|\"[^\"]*+\"?"),
    "css": _syntax(r"/\"'", "/*", _BLOCK, rf"{_DOUBLE}|{_SINGLE}"),
    "scss": _syntax(r"/\"'u", "// /*", _C_COMMENT, rf"{_DOUBLE}|{_SINGLE}|\burl\([^()\r\n]*+\)?"),
    "plain": _syntax("", "", _NOTHING, _NOTHING),
}
"""By name; `plain` has neither comments nor strings."""

_LANGUAGES = {
    "java": "java jsp",
    "c": "c h cpp c++ cc cxx hpp csharp c# cs go golang rust rs swift objective-c objc proto",
    "kotlin": "kotlin kt kts scala sc",
    "groovy": "groovy gradle dart php",
    "javascript": "javascript js jsx mjs cjs typescript ts tsx mts cts json5 jsonc",
    "python": "python py python3 py3 pyi ipython pycon",
    "hash": "bash sh shell zsh fish ksh console terminal powershell ps1 pwsh yaml yml toml conf "
    "cfg env dotenv dockerfile docker makefile make ruby rb perl r cmake hcl terraform gitignore",
    "properties": "properties ini",
    "markup": "xml html htm xhtml svg vue svelte pom",
    "sql": "sql mysql postgresql psql plsql sqlite",
    "css": "css",
    "scss": "scss less sass",
    "plain": "json csv diff markdown md",
}
LANGUAGES = {name: syntax for syntax, names in _LANGUAGES.items() for name in names.split()}
"""The name of the syntax of each language an info string may give."""

_C_SIGN = re.compile(
    r"[;{](?=[ \t]*+(?:$|/[/*]))|^[ \t]*+(?:[})]|//|/\*|\*[ /])|[)}][ \t]*+//"
    r"|^(?:import|package) [\w.]+\.\w+$",
    re.MULTILINE,
)
_PYTHON_BLOCK = r"(?:async )?(?:def|class|if|elif|else|for|while|with|try|except|finally)\b"
_PYTHON_SIGN = re.compile(
    rf"^[ \t]*+(?:{_PYTHON_BLOCK}[^{{;\n]*:[ \t]*+(?:#[^\n]*)?$|from [\w.]+ import |import \w+$"
    r"|#(?!include|define|!)|[\w.]+ = [^;{\n]+$)|  # ",
    re.MULTILINE,
)
_KOTLIN_SIGN = re.compile(r"^[ \t]*+(?:(?:override|private) )?(?:fun|val|object) ", re.MULTILINE)
_JS_SIGN = re.compile(r"^[ \t]*+(?:const|let|function|export|import .*from)\b|=>|`", re.MULTILINE)
_JAVA_SIGN = re.compile(r"^[ \t]*+(?:public|private|protected|package)\b", re.MULTILINE)


def guessed(source: str) -> str:
    """The syntax of code in a language nobody named; `plain` if it is like none of them."""
    if source.lstrip().startswith("<"):
        return "markup"
    c, python = len(_C_SIGN.findall(source)), len(_PYTHON_SIGN.findall(source))
    if python > c:
        return "python"
    return _c_like(source) if c else "plain"


def _c_like(source: str) -> str:
    if _KOTLIN_SIGN.search(source):
        return "kotlin"
    if '"""' in source or _JAVA_SIGN.search(source):
        return "java"
    return "javascript" if _JS_SIGN.search(source) else "java"


_C_CODE = re.compile(r"[;{}(]\s*$|^\s*[@}.)]|^(?:[\w ]+ )?class \w+")
_C_PART = re.compile(r"(?:[,)+=|&:?\[]|->)\s*$|^\s*[\"'+|&?:]")
_PYTHON_CODE = re.compile(
    rf"^\s*(?:from [\w.]+ import |import [\w.]+$|{_PYTHON_BLOCK}.*:\s*$|@|[)\]}}]\s*$"
    r"|(?:return|assert|raise|await|yield)\b.*[()'\"=]|[\w.\[\]]+(?: ?: \S+)? = |[\w.]+\()"
)
_PYTHON_PART = re.compile(r"[,(\[{]\s*$|^\s*[\"']|^\s*(?:return|pass|else:)")
_MARKUP_CODE = re.compile(r"^\s*<|>\s*$")
_CODE = {
    "python": (_PYTHON_CODE, _PYTHON_PART),
    "markup": (_MARKUP_CODE, _MARKUP_CODE),
    **dict.fromkeys(["java", "kotlin", "javascript"], (_C_CODE, _C_PART)),
}
"""What a line of code is like, and what a part of one is like."""


def is_code(text: str, syntax: str) -> bool:
    """Whether all of a text is source code: its first and last line, and most between.

    Args:
        text: without the comments it would have in the syntax.
        syntax: a name in SYNTAXES.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if syntax not in _CODE or not lines:
        return False
    code, part = _CODE[syntax]
    if not (code.search(lines[0]) and code.search(lines[-1])):
        return False
    return sum(1 for line in lines if code.search(line) or part.search(line)) >= 0.8 * len(lines)
