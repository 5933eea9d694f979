"""A run directory on disk: written whole or not at all, and read back.

Everything is written into a directory with a dot in front of its name, beside the one it is to become, and
renamed when it is complete. Whatever stops the writing removes it again; what a killed process left is
removed by the next one that writes there (`unfinished`).
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from clearway import files, stops
from clearway.errors import ClearwayError, reason
from clearway.unfinished import Unfinished, beside, remove_left

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
FORMAT = 1
_PAGE_OPTION = "-o/--output"  # of the one command that writes a single file
_OF_THE_SYSTEM = ("/proc", "/dev", "/sys")
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd")  # which may lead to a file
_MEMORY = "/dev/shm"  # noqa: S108 - an ordinary place, in memory


def slug(name: str) -> str:
    """Turn a scenario's name into a file's."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "scenario"


def check_writable(target: Path, *, exact: bool, option: str = "--out") -> None:
    """Raise before a long run what would be raised after it: that `target` cannot be made.

    With `exact` it must not exist or be empty; without, it is a first choice that another name can replace.
    `option` is what the remedy tells a person to change.
    """
    check_place(target, option)
    if exact and target.is_symlink() and not target.exists():
        raise ClearwayError(f"{target}: is a broken link", f"choose another {option}")
    if exact and target.exists():
        _check_empty(target)
    real = _real(target)
    ancestor = next(parent for parent in real.parents if os.path.lexists(parent))
    if not ancestor.is_dir():
        what = "broken link" if ancestor.is_symlink() else "file"
        raise ClearwayError(
            f"{ancestor}: is a {what}, so {target} cannot be made in it", f"choose another {option}"
        )
    probe = beside(ancestor / target.name)
    try:
        with stops.put_off():
            probe.mkdir()
            with suppress(FileNotFoundError):  # another process took it for left
                probe.rmdir()
    except OSError as error:
        raise _unwritable(target, error, option) from error


def check_place(target: Path, option: str) -> None:
    """Raise if a target is among what the system shows of itself as files, where nothing can be kept."""
    real = _real(target)
    if any(real.is_relative_to(place) for place in _OF_THE_SYSTEM) and not real.is_relative_to(_MEMORY):
        raise ClearwayError(
            f"{target}: is in /{real.parts[1]}, which is the system's own", f"choose another {option}"
        )


def _check_empty(target: Path) -> None:
    """Raise if what is there is no empty directory, or one that nothing can take the place of."""
    if not target.is_dir():
        raise ClearwayError(f"{target}: is a file", "--out needs a directory that is new or empty")
    if any(target.iterdir()):
        raise ClearwayError(
            f"{target}: is not empty", "--out needs a directory that is new or empty: choose another"
        )
    if target.samefile(Path.cwd()):
        raise ClearwayError(f"{target}: is the working directory", "name a directory in it")
    if target.is_mount():
        raise ClearwayError(f"{target}: is a mount point", "name a directory in it")


class Staging:
    """A directory to write into that becomes the target when it is complete.

    Used in a `with`; left without `commit`, it is removed, and the parents that were made for it with it.
    """

    def __init__(self, target: Path, *, exact: bool, option: str = "--out") -> None:
        """Without `exact`, a name that is taken gets a number: `target-2`, `target-3` ...

        `option` is what a remedy tells a person to change.
        """
        self._target = _real(target)
        self._shown = target
        self._exact = exact
        self._option = option
        self._parents: list[Path] = []
        self._unfinished: Unfinished | None = None

    @property
    def path(self) -> Path:
        """The directory to write into."""
        assert self._unfinished is not None
        return self._unfinished.path

    def __enter__(self) -> Staging:
        """Make the directory."""
        try:
            with stops.put_off():
                self._make()
        except OSError as error:
            self._remove()
            raise _unwritable(self._shown, error, self._option) from error
        except KeyboardInterrupt:
            self._remove()
            raise
        return self

    def _make(self) -> None:
        missing = [parent for parent in self._target.parents if not parent.exists()]
        for parent in reversed(missing):
            with suppress(FileExistsError):  # another run may be making the same one
                parent.mkdir()
                self._parents.append(parent)
        if not self._exact:
            remove_left(self._target.parent)
        self._unfinished = Unfinished(self._target)

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Remove what was not committed."""
        self._remove()
        if isinstance(error, OSError):
            raise _unwritable(self._shown, error, self._option) from error

    def replace(self) -> None:
        """Rename to the target, and remove what was there."""
        old = beside(self._target)
        try:
            self._target.rename(old)
            self.path.rename(self._target)
        finally:
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)

    def commit(self, *, elsewhere: bool = False) -> Path:
        """Rename to the target, whose name is returned.

        If the target was taken since, a name that is exact is an error; with `elsewhere` it gets a number, as
        one that is not exact does. POSIX renames a directory onto nothing or onto an empty one, so no two
        runs can share a name.
        """
        exact = self._exact and not elsewhere
        for number in itertools.count(1):
            suffix = "" if number == 1 else f"-{number}"
            place = self._target.with_name(self._target.name + suffix)
            try:
                if (self._exact and not suffix) or not place.exists():
                    self.path.rename(place)
                    return self._shown.with_name(self._shown.name + suffix) if suffix else self._shown
            except OSError as error:
                if exact or error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                    raise
        raise AssertionError("there is always another number")

    def _remove(self) -> None:
        with stops.put_off():
            if self._unfinished is not None:
                shutil.rmtree(self.path, ignore_errors=True)
                self._unfinished.close()
            for parent in reversed(self._parents):
                with suppress(OSError):  # someone else uses it by now
                    parent.rmdir()


def write_text(target: Path, text: str) -> None:
    """Write a file of text whole or not at all, in place of the one that is there."""
    write_bytes(target, text.encode())


def write_bytes(target: Path, contents: bytes) -> None:
    """Write a file whole or not at all, in place of the one that is there."""
    real = _real(target)
    staged = beside(real)
    try:
        staged.write_bytes(contents)
        staged.replace(real)
    except OSError as error:
        raise _unwritable(target, error, _PAGE_OPTION) from error
    finally:
        with stops.put_off():
            staged.unlink(missing_ok=True)


def check_file_writable(target: Path) -> None:
    """Raise before the work what `write_text` would raise after it."""
    if str(target) == "-" or any(target.absolute().is_relative_to(stream) for stream in _STREAMS):
        raise ClearwayError(f"{target}: is a stream", "name the file to write, for example report.html")
    check_place(target, _PAGE_OPTION)
    if target.is_dir():
        raise ClearwayError(f"{target}: is a directory", "name the file to write, for example report.html")
    if target.exists() and not target.is_file():
        raise ClearwayError(f"{target}: is a device or a pipe", "name the file to write, such as report.html")
    if _real(target).is_symlink():
        raise ClearwayError(f"{target}: is a broken link", f"choose another {_PAGE_OPTION}")
    probe = beside(_real(target))
    try:
        with stops.put_off():
            probe.touch()
            probe.unlink()
    except OSError as error:
        raise _unwritable(target, error, _PAGE_OPTION) from error


def write_json(path: Path, value: object) -> None:
    """Write JSON for people and programs."""
    path.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote."""
    try:
        text = files.read(path, files.LARGEST_TEXT, "run the scenario again").decode()
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\ud" in text.lower():
            json.dumps(
                value, ensure_ascii=False
            ).encode()  # raises for half a character, which no file can have
    except OSError as error:
        raise ClearwayError(f"{path}: {reason(error)}", "run the scenario again") from error
    except ValueError as error:
        raise ClearwayError(f"{path}: not JSON: {error}", "run the scenario again") from error
    except RecursionError:
        raise ClearwayError(f"{path}: is nested too deeply", "run the scenario again") from None
    if not isinstance(value, dict):
        raise ClearwayError(f"{path}: expected a JSON object", "run the scenario again")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _real(target: Path) -> Path:
    """Follow the links to a target; one that leads nowhere stays."""
    return Path(os.path.realpath(target))


def _unwritable(target: Path, error: OSError, option: str = "--out") -> ClearwayError:
    match error.errno:
        case errno.ENOENT:
            first = f"make the directory {target.parent} first"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            first = "ask for the right to write there"
        case _:
            first = "make room"
    remedy = f"{first}, or choose another place with {option}"
    return ClearwayError(f"{target}: cannot be written: {reason(error)}", remedy)
