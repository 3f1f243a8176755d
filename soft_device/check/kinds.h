/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h -- the kinds of findings of `rpma-soft --check`: their names, their levels, and what
 * `rpma-soft --explain` tells of each.
 *
 * An error is an outcome (a completion failed, a call was refused) or a breach that can be proven.
 * A warning is a guess that is mostly right. A note is about other devices, and is printed only
 * when it is asked for.
 */
#pragma once

enum check_level { CHECK_NOTE, CHECK_WARNING, CHECK_ERROR };

enum check_kind {
	/* why a completion failed: a key of the peer */
	CHECK_RKEY_UNKNOWN,
	CHECK_RKEY_STALE,
	CHECK_RKEY_BYTE_SWAPPED,
	CHECK_RKEY_OTHER_PD,
	CHECK_LKEY_FOR_RKEY,
	CHECK_RANGE_BEYOND,
	CHECK_RIGHT_MISSING,
	/* a key of its own */
	CHECK_LKEY_UNKNOWN,
	CHECK_LKEY_STALE,
	CHECK_LKEY_OTHER_PD,
	CHECK_LOCAL_RANGE_BEYOND,
	CHECK_LOCAL_RIGHT_MISSING,
	/* the request and the other end */
	CHECK_ATOMIC_UNALIGNED,
	CHECK_MESSAGE_TOO_LONG,
	CHECK_RNR,
	CHECK_RECEIVE_TOO_SMALL,
	CHECK_QKEY,
	CHECK_PATH_MTU,
	CHECK_GID_VERSION,
	/* a post that is refused */
	CHECK_SQ_FULL,
	CHECK_RQ_FULL,
	CHECK_TOO_MANY_SGES,
	CHECK_INLINE_TOO_LONG,
	CHECK_WRONG_OPCODE,
	CHECK_POST_IN_STATE,
	CHECK_POST_AFTER_ERROR,
	CHECK_BAD_WR_IGNORED,
	/* completions and events */
	CHECK_CQ_TOO_SMALL,
	CHECK_CQ_OVERRUN,
	CHECK_CQ_NEVER_POLLED,
	CHECK_LOST_WAKEUP,
	CHECK_STATUS_UNREAD,
	CHECK_WAIT_FOR_NOTHING,
	CHECK_EVENT_ACKNOWLEDGED_TWICE,
	CHECK_EVENT_UNACKNOWLEDGED,
	/* memory and lives */
	CHECK_MEMORY_UNMAPPED,
	CHECK_MEMORY_FREED,
	CHECK_MEMORY_PROTECTED,
	CHECK_DEREG_IN_FLIGHT,
	CHECK_SOURCE_CHANGED,
	CHECK_EARLY_READ,
	CHECK_DOUBLE_DESTROY,
	CHECK_USED_BY_FORK_CHILD,
	CHECK_GROWTH,
	CHECK_NOT_DURABLE,
	CHECK_COMMIT_WORD_TORN,
	CHECK_COMMIT_WORD_PLAIN,
	CHECK_KINDS
};

struct check_kind_text {
	const char *id;
	enum check_level level;
	const char *what;     /* happened: one sentence */
	const char *demands;  /* the specification or a manual, with its section */
	const char *hardware; /* what a NIC does */
	const char *mend;
};

extern const struct check_kind_text check_kinds[CHECK_KINDS];

/* CHECK_KINDS: there is no such id. */
enum check_kind check_kind_find(const char *id);

const char *check_level_name(enum check_level level);
