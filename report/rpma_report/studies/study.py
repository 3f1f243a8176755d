# SPDX-License-Identifier: BSD-3-Clause
"""Carries out what a plan has left: measurement by measurement, setting by setting."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from rpma_report.failure import Failure
from rpma_report.sources import check
from rpma_report.sources.document import read
from rpma_report.studies import command, process, remote
from rpma_report.studies.plan import Job, Plan, Requirement, located
from rpma_report.studies.process import NotRun
from rpma_report.studies.progress import Progress, estimate_s
from rpma_report.studies.state import Directory
from rpma_report.text import shown

_CHECK_S = 300.0  # a requirement's check has so long
# 1 is rpma-bench's verdict on gates and verification: the result is whole, and says it.
_MEASURED = {"rpma-bench": (0, 1), "fio": (0,)}


@dataclass
class Outcome:
    """Of one call: what is left, and why."""

    failed: list[tuple[Job, str]] = field(default_factory=list)
    waits_for: Requirement | None = None  # a setting that somebody has to make
    waiting: int = 0  # measurements that need it


class Study:
    def __init__(self, plan: Plan, directory: Directory, progress: Progress) -> None:
        self._plan, self._directory, self._progress = plan, directory, progress
        self._left = {job.id: job for job in directory.left()}

    def carry_out(self) -> Outcome:
        """Until nothing is left, or a setting is missing. What fails is left for another call."""
        outcome = Outcome()
        groups: dict[str | None, list[Job]] = {}
        for job in self._left.values():
            groups.setdefault(job.requires, []).append(job)
        missing = []
        try:
            for name, jobs in groups.items():
                requirement = next((r for r in self._plan.requirements if r.name == name), None)
                if requirement and not self._is_met(requirement):
                    missing.append((requirement, len(jobs)))
                else:
                    self._group(jobs, outcome)
        finally:
            self._progress.close()
        if missing:
            outcome.waits_for, outcome.waiting = missing[0]
        return outcome

    def _is_met(self, requirement: Requirement) -> bool:
        if requirement.check is None:
            return self._directory.state.setting == requirement.name
        words = located(list(requirement.check), self._plan.folder)
        log = self._directory.path / "logs" / f"requirement-{requirement.name}.log"
        with open(os.devnull, "wb") as nowhere:
            try:
                return process.run(words, b"", nowhere, log, self._work, _CHECK_S) == 0
            except NotRun as error:
                raise Failure(f"check of requirement {requirement.name}: {error}") from error

    @property
    def _work(self) -> Path:
        return self._directory.path / "work"

    def _group(self, jobs: list[Job], outcome: Outcome) -> None:
        for job in jobs:
            done, begun = len(self._plan.jobs) - len(self._left), time.monotonic()
            left_s = estimate_s(self._left.values(), self._directory.state.seconds)
            self._progress.begin(done, left_s, job)
            try:
                self._measure(job, lambda: self._progress.tick(done, left_s, job))
            except NotRun as error:
                outcome.failed.append((job, str(error)))
                self._progress.end(done, job, f"failed: {error}")
            else:
                self._directory.keep(job, time.monotonic() - begun)
                del self._left[job.id]
                self._progress.end(done + 1, job, "measured")

    def _measure(self, job: Job, tick: process.Tick) -> None:
        """Its part is sound afterwards."""
        part, log = self._directory.part(job), self._directory.log(job)
        held = [] if job.ssh else [self._directory.lock.fileno()]
        part.unlink(missing_ok=True)  # whatever has that name, and wherever it leads to
        with part.open("xb") as out:
            limit_s = self._plan.timeout_s
            run = process.run_remote if job.ssh else process.run
            code = run(self._words(job), job.stdin, out, log, self._work, limit_s, held, tick)
        told = process.last_words(log)
        if code not in _MEASURED[job.tool]:
            ended = f"was ended by signal {-code}" if code < 0 else f"exit code {code}"
            raise NotRun(f"{job.tool}: {ended}" + (f": {told}" if told else ""))
        self._check(job, part)

    def _check(self, job: Job, part: Path) -> None:
        try:
            source = read(part)
            check(source)
            status = source.document.get("run", {}).get("status", "complete")
        except Failure as failure:
            raise NotRun(f"no result: {str(failure).removeprefix(f'{part}: ')}") from failure
        if status != "complete":
            raise NotRun(f"{job.tool}: the run is {shown(status, 20)}")

    def _words(self, job: Job) -> list[str]:
        """All of them; a program on another host is not looked for beside the plan."""
        plan = self._plan
        program = plan.programs.get(job.tool, [job.tool]) if job.ssh else plan.program(job.tool)
        words = command.with_variables([*program, *job.words], dict(job.variables))
        return remote.over_ssh(plan.program("ssh"), job.ssh, words, len(job.stdin)) if job.ssh else words
