#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_ping.py STATUS EXPRESSION FILE: the result of rpma-ping in FILE agrees with the schema,
with itself, and with this exit status; the Python EXPRESSION is true of it, r."""
import os
import sys
from pathlib import Path

os.environ.setdefault("RPMA_PING", "rpma-ping")  # pinging wants it, and starts none here
sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (0, 2)]
import pinging  # noqa: E402

status, expression, file = sys.argv[1:]
r = pinging.check(Path(file).read_text(encoding="utf-8"), int(status))
assert eval(expression), (expression, r)
