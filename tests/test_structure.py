"""The checks of the source tree, on small made-up trees."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tools.structure import python_imports, rust_imports
from tools.structure.__main__ import problems
from tools.structure.circles import Import, circles, described
from tools.structure.floors import MAY_IMPORT, arrows_up

ROOT = Path(__file__).parent.parent


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def crate(root: Path, files: Mapping[str, str]) -> set[tuple[str, str]]:
    """Write a crate and return who imports whom in it."""
    tree(root / "crates" / "one", {"Cargo.toml": '[package]\nname = "clearway-one"\n', **files})
    found = rust_imports.imports_of(root, [root / "crates" / "one"])
    source = "crates/one/src/"
    return {(each.importer.removeprefix(source), each.imported.removeprefix(source)) for each in found}


def package(root: Path, files: Mapping[str, str]) -> set[tuple[str, str]]:
    """Write a Python package and return who imports whom in it."""
    tree(root / "pack", {"__init__.py": "", **files})
    found = python_imports.imports_of(root, root / "pack")
    return {(each.importer.removeprefix("pack/"), each.imported.removeprefix("pack/")) for each in found}


# CIRCLES


def graph(*edges: str) -> list[Import]:
    return [Import(edge[0], edge[1], 1, edge) for edge in edges]


def test_no_circle() -> None:
    assert circles(graph("ab", "bc", "ac", "dc")) == []


def test_a_file_that_names_itself_is_no_circle() -> None:
    assert circles(graph("aa", "ab")) == []


def test_a_circle_is_a_chain_in_the_order_of_its_imports() -> None:
    assert circles(graph("bc", "ca", "ab", "xa", "cy")) == [["a", "b", "c"]]


def test_the_shortest_comes_first_and_then_what_is_left() -> None:
    # The circles are ab, and abcd, which shares an import with it; efg is apart.
    assert circles(graph("ab", "bc", "cd", "da", "ba", "ef", "fg", "ge")) == [["a", "b"], ["e", "f", "g"]]
    assert circles(graph("bc", "cd", "da", "ba", "ab", "ac")) == [["a", "b"], ["a", "c", "d"]]


def test_a_circle_is_described_with_its_lines() -> None:
    imports = [
        Import("a.rs", "b.rs", 3, "crate::b::B"),
        Import("b.rs", "a.rs", 9, "super::a::A"),
        Import("b.rs", "a.rs", 2, "super::a::f"),
        Import("b.rs", "c.rs", 1, "super::c::C"),
    ]
    assert described(["a.rs", "b.rs"], imports).splitlines() == [
        "circle of 2 files:",
        "  a.rs imports b.rs",
        "    a.rs:3: crate::b::B",
        "  b.rs imports a.rs",
        "    b.rs:2: super::a::f",
        "    b.rs:9: super::a::A",
    ]


# RUST


def test_a_circle_of_three_files_through_a_re_export(workspace: Path) -> None:
    found = crate(
        workspace,
        {
            "src/lib.rs": "mod a;\nmod b;\nmod c;\n",
            "src/a.rs": "use crate::b::Thing;\npub struct A(Thing);\n",
            "src/b/mod.rs": "mod inner;\npub use inner::Thing;\n",
            "src/b/inner.rs": "pub struct Thing;\nfn f() { crate::c::g() }\n",
            "src/c.rs": "use super::a;\npub fn g(_: a::A) {}\n",
        },
    )
    assert found == {
        ("a.rs", "b/inner.rs"),
        ("b/mod.rs", "b/inner.rs"),
        ("b/inner.rs", "c.rs"),
        ("c.rs", "a.rs"),
    }
    (problem,) = problems(workspace)
    assert problem.splitlines() == [
        "circle of 3 files:",
        "  crates/one/src/a.rs imports crates/one/src/b/inner.rs",
        "    crates/one/src/a.rs:1: crate::b::Thing",
        "  crates/one/src/b/inner.rs imports crates/one/src/c.rs",
        "    crates/one/src/b/inner.rs:2: crate::c::g",
        "  crates/one/src/c.rs imports crates/one/src/a.rs",
        "    crates/one/src/c.rs:2: a::A",
    ]


def test_a_child_that_names_what_its_parent_declares(workspace: Path) -> None:
    files = {"src/lib.rs": "mod a;", "src/a/mod.rs": "mod b; pub use b::B; pub struct A;", "src/a/b.rs": ""}
    assert crate(workspace, files) == {("a/mod.rs", "a/b.rs")}
    both = {("a/mod.rs", "a/b.rs"), ("a/b.rs", "a/mod.rs")}
    for line in ("use super::A;", "fn f(_: super::A) {}", "use super::*;", "use crate::a::{A};"):
        assert crate(workspace, {**files, "src/a/b.rs": f"pub struct B; {line}"}) == both, line


@pytest.mark.parametrize(
    "text",
    [
        "// use crate::b::B;\n",
        "/// See [`crate::b::B`].\nstruct S;\n",
        "/* use crate::b::B; /* crate::b::B */ use crate::b::B; */",
        'const S: &str = "use crate::b::B; \\" crate::b::B";',
        'const S: &[u8] = b"\\\\"; const T: &str = r#"crate::b::B " crate::b::B"#;',
        "const C: [char; 3] = ['\"', '\\'', '\\u{22}']; // crate::b::B \"",
        "mod empty { pub struct B; } use empty::B; fn f() { self::empty::B; }",
        "use crate::b;",
        "use crate::b::{self as c};",
        "use crate::b as m; fn f() { use std::fmt as m; m::Debug; }",
        "#[doc = crate::b::B] struct S;",
        "fn crate_(b: u8) -> u8 { let B = b; B }",
    ],
)
def test_what_is_no_import_of_rust(text: str, workspace: Path) -> None:
    files = {"src/lib.rs": "mod a; mod b;", "src/b.rs": "pub struct B;", "src/a.rs": text}
    assert crate(workspace, files) == set()
    # The same file is read to its end.
    assert crate(workspace, {**files, "src/a.rs": f"{text}\nuse crate::b::B as Last;"}) == {("a.rs", "b.rs")}


@pytest.mark.parametrize(
    "text",
    [
        "use crate::b::B;",
        "use crate::{a, b::{self, B as C}};",
        "use super::b::{inner::Deep, *};",
        "pub(crate) use crate::b::f as g;",
        "use crate::b; fn f(_: b::B) {}",
        "use crate::b as c; fn f() { c::f(); }",
        "use crate::*; fn f() -> Option<b::B> { None }",
        "fn f() { use crate::b; { let x = [(b::f(), 1)]; } }",
        "fn f<'a>(x: &'a str) -> crate::b::B<'a> { 'outer: loop { break 'outer } }",
        "impl super::b::Trait for u8 {}",
        "impl<T: From<crate::b::B>> Trait for T {}",
        "fn f() { <u8 as crate::b::Trait>::f(); }",
        'fn f() { println!("{}", crate::b::f()); }',
        "macro_rules! m { () => { $crate::b::f() } }",
        "macro_rules! m { () => { use $crate::b::{f}; } }",
        "macro_rules! m { ($($x:ident)*) => { use $($x::)* X; use crate::b::*; } }",
        "struct S; impl S { fn b() {} } use crate::*; fn f(_: b::B) {}",
        "m! { use crate::{a, b::{B}}; }",
        "mod inner { use super::super::b::B; }",
        "mod inner { fn f() { crate::b::E::Variant; } }",
        "use crate::b::E::{self, Variant};",
        "use crate::b::E::*;",
        "use crate::b::{self}; fn f() { b::f(); }",
        "use clearway_one::b::B;",
        "use pyo3::prelude::*; fn f() { clearway_one::b::f(); }",
        "fn f(x: crate::b::made_by_a_macro) {}",
        "#[cfg(not(test))] use crate::b::B;",
        "#[cfg(any(test, unix))] use crate::b::B;",
        "#[cfg(test)] mod tests { } use crate::b::B;",
        "#[cfg(test)] use crate::c::{C}; use crate::b::B;",
        "#[cfg(test)] const fn f() -> [u8; 1] { [0] } use crate::b::B;",
        "struct S { #[cfg(test)] x: u8, y: crate::b::B }",
    ],
)
def test_what_is_an_import_of_rust(text: str, workspace: Path) -> None:
    files = {
        "src/lib.rs": "mod a; pub mod b; mod c;",
        "src/a.rs": text,
        "src/b.rs": "pub struct B; pub enum E { Variant } pub trait Trait {} pub fn f() {} pub mod inner;",
        "src/b/inner.rs": "pub struct Deep;",
        "src/c.rs": "pub struct C;",
    }
    assert ("a.rs", "b.rs") in crate(workspace, files)
    assert ("a.rs", "c.rs") not in crate(workspace, files)


@pytest.mark.parametrize(
    "text",
    [
        "#[cfg(test)] mod tests { use super::*; use crate::b::B; }",
        "#[cfg(test)]\n#[allow(unused)]\nuse crate::b::{B};",
        "#[cfg(all(test, unix))] pub(crate) fn f<A, B>(x: crate::b::B) -> u8 { crate::b::f() }",
        "#[cfg(test)] const X: crate::b::B = crate::b::B { x: 1 };",
        "#[cfg(test)] pub const X: u8 = if true { 1 } else { crate::b::f() };",
        "#[cfg(test)] impl<A, B> crate::b::Trait for S<A, B> { fn f(_: crate::b::B) {} }",
        "struct S { #[cfg(test)] x: crate::b::B, y: u8 }",
        "fn f(x: u8) { match x { #[cfg(test)] 1 => crate::b::f(), _ => () } }",
        "fn f() -> S { S { #[cfg(test)] x: crate::b::f(), y: 1 } }",
        "#![cfg(test)] use crate::b::B;",
        "#[cfg(test)] mod tests;",
    ],
)
def test_tests_may_import_what_they_like(text: str, workspace: Path) -> None:
    files = {"src/lib.rs": "mod a; mod b;", "src/b.rs": "pub struct B;", "src/a.rs": text}
    assert crate(workspace, {**files, "src/a/tests.rs": "use crate::b::B;"}) == set()


def test_re_exports_are_followed_to_the_end(workspace: Path) -> None:
    found = crate(
        workspace,
        {
            "src/lib.rs": "mod a; mod b; pub use b::*;",
            "src/a.rs": "use crate::Renamed; use crate::b::c::Direct;",
            "src/b/mod.rs": "pub mod c; pub use c::{deep::Thing as Renamed, *}; mod x; use x::*;"
            "fn f(_: &'static Renamed) {}",
            "src/b/c.rs": "pub mod deep; pub use std::fmt::Result as Direct;",
            "src/b/c/deep.rs": "pub struct Thing;",
            "src/b/x.rs": "pub use super::*;",
        },
    )
    assert {pair for pair in found if pair[0] == "a.rs"} == {("a.rs", "b/c/deep.rs")}


def test_what_another_crate_declares_is_no_file_s(workspace: Path) -> None:
    files = {
        "src/lib.rs": "mod a; mod b;",
        "src/a.rs": "use crate::b::Foreign;",
        "src/b.rs": "pub use other_crate::*;",
    }
    assert crate(workspace, files) == set()


def test_a_module_and_a_function_of_one_name(workspace: Path) -> None:
    files = {
        "src/lib.rs": "mod a; mod start; pub mod run; pub use start::run;",
        "src/start.rs": "pub fn run() {}",
        "src/run.rs": "pub fn other() {}",
        "src/a.rs": "fn f() { crate::run::other(); }",
    }
    assert crate(workspace, files) == {("lib.rs", "start.rs"), ("a.rs", "run.rs")}
    own = {**files, "src/lib.rs": "mod a; pub mod run; pub use run::run;"}
    assert crate(workspace, own) == {("lib.rs", "run.rs"), ("a.rs", "run.rs")}
    called = {**files, "src/a.rs": "use crate::run; fn f() { run(); }"}
    assert crate(workspace, called) == {("lib.rs", "start.rs"), ("a.rs", "start.rs")}
    gone_through = {**files, "src/a.rs": "use crate::run; fn f(run: u8) { run::other(); }"}
    assert crate(workspace, gone_through) == {("lib.rs", "start.rs"), ("a.rs", "run.rs")}


def test_crates_and_programs_are_told_apart(workspace: Path) -> None:
    found = crate(
        workspace,
        {
            "src/lib.rs": "pub mod a;",
            "src/a.rs": "use other_crate::a::A; use crate::A as B;",
            "src/bin/program.rs": "mod part; fn main() { clearway_one::a::f(); part::f(); }",
            "src/bin/part.rs": "pub fn f() {} fn g() { crate::main(); }",
        },
    )
    assert found == {
        ("a.rs", "lib.rs"),
        ("bin/program.rs", "a.rs"),
        ("bin/program.rs", "bin/part.rs"),
        ("bin/part.rs", "bin/program.rs"),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mod gone;", "no file of the module gone"),
        ("\nfn f() { (] }", ":2: .* cannot read"),
        ("fn f() { g(1; }", ":1: .* cannot read"),
        ("/* /* */", ":1: .* cannot read"),
    ],
)
def test_a_file_that_is_no_rust_is_named(text: str, words: str, workspace: Path) -> None:
    with pytest.raises(ValueError, match=rf"src/lib.rs.*{words}"):
        crate(workspace, {"src/lib.rs": text})


# PYTHON


@pytest.mark.parametrize(
    "text",
    [
        "from pack.b import B",
        "from pack import b",
        "import pack.b",
        "import pack.b as c",
        "from .b import B",
        "from . import b",
        "from pack.b import *",
        "def f():\n    from pack.b import B",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.b import B",
        "try:\n    import numpy\nexcept ImportError:\n    from pack import b",
    ],
)
def test_what_is_an_import_of_python(text: str, workspace: Path) -> None:
    assert package(workspace, {"a.py": text, "b.py": "B = 1"}) == {("a.py", "b.py")}


@pytest.mark.parametrize("text", ["# from pack.b import B", '"""from pack.b import B"""', "import other.b"])
def test_what_is_no_import_of_python(text: str, workspace: Path) -> None:
    assert package(workspace, {"a.py": text, "b.py": "B = 1"}) == set()


def test_a_name_that_a_package_binds_is_the_package_s(workspace: Path) -> None:
    found = package(
        workspace,
        {
            "sub/__init__.py": "from . import other\nfrom .page import page\nlimit: int = 3",
            "sub/page.py": "def page(): ...",
            "sub/other.py": "from . import page",
            "sub/third.py": "from pack.sub import other, stub",
            "sub/stub.pyi": "",
            "a.py": "from pack.sub import limit",
        },
    )
    assert found == {
        ("sub/__init__.py", "sub/other.py"),
        ("sub/__init__.py", "sub/page.py"),
        ("sub/other.py", "sub/__init__.py"),
        ("sub/third.py", "sub/other.py"),
        ("sub/third.py", "sub/stub.pyi"),
        ("a.py", "sub/__init__.py"),
    }


# THE COMMAND


def check(root: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tools.structure", str(root)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_passes_a_tree_in_order(workspace: Path) -> None:
    answer = check(tree(workspace, {"python/clearway/a.py": "def f():\n" + "    1\n" * 69}))
    assert (answer.returncode, answer.stderr) == (0, "")


def test_the_command_names_a_long_function_and_a_circle(workspace: Path) -> None:
    files = {
        "python/clearway/a.py": "x = 1\n@cache\ndef f():\n" + "    1\n" * 70,
        "python/clearway/b.py": "class C:\n    def g(self):\n        from clearway import c",
        "python/clearway/c.py": "from clearway.b import C",
    }
    answer = check(tree(workspace, files))
    assert answer.returncode == 1
    assert "python/clearway/a.py:3: f has 71 lines, at most 70 are allowed" in answer.stderr
    assert "circle of 2 files:\n  python/clearway/b.py imports python/clearway/c.py" in answer.stderr


def test_the_command_names_a_file_of_tests_that_the_program_leaves_out(workspace: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "clearway-one"\n',
        "src/lib.rs": "#[cfg(test)]\nmod tests;\n",
        "src/tests.rs": "",
        "tests/main.rs": "mod first;\nmod folder;\n// mod second;\n",
        "tests/first.rs": "",
        "tests/second.rs": "",
        "tests/folder/mod.rs": "pub(crate) mod inner;\n",
        "tests/folder/inner.rs": "",
        "tests/folder/outer.rs": "",
    }
    tree(workspace / "crates" / "one", files)
    answer = check(workspace)
    assert answer.returncode == 1
    assert [line.split(":")[0] for line in answer.stderr.splitlines()] == [
        "crates/one/tests/folder/outer.rs",
        "crates/one/tests/second.rs",
    ]


# FLOORS


def test_a_folder_that_imports_one_above_it_is_named() -> None:
    source = "crates/sim/src/"
    up = Import(f"{source}scenario/pfc.rs", f"{source}net/pfc.rs", 7, "crate::net::pfc::Pause")
    down = Import(f"{source}net/pfc.rs", f"{source}model/pfc.rs", 3, "crate::model::Pfc")
    within = Import(f"{source}net/pfc.rs", f"{source}net/ports.rs", 4, "super::ports::Ports")
    of_a_test = Import(f"{source}model/tests/pfc.rs", f"{source}check/load.rs", 2, "crate::check::load_text")
    [line] = arrows_up([down, up, within, of_a_test])
    assert line.startswith(f"{source}scenario/pfc.rs:7: crate::net::pfc::Pause is of net; ")
    assert "scenario may import job, model, random, topology" in line


def test_every_folder_of_the_simulator_has_its_floor() -> None:
    source = ROOT / "crates" / "sim" / "src"
    folders = {path.stem for path in source.iterdir() if path.name != "lib.rs"}
    assert folders == set(MAY_IMPORT)
