/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_pci.c -- PCI-01 to PCI-08: each status from the configuration
 * spaces that lead to it.
 */
#include "cases.h"

#define RELAXED	   0x0010
#define NO_SNOOP   0x0800
#define READS_512  0x2000
#define READS_256  0x1000
#define PAYLOAD256 0x0020

CHANGE(no_path, f->pci.count = 0)

static void without_privilege(struct facts *f)
{
	for (size_t i = 0; i < f->pci.chains[0].count; i++)
		f->pci.chains[0].functions[i].config.len = 64;
}

CHANGE(nic_unreadable, made_nic(f)->config.len = 64)
CHANGE(nic_unreadable_on_haswell, nic_unreadable(f), made_port(f)->device = 0x2f01)
CHANGE(nic_unreadable_below_unknown, nic_unreadable(f), made_port(f)->device = -1)
CHANGE(vanished, memset(made_nic(f)->config.bytes, 0xff, PCI_CONFIG_BYTES),
       memset(made_port(f)->config.bytes, 0xff, PCI_CONFIG_BYTES))
CHANGE(integrated, f->pci.chains[0].functions[0] = f->pci.chains[0].functions[1],
       f->pci.chains[0].count = 1)
CHANGE(top_is_a_switch, made_function(made_port(f), "0000:16:00.0", 0x8086, 0x2030, MADE_UPSTREAM))
CHANGE(too_long, f->pci.chains[0].cut = true)
CHANGE(more_nics, f->pci.cut = true)
CHANGE(two_nics, made_another(f))

static void second_has_no_root_port(struct facts *f)
{
	struct facts_chain *chain = made_another(f);

	chain->functions[0] = chain->functions[1];
	chain->count = 1;
}

static void speed(struct facts_function *f, const char *current, const char *max)
{
	snprintf(f->current_speed, sizeof(f->current_speed), "%s GT/s PCIe", current);
	snprintf(f->max_speed, sizeof(f->max_speed), "%s GT/s PCIe", max);
}

/* An x8 card in an x16 slot of a later generation is as fast as it can be. */
CHANGE(card_smaller_than_slot, made_nic(f)->current_width = made_nic(f)->max_width = 8,
       made_port(f)->current_width = 8, speed(made_nic(f), "8.0", "8.0"),
       speed(made_port(f), "8.0", "16.0"))
CHANGE(card_wider_than_slot,
       made_nic(f)->current_width = made_port(f)->current_width = made_port(f)->max_width = 8)
CHANGE(card_faster_than_slot, speed(made_nic(f), "8.0", "16.0"), speed(made_port(f), "8.0", "8.0"))
CHANGE(port_says_less, made_port(f)->current_width = 8)
CHANGE(speed_unknown,
       snprintf(made_nic(f)->current_speed, sizeof(made_nic(f)->current_speed), "Unknown"))
CHANGE(no_link_files, made_nic(f)->current_width = made_nic(f)->max_width = -1)

static void behind_a_switch(struct facts *f)
{
	struct facts_chain *chain = &f->pci.chains[0];

	chain->functions[3] = chain->functions[1];
	made_function(&chain->functions[1], "0000:17:00.0", 0x10b5, 0x8747, MADE_UPSTREAM);
	made_function(&chain->functions[2], "0000:18:08.0", 0x10b5, 0x8747, MADE_DOWNSTREAM);
	chain->count = 4;
}

/* a switch of x8 below a port of x16: as wide as the switch can be */
CHANGE(behind_a_small_switch, behind_a_switch(f), f->pci.chains[0].functions[0].current_width = 8,
       f->pci.chains[0].functions[1].current_width = 8, f->pci.chains[0].functions[1].max_width = 8)
CHANGE(switch_trained_low, behind_a_switch(f), speed(&f->pci.chains[0].functions[0], "2.5", "16.0"),
       speed(&f->pci.chains[0].functions[1], "2.5", "16.0"))
/* what is between the two ports of a switch is no link */
CHANGE(inside_of_a_switch, behind_a_switch(f), f->pci.chains[0].functions[2].current_width = 16,
       f->pci.chains[0].functions[1].max_width = 8, f->pci.chains[0].functions[1].current_width = 8,
       f->pci.chains[0].functions[0].current_width = 8)

/* A virtual function has no link, and its control is reserved: all of it zero. */
static void virtual_function(struct facts *f)
{
	struct facts_chain *chain = &f->pci.chains[0];

	made_function(&chain->functions[2], "0000:17:00.2", 0x15b3, 0x1018, MADE_ENDPOINT);
	made_control(&chain->functions[2], 0);
	chain->functions[2].current_width = 0;
	chain->count = 3;
	chain->nics = 2;
}

CHANGE(small_reads, made_control(made_nic(f), READS_256 | PAYLOAD256))

static void second_has_small_reads(struct facts *f)
{
	struct facts_chain *chain = made_another(f);

	made_control(&chain->functions[1], READS_256);
}

CHANGE(relaxed, made_control(made_nic(f), RELAXED | READS_512))

static void relaxed_below(struct facts *f, int port)
{
	relaxed(f);
	made_port(f)->device = port;
}

CHANGE(relaxed_on_haswell, relaxed_below(f, 0x2f02))
CHANGE(relaxed_on_last_of_haswell, relaxed_below(f, 0x2f0e))
CHANGE(relaxed_on_broadwell, relaxed_below(f, 0x6f01))
CHANGE(relaxed_beside_the_list, relaxed_below(f, 0x2f0f))
CHANGE(relaxed_below_another_vendor, relaxed_below(f, 0x2f02), made_port(f)->vendor = 0x1b36)
CHANGE(strict_on_haswell, made_port(f)->device = 0x2f02)
CHANGE(no_snoop, made_control(made_nic(f), NO_SNOOP))

static void tph(struct facts *f, uint32_t bits)
{
	made_extended(made_nic(f), 0x140, 0x17);
	made_put(made_nic(f), 0x148, bits << 8, 4);
}

CHANGE(tph_off, tph(f, 0))
CHANGE(tph_on, tph(f, 1))
CHANGE(tph_extended, tph(f, 3))
CHANGE(tph_on_though_forbidden, tph(f, 1), f->platform.tph_disabled = KNOWN_YES)

static void tph_on_second(struct facts *f)
{
	struct facts_chain *chain = made_another(f);

	made_extended(&chain->functions[1], 0x140, 0x17);
	made_put(&chain->functions[1], 0x148, 0x100, 4);
}

CHANGE(tph_on_virtual, virtual_function(f), tph(f, 1))
CHANGE(acs_on, made_extended(made_port(f), 0x110, 0x0d), made_put(made_port(f), 0x116, 0x001c, 2))

static void iommu(struct facts *f, const char *type)
{
	snprintf(f->device.iommu_type, sizeof(f->device.iommu_type), "%s", type);
}

CHANGE(no_iommu, iommu(f, "none"))
CHANGE(iommu_dma, iommu(f, "DMA"))
CHANGE(iommu_lazy, iommu(f, "DMA-FQ"))
CHANGE(iommu_unreadable, iommu(f, ""))
CHANGE(iommu_of_a_guest, iommu(f, "unmanaged"))

static const struct check_case cases[] = {
	{"PCI-01", READINESS_PASS, NULL},
	{"PCI-01", READINESS_PASS, two_nics},
	{"PCI-01", READINESS_PASS, behind_a_switch},
	{"PCI-01", READINESS_PASS, virtual_function},
	{"PCI-01", READINESS_UNKNOWN, without_privilege},
	{"PCI-01", READINESS_UNKNOWN, vanished},
	{"PCI-01", READINESS_UNKNOWN, integrated},
	{"PCI-01", READINESS_UNKNOWN, top_is_a_switch},
	{"PCI-01", READINESS_UNKNOWN, second_has_no_root_port},
	{"PCI-01", READINESS_UNKNOWN, too_long},
	{"PCI-01", READINESS_UNKNOWN, more_nics},
	{"PCI-01", READINESS_UNKNOWN, no_path},
	{"PCI-01", READINESS_SKIP, rxe},
	{"PCI-01", READINESS_SKIP, soft},
	{"PCI-01", READINESS_SKIP, no_device},
	{"PCI-02", READINESS_PASS, NULL},
	{"PCI-02", READINESS_PASS, card_smaller_than_slot},
	{"PCI-02", READINESS_PASS, behind_a_switch},
	{"PCI-02", READINESS_PASS, behind_a_small_switch},
	{"PCI-02", READINESS_PASS, inside_of_a_switch},
	{"PCI-02", READINESS_PASS, virtual_function},
	{"PCI-02", READINESS_PASS, integrated},
	{"PCI-02", READINESS_WARN, card_wider_than_slot},
	{"PCI-02", READINESS_WARN, card_faster_than_slot},
	{"PCI-02", READINESS_WARN, port_says_less},
	{"PCI-02", READINESS_WARN, switch_trained_low},
	{"PCI-02", READINESS_UNKNOWN, speed_unknown},
	{"PCI-02", READINESS_UNKNOWN, no_link_files},
	{"PCI-02", READINESS_UNKNOWN, no_path},
	{"PCI-02", READINESS_SKIP, rxe},
	{"PCI-02", READINESS_SKIP, no_device},
	{"PCI-03", READINESS_INFO, NULL},
	{"PCI-03", READINESS_INFO, virtual_function},
	{"PCI-03", READINESS_WARN, small_reads},
	{"PCI-03", READINESS_WARN, second_has_small_reads},
	{"PCI-03", READINESS_UNKNOWN, nic_unreadable},
	{"PCI-03", READINESS_UNKNOWN, vanished},
	{"PCI-03", READINESS_UNKNOWN, no_path},
	{"PCI-03", READINESS_SKIP, rxe},
	{"PCI-03", READINESS_SKIP, no_device},
	{"PCI-04", READINESS_PASS, NULL},
	{"PCI-04", READINESS_PASS, strict_on_haswell},
	{"PCI-04", READINESS_INFO, relaxed},
	{"PCI-04", READINESS_INFO, relaxed_beside_the_list},
	{"PCI-04", READINESS_INFO, relaxed_below_another_vendor},
	{"PCI-04", READINESS_FAIL, relaxed_on_haswell},
	{"PCI-04", READINESS_FAIL, relaxed_on_last_of_haswell},
	{"PCI-04", READINESS_FAIL, relaxed_on_broadwell},
	{"PCI-04", READINESS_INFO, nic_unreadable},
	{"PCI-04", READINESS_UNKNOWN, nic_unreadable_on_haswell},
	{"PCI-04", READINESS_UNKNOWN, nic_unreadable_below_unknown},
	{"PCI-04", READINESS_UNKNOWN, more_nics},
	{"PCI-04", READINESS_SKIP, rxe},
	{"PCI-04", READINESS_SKIP, no_device},
	{"PCI-05", READINESS_INFO, NULL},
	{"PCI-05", READINESS_INFO, no_snoop},
	{"PCI-05", READINESS_UNKNOWN, nic_unreadable},
	{"PCI-05", READINESS_UNKNOWN, more_nics},
	{"PCI-05", READINESS_SKIP, rxe},
	{"PCI-05", READINESS_SKIP, no_device},
	{"PCI-06", READINESS_PASS, NULL},
	{"PCI-06", READINESS_INFO, tph_off},
	{"PCI-06", READINESS_UNKNOWN, more_nics},
	{"PCI-06", READINESS_WARN, tph_on_though_forbidden},
	{"PCI-06", READINESS_WARN, tph_on},
	{"PCI-06", READINESS_WARN, tph_extended},
	{"PCI-06", READINESS_WARN, tph_on_second},
	{"PCI-06", READINESS_WARN, tph_on_virtual},
	{"PCI-06", READINESS_UNKNOWN, nic_unreadable},
	{"PCI-06", READINESS_UNKNOWN, vanished},
	{"PCI-06", READINESS_UNKNOWN, no_path},
	{"PCI-06", READINESS_SKIP, rxe},
	{"PCI-06", READINESS_SKIP, no_device},
	{"PCI-07", READINESS_INFO, NULL},
	{"PCI-07", READINESS_INFO, acs_on},
	{"PCI-07", READINESS_UNKNOWN, without_privilege},
	{"PCI-07", READINESS_INFO, integrated},
	{"PCI-07", READINESS_UNKNOWN, no_path},
	{"PCI-07", READINESS_SKIP, rxe},
	{"PCI-07", READINESS_SKIP, no_device},
	{"PCI-08", READINESS_PASS, NULL},
	{"PCI-08", READINESS_PASS, no_iommu},
	{"PCI-08", READINESS_WARN, iommu_dma},
	{"PCI-08", READINESS_WARN, iommu_lazy},
	{"PCI-08", READINESS_UNKNOWN, iommu_unreadable},
	{"PCI-08", READINESS_UNKNOWN, iommu_of_a_guest},
	{"PCI-08", READINESS_SKIP, rxe},
	{"PCI-08", READINESS_SKIP, no_device},
};

CASES_OF(checks_pci)

/* 128 shifted by bits 7:5 and 14:12 */
TEST(values_are_those_of_the_registers)
{
	CASE_VALUE(checks_pci, "PCI-01", NULL, "0000:16:00.0 > 0000:17:00.0");
	CASE_VALUE(checks_pci, "PCI-01", two_nics,
		   "0000:16:00.0 > 0000:17:00.0, 0000:64:00.0 > 0000:65:00.0");
	CASE_VALUE(checks_pci, "PCI-02", NULL,
		   "0000:17:00.0: 16.0 GT/s PCIe x16 of 16.0 GT/s PCIe x16");
	CASE_VALUE(checks_pci, "PCI-03", small_reads, "payload 256, read request 256 bytes");
	CASE_VALUE(checks_pci, "PCI-03", virtual_function, "payload 256, read request 512 bytes");
	CASE_VALUE(checks_pci, "PCI-04", relaxed, "on");
	CASE_VALUE(checks_pci, "PCI-05", no_snoop, "enabled");
	CASE_VALUE(checks_pci, "PCI-06", tph_on_though_forbidden, "enabled, pci=notph");
	CASE_VALUE(checks_pci, "PCI-07", NULL, "0000:16:00.0 none");
	CASE_VALUE(checks_pci, "PCI-07", acs_on, "0000:16:00.0 RRCRUF");
	CASE_VALUE(checks_pci, "PCI-08", iommu_lazy, "DMA-FQ");
}

/* The way out is another one than for who is not root. */
TEST(a_device_that_has_gone_is_told_from_lack_of_privilege)
{
	struct readiness_finding gone = case_finding(checks_pci, "PCI-03", vanished);
	struct readiness_finding refused = case_finding(checks_pci, "PCI-03", nic_unreadable);

	EQUAL((gone.fix, HAS("has gone")), (refused.fix, HAS("root")));
}
