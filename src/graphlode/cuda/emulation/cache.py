"""The folder of compiled kernels: a user who can write into it runs code in this process, so it must be the user's alone.

The name of a kernel is a hash of public text, which anybody can compute. It says nothing about who made the file.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from graphlode.errors import DeviceUnavailableError

_OWN_FOLDER, _OWN_FILE = 0o700, 0o500
_ADVICE = "set GRAPHLODE_CACHE to a folder of your own"


def private_folder(path: Path) -> Path:
    """The folder, made if it is not there, that only this user can read or write. DeviceUnavailableError if it cannot be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _require_steady(path)
    with contextlib.suppress(FileExistsError):
        path.mkdir(_OWN_FOLDER)
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise DeviceUnavailableError(f"the cache {path} is not a folder, or is a link: {error}; {_ADVICE}") from None
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid():
            raise DeviceUnavailableError(f"the cache {path} belongs to the user {found.st_uid}; {_ADVICE}")
        if stat.S_IMODE(found.st_mode) != _OWN_FOLDER:
            os.fchmod(folder, _OWN_FOLDER)
    finally:
        os.close(folder)
    return path


def _require_steady(path: Path) -> None:
    """Where every user may rename what lies in a folder, a check of what lies in it says nothing a moment later."""
    for above in path.absolute().parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise DeviceUnavailableError(f"the cache {path} lies in {above}, where every user may write; {_ADVICE}")


def is_own_file(path: Path) -> bool:
    """Whether the user alone has made this file. False for links, also hard links, and where there is nothing."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    own = found.st_uid == os.geteuid() and found.st_nlink == 1
    return own and stat.S_ISREG(found.st_mode) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def publish(built: Path, target: Path) -> None:
    """Move a finished file into place; what was there, such as a link, is replaced and not followed."""
    built.chmod(_OWN_FILE)
    os.replace(built, target)
