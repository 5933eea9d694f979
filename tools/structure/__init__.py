"""Checks of the source tree's structure: no circles, no imports from a floor above, no long functions.

`python -m tools.structure` checks crates/*/src and python/clearway, prints each circle as a chain of files
with the lines that make it, and ends with status 1 if there is one, or an import that goes up, or a Python
function of more than 70 lines, or a Rust file that no `mod` names. (Clippy counts lines of Rust functions.)

`rust_modules` reads the files of a crate, by tree-sitter, as modules with the names they declare and import,
and `rust_imports` follows each name to the file it lives in. `python_imports` does the same for Python,
`circles` finds the circles, `floors` says which folder of the simulator may import which, `functions` counts
lines, and `unnamed` finds files that are not compiled.
"""
