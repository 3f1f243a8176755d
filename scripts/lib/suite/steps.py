# SPDX-License-Identifier: BSD-3-Clause
"""The steps of scripts/test: one row a step, with the tests it selects and the files it depends on.

A step runs in one of four ways: `host` steps one after another; beside them `long` steps, most
of which end in a few tests that wait, and `guest` steps, each of which boots emulated machines;
`alone` steps before all others, as they compare times. `--all` has all steps, the default run
those marked so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Instrumented code is too slow for an emulated guest and for 200,000 simulated repeats, and the
# report is Python.
INSTRUMENTED = ("-LE", "slow|long|guest|perf|measured")
# These take longest under a sanitizer for their share of our code: only --all runs them so.
# In the default run bench-soft.hostile, ping-soft (but the pings that come back), rpmem-soft.lane_hostile, soft-librpma,
# the rest of librpma-soft and the unit and device tests do.
LONG_INSTRUMENTED = (r"^fio-soft|^soft-trace|^librpma-soft\.calls|^soft_completions\.completion|^soft-every-call"
                     r"|^ddio-check\.(trees|hostile|deletions)|^ping-soft\.(addresses|pings)"
                     r"|^rpmem-accept\.(sshd|tcp)|^rpmem-soft\.(lanes|lane_ends)$|^bench-mpi|^readiness\.mutations"
                     r"|^bench-soft\.(figures|run|outputs|resume|enter|placement|dry-run|slo|load|quota)"
                     r"|^check\.sequences$")
# Parsers, of rpma-ddio-check all but the probe and the devices that it opens, and the launcher, whose
# signals ThreadSanitizer keeps until waitpid() has returned.
NO_THREADS = r"^report|^fuzz|^readiness|^ddio-check\.[^dp]|^ddio-check\.deletions|^soft\.launcher$"
# A program's mistakes that the device is to name, some of which are races of the program.
RACES = r"^soft\.mistakes"
# 87 sequences in seven ways take more than six minutes there.
TOO_SLOW = r"^check\.sequences$"
# Tests that need what qemu-user cannot do: load Debian's librpma, which is the host's; start another
# program for arm64; ptrace(); process_vm_writev(), MADV_POPULATE_WRITE, huge pages; refuse MAP_SYNC.
# Those that it runs too slowly are last.
NOT_EMULATED = (r"^librpma-reference|^librpma\.manual_errors|^fio\.(memory_server|headers)"
                r"|^rpmem\.(session|rpmem_|abi|pool$|pool_failures)"
                r"|^soft_(faults\.power|objects\.(segment|mapping)|queues\.target_memory)"
                r"|^common\.target$|^bench\.repeat$|^soft_completions\.completion$")
# Other users and hosts cannot write the counters of the device that they run on; libgcov imports calls
# that librpmem must not; it writes files where none may be written; counting costs more than bench-truth
# measures, and more steps than soft.links.stops makes.
NOT_COUNTED = r"^report|^soft-programs|^rpmem.abi|^soft-looking.programs|^bench-truth|^soft.links.stops"

Lane = Literal["host", "long", "guest", "alone"]


@dataclass(frozen=True)
class Step:
    name: str
    tree: str | None  # the build tree it needs
    tests: tuple[str, ...] = ()  # ctest's options; none: only the build, or `command`
    command: tuple[str, ...] = ()
    lane: Lane = "host"
    in_default: bool = False
    in_quick: bool = False
    of_code: bool = True  # it depends on what is compiled and its tests, else on every file


STEPS = (
    Step("quick", "release", ("-L", "unit|device", "-LE", "slow|long"), in_quick=True),
    Step("release", "release", ("-LE", "guest|long|perf|measured"), in_default=True,
         of_code=False),
    Step("guest", "release", ("-L", "guest", "-LE", "long"), lane="guest", in_default=True),
    Step("asan", "asan", (*INSTRUMENTED, "-E", f"^report|{LONG_INSTRUMENTED}"), in_default=True),
    Step("measured", "release", ("-L", "measured"), lane="alone", of_code=False),
    Step("lint", "release", command=("scripts/lint",), of_code=False),
    Step("counts", "release", ("-L", "perf")),
    Step("long-bench", "release", ("-L", "long", "-LE", "guest|perf|measured", "-R", "^bench|^report"),
         lane="long", of_code=False),
    Step("long-fio", "release", ("-L", "long", "-LE", "guest|perf|measured", "-R", "^fio"), lane="long"),
    Step("long-rpmem", "release", ("-L", "long", "-LE", "guest|perf|measured", "-R", "^rpmem"), lane="long"),
    Step("long-soft", "release", ("-L", "long", "-LE", "guest|perf|measured", "-R", "^soft"), lane="long"),
    Step("long-others", "release", ("-L", "long", "-LE", "guest|perf|measured", "-E",
                                    r"^bench|^report|^fio|^rpmem|^soft"), lane="long"),
    Step("asan-long", "asan", (*INSTRUMENTED, "-R", LONG_INSTRUMENTED)),
    Step("tsan", "tsan", (*INSTRUMENTED, "-E", f"{NO_THREADS}|{RACES}|{TOO_SLOW}")),
    Step("clang", "clang", ("-L", "unit", "-LE", "slow|long", "-E", "^report")),
    Step("libfuzzer", "clang", ("-L", "fuzz",)),
    Step("gcc-11", "gcc-11"),
    Step("arm64", "arm64", ("-L", "unit|arm64", *INSTRUMENTED, "-E", f"^report|{NOT_EMULATED}")),
    # The completions are pushed step by step by a tracer, which takes as long as all the others; the
    # stream is told to receive, and the target's memory to be moved, where no memory is.
    Step("valgrind", "valgrind", ("-L", "unit", *INSTRUMENTED, "-E",
                                  r"^report|^soft_completions\.completion|^soft_links\.stream$"
                                  r"|^soft_queues\.target_memory$")),
    Step("coverage", "coverage", ("-LE", "slow|long|guest|perf|measured", "-E", NOT_COUNTED)),
    Step("coverage-report", "coverage", command=("scripts/lib/suite/coverage.sh",)),
    Step("guest-trixie", "release", ("-R", r"^guest\.(trixie|cxl)$"), lane="guest"),
    Step("guest-programs", "release", ("-R", r"^guest\.programs$"), lane="guest"),
    Step("guest-hosts", "release", ("-R", r"^guest\.hosts$"), lane="guest"),
    Step("guest-options", "release", ("-R", r"^guest\.options$"), lane="guest"),
    Step("guest-rpmem", "release", ("-R", r"^guest\.rpmem"), lane="guest"),
    Step("quickstart", "release", ("-R", r"^system\.quickstart$"), lane="guest", of_code=False),
)


def steps_of(length: str) -> list[Step]:
    """Those of a run: quick, default or all."""
    if length == "quick":
        return [step for step in STEPS if step.in_quick]
    return [step for step in STEPS
            if step.in_default or (length == "all" and not step.in_quick)]
