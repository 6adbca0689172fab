"""A rubric gives every reply the value and the pass that a careful reader would."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import ValidationError

from lift.evaluators import Check, Pattern, Rubric
from lift.evaluators.code import code_blocks, examined, without_comments
from lift.schema import Evidence, Reply, Status, digest

CLICK = Rubric(must_use=["click()"])
NO_LOCATOR = Rubric(must_not_use=["page.locator("])
FIELD = Rubric(must_use=["TextFieldElement.getByLabel"], must_not_use=["page.locator("])
BASE = Rubric(must_extend="Base")
FIVE = Rubric(must_use=["a()", "b()", "c()", "d()"], must_not_use=["bad()"])


def fenced(code: str, info: str = "java") -> str:
    return f"```{info}\n{dedent(code).strip()}\n```\n"


def evidence(text: str, *, status: Status = Status.OK, stop_reason: str = "end_turn") -> Evidence:
    return Evidence(status=status, reply=Reply(text=text, stop_reason=stop_reason))


def case(sentence: str, rubric: Rubric, reply: str, value: float, *, passed: bool | None = None):
    passed = value >= 0.8 if passed is None else passed
    return pytest.param(rubric, reply, value, passed, id=sentence)


PROSE_AND_CODE = [
    case(
        "prose that names a forbidden call beside clean code is no use of it",
        FIELD,
        "Never write `page.locator(x)`.\n\n" + fenced('TextFieldElement.getByLabel(page, "A");'),
        1,
    ),
    case(
        "prose that names a required call beside other code is no use of it",
        CLICK,
        "I would `click()` it.\n\n" + fenced("button.press();"),
        0,
    ),
    case(
        "a forbidden call in the second of two blocks is found",
        FIELD,
        fenced("TextFieldElement.getByLabel(p);") + "\nor\n\n" + fenced("page.locator(x);"),
        0.5,
    ),
    case(
        "a required call may be in any of several blocks",
        FIVE,
        fenced("a();") + "\nthen\n\n" + fenced("b(); c();", "") + "\n" + fenced("d();", "kotlin"),
        1,
    ),
    case(
        "a literal is not pieced together of two blocks",
        Rubric(must_use=["page.click"]),
        fenced("return page") + "\n" + fenced(".click()"),
        0,
    ),
    case("without a block the whole text is looked at", CLICK, "Just call button.click() here.", 1),
    case("inline code is part of the text where there is no block", CLICK, "Use `x.click()`.", 1),
    case("without a block prose that names a forbidden call is a hit", NO_LOCATOR,
         "Avoid `page.locator(x)`.", 0),
    case("an address in prose starts no comment", CLICK, "See http://x.org, then call click().", 1),
    case("an apostrophe in prose starts no string",
         CLICK, "It's // done\nwith click() /* ok */", 1),
    case("an indented block is not fenced, so it is text", CLICK, "Do\n\n    x.click();\n", 1),
    case(
        "an indented block beside a fenced one is not looked at",
        CLICK,
        "Do\n\n    x.click();\n\nor\n\n" + fenced("x.press();"),
        0,
    ),
    case("a bare Java class without a fence has comments", CLICK,
         "public class A {\n    void f() {\n        // x.click()\n        g();\n    }\n}\n", 0),
    case("a bare Python module without a fence has comments", CLICK,
         "import x\n\ndef test_it():\n    # x.click()\n    x.press()\n", 0),
    case("an empty block is a block", CLICK, "click()\n\n```java\n```\n", 0),
]  # fmt: skip

FENCES = [
    case("a tilde fence is a fence", NO_LOCATOR, "page.locator(\n~~~java\nx();\n~~~\n", 1),
    case("an unclosed fence runs to the end", CLICK, "So:\n```java\nx();\ny.click();", 1),
    case("prose before an unclosed fence is not looked at", NO_LOCATOR,
         "page.locator(\n```java\nx();", 1),
    case("a fence in a list is a fence", FIELD,
         "1. page.locator(\n\n   ```java\n   TextFieldElement.getByLabel();\n   ```\n", 1),
    case("a fence in a quote is a fence", FIELD,
         "> page.locator(\n> ```java\n> TextFieldElement.getByLabel();\n> ```\n", 1),
    case("a fence in a list in a quote is a fence", NO_LOCATOR,
         "> - page.locator(\n>   ~~~\n>   x();\n>   ~~~\n", 1),
    case("a fence is closed by one that is as long", CLICK,
         "````\n```\ny.click();\n```\n````\nend", 1),
    case("a fence after its closing is a new one", NO_LOCATOR,
         "```\nx();\n```\npage.locator(\n```\ny();\n```\n", 1),
    case("a title in the info string does not hide the language", CLICK,
         fenced("# x.click()\nx()", 'python title="T.py"'), 0),
    case("an info string in braces names the language", CLICK,
         fenced("// x.click()\nx();", "{.java .numberLines}"), 0),
    case("an info string in capitals names the language", CLICK, fenced("-- click()", "SQL"), 0),
    case("a file name as info string names the language", CLICK, fenced("# click()", "a/b.py"), 0),
    case("windows line ends are line ends", FIELD,
         "page.locator(\r\n```java\r\n// page.locator(\r\nTextFieldElement\r\n  .getByLabel();\r\n"
         "```\r\n", 1),
    case("three backticks within a line open nothing", CLICK, "Use ```x.click()``` here.", 1),
    case("an HTML block hides a fence", NO_LOCATOR, "<div>\n```\nx\n```\npage.locator(\n</div>", 0),
]  # fmt: skip

COMMENTS = [
    case("a forbidden call in a line comment is no use", NO_LOCATOR,
         fenced("x(); // not page.locator(y)"), 1),
    case("a forbidden call in a block comment is no use", NO_LOCATOR,
         fenced("/* not\n * page.locator(y)\n */\nx();"), 1),
    case("a required call in a line comment is no use", CLICK, fenced("// x.click();\ny();"), 0),
    case("a required call in a block comment is no use", CLICK, fenced("/* x.click(); */ y();"), 0),
    case("code after a block comment counts", CLICK, fenced("/* see */ x.click();"), 1),
    case("a comment between tokens is as good as a space", CLICK,
         fenced("x.click /* now */ ();"), 1),
    case("a removed comment leaves a space", Rubric(must_use=["new Foo"], must_not_use=["newFoo"]),
         fenced("new/**/Foo();"), 1),
    case("a comment in a chain of calls does not break the literal", FIELD,
         fenced('TextFieldElement // the wrapper\n    .getByLabel(page, "A");'), 1),
    case("an unclosed block comment runs to the end", CLICK, fenced("x();\n/* y\nz.click();"), 0),
    case("Java's block comments do not nest", CLICK, fenced("/* /* a */ x.click(); /* */"), 1),
    case("Kotlin's block comments nest", CLICK, fenced("/* /* a */ x.click() */ y()", "kotlin"), 0),
    case("a nested comment that is not closed runs to the end", CLICK,
         fenced("x() /* /* a */ y.click()", "kotlin"), 0),
    case("a text that only looks like a docstring is no comment", NO_LOCATOR,
         fenced('t = [\n  """page.locator(x)"""\n]\nf("""a"""\n  """page.locator(y)""")', "py"), 0),
    case("a text that continues a line is no docstring", NO_LOCATOR,
         fenced('t = \\\n"""page.locator(x)"""', "python"), 0),
    case("a hash comment in Python is a comment", CLICK, fenced("x()  # x.click()", "python"), 0),
    case("a hash in Java is no comment", Rubric(must_use=["find("]), fenced("#find(x)"), 1),
    case("a hash comment in a shell script is a comment", Rubric(must_use=["mvn test"]),
         fenced("ls # mvn test", "bash"), 0),
    case("a hash within a word of a shell script is no comment", Rubric(must_use=["mvn test"]),
         fenced("echo a#b; mvn test", "sh"), 1),
    case("a hash comment in YAML is a comment", CLICK, fenced("a: b # click()", "yaml"), 0),
    case("a markup comment is a comment", CLICK, fenced("<a/>\n<!-- click()\n-->", "xml"), 0),
    case("slashes in markup are no comment", CLICK,
         fenced("<a href=http://x>click()</a>", "html"), 1),
    case("an SQL comment is a comment", CLICK, fenced("select 1 -- click()", "sql"), 0),
    case("a style sheet has block comments", CLICK, fenced("a { } /* click() */", "css"), 0),
    case("an address in a style sheet starts no comment", CLICK,
         fenced("a { b: url(http://x); click() } // c", "scss"), 1),
    case("a hash ends no line of properties", CLICK, fenced("# a\nb=#click()", "properties"), 1),
    case("a docstring is a comment", NO_LOCATOR,
         fenced('def f():\n    """Not page.locator(x)."""\n    g()', "python"), 1),
    case("a triple-quoted argument is no docstring", NO_LOCATOR,
         fenced('f(\n    """page.locator(x)"""\n)', "python"), 0),
    case("JSON has no comments", CLICK, fenced('{"a": 1} // click()', "json"), 1),
    case("an unnamed block of C-like code has C-like comments", CLICK,
         fenced("x.press();\n// x.click()", ""), 0),
    case("an unnamed block of Python has Python's comments", CLICK,
         fenced("def f():\n    x.press()\n    # x.click()", ""), 0),
    case("an unnamed block of Kotlin has Kotlin's strings", CLICK,
         fenced('fun f() {\n    g("${m["http://x"]}"); y.click()\n}', ""), 1),
    case("an unknown language is guessed", CLICK, fenced("x.press();\n// x.click()", "vaadin"), 0),
]  # fmt: skip

STRINGS = [
    case("slashes in a string start no comment", CLICK,
         fenced('page.navigate("http://x"); y.click();'), 1),
    case("an escaped quote does not end a string", CLICK,
         fenced(r'f("a\"//"); y.click(); // "'), 1),
    case("an escaped backslash does not escape the quote", CLICK,
         fenced(r'f("a\\"); // "; y.click();'), 0),
    case("a char that is a double quote starts no string", CLICK,
         fenced("""f('"'); // y.click() " """), 0),
    case("a char that is an escaped quote is a char", CLICK,
         fenced(r"""f('\''); /* ' */ y.click(); // '"""), 1),
    case("a char that is a slash starts no comment", CLICK, fenced("f('/', '/'); y.click();"), 1),
    case("a Java string ends with its line", CLICK, fenced('f("oops);\n// y.click()\ng();'), 0),
    case("an apostrophe in Java is no string", CLICK, fenced("don't();\n// y.click() isn't"), 0),
    case("a forbidden call in a string is a use", NO_LOCATOR,
         fenced('eval("page.locator(x)");'), 0),
    case("a required call in a string is a use", CLICK, fenced('eval("x.click()");'), 1),
    case("a text block may hold comment marks", CLICK,
         fenced('f("""\n  // a /* b "quoted"\n  """); y.click();'), 1),
    case("an escaped quote in a text block does not end it", CLICK,
         fenced('f("""\n  \\""" // a\n  """); // y.click()'), 0),
    case("a comment after a text block is a comment", NO_LOCATOR,
         fenced('f("""\n  a "\n  """); // page.locator(x)'), 1),
    case("a template literal may hold comment marks", CLICK,
         fenced("f(`http://x /* `); y.click()", "js"), 1),
    case("code in a template literal has comments", CLICK,
         fenced("f(`a ${/* y.click() */ b} c`)", "ts"), 0),
    case("a template literal may hold another", CLICK,
         fenced("f(`a ${g(`b // ${c} // `)} // `); y.click() // `", "js"), 1),
    case("a brace in code of a template literal does not end it", NO_LOCATOR,
         fenced("f(`${g({a: {}})} //`) // page.locator(", "js"), 1),
    case("a regular expression may hold slashes", CLICK,
         fenced(r"expect(u).toMatch(/^http:\/\//); y.click()", "js"), 1),
    case("a class in a regular expression may hold a slash", CLICK,
         fenced("u = /[/*]/.test(s); y.click()", "js"), 1),
    case("a quote in a regular expression starts no string", NO_LOCATOR,
         fenced('s.replace(/"/g, q); // page.locator( "', "js"), 1),
    case("a division is no regular expression", NO_LOCATOR,
         fenced("a = b / c; // page.locator( /", "js"), 1),
    case("a regular expression may start the code of a template literal", NO_LOCATOR,
         fenced('f(`${/"/.test(s)}`); // page.locator( "', "js"), 1),
    case("a slash that closes no regular expression is a slash", NO_LOCATOR,
         fenced("x = /a[b;\ny(); // page.locator(", "js"), 1),
    case("an address between tags is no comment", CLICK,
         fenced("<p>http://x {y.click()}</p> {/* a */}", "tsx"), 1),
    case("an apostrophe between tags starts no string", NO_LOCATOR,
         fenced("<p>Don't</p> {/* page.locator( */}", "jsx"), 1),
    case("a hash in a Python string is no comment", CLICK,
         fenced('f("#a"); y.click()', "python"), 1),
    case("a hash in a triple-quoted string is no comment", CLICK,
         fenced('t = """\n # x.click()\n"""', "python"), 1),
    case("a hash in a format is no comment", CLICK,
         fenced("""f(f"{n:#x}{d['#']}", y.click())""", "python"), 1),
    case("an f-string may hold its own quotes", CLICK,
         fenced('f(f"{d["#"]} #"); y.click()  # "', "python"), 1),
    case("a raw string keeps its backslash", NO_LOCATOR,
         fenced(r"f(r'\d+'); g()  # page.locator( '", "python"), 1),
    case("doubled braces in an f-string are text", NO_LOCATOR,
         fenced("""f(f"{{'") # page.locator( '""", "python"), 1),
    case("a Kotlin string may hold a map's key", CLICK,
         fenced('f("${m["http://x"]}"); y.click()', "kotlin"), 1),
    case("a raw Kotlin string may end in a quote", NO_LOCATOR,
         fenced('f("""say "a // b""""); g() // page.locator(', "kotlin"), 1),
    case("a Groovy string may hold slashes", CLICK,
         fenced("f('http://x', ~/a\\/\\/b/, \"${g('//')}\"); y.click()", "groovy"), 1),
    case("a verbatim string has no escapes", NO_LOCATOR,
         fenced('f(@"C:\\"); // page.locator( "', "csharp"), 1),
    case("a quote in a shell word does not hide a comment", CLICK,
         fenced("echo don't # click()", "bash"), 0),
    case("a hash in a shell string is no comment", CLICK, fenced("f 'a # click()'", "bash"), 1),
]  # fmt: skip

LITERALS = [
    case("a literal may be broken into lines", FIELD,
         fenced('TextFieldElement\n    .getByLabel(page, "A");'), 1),
    case("a literal may be spaced out", Rubric(must_use=["f(a,b)"]), fenced("f ( a , b );"), 1),
    case("a spaced literal matches a tight one", Rubric(must_use=["f( a, b )"]),
         fenced("f(a,b);"), 1),
    case("two words need a space between them", Rubric(must_use=["new Foo"]),
         fenced("newFoo();"), 0),
    case("two words may have a line break between them", Rubric(must_use=["new Foo("]),
         fenced("new\n   Foo();"), 1),
    case("one word is not two", Rubric(must_use=["newFoo"]), fenced("new Foo();"), 0),
    case("a word does not go on to the right", Rubric(must_use=["setValue"]),
         fenced("x.setValueX();"), 0),
    case("a word does not go on to the left", Rubric(must_use=["setValue"]),
         fenced("x.resetsetValue();"), 0),
    case("the first word of a literal is whole", CLICK, fenced("x.doubleclick();"), 0),
    case("an underscore goes on with a word", Rubric(must_use=["id"]), fenced("x._id; id_;"), 0),
    case("a dollar goes on with a word", Rubric(must_use=["id"]), fenced("$id + id$;"), 0),
    case("a letter with an accent goes on with a word", Rubric(must_use=["id"]),
         fenced("idée();"), 0),
    case("a digit goes on with a number", Rubric(must_use=["f(1"]), fenced("f(12);"), 0),
    case("punctuation at an edge may go on", Rubric(must_use=[".click("]),
         fenced("x.click(1);"), 1),
    case("a quoted text matches as it stands", Rubric(must_use=['f("a b")']),
         fenced('f( "a b" );'), 1),
    case("a quoted text is not spaced out", Rubric(must_use=['f("a b")']), fenced('f("a  b");'), 0),
    case("case matters", CLICK, fenced("x.Click();"), 0),
    case("a later place is found after one that goes on", CLICK,
         fenced("x.doubleclick(); x.click();"), 1),
    case("a pattern is searched", Rubric(must_use=[Pattern(r"get(By)?Label\(")]),
         fenced("x.getByLabel(y);"), 1),
    case("a pattern minds case", Rubric(must_use=[Pattern("CLICK")]), fenced("x.click();"), 0),
    case("a pattern may ignore case", Rubric(must_use=[Pattern("CLICK", ignore_case=True)]),
         fenced("x.click();"), 1),
    case("a pattern sees each line's start", Rubric(must_use=[Pattern(r"^\s*y\(\);$")]),
         fenced("x();\n  y();\nz();"), 1),
    case("a pattern does not see comments", Rubric(must_not_use=[Pattern(r"sleep\(\d+\)")]),
         fenced("x(); // sleep(10)"), 1),
    case("a forbidden pattern fails", Rubric(must_not_use=[Pattern(r"sleep\(\d+\)")]),
         fenced("sleep(10);"), 0),
]  # fmt: skip

CLASSES = [
    case("a class extends the base", BASE, fenced("class A extends Base { }"), 1),
    case("the base may be qualified", BASE, fenced("class A extends pkg.sub.Base { }"), 1),
    case("the base may have type arguments", BASE,
         fenced("class A extends Base<Foo, Bar<Baz>> { }"), 1),
    case("the bound of a type parameter is not the base", Rubric(must_extend="Comparable"),
         fenced("class A<T extends Comparable<T>> extends Base { }"), 0),
    case("the base after a bounded type parameter counts", BASE,
         fenced("class A<T extends Comparable<T>> extends Base { }"), 1),
    case("a bound alone is no base", BASE, fenced("class A<T extends Base> { }"), 0),
    case("annotations and modifiers may come before", BASE,
         fenced('@Tag("it") @Slow\npublic abstract sealed class A extends Base permits B {'), 1),
    case("interfaces may come after", BASE, fenced("class A extends Base implements C, D { }"), 1),
    case("an implemented interface is not the base", BASE,
         fenced("class A extends B implements Base { }"), 0),
    case("a declaration may span lines", BASE,
         fenced("public class LongName\n        extends\n        Base\n{\n}"), 1),
    case("a comment may stand in a declaration", BASE,
         fenced("class A // why\n  /* extends C */ extends Base { }"), 1),
    case("an inner class counts", BASE,
         fenced("class A {\n  static class B extends Base { }\n}"), 1),
    case("a longer base is another", BASE, fenced("class A extends BaseX { }"), 0),
    case("a class whose name ends in the base's is another", BASE, fenced("class ABase { }"), 0),
    case("the base itself does not extend the base", BASE, fenced("class Base extends A { }"), 0),
    case("an inner class of the base is another", BASE, fenced("class A extends Base.In { }"), 0),
    case("an inner class of a generic class may be the base", BASE,
         fenced("class A extends Out<String>.Base { }"), 1),
    case("an interface is no class", BASE, fenced("interface X extends Base { }"), 0),
    case("a class literal declares nothing", BASE,
         fenced("@With(A.class)\ninterface X extends Base { }"), 0),
    case("a class in a string declares nothing", BASE, fenced('f("class A extends Base { }");'), 0),
    case("a class in a text block declares nothing", BASE,
         fenced('f("""\n  class A extends Base { }\n  """);'), 0),
    case("a class in a comment declares nothing", BASE, fenced("// class A extends Base\nx();"), 0),
    case("a wanted qualified name agrees with the simple one", Rubric(must_extend="com.x.Base"),
         fenced("import com.x.Base;\nclass A extends Base { }"), 1),
    case("a wanted qualified name agrees with the same one", Rubric(must_extend="com.x.Base"),
         fenced("class A extends com.x.Base { }"), 1),
    case("a wanted qualified name does not agree with another", Rubric(must_extend="com.x.Base"),
         fenced("class A extends com.y.Base { }"), 0),
    case("Kotlin's constructor call names the base", BASE,
         fenced("class A(val x: Int) : Base(x), Iface { }", "kotlin"), 1),
    case("Kotlin's base may come after an interface", BASE,
         fenced("class A : Iface, Base() { }", "kotlin"), 1),
    case("Kotlin's interface beside a base is not the base", BASE,
         fenced("class A : Other(), Base { }", "kotlin"), 0),
    case("Kotlin's injected constructor may come before", BASE,
         fenced('class A @Inject constructor(@In("x") val x: X) :\n    Base<X>(x)', "kotlin"), 1),
    case("the type of a Kotlin property is not the base", BASE,
         fenced("class A(val x: Base) { }", "kotlin"), 0),
    case("C#'s base follows a colon", BASE, fenced("public class A : Base, IFoo { }", "csharp"), 1),
    case("C++'s base follows its access", BASE,
         fenced("class A final : public Base { };", "cpp"), 1),
    case("Python's bases are in parentheses", BASE,
         fenced("class A(Generic[T], pkg.Base, metaclass=M):\n    pass", "python"), 1),
    case("Python's metaclass is not a base", BASE,
         fenced("class A(B, metaclass=Base):\n    pass", "python"), 0),
    case("a type argument of a Python base is not a base", BASE,
         fenced("class A(Generic[Base]):\n    pass", "python"), 0),
    case("a Python class with type parameters has bases", BASE,
         fenced("class A[T: int](Base): ...", "python"), 1),
    case("an annotation after a Python class without bases is not a base", BASE,
         fenced("class A:\n    Base: int", "python"), 0),
    case("a TypeScript class without a name extends the base", BASE,
         fenced("export default class extends Base { }", "ts"), 1),
    case("a class expression extends the base", BASE,
         fenced("const A = class extends Base {}", "js"), 1),
    case("a type argument of TypeScript may be a function", BASE,
         fenced("class A extends Base<() => void, B> implements C {}", "ts"), 1),
    case("a bound of a Kotlin type is not the base", Rubric(must_extend="Comparable"),
         fenced("class A<T : Comparable<T>>(x: T) : Base<T>(x)", "kotlin"), 0),
    case("a type argument of Kotlin may be a function", BASE,
         fenced("class A<T : () -> Unit>(f: (Int) -> Unit) : Base<(Int) -> T>()", "kotlin"), 1),
    case("a declaration that breaks off extends nothing", BASE,
         fenced("class A<T extends Base"), 0),
    case("PHP's base may start at the root", BASE,
         fenced("class A extends \\Pkg\\Base {", "php"), 1),
    case("Scala's base comes before its traits", BASE,
         fenced("class A[T <: X](x: T) extends Base(x) with Y", "scala"), 1),
    case("Scala's trait is not the base", BASE, fenced("class A extends B with Base", "scala"), 0),
    case("a pattern is searched in the base as written",
         Rubric(must_extend=Pattern(r"^\w+IT<\w+>$")),
         fenced("class A extends SpringIT<Foo> { }"), 1),
    case("a pattern is searched in the base only", Rubric(must_extend=Pattern("A")),
         fenced("class A extends Base implements A2 { }"), 0),
    case("a class in inline code counts where there is no block", BASE,
         "Write `class A extends Base { }`.", 1),
    case("prose about a class declares nothing", BASE, "Let your test class extends Base.", 0),
    case("a declaration may be in the second block", BASE,
         fenced("class X { }") + "\n" + fenced("class A extends Base { }"), 1),
]  # fmt: skip

VALUES = [
    case("four checks of five are enough", FIVE, fenced("a(); b(); c();"), 0.8),
    case("three checks of five are not enough", FIVE, fenced("a(); b();"), 0.6),
    case("a forbidden hit fails whatever the value", FIVE, fenced("a(); b(); c(); d(); bad();"),
         0.8, passed=False),
    case("only negative checks hold where nothing is hit", NO_LOCATOR, fenced("x();"), 1),
    case("an empty reply holds nothing", FIVE, "", 0),
    case("an empty reply does not hold negative checks either", NO_LOCATOR, "", 0),
    case("a reply of whitespace is empty", NO_LOCATOR, " \n\t\r\n\u00a0", 0),
    case("a superclass is one check among others",
         Rubric(must_use=["a()"], must_extend="Base", must_not_use=["bad()", "worse()"]),
         fenced("class A extends Base { }"), 0.75),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rubric", "reply", "value", "passed"),
    [*PROSE_AND_CODE, *FENCES, *COMMENTS, *STRINGS, *LITERALS, *CLASSES, *VALUES],
)
def test_a_reply_has_the_value_and_the_pass_it_deserves(rubric, reply, value, passed):
    score = rubric.score(evidence(reply))

    assert (score.value, score.passed) == (value, passed), score.why


def test_a_refusal_with_text_holds_no_negative_check():
    rubric = Rubric(must_use=["a()"], must_not_use=["bad()"])

    score = rubric.score(evidence("I can't say a().", stop_reason="refusal"))

    assert (score.value, score.passed) == (0.5, False)
    assert score.why == "1 of 2 checks hold: the model refused"


def test_a_refusal_without_text_holds_nothing():
    refused = evidence("", status=Status.FAILED, stop_reason="refusal")

    score = FIVE.score(refused)

    assert (score.value, score.passed) == (0, False)


def test_a_failed_reply_that_is_blank_holds_nothing():
    score = NO_LOCATOR.score(Evidence(status=Status.FAILED, why="max_tokens"))

    assert (score.value, score.passed) == (0, False)


def test_a_reply_that_was_cut_off_is_graded_on_what_is_there():
    cut = evidence("```java\na(); b(); c(); d(", status=Status.FAILED, stop_reason="max_tokens")

    score = FIVE.score(cut)

    assert (score.value, score.passed) == (0.8, True)


@pytest.mark.parametrize("status", [Status.ERRORED, Status.SKIPPED])
def test_a_trial_without_an_answer_is_not_scored(status):
    score = FIVE.score(Evidence(status=status, why="connection\nlost"))

    assert (score.value, score.passed) == (None, None)
    assert score.why == "not scored: connection lost"


def test_a_score_carries_the_name_and_the_weight_of_its_rubric():
    rubric = Rubric(name="style", weight=2.5, must_use=["a()"])

    score = rubric.score(evidence("a()"))

    assert (score.evaluator, score.weight, score.error) == ("style", 2.5, None)


WHY = [
    (FIVE, fenced("a(); b(); c(); d();"), "all 5 checks hold"),
    (CLICK, "click()", "the one check holds"),
    (FIVE, fenced("a(); c(); d();"), '4 of 5 checks hold: missing "b()"'),
    (FIVE, "", "0 of 5 checks hold: the reply is empty"),
    (
        Rubric(must_use=["a()", Pattern(r"b\d")], must_extend="Base"),
        "nothing",
        r'0 of 3 checks hold: missing "a()", /b\d/, a class that extends "Base"',
    ),
    (
        NO_LOCATOR,
        fenced('x();\n    page.locator("#x").click();\ny();'),
        '0 of 1 checks hold: forbidden "page.locator(" in: page.locator("#x").click();',
    ),
    (
        NO_LOCATOR,
        fenced('page\n    .locator("#x");'),
        '0 of 1 checks hold: forbidden "page.locator(" in: page .locator("#x");',
    ),
]


@pytest.mark.parametrize(("rubric", "reply", "why"), WHY)
def test_the_reason_names_what_to_act_on(rubric, reply, why):
    assert rubric.score(evidence(reply)).why == why


def test_the_reason_spells_out_control_characters_on_one_line():
    rubric = Rubric(must_use=["a\x1bb"], must_not_use=["f("])

    score = rubric.score(evidence("f(\x1b[31m\u202e"))

    assert score.why == (
        r'0 of 2 checks hold: missing "a\x1bb"; forbidden "f(" in: f(\x1b[31m\u202e'
    )


def test_the_reason_shows_the_hit_in_a_line_that_is_too_long():
    line = "x" * 1000 + " page.locator(y) " + "z" * 1000

    why = NO_LOCATOR.score(evidence(line)).why

    assert "page.locator(y)" in why.partition(" in: ")[2]
    assert len(why.partition(" in: ")[2]) == 80


BAD = [
    ({}, "a rubric needs at least one check"),
    ({"must_use": []}, "a rubric needs at least one check"),
    ({"must_use": ["a", "b", "a"]}, '"a" is there twice'),
    ({"must_not_use": [Pattern("a"), Pattern("a")]}, "/a/ is there twice"),
    ({"must_use": ["a"], "must_not_use": ["a"]}, '"a" is in must_use and in must_not_use'),
    ({"must_use": [" "]}, "match"),
    ({"must_use": "abc"}, "must_use"),
    ({"must_use": [{"pattern": "("}]}, "'(' is not a regular expression"),
    ({"must_use": [{"pattern": "a", "flags": 2}]}, "flags"),
    ({"must_use": [{"ignore_case": True}]}, "pattern"),
    ({"must_extend": "extends Base"}, '"extends Base" is not the name of a class'),
    ({"must_use": ["a"], "weight": 0}, "greater than 0"),
    ({"must_use": ["a"], "weight": float("inf")}, "finite"),
    ({"must_use": ["a"], "unknown": 1}, "unknown"),
]


@pytest.mark.parametrize(("fields", "message"), BAD)
def test_a_rubric_that_cannot_work_is_refused(fields, message):
    with pytest.raises(ValidationError) as refused:
        Rubric.model_validate(fields)

    assert message in str(refused.value)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "[z-a]"])
def test_a_pattern_that_does_not_compile_is_refused_with_the_pattern(pattern):
    with pytest.raises(ValidationError) as refused:
        Pattern(pattern)

    assert f"{pattern!r} is not a regular expression" in str(refused.value)


def test_a_pattern_is_the_same_by_position_and_by_keyword():
    assert Pattern(r"\d") == Pattern(pattern=r"\d", ignore_case=False)


def test_a_pattern_takes_one_text_by_position():
    with pytest.raises(TypeError):
        Pattern("a", "b")


def test_a_pattern_does_not_change():
    pattern = Pattern("a")

    with pytest.raises(ValidationError):
        pattern.pattern = "b"


def test_a_rubric_is_the_same_after_a_round_trip_through_json():
    rubric = Rubric(
        must_use=["a", Pattern("b", ignore_case=True)],
        must_extend=Pattern("C"),
        must_not_use=["d"],
    )

    again = Rubric.model_validate(json.loads(json.dumps(rubric.model_dump(mode="json"))))

    assert again == rubric
    assert digest(again) == digest(rubric)
    assert isinstance(again.must_use, tuple)


def test_a_rubric_is_a_check():
    assert isinstance(FIVE, Check)


def test_the_language_of_a_block_is_the_first_word_of_its_info_string():
    infos = ["", "Java", 'java title="X"', "{.java}", "c++", "language-ts", "src/A.kt", "text"]
    text = "\n".join(f"```{info}\nx\n```" for info in infos)

    names = [name for name, _ in code_blocks(text)]

    assert names == ["", "java", "java", "java", "c++", "ts", "kt", "text"]


@pytest.mark.parametrize("syntax", ["java", "kotlin", "javascript", "python", "groovy", "hash"])
@pytest.mark.parametrize(
    "unit",
    ['"', "'", "/", "`", "`${", '"${', 'f"{', '"""', "/*", "*/", "\\", "= [/", "{", "}", "#"],
)
def test_a_scan_keeps_its_footing_on_hostile_text(syntax, unit):
    source = unit * 5_000

    assert len(without_comments(source, syntax)) <= len(source)


MARKDOWN = st.lists(
    st.sampled_from(
        ["```", "````", "~~~", "```java", "``` a`b", "    ```", "\t```", "> ", "- ", "1. ", "  ",
         "\n", "\n\n", "x", " ", "`", "<div>", "<!--", "-->", "# h", "---", "===", "[a]: b", "\r\n"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(MARKDOWN)
def test_the_blocks_are_those_a_markdown_parser_finds(text):
    tokens = MarkdownIt("commonmark").parse(text)

    assert [body.rstrip() for _, body in code_blocks(text)] == [
        token.content.rstrip() for token in tokens if token.type == "fence"
    ]


ANY = st.text(alphabet="ab()./*#\"'`$\\{}<>:= \n", max_size=200)
LAW = Rubric(must_use=["a()", "b", '"a"'], must_extend="Base", must_not_use=["page.locator("])


@given(ANY)
def test_a_value_is_a_share_of_the_checks(text):
    score = LAW.score(evidence(text))

    assert score.value in {0, 0.2, 0.4, 0.6, 0.8, 1}


JAVA_LINES = st.lists(
    st.sampled_from(
        ["class A", "extends Base {", "a();", "a(", ");", 'b("a // b");', "page", ".locator(x);",
         "char c = '\"';", "/* a() */", "}", "b // a()", 'String s = "/*";', "a", "()"]
    ),
    min_size=1,
)  # fmt: skip
COMMENT_LINES = st.lists(
    st.sampled_from(
        ["// page.locator(x)", "/* a() */", "// it's \"", "/* \"a\" ' // */", "//", "/**/",
         "// class B extends Base {", "    // b"]
    ),
    min_size=1,
)  # fmt: skip


@given(JAVA_LINES, COMMENT_LINES, st.data())
def test_comment_lines_in_java_never_change_a_score(lines, comments, data):
    commented = list(lines)
    for comment in comments:
        commented.insert(data.draw(st.integers(0, len(commented))), comment)

    before, after = ("```java\n" + "\n".join(code) + "\n```" for code in (lines, commented))
    assert LAW.score(evidence(before)).value == LAW.score(evidence(after)).value


PROSE = st.text(alphabet="ab ().,/*'\"\n-#_", max_size=80).filter(lambda text: "```" not in text)


@given(PROSE, JAVA_LINES, PROSE)
def test_prose_outside_a_fence_never_changes_a_score(above, lines, below):
    block = "```java\n" + "\n".join(lines) + "\n```"

    alone, amid = evidence(block), evidence(f"{above}\n{block}\n\n{below} page.locator(a()) b")
    assert LAW.score(alone) == LAW.score(amid)


@given(st.text(alphabet="ab ().,/*'\"\n-#_:", max_size=200))
def test_prose_is_looked_at_as_it_is_written(text):
    (source,) = examined(f"So, {text}.")

    assert source.text == f"So, {text}."


@pytest.mark.parametrize(
    ("text", "stop_reason"),
    [
        ("a() c()", "end_turn"),
        ("a() b()", "refusal"),
        ("", "end_turn"),
        ("```\nclass X extends D {}\n```", ""),
    ],
)
def test_the_score_is_the_share_of_its_checks_that_hold(text: str, stop_reason: str):
    rubric = Rubric(must_use=["a(", "b("], must_extend="D", must_not_use=["c(", "d("])
    reply = Reply(text=text, stop_reason=stop_reason)
    status = Status.FAILED if stop_reason == "refusal" else Status.OK
    evidence = Evidence(status=status, reply=reply)

    checked = rubric.checked(evidence)

    assert len(checked) == 5
    assert rubric.score(evidence).value == sum(one.holds for one in checked) / 5


def test_a_trial_that_is_not_graded_has_no_checks():
    assert Rubric(must_use=["a("]).checked(Evidence(status=Status.ERRORED)) == ()
