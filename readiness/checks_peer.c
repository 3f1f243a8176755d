/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_peer.c -- what one host cannot tell by itself.
 */
#include "checks.h"

static void inspect_peer(const struct facts *facts, struct readiness_finding *finding)
{
	(void)facts;
	finding_value(finding, "this host alone");
	finding_say(finding, READINESS_INFO,
		    "The verdict of the host that has the target counts: run the check there; on "
		    "the host that writes, these checks are advice.",
		    NULL);
}

const struct readiness_check checks_peer[] = {
	{"PEER-01", "which end counts", READINESS_ADVISES, READINESS_ADVISES, inspect_peer,
	 "Data is lost or kept on the host that has the persistent memory: there device writes go\n"
	 "to the cache or to memory, and there power fails. So its verdict counts, and the one of\n"
	 "the host that writes is advice about that host's device, bus and limits.\n"
	 "rpma-bench asks the server for its verdict and writes it into the result.\n"
	 "INFO: always; one host cannot see the other.\n"},
	{0},
};
