/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch_root.h -- the directory of a test as the root of what the tools read of a host. */
#pragma once

#include "common/host/sysroot.h"
#include "scratch.h"

static struct sysroot root;

static inline int root_setup(void **state)
{
	return scratch_setup(state) != 0 || sysroot_open(&root, scratch) != 0;
}

static inline int root_teardown(void **state)
{
	sysroot_close(&root);
	return scratch_teardown(state);
}

#define ROOT_TEST(name) TEST(name, root_setup, root_teardown)
