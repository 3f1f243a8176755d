# SPDX-License-Identifier: BSD-3-Clause
"""An sshd of the tests' own on 127.0.0.1: a free port, keys that are thrown away.

As root it gets a /run of its own, in which it finds the folder it wants; else it serves
its own user alone.
"""

import getpass
import os
import shutil
import subprocess
from pathlib import Path

from free_port import free_port

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
_CONFIG = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
"""
_CLIENT = """\
Host target 127.0.0.1
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""


class Sshd:
    def __init__(self, folder: Path) -> None:
        assert SSHD
        told = {"folder": folder, "port": free_port(), "user": getpass.getuser()}
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        (folder / "sshd_config").write_text(_CONFIG.format(**told))
        (folder / "ssh_config").write_text(_CLIENT.format(**told))
        self.log = folder / "sshd.log"
        line = [SSHD, "-D", "-f", str(folder / "sshd_config"), "-E", str(self.log)]
        if os.geteuid() == 0:
            prepare = 'mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec "$@"'
            line = ["unshare", "--mount", "sh", "-c", prepare, "sh", *line]
        self._process = subprocess.Popen(line)
        self.client = ["ssh", "-F", str(folder / "ssh_config")]

    def answers(self) -> bool:
        """Waits until it does; False where this machine has no place for it."""
        while self._process.poll() is None:
            done = subprocess.run([*self.client, "-o", "BatchMode=yes", "target", "true"], capture_output=True)
            if done.returncode == 0:
                return True
            if b"Connection refused" not in done.stderr:
                raise AssertionError(f"{done.stderr!r}: {self.log.read_text()}")
        return False

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(60)
