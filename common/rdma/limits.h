/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h -- how much a device lets its users have. */
#pragma once

#include <librpma.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"

struct limits {
	char device[DEVICE_NAME_MAX]; /* whose they are */
	uint32_t queue_pairs;
	uint32_t completion_queues;
	uint32_t queue_entries;	     /* work requests in a queue */
	uint32_t completion_entries; /* completions in a queue */
	size_t message_bytes;	     /* one work request; the least of all ports */
};

/* Limits of the device that owns the address, or that has the route to it. */
int limits_get(struct limits *limits, const char *address, enum rpma_util_ibv_context_type type);
