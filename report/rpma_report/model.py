# SPDX-License-Identifier: BSD-3-Clause
"""The report's model of a file, whatever tool wrote it.

sources makes these from checked documents, figures and page read them. Summaries
are kept, and of the single repeats a number each; their histograms are let go, so
that many files fit in memory. Unknown is None, never 0. Times are nanoseconds.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rpma_report.text import shown

if TYPE_CHECKING:  # an array has a type of its items for the checker only
    Integers = array[int]
    Reals = array[float]
else:
    Integers = Reals = array

PERCENTILES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
SHA_DIGITS = 12  # SHA-256 of a file, cut: enough to tell those of a page apart

PERSISTENT = frozenset({"apm", "native", "gpspm", "gpspm-rt", "append", "rpmem", "rpmem-relaxed"})
PROVEN = frozenset({"APM_READY", "APM_READY_EADR", "NATIVE_FLUSH_READY"})
# where the target's processor writes the data back, it does not matter that devices cannot
BY_PROCESSOR = {"gpspm": {"GPSPM_ONLY"}, "gpspm-rt": {"GPSPM_ONLY"}}

# tests of other programs, whose files tell little but times
FOREIGN = frozenset({"hdr", "fio-log", "perftest"})

NOT_READ = "NOT_READ"  # code of a remark on what a reader left out of a file

# a pool of librpmem is not the memory that the server's readiness tells of
ELSEWHERE = frozenset({"rpmem", "rpmem-relaxed"})


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval; None where the file has none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Histogram:
    """Counts of samples in log-linear buckets: ascending lower ends and counts beside them."""

    lows: Integers
    counts: Integers
    sub_bits: int
    unit_bits: int = 0  # no bucket is narrower than 2^unit_bits

    def width(self, low: int) -> int:
        return 1 << max(low.bit_length() - 1 - self.sub_bits, self.unit_bits, 0)

    def middle(self, low: int) -> int:
        return low + self.width(low) // 2

    def ends(self) -> tuple[int, int]:
        """The least and the most that its samples can be."""
        last = self.lows[-1]
        return self.lows[0], last + self.width(last) - 1

    @classmethod
    def of(cls, counts: Mapping[int, int], sub_bits: int, unit_bits: int = 0) -> "Histogram":
        """Takes counts by the lower ends of their buckets."""
        lows = sorted(counts)
        return cls(array("q", lows), array("q", (counts[low] for low in lows)), sub_bits, unit_bits)

    @classmethod
    def sum_of(cls, parts: Sequence["Histogram"]) -> "Histogram":
        """Adds up several of one scheme."""
        counts: Counter[int] = Counter()
        for part in parts:
            counts.update(dict(zip(part.lows, part.counts, strict=True)))
        return cls.of(counts, parts[0].sub_bits, parts[0].unit_bits)


@dataclass(frozen=True)
class Latency:
    """Latency over all complete repeats of a point."""

    count: int
    min: int
    max: int | None  # None: operations that were never begun are later than all samples
    mean: Estimate | None
    percentiles: dict[float, Estimate]  # ascending, only those the samples support
    by_repeat: dict[float, tuple[float, ...]]  # the same of each repeat that supports it
    means_by_repeat: tuple[float, ...]
    histogram: Histogram | None  # None: the file has none

    @classmethod
    def once(cls, count: int, least: int, most: int, mean: float, stated: Mapping[float, float],
             histogram: Histogram | None = None) -> "Latency":  # fmt: skip
        """Makes that of a point that was measured once: its percentiles are those of the only repeat."""
        shares = sorted(stated)
        return cls(count, least, most, Estimate(mean), {p: Estimate(stated[p]) for p in shares},
                   {p: (stated[p],) for p in shares}, (mean,), histogram)  # fmt: skip


@dataclass(frozen=True)
class Windows:
    """Time series of one repeat: ends of its spans, what was done in them per second, and p99."""

    ends_ns: Integers
    ops_per_s: Reals
    p50_ns: Reals  # NaN where unknown
    p99_ns: Reals
    max_ns: Reals
    counts: tuple[Histogram | None, ...] = ()  # one each span, where the file has them


@dataclass(frozen=True)
class Reverse:
    """Both ways: what the server measured towards the client."""

    ops_per_s: Estimate | None
    bytes_per_s: Estimate | None
    latency: Latency | None


@dataclass(frozen=True)
class Cpu:
    """CPU seconds per second of the measuring processes, and the load made on purpose."""

    client_busy: float | None = None
    server_busy: float | None = None
    server_load: float | None = None  # as measured


@dataclass(frozen=True)
class StudyRun:
    """The place of a file in a study that measured two sides by turns."""

    study: str  # equal in all files of the study
    pair: int
    side: str  # A or B
    order: int  # among all its runs
    disturbed: bool  # other programs took CPU time: the pair was measured again


@dataclass(frozen=True)
class Point:
    """One set of parameters with what was measured for it."""

    id: str
    params: dict[str, Any]  # as in rpma-bench's schema; of fio also job, ioengine, rw
    repeats: int  # complete ones
    ops: int | None  # None: a log of windows, which does not count them
    errors: int
    ops_per_s: Estimate | None = None
    bytes_per_s: Estimate | None = None  # None: nothing is transferred
    ops_per_s_by_repeat: tuple[float, ...] = ()
    bytes_per_s_by_repeat: tuple[float, ...] = ()
    latency: Latency | None = None
    read_latency: Latency | None = None  # in a mix
    response_latency: Latency | None = None  # in an open loop
    late_ops: int | None = None
    unbegun_ops: int | None = None
    steps: dict[str, Latency] = field(default_factory=dict)  # for connect and register
    windows: tuple[Windows, ...] = ()  # one per repeat that has any
    cpu: Cpu = Cpu()
    reverse: Reverse | None = None
    mismatches: int | None = None  # bytes that verification found wrong; None: not asked for
    steady: bool | None = None
    flagged: tuple[str, ...] = ()
    study_run: StudyRun | None = None
    file: str = field(default="", compare=False)  # first digits of the SHA-256 of its file

    @property
    def test(self) -> str:
        return str(self.params["test"])

    @property
    def bandwidth(self) -> Estimate:
        """The bandwidth of a point that is known to transfer something."""
        assert self.bytes_per_s is not None
        return self.bytes_per_s


@dataclass(frozen=True)
class Remark:
    """A warning of the tool, or of the report about a file."""

    code: str
    severity: str
    host: str
    text: str


@dataclass(frozen=True)
class Check:
    """A line of a readiness check; a result of rpma-bench may have only id and status."""

    id: str
    status: str
    title: str | None = None
    value: str | None = None
    meaning: str | None = None
    fix: str | None = None


@dataclass(frozen=True)
class Readiness:
    """Is the target's platform ready for remote persistent memory?"""

    verdict: str
    checks: tuple[Check, ...]
    reason: str | None = None
    because: str | None = None
    assumed: bool = False  # by a statement of the operator, not by what was seen
    target: str | None = None
    ddio: str | None = None
    direct_write_to_pmem: bool | None = None


@dataclass(frozen=True)
class Ping:
    """The results of rpma-ping: times of the steps, pings sent and come back, latencies by name."""

    steps: tuple[tuple[str, int | None], ...]
    transmitted: int
    received: int
    lost: int
    corrupt: int
    server: str
    size_bytes: int  # the largest
    flush: str | None
    latencies: dict[str, Latency]
    sizes: tuple["Ping", ...] = ()  # the same of each size, where pings had several


@dataclass(frozen=True)
class Trial:
    """A rate that a search tried."""

    point: str  # its id
    rate: int
    kept: bool | None  # None: unknown
    achieved: bool
    value: float | None  # the limited figure
    again: bool  # measured twice


@dataclass(frozen=True)
class Search:
    """A search for the highest rate that keeps a limit."""

    limit: str  # response.p99<20us
    name: str  # what tells it from the other searches of the run; may be empty
    verdict: str  # found, kept, missed, unclear, unknown, unfinished
    highest_kept: int | None
    lowest_missed: int | None
    gap: float | None
    trials: tuple[Trial, ...]

    @property
    def figure(self) -> str:
        return self.limit.partition("<")[0].partition(">")[0].strip()


@dataclass(frozen=True)
class Run:
    """One file: what a run of a tool has written."""

    program: str  # rpma-bench, fio, rpma-ping, rpma-ddio-check, HdrHistogram, fio's log, perftest
    name: str  # unique among the runs of a page
    file: str
    sha256: str
    tool: dict[str, Any]
    commands: tuple[str, ...]  # what reproduces it: command lines, or a job file
    label: str | None = None
    run_id: str | None = None
    started: str | None = None
    ended: str | None = None
    status: str = "complete"  # or interrupted, failed
    failure: str | None = None
    device_name: str | None = None
    device_kind: str | None = None  # None: there was none, or the file does not say
    device_transport: str | None = None
    emulated_cpu: bool | None = None
    points: tuple[Point, ...] = ()
    warnings: tuple[Remark, ...] = ()
    environment: dict[str, Any] = field(default_factory=lambda: {"client": None, "server": None})
    clock: dict[str, Any] = field(default_factory=dict)
    readiness: Readiness | None = None
    ping: Ping | None = None
    slos: tuple[tuple[str, bool | None], ...] = ()  # limits and whether they were missed; None: not known
    searches: tuple[Search, ...] = ()

    @property
    def dropped(self) -> tuple[str, ...]:
        """The texts on what was in its files, and is in none of its figures."""
        return tuple(remark.text for remark in self.warnings if remark.code == NOT_READ)

    @property
    def is_named_by_file(self) -> bool:
        """It has no label, and is not one of several hosts."""
        return self.name == shown(self.file, 60)

    @property
    def is_hardware(self) -> bool:
        """Only such figures say something of hardware."""
        return self.device_kind == "hardware" and self.emulated_cpu is not True

    @property
    def records_device(self) -> bool:
        """Programs of others do not say what kind of device they ran on."""
        return self.program.startswith("rpma-")

    @property
    def is_measured(self) -> bool:
        """A readiness check measures nothing: its device marks no figure."""
        return self.program != "rpma-ddio-check"

    @property
    def verdict(self) -> str | None:
        return self.readiness.verdict if self.readiness else None

    @property
    def claims(self) -> set[str]:
        """The ways to persist that its points say they used."""
        return {p.params["persist"] for p in self.points} & PERSISTENT

    @property
    def persistence_unproven(self) -> bool:
        """It claims persistence and no positive verdict of the target backs it."""
        return any(c in ELSEWHERE or self.verdict not in PROVEN | BY_PROCESSOR.get(c, set()) for c in self.claims)


def listed(runs: Sequence[Run]) -> tuple[str, ...]:
    """SHA-256, id and file of each, as a page names them."""
    return tuple(f"{run.sha256} {shown(run.run_id or '-', 60)} {run.file}" for run in runs)


def name_apart(runs: Sequence[Run]) -> list[Run]:
    """Runs of the same label, or the same host, get the name of their file, and if that is the same, a number."""
    labels = Counter(run.name for run in runs)
    named, taken = [], Counter[str]()
    for run in runs:
        several = not run.is_named_by_file and labels[run.name] > 1
        name = f"{run.name} \u00b7 {run.file[:60]}" if several else run.name
        taken[name] += 1
        named.append(replace(run, name=name if taken[name] == 1 else f"{name} ({taken[name]})"))
    return named
