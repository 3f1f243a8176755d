/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_facts.h -- the facts of a host where all is well, to be changed by
 * tests: Cascade Lake, an NIC below a root port, allocation off.
 */
#pragma once

#include "readiness/facts.h"
#include "tests/lib/config_space.h"
#include "tests/lib/test.h"

#define EXPRESS 0x40 /* where the made functions have their PCI Express capability */

/* The values of <linux/pci_regs.h>, written out. */
enum made_type { MADE_ENDPOINT = 0, MADE_ROOT = 4, MADE_UPSTREAM = 5, MADE_DOWNSTREAM = 6 };

static inline void made_config(struct facts_function *f, const struct config_space *space)
{
	memcpy(f->config.bytes, space->bytes, sizeof(f->config.bytes));
	f->config.len = sizeof(f->config.bytes);
}

/* Its PCI Express capability at 0x40 and an AER capability at 0x100, and nothing else. */
static inline void made_function(struct facts_function *f, const char *address, uint16_t vendor,
				 uint16_t device, enum made_type type)
{
	struct config_space space;
	bool bridge = type != MADE_ENDPOINT;

	memset(f, 0, sizeof(*f));
	config_space_begin(&space, vendor, device, bridge ? 1 : 0);
	config_space_put(&space, 0x0a, bridge ? 0x0604 : 0x0200, 2);
	config_space_add_express(&space, EXPRESS, (uint8_t)type, 0x2930 & ~0x0810);
	config_space_add_extended(&space, 0x100, 0x0001, 2);
	made_config(f, &space);
	snprintf(f->address, sizeof(f->address), "%s", address);
	snprintf(f->path, sizeof(f->path), "sys/devices/pci0000:16/%s", address);
	snprintf(f->current_speed, sizeof(f->current_speed), "16.0 GT/s PCIe");
	snprintf(f->max_speed, sizeof(f->max_speed), "16.0 GT/s PCIe");
	f->current_width = f->max_width = 16;
	f->vendor = vendor;
	f->device = device;
}

static inline void made_put(struct facts_function *f, size_t at, uint32_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		f->config.bytes[at + i] = (uint8_t)(value >> (8 * i));
}

/* Chains another extended capability behind the AER capability. */
static inline void made_extended(struct facts_function *f, size_t at, uint16_t id)
{
	made_put(f, 0x102, (uint32_t)at << 4 | 2, 2);
	made_put(f, at, 1U << 16 | id, 4);
}

/* The device control register of the PCI Express capability. */
static inline void made_control(struct facts_function *f, uint16_t control)
{
	made_put(f, EXPRESS + 8, control, 2);
}

static inline void made_registers(struct facts_function *port, uint32_t zero, uint32_t one)
{
	made_put(port, 0x180, zero, 4);
	made_put(port, 0x184, one, 4);
}

static inline struct facts_function *made_port(struct facts *facts)
{
	return &facts->pci.chains[0].functions[0];
}

static inline struct facts_function *made_nic(struct facts *facts)
{
	struct facts_chain *chain = &facts->pci.chains[0];

	return &chain->functions[chain->count - 1];
}

static inline void made_chain(struct facts_chain *chain, const char *port, const char *nic)
{
	memset(chain, 0, sizeof(*chain));
	made_function(&chain->functions[0], port, 0x8086, 0x2030, MADE_ROOT);
	made_function(&chain->functions[1], nic, 0x15b3, 0x1017, MADE_ENDPOINT);
	chain->count = 2;
	chain->nics = 1;
	/* the two figures of the public lab note on a port with allocation off */
	made_registers(&chain->functions[0], 0x00183011, 0x00000000);
}

/* Another NIC of the device. */
static inline struct facts_chain *made_another(struct facts *facts)
{
	struct facts_chain *chain = &facts->pci.chains[facts->pci.count++];

	made_chain(chain, "0000:64:00.0", "0000:65:00.0");
	return chain;
}

static inline void made_device(struct facts_device *device)
{
	device->count = 1;
	device->found = true;
	device->kind = DEVICE_HARDWARE;
	snprintf(device->name, sizeof(device->name), "mlx5_0");
	snprintf(device->transport, sizeof(device->transport), "roce");
	snprintf(device->firmware, sizeof(device->firmware), "16.35.2000");
	snprintf(device->hca_type, sizeof(device->hca_type), "MT4119");
	device->ids = (struct adapter_ids){"mlx5_core", .vendor = 0x15b3, .model = 0x1017,
					   .node_type = 1};
	snprintf(device->local_cpus, sizeof(device->local_cpus), "0-15");
	snprintf(device->iommu_type, sizeof(device->iommu_type), "identity");
	device->ports_count = 1;
	device->ports[0] = (struct facts_port){
		1, "4: ACTIVE", "5: LinkUp", "100 Gb/sec (4X EDR)", "Ethernet", KNOWN_YES};
}

static inline void made_platform(struct facts_platform *platform)
{
	snprintf(platform->vendor, sizeof(platform->vendor), "GenuineIntel");
	platform->family = 6;
	platform->model = 0x55;
	platform->stepping = 7;
	platform->ddio_ways_msr = 0x600;
	snprintf(platform->ddio_ways_source, sizeof(platform->ddio_ways_source), "dev/cpu/0/msr");
	snprintf(platform->l3_shareable_bits, sizeof(platform->l3_shareable_bits), "600");
	snprintf(platform->governor, sizeof(platform->governor), "performance");
	platform->deepest_idle_ns = 2000;
	snprintf(platform->clocksource, sizeof(platform->clocksource), "tsc");
	snprintf(platform->lockdown, sizeof(platform->lockdown), "none");
	snprintf(platform->usable_cpus, sizeof(platform->usable_cpus), "0-31");
	snprintf(platform->irq_cpus, sizeof(platform->irq_cpus), "1-3");
}

/* A device DAX on one interleaved region, whose one module is well. */
static inline void made_target(struct facts_target *target)
{
	struct facts_region *region = &target->regions[0];
	struct facts_namespace *space = &target->namespaces[0];

	target->shape = TARGET_ON_DEVDAX;
	target->host_seen = true;
	target->regions_of_host = target->regions_count = target->namespaces_count = 1;
	snprintf(target->path, sizeof(target->path), "/dev/dax0.0");
	snprintf(target->device, sizeof(target->device), "dax0.0");
	snprintf(target->driver, sizeof(target->driver), "device_dax");
	target->size_bytes = 100LL << 30;
	target->align_bytes = 2LL << 20;
	target->badblocks = -1;
	target->answer = (struct answers_path){
		.kind = ANSWERS_CHARACTER, .size_bytes = -1, .dax = -1, .map_sync = -1};
	snprintf(region->name, sizeof(region->name), "region0");
	snprintf(region->provider, sizeof(region->provider), "ACPI.NFIT");
	snprintf(region->persistence_domain, sizeof(region->persistence_domain),
		 "memory_controller");
	snprintf(region->devtype, sizeof(region->devtype), "nd_pmem");
	region->size_bytes = 126LL << 30;
	region->dimms_count = 1;
	snprintf(region->dimms[0].name, sizeof(region->dimms[0].name), "nmem0");
	snprintf(region->dimms[0].flags, sizeof(region->dimms[0].flags), "none");
	snprintf(space->name, sizeof(space->name), "namespace0.0");
	snprintf(space->mode, sizeof(space->mode), "dax");
	space->size_bytes = 102LL << 30;
	space->numa_node = -1;
}

/* A probe whose six phases agree. */
static inline struct answers_probe made_probe(int64_t rdma, int64_t memory, int64_t window)
{
	return (struct answers_probe){.done = true,
				      .rdma_bytes = rdma,
				      .memory_write_bytes = memory,
				      .window_bytes = window,
				      .phases = 6,
				      .share_low_ppm = 900000,
				      .share_high_ppm = 1100000};
}

static inline struct facts *made_facts(void)
{
	struct facts *facts = calloc(1, sizeof(*facts));

	assert_non_null(facts);
	facts->pci.chains = calloc(FACTS_CHAINS_MAX, sizeof(*facts->pci.chains));
	assert_non_null(facts->pci.chains);
	facts->pci.count = 1;
	made_chain(&facts->pci.chains[0], "0000:16:00.0", "0000:17:00.0");
	made_device(&facts->device);
	made_platform(&facts->platform);
	made_target(&facts->target);
	facts->limits = (struct facts_limits){
		.memlock_bytes = INT64_MAX, .open_files = 524288, .may_lock = KNOWN_NO};
	facts->verbs.max_qp_wr = 32768;
	facts->verbs.max_cqe = 4194303;
	facts->verbs.max_qp_rd_atom = 16;
	facts->verbs.known = facts->verbs.flags_known = facts->verbs.odp_known = true;
	facts->claims.ddio_assumed = KNOWN_NOT;
	return facts;
}

static inline void made_free(struct facts *facts)
{
	free(facts->pci.chains);
	free(facts);
}
