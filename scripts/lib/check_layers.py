#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail on an include that runs up between folders: check_layers.py TABLE, in the root.

`order: A < B C < D`: B and C include A, not each other; D includes all three, and
whatever these may include by earlier lines. `except: FILE -> HEADER  # the cut` allows
one include until it is cut. A folder without a line, below one that has one, is an error.
"""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def read_table(path):
    below, allowed = {}, {}
    for line in open(path, encoding="utf-8"):
        word, _, rest = line.split("#")[0].strip().partition(":")
        if word == "order":
            lower = set()
            for rank in rest.split("<"):
                for folder in rank.split():
                    below.setdefault(folder, set()).update(lower)
                lower = lower.union(rank.split(), *(below[folder] for folder in rank.split()))
        elif word == "except":
            allowed[tuple(name.strip() for name in rest.split("->"))] = False
        elif word:
            sys.exit(f"{path}: expected order: or except:, not {word}:")
    return below, allowed


def main():
    below, allowed = read_table(sys.argv[1])
    tops = tuple({folder.split("/")[0] + "/" for folder in below})
    git = ["git", "ls-files", "*.c", "*.h"]
    tracked = set(subprocess.run(git, check=True, text=True, stdout=subprocess.PIPE).stdout.split())
    wrong = []
    for path in sorted(name for name in tracked if name.startswith(tops)):
        here = os.path.dirname(path)
        for name in INCLUDE.findall(open(path, encoding="utf-8").read()):
            there = os.path.dirname(name)
            if here not in below:
                wrong.append(f"{path}: {here} is in no order")
            elif there and name not in tracked:
                wrong.append(f'{path}: "{name}" is no path from the root')
            elif (path, name) in allowed:
                allowed[path, name] = True
            elif there not in ("", here) and there not in below[here]:
                wrong.append(f"{path}: {here} may not include {name}")
    wrong += [f"{' -> '.join(row)}: no longer an exception" for row, used in allowed.items() if not used]
    print("\n".join(wrong), end="\n" if wrong else "")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
