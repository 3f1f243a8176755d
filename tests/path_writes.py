# SPDX-License-Identifier: BSD-3-Clause
"""What a program changed in the file system, from its traces of strace(1)."""

import re
from collections.abc import Iterator
from pathlib import Path

# a file for each thread, so that no call is written in two pieces
STRACE = ("strace", "-ff", "-qq", "-e", "trace=%file,bind", "-e", "signal=none")
# calls of %file that change nothing; those that open are judged by their flags
ONLY_LOOK = re.compile(
    r"(access|faccessat2?|stat|lstat|stat64|lstat64|newfstatat|fstatat64|statx|statfs|readlink|readlinkat|execve|execveat"
    r"|chdir|fchdir|getcwd|getxattr|lgetxattr|listxattr|llistxattr|inotify_add_watch|name_to_handle_at|quotactl)\("
)
OPENS = re.compile(r"(open|openat|openat2)\(")
FOR_WRITING = re.compile(r"\bO_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)\b")
SOCKET_FILE = re.compile(r'bind\(\d+, \{sa_family=AF_UNIX, sun_path="')  # an abstract name has a @
FAILED = re.compile(r"\) += (-1 |\?)")


def is_change(call: str) -> bool:
    if FAILED.search(call) or ONLY_LOOK.match(call):
        return False
    if OPENS.match(call):
        return FOR_WRITING.search(call) is not None
    if call.startswith("bind("):
        return SOCKET_FILE.match(call) is not None
    return re.match(r"\w+\(", call) is not None


def changes(traces: Path, *allowed: str) -> Iterator[str]:
    """The calls that changed something at a path, unless all begin with one that is allowed or are
    relative: the folder that the program runs in is its own."""
    for trace in sorted(traces.iterdir()):
        for call in trace.read_text(errors="replace").splitlines():
            elsewhere = [path for path in re.findall(r'"(/[^"]*)"', call) if not path.startswith(allowed)]
            if is_change(call) and elsewhere:
                yield call
