# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test, once its packages are installed: which steps, then their table.

main.py quick|default|all [--list | --step NAME]
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import records
import results
from results import RESULTS, Outcome, Skip
from run import Run
from steps import STEPS, Step, steps_of

BUSY, USAGE = 4, 64


def show_list(steps: list[Step], states: records.States) -> None:
    """Prints which steps hold for the sources as they are, and which are missing."""
    print(f"{'step':<18}{'state':<14}{'time':>7}{'tests':>7}  last run")
    for step in steps:
        record = records.read(step.name)
        if record is None:
            print(f"{step.name:<18}{'missing':<14}")
            continue
        state = record.status if record.status != "passed" or records.holds(step, states) else "changed since"
        print(f"{step.name:<18}{state:<14}{record.seconds:>5} s{record.tests:>7}  {record.commit} {record.when}")


def fio_outcome() -> list[Outcome]:
    """The engine, left out, is a skip of its own."""
    if os.environ.get("FIO_SOURCE_DIR"):
        return []
    with open("/etc/os-release", encoding="utf-8") as file:
        fields = dict(line.strip().split("=", 1) for line in file if "=" in line)
    system = f"{fields.get('ID', '')} {fields.get('VERSION_ID', '')}".replace('"', "")
    return [Outcome("fio-source", total=1, skips=[Skip("engine", f"no source of fio on {system}")])]


def run_alone(steps: list[Step], begun_at: float) -> int:
    """Two runs in one tree would build over, and remove the results of, each other."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with open(RESULTS.parent / "scripts-test.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("scripts/test: another run is at work in this tree", file=sys.stderr)
            return BUSY
        return run_steps(steps, begun_at)


def run_steps(steps: list[Step], begun_at: float) -> int:
    # a run that goes on where another failed must not take away what tells why
    last = RESULTS.with_name(f"{RESULTS.name}.last")
    shutil.rmtree(last, ignore_errors=True)
    if RESULTS.exists():
        RESULTS.rename(last)
    RESULTS.mkdir(parents=True)
    # On a disk, as what tests make persistent has to be; others cannot write there.
    folder = Path(tempfile.mkdtemp(prefix="rpma-test.", dir="/var/tmp"))
    folder.chmod(0o755)
    run = Run(steps, {"MPLCONFIGDIR": str(folder)})

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _frame: run.stop(received))
    run.outcomes += fio_outcome()
    worker = threading.Thread(target=run.execute)
    worker.start()
    while worker.is_alive():
        worker.join(1)  # signals are taken between two waits
    shutil.rmtree(folder, ignore_errors=True)
    for outcome in run.outcomes[:1]:
        if outcome.name == "fio-source":
            run.forbidden_skips += results.forbid_skips(outcome)
    print("\n" + "\n".join(run.forbidden_skips + results.closing_lines(run.outcomes, time.time() - begun_at)))
    if run.stopped_by:
        print("scripts/test: stopped; --all goes on where it was", file=sys.stderr)
        return 128 + run.stopped_by
    return 1 if any(outcome.failed for outcome in run.outcomes) else 0


def chosen(length: str, rest: list[str]) -> list[Step] | None:
    """None: there is no such step."""
    if rest[:1] == ["--step"]:
        found = [step for step in STEPS if step.name == rest[1]]
        if not found:
            names = " ".join(step.name for step in STEPS)
            print(f"scripts/test: --step {rest[1]}: expected one of {names}", file=sys.stderr)
        return found or None
    steps = steps_of(length)
    if length == "all":
        states = records.States()
        steps = [step for step in steps if not records.holds(step, states)]
    return steps


def main(length: str, *rest: str) -> int:
    begun_at = float(os.environ.get("RPMA_TEST_BEGUN") or time.time())
    if rest[:1] == ("--list",):
        show_list(steps_of("all"), records.States())
        return 0
    steps = chosen(length, list(rest))
    if steps is None:
        return USAGE
    status = run_alone(steps, begun_at) if steps else 0
    if length == "all" and not rest:
        print()
        show_list(steps_of("all"), records.States())
        states = records.States()
        status = status or (0 if all(records.holds(step, states) for step in steps_of("all")) else 1)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
