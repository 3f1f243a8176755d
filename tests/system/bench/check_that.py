#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_that.py CODE [WORD...] FILE: CODE, in Python, runs without an AssertionError; it finds
what is in the JSON file FILE as r, and the words as words."""
import json
import sys
from pathlib import Path

code, *words, file = sys.argv[1:]
exec(code, {"r": json.loads(Path(file).read_text(encoding="utf-8")), "words": words})
