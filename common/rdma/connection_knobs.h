/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_knobs.h -- numbers of a connection that its user may choose: the options of
 * librpma 1.4 that a tool offers, by the names librpma gives them.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

enum connection_knob {
	CONNECTION_TRAFFIC_CLASS,
	CONNECTION_ACK_TIMEOUT,
	CONNECTION_RETRIES,
	CONNECTION_RNR_RETRIES,
	CONNECTION_INLINE,
	CONNECTION_COMP_VECTOR,
	CONNECTION_KNOBS
};

struct connection_knob_row {
	const char *option; /* the tool's, without its dashes */
	const char *key;    /* in a result */
	enum rpma_conn_option number;
	uint32_t most;
	const char *expected; /* for the message on a wrong value */
	bool mirrored; /* means something to the other side too, which has to set it likewise */
};

extern const struct connection_knob_row connection_knob_rows[CONNECTION_KNOBS];

#define CONNECTION_KNOB_UNSET RPMA_CONN_OPT_UNSET /* the choice is librpma's */

struct connection_knobs {
	uint32_t value[CONNECTION_KNOBS];
};

/* Initialises knobs of which none is chosen. */
#define CONNECTION_KNOBS_NONE                                                                      \
	{                                                                                          \
		{                                                                                  \
			CONNECTION_KNOB_UNSET, CONNECTION_KNOB_UNSET, CONNECTION_KNOB_UNSET,       \
				CONNECTION_KNOB_UNSET, CONNECTION_KNOB_UNSET,                      \
				CONNECTION_KNOB_UNSET                                              \
		}                                                                                  \
	}

void connection_knobs_init(struct connection_knobs *knobs);

/* -EINVAL: a value is more than its row's. */
int connection_knobs_check(const struct connection_knobs *knobs);

/*
 * Sets those that were chosen; an error of librpma. RPMA_E_NOSUPP, too, for a librpma before
 * 1.4. NULL chooses none.
 */
int connection_knobs_set(const struct connection_knobs *knobs, struct rpma_conn_cfg *cfg);
