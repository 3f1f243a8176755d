# SPDX-License-Identifier: BSD-3-Clause
"""An interactive shell on a terminal of its own, which is typed at as a user does."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path

PROMPT = "ready> "
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[a-zA-Z]|[=>])|[\b\x07]")

# One Tab inserts or lists, no question is asked before a long list, and the completions
# are those of the directory in $COMPLETIONS.
BASH = ["bash", "--norc", "--noprofile", "-i"]
BASH_SETUP = ("bind 'set completion-query-items 0'; bind 'set page-completions off'; "
              "bind 'set show-all-if-ambiguous on'; "
              'for file in "$COMPLETIONS"/bash/*; do . "$file"; done')
ZSH = ["zsh", "-f", "-i"]
ZSH_SETUP = ('unsetopt zle_bracketed_paste beep prompt_sp list_ambiguous; LISTMAX=10000; fpath=("$COMPLETIONS/zsh" $fpath); '
             "autoload -Uz compinit && compinit -u -D")


class Shell:
    def __init__(self, command: list[str], setup: str, environment: dict[str, str], folder: Path):
        self.unread = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        # wide and high, so that no list is broken or scrolled
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 200, 0, 0))
        self._read_until(PROMPT)
        # a shell that is not ready yet shows its prompt again for what was typed
        self._write(f"{setup}; echo set''up\r")
        self._read_until("setup")
        self._read_until(PROMPT)

    def _write(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def _read_until(self, end: str, seconds: float = 30) -> str:
        """What is shown up to END, which is read as well."""
        limit = time.monotonic() + seconds
        while end not in _ESCAPES.sub("", self.unread):
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"no {end!r} after {seconds} s in {self.unread!r}")
            self.unread += os.read(self.terminal, 65536).decode(errors="replace")
        shown, _, self.unread = _ESCAPES.sub("", self.unread).partition(end)
        return shown.replace("\r", "\n")

    def shows(self, line: str) -> str:
        """What is on the screen after LINE and Tab: the line, a list, the line again."""
        self._write(line + "\t")
        self._write("\x15echo fi''nished\r")  # keys are read in order: ^U deletes the line
        shown = self._read_until("finished")
        self._read_until(PROMPT)
        return shown

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
