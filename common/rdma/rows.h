/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h -- option rows that rpma-bench and rpma-ping have in common. Each
 * sets the member of its name in struct options.
 */
#pragma once

#include <stddef.h>

#include "allow.h"
#include "common/base/cli.h"
#include "connection_knobs.h"

/* The parser of an option of a name in connection_knob_rows; knobs is a struct connection_knobs. */
error_t connection_knob_option(const char *option, const char *arg, void *knobs);

#define ROW_PORT(default, group)                                                                   \
	{                                                                                          \
		"port", 'p', "N",                                                                  \
			"Port of the server (" default "); a server takes 0 for any free one",     \
			group, cli_port, offsetof(struct options, port), 0                         \
	}

#define ROW_DEVICE(group)                                                                          \
	{                                                                                          \
		"device", 0, "auto|soft|NAME",                                                     \
			"RDMA device to use; soft is the software one, which auto takes where "    \
			"there is no other (auto)",                                                \
			group, cli_text_or_auto, offsetof(struct options, device), 0               \
	}

#define ROW_LISTEN(group)                                                                          \
	{                                                                                          \
		"listen", 0, "ADDR", "Address to listen on (127.0.0.1)", group, cli_text,          \
			offsetof(struct options, listen), 0                                        \
	}

#define ROW_ALLOW(group)                                                                           \
	{                                                                                          \
		"allow", 0, "ADDR[/LEN]",                                                          \
			"Accept clients only from here; may be repeated (from everywhere)", group, \
			allow_option, offsetof(struct options, allow), 0                           \
	}

#define ROW_FORCE(group)                                                                           \
	{                                                                                          \
		"force", 0, NULL, "Let the content of an existing PATH be overwritten", group,     \
			cli_flag, offsetof(struct options, force), 0                               \
	}

#define ROW_DIRECT_WRITE(group)                                                                    \
	{                                                                                          \
		"direct-write-to-pmem", 0, NULL,                                                   \
			"State that writes of the RDMA device reach the persistence domain",       \
			group, cli_flag, offsetof(struct options, direct_write_to_pmem), 0         \
	}

#define ROW_ACK_TIMEOUT(group)                                                                     \
	{                                                                                          \
		"ack-timeout", 0, "N",                                                             \
			"Wait 4.096 us x 2^N for an acknowledgement (the RDMA CM's choice)",       \
			group, connection_knob_option, offsetof(struct options, knobs), 0          \
	}

#define ROW_RETRIES(group)                                                                         \
	{                                                                                          \
		"retries", 0, "N", "Resend what is not acknowledged up to N times, 0 to 7 (7)",    \
			group, connection_knob_option, offsetof(struct options, knobs), 0          \
	}
