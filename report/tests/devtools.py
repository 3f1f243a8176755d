# SPDX-License-Identifier: BSD-3-Clause
"""Headless Chromium over its DevTools pipe: no port, no script in the page.

Just enough for test_browser: open a file, set the window and the medium, use mouse,
finger and keys, ask the page for a value, print to PDF, and everything that was logged or requested.
"""

import base64
import fcntl
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
_LIMIT_S = 300
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
)  # fmt: skip


class Browser:
    """One page in one browser; close() ends it."""

    def __init__(self, profile: Path) -> None:
        command_read, self._to = os.pipe()
        self._from, answer_write = os.pipe()
        # The browser wants descriptors 3 and 4: first move ours out of their way.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (command_read, answer_write)]

        def take_ends() -> None:
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=take_ends, pass_fds=(3, 4), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for fd in (command_read, answer_write, *ends):
            os.close(fd)
        self._buffer, self._number, self._session = b"", 0, ""
        self._opened: Path | None = None
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(_LIMIT_S)
        os.close(self._to)
        os.close(self._from)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    def open(self, path: Path, anchor: str = "") -> None:
        """Opens a new page, even if only the anchor differs from that of the one before."""
        for url in ("about:blank", f"{path.as_uri()}#{anchor}" if anchor else path.as_uri()):
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not self.saw("Page.loadEventFired"):
                self.events.append(self._next())
        self._opened = path

    def look(self, path: Path, width: int, scheme: str = "light") -> None:
        """At a page in a window: as the test before has left it, if that had the same page."""
        if self._opened != path:
            self.open(path)
        self.window(width, scheme=scheme)

    def saw(self, method: str) -> list[dict[str, Any]]:
        return [e["params"] for e in self.events if e.get("method") == method]

    def window(self, width: int, height: int = 900, medium: str = "", scheme: str = "light") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=medium, features=features)

    def value(self, expression: str) -> Any:
        """The value of the expression, or of what it promises."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"])
        return done["result"].get("value")

    def move(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def touch(self, x: float, y: float) -> None:
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, name: str) -> None:
        """A key as DOM names it: Enter, ArrowRight, Tab."""
        code = {"Enter": 13, "Tab": 9, " ": 32}.get(name, 0)
        text = {"Enter": "\r", " ": " "}.get(name, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code,
                      text=text if kind == "keyDown" else "")  # fmt: skip

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + _LIMIT_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(deadline - time.monotonic(), 0))
            data = os.read(self._from, 1 << 16) if ready else b""
            if not data:
                raise TimeoutError(f"{CHROMIUM} gave no answer in {_LIMIT_S} s or ended")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))
