#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail on an include that runs up between folders: check_layers.py TABLE, in the root.

`order: A < B C < D`: B and C include A, not each other; D includes all three, and
whatever these may include by earlier lines. A folder without a line, below one that has
one, is an error. `top: A < B` orders the folders of the root in the same way: each order:
obeys it, and so do <librpma.h> and <librpmem.h>.
"""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
LIBRARY = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(librpma|librpmem)\.h>", re.M)


def top_of(folder):
    return folder.split("/")[0]


def read_table(path):
    """The folders that each folder may include, and the rank of each folder of the root."""
    below, ranks = {}, {}
    for line in open(path, encoding="utf-8"):
        word, _, rest = line.split("#")[0].strip().partition(":")
        if word == "top":
            for rank, folders in enumerate(rest.split("<")):
                ranks.update(dict.fromkeys(folders.split(), rank))
        elif word == "order":
            lower = set()
            for rank in rest.split("<"):
                for folder in rank.split():
                    below.setdefault(folder, set()).update(lower)
                lower = lower.union(rank.split(), *(below[folder] for folder in rank.split()))
        elif word:
            sys.exit(f"{path}: expected top: or order:, not {word}:")
    without = {top_of(folder) for folder in below} - ranks.keys()
    if without:
        sys.exit(f"{path}: not in top: {' '.join(sorted(without))}")
    return below, ranks


def main():
    below, ranks = read_table(sys.argv[1])

    def runs_down(here, there):
        return top_of(here) == top_of(there) or ranks[top_of(there)] < ranks[top_of(here)]

    git = ["git", "ls-files", "*.c", "*.h"]
    tracked = set(subprocess.run(git, check=True, text=True, stdout=subprocess.PIPE).stdout.split())
    wrong = [f"order: {there} < {here} contradicts top:" for here in sorted(below)
             for there in sorted(below[here]) if not runs_down(here, there)]
    for path in sorted(name for name in tracked if top_of(name) in ranks):
        here = os.path.dirname(path)
        text = open(path, encoding="utf-8").read()
        for name in INCLUDE.findall(text):
            there = os.path.dirname(name)
            if here not in below:
                wrong.append(f"{path}: {here} is in no order")
            elif there and name not in tracked:
                wrong.append(f'{path}: "{name}" is no path from the root')
            elif there not in ("", here) and there not in below[here]:
                wrong.append(f"{path}: {here} may not include {name}")
        wrong += [f"{path}: {top_of(here)} may not include {name}.h"
                  for name in LIBRARY.findall(text) if not runs_down(here, name)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
