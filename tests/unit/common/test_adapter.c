/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_adapter.c -- who places received data, for each row of the table.
 *
 * Read in the sources of Linux, drivers/infiniband: the comment of each row names the file.
 */
#include "common/rdma/adapter.h"
#include "tests/lib/test.h"

static enum adapter_placement placement(const char *driver, int vendor, int model, int node_type)
{
	struct adapter_ids ids = {.vendor = vendor, .model = model, .node_type = node_type};

	snprintf(ids.driver, sizeof(ids.driver), "%s", driver);
	return adapter_find(DEVICE_HARDWARE, &ids)->placement;
}

TEST(each_adapter_is_what_its_driver_does)
{
	static const struct {
		const char *driver;
		int vendor, model, node_type;
		enum adapter_placement placement;
	} adapters[] = {
		{"mlx5_core", 0x15b3, 0x1017, 1, ADAPTER_BY_DMA}, /* hw/mlx5/mr.c */
		{"mlx5_core.sf", 0x15b3, 0x1017, 1, ADAPTER_BY_DMA},
		{"mlx4_core", 0x15b3, 0x1003, 1, ADAPTER_BY_DMA},  /* hw/mlx4/mr.c */
		{"ib_mthca", 0x15b3, 0x6274, 1, ADAPTER_BY_DMA},   /* hw/mthca/mthca_mr.c */
		{"bnxt_en", 0x14e4, 0x1750, 1, ADAPTER_BY_DMA},	   /* hw/bnxt_re/ib_verbs.c */
		{"ice", 0x8086, 0x1592, 1, ADAPTER_BY_DMA},	   /* hw/irdma/verbs.c */
		{"i40e", 0x8086, 0x37d0, 4, ADAPTER_BY_DMA},	   /* hw/irdma/verbs.c */
		{"cxgb4", 0x1425, 0x6407, 4, ADAPTER_BY_DMA},	   /* hw/cxgb4/mem.c */
		{"qede", 0x1077, 0x1656, 1, ADAPTER_BY_DMA},	   /* hw/qedr/verbs.c */
		{"hns3", 0x19e5, 0xa222, 1, ADAPTER_BY_DMA},	   /* hw/hns/hns_roce_mr.c */
		{"hns_roce", 0x19e5, 0xa222, 1, ADAPTER_BY_DMA},   /* hw/hns/hns_roce_mr.c */
		{"be2net", 0x19a2, 0x0710, 1, ADAPTER_BY_DMA},	   /* hw/ocrdma/ocrdma_verbs.c */
		{"erdma", 0x1ded, 0x107f, 1, ADAPTER_BY_DMA},	   /* hw/erdma/erdma_verbs.c */
		{"hfi1", 0x8086, 0x24f0, 1, ADAPTER_BY_CPU},	   /* hw/hfi1/rc.c */
		{"hfi1", 0x8086, 0x24f1, 1, ADAPTER_BY_CPU},	   /* the integrated one */
		{"ib_qib", 0x1077, 0x7322, 1, ADAPTER_BY_CPU},	   /* hw/qib/qib_rc.c */
		{"qib", 0x1077, 0x7220, 1, ADAPTER_BY_CPU},	   /* its name of before */
		{"efa", 0x1d0f, 0xefa1, 7, ADAPTER_NO_RC},	   /* hw/efa/efa_verbs.c: SRD, UD */
		{"usnic_verbs", 0x1137, 0x00cf, 6, ADAPTER_NO_RC}, /* hw/usnic/usnic_ib_verbs.c */
		{"enic", 0x1137, 0x0043, 6, ADAPTER_NO_RC},	   /* its physical function */
		{"vmw_pvrdma", 0x15ad, 0x0820, 1, ADAPTER_NOT_KNOWN}, /* the hypervisor copies */
		{"vfio-pci", 0x15b3, 0x1017, 1, ADAPTER_NOT_KNOWN},   /* given away */
		{"tomorrow", 0xabcd, 0x0001, 1, ADAPTER_NOT_KNOWN},
		{"", 0x15b3, 0x1017, 1, ADAPTER_NOT_KNOWN},
	};

	for (size_t i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++) {
		enum adapter_placement found = placement(adapters[i].driver, adapters[i].vendor,
							 adapters[i].model, adapters[i].node_type);

		if (found != adapters[i].placement)
			fail_msg("%s: %s", adapters[i].driver, adapter_placement_name(found));
	}
}

/* Whatever the driver is called, the adapter is what its ids or its kind of node tell. */
TEST(a_renamed_driver_hides_nothing)
{
	assert_int_equal(placement("renamed", 0x8086, 0x24f0, 1), ADAPTER_BY_CPU);
	assert_int_equal(placement("renamed", 0x1077, 0x7322, 1), ADAPTER_BY_CPU);
	assert_int_equal(placement("renamed", 0x1077, 0x7220, 1), ADAPTER_BY_CPU);
	assert_int_equal(placement("renamed", 0x1d0f, 0xefa2, 7), ADAPTER_NO_RC);
	assert_int_equal(placement("renamed", 0x1137, 0x0043, 5), ADAPTER_NO_RC);
	assert_int_equal(placement("mlx5_core", 0x1137, 0x0043, 6), ADAPTER_NO_RC);
}

TEST(devices_in_software_copy)
{
	static const enum device_kind kinds[] = {DEVICE_RXE, DEVICE_SIW, DEVICE_SOFT};
	static const struct adapter_ids nothing = {.vendor = -1, .model = -1, .node_type = -1};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(adapter_find(kinds[i], &nothing)->placement, ADAPTER_BY_CPU);
}
