/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_persist.c -- an rpmemd that makes nothing durable and tells its clients otherwise, for tests
 * that must see the loss: linked with --wrap=persist_range.
 */
#include "common/rdma/gpspm.h"

enum persist_status __wrap_persist_range(const struct persist *persist, uint64_t offset,
					 uint64_t length);

enum persist_status __wrap_persist_range(const struct persist *persist, uint64_t offset,
					 uint64_t length)
{
	(void)persist, (void)offset, (void)length;
	return PERSIST_DONE;
}
