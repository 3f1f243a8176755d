# SPDX-License-Identifier: BSD-3-Clause
"""A program on another host that ends when its ssh does, however that ended.

sshd tells a program without a terminal nothing when the connection is gone, but for
the end of its standard input. So a few lines of shell stand between the two: they pass
on the input of the program, wait for the end of the rest, which the study
holds open, and then end the program with all that it started. It also holds a lock
there for as long as anything of it lives, so that no later run measures beside it.
"""

import shlex
from collections.abc import Sequence

WAIT_S = 60  # for the end of a run that an earlier connection left
GRACE_S = 10  # from SIGTERM to SIGKILL

# $1 bytes of standard input are the program's; its words follow.
_SCRIPT = f"""
for d in "$XDG_RUNTIME_DIR" "$HOME" /tmp; do [ -n "$d" ] && [ -w "$d" ] && break; done
exec 3<&0 9>>"$d/.rpma-report-study-$(id -u).lock" || exit 75
flock -w {WAIT_S} 9 || {{ echo "another measurement of a study is still running on this host" >&2; exit 75; }}
input=$(mktemp "$d/.rpma-report-input-XXXXXX") || exit 75
head -c "$1" <&3 >"$input"; shift
exec 4<"$input"; rm -f "$input"
setsid "$@" <&4 3<&- 4<&- &
program=$!
( read -r end <&3; kill -TERM -$program; sleep {GRACE_S}; kill -KILL -$program ) >/dev/null 2>&1 4<&- 9>&- &
watch=$!
exec 3<&- 4<&- 9>&-
wait $program; code=$?
kill $watch 2>/dev/null
exit $code
"""


def over_ssh(ssh: Sequence[str], host: str, words: Sequence[str], given_bytes: int) -> list[str]:
    """There a shell sees the words: each is quoted."""
    line = shlex.join(["sh", "-c", _SCRIPT.strip(), "rpma-report", str(given_bytes), *words])
    return [*ssh, "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15",
            "--", host, line]  # fmt: skip
