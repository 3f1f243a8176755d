/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * two_sockets.h -- the machine that data/two-sockets.xml describes, for a
 * group of tests: CPUs 0-3 and siblings 8-11 on the first socket, 4-7 and
 * 12-15 on the second, which has the RDMA device mlx5_0.
 */
#pragma once

#include "common/host/topology.h"
#include "test.h"

/* ctest names the file in HWLOC_XMLFILE. */
static int two_sockets_load(void **state)
{
	struct topology *topology = NULL;
	int ret = topology_load(&topology);

	*state = topology;
	return ret;
}

static int two_sockets_unload(void **state)
{
	topology_free((struct topology **)state);
	return 0;
}

#define TWO_SOCKETS_TEST(name) TEST(name, two_sockets_load, two_sockets_unload)
