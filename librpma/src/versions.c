/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * versions.c -- calls as programs that were linked with librpma 0.9 to 1.3 know
 * them: the version LIBRPMA_1.0 of a call that changed. Only in librpma.so.0; the
 * versions of today are in librpma.map.
 *
 * Such a program may have a field of 21 bytes for a descriptor.
 */
#include "err.h"
#include "mr.h"

#include <string.h>

/* gcc, whose link time optimisation loses what asm() names; clang has no attribute */
#if defined(__has_attribute)
#if __has_attribute(symver)
#define OLD_VERSION(function, name) __attribute__((symver(#name "@LIBRPMA_1.0")))
#endif
#endif
#ifndef OLD_VERSION
#define OLD_VERSION(function, name)                                                                \
	__asm__(".symver " #function "," #name "@LIBRPMA_1.0");                                    \
	__attribute__((used))
#endif

int mr_get_descriptor_1_0(const struct rpma_mr_local *mr, void *desc);
int mr_get_descriptor_size_1_0(const struct rpma_mr_local *mr, size_t *desc_size);

OLD_VERSION(mr_get_descriptor_1_0, rpma_mr_get_descriptor)
int mr_get_descriptor_1_0(const struct rpma_mr_local *mr, void *desc)
{
	uint8_t whole[RPMA_MR_DESC_SIZE];

	if (desc == NULL)
		return RPMA_FAIL_WITH(RPMA_E_INVAL, "rpma_mr_get_descriptor(): desc is NULL");
	int ret = rpma_mr_get_descriptor(mr, whole);
	if (ret)
		return ret;
	rpma_mr_desc_shorten(whole);
	memcpy(desc, whole, RPMA_MR_DESC_BASE_SIZE);
	return 0;
}

OLD_VERSION(mr_get_descriptor_size_1_0, rpma_mr_get_descriptor_size)
int mr_get_descriptor_size_1_0(const struct rpma_mr_local *mr, size_t *desc_size)
{
	int ret = rpma_mr_get_descriptor_size(mr, desc_size);

	if (ret == 0)
		*desc_size = RPMA_MR_DESC_BASE_SIZE;
	return ret;
}
