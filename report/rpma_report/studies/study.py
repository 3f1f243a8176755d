# SPDX-License-Identifier: BSD-3-Clause
"""Carries out what a plan has left: measurement by measurement, setting by setting."""

import os
import time
from dataclasses import dataclass, field

from rpma_report.failure import Failure
from rpma_report.studies import process
from rpma_report.studies.measure import measure
from rpma_report.studies.plan import Job, Plan, Requirement, located
from rpma_report.studies.process import NotRun
from rpma_report.studies.progress import Progress, estimate_s
from rpma_report.studies.state import Directory

_CHECK_S = 300.0  # a requirement's check has so long


@dataclass
class Outcome:
    """The outcome of one call: what is left, and why."""

    failed: list[tuple[Job, str]] = field(default_factory=list)
    waits_for: Requirement | None = None  # a setting that the user has to make
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
                return process.run(words, b"", nowhere, log, self._directory.work, _CHECK_S) == 0
            except NotRun as error:
                raise Failure(f"check of requirement {requirement.name}: {error}") from error

    def _group(self, jobs: list[Job], outcome: Outcome) -> None:
        for job in jobs:
            done, begun = len(self._plan.jobs) - len(self._left), time.monotonic()
            left_s = estimate_s(self._left.values(), self._directory.state.seconds)
            self._progress.begin(done, left_s, job)
            try:
                measure(self._plan, self._directory, job, lambda: self._progress.tick(done, left_s, job))
            except NotRun as error:
                outcome.failed.append((job, str(error)))
                self._progress.end(done, job, f"failed: {error}")
            else:
                self._directory.keep(job, time.monotonic() - begun)
                del self._left[job.id]
                self._progress.end(done + 1, job, "measured")
