"""Writes files so that they are complete or unchanged.

Everything that graphlode writes goes through `replacing`: data goes to a new file with a random name in the same
folder, which takes the name of the target when it is complete and on the disk. After an error or Ctrl-C the old file is
as it was, and the new one is gone. Threads and processes that write the same target do not meet: one of them is last.

Devices, pipes and the open descriptors of this process, such as /dev/stdout, are written directly.
"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import select
import stat
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any, BinaryIO

from graphlode.common.control import Control
from graphlode.common.wait import Interrupts
from graphlode.errors import InputError

_BUFFER = 1 << 20
_WAIT_MILLISECONDS = 100
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


class replacing:
    """A binary file that becomes the target if the block ends without an error.

    If the target exists, its permissions are kept. A symbolic link is replaced, not followed. Errors of the system
    name the target. The control stops writing, and waiting for a pipe.
    """

    def __init__(self, target: Path, control: Control | None = None) -> None:
        self._target = target
        self._control = control or Control()
        self._part: _Part | None = None

    def __enter__(self) -> BinaryIO:
        check_target(self._target)
        stream = _open_stream(self._target, self._control)
        if stream is not None:
            self._file = stream
            return stream
        try:
            with Interrupts():
                self._part = _Part(self._target, self._control)
        except BaseException:  # Ctrl-C arrives at the end of the block
            if self._part is not None:
                self._part.remove()
            raise
        self._file = self._part.file
        return self._file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as found:
            raise self._named(found) from found
        finally:
            self._release()
        if isinstance(error, OSError) and error is not (named := self._named(error)):
            raise named from error

    def _finish(self) -> None:
        self._file.flush()
        if self._part is not None:
            _to_disk(self._file.fileno())
            with Interrupts():
                self._part.rename()

    def _release(self) -> None:
        if self._part is not None:
            with Interrupts():
                self._part.remove()
        else:
            _close_anyway(self._file)

    def _named(self, error: OSError) -> OSError:
        if error.errno is None or error.filename is not None or isinstance(error, InterruptedError):
            return error
        return OSError(error.errno, error.strerror, str(self._target))


def check_target(target: Path) -> None:
    """Raise the error that writing to this path would end with, if that can be seen before."""
    if _descriptor(target) is not None:
        return
    if target.is_dir():
        raise InputError(f"{target}: this is a directory, not a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target))
    if target.is_block_device() or target.is_socket():
        kind = "a block device" if target.is_block_device() else "a socket"
        raise InputError(f"{target}: this is {kind}; files, pipes and character devices are written")
    if target.is_file() and not target.is_symlink() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))


class _Part:
    """The new file. Its folder is held open: it stays the same one if another program renames it."""

    def __init__(self, target: Path, control: Control) -> None:
        self._target = target
        self._name = f".graphlode-{secrets.token_hex(8)}.part"
        try:
            self._folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self.file = self._create(control)
            except BaseException:
                os.close(self._folder)
                raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target)) from error

    def _create(self, control: Control) -> BinaryIO:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._name, flags, 0o666, dir_fd=self._folder)
        with suppress(OSError):  # there is no old file, or it belongs to another user
            old = os.stat(self._target.name, dir_fd=self._folder, follow_symlinks=False)
            if stat.S_ISREG(old.st_mode):
                os.fchmod(descriptor, old.st_mode & 0o777)
                os.fchown(descriptor, old.st_uid, old.st_gid)
        return io.BufferedWriter(_Output(descriptor, control), _BUFFER)

    def rename(self) -> None:
        os.replace(self._name, self._target.name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def remove(self) -> None:
        """Close everything. Remove the file unless it has been renamed."""
        _close_anyway(self.file)
        with suppress(FileNotFoundError):
            os.unlink(self._name, dir_fd=self._folder)
        os.close(self._folder)


def _close_anyway(file: BinaryIO) -> None:
    with suppress(OSError, ValueError):  # it flushes first, which fails as before
        file.close()


def _to_disk(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot
            raise


def _open_stream(target: Path, control: Control) -> BinaryIO | None:
    """A file that writes to a device, a pipe or an open descriptor; None for a regular or a new file."""
    number = _descriptor(target)
    if number is not None:
        return io.BufferedWriter(_Output(os.dup(number), control), _BUFFER)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return None
    return io.BufferedWriter(_Output(_wait_for_reader(target, control), control), _BUFFER)


def _descriptor(target: Path) -> int | None:
    """The number of the descriptor of this process that a path such as /dev/stdout or /dev/fd/3 stands for."""
    folder = os.path.realpath(target.parent)
    path = f"{folder}/{target.name}"
    if path in _STREAMS:
        return _STREAMS[path]
    match = re.fullmatch(rf"/proc/{os.getpid()}/fd/(\d+)", path)
    return int(match[1]) if match else None


def _wait_for_reader(target: Path, control: Control) -> int:
    """Opens a pipe as soon as there is a reader, and a device at once."""
    while True:
        control.check()
        try:
            return os.open(target, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or not target.is_fifo():
                raise
            sleep(_WAIT_MILLISECONDS / 1000)


class _Output(io.RawIOBase):
    """Writes in pieces that take a short time, and looks at the control before each."""

    def __init__(self, descriptor: int, control: Control) -> None:
        self._descriptor = descriptor
        self._control = control
        mode = os.fstat(descriptor).st_mode
        self._regular = stat.S_ISREG(mode)
        self._step = select.PIPE_BUF if stat.S_ISFIFO(mode) else _BUFFER  # a pipe takes this at once, or is not ready
        self._done = 0
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLOUT)

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._regular

    def fileno(self) -> int:
        return self._descriptor

    def tell(self) -> int:
        return os.lseek(self._descriptor, 0, os.SEEK_CUR) if self._regular else self._done

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        if not self._regular:
            raise io.UnsupportedOperation("a pipe or device has no positions")
        return os.lseek(self._descriptor, position, whence)

    def write(self, data: Any) -> int:
        while True:
            self._control.check()
            if not (self._regular or self._ready.poll(_WAIT_MILLISECONDS)):
                continue
            try:
                count = os.write(self._descriptor, memoryview(data).cast("B")[: self._step])
            except BlockingIOError:
                continue
            self._done += count
            return count

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._descriptor)
