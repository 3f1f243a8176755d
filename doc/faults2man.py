#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Put the entries of the soft device's faults into its manual.

Usage: faults2man.py [--check]

The file of each fault, soft_device/faults/NAME.c, has its entry of rpma-soft.1 in a comment that
begins with "Manual:". The manual has all of them between two comments of its own, in the order of
soft_device/faults/list.h. With --check nothing is written: exit status 1 if the manual differs.
"""

import argparse
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent
FAULTS = SOURCE / "soft_device" / "faults"
PAGE = SOURCE / "doc" / "rpma-soft.1"
BEGIN = '.\\" The faults, from soft_device/faults/ by doc/faults2man.py:\n'
END = '.\\" End of the faults.\n'
ENTRY = re.compile(r"^/\*\n \* Manual:\n((?: \* .*\n)+) \*/\n", re.MULTILINE)


def names(text: str) -> list[str]:
    return re.findall(r"\bROW\((\w+)\)", text)


def entry(name: str) -> str:
    """The mdoc(7) of a fault, without the comment around it."""
    found = ENTRY.findall((FAULTS / f"{name}.c").read_text(encoding="utf-8"))
    if len(found) != 1:
        raise ValueError(f"{name}.c: expected one comment that begins with 'Manual:', not {len(found)}")
    if not found[0].startswith(f" * .It Cm {name}"):
        raise ValueError(f"{name}.c: the entry does not begin with '.It Cm {name}'")
    return re.sub(r"^ \* ", "", found[0], flags=re.MULTILINE)


def merge(page: str, entries: str) -> str:
    before, rest = page.split(BEGIN)
    return before + BEGIN + entries + END + rest.split(END)[1]


def main() -> int:
    parser = argparse.ArgumentParser(description="Put the entries of the faults into rpma-soft.1.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the manual differs")
    page = PAGE.read_text(encoding="utf-8")
    wanted = merge(page, "".join(entry(name) for name in names((FAULTS / "list.h").read_text(encoding="utf-8"))))
    if not parser.parse_args().check:
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        print(f"{PAGE} differs from the files of the faults: run doc/faults2man.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
