"""The Python frontend: what source text lowers to."""

from __future__ import annotations

import random
import textwrap
import time
from pathlib import Path

import msgspec
import pytest

from cudalint.frontends.cuda.prefilter import mentions_cuda as cpp_mentions_cuda
from cudalint.frontends.python import read
from cudalint.frontends.python.names import module_name
from cudalint.frontends.python.parsing import parse
from cudalint.frontends.python.prefilter import mentions_cuda
from cudalint.program.expressions import (
    THIS,
    Binary,
    Conditional,
    Constant,
    FunctionReference,
    Index,
    Member,
    Slice,
    Tuple,
    Unary,
    Unknown,
    Variable,
    render,
)
from cudalint.program.functions import (
    Assign,
    Branch,
    Call,
    Delete,
    Function,
    Jump,
    Launch,
    Operation,
    Program,
    Return,
    Throw,
    Unreachable,
    Use,
)
from cudalint.source import Source, Span

FIXTURES = Path(__file__).parent.parent / "fixtures"
EACH = Unknown("each")


def lower(text: str, filename: str = "m.py") -> Program:
    program = read(filename, textwrap.dedent(text))
    assert program.dropped == ()
    return program


def function(program: Program, name: str) -> Function:
    (found,) = [item for item in program.functions if item.name == name]
    return found


def operations(item: Function) -> list[Operation]:
    return [operation for block in item.blocks for operation in block.operations]


def body(text: str) -> list[Operation]:
    """The operations of ``f``, whose body is given; ``a b c`` are its parameters."""
    program = lower(
        "import cupy as cp\nimport numpy as np\ndef f(a, b, c):\n"
        + textwrap.indent(textwrap.dedent(text), "    ")
    )
    return operations(function(program, "f"))


def calls(item: Function) -> list[Call]:
    return [operation for operation in operations(item) if isinstance(operation, Call)]


def names(text: str) -> list[str]:
    """The names of all calls of a module and its functions."""
    return [call.name for item in lower(text).functions for call in calls(item)]


def ways(item: Function, turns: int = 1) -> set[tuple[str, ...]]:
    """All ways through a function: the plain functions that it calls, then how it is left. Each
    block is entered at most ``turns`` + 1 times; every call that may raise does so once, too."""
    found: set[tuple[str, ...]] = set()

    def walk(number: int, trail: tuple[str, ...], seen: tuple[int, ...]) -> None:
        if seen.count(number) > turns:
            return
        seen = (*seen, number)
        block = item.blocks[number]

        def raised() -> None:
            if block.unwind is None:
                found.add((*trail, "raises"))
            else:
                walk(block.unwind, trail, seen)

        for operation in block.operations:
            if isinstance(operation, Call) and not operation.name.startswith("builtins."):
                if operation.may_throw is None and operation.name == "risky":
                    raised()
                trail = (*trail, operation.name)
            elif isinstance(operation, Use) and operation.reason == "yield":
                raised()
                trail = (*trail, "yield")
        terminator = block.terminator
        if isinstance(terminator, Jump):
            walk(terminator.target, trail, seen)
        elif isinstance(terminator, Branch):
            walk(terminator.then, trail, seen)
            walk(terminator.otherwise, trail, seen)
        elif isinstance(terminator, Return):
            found.add((*trail, "end" if terminator.implicit else "returns"))
        elif isinstance(terminator, Throw):
            raised()
        else:
            assert isinstance(terminator, Unreachable)
            found.add((*trail, "stops"))

    walk(0, (), ())
    return found


def ways_of(text: str, turns: int = 1) -> set[str]:
    program = lower("def f(a, b, c):\n" + textwrap.indent(textwrap.dedent(text), "    "))
    return {" ".join(way) for way in ways(function(program, "f"), turns)}


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import cupy as cp\ncp.asarray(1)", "cupy.asarray"),
        ("import cupy.cuda.runtime\ncupy.cuda.runtime.malloc(1)", "cupy.cuda.runtime.malloc"),
        ("import cupy.cuda.runtime as rt\nrt.malloc(1)", "cupy.cuda.runtime.malloc"),
        (
            "from cuda.bindings import runtime as cudart\ncudart.cudaMalloc(8)",
            "cuda.bindings.runtime.cudaMalloc",
        ),
        ("from cuda import cudart\ncudart.cudaFree(p)", "cuda.cudart.cudaFree"),
        ("from cuda.cudart import cudaFree as free\nfree(p)", "cuda.cudart.cudaFree"),
        ("from pycuda.driver import *\nmem_alloc(8)", "pycuda.driver.mem_alloc"),
        ("import torch\nrand = torch.rand\nrand(3)", "torch.rand"),
        ("import cupy as cp\nxp = cp\nxp.zeros(3)", "cupy.zeros"),
        (
            "try:\n    import cupy as cp\nexcept ImportError:\n    cp = None\ncp.ones(1)",
            "cupy.ones",
        ),
        (
            "try:\n    from cuda.bindings import runtime as rt\n"
            "except ImportError:\n    from cuda import cudart as rt\nrt.cudaFree(0)",
            "cuda.bindings.runtime.cudaFree",
        ),
        ("def f():\n    import torch as t\n    t.ones(1)", "torch.ones"),
        ("def f():\n    global cp\n    import cupy as cp\ndef g():\n    cp.ones(1)", "cupy.ones"),
        ("print(1)", "builtins.print"),
        ("undefined(1)", "undefined"),
        ("x.method(1)", ".method"),
    ],
)
def test_names_are_resolved(text: str, name: str) -> None:
    assert names(text) == [name]


def test_variable_modules_stay_unresolved() -> None:
    text = (
        "import cupy, numpy\ndef f(gpu):\n    xp = cupy if gpu else numpy\n    return xp.zeros(3)"
    )
    assert names(text) == [".zeros"]


def test_two_star_imports_resolve_nothing() -> None:
    assert names("from numpy import *\nfrom cupy import *\nzeros(1)") == ["zeros"]


def test_keys_link_to_definitions() -> None:
    program = lower(
        """
        from .memory import reserve
        from helpers import give_back
        from cupy import zeros

        class Base:
            def close(self): pass

        class Pool(Base):
            def __init__(self): self.grow()
            def grow(self): self.close(); self.missing()
            @staticmethod
            def make(): return Pool()
            @classmethod
            def other(cls): return cls()

        def use():
            reserve(); give_back(); zeros(1)
            pool = Pool()
            pool.close()
            Pool.make()
        """,
        "package/module.py",
    )
    assert [call.key for call in calls(function(program, "use"))] == [
        "package.memory.reserve",
        "helpers.give_back",
        None,
        "package.module.Pool",
        "package.module.Base.close",
        "package.module.Pool.make",
    ]
    constructor = calls(function(program, "use"))[3]
    assert (constructor.kind, constructor.record) == ("constructor", "package.module.Pool")
    assert constructor.target == Variable("pool", "pool")
    (grow,) = calls(function(program, "Pool.__init__"))
    assert (grow.name, grow.key, grow.receiver) == (".grow", "package.module.Pool.grow", THIS)
    close, missing = calls(function(program, "Pool.grow"))
    assert (close.key, missing.key) == ("package.module.Base.close", None)
    assert missing.record == "package.module.Pool"
    assert calls(function(program, "Pool.make"))[0].key == "package.module.Pool"
    assert calls(function(program, "Pool.other"))[0].key == "package.module.Pool"
    assert function(program, "Pool.__init__").kind == "constructor"
    assert function(program, "Pool.make").is_static


def test_module_name_follows_packages(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").touch()
    (inner / "__init__.py").touch()
    assert module_name(str(inner / "work.py")).name == "package.inner.work"
    package = module_name(str(inner / "__init__.py"))
    assert package.name == "package.inner"
    assert package.absolute("work", 1) == "package.inner.work"
    assert module_name(str(inner / "work.py")).absolute("", 2) == "package"
    assert module_name(str(tmp_path / "script.py")).name == "script"


def test_folders_without_init_count_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("models", "tools"):
        Path(folder).mkdir()
        Path(folder, "nets.py").write_text("")
    assert module_name("models/nets.py").name == "models.nets"
    text = """
        import models.nets
        import nets as mine
        from models.nets import Net

        def f():
            Net(), models.nets.Net(), mine.Net()
        """
    (tmp_path / "tools" / "train.py").write_text("")
    program = lower(text, "tools/train.py")
    keys = [call.key for call in calls(function(program, "f"))]
    assert keys == ["models.nets.Net", "models.nets.Net", "tools.nets.Net"]
    assert program.includes == ("models/nets.py", "tools/nets.py")
    assert calls(function(lower(text, "train.py"), "f"))[0].key == "models.nets.Net"


def test_imported_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("memory.py").write_text("")
    Path("tools").mkdir()
    Path("tools/__init__.py").write_text("")
    Path("tools/pools.py").write_text("")
    text = "import memory, os, cupy\nfrom tools.pools import Pool\n"
    assert read("script.py", text).includes == ("memory.py", "tools/pools.py")


def test_symbols_are_unique_among_nested_functions() -> None:
    program = lower(
        """
        def outer(n):
            total = n
            def inner(n):
                nonlocal total
                total = n
            numbers = [n for n in range(3)]
            return lambda: total
        """
    )
    outer, inner = function(program, "outer"), function(program, "outer.<locals>.inner")
    assert inner.parent == outer.key
    assert inner.parameters[0].symbol == "n#2"
    (assign,) = operations(inner)
    assert assign == Assign(Variable("total", "total"), Variable("n", "n#2"), Span(6, 9, 6, 18))
    assert inner.variables["total"].storage == "captured"
    (anonymous,) = [item for item in program.functions if item.kind == "lambda"]
    assert anonymous.parent == outer.key
    assert isinstance(anonymous.blocks[0].terminator, Return)
    assert anonymous.blocks[0].terminator.value == Variable("total", "total")
    assert {"n", "n#3"} <= set(outer.variables)


def test_module_variables_and_constants() -> None:
    program = lower(
        """
        import numpy as np
        N = 1 << 20
        SHAPE = (N, 2 * 4)
        HALF = float(N) / 2
        NAME = "a" "b"
        DTYPE = np.float32
        changed = 1
        changed = 2
        def f():
            global counter
            counter = 1
            return N
        """
    )
    values = {
        symbol: info.constant
        for symbol, info in program.variables.items()
        if info.constant is not None
    }
    assert values == {
        "::N": Constant(1 << 20),
        "::SHAPE": Tuple((Constant(1 << 20), Constant(8))),
        "::HALF": Constant(524288.0),
        "::NAME": Constant("ab"),
        "::DTYPE": FunctionReference("numpy.float32"),
        "::np": FunctionReference("numpy"),
        "::counter": Constant(1),
    }
    assert "::changed" in program.variables
    returned = function(program, "f").blocks[0].terminator
    assert isinstance(returned, Return)
    assert returned.value == Variable("N", "::N")


# -- expressions ---------------------------------------------------------------------------------


def test_out_parameters_come_in_tuples() -> None:
    first, status, pointer = body("err, ptr = cp.cuda.runtime.malloc(8)")
    assert isinstance(first, Call)
    assert first.target == Variable("%1", "%1")
    assert isinstance(status, Assign)
    assert isinstance(pointer, Assign)
    assert (status.target, status.value) == (
        Variable("err", "err"),
        Index(Variable("%1", "%1"), Constant(0)),
    )
    assert pointer.value == Index(Variable("%1", "%1"), Constant(1))


@pytest.mark.parametrize("target", ["(err,)", "err,", "[err]"])
def test_tuples_of_one(target: str) -> None:
    assert len(body(f"{target} = g()")) == 2


def test_calls_write_to_their_targets() -> None:
    direct, member, element = body("x = g()\na.p = g()\na[0] = g()")
    assert isinstance(direct, Call)
    assert isinstance(member, Call)
    assert isinstance(element, Call)
    assert direct.target == Variable("x", "x")
    assert member.target == Member(Variable("a", "a"), "p")
    assert element.target == Index(Variable("a", "a"), Constant(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = len(a)", "len(a)"),
        ("x = a[1:2]", "a[1:2]"),
        ("x = a[1:, 0]", "a[1:, 0]"),
        ("x = a[b, 0]", "a[(b, 0)]"),
        ("x = not a", "!a"),
        ("x = a is not None", "!(a is nullptr)"),
        ("x = a < b <= 3", "a < b && b <= 3"),
        ("x = -1", "-1"),
        ("x = a.data.ptr", "a.data.ptr"),
        ("x = np.float32", "numpy.float32"),
        ("x = getattr(a, 'ptr', None)", "a.ptr"),
        ("x = f'{a} and {b!r:>{c}}'", "f'{a} and {b!r:>{c}}'"),
        ("x = a if b else c", "b ? a : c"),
        ("x = a == 1 and b == 2", "a == 1 && b == 2"),
        ("x = a or b", "a ? a : b"),
    ],
)
def test_pure_expressions(text: str, expected: str) -> None:
    values = [item for item in body(text) if isinstance(item, Assign)]
    reads = function(lower(f"import numpy as np\ndef f(a, b, c):\n    {text}\n    return x"), "f")
    last = reads.blocks[0].terminator
    assert isinstance(last, Return)
    if values:
        assert render(values[0].value) == expected
    else:
        assert last.value is not None
        assert render(last.value) == expected
    assert len(reads.blocks) == 1


def test_impure_choices_are_branches() -> None:
    program = lower("def f(a):\n    x = g() if a else None\n    return x or h()")
    item = function(program, "f")
    assert {" ".join(way) for way in ways(item)} == {
        "g returns",
        "returns",
        "g h returns",
        "h returns",
    }
    targets = [call.target for call in calls(item)]
    assert targets[0] == Variable("x", "x")


def test_conditions_split() -> None:
    item = function(lower("def f(a, b):\n    if a and not b or g():\n        h()"), "f")
    conditions = [b.terminator.condition for b in item.blocks if isinstance(b.terminator, Branch)]
    assert [render(condition) for condition in conditions] == ["a", "b", "%1"]


def test_special_assignments() -> None:
    swap = body("a, b = b, a")
    assert [render(item.target) for item in swap if isinstance(item, Assign)] == [
        "%1", "%2", "a", "b",
    ]  # fmt: skip
    starred = body("x, *y, z = a")
    assert [item.value for item in starred[1:] if isinstance(item, Assign)] == [
        Index(Variable("%1", "%1"), Constant(0)),
        Slice(Variable("%1", "%1"), Constant(1), Constant(-1)),
        Index(Variable("%1", "%1"), Constant(-1)),
    ]
    (augmented,) = body("a.total += b")
    place = Member(Variable("a", "a"), "total")
    assert isinstance(augmented, Assign)
    assert augmented.augmented
    assert augmented.value == Binary("+", place, Variable("b", "b"))
    deleted = body("del a, b[0]")
    assert [type(item) for item in deleted] == [Delete, Delete]
    walrus = body("if (n := g()) > 1:\n    pass")
    assert isinstance(walrus[0], Call)
    assert walrus[0].target == Variable("n", "n")


def test_literals_that_cannot_be_encoded() -> None:
    program = read(
        "m.py", "x = 10 ** 400\ny = 99999999999999999999999\nz = '\\ud800'\nw = b'\\xff'\n"
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(program), type=Program) == program


def test_attribute_names_in_loops() -> None:
    program = lower(
        """
        class A:
            def close(self):
                for name in ("x", "y"):
                    free(getattr(self, name))
                    setattr(self, name, None)
        """
    )
    closing = operations(function(program, "A.close"))
    freed = [item.arguments[0].value for item in closing if isinstance(item, Call)]
    assert freed == [Member(THIS, "x"), Member(THIS, "y")]
    cleared = [item.target for item in closing if isinstance(item, Assign)]
    assert Member(THIS, "x") in cleared


def test_loops_over_places_are_unrolled() -> None:
    assert ways_of("for p in (a, b):\n    if p:\n        free(p)", turns=9) == {
        "end", "free end", "free free end",
    }  # fmt: skip
    assert ways_of("for p in (a, b):\n    if p:\n        break\n    free(p)\nelse:\n    g()") == {
        "end", "free end", "free free g end",
    }  # fmt: skip


# -- control flow --------------------------------------------------------------------------------


def test_loops() -> None:
    program = lower(
        "def f(n):\n    for i, x in enumerate(n):\n        g(x)\n    else:\n        h()"
    )
    item = function(program, "f")
    (header,) = [block for block in item.blocks if block.loop]
    assert isinstance(header.terminator, Branch)
    assert header.terminator.condition == Unary("more", Variable("n", "n"))
    element = Index(Variable("n", "n"), EACH)
    assert element in [o.value for o in operations(item) if isinstance(o, Assign)]
    assert {" ".join(way) for way in ways(item)} == {"h end", "g h end"}


@pytest.mark.parametrize(
    ("iterable", "target", "value"),
    [
        ("zip(a, b)", "p, q", ("a[...]", "b[...]")),
        ("a.items()", "k, v", ("key", "a[...]")),
        ("a.values()", "v", ("a[...]",)),
        ("reversed(a)", "v", ("a[...]",)),
        ("enumerate(zip(a, b))", "i, (p, q)", ("index", "a[...]", "b[...]")),
        ("a", "p, q", ("a[...][0]", "a[...][1]")),
    ],
)
def test_elements(iterable: str, target: str, value: tuple[str, ...]) -> None:
    assigned = body(f"for {target} in {iterable}:\n    pass")
    assert tuple(render(item.value) for item in assigned if isinstance(item, Assign)) == value


def test_while_and_jumps() -> None:
    assert ways_of("while a:\n    if b:\n        break\n    g()\nelse:\n    h()") == {
        "end", "g end", "g h end", "h end",
    }  # fmt: skip
    assert ways_of("while True:\n    g()\n    if a:\n        return 1", turns=0) == {"g returns"}
    assert ways_of("while a:\n    if b:\n        continue\n    g()") == {"end", "g end"}


def test_comprehensions_fill_a_temporary() -> None:
    items = body("x = [g(i) for i in a if i]")
    made, *_ = [item for item in items if isinstance(item, Assign)]
    assert made.value == Tuple((), "list")
    call, append = [item for item in items if isinstance(item, Call)]
    assert (call.name, append.name) == ("g", ".append")
    assert append.receiver == made.target
    assert append.may_throw is False
    assert ways_of("x = [g(i) for i in a if i]\nh()") == {"h end", "g .append h end"}
    assert ways_of("x = {i: g(i) for i in a}\nh()") == {"h end", "g h end"}


def test_finally_is_written_on_every_way() -> None:
    text = """
        try:
            risky()
            if a:
                return 1
        finally:
            free()
    """
    assert ways_of(text) == {"risky free returns", "risky free end", "free raises"}


def test_finally_in_a_loop() -> None:
    text = """
        for x in a:
            try:
                if b:
                    break
                if c:
                    continue
                risky()
            finally:
                free()
        g()
    """
    found = ways_of(text)
    assert {"g end", "free g end", "risky free g end", "free raises"} <= found
    for way in found:
        assert "risky g" not in way
        assert "risky risky" not in way
        assert not way.startswith("raises")


def test_handlers() -> None:
    text = """
        try:
            risky()
        except ValueError:
            g()
        else:
            h()
    """
    assert ways_of(text) == {"risky h end", "g end", "raises"}
    caught_all = """
        try:
            risky()
        except (KeyError, Exception) as error:
            g(error)
            raise
        finally:
            free()
    """
    assert ways_of(caught_all) == {"risky free end", "g free raises"}


def test_handlers_of_what_is_no_call() -> None:
    assert ways_of("try:\n    x = a[b]\nexcept KeyError:\n    x = g()") == {
        "end", "g end", "raises",
    }  # fmt: skip


def test_with_leaves_on_every_way() -> None:
    assert ways_of("with a as x, b:\n    risky()\n    if c:\n        return 1") == {
        ".__enter__ .__enter__ risky .__exit__ .__exit__ returns",
        ".__enter__ .__enter__ risky .__exit__ .__exit__ end",
        ".__enter__ .__enter__ .__exit__ .__exit__ raises",
    }
    enter, leave = body("with a as x:\n    pass")
    assert isinstance(enter, Call)
    assert isinstance(leave, Call)
    assert (enter.receiver, enter.target) == (Variable("a", "a"), Variable("x", "x"))
    assert leave.may_throw is False


def test_suppressed_exceptions_go_on() -> None:
    program = lower(
        "from contextlib import suppress\ndef f():\n"
        "    with suppress(Exception):\n        risky()\n    g()"
    )
    found = {" ".join(way) for way in ways(function(program, "f"))}
    start = "contextlib.suppress .__enter__"
    assert found == {f"{start} risky .__exit__ g end", f"{start} .__exit__ g end"}


def test_context_managers_of_the_file_have_keys() -> None:
    program = lower(
        "class A:\n    def __enter__(self): return self\n    def __exit__(self, *e): pass\n"
        "def f():\n    with A() as a:\n        pass\n"
    )
    assert [call.key for call in calls(function(program, "f"))] == [
        "m.A", "m.A.__enter__", "m.A.__exit__",
    ]  # fmt: skip


def test_asserts_and_exits() -> None:
    assert ways_of("assert a, g()\nh()") == {"g stops", "h end"}
    assert ways_of("import sys\nif a:\n    sys.exit(1)\nh()") == {"sys.exit stops", "h end"}
    assert ways_of("if a:\n    raise SystemExit(g())\nh()") == {"g stops", "h end"}
    (call,) = body("import os\nos._exit(1)")
    assert isinstance(call, Call)
    assert call.noreturn


def test_generators() -> None:
    program = lower("def f(a):\n    g()\n    try:\n        yield a\n    finally:\n        free()")
    item = function(program, "f")
    assert item.is_generator
    assert ways(item) == {("g", "yield", "free", "end"), ("g", "free", "raises")}


def test_async_code() -> None:
    program = lower(
        "async def f(a):\n    async with a as x:\n        async for y in x:\n"
        "            await g(y)\n"
    )
    reasons = [o.reason for o in operations(function(program, "f")) if isinstance(o, Use)]
    assert reasons == ["await"]


def test_match() -> None:
    text = """
        match a:
            case 1 | 2:
                g()
            case [x, *rest] if x:
                h()
            case {"k": v}:
                k()
            case Point(x=0):
                p()
            case other:
                o()
    """
    assert ways_of(text) == {"g end", "h end", "k end", "p end", "o end"}


def test_main_guard_is_taken() -> None:
    program = lower("if __name__ == '__main__':\n    g()\nelse:\n    h()\n")
    module = function(program, "<module>")
    assert ways(module) == {("g", "end")}
    assert module.is_main
    assert module.kind == "module"


# -- definitions ---------------------------------------------------------------------------------


def test_records() -> None:
    program = lower(
        """
        import torch
        class Outer(torch.nn.Module):
            SIZE = 4
            class Inner:
                pass
            def __init__(self, n=SIZE):
                self.p = n
                self.q, self.r = n, self.SIZE
            def __del__(self): pass
        """
    )
    outer = next(record for record in program.records if record.name == "Outer")
    assert outer.bases == ("torch.nn.Module",)
    assert [field.name for field in outer.fields] == ["SIZE", "Inner", "p", "q", "r"]
    assert outer.methods == ("m.Outer.__init__", "m.Outer.__del__")
    assert outer.destructor == "defined"
    assert function(program, "Outer.__del__").kind == "destructor"
    constructor = function(program, "Outer.__init__")
    assert constructor.record == "m.Outer"
    assert [p.name for p in constructor.parameters] == ["n"]
    stored = [o for o in operations(constructor) if isinstance(o, Assign)]
    assert Member(THIS, "r") in [item.target for item in stored]
    assert Constant(4, "self.SIZE") in [item.value for item in stored]


def test_parameters_and_decorators() -> None:
    program = lower(
        """
        import functools, cupy as cp
        @functools.lru_cache(maxsize=None)
        def f(a: cp.ndarray, /, b: int = 3, *args, c=None, **rest) -> int: ...
        """
    )
    item = function(program, "f")
    assert item.decorators == ("functools.lru_cache(maxsize=None)",)
    assert [(p.name, p.type.text, p.starred, p.keyword_only) for p in item.parameters] == [
        ("a", "cupy.ndarray", "", False),
        ("b", "int", "", False),
        ("args", "object", "*", False),
        ("c", "object", "", True),
        ("rest", "object", "**", False),
    ]
    assert item.parameters[1].default == Constant(3)
    assert item.returns is not None
    assert item.returns.text == "int"


def test_redefinitions_have_their_own_keys() -> None:
    program = lower("if a:\n    def f(): g()\nelse:\n    def f(): h()\nf()")
    assert {item.key for item in program.functions} == {"m.<module>", "m.f", "m.f#2"}


def test_what_may_throw() -> None:
    program = lower(
        """
        import logging
        logger = logging.getLogger(__name__)
        def f(n):
            out = []
            print(n); logging.info(n); logger.warning(n); out.append(n); ValueError(n)
            int(n * 4); "{}".format(n)
            g(n); n.append(1); int(n)
        """
    )
    may_throw = [(call.name, call.may_throw) for call in calls(function(program, "f"))]
    assert [value for _, value in may_throw] == [False] * 7 + [None] * 3


# -- kernels and launches ------------------------------------------------------------------------

NUMBA = """
from numba import cuda, float32
import numpy as np
TILE = 16
@cuda.jit(device=True)
def helper(x):
    spare = cuda.shared.array(8, np.int64)
@cuda.jit
def k(a, b):
    tile = cuda.shared.array(shape=(TILE, TILE + 1), dtype=float32)
    extra = cuda.shared.array(0, dtype="int32")
    unknown = cuda.shared.array(a, float32)
    helper(tile)
def plain(a):
    pass
"""


def launches(text: str) -> list[Launch]:
    return [
        operation
        for item in lower(text).functions
        for operation in operations(item)
        if isinstance(operation, Launch)
    ]


def test_numba_kernels() -> None:
    program = lower(NUMBA)
    (kernel,) = program.kernels
    assert (kernel.key, kernel.name, kernel.span) == ("m.k", "k", Span(9, 5, 9, 6))
    assert [(a.name, a.bytes) for a in kernel.shared] == [
        ("tile", 16 * 17 * 4), ("unknown", None), ("spare", 64),
    ]  # fmt: skip
    assert kernel.dynamic_shared == "extra"
    assert {item.name for item in program.functions} == {"<module>", "plain"}


@pytest.mark.parametrize(
    ("call", "grid", "block", "shared", "stream"),
    [
        ("k[4, 256](x, y)", "4", "256", None, None),
        ("k[(4, 2), (16, 16), s, 1024](x, y)", "(4, 2)", "(16, 16)", "1024", "s"),
        ("c = k[4, 256]\n    c(x, y)", "4", "256", None, None),
        ("cuda.jit(plain)[4, 256](x)", "4", "256", None, None),
        ("cuda.jit('void(f4)')(plain)[4, 256](x)", "4", "256", None, None),
        ("x[4, 256](y)", "4", "256", None, None),
    ],
)
def test_numba_launches(
    call: str, grid: str, block: str, shared: str | None, stream: str | None
) -> None:
    (launch,) = launches(f"{NUMBA}\ndef f(x, y, s):\n    {call}\n")
    assert (render(launch.grid), render(launch.block)) == (grid, block)
    assert (launch.shared and render(launch.shared)) == shared
    assert (launch.stream and render(launch.stream)) == stream


@pytest.mark.parametrize(
    ("definition", "call"),
    [
        ("k = cp.RawKernel('src', 'k')", "k((4,), (256,), (x, n), shared_mem=64)"),
        ("k = cp.RawKernel('src', 'k')", "k(grid=(4,), block=(256,), args=(x, n), shared_mem=64)"),
        (
            "m = cp.RawModule(code='')\nk = m.get_function('k')",
            "k((4,), (256,), (x, n), shared_mem=64)",
        ),
        ("m = cp.RawModule(code='')", "m.get_function('k')((4,), (256,), (x, n), shared_mem=64)"),
        (
            "m = SourceModule('')\nk = m.get_function('k')",
            "k(x, n, grid=(4,), block=(256,), shared=64)",
        ),
        (
            "m = SourceModule('')\nk = m.get_function('k')",
            "k.prepared_call((4,), (256,), x, n, shared_size=64)",
        ),
        ("def get() -> cp.RawKernel: ...", "get()((4,), (256,), (x, n), shared_mem=64)"),
        (
            "def get():\n    return cp.RawKernel('', 'k')",
            "q = get()\n    q((4,), (256,), (x, n), 64)",
        ),
        (
            "class A:\n    def __init__(self):\n        self.k = cp.RawKernel('', 'k')\na = A()",
            "a.k((4,), (256,), (x, n), shared_mem=64)",
        ),
        (
            "from cuda.core import launch, LaunchConfig",
            "c = LaunchConfig(grid=(4,), block=(256,), shmem_size=64)\n    launch(x, c, k, x, n)",
        ),
    ],
)
def test_other_launches(definition: str, call: str) -> None:
    (launch,) = launches(
        "import cupy as cp\nfrom pycuda.compiler import SourceModule\n"
        f"{definition}\ndef f(x, n):\n    {call}\n"
    )
    assert (render(launch.grid), render(launch.block)) == ("(4)", "(256)")
    assert launch.shared == Constant(64)
    assert [render(argument.value) for argument in launch.arguments] == ["x", "n"]


def test_calls_that_launch_nothing() -> None:
    text = "import cupy as cp\ndef f(table, x):\n    table['a', 'b'](x)\n    cp.ndarray[1, 2](x)\n"
    assert launches(text) == []


# -- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("x = f(1)", Span(1, 5, 1, 9)),
        ("if a:\n\tf(1)\n", Span(2, 2, 2, 6)),
        ("# é\nx = 'é' + f(1)\n", Span(2, 11, 2, 15)),
        ("\ufeffx = f(1)\n", Span(1, 6, 1, 10)),
        ("a\r\nx = f(\r\n  1)\r\n", Span(2, 5, 3, 5)),
        ("x = (\n  f(1)\n)\n", Span(2, 3, 2, 7)),
        ("x = 1; f(1)", Span(1, 8, 1, 12)),
        ("a\n\\\n\nf(1)\n", Span(4, 1, 4, 5)),
        ("\x0cf(1)\n", Span(1, 2, 1, 6)),
        ("try:\n    pass\nexcept (A, B) :\n    f(1)\n", Span(4, 5, 4, 9)),
        ("if a:\n    pass\n\x0c\nx = 1;  f(1)\n", Span(4, 9, 4, 13)),
        ("x = = 1\nf(1)\n", Span(2, 1, 2, 5)),
    ],
)
def test_spans_are_of_the_original_text(text: str, span: Span) -> None:
    (call,) = [call for item in read("m.py", text).functions for call in calls(item)]
    assert call.span == span


@pytest.mark.parametrize(
    ("text", "row", "kept"),
    [
        ("def ok(): pass\ndef f(a, b:\n    x = 1\ndef g(): pass\n", 2, {"ok", "g"}),
        ("def ok(): pass\ndef f():\n    x = 1\n    y = g(", 4, {"ok", "f"}),
        ("def f():\n    a = = 2\n    return 1\ndef g(): pass\n", 2, {"f", "g"}),
        ("def f():\n    '''open\n    return 1\ndef g(): pass\n", 2, {"f", "g"}),
        ("class A:\n    def a(self): pass\n    def b(self)\n        x = 1\n    def c(self): pass\n",
         3, {"A.a", "A.c"}),
        ("def f():\n    a = 1\n      b = 2\n", 3, {"f"}),
        ("def f(): pass\n\x00\n", 2, {"f"}),
        ("x = (1,\ndef f(): pass\n", 1, {"f"}),
        ("def f(): pass\nx = " + "(" * 5000 + ")" * 5000 + "\n", 2, {"f"}),
        ("def f(): pass\nx = f'{" + "(" * 5000 + ")" * 5000 + "}'\n", 2, {"f"}),
        ("def f(): pass\nx = 1" + " + 1" * 20_000 + "\n", 2, {"f"}),
    ],
)  # fmt: skip
def test_broken_statements_are_dropped(text: str, row: int, kept: set[str]) -> None:
    program = read("m.py", text)
    assert [dropped.span.row for dropped in program.dropped] == [row]
    assert program.dropped[0].reason
    assert {item.name for item in program.functions} == kept | {"<module>"}


def test_python_2_is_read() -> None:
    text = textwrap.dedent(
        """
        def f(x):
            try:
                print "a %d" % g(x)
            except ValueError, e:
                raise RuntimeError, "x"
            if x <> 3: print >>log, h(x),
            return `x` + 10L
        """
    )
    program = read("m.py", text)
    (dropped,) = program.dropped
    assert (dropped.what, dropped.span.row) == ("Python 2 code", 4)
    assert [call.name for call in calls(function(program, "f"))] == ["g", "h"]


def test_a_keyword_of_later_versions_is_read_as_a_name() -> None:
    program = read("m.py", "def f(x):\n    y = x.cuda(async=True)\n    return g(y)\n")
    assert [call.name for call in calls(function(program, "f"))] == [".cuda", "g"]
    assert [dropped.what for dropped in program.dropped] == ["Python 2 code"]


@pytest.mark.parametrize("text", ["", "\n", "# nothing", "\ufeff", "pass"])
def test_empty_files(text: str) -> None:
    program = read("m.py", text)
    assert program.dropped == ()
    assert [item.name for item in program.functions] == ["<module>"]


def test_enormous_files_are_refused_at_once() -> None:
    start = time.perf_counter()
    (dropped,) = read("m.py", "x = " + "1," * 2_500_000).dropped
    assert "characters" in dropped.reason
    assert time.perf_counter() - start < 2


def test_no_text_is_too_broken() -> None:
    """Mutations of real programs: never an exception, and always something to encode."""
    source = random.Random(20)
    texts = [path.read_text(encoding="utf-8") for path in sorted(FIXTURES.glob("GPU10[35]*/*.py"))]
    for _ in range(200):
        text = source.choice(texts)
        for _ in range(source.randint(1, 4)):
            at = source.randrange(len(text) + 1)
            noise = source.choice(
                ["(", ")", "'", '"""', ":", "\n", " ", "\x00", "é", "\ud800", "{"]
            )
            text = source.choice(
                [text[:at], text[:at] + noise + text[at:], text[:at] + text[at + 9 :]]
            )
        program = read("m.py", text)
        assert msgspec.msgpack.encode(program)


def test_fixtures_lower_without_loss() -> None:
    programs = [
        read(str(path), path.read_text(encoding="utf-8")) for path in sorted(FIXTURES.rglob("*.py"))
    ]
    assert programs
    assert [program.filename for program in programs if program.dropped] == []
    for program in programs:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(program), type=Program) == program
        for item in program.functions:
            assert [block.number for block in item.blocks] == list(range(len(item.blocks)))


def test_a_thousand_lines_take_half_a_second() -> None:
    block = textwrap.dedent(
        """
        def work_{0}(n, scale=1.0):
            err, ptr = cudart.cudaMalloc(n * 4)
            try:
                for i in range(n):
                    if i % 2 == 0 and check(i, scale):
                        values.append(cp.asarray(numpy.ones(i)) * scale)
            finally:
                cudart.cudaFree(ptr)
            return [value.sum() for value in values if value is not None]
        """
    )
    text = "".join(block.format(number) for number in range(100))
    read("m.py", block.format(0))
    start = time.process_time()
    program = read("m.py", text)
    assert time.process_time() - start < 0.5
    assert len(program.functions) == 101


# -- prefilters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"import cupy as cp", True),
        (b"from numba import cuda", True),
        (b"import torch.nn as nn", True),
        (b"x = model.cuda()", True),
        (b"import jax.numpy as jnp", True),
        (b"import rmm", True),
        (b"import numpy as np\nprint(1)", False),
        (b"import os  # draft, aircraft", False),
    ],
)
def test_python_prefilter(data: bytes, expected: bool) -> None:
    assert mentions_cuda(data) is expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"#include <cuda_runtime.h>", True),
        (b"cuMemAlloc(&p, n);", True),
        (b"k<<<1, 2>>>();", True),
        (b"__global__ void k();", True),
        (b"hipMalloc(&p, n);", True),
        (b"cublasCreate(&h);", True),
        (b"CUDA_CHECK(x);", True),
        (b"int main() { std::cout << cursor << current; }", False),
    ],
)
def test_cpp_prefilter(data: bytes, expected: bool) -> None:
    assert cpp_mentions_cuda(data) is expected


def test_conditionals_are_exported() -> None:
    (assign,) = body("x = a if b else c")
    assert isinstance(assign, Assign)
    assert assign.value == Conditional(Variable("b", "b"), Variable("a", "a"), Variable("c", "c"))


def test_a_long_chain_of_names_for_itself() -> None:
    renames = "\n".join(f"    name = name.replace('a{n}', 'b{n}')" for n in range(60))
    program = lower(f"import torch\ndef convert(name):\n{renames}\n    return torch.load(name)\n")
    convert = next(function for function in program.functions if function.name == "convert")
    calls = [one for block in convert.blocks for one in block.operations if isinstance(one, Call)]
    assert len(calls) == 61  # and it ends


@pytest.mark.parametrize(
    "statement",
    ["assert(a if b else c)", "while(lambda: a): pass", "x = 1 if(a if b else c)else(lambda: 2)"],
)
def test_parentheses_stand_next_to_words(statement: str) -> None:
    parsed = parse(Source("a.py", f"{statement}\n"))
    assert parsed.tree is not None
    assert (parsed.tree.code, parsed.dropped) == (f"{statement}\n", ())
