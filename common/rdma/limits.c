/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c -- asks the device; librpma hands out its context, not its attributes. */
#include "limits.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "common/base/failure.h"
#include "connection.h"

#define MESSAGE_BYTES_MAX (1U << 31) /* IBTA 9.7.7, on a reliable connection */

static uint32_t positive(int value)
{
	return value > 0 ? (uint32_t)value : 0;
}

static size_t shortest_message(struct ibv_context *context, uint8_t ports)
{
	size_t bytes = MESSAGE_BYTES_MAX;
	struct ibv_port_attr port;

	for (uint8_t number = 1; number <= ports; number++) {
		memset(&port, 0, sizeof(port));
		if (ibv_query_port(context, number, &port) == 0 && port.max_msg_sz > 0 &&
		    port.max_msg_sz < bytes)
			bytes = port.max_msg_sz;
	}
	return bytes;
}

int limits_get(struct limits *limits, const char *address, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context = NULL;
	struct ibv_device_attr attr;
	int ret = rpma_utils_get_ibv_context(address, type, &context);

	if (ret)
		return librpma_failed(ret, "device", "no RDMA device for the address %s: %s",
				      address, connection_cause(ret));
	ret = ibv_query_device(context, &attr);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "device",
				   "cannot ask the RDMA device %s for its limits: %s",
				   context->device->name, strerror(ret));
	*limits = (struct limits){
		.queue_pairs = positive(attr.max_qp),
		.completion_queues = positive(attr.max_cq),
		.queue_entries = positive(attr.max_qp_wr),
		.completion_entries = positive(attr.max_cqe),
		.message_bytes = shortest_message(context, attr.phys_port_cnt),
	};
	snprintf(limits->device, sizeof(limits->device), "%s", context->device->name);
	return 0;
}
