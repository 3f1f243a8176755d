/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vendor_err.h -- why a completion failed: what ibv_wc.vendor_err holds.
 *
 * A code is set where the check that it names has failed, and travels with the outcome, over TCP
 * as well; 0 where nothing named a reason. rpma-soft(1) has the same table, COMPLETION ERRORS.
 */
#pragma once

enum vendor_err {
	VENDOR_NONE = 0,
	VENDOR_FLUSHED = 1,
	/* the key of an operation, its own (LOC_PROT_ERR) or the peer's (REM_ACCESS_ERR) */
	VENDOR_KEY_UNKNOWN = 2,
	VENDOR_KEY_STALE = 3,
	VENDOR_KEY_PD = 4,
	VENDOR_KEY_RANGE = 5,
	VENDOR_KEY_RIGHT = 6,
	VENDOR_UNMAPPED = 7,
	/* what the operation asks of the peer's queue pair */
	VENDOR_QP_RIGHT = 8,
	VENDOR_ALIGNMENT = 9,
	VENDOR_NO_READS = 10,
	VENDOR_TOO_LONG = 11,
	/* the peer's receive */
	VENDOR_NO_RECEIVE = 12,
	VENDOR_SHORT_RECEIVE = 13,
	VENDOR_RECEIVE_MEMORY = 14,
	VENDOR_CQ_FULL = 15,
	/* no answer */
	VENDOR_NO_QP = 16,
	VENDOR_OTHER_QP = 17,
	VENDOR_QP_STATE = 18,
	VENDOR_NOT_CONNECTED = 19,
	VENDOR_PEER_GONE = 20,
	VENDOR_UNREACHABLE = 21,
	VENDOR_NO_ACCESS = 22,
	/* what both ends have to agree on */
	VENDOR_MTU = 23,
	VENDOR_FAULT = 24,
	/* memory windows */
	VENDOR_WINDOW_UNBOUND = 25,
	VENDOR_WINDOW_USE = 26,
	VENDOR_WINDOW_STATE = 27,
	VENDOR_ROCE = 28,
	/* no completion tells these: the datagram is lost */
	VENDOR_QKEY = 29,
	VENDOR_LONG_DATAGRAM = 30,
	VENDOR_ERRS
};

/* The reason in words; "" for 0, and for a number that is not a code. */
const char *vendor_err_text(unsigned code);
