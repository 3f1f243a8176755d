/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_flush.c -- a librpmem, or an rpma-bench, that flushes nothing, for tests that must see it:
 * linked with --wrap=rpma_flush. What completes in its place is a write of no bytes.
 */
#include <librpma.h>

int __wrap_rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      size_t len, enum rpma_flush_type type, int flags, const void *op_context);

int __wrap_rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      size_t len, enum rpma_flush_type type, int flags, const void *op_context)
{
	(void)dst, (void)dst_offset, (void)len, (void)type;
	return rpma_write(conn, NULL, 0, NULL, 0, 0, flags, op_context);
}
