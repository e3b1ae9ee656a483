"""Lowering CUDA C++ to the program model."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from cudalint.frontends.cuda import read
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.program import (
    THIS,
    Assign,
    Binary,
    Branch,
    Call,
    Constant,
    Function,
    Jump,
    Launch,
    Member,
    Program,
    ScopeEnd,
    Throw,
    Unreachable,
    Variable,
    render,
)
from cudalint.program.dump import dump, dump_function

Kind = TypeVar("Kind")
PRELUDE = "#include <cuda_runtime.h>\n#include <cstdio>\n#include <cstdlib>\n"


OPTIONS = ParseOptions()


@pytest.fixture(scope="module", autouse=True)
def precompiled_headers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One precompiled header for all cases: parsing is ten times faster with it."""
    global OPTIONS
    OPTIONS = ParseOptions(cache_folder=tmp_path_factory.mktemp("cache"))


def lower(source: str, prelude: str = PRELUDE, filename: str = "case.cu") -> Program:
    return read(filename, prelude + textwrap.dedent(source), OPTIONS)


def function(program: Program, name: str) -> Function:
    return next(found for found in program.functions if found.name == name)


def body(source: str, name: str = "f", prelude: str = PRELUDE, dropped: int = 0) -> str:
    """The blocks of a function as text, without its head."""
    program = lower(source, prelude)
    assert len(program.dropped) == dropped
    return textwrap.dedent(dump_function(function(program, name)).partition("\n")[2])


def operations(program: Program, name: str, kind: type[Kind]) -> list[Kind]:
    return [
        operation
        for block in function(program, name).blocks
        for operation in block.operations
        if isinstance(operation, kind)
    ]


def calls(program: Program, name: str) -> list[Call]:
    return operations(program, name, Call)


def lines(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


# Expressions.


def test_call_arguments() -> None:
    text = body("void f(int n) { float* p; cudaMalloc((void**)&p, n * sizeof(float)); }")
    assert "cudaMalloc(&p, n * sizeof(float)) nothrow" in text


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("&p[2]", "&p[2]"),
        ("&s->d", "&s->d"),
        ("p + 1", "p + 1"),
        ("*&p", "p"),
        ("&*p", "p"),
        ("reinterpret_cast<char*>(p)", "p"),
        ("(void*)p", "p"),
        ("s->next->d", "s->next->d"),
        ("(*s).d", "s->d"),
        ("nullptr", "nullptr"),
        ("NULL", "NULL"),
        ("0", "0"),
        ("n ? p : p + n", "n ? p : p + n"),
    ],
)
def test_pointers(expression: str, expected: str) -> None:
    text = body(
        f"""
        struct S {{ float* d; S* next; }};
        void g(const void* q);
        void f(float* p, S* s, int n) {{ g({expression}); }}
        """
    )
    assert f"g({expected})" in text


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 << 20", "1 << 20"),
        ("WIDTH", "WIDTH"),
        ("tile", "tile"),
        ("sizeof(double)", "sizeof(double)"),
        ("sizeof(*p)", "sizeof(*p)"),
        ("-1", "18446744073709551615"),
        ("'a'", "97"),
        ("cudaMemcpyHostToDevice", "cudaMemcpyHostToDevice"),
        ("Two", "Two"),
    ],
)
def test_constants(expression: str, expected: str) -> None:
    text = body(
        f"""
        #define WIDTH 640
        enum Count {{ One = 1, Two }};
        constexpr int tile = 16;
        void g(size_t n);
        void f(float* p) {{ g({expression}); }}
        """
    )
    assert f"g({expected})" in text


def test_constant_values() -> None:
    program = lower(
        """
        #define WIDTH 640
        const int tile = 16;
        void g(size_t, size_t, size_t, int, float);
        void f(double* p) { g(WIDTH, tile, sizeof(p[0]), cudaMemcpyDeviceToHost, 2.5f); }
        """
    )
    (call,) = calls(program, "f")
    values = [argument.value for argument in call.arguments]
    assert [value.value for value in values if isinstance(value, Constant)] == [640, 16, 8, 2, 2.5]


def test_conversions_are_written_where_the_value_can_change() -> None:
    program = lower(
        """
        void g(int a, unsigned char b, size_t c, int d);
        void f(size_t n, int m, float x) { g(n, m, m, x); }
        """
    )
    (call,) = calls(program, "f")
    kinds = [type(argument.value).__name__ for argument in call.arguments]
    assert kinds == ["Cast", "Cast", "Variable", "Cast"]


def test_integer_arithmetic_keeps_its_type() -> None:
    program = lower("void g(size_t n); void f(int a, size_t b) { g(a * a); g(a * b); }")
    first, second = (call.arguments[0].value for call in calls(program, "f"))
    assert isinstance(first, Binary) and first.result is not None
    assert isinstance(second, Binary) and second.result is not None
    assert (first.result.bytes, first.result.signed) == (4, True)
    assert (second.result.bytes, second.result.signed) == (8, False)


def test_references_are_transparent() -> None:
    text = body(
        """
        struct S { float* d; };
        void f(S& s, float*& out) {
            float*& alias = s.d;
            cudaMalloc(&alias, 4);
            out = alias;
        }
        """
    )
    assert "cudaMalloc(&s.d, 4)" in text
    assert "out = s.d" in text


def test_increments() -> None:
    text = body("void g(int); void f(int n) { n++; g(n++); g(--n); n += 2; }")
    assert lines(text) == lines(
        """
        0:
          update n = n + 1
          %1 = n
          update n = n + 1
          g(%1)
          update n = n - 1
          g(n)
          update n = n + 2
          return (end)
        """
    )


def test_short_circuit_with_calls_becomes_branches() -> None:
    text = body(
        "bool g(); bool f(int* p, int n) { bool a = p && n > 1; bool b = p && g(); return a || b; }"
    )
    assert "declare a = p && n > 1" in text
    assert "if p -> 1 else 2" in text
    assert "return a || b" in text


def test_conditions_are_split() -> None:
    text = body("void g(); void f(float* p, int n) { if (!(n > 1 || p) && n) g(); }")
    assert "||" not in text
    assert "&&" not in text
    assert "!" not in text


def test_ternary_with_calls_becomes_branches() -> None:
    text = body("int g(int); int f(int n) { return n ? g(1) : 2; }")
    assert lines(text) == lines(
        """
        0:
          if n -> 1 else 2
        1:
          %1 = g(1)
          %2 = %1
          -> 3
        2:
          %2 = 2
          -> 3
        3:
          return %2
        """
    )


def test_assignment_in_a_condition() -> None:
    text = body(
        "void f(float* p) { cudaError_t e; while ((e = cudaFree(p)) == cudaSuccess) { p = 0; } }"
    )
    assert lines(text) == lines(
        """
        0:
          declare e = uninitialized
          -> 1
        1: loop
          %1 = cudaFree(p) nothrow
          e = %1
          if e == cudaSuccess -> 2 else 3
        2:
          p = 0
          -> 1
        3:
          return (end)
        """
    )


# Control flow.


def test_check_macro_is_straight_code() -> None:
    program = lower(
        """
        #define CHECK(call) do { cudaError_t s = (call); if (s != cudaSuccess) return s; } while (0)
        cudaError_t f(float** p) { CHECK(cudaMalloc(p, 4)); return cudaSuccess; }
        """
    )
    found = function(program, "f")
    assert not any(block.loop for block in found.blocks)
    (call,) = calls(program, "f")
    assert call.expansion == "CHECK"
    assert call.name == "cudaMalloc"
    assert call.span.row == 6


def test_code_in_a_macro_argument_keeps_its_lines() -> None:
    program = lower(
        """
        #define TIMED(code) do { code } while (0)
        void f(float* p) {
            TIMED(
                cudaMalloc(&p, 4);
                cudaFree(p);
            )
        }
        """
    )
    assert [(call.name, call.span.row) for call in calls(program, "f")] == [
        ("cudaMalloc", 8),
        ("cudaFree", 9),
    ]


def test_code_of_a_macro_stands_at_its_use() -> None:
    program = lower(
        """
        #define ALLOCATE(p) cudaMalloc(&p, 4); \\
            cudaMemset(p, 0, 4)
        void f(float* p) {
            ALLOCATE(p);
        }
        """
    )
    spans = {call.span for call in calls(program, "f")}
    assert {(span.row, span.column, span.end_row) for span in spans} == {(8, 5, 8)}


def test_an_argument_that_a_macro_repeats_in_one_expression_is_called_once() -> None:
    program = lower(
        """
        #include <glog/logging.h>
        #define CHECK_CUDA(code) { CHECK_EQ((code), cudaSuccess) << cudaGetErrorString((code)); }
        #define TWICE(p) cudaFree(p); cudaFree(p)
        void f(float* p) { CHECK_CUDA(cudaFree(p)); }
        void g(float* p) { CHECK_CUDA(cudaFree(p)); CHECK_CUDA(cudaFree(p)); }
        void h(float* p) { TWICE(p); }
        """
    )
    freed = {name: [c.name for c in calls(program, name)].count("cudaFree") for name in "fgh"}
    assert freed == {"f": 1, "g": 2, "h": 2}


def test_loops() -> None:
    text = body(
        """
        void g(int);
        void f(int n) {
            for (int i = 0; i < n; ++i) {
                if (i == 3) continue;
                if (i == 5) break;
                g(i);
            }
            do { n--; } while (n > 0);
            for (;;) { if (n++) break; }
        }
        """
    )
    assert text.count("loop") == 3


@pytest.mark.parametrize(
    "head", ["; i < n; i++", "i = 0; ; i++", "i = 0; i < n; ", "; ; i++", "; i < n;", ";;"]
)
def test_for_with_parts_left_out(head: str) -> None:
    text = body(f"void g(); void f(int i, int n) {{ for ({head}) {{ g(); if (n) break; }} }}")
    assert ("if i < n" in text) == ("i < n" in head)
    assert ("update i = i + 1" in text) == ("i++" in head)
    assert text.index("g()") < (text.index("update i") if "i++" in head else len(text))


def test_range_for() -> None:
    text = body(
        """
        #include <vector>
        void f(std::vector<float*>& all) {
            for (auto& p : all) cudaMalloc(&p, 4);
            for (float* q : all) cudaFree(q);
        }
        """
    )
    assert "if more(all) -> " in text
    assert "declare p = &all[...]" in text
    assert "cudaMalloc(&p, 4)" in text
    assert "declare q = all[...]" in text
    assert "end q" in text


def test_switch() -> None:
    text = body(
        """
        void g(int);
        void f(int n) {
            switch (n) {
                case 1: g(1);
                case 2: g(2); break;
                default: g(3);
            }
        }
        """
    )
    assert lines(text) == lines(
        """
        0:
          if n == 1 -> 2 else 5
        1:
          return (end)
        2:
          g(1)
          -> 3
        3:
          g(2)
          -> 1
        4:
          g(3)
          -> 1
        5:
          if n == 2 -> 3 else 4
        """
    )


def test_goto() -> None:
    text = body(
        """
        int f(float* p) {
            int result = 1;
            if (cudaFree(p) != cudaSuccess) goto fail;
            result = 0;
        fail:
            cudaFree(p);
            return result;
        }
        """
    )
    assert lines(text) == lines(
        """
        0:
          declare result = 1
          %1 = cudaFree(p) nothrow
          if %1 != cudaSuccess -> 2 else 1
        1:
          result = 0
          -> 2
        2:
          cudaFree(p) nothrow
          return result
        """
    )


def test_goto_out_of_a_scope_ends_its_locals() -> None:
    program = lower("void f(int n) { { float* p = 0; if (n) goto out; p = 0; } out: cudaFree(0); }")
    ends = operations(program, "f", ScopeEnd)
    assert [end.symbols for end in ends] == [("p",), ("p",)]


def test_goto_backwards_is_a_loop() -> None:
    program = lower("void f(int n) { again: n--; if (n) goto again; }")
    assert any(block.loop for block in function(program, "f").blocks)


def test_break_and_continue_end_locals() -> None:
    program = lower(
        """
        void f(int n) {
            while (n--) {
                float* p = 0;
                if (n == 1) break;
                if (n == 2) continue;
                p = 0;
            }
        }
        """
    )
    assert [end.symbols for end in operations(program, "f", ScopeEnd)] == [("p",)] * 3


def test_shadowed_names_differ() -> None:
    program = lower("void f() { float* p = 0; { float* p = 0; p = 0; } p = 0; }")
    targets = [found.target for found in operations(program, "f", Assign)]
    symbols = [target.symbol for target in targets if isinstance(target, Variable)]
    assert symbols == ["p", "p#2", "p#2", "p"]


def test_noreturn_and_assert() -> None:
    program = lower(
        """
        #include <cassert>
        [[noreturn]] void die(const char* message);
        void old(int) __attribute__((noreturn));
        void f(int n) { assert(n > 1); if (n == 2) die("x"); if (n == 3) exit(1); old(1); }
        """
    )
    dead = [call.name for call in calls(program, "f") if call.noreturn]
    assert dead == ["__assert_fail", "die", "exit", "old"]
    ends = [block.terminator for block in function(program, "f").blocks]
    assert sum(isinstance(end, Unreachable) for end in ends) == 4


def test_exceptions() -> None:
    text = body(
        """
        #include <stdexcept>
        struct Mine {};
        void g();
        void f(int n) {
            try { float* p = 0; g(); if (n) throw Mine(); }
            catch (const Mine&) { throw; }
            catch (int) { n = 1; }
            try { g(); } catch (const std::exception& error) { n = 2; }
        }
        """
    )
    assert "if catch (const Mine &)" in text
    assert "if catch (int)" in text
    assert "if catch (const std::exception &)" not in text
    assert text.count("rethrow") == 2  # ``throw;`` and what neither handler takes.
    assert "end p" in text


def test_throw_unwinds_to_the_handler() -> None:
    program = lower("void f() { try { throw 1; } catch (...) { } }")
    found = function(program, "f")
    (thrower,) = [block for block in found.blocks if isinstance(block.terminator, Throw)]
    assert thrower.unwind is not None
    assert not isinstance(found.blocks[thrower.unwind].terminator, Branch)


def test_if_with_initialiser_and_condition_variable() -> None:
    text = body(
        """
        void f(float* p) {
            if (auto e = cudaFree(p); e != cudaSuccess) return;
            if (cudaError_t e = cudaFree(p)) return;
        }
        """
    )
    assert "if e != cudaSuccess" in text
    assert "if e ->" in text


def test_statement_expression() -> None:
    text = body("int f(float* p) { return ({ cudaError_t s = cudaFree(p); s; }); }")
    assert "%2 = s" in text
    assert "return %2" in text


def test_constant_conditions_are_decided() -> None:
    text = body("void g(); void h(); void f() { if (0) g(); if constexpr (sizeof(int) == 4) h(); }")
    assert "g()" not in text
    assert "h()" in text


def test_static_local() -> None:
    program = lower("float* f() { static float* cache = (float*)malloc(4); return cache; }")
    assert program.variables["::f::cache"].storage == "static"
    assert "first call of f" in dump(program)


# Declarations.


def test_objects() -> None:
    text = body(
        """
        struct Foo { float* p; Foo(int n); Foo(const Foo&); ~Foo(); };
        void take(Foo);
        Foo make();
        void f(Foo a) {
            Foo b(1);
            Foo c = a;
            Foo d = make();
            b = a;
            take(a);
            take(make());
            Foo* e = new Foo(2);
            delete e;
            float* q = new float[10];
            delete[] q;
        }
        """
    )
    assert lines(text) == lines(
        """
        0:
          Foo(1) on b [constructor]
          Foo(a) on c [copy]
          %1 = make()
          declare d = %1
          Foo::operator=(a) on b [copy] nothrow
          Foo(a) on %2 [copy]
          take(%2)
          %3 = make()
          take(%3)
          %4 = operator new(8) [operator] T=8
          Foo(2) on *%4 [constructor]
          declare e = %4
          operator delete(e) [operator] nothrow
          %5 = operator new[](10) [operator] T=4
          declare q = %5
          operator delete[](q) [operator] nothrow
          return (end)
        """
    )


def test_returned_objects() -> None:
    program = lower(
        """
        struct Foo { float* p; Foo(); ~Foo(); };
        struct Bar { Foo foo; };
        Foo local() { Foo x; return x; }
        Foo parameter(Foo x) { return x; }
        Foo member(Bar& bar) { return bar.foo; }
        """
    )
    copies = {
        name: sum(call.kind == "copy" for call in calls(program, name))
        for name in ("local", "parameter", "member")
    }
    assert copies == {"local": 0, "parameter": 1, "member": 1}


def test_constructor_initialises_members() -> None:
    text = body(
        """
        struct Base { Base(int); };
        struct Buffer : Base {
            float* p; int n = 4; float* q = nullptr;
            Buffer(int count) : Base(count), p(nullptr) { cudaMalloc(&q, n); }
        };
        """,
        "Buffer::Buffer",
    )
    assert lines(text) == lines(
        """
        0:
          Base(count) on this [constructor]
          n = 4
          q = nullptr
          p = nullptr
          cudaMalloc(&q, n) nothrow T=4
          return (end)
        """
    )


def test_implicit_default_constructor_is_written_out() -> None:
    program = lower("struct Cfg { float* p = nullptr; int n; }; void f() { Cfg c; }")
    (call,) = calls(program, "f")
    made = next(found for found in program.functions if found.key == call.key)
    assert "p = nullptr" in dump_function(made)


def test_records() -> None:
    program = lower(
        """
        struct Base { virtual ~Base() = default; };
        class Owner : public Base {
            float* p;
        public:
            Owner(const Owner&) = delete;
            Owner& operator=(const Owner& other);
            ~Owner() override;
            void reset();
        };
        Owner::~Owner() { cudaFree(p); }
        """
    )
    owner = next(record for record in program.records if record.name == "Owner")
    base = next(record for record in program.records if record.name == "Base")
    assert owner.bases == (base.key,)
    assert (owner.destructor, owner.copy_constructor, owner.copy_assignment) == (
        "defined",
        "deleted",
        "user",
    )
    assert base.destructor == "defaulted"
    assert not owner.is_struct
    assert [field.name for field in owner.fields] == ["p"]
    assert function(program, "Owner::~Owner").key in owner.methods
    assert function(program, "Owner::~Owner").record == owner.key


def test_methods() -> None:
    text = body(
        """
        struct Pool {
            float* p; int n;
            void grow(int more) { release(); this->n = more; other(*this); }
            void release();
            static void other(Pool& pool);
        };
        void f(Pool& pool, Pool* q) { pool.grow(1); q->release(); Pool::other(pool); }
        """
    )
    assert "Pool::grow(1) on pool [method]" in text
    assert "Pool::release() on *q [method]" in text
    assert "Pool::other(pool) [method]" in text


def test_receiver_is_this() -> None:
    program = lower(
        "struct S { int n; void g(); void f() { g(); this->g(); n = 1; (*this).n = 2; } };"
    )
    text = dump_function(function(program, "S::f"))
    assert text.count("S::g() on this") == 2
    assert "n = 1" in text
    assert "n = 2" in text


def test_templates_are_lowered_as_their_instances() -> None:
    program = lower(
        """
        template <class T> class Buffer {
            T* p = nullptr;
        public:
            explicit Buffer(int n) { cudaMalloc(&p, n * sizeof(T)); }
            ~Buffer() { cudaFree(p); }
            void reset(T* q);
            T* get() { return p; }
        };
        template <class T> void Buffer<T>::reset(T* q) { p = q; }
        template <class T> void fill(T* p, int n) { Buffer<T> b(n); b.reset(p); }
        template <class T> struct Unused { void close() {} };
        void f() { Buffer<float> b(4); b.reset(b.get()); fill<double>(nullptr, 2); }
        """
    )
    methods = ["Buffer::Buffer", "Buffer::get", "Buffer::reset", "Buffer::~Buffer"]
    names = sorted(found.name for found in program.functions)
    # The method that nobody calls on the second instance is there too.
    assert names == sorted([*methods, *methods, "Unused::close", "f", "fill"])
    keys = {found.key for found in program.functions}
    assert all(call.key in keys for call in calls(program, "f"))
    assert all(call.key in keys for call in calls(program, "fill"))
    floats, doubles = (found for found in program.records if found.name == "Buffer")
    assert {call.record for call in calls(program, "f") if call.kind == "method"} == {floats.key}
    assert {call.record for call in calls(program, "fill")} == {doubles.key}
    assert [found.fields[0].type.text for found in (floats, doubles)] == ["float *", "double *"]
    assert set(floats.methods) | set(doubles.methods) <= keys


def test_template_arguments_are_known() -> None:
    program = lower(
        """
        template <class H> struct traits;
        template <> struct traits<cudaEvent_t> {
            static void destroy(cudaEvent_t e) { cudaEventDestroy(e); }
        };
        template <class H, cudaError_t (*Destroy)(H)> void direct(H h) { Destroy(h); }
        template <class H> void by_traits(H h) { traits<H>::destroy(h); }
        template <class... T> void all(T*... p) { (cudaFree(p), ...); }
        template <int N> void sized(void** p) { cudaMalloc(p, N * 4); }
        void f(cudaStream_t s, cudaEvent_t e, float* a, int* b) {
            direct<cudaStream_t, cudaStreamDestroy>(s);
            by_traits(e);
            all(a, b);
            sized<1024>((void**)&a);
        }
        """
    )
    assert [call.name for call in calls(program, "direct")] == ["cudaStreamDestroy"]
    (destroy,) = calls(program, "by_traits")
    assert destroy.key == function(program, "traits::destroy").key
    assert [render(call.arguments[0].value) for call in calls(program, "all")] == ["p", "p"]
    assert len({call.arguments[0].value for call in calls(program, "all")}) == 2
    assert render(calls(program, "sized")[0].arguments[1].value) == "1024 * 4"


def test_lambdas() -> None:
    program = lower(
        """
        void f(float* p, int n) {
            auto release = [&](int more) { cudaFree(p); return n + more; };
            release(3);
        }
        """
    )
    lowered = next(found for found in program.functions if found.kind == "lambda")
    assert lowered.parent == function(program, "f").key
    assert lowered.variables["p"].storage == "captured"
    (call,) = calls(program, "f")
    assert call.kind == "indirect"
    assert call.key == lowered.key


def test_function_pointers() -> None:
    text = body("void f(void* p) { cudaError_t (*release)(void*) = cudaFree; release(p); }")
    assert "declare release = cudaFree" in text
    assert "release(p) through release [indirect]" in text


def test_smart_pointers_and_containers() -> None:
    text = body(
        """
        #include <memory>
        #include <vector>
        struct S { float* p; };
        void f(std::unique_ptr<S> u, std::vector<float*>& v) {
            u->p = nullptr;
            (*u).p = v[2];
            v[3] = nullptr;
            if (u) u.reset();
        }
        """
    )
    assert "u->p = nullptr" in text
    assert "u->p = v[2]" in text
    assert "if u ->" in text
    assert "std::unique_ptr::reset() on u [method]" in text


def test_globals() -> None:
    program = lower(
        """
        float* buffer;
        namespace app { const int width = 4; static int count; }
        void f() { buffer = nullptr; app::count = app::width; }
        """
    )
    assert set(program.variables) == {"::buffer", "::app::width", "::app::count"}
    assert "count = width" in dump_function(function(program, "f"))


def test_structured_bindings() -> None:
    text = body(
        """
        #include <map>
        struct Pair { float* a; int b; };
        void f(Pair p, std::map<int, float*>& m) {
            auto& [a, b] = p;
            cudaFree(a);
            for (auto& [key, value] : m) cudaFree(value);
        }
        """
    )
    assert "cudaFree(p.a)" in text
    assert "cudaFree(m[...].second)" in text


# Kernels and launches.


def test_kernels() -> None:
    program = lower(
        """
        #define TILE 32
        extern __shared__ float all[];
        __device__ float helper(int i) { __shared__ double part[4]; part[0] = 1; return all[i]; }
        __global__ void __launch_bounds__(128) k(float* p) {
            __shared__ float tile[TILE][TILE + 1];
            if (p) { __shared__ int flag; flag = 1; }
            p[0] = tile[0][0] + helper(1);
        }
        template <class T> __global__ void t(T* p) { __shared__ T s[8]; p[0] = s[0]; }
        """
    )
    assert not program.functions
    kernel, template = program.kernels
    sizes = {array.name: array.bytes for array in kernel.shared}
    assert sizes == {"tile": 32 * 33 * 4, "flag": 4, "part": 32}
    assert kernel.dynamic_shared == "all"
    assert kernel.max_threads == 128
    assert (kernel.span.row, kernel.span.column) == (8, 40)
    assert template.is_template
    assert [array.bytes for array in template.shared] == [None]


def test_shared_memory_of_a_template_is_its_largest_instantiation() -> None:
    program = lower(
        """
        template <class T, int N> __global__ void t(T* p) { __shared__ T s[N]; p[0] = s[0]; }
        void f(float* a, double* b) { t<float, 8><<<1, 1>>>(a); t<double, 64><<<1, 1>>>(b); }
        """
    )
    (kernel,) = program.kernels
    assert [array.bytes for array in kernel.shared] == [512]


def test_shared_memory_that_assembler_reserves_is_not_missing() -> None:
    program = lower(
        "__global__ void k(float* v) {\n"
        '  asm(".shared .align 16 .b32 reserved[64];" ::);\n'
        "  extern __shared__ float staged[];\n"
        "  staged[threadIdx.x] = v[threadIdx.x];\n"
        "  v[threadIdx.x] = staged[0];\n"
        "}\n"
    )
    assert [kernel.dynamic_shared for kernel in program.kernels] == [None]


def test_unused_dynamic_shared_memory_is_not_read() -> None:
    program = lower(
        """
        __global__ void k(int* p) { extern __shared__ int unused[]; p[0] = 1; }
        __global__ void l(int* p) { extern __shared__ int used[]; p[0] = used[1]; }
        """
    )
    assert [kernel.dynamic_shared for kernel in program.kernels] == [None, "used"]


def stored_by(body: str, more: str = "") -> tuple[int, ...]:
    """What a kernel stores of ``Node *nodes``, ``float *rows`` and ``float **slot``."""
    head = "struct Node { float *rows; };\n" + more
    kernel = f"__global__ void k(Node *nodes, float *rows, float **slot) {{ {body} }}"
    return lower(head + kernel).kernels[0].stores


@pytest.mark.parametrize(
    "body",
    [
        "nodes[0].rows = rows;",
        "nodes->rows = (float *)rows;",
        "(*nodes).rows = reinterpret_cast<float *>(rows);",
        "*slot = rows + 1;",
        "if (nodes) slot[1] = rows;",
        "for (int i = 0; i < 4; ++i) slot[i] = rows;",
        "Node *node = nodes + 1; node->rows = rows;",
        "last = rows;",
        "if (!rows) return; else *slot = rows;",
    ],
)
def test_pointers_that_kernels_store(body: str) -> None:
    assert stored_by(body, "__device__ float *last;\n") == (1,)


@pytest.mark.parametrize(
    "body",
    [
        "float *place = rows;",
        "float *place; place = rows;",
        "Node node; node.rows = rows;",
        "float *both[2]; both[0] = rows;",
        "rows[0] = rows[1];",
        "*rows = 1;",
        "bool same = slot[0] == rows;",
        'asm("// slot[0] = rows;"); // slot[0] = rows;',
    ],
)
def test_pointers_that_kernels_use(body: str) -> None:
    assert stored_by(body) == ()


def test_pointers_that_the_functions_of_a_kernel_store() -> None:
    first = "__device__ void f0(float **slot, float *rows) { *slot = rows; }\n"
    names = range(1, 80)
    chain = "".join(
        f"__device__ void f{n}(float **slot, float *rows) {{ f{n - 1}(slot, rows); }}\n"
        for n in names
    )
    assert stored_by("f2(slot, rows);", first + chain) == (1,)
    assert stored_by("f2(slot, rows + 1);", first + chain) == ()
    assert stored_by("g(rows);", "__device__ void g(float *rows) { if (*rows) g(rows); }\n") == ()
    # Too deep to be followed: it may store all that it is given.
    assert stored_by("f79(slot, rows);", first + chain) == (1, 2)


def test_launches() -> None:
    program = lower(
        """
        __global__ void k(float* p, int n) {}
        template <class T> __global__ void t(T* p) {}
        void f(float* p, int n, cudaStream_t s) {
            dim3 block(16, 16);
            k<<<n / 256, 256>>>(p, n);
            k<<<dim3(2, 3), block, 1024, s>>>(p, n);
            t<float><<<1, 32, n * sizeof(float)>>>(p);
        }
        """
    )
    assert "declare block = (16, 16, 1)" in dump_function(function(program, "f"))
    first, second, third = operations(program, "f", Launch)
    keys = {kernel.name: kernel.key for kernel in program.kernels}
    assert (first.kernel_key, second.kernel_key, third.kernel_key) == (
        keys["k"],
        keys["k"],
        keys["t"],
    )
    assert first.shared is None
    assert first.stream is None
    text = dump_function(function(program, "f"))
    assert "launch k<<<(n / 256, 1, 1), (256, 1, 1), -, ->>>(p, n)" in text
    assert "launch k<<<(2, 3, 1), block, 1024, s>>>(p, n)" in text
    assert "launch t<<<(1, 1, 1), (32, 1, 1), n * sizeof(float), ->>>(p)" in text


def test_launches_that_clang_could_not_read() -> None:
    program = lower(
        """
        #include "missing.h"
        namespace device { __global__ void k(View<float, 2> out, int n); }
        void f(Tensor t, int n, cudaStream_t s) {
            device::k<<<blocks(n), 32, 0, s>>>(
                // What it fills:
                t.view<float, 2, other::Traits>(), /* how much */ n);
            if (n) device::k<<<lost(n), 32, 0, s>>>(t.template view<float, 2>(), n); // done
        }
        """
    )
    launches = operations(program, "f", Launch)
    assert [render(one.stream) for one in launches if one.stream is not None] == ["s", "s"]


def test_steps_of_pointers_to_unknown_types() -> None:
    program = lower(
        """
        #include "missing.h"
        void f(int n) {
            item_t *first, *last;
            cudaMalloc(&first, n * sizeof(item_t));
            first++;
            ++last;
            cudaFree(first - 1);
        }
        """
    )
    text = dump_function(function(program, "f"))
    assert "first = first + 1" in text
    assert "last = last + 1" in text
    assert "cudaFree(first - 1)" in text


def test_initializers_that_an_instance_lost() -> None:
    """clang writes a zero in their place."""
    program = lower(
        """
        #include "missing.h"
        using Point = lib::vec<3, float>;
        __global__ void k(float* p) {}
        template <int N> void f(float* p) {
            const long bytes = N * sizeof(Point);
            const long none = 0, nil{};
            k<<<1, N, bytes>>>(p);
            k<<<1, N, none>>>(p);
            k<<<1, N, nil>>>(p);
        }
        void g(float* p) { f<64>(p); }
        """
    )
    instances = [one for one in program.functions if one.name == "f"]
    shared = [
        [one.shared for block in each.blocks for one in block.operations if isinstance(one, Launch)]
        for each in instances
    ]
    assert shared
    for first, *others in shared:
        assert not isinstance(first, Constant)
        assert [isinstance(one, Constant) and one.value == 0 for one in others] == [True, True]


def test_launch_in_a_template() -> None:
    program = lower(
        """
        template <class T> __global__ void t(T* p) {}
        template <class T> void f(T* p, int n) { t<T><<<n, 32>>>(p); }
        """
    )
    (launch,) = operations(program, "f", Launch)
    assert launch.kernel_key == program.kernels[0].key


# What cannot be resolved.


def test_unknown_check_macro_keeps_the_call() -> None:
    program = lower('#include "missing.h"\nvoid f(float* d) { CHECK(cudaMalloc(&d, 4)); }')
    inner, outer = calls(program, "f")
    assert (inner.name, outer.name, outer.kind) == ("cudaMalloc", "CHECK", "macro")
    assert outer.arguments[0].value == inner.target
    (dropped,) = program.dropped
    assert dropped.reason == "missing header"
    assert dropped.span.row == 4


def test_unknown_names_keep_what_stands_around_them() -> None:
    program = lower(
        """
        #include "missing.h"
        void f(float* d, int n) {
            lib_t handle;
            lib_create(&handle);
            CHECK(cudaMalloc(&d, COUNT * sizeof(float)));
            unknown = d;
            if (lib_run(handle) != LIB_OK) { cudaFree(d); return; }
            unknown_kernel<<<n, 32>>>(d);
            Other other(d);
            cudaFree(d);
        }
        """
    )
    text = dump_function(function(program, "f"))
    assert "lib_create(&handle) [macro]" in text
    assert "cudaMalloc(&d, COUNT * sizeof(float))" in text
    assert "unknown = d" in text
    assert "!= LIB_OK" in text
    assert "launch unknown_kernel<<<(n, 1, 1), (32, 1, 1), -, ->>>(d) [unknown kernel]" in text
    assert text.rstrip().count("cudaFree(d)") == 2
    assert "Other(d) on other [constructor]" in text


def test_statements_with_unknown_names_keep_the_flow() -> None:
    text = body(
        """
        int f(float* d, int n) {
            if (n == 1) return FAILURE;
            for (int i = 0; i < n; i++) unknown_kernel<<<1, 2>>>(d);
            if (n == 2) { cudaFree(d); return FAILURE; } else count = new Thing[n];
            unknown(n)(d) = [&] { return d; };
            throw Unknown(d);
        }
        """
    )
    assert lines(text) == lines(
        """
        0:
          if n == 1 -> 1 else 2
        1:
          return FAILURE
        2:
          declare i = 0
          -> 3
        3: loop
          if i < n -> 4 else 5
        4:
          launch unknown_kernel<<<(1, 1, 1), (2, 1, 1), -, ->>>(d) [unknown kernel]
          update i = i + 1
          -> 3
        5:
          if n == 2 -> 6 else 7
        6:
          cudaFree(d) nothrow
          return FAILURE
        7:
          %1 = operator new[](n) [operator] T=1
          Thing() on *%1 [constructor]
          count = %1
          %2 = unknown(n) [macro]
          %3 = %2(d) through %2 [indirect]
          %3 = <lambda>
          %4 = Unknown(d) [macro]
          throw %4
        """
    )


def test_a_macro_that_stands_for_a_whole_configuration() -> None:
    program = lower(
        """
        #include "missing.h"
        template <int mode> __global__ void turn(float* v, stage_t s);
        void f(fr_t* v, int n, stage_t s, stream_t& stream) {
            #define CONFIGURATION 1, n, n * sizeof(fr_t), stream
            if (s.on == 0) turn<0><<<CONFIGURATION>>>(v, s);
        }
        """
    )
    text = dump_function(function(program, "f"))
    assert "launch turn<<<(grid, 1, 1), (block, 1, 1), shared, stream>>>(v, s)" in text


def test_unknown_operands_are_no_calls() -> None:
    text = body(
        """
        void g(float);
        void f(float* d, float (*h)(int)) { g(d[COUNT]); d = COUNT + h; g(h(COUNT)); }
        """
    )
    assert "g(d[COUNT])" in text
    assert "d = COUNT + h" in text
    assert "h(COUNT) through h [indirect]" in text


def test_members_of_unknown_type_are_members(tmp_path: Path) -> None:
    (tmp_path / "engine.h").write_text(
        '#include "missing.h"\n'
        "struct Base { lib_t held; }; struct Engine : Base { ~Engine(); lib_t handle; };\n"
    )
    source = '#include "engine.h"\nEngine::~Engine() { cudaFree(handle); cudaFree(held); }'
    program = lower(source, filename=str(tmp_path / "engine.cu"))
    released = [call.arguments[0].value for call in calls(program, "Engine::~Engine")]
    assert released == [Member(THIS, "handle"), Member(THIS, "held")]


def test_unknown_case_label() -> None:
    program = lower(
        """
        #include "missing.h"
        void g(int); void f(int n) { switch (n) { case 1: g(1); break; case LIB_X: g(2); break; } }
        """
    )
    text = dump_function(function(program, "f"))
    assert "if n == LIB_X" in text
    assert "g(2)" in text


def test_broken_code_never_raises() -> None:
    program = read(
        "broken.cu", "void f( { float* p = ; cudaMalloc(&p }\n} struct {{{", ParseOptions()
    )
    assert program.dropped


@pytest.mark.parametrize(
    "source",
    [
        "void f(int n) { " + "if (n) { n++; } else " * 400 + "n--; }",
        "int f(int n) { return " + "n + " * 1500 + "1; }",
        "void f() { " + "{" * 200 + "}" * 200 + " }",
    ],
)
def test_deep_code(source: str) -> None:
    program = read("deep.cu", source, OPTIONS)
    assert [found.name for found in program.functions] == ["f"] or program.dropped


def test_columns_count_characters() -> None:
    program = lower('void f(float* p) { const char* s = "äöü"; cudaFree(p); }')
    (call,) = calls(program, "f")
    line = 'void f(float* p) { const char* s = "äöü"; cudaFree(p); }'
    assert call.span.column == line.index("cudaFree") + 1
    assert call.span.end_column == line.index("; }") + 1


# Headers of the project.


def test_headers_are_lowered_on_demand(tmp_path: Path) -> None:
    (tmp_path / "buffer.h").write_text(
        textwrap.dedent(
            """
            #pragma once
            inline void* grab(int n) { void* p; cudaMalloc(&p, n); return p; }
            inline void unused() {}
            class Buffer {
                float* p;
            public:
                Buffer() { p = (float*)grab(4); }
                ~Buffer() { cudaFree(p); }
            };
            """
        )
    )
    main = tmp_path / "main.cu"
    source = PRELUDE + '#include "buffer.h"\nint main() { Buffer b; }\n'
    main.write_text(source)
    program = read(str(main), source, replace(OPTIONS, include_folders=(str(tmp_path),)))
    names = {found.name: Path(found.filename).name for found in program.functions}
    assert names == {
        "main": "main.cu",
        "Buffer::Buffer": "buffer.h",
        "Buffer::~Buffer": "buffer.h",
        "grab": "buffer.h",
    }
    assert [Path(name).name for name in program.includes] == ["buffer.h"]
    assert function(program, "main").is_main


def test_an_array_is_made_in_place_in_an_instance_too() -> None:
    source = """
        #include <new>
        template <class T> T* made(T* block, int count) { return new (block) T[count]; }
        template <class T> T* one(T* block) { return new (block) T; }
        template <class T> T* own(int count) { return new T[count]; }
        void use(float* block) { made(block, 4); one(block); delete[] own<float>(4); }
    """
    program = lower(source)
    called = {name: [call.name for call in calls(program, name)] for name in ("made", "one", "own")}
    assert called == {"made": [], "one": [], "own": ["operator new[]"]}


ONLY_COMPUTES = """
#pragma once
struct Keeper { float* kept; void release() { cudaFree(kept); } };
template <class T> struct Pair { T left, right; };
struct Vector : Pair<float> {
    bool set = false;
    Vector(float x) { left = right = x; }
    Vector plus(const Vector& other) const { return Vector(left + other.left); }
    operator float() const { return left; }
    float& at(int number) { return number ? left : right; }
    void fill() { float* p; cudaMalloc(&p, 4); }
    void store(float* to) const { to[0] = left; }
    Keeper keeper() const { return Keeper(); }
};
struct Plan { int handle; void destroy() { end(handle); } static void end(int); };
struct Address { unsigned long long device; void destroy() { end(device); }
                 static void end(unsigned long long); };
struct Sized { unsigned long count; unsigned long twice() { return 2 * count; } };
struct Storage { char bytes[8]; void clear() { ((Keeper*)bytes)->release(); } };
struct Ratio { double value; unsigned long of(unsigned long all) { return value * all; } };
struct Deleter { void operator()(void* p) const { cudaFree(p); } };
struct Shape { virtual float area() { return 0; } };
struct Square : Shape { float side; float area() override { return side * side; } };
struct Shared { float x; static float* all; void drop() { release(); } static void release(); };
struct Guard { Keeper& keeper; void now() { keeper.release(); } };
"""


def test_methods_of_headers_that_only_compute_are_lowered_where_they_are_called(
    tmp_path: Path,
) -> None:
    (tmp_path / "vector.h").write_text(ONLY_COMPUTES)

    def lowered(body: str) -> set[str]:
        source = f"""{PRELUDE}
            #include "vector.h"
            struct Here {{ float x; float twice() {{ return 2 * x; }} }};
            void use(Vector*, Plan*, Address*, Sized*, Deleter*, Square*, Shared*, Guard*, Here*,
                     Storage*, Ratio*);
            void f(Vector& vector) {{ {body} }}
        """
        main = tmp_path / "main.cu"
        main.write_text(source)
        program = read(str(main), source, replace(OPTIONS, include_folders=(str(tmp_path),)))
        return {found.name for found in program.functions}

    needed = {
        "f", "Here::twice", "Vector::Vector", "Vector::fill", "Vector::store", "Vector::keeper",
        "Keeper::release", "Plan::destroy", "Address::destroy", "Sized::twice", "Storage::clear",
        "Deleter::operator()", "Shape::area", "Square::area", "Shared::drop", "Guard::now",
    }  # fmt: skip
    assert lowered("use(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);") == needed
    assert lowered("vector.plus(vector).at(1);") - needed == {"Vector::plus", "Vector::at"}


# Every program.


def well_formed(program: Program) -> None:
    for found in program.functions:
        assert [block.number for block in found.blocks] == list(range(len(found.blocks)))
        for block in found.blocks:
            end = block.terminator
            ways = (
                (end.target,)
                if isinstance(end, Jump)
                else (end.then, end.otherwise)
                if isinstance(end, Branch)
                else ()
            )
            for way in (*ways, *(() if block.unwind is None else (block.unwind,))):
                assert 0 <= way < len(found.blocks)


FIXTURES = sorted(
    path
    for path in (Path(__file__).parent.parent / "fixtures").glob("*/*.cu")
    if "expect: GPU002" not in path.read_text()  # a header of theirs is missing
)


@pytest.mark.parametrize("path", FIXTURES[::10], ids=lambda path: path.stem)
def test_fixtures_are_read_whole(path: Path) -> None:
    program = read(
        str(path), path.read_text(), replace(OPTIONS, include_folders=(str(path.parent),))
    )
    assert not program.dropped
    well_formed(program)


def test_the_text_of_a_template_is_lowered_for_its_instance() -> None:
    program = lower(
        """
        template <class T> struct Box {
            T* p = nullptr;
            ~Box() { clear(); }
            void clear() { cudaFree(p); }
            void take(Box& other) { clear(); p = other.p; }
        };
        void f() { Box<float> box; }
        """
    )
    (record,) = program.records
    assert ">#f" in record.key
    # Nobody calls it: clang has no body for the instance's own.
    assert [call.key for call in calls(program, "Box::take")] == [
        function(program, "Box::clear").key
    ]
    parameter = function(program, "Box::take").parameters[0].type.pointee
    assert parameter is not None
    assert parameter.record == record.key


def test_templates_are_made_after_many_errors_of_a_header() -> None:
    many = "".join(f"Missing{number} of_{number}();\n" for number in range(1500))
    source = "void f(std::map<int, int*>& m) { for (auto&& [key, kept] : m) cudaFree(kept); }"
    assert "cudaFree(" in body(source, prelude=f"{PRELUDE}#include <map>\n{many}")


def test_an_argument_beyond_the_reader_keeps_the_places_of_the_others() -> None:
    text = """
template <typename T> __global__ void once(T body) { body(); }
template <typename T> void run(T body) {
    LAUNCH(once<traits::decay<T, int>>, "a,b", [](int a) { return a; }, cudaMalloc(&body, 4));
}
"""
    allocated, launched = calls(read("a.cu", text, ParseOptions()), "run")
    assert (allocated.name, launched.name) == ("cudaMalloc", "LAUNCH")
    assert len(launched.arguments) == 4
    assert launched.arguments[1].value == Constant("a,b")


def test_braces_around_the_one_value_of_a_member_whose_type_a_pattern_leaves_open() -> None:
    source = """
        template <typename T>
        class Buffer {
        public:
            Buffer() {}
            Buffer(T* pointer, int count) : pointer_{pointer}, count_{count} {}
            void fill() { T* local{pointer_}; last_ = local; }
        private:
            T* pointer_{};
            T* last_{nullptr};
            int count_{};
        };
        Buffer<float>* seen;
        int f() { return sizeof(Buffer<float>); }
    """
    makers = [one for one in lower(source).functions if one.kind == "constructor"]
    given = {dump_function(one).partition("\n")[2] for one in makers if len(one.parameters) == 2}
    assert [line.strip() for one in given for line in one.splitlines() if "pointer_ =" in line] == [
        "pointer_ = pointer"
    ]
    assert all("()" not in dump_function(one).partition("\n")[2] for one in makers)
