/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_knobs.h -- numbers of a connection that its user may choose: the options of
 * librpma 1.4 that a tool offers, by the names librpma gives them.
 */
#ifndef COMMON_RDMA_LINK_KNOBS_H
#define COMMON_RDMA_LINK_KNOBS_H

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

enum link_knob {
	LINK_TRAFFIC_CLASS,
	LINK_ACK_TIMEOUT,
	LINK_RETRIES,
	LINK_RNR_RETRIES,
	LINK_INLINE,
	LINK_COMP_VECTOR,
	LINK_KNOBS
};

struct link_knob_row {
	const char *option; /* the tool's, without its dashes */
	const char *key;    /* in a result */
	enum rpma_conn_option number;
	uint32_t most;
	const char *expected; /* for the message on a wrong value */
	bool mirrored; /* means something to the other side too, which has to set it likewise */
};

extern const struct link_knob_row link_knob_rows[LINK_KNOBS];

#define LINK_KNOB_UNSET RPMA_CONN_OPT_UNSET /* the choice is librpma's */

struct link_knobs {
	uint32_t value[LINK_KNOBS];
};

/* As an initialiser: none is chosen. */
#define LINK_KNOBS_NONE                                                                            \
	{                                                                                          \
		{                                                                                  \
			LINK_KNOB_UNSET, LINK_KNOB_UNSET, LINK_KNOB_UNSET, LINK_KNOB_UNSET,        \
				LINK_KNOB_UNSET, LINK_KNOB_UNSET                                   \
		}                                                                                  \
	}

void link_knobs_init(struct link_knobs *knobs);

/* -EINVAL: a value is more than its row's. */
int link_knobs_check(const struct link_knobs *knobs);

/*
 * Sets those that were chosen; an error of librpma. RPMA_E_NOSUPP, too, for a librpma before
 * 1.4. NULL chooses none.
 */
int link_knobs_set(const struct link_knobs *knobs, struct rpma_conn_cfg *cfg);

#endif /* COMMON_RDMA_LINK_KNOBS_H */
