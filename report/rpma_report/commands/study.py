# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report study: carry out a plan of measurements, and report on them.

The same command goes on where an earlier one ended, however that ended.
"""

import argparse
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rpma_report.atomic_file import NotWritten
from rpma_report.commands import Commands
from rpma_report.failure import Failure
from rpma_report.terminal import say
from rpma_report.text import shown

if TYPE_CHECKING:
    from rpma_report.comparison.measures import Measure
    from rpma_report.model import Run
    from rpma_report.studies.plan import Job, Plan
    from rpma_report.studies.state import Directory
    from rpma_report.studies.study import Outcome

EXIT_WAITS = 3  # for a setting that the user has to make


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "study", help="carry out a plan of measurements, and report on them",
        description="Measures what a plan has left, keeps each result, and ends with the report.",
    )  # fmt: skip
    parser.add_argument("plan", metavar="PLAN", type=Path, nargs="?", help="what to measure: JSON")
    parser.add_argument("--ab", metavar=("A", "B"), type=Path, nargs=2,
                        help="compare two plans in interleaved pairs: is B better or worse than A?")  # fmt: skip
    parser.add_argument("--figures", metavar="LIST", type=_figures,
                        help="figures that --ab decides, such as p50,p99.9; those of compare if not given")  # fmt: skip
    parser.add_argument("-d", "--dir", metavar="DIR", type=Path,
                        help="directory of the study; PLAN.study if not given")  # fmt: skip
    parser.add_argument("--met", metavar="NAME", help="this requirement of the plan is met now")
    parser.set_defaults(run=run, parser=parser)


def _figures(text: str) -> "list[Measure]":
    from rpma_report.comparison import measures

    found = [(name, measures.named(name)) for name in dict.fromkeys(text.split(","))]
    for name, measure in found:
        if measure is None:
            raise argparse.ArgumentTypeError(f"'{shown(name, 40)}' is not a figure, expected {measures.EXPECTED}")
    return [measure for _, measure in found if measure]


def run(options: argparse.Namespace) -> int:
    if (options.plan is None) == (options.ab is None):
        options.parser.error("give either PLAN or --ab A B")
    if options.figures and not options.ab:
        options.parser.error("--figures goes with --ab")
    if options.met and options.ab:
        options.parser.error("--met goes with a PLAN")
    return _run_pairs(options) if options.ab else _run_plan(options)


def _run_pairs(options: argparse.Namespace) -> int:
    from rpma_report.atomic_file import write_atomically
    from rpma_report.studies import pairs, pairs_text, plan, progress, state

    a, b = (plan.load(path) for path in options.ab)
    both = pairs.Both((a, b))
    pairs.check(both)
    directory = state.Directory(options.dir or Path("-".join(p.stem for p in options.ab) + ".study"), both)
    try:
        most = 2 * pairs.LAST * len(a.jobs)
        study = pairs.Study(both, directory, options.figures or [], progress.Progress(most))
        outcome = study.carry_out()
        lines = list(pairs_text.lines(both, outcome))
        for line in lines:
            say(line)
        write_atomically(directory.path / "report.txt", ("\n".join(lines) + "\n").encode())
        if outcome.refused:
            sys.stderr.write(f"rpma-report: refused: {outcome.refused}\n")
        return pairs_text.exit_code(outcome)
    except OSError as error:
        raise NotWritten(f"{shown(error.filename or directory.path)}: {error.strerror}") from error
    finally:
        directory.close()


def _run_plan(options: argparse.Namespace) -> int:
    from rpma_report.studies import plan, progress, state, study

    found = plan.load(options.plan)
    names = [requirement.name for requirement in found.requirements]
    if options.met is not None and options.met not in names:
        known = f"one of {', '.join(names)}" if names else "none: the plan has no requirements"
        text = f"'{shown(options.met, 60)}' is not a requirement of the plan, expected {known}"
        options.parser.error(f"--met: {text}")
    directory = state.Directory(options.dir or Path(f"{options.plan.stem}.study"), found)
    try:
        if options.met:
            directory.state.setting = options.met
            directory.save()
        outcome = study.Study(found, directory, progress.Progress(len(found.jobs))).carry_out()
        return _end(options, found, directory, outcome)
    except (KeyboardInterrupt, SystemExit):
        done = len(found.jobs) - len(directory.left())
        sys.stderr.write(f"{done} of {len(found.jobs)} measurements are done; the same command goes on\n")
        raise
    except OSError as error:
        raise NotWritten(f"{shown(error.filename or directory.path)}: {error.strerror}") from error
    finally:
        directory.close()


def _end(options: argparse.Namespace, plan: "Plan", directory: "Directory", outcome: "Outcome") -> int:
    left, of = len(directory.left()), len(plan.jobs)
    waits = outcome.waits_for
    if waits:
        place = f" --dir {shown(options.dir)}" if options.dir else ""
        told = "" if waits.check else f" --met {waits.name}"
        text = "".join(f"  {shown(line, 2000)}\n" for line in waits.text.splitlines())
        sys.stderr.write(
            f"{of - left} of {of} measurements are done. "
            f"The next {outcome.waiting} need {waits.name}:\n{text}"
            f"Then go on with: rpma-report study {shown(options.plan)}{place}{told}\n"
        )
    if outcome.failed:
        job, why = outcome.failed[0]
        raise Failure(f"{len(outcome.failed)} of {of} measurements failed, the first ({job.subject}): {why}; "
                      f"see {shown(directory.log(job))}; the same command tries them again")  # fmt: skip
    if waits:
        return EXIT_WAITS
    say(f"{of} measurements are done: {_report(plan, directory)}")
    return 0


def _report(plan: "Plan", directory: "Directory") -> Path:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from rpma_report.measurement import united
    from rpma_report.model import name_apart
    from rpma_report.page import outputs, points_csv, report

    runs = name_apart(united([_loaded(plan, directory, job) for job in plan.jobs]))
    wanted = outputs.Wanted(directory.path / "report.html", csv=directory.path / "points.csv")
    outputs.write(report.document(runs), wanted, lambda: points_csv.render(runs))
    return wanted.page


def _loaded(plan: "Plan", directory: "Directory", job: "Job") -> "Run":
    """A result that was measured under another setting is another measurement."""
    from rpma_report.sources import load

    run = load(directory.result(job))
    points = tuple(replace(point, id=f"{job.subject}, {point.id}") for point in run.points)
    label, name = (", ".join(filter(None, (first, job.requires))) for first in (plan.name, job.tool))
    return replace(run, label=label, name=name, points=points)
