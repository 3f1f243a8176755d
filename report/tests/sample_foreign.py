# SPDX-License-Identifier: BSD-3-Clause
"""Files of other programs for the tests; the HdrHistogram encoder follows the published format.

It shares no code with the reader: it counts values by the definition of the format, and writes
ZigZag LEB128 by arithmetic.
"""

import base64
import math
import struct
import zlib
from collections import Counter
from collections.abc import Sequence

PERFTEST = """{
test_info: {
test: RDMA_Write_Latency_Test,
Dual_port: OFF,
Device: "soft0",
Number_of_qps: 1,
Transport_type: IB,
Connection_type: RC,
TX_depth : 1,
Mtu: 4096,
rdma_cm_QPs: OFF,
Data_ex_method: Ethernet,
},
results: {
MsgSize: 64,
n_iterations: 1000,
t_min: 0.91,
t_max: 53321.90,
t_typical: 1.05,
t_avg: 324.11,
t_stdev: 2943.13,
percentile_99: 16529.34,
percentile_99.9: 53321.90,
},
}
"""
PERFTEST_BW = """{
"test_info": {
"test": "RDMA_Write_BW_Test",
"Device": "mlx5_0",
"Number_of_qps": 2,
"TX_depth" : 128
},
"results": {
"MsgSize": 65536,
"n_iterations": 5000,
"BW_peak": 11000.000000,
"BW_average": 10900.000000,
"MsgRate": 0.174400
}
}
"""
HGRM = """       Value     Percentile TotalCount 1/(1-Percentile)

       1.000 0.000000000000         10           1.00
       2.000 0.500000000000       5000           2.00
       4.000 0.900000000000       9000          10.00
       7.000 0.984375000000       9850          64.00
       7.000 0.992187500000       9925         128.00
       9.000 0.999000000000       9990        1000.00
      12.000 1.000000000000      10000
#[Mean    =        2.500, StdDeviation   =        1.300]
#[Max     =       12.000, Total count    =        10000]
#[Buckets =            1, SubBuckets     =         2048]
"""


def zigzag(number: int) -> bytes:
    value, out = 2 * number if number >= 0 else -2 * number - 1, []
    for _ in range(8):
        if value < 128:
            return bytes([*out, value])
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def index_of(value: int, digits: int, lowest: int = 1) -> int:
    """By the definition: the sub-buckets of the first bucket, then the upper half of each further one."""
    size = 2 ** math.ceil(math.log2(2 * 10**digits))
    unit = 2 ** math.floor(math.log2(lowest))
    bucket, sub = 0, value // unit
    while sub >= size:
        sub //= 2
        bucket += 1
    return sub if bucket == 0 else size + (bucket - 1) * (size // 2) + sub - size // 2


def encoded(values: Sequence[int], digits: int = 3, lowest: int = 1, highest: int = 3_600_000_000_000) -> bytes:
    """The uncompressed V2 payload."""
    counts = Counter(index_of(value, digits, lowest) for value in values)
    body, at = b"", 0
    for index in sorted(counts):
        if index > at:
            body += zigzag(at - index)
        body += zigzag(counts[index])
        at = index + 1
    return struct.pack(">iiiiqqd", 0x1C849313, len(body), 0, digits, lowest, highest, 1.0) + body


def packed(payload: bytes) -> str:
    stream = zlib.compress(payload)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(stream)) + stream).decode()


def hdr_line(start: float, values: Sequence[int], tag: str = "", length: float = 1.0, **form: int) -> str:
    named = f"Tag={tag}," if tag else ""
    return f"{named}{start:.3f},{length:.3f},{max(values, default=0) / 1e6:.3f},{packed(encoded(values, **form))}"


def hdr_log(*lines: str) -> bytes:
    head = ("#[Histogram log format version 1.2]", "#[StartTime: 1441812279.474 (seconds since epoch)]",
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"')  # fmt: skip
    return ("\n".join((*head, *lines)) + "\n").encode()


def fio_log(values: Sequence[int], direction: int = 1, ms: int = 1) -> bytes:
    """An operation each ms."""
    return "".join(f"{n * ms}, {ns}, {direction}, 4096, {n * 4096}, 0x0000\n" for n, ns in enumerate(values)).encode()
