# SPDX-License-Identifier: BSD-3-Clause
"""Runs steps in their lanes: trees are built in the background, guests boot beside the tests.

A thread for each lane takes its steps in order; a step waits until its tree is built. Each step
is recorded as it ends, so that a run which is stopped goes on where it was.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import records
import results
from children import Children
from results import RESULTS, Outcome
from steps import Lane, Step
from trees import TREES, build, is_possible

JOBS = 5 * (os.cpu_count() or 1) // 2  # tests wait half of their time
LIMIT_S = 36000  # never reached: watch.py ends a test that makes no progress
OUTPUT_KEPT_BYTES = "400000"
SIDE_BY_SIDE: tuple[Lane, ...] = ("host", "long", "guest")


class Run:
    def __init__(self, steps: list[Step], environment: dict[str, str]) -> None:
        self.steps = steps
        self.environment = environment
        self.children = Children()
        self.states = records.States()
        self.outcomes: list[Outcome] = []
        self.forbidden_skips: list[str] = []
        self.stopped_by = 0
        self._lock = threading.Lock()
        self._built = {step.tree: threading.Event() for step in steps if step.tree}
        self._broken: set[str] = set()

    def execute(self) -> None:
        """Those that measure first, with their tree alone; then the lanes side by side."""
        first = [step for step in self.steps if step.lane == "alone"]
        for tree in dict.fromkeys(step.tree for step in first if step.tree):
            self._build(tree, niceness=0)
        self._take(first)
        lanes = [threading.Thread(target=self._build_all)]
        lanes += [threading.Thread(target=self._take, args=(self._of_lane(lane),)) for lane in SIDE_BY_SIDE]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()

    def stop(self, number: int) -> None:
        """For the handler of a signal: returns at once."""
        if not self.stopped_by:
            self.stopped_by = number
            threading.Thread(target=self.children.stop).start()

    def _jobs(self, lane: Lane) -> int:
        """The tests of a step that run at a time: host and long steps share what there is."""
        if lane not in ("host", "long"):
            return 1
        return (JOBS + 1) // 2 if self._of_lane("host") and self._of_lane("long") else JOBS

    def _of_lane(self, lane: Lane) -> list[Step]:
        return [step for step in self.steps if step.lane == lane]

    def _build_all(self) -> None:
        """Builds what the first lane waits for at once, the others in the time that tests leave."""
        ahead = [tree for tree in self._built if not self._built[tree].is_set()]
        for number, tree in enumerate(ahead):
            self._build(tree, niceness=19 if number or len(ahead) < len(self._built) else 0)

    def _build(self, tree: str, niceness: int) -> None:
        begin, status = time.monotonic(), 0
        name, log = f"build-{tree}", RESULTS / f"build-{tree}.log"
        if is_possible(TREES[tree]):
            self._tell(f"==> {name}")
            for command in build(tree):
                if status == 0:
                    status, _ = self.children.run(command, log, self.environment, niceness)
        else:
            log.write_text(f"{TREES[tree].compiler} is not installed\n")
            status = 1
        outcome = Outcome(name, tree, round(time.monotonic() - begin), 1)
        if status:
            self._broken.add(tree)
            outcome.stopped = self.children.is_stopped
        if status and not outcome.stopped:
            outcome.failed[name] = [*_last_lines(log), f"whole output: build/test-results/{name}.log"]
        self._done(outcome)
        self._built[tree].set()

    def _take(self, steps: list[Step]) -> None:
        for step in steps:
            if step.tree:
                self._built[step.tree].wait()
            if self.children.is_stopped:
                return
            self._step(step)

    def _step(self, step: Step) -> None:
        begin, state = time.monotonic(), self.states.of(step)
        if step.tree in self._broken:
            outcome = Outcome(step.name, step.tree or "", 0, 1, {step.name: ["its tree was not built"]})
        elif step.tests:
            outcome = self._ctest(step)
        else:
            outcome = self._command(step)
        outcome.seconds = round(time.monotonic() - begin)
        outcome.stopped = self.children.is_stopped
        if outcome.stopped:
            outcome.failed = {}
        skip_lines = results.forbid_skips(outcome)
        status = "stopped" if outcome.stopped else "failed" if outcome.failed else "passed"
        unchanged = state == records.States().of(step)
        records.write(step.name, state if unchanged else "", status, outcome.seconds, outcome.total)
        with self._lock:
            self.forbidden_skips += skip_lines
        self._done(outcome)

    def _ctest(self, step: Step) -> Outcome:
        tree, junit = step.tree or "", RESULTS / f"{step.name}.xml"
        self._tell(f"==> {step.name}")
        jobs = self._jobs(step.lane)
        command = ["ctest", "--test-dir", f"build/{tree}", "-j", str(jobs), "--no-tests=error",
                   "--timeout", str(LIMIT_S), "--test-output-size-passed", OUTPUT_KEPT_BYTES,
                   "--test-output-size-failed", OUTPUT_KEPT_BYTES, "--output-junit", str(junit), *step.tests]
        environment = {**self.environment, "RPMA_BUILD_DIR": str(RESULTS.parent / tree)}
        status, ended = self.children.run(command, RESULTS / f"{step.name}.log", environment, watched=True)
        if not junit.exists():
            return Outcome(step.name, tree, 0, 1, {"ctest itself": _last_lines(RESULTS / f"{step.name}.log")})
        outcome = results.read_ctest(step.name, tree, junit, status, 0)
        for test, lines in outcome.failed.items():
            parts = test.replace("-", ".").split(".")
            lines[0:0] = [line for line in ended
                          if all(part in line for part in parts) or len(outcome.failed) == 1]
        return outcome

    def _command(self, step: Step) -> Outcome:
        log, status = RESULTS / f"{step.name}.log", 0
        if step.command:
            self._tell(f"==> {step.name}")
            status, _ = self.children.run(list(step.command), log, self.environment)
        outcome = Outcome(step.name, step.tree or "", 0, 1)
        if status:
            outcome.failed[step.name] = [*_last_lines(log), f"again: {' '.join(step.command)}",
                                         f"whole output: build/test-results/{step.name}.log"]
        return outcome

    def _done(self, outcome: Outcome) -> None:
        with self._lock:
            self.outcomes.append(outcome)
        state = f"{len(outcome.failed)} of {outcome.total} failed" if outcome.failed else f"{outcome.total} passed"
        state = "stopped" if outcome.stopped else state
        self._tell(f"    {outcome.name}: {state} ({outcome.seconds} s)")
        for test, lines in outcome.failed.items():
            self._tell("\n".join([f"    FAILED {test}", *(f"        {line}" for line in lines)]))

    def _tell(self, text: str) -> None:
        with self._lock:
            print(text, flush=True)


def _last_lines(log: Path) -> list[str]:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    wrong = [line for line in lines if "error:" in line or "failed" in line.lower()]
    return (wrong or lines)[-5:]
