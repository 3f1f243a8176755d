# SPDX-License-Identifier: BSD-3-Clause
"""What rpma-soft --check finds in programs that are tested here, and is theirs: each with the reason.

A row names programs (a pattern of the case's name), the kind of finding and a function of its stack,
as a suppression does, and why it is right, with the section of the specification or manual.
"""

from fnmatch import fnmatch
from typing import NamedTuple


class Accepted(NamedTuple):
    case: str
    kind: str
    function: str
    reason: str
    section: str


ON_PURPOSE = "rdma-core's tests make this mistake on purpose, and expect the error"
ACCEPTED = [
    Accepted("ucmatose-*", "cq-never-polled", "*",
             "its client's sends complete into a queue of their own, which it never polls: none that failed is noticed",
             "IBTA 11.4.2.1; cmatose.c, run_client()"),
    *(Accepted(case, "event-acknowledged-twice", "*",
               "fio's engine rdma acknowledges as many events as it polled completions, which are more than it got events",
               "ibv_ack_cq_events(3); rdma.c, rdma_poll_wait()") for case in ("fio-read", "fio-write")),
    Accepted("rpmem-soft.lanes", "not-durable", "tell_persisted",
             "a lane that flushes by reading, on a platform that keeps in the caches what a read flushes (ddio=on)",
             "rpma-soft(1), POWER FAILURE; test_lanes.py counts its doorbells"),
    Accepted("librpma-soft.crowd.40", "receive-too-small", "*",
             "some clients send more than the server receives, to see that it serves the others",
             "IBTA 9.7.4.2.4; crowd.c, send_bytes()"),
    Accepted("librpma-soft.crowd.40", "status-unread", "take_completions",
             "the server looks at the status, drops such a client, and ends well", "12-surviving-server.c"),
    *(Accepted(case, kind, function, reason, "IBTA 10.3.1 and 11.4.2.1; calls_failures.c, calls_overrun.c")
      for case in ("librpma-soft.calls", "soft-librpma.auto")
      for kind, function, reason in (
          ("post-after-error", "write_until_failure", "posts until the post itself fails, to compare all that is reported"),
          ("post-after-error", "random_sequences_are_as_modelled", "calls whatever the model has, also after an error"),
          ("cq-overrun", "overrun_queue_is_reported", "overflows a completion queue, and expects the event of it"),
          ("cq-never-polled", "overrun_queue_is_reported", "does not poll that queue before it overflows"),
      )),
    Accepted("soft-pyverbs", "cq-overrun", "*",
             "six sends are posted, and the queue made smaller at once, which is refused only if all have completed by then",
             "IBTA 11.2.8.3; test_cq.py, test_resize_cq()"),
    *(Accepted("soft-pyverbs", kind, "*", ON_PURPOSE, section) for kind, section in (
        ("atomic-unaligned", "IBTA 9.4.5; test_atomic.py"),
        ("lkey-other-pd", "IBTA 10.6.3.1; test_mr.py"),
        ("local-range-beyond", "IBTA 10.6.3.1; test_mr.py, test_mr_rereg_addr()"),
        ("lkey-unknown", "IBTA 10.6.3.2; test_atomic.py"),
        ("post-in-state", "IBTA 10.3.1; test_qpex.py"),
        ("right-missing", "IBTA 10.6.3.1; test_atomic.py, test_mr.py"),
        ("rkey-stale", "IBTA 10.6.5; test_mr.py"),
        ("rkey-unknown", "IBTA 9.7.4.1.5; test_atomic.py"),
        ("rq-full", "ibv_post_recv(3)"),
        ("too-many-sges", "ibv_create_qp(3)"),
        ("used-by-fork-child", "ibv_fork_init(3); test_device.py: children use the context of their parent"),
    )),
]  # fmt: skip


def rows_for(case: str) -> list[Accepted]:
    return [row for row in ACCEPTED if fnmatch(case, row.case)]
