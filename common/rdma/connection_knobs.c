/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_knobs.c -- the table of a connection's numbers; who sets them walks it.
 *
 * retries is not mirrored: the side that connects chooses it for both. The others are
 * each side's own (traffic class, acknowledgement timer) or chosen for the peer (RNR retries).
 */
#include "connection_knobs.h"

#include <errno.h>
#include <stddef.h>

#include "librpma_1_4.h"

const struct connection_knob_row connection_knob_rows[CONNECTION_KNOBS] = {
	[CONNECTION_TRAFFIC_CLASS] = {"traffic-class", "traffic_class", RPMA_CONN_OPT_TRAFFIC_CLASS,
				      255, "a number from 0 to 255", true},
	[CONNECTION_ACK_TIMEOUT] =
		{"ack-timeout", "ack_timeout", RPMA_CONN_OPT_ACK_TIMEOUT, 31,
		 "a number from 0 to 31: 4.096 us times 2 to the power of it, 0 is without end",
		 true},
	[CONNECTION_RETRIES] = {"retries", "retries", RPMA_CONN_OPT_RETRIES, 7,
				"a number from 0 to 7", false},
	[CONNECTION_RNR_RETRIES] = {"rnr-retries", "rnr_retries", RPMA_CONN_OPT_RNR_RETRIES, 7,
				    "a number from 0 to 7, 7 is without end", true},
	[CONNECTION_INLINE] = {"inline", "inline_size_bytes", RPMA_CONN_OPT_INLINE_SIZE, 4096,
			       "bytes from 0 to 4096", false},
	[CONNECTION_COMP_VECTOR] = {"comp-vector", "comp_vector", RPMA_CONN_OPT_COMP_VECTOR, 65535,
				    "a number from 0 to 65535", false},
};

void connection_knobs_init(struct connection_knobs *knobs)
{
	for (int i = 0; i < CONNECTION_KNOBS; i++)
		knobs->value[i] = CONNECTION_KNOB_UNSET;
}

int connection_knobs_check(const struct connection_knobs *knobs)
{
	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		if (knobs->value[i] != CONNECTION_KNOB_UNSET &&
		    knobs->value[i] > connection_knob_rows[i].most)
			return -EINVAL;
	}
	return 0;
}

int connection_knobs_set(const struct connection_knobs *knobs, struct rpma_conn_cfg *cfg)
{
	const struct librpma_1_4 newer = librpma_1_4_calls();
	int ret = 0;

	for (int i = 0; knobs != NULL && i < CONNECTION_KNOBS && ret == 0; i++) {
		if (knobs->value[i] == CONNECTION_KNOB_UNSET)
			continue;
		ret = newer.conn_cfg_set_option != NULL
			      ? newer.conn_cfg_set_option(cfg, connection_knob_rows[i].number,
							  knobs->value[i])
			      : RPMA_E_NOSUPP;
	}
	return ret;
}
