# SPDX-License-Identifier: BSD-3-Clause
"""Carries out one job of a plan: its output, checked, is the job's part in the directory."""

from rpma_report.failure import Failure
from rpma_report.sources import check
from rpma_report.sources.document import read
from rpma_report.studies import command, process, remote
from rpma_report.studies.plan import Job, Plan
from rpma_report.studies.process import NotRun
from rpma_report.studies.state import Directory
from rpma_report.text import shown

# 1 is rpma-bench's verdict on gates and verification: the result is complete and records it.
_MEASURED = {"rpma-bench": (0, 1), "fio": (0,)}


def measure(plan: Plan, directory: Directory, job: Job, tick: process.Tick) -> None:
    """Its part is sound afterwards."""
    part, log = directory.part(job), directory.log(job)
    held = [] if job.ssh else [directory.lock.fileno()]
    part.unlink(missing_ok=True)  # whatever has that name, and wherever it leads to
    with part.open("xb") as out:
        run = process.run_remote if job.ssh else process.run
        code = run(_words(plan, job), job.stdin, out, log, directory.work, plan.timeout_s, held, tick)
    told = process.last_words(log)
    if code not in _MEASURED[job.tool]:
        ended = f"was ended by signal {-code}" if code < 0 else f"exit code {code}"
        raise NotRun(f"{job.tool}: {ended}" + (f": {told}" if told else ""))
    _check(directory, job)


def _check(directory: Directory, job: Job) -> None:
    part = directory.part(job)
    try:
        source = read(part)
        check(source)
        status = source.document.get("run", {}).get("status", "complete")
    except Failure as failure:
        raise NotRun(f"no result: {str(failure).removeprefix(f'{part}: ')}") from failure
    if status != "complete":
        raise NotRun(f"{job.tool}: the run is {shown(status, 20)}")


def _words(plan: Plan, job: Job) -> list[str]:
    """All of them; a program on another host is not looked for beside the plan."""
    program = plan.programs.get(job.tool, [job.tool]) if job.ssh else plan.program(job.tool)
    words = command.with_variables([*program, *job.words], dict(job.variables))
    return remote.over_ssh(plan.program("ssh"), job.ssh, words, len(job.stdin)) if job.ssh else words
