/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vendor_err.c -- see vendor_err.h; tests/system/soft/mistakes compares the words with the manual.
 */
#include "vendor_err.h"

const char *vendor_err_text(unsigned code)
{
	static const char *const texts[VENDOR_ERRS] = {
		[VENDOR_NONE] = "",
		[VENDOR_FLUSHED] = "the queue pair is in the error state",
		[VENDOR_KEY_UNKNOWN] = "no region has this key",
		[VENDOR_KEY_STALE] = "the region of this key was deregistered",
		[VENDOR_KEY_PD] = "the region is in another protection domain than the queue pair",
		[VENDOR_KEY_RANGE] = "the bytes are not all inside the region",
		[VENDOR_KEY_RIGHT] = "the access flags of the region do not allow it",
		[VENDOR_UNMAPPED] = "the memory is not mapped as it was registered",
		[VENDOR_QP_RIGHT] = "qp_access_flags of the peer's queue pair do not allow it",
		[VENDOR_ALIGNMENT] = "the address is not a multiple of 8",
		[VENDOR_NO_READS] = "max_rd_atomic, or max_dest_rd_atomic of the peer, is 0",
		[VENDOR_TOO_LONG] = "the message is longer than max_msg_sz",
		[VENDOR_NO_RECEIVE] = "no receive was posted, and rnr_retry is used up",
		[VENDOR_SHORT_RECEIVE] = "the message is longer than the receive",
		[VENDOR_RECEIVE_MEMORY] = "the memory of the peer's receive cannot be used",
		[VENDOR_CQ_FULL] = "the completion queue of the peer's receives is full",
		[VENDOR_NO_QP] = "the peer has no queue pair of this number",
		[VENDOR_OTHER_QP] = "the peer's queue pair is connected to another one",
		[VENDOR_QP_STATE] = "the peer's queue pair is not in RTR, RTS or SQD",
		[VENDOR_NOT_CONNECTED] = "the peer has no such queue pair that is connected here",
		[VENDOR_PEER_GONE] = "the process of the peer has ended, or its connection has",
		[VENDOR_UNREACHABLE] = "no connection to the process of the peer could be made",
		[VENDOR_NO_ACCESS] = "the kernel denied access to the memory of the peer",
		[VENDOR_MTU] = "path_mtu of the two ends differs: only one packet would pass",
		[VENDOR_FAULT] = "a fault of RPMA_SOFT",
		[VENDOR_WINDOW_UNBOUND] = "the memory window is not bound with this key",
		[VENDOR_WINDOW_USE] = "the memory window is for another queue pair, or no lkey",
		[VENDOR_WINDOW_STATE] = "the type, state or region of the window does not allow it",
		[VENDOR_ROCE] = "the GID index of one end is of RoCE v1, of the other of RoCE v2",
		[VENDOR_QKEY] = "the Q_Key is not that of the receiving queue pair",
		[VENDOR_LONG_DATAGRAM] = "the datagram is longer than the MTU of the port",
	};

	return code < VENDOR_ERRS ? texts[code] : "";
}
