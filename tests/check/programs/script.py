# SPDX-License-Identifier: BSD-3-Clause
"""With ctypes: posts to a queue pair in RESET, and releases a protection domain twice.

The layouts are those of verbs.h; what that calls inline is called by the pointers in the context.
"""

import ctypes
from ctypes import byref, c_int, c_uint32, c_void_p

verbs = ctypes.CDLL("libibverbs.so.1")
POST_SEND = 25  # its place among the pointers in ibv_context_ops
RC = 2


class QpInit(ctypes.Structure):
    _fields_ = [("context", c_void_p), ("send_cq", c_void_p), ("recv_cq", c_void_p), ("srq", c_void_p),
                ("cap", c_uint32 * 5), ("type", c_int), ("signal_all", c_int)]  # fmt: skip


class Context(ctypes.Structure):
    _fields_ = [("device", c_void_p), ("ops", c_void_p * 32)]


def made(name: str, *arguments: object) -> c_void_p:
    function = getattr(verbs, name)
    function.restype = c_void_p
    got = function(*arguments)
    assert got is not None, name
    return c_void_p(got)


def post(context: c_void_p, qp: c_void_p) -> None:
    ops = Context.from_address(context.value or 0).ops
    post_send = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)(ops[POST_SEND])
    work, bad = ctypes.create_string_buffer(128), c_void_p()
    post_send(qp, ctypes.addressof(work), ctypes.addressof(bad))  # POSTED


def release(pd: c_void_p) -> None:
    verbs.ibv_dealloc_pd(pd)  # RELEASED


def main() -> None:
    devices = ctypes.cast(made("ibv_get_device_list", None), ctypes.POINTER(c_void_p))
    context = made("ibv_open_device", c_void_p(devices[0]))
    pd, spare = made("ibv_alloc_pd", context), made("ibv_alloc_pd", context)
    cq = made("ibv_create_cq", context, 16, None, None, 0)
    init = QpInit(send_cq=cq.value, recv_cq=cq.value, cap=(c_uint32 * 5)(4, 4, 1, 1, 0), type=RC)
    qp = made("ibv_create_qp", pd, byref(init))
    post(context, qp)  # POSTED FROM
    release(spare)  # RELEASED FIRST
    release(spare)  # RELEASED AGAIN


main()  # STARTED
