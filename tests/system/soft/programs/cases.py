# SPDX-License-Identifier: BSD-3-Clause
"""The table of cases: Debian's programs, as their manuals say to call them.

What is expected comes from those manuals, from arithmetic, and from the same
programs on the kernel's own RDMA device.
"""

import re
import shutil
import subprocess
from typing import Any

from device import BUILD
from pair import Case

ITERATIONS = 5000
# Both sides of a latency test poll: with other work on its cores each turn takes a time slice.
LATENCY_ITERATIONS = 1000
ALL_SIZES = [2**power for power in range(1, 24)]  # perftest -a: "sizes from 2 till 2^23"
CM_EVERY_DAY = ("read_bw", "send_lat")
DEFAULT_SIZE = {"lat": 2, "bw": 65536, "atomic_lat": 8}
# All is done, and main() destroys the event channel while a thread may be about to wait there
# again, which then ends the process with exit(-1) before main() does. It may also find what is
# left of the channel's memory.
RPING_MAY_END = (
    r"(?m)^(client|server) DISCONNECT EVENT\.\.\.\n"
    r"(wait for RDMA_READ_ADV state 10\n)?"
    r"rdma_get_cm_event: (Bad file descriptor|Input/output error)\n\Z"
)
EXAMPLES = [
    "01-connection",
    "02-read",
    "03-write-flush",
    "04-log-append",
    "05-messages",
    "06-immediate",
    "07-shared-receive-queue",
    "08-shared-channel",
    "09-epoll",
]


def both(name: str, command: str, at: str, **fields: Any) -> Case:
    """A case whose client is called as its server is, and with the address."""
    return Case(name, command, f"{command} {at}", **fields)


def listens_at_tcp_too(program: str) -> bool:
    """The cmtime of Debian 13, which compares with sockets (-S), has one at the port of the CM. There
    the software device listens, whose connections are TCP's."""
    usage = subprocess.run([program, "-?"], capture_output=True, text=True, check=False) if shutil.which(program) else None
    return usage is not None and "[-S]" in usage.stdout + usage.stderr


def utilities() -> list[Case]:
    pingpong = "ibv_rc_pingpong {pingpong} -p {port}"
    others = [f"ibv_{kind}_pingpong" for kind in ("uc", "ud", "srq")]
    rping = "-a {address} -p {port}"
    fields: dict[str, Any] = {"listens": "tcp", "prints": (r"(?m)^1000 iters in ",)}
    # the client may be gone before it hears of its own disconnect
    disconnected: dict[str, Any] = {
        "server_prints": ("DISCONNECT EVENT",),
        "never_prints": ("mismatch", "(?<!rdma_get_cm_event: Input/output )error"),
        "may_end": RPING_MAY_END,
    }
    matose: dict[str, Any] = {"prints": ("data transfers complete", "return status 0")}
    return [
        both("ibv_rc_pingpong", pingpong, "{exchange}", **fields),
        both("ibv_rc_pingpong-events", f"{pingpong} -e", "{exchange}", **fields),
        both("ibv_rc_pingpong-checked", f"{pingpong} -c", "{exchange}", **fields),
        # rxe has none of these
        *(both(f"ibv_rc_pingpong-{name}", f"{pingpong} {options}", "{exchange}", soft_only=True, **fields)
          for name, options in (("stamps", "-t"), ("prefetched", "-c -o -P"), ("device-memory", "-c -j"))),
        *(both(other, f"{other} {{pingpong}} -p {{port}}", "{exchange}", listens="tcp",
               prints=(r"(?m)^1000 iters in ",)) for other in others),
        both("ibv_ud_pingpong-events", "ibv_ud_pingpong {pingpong} -p {port} -e", "{exchange}", **fields),
        Case("rping", f"rping -s {rping} -V -C 1000", f"rping -c {rping} -V -C 1000",
             **disconnected),
        Case("rping-own-qp", f"rping -s {rping} -V -C 100 -q", f"rping -c {rping} -V -C 100 -q",
             **disconnected),
        Case("rping-64k", f"rping -s {rping} -V -C 100 -S 65535",
             f"rping -c {rping} -V -C 100 -S 65535", **disconnected),
        Case("ucmatose-100", "ucmatose -b {address} -p {port} -c 100 -f ip",
             "ucmatose -s {address} -p {port} -c 100 -f ip", **matose),
        Case("ucmatose-migrate", "ucmatose -b {address} -p {port} -c 20 -m",
             "ucmatose -s {address} -p {port} -c 20 -m", **matose),
        Case("ucmatose-1000", "ucmatose -b {address} -p {port} -c 1000",
             "ucmatose -s {address} -p {port} -c 1000", **matose),
        # its server takes requests without end
        Case("cmtime", "cmtime -b {address} -p {port} -c 100", "cmtime -s {address} -p {port} -c 100",
             client_prints=(r"(?m)^connect +: +[\d.]+", r"(?m)^disconnect +: +[\d.]+"), server_ends=False,
             kernel_only=listens_at_tcp_too("cmtime")),
        Case("rdma_server", "rdma_server -s {address} -p {port}",
             "rdma_client -s {address} -p {port}", prints=(r"rdma_(server|client): end 0",)),
    ]  # fmt: skip


def rows_are(sizes: list[int], iterations: int):
    """perftest's client prints one row for each size, with what it did."""

    def check(stdout: str) -> None:
        found = re.findall(r"(?m)^ *(\d+) +(\d+) +[\dinf.-]+", stdout)  # a loaded clock gives inf
        expected = [(str(size), str(iterations)) for size in sizes]
        assert found == expected, f"rows {found}, expected {expected}"

    return check


def datagrams() -> list[Case]:
    """udaddy(1) and mckey(1) take no port: -p is their port space."""
    fields: dict[str, Any] = {"prints": ("data transfers complete", "return status 0"), "listens": "output"}
    udaddy: dict[str, Any] = {**fields, "ready": "starting server", "too_early": "UNREACHABLE, error: 1"}
    mckey: dict[str, Any] = {**fields, "ready": "receiving data transfers", "soft_only": True}
    group = "-m {group} -b {address}"
    return [
        Case("udaddy", "stdbuf -oL udaddy -b {address}", "udaddy -s {address}", **udaddy),
        Case("udaddy-20", "stdbuf -oL udaddy -b {address} -c 20", "udaddy -s {address} -c 20", **udaddy),
        # on the kernel's device messages to a group on one host do not always arrive
        Case("mckey", f"stdbuf -oL mckey {group}", f"mckey {group} -s", ipv4_only=True, **mckey),
    ]  # fmt: skip


def perftest(test: str, *options: str, cm: bool = False, long: bool = False,
             iterations: int = 0) -> Case:  # fmt: skip
    many = "-a" in options or not test.endswith("lat")
    iterations = iterations or (ITERATIONS if many else LATENCY_ITERATIONS)
    queue_pairs = 4 if "-q 4" in options else 1
    size = DEFAULT_SIZE.get(test) or DEFAULT_SIZE[test.partition("_")[2]]
    if "-c UD" in options:
        size = min(size, 4096)  # "Max msg size in UD is MTU", which the port has
    sizes = ALL_SIZES if "-a" in options else [size]
    command = " ".join([f"ib_{test} -F -p {{port}} -n {iterations}", *options])
    return both(
        "-".join([f"ib_{test}", *(option.replace(" ", "").strip("-") for option in options)])
        + ("-cm" if cm else "") + (f"-{iterations}" if "-a" in options else ""),
        command + (" -R" if cm else " {perftest}"),
        "{address}" if cm else "{exchange}",
        listens="cm" if cm else "tcp",
        never_prints=(r"(?i)\berror\b", r"(?i)fail"),
        check=rows_are(sizes, iterations * queue_pairs),
        ipv4_only=cm,
        long=long,
        # a kernel shows that an identifier listens before its device does: rdma_listen() in cma.c
        too_early=r"RDMA_CM_EVENT_REJECTED; error: 8\b" if cm else "",
    )


def perftests() -> list[Case]:
    cases = []
    moves = [f"{kind}_{what}" for what in ("lat", "bw") for kind in ("write", "read", "send")]
    for cm in (False, True):
        # rdma_cm only connects: what moves then is the same
        cases += [perftest(test, cm=cm, long=cm and test not in CM_EVERY_DAY) for test in [*moves, "atomic_lat"]]
        for test in moves:
            # perftest measures its clock for a quarter of a second at each size
            quick = test == "send_bw" and not cm
            cases.append(perftest(test, "-a", cm=cm, long=not quick, iterations=50))
            if not cm:
                cases.append(perftest(test, "-a", long=True, iterations=200))
            if not test.startswith("write"):
                cases.append(perftest(test, "-e", cm=cm, long=cm))
            if test.startswith("send"):
                cases.append(perftest(test, "--use-srq", cm=cm, long=cm))
            if test.endswith("bw"):
                cases.append(perftest(test, "-q 4", cm=cm, long=cm))
                cases.append(perftest(test, "-b", cm=cm, long=cm))
                cases.append(perftest(test, "-b", "-q 4", cm=cm, long=True))
    for kind, tests in (("UC", moves[:1] + moves[2:4] + moves[5:]), ("UD", ["send_lat", "send_bw"])):
        for test in tests:
            iterations = 1000 if test.endswith("bw") else 0
            quick = test == "send_lat"
            cases.append(perftest(test, f"-c {kind}", long=not quick, iterations=iterations))
    cases.append(perftest("send_lat", "-c UD", cm=True, long=True))
    return cases


def qperf() -> Case:
    """qperf's server goes on for ever, and tells its port before it listens on it."""
    figure = r"\s+(latency|bw) +=\s+[1-9][\d.,]* \S+\s+"
    tests = ("rc_lat", "rc_bw", "rc_rdma_write_bw", "rc_rdma_read_lat")
    return Case(
        "qperf",
        "qperf -lp {port}",
        "qperf {exchange} -lp {port} -cm 1 -t 1 " + " ".join(tests),
        listens="tcp",
        client_prints=(figure.join(f"{test}:" for test in tests) + figure,),
        server_ends=False,
        ipv4_only=True,
        too_early="Event rejected",
    )


def fio(verb: str) -> Case:
    """The side that writes is the client, 1 MiB in blocks of 4 KiB are 256.

    fio's `send` loses a race with itself on any device (no receive is posted yet).
    """
    common = "--name=job --ioengine=rdma --hostname={address} --port={port} --bs=4k --size=1m"
    return Case(
        f"fio-{verb}",
        f"fio {common} --iodepth=4 --rw=read --verb={verb}",
        f"fio {common} --iodepth=4 --rw=write --verb={verb}",
        prints=(r"err= 0",),
        client_prints=(r"issued rwts: total=0,256,0,0 short=0,0,0,0",),
        ipv4_only=True,
    )


def sockets() -> list[Case]:
    """Sockets over RDMA, which check what they got: rstream(1), riostream(1)."""
    sizes = "-p {port} -S 65536 -I 10 -C 20 -T v"
    modes = {"": "", "-blocking": " -T b", "-nonblocking": " -T n"}
    row = (r"(?m)^custom +64k +20 +10 +",)
    streams = [
        Case(f"{name}{mode}", f"{name} -b {{address}} {sizes}{options}", f"{name} -s {{address}} {sizes}{options}",
             client_prints=row, never_prints=("data verification failed",))
        for name in ("rstream", "riostream") for mode, options in modes.items()
    ]  # fmt: skip
    return streams


def librpma() -> list[Case]:
    """Our examples, and a program that takes Debian's librpma.so.0 as well, on either side."""
    interop = f"{BUILD}/tests/vm/interop"
    takes = {"debian": ("server", "client"), "debian-ours": ("server",), "ours-debian": ("client",)}
    examples = [
        Case(f"example-{name}", f"{BUILD}/examples/{name} server {{address}} 0",
             f"{BUILD}/examples/{name} client {{address}} {{port}}", listens="line",
             operates=name != "01-connection")
        for name in EXAMPLES
    ]  # fmt: skip
    return examples + [
        Case(f"librpma-{name}", f"{interop} server {{address}} dram",
             f"{interop} client {{address}} {{port}}", listens="line", debian_librpma=sides)
        for name, sides in takes.items()
    ]  # fmt: skip


def other_libraries() -> list[Case]:
    """One of libfabric, which a folder of its own runs more of, and one of UCX, the same."""
    fabric = "fi_pingpong -p verbs -e msg"
    rows = "".join(rf"\n{size} +10 +=10 .*" for size in ("64", "256", "1k", "4k", "64k", "1m"))
    perftest = "ucx_perftest -t tag_lat -n 100 -w 10 -p {port}"
    return [
        Case("fi_pingpong", f"{fabric} -B {{port}}", f"{fabric} -P {{port}} {{address}}", listens="tcp",
             prints=(rows,), ipv4_only=True, long=True, soft_only=True),
        both("ucx_perftest", perftest, "{exchange}", listens="tcp", client_prints=(r"(?m)^Final: +100 ",),
             environment={"UCX_NET_DEVICES": "soft0:1", "UCX_TLS": "rc_v,ud_v,self"}, ipv4_only=True,
             long=True, soft_only=True),
    ]  # fmt: skip


CASES = [*utilities(), *datagrams(), *perftests(), *other_libraries(), *sockets(), qperf(), *map(fio, ("write", "read")), *librpma()]
