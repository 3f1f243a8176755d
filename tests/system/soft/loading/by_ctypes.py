# SPDX-License-Identifier: BSD-3-Clause
"""Loads libibverbs with ctypes, as Python programs do, and writes from one queue pair to another.

The layouts are those of verbs.h, which are the same since rdma-core 1.2. What verbs.h calls
inline is called here through the pointers in the context.
"""

import ctypes
import sys
from ctypes import POINTER, Structure, byref, c_int, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

RC, INIT, RTR, RTS = 2, 1, 2, 3
LOCAL_WRITE, REMOTE_WRITE, SIGNALED, WRITE = 1, 2, 2, 0
STATE, ACCESS_FLAGS, PKEY_INDEX, PORT, AV, PATH_MTU, TIMEOUT, RETRY_CNT = 1 << 0, 1 << 3, 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 9, 1 << 10
RNR_RETRY, RQ_PSN, MAX_QP_RD_ATOMIC, MIN_RNR_TIMER = 1 << 11, 1 << 12, 1 << 13, 1 << 15
SQ_PSN, MAX_DEST_RD_ATOMIC, DEST_QPN = 1 << 16, 1 << 17, 1 << 20
BYTES = 4096


class Cap(Structure):
    _fields_ = [(name, c_uint32) for name in ("send_wr", "recv_wr", "send_sge", "recv_sge", "inline")]


class QpInit(Structure):
    _fields_ = [("context", c_void_p), ("send_cq", c_void_p), ("recv_cq", c_void_p), ("srq", c_void_p),
                ("cap", Cap), ("type", c_int), ("signal_all", c_int)]  # fmt: skip


class Path(Structure):  # ibv_ah_attr with its ibv_global_route
    _fields_ = [("dgid", c_uint8 * 16), ("flow_label", c_uint32), ("sgid_index", c_uint8), ("hop_limit", c_uint8),
                ("traffic_class", c_uint8), ("dlid", c_uint16), ("sl", c_uint8), ("src_path_bits", c_uint8),
                ("static_rate", c_uint8), ("is_global", c_uint8), ("port", c_uint8)]  # fmt: skip


class QpAttr(Structure):
    _fields_ = [(name, c_int) for name in ("state", "cur_state", "path_mtu", "path_mig_state")]
    _fields_ += [(name, c_uint32) for name in ("qkey", "rq_psn", "sq_psn", "dest_qpn")]
    _fields_ += [("access", c_int), ("cap", Cap), ("path", Path), ("alt_path", Path)]
    _fields_ += [(name, c_uint16) for name in ("pkey_index", "alt_pkey_index")]
    _fields_ += [(name, c_uint8) for name in (
        "async_notify", "sq_draining", "max_rd_atomic", "max_dest_rd_atomic", "min_rnr_timer", "port",
        "timeout", "retry_cnt", "rnr_retry", "alt_port", "alt_timeout")]  # fmt: skip
    _fields_ += [("rate_limit", c_uint32)]


class Sge(Structure):
    _fields_ = [("address", c_uint64), ("length", c_uint32), ("lkey", c_uint32)]


class SendWr(Structure):
    _fields_ = [("id", c_uint64), ("next", c_void_p), ("sg_list", POINTER(Sge)), ("num_sge", c_int),
                ("opcode", c_int), ("flags", c_uint32), ("imm", c_uint32), ("remote_address", c_uint64),
                ("rkey", c_uint32), ("rest", c_uint8 * 68)]  # fmt: skip


class Wc(Structure):
    _fields_ = [("id", c_uint64), ("status", c_int), ("rest", c_uint8 * 36)]


class Mr(Structure):
    _fields_ = [("context", c_void_p), ("pd", c_void_p), ("address", c_void_p), ("length", ctypes.c_size_t),
                ("handle", c_uint32), ("lkey", c_uint32), ("rkey", c_uint32)]  # fmt: skip


class Qp(Structure):
    _fields_ = [("pointers", c_void_p * 6), ("handle", c_uint32), ("number", c_uint32)]


class Context(Structure):  # device, then ibv_context_ops: poll_cq is its 12th, post_send its 26th pointer
    _fields_ = [("device", c_void_p), ("ops", c_void_p * 32)]


POLL_CQ, POST_SEND = 11, 25

verbs = ctypes.CDLL(sys.argv[1])


def call(name: str, result: type, *arguments: object) -> object:
    function = getattr(verbs, name)
    function.restype = result
    got = function(*arguments)
    assert got if result is not c_int else got == 0, name
    return got


def pointer(value: object) -> c_void_p:
    assert isinstance(value, int)
    return c_void_p(value)


def make_qp(pd: c_void_p, cq: c_void_p) -> Qp:
    init = QpInit(send_cq=cq.value, recv_cq=cq.value, cap=Cap(1, 1, 1, 1, 0), type=RC)
    return Qp.from_address(call("ibv_create_qp", c_void_p, pd, byref(init)))  # type: ignore[arg-type]


def modify(qp: Qp, mask: int, **fields: object) -> None:
    call("ibv_modify_qp", c_int, byref(qp), byref(QpAttr(**fields)), c_int(mask))


def connect(qp: Qp, remote: Qp, gid: ctypes.Array) -> None:  # type: ignore[type-arg]
    modify(qp, STATE | PKEY_INDEX | PORT | ACCESS_FLAGS, state=INIT, port=1, access=REMOTE_WRITE)
    modify(qp, STATE | AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER, state=RTR,
           path_mtu=3, dest_qpn=remote.number, path=Path(dgid=gid, hop_limit=1, is_global=1, port=1))  # fmt: skip
    modify(qp, STATE | TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC, state=RTS, timeout=14, retry_cnt=7)


def main() -> None:
    count = c_int()
    devices = call("ibv_get_device_list", POINTER(c_void_p), byref(count))
    print("devices:", count.value)
    context = pointer(call("ibv_open_device", c_void_p, pointer(devices[0])))  # type: ignore[index]
    pd = pointer(call("ibv_alloc_pd", c_void_p, context))
    cq = pointer(call("ibv_create_cq", c_void_p, context, 1, None, None, 0))
    memory = [ctypes.create_string_buffer(b"w" * BYTES, BYTES), ctypes.create_string_buffer(BYTES)]
    regions = [Mr.from_address(call("ibv_reg_mr", c_void_p, pd, part, ctypes.c_size_t(BYTES), LOCAL_WRITE | REMOTE_WRITE))  # type: ignore[arg-type]
               for part in memory]  # fmt: skip
    gid = (c_uint8 * 16)()
    call("ibv_query_gid", c_int, context, c_uint8(1), 0, gid)
    here, there = make_qp(pd, cq), make_qp(pd, cq)
    connect(here, there, gid)
    connect(there, here, gid)

    ops = Context.from_address(context.value or 0).ops
    post_send = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)(ops[POST_SEND])
    poll_cq = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)(ops[POLL_CQ])
    piece = Sge(ctypes.addressof(memory[0]), BYTES, regions[0].lkey)
    work = SendWr(sg_list=ctypes.pointer(piece), num_sge=1, opcode=WRITE, flags=SIGNALED,
                  remote_address=ctypes.addressof(memory[1]), rkey=regions[1].rkey)  # fmt: skip
    bad, done = c_void_p(), Wc()
    assert post_send(ctypes.addressof(here), ctypes.addressof(work), ctypes.addressof(bad)) == 0
    while poll_cq(cq, 1, ctypes.addressof(done)) == 0:
        pass
    assert done.status == 0, done.status
    assert memory[1].raw == b"w" * BYTES
    print("written")


main()
