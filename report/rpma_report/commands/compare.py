# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report compare: better, worse or the same: two measurements or more.

Each is a result or a directory of results. The words go to standard output, the page
with the charts to the file that -o names; --fail-if makes the exit code a verdict.
"""

import argparse
import logging
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rpma_report.commands import Commands, recipe
from rpma_report.failure import Failure
from rpma_report.page import outputs
from rpma_report.terminal import say
from rpma_report.text import shown

if TYPE_CHECKING:
    from rpma_report.comparison.gate import Condition
    from rpma_report.comparison.limits import Findings
    from rpma_report.comparison.measures import Measure
    from rpma_report.measurement import Measurement
    from rpma_report.model import Run
    from rpma_report.page.document import Document

EXIT_FAIL_IF, EXIT_UNDETERMINED = 1, 3
_MAX_LINES = 400


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "compare", help="better, worse or the same: two results or more",
        description="Compares results with a base, point by point.",
    )  # fmt: skip
    parser.add_argument("base", metavar="BASE", type=Path, help="a result, or a directory of results")
    parser.add_argument("new", metavar="NEW", nargs="+", type=Path,
                        help="what is compared with it, each alone")  # fmt: skip
    parser.add_argument("--figures", metavar="LIST", type=figures, default=(),
                        help="figures that decide, such as p50,p99.9; p50 and p99 if not given")  # fmt: skip
    parser.add_argument("--noise", metavar="N%", type=noise,
                        help="how much two runs of the same thing differ; a change must exceed it. "
                        "For results that were not measured in interleaved pairs")  # fmt: skip
    parser.add_argument("--fail-if", metavar="EXPR", action="append", default=[],
                        help="exit with 1 where this certainly holds at any point: worse, or a limit such as "
                        "'p99 > 5%%'; with 3 where that cannot be decided")  # fmt: skip
    parser.add_argument("--fail-if-estimate", metavar="EXPR", action="append", default=[],
                        help="the same of a limit by the change alone, however uncertain it is")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="the changes for programs; - is standard output, which then has nothing else")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="the judged figures as test cases")
    parser.add_argument("--github", action="store_true", help="workflow commands of GitHub in place of the words")
    outputs.add_options(parser, required=False)
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    conditions = _conditions(options)
    _check_outputs(options)
    found = _compared([options.base, *options.new], options, conditions)
    code = EXIT_FAIL_IF if found.failed else EXIT_UNDETERMINED if found.undetermined else 0
    if options.output:
        _write(options, found)
    _write_for_programs(options, found, code)
    if options.github:
        from rpma_report.comparison import report, workflow

        for line in workflow.commands(found, report.alarms(found.runs)):
            say(line)
    elif options.json != "-":
        _tell(found, every=not options.output)
        _tell_conditions(found)
    return code


def _compared(paths: Sequence[Path], options: argparse.Namespace, conditions: "Sequence[Condition]") -> "Findings":
    from rpma_report.comparison import changes, limits
    from rpma_report.measurement import read
    from rpma_report.model import name_apart

    base, *others = _named_apart(paths, [read(path) for path in paths])
    also = tuple(condition.measure for condition in conditions if condition.measure)
    asked = changes.Asked(options.figures, also, options.noise)
    comparisons = [changes.compare(base, new, asked) for new in others]
    runs = name_apart([*base.runs, *(run for other in others for run in other.runs)])
    return limits.findings(conditions, base, comparisons, runs)


def remade(paths: Sequence[Path], made: recipe.Recipe) -> "tuple[Document, Sequence[Run]]":
    """The page of these results, for verify."""
    from rpma_report.comparison import gate

    options = recipe.parsed(made, figures, noise)
    try:
        conditions = _conditions_of(options)
    except gate.Malformed as error:
        raise Failure(f"the options of the page: {error}") from error
    found = _compared(paths, options, conditions)
    return _document(paths, options, found), found.runs


def _tell_conditions(found: "Findings") -> None:
    from rpma_report.comparison import words

    for line in words.failed(found, _MAX_LINES):
        say(f"failed: {line}")
    for line in words.undetermined(found, _MAX_LINES):
        say(f"undetermined: {line}")
    if found.passed:
        say(f"passed: {found.asked}")


def _write_for_programs(options: argparse.Namespace, found: "Findings", code: int) -> None:
    from rpma_report.atomic_file import write_atomically
    from rpma_report.comparison import junit, machine

    if options.junit:
        write_atomically(options.junit, junit.render(found).encode())
    if options.json:
        text = machine.render(found, code)
        if options.json == "-":
            say(text.rstrip("\n"))
        else:
            write_atomically(Path(options.json), text.encode())


def noise(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%", text, re.ASCII)
    if not match:
        raise argparse.ArgumentTypeError(f"'{shown(text, 60)}' is not a noise, expected a percentage such as 3%")
    return float(match[1]) / 100


def figures(text: str) -> "tuple[Measure, ...]":
    from rpma_report.comparison import measures

    found = [measures.named(name.strip()) for name in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"'{shown(text, 60)}' has a word that is not a figure, expected {measures.EXPECTED}")
    return tuple(measure for measure in found if measure)


def _conditions(options: argparse.Namespace) -> "list[Condition]":
    from rpma_report.comparison import gate

    try:
        return _conditions_of(options)
    except gate.Malformed as error:
        options.parser.error(str(error))
        raise  # error() has ended the program


def _conditions_of(options: argparse.Namespace) -> "list[Condition]":
    from rpma_report.comparison import gate

    found = []
    for option, texts in (("--fail-if", options.fail_if), ("--fail-if-estimate", options.fail_if_estimate)):
        try:
            found += [c for text in texts for c in gate.parse(text, option.endswith("estimate"))]
        except gate.Malformed as error:
            raise gate.Malformed(f"{option}: {error}") from error
    return found


def _check_outputs(options: argparse.Namespace) -> None:
    from rpma_report import measurement

    if options.json == "-" and options.github:
        options.parser.error("--json - and --github both write to standard output: give --json a file")
    inputs = [options.base, *options.new]
    files = [file for path in inputs for file in (path, *(measurement.files(path) if path.is_dir() else ()))]
    more = [Path(path) for path in (options.json, options.junit) if path and path != "-"]
    if options.output or more:
        outputs.check_options(options, files, more)
    if options.output:
        return
    if any((options.png, options.pdf, options.md, options.csv)):
        options.parser.error("--png, --pdf, --md and --csv go with a page: give -o as well")


def _named_apart(paths: Sequence[Path], read: "Sequence[Measurement]") -> "list[Measurement]":
    """By label or file; by path where that is not enough."""
    from rpma_report.measurement import called

    taken = Counter(m.name for m in read)
    names = [m.name if taken[m.name] == 1 else shown(os.path.normpath(p), 120)
             for m, p in zip(read, paths, strict=True)]  # fmt: skip
    seen: Counter[str] = Counter()
    named = []
    for measurement, name in zip(read, names, strict=True):
        seen[name] += 1
        named.append(called(measurement, name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return named


def _write(options: argparse.Namespace, found: "Findings") -> None:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from rpma_report.comparison import words

    document = _document([options.base, *options.new], options, found)
    outputs.write(document, outputs.Wanted.of(options), lambda: words.table(found.comparisons, found.runs))


def _document(paths: Sequence[Path], options: argparse.Namespace, found: "Findings") -> "Document":
    """The page, with what verify needs to make it again."""
    from rpma_report.comparison import report

    limits = {"fail_if": options.fail_if, "fail_if_estimate": options.fail_if_estimate}
    made = recipe.text(recipe.Recipe("compare", recipe.names(paths), {**recipe.shared(options), **limits}))
    files = (*found.base.files, *(file for comparison in found.comparisons for file in comparison.new.files))
    return replace(report.document(found), results=files, made=made)


def _tell(found: "Findings", every: bool) -> None:
    from rpma_report import copies
    from rpma_report.comparison import report, words

    for note in report.alarms(found.runs):
        say(" ".join((note.heading, *note.lines)))
    for text in copies.told(found.runs):
        say(f"{text}.")
    for comparison in found.comparisons:
        say(f"{comparison.new.name} against {found.base.name}: {words.tally(comparison)}")
        lines = list(words.lines(comparison)) if every else []
        for line in (*lines[:_MAX_LINES], *words.skipped(comparison)):
            say(line)
        if len(lines) > _MAX_LINES:
            say(f"  and {len(lines) - _MAX_LINES} lines more: -o writes a page with all of them")
    if every and (differing := list(words.differing(found.runs))):
        for line in ("Facts of the hosts that differ:", *differing):
            say(line)
