/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable.h -- bytes that a program takes for durable, by a mark, and whether they are: by the
 * journal of the process whose memory they are in.
 */
#pragma once

#include <stdint.h>

#include "journal.h"
#include "soft_device/check/check.h"
#include "soft_device/transport/peer.h"

struct durable_claim {
	uint64_t addr; /* in the process that has the memory */
	uint64_t length;
	uint32_t qpn;	   /* the own QP to that process; 0: the memory is its own */
	uint32_t peer_qpn; /* its other end, whose writes are meant; 0: those of any QP */
	bool is_of_left;   /* only what has left the device is meant */
};

/* How many lines of it are not durable, and the first of them. 0 also where that is not known: the
 * peer is on another host, or has no journal. Takes the journal's lock. */
uint32_t durable_lacking(const struct peer *peer, const struct durable_claim *claim,
			 struct journal_line *first);
/* The same in the memory of this process. */
uint32_t durable_lacking_here(const struct durable_claim *claim, struct journal_line *first);

/* Puts the first of them into a finding, with what it lacks. */
void durable_put_first(struct check_finding *finding, const struct durable_claim *claim,
		       const struct journal_line *first) __attribute__((cold));

/* Reports a mark on them. */
void durable_report(const struct durable_claim *claim, const struct journal_line *first,
		    uint32_t lines) __attribute__((cold));
