# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of rpma-bench and fio for one point: lists of words that no shell sees.

Both write their result to standard output, so that it takes the same way from this
host and from another.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Options = Mapping[str, Any]

# Options that the study itself sets.
OWN = {
    "rpma-bench": ("output", "json", "csv", "resume", "plan", "dry-run", "repeats", "label", "quiet",
                   "verbose", "help", "version"),
    "fio": ("output", "output-format", "name", "section", "status-interval", "client", "server",
            "daemonize", "remote-config", "eta", "help", "version", "cmdhelp", "enghelp", "showcmd"),
}  # fmt: skip
FIO_JOB = "job"  # what fio calls the job of a series that names none


def is_own(tool: str, option: str) -> bool:
    """Also where it is cut short, which getopt takes."""
    return any(own.startswith(option.lower()) for own in OWN[tool])


def rpma_bench(server: str | None, options: Options, repeats: int | None) -> list[str]:
    where = ["client", server] if server else ["local"]
    often = [] if repeats is None else [f"--repeats={repeats}"]
    return [*where, "--json", "--quiet", *_long(options), *often]


def fio(options: Options, jobs: Sequence[tuple[str, Options]]) -> list[str]:
    """Options before the first job are those of all."""
    words = [*_FIO, *_long(options)]
    for name, of_job in jobs:
        words += [f"--name={name}", *_long(of_job)]
    return words


def fio_file() -> list[str]:
    """The command for a job file on standard input."""
    return [*_FIO, "-"]


_FIO = ("--output-format=json+", "--eta=never")


def with_variables(words: Sequence[str], variables: Options) -> list[str]:
    """${NAME} in a job file is a variable of the environment."""
    settings = [f"{key}={_text(value)}" for key, value in variables.items()]
    return ["env", *settings, *words] if settings else list(words)


def _long(options: Options) -> Iterator[str]:
    for key, value in options.items():
        if value is True:
            yield f"--{key}"
        elif value is not False:
            yield f"--{key}={_text(value)}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
