/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_mutations.c -- facts of a host where all is well, changed at random:
 * whatever comes of it, ready is only what an oracle calls good. It knows the
 * facts and rpma-ddio-check(1), and nothing of checks and verdict.
 */
#include "made_ddio.h"
#include "readiness/advice.h"

#define MUTATIONS 5000
#define TEXT(field, ...)                                                                           \
	do {                                                                                       \
		static const char *const texts[] = {__VA_ARGS__};                                  \
                                                                                                   \
		snprintf(field, sizeof(field), "%s",                                               \
			 texts[test_random(seed) % (sizeof(texts) / sizeof(texts[0]))]);           \
	} while (0)
#define NUMBER(field, ...)                                                                         \
	do {                                                                                       \
		static const int64_t numbers[] = {__VA_ARGS__};                                    \
                                                                                                   \
		field = (__typeof__(field))                                                        \
			numbers[test_random(seed) % (sizeof(numbers) / sizeof(numbers[0]))];       \
	} while (0)

static enum known any_known(uint64_t *seed)
{
	return (enum known)(test_random(seed) % 3);
}

static void mutate_memory(struct facts *f, uint64_t *seed)
{
	struct facts_target *target = &f->target;
	struct facts_region *region = &target->regions[0];

	switch (test_random(seed) % 12) {
	case 0:
		TEXT(region->provider, "", "e820", "CXL", "unknown", "ACPI.NFIT");
		break;
	case 1:
		TEXT(region->devtype, "", "nd_volatile", "nd_pmem");
		break;
	case 2:
		TEXT(region->persistence_domain, "", "hope", "cpu_cache", "memory_controller");
		break;
	case 3:
		TEXT(region->dimms[0].flags, "", "garbage", "locked", "not_armed", "smart_notify",
		     "smart_notify save_fail", "smart_event");
		break;
	case 4:
		NUMBER(region->read_only, -1, 0, 1);
		break;
	case 5:
		NUMBER(region->badblocks, -1, 0, 3);
		break;
	case 6:
		TEXT(target->namespaces[0].mode, "", "raw", "safe", "memory", "odd");
		break;
	case 7:
		TEXT(target->driver, "", "kmem", "none", "device_dax", "other");
		break;
	case 8:
		target->cut = test_random(seed) % 2 == 0;
		break;
	case 9:
		target->shape = (enum target_shape)(test_random(seed) % 6);
		target->answer.map_sync = (int)(test_random(seed) % 2) - 1;
		target->dax_mount = any_known(seed);
		target->answer.kind = ANSWERS_REGULAR;
		f->verbs.odp_general = f->verbs.odp_rc = 0xffU * (uint32_t)(test_random(seed) % 2);
		f->verbs.odp_known = test_random(seed) % 2 == 0;
		break;
	case 10:
		f->platform.guest = any_known(seed);
		break;
	case 11:
		TEXT(f->claims.pmem_why, "", "checked on the host");
		break;
	}
}

static void mutate_device(struct facts *f, uint64_t *seed)
{
	switch (test_random(seed) % 15) {
	case 13:
		TEXT(f->device.ids.driver, "", "hfi1", "ib_qib", "efa", "usnic_verbs", "tomorrow",
		     "ice", "mlx5_core.sf", "mlx5_core");
		break;
	case 14:
		NUMBER(f->device.ids.node_type, -1, 1, 4, 5, 6);
		NUMBER(f->device.ids.model, -1, 0x24f0, 0x1017);
		NUMBER(f->device.ids.vendor, -1, 0x8086, 0x15b3);
		break;
	case 0:
		TEXT(f->device.ports[0].state, "", "1: DOWN", "4: ACTIVE");
		break;
	case 1:
		f->pci.cut = test_random(seed) % 2 == 0;
		break;
	case 2:
		NUMBER(f->limits.memlock_bytes, -1, 65536, INT64_MAX);
		break;
	case 3:
		NUMBER(f->limits.open_files, -1, 10, 1024);
		break;
	case 4:
		NUMBER(f->verbs.max_qp_rd_atom, -1, 0, 16);
		break;
	case 5:
		made_registers(made_port(f), (uint32_t)test_random(seed) & (BIT_7 | BIT_3),
			       (uint32_t)test_random(seed) & BIT_9);
		break;
	case 6:
		made_control(made_nic(f), (uint16_t)(test_random(seed) % 2 * NO_SNOOP));
		break;
	case 7:
		add_tph(made_nic(f), (uint32_t)test_random(seed) % 2);
		break;
	case 8:
		f->claims.ddio_assumed = any_known(seed);
		break;
	case 9:
		f->claims.probe.done = true;
		NUMBER(f->claims.probe.rdma_bytes, -1, 1, 255999999, 256000000, 1000000000);
		NUMBER(f->claims.probe.memory_write_bytes, -1, 0, 1, 256000000, 1000000000);
		NUMBER(f->claims.probe.window_bytes, -1, 1 << 20, 1 << 30);
		NUMBER(f->claims.probe.phases, 0, 1, 4, 6);
		NUMBER(f->claims.probe.share_low_ppm, 0, 700000, 900000);
		NUMBER(f->claims.probe.share_high_ppm, 1000000, 1400000, 1700000);
		break;
	case 10:
		f->platform.model = test_random(seed) % 2 == 0 ? 0x6a : 0x55;
		break;
	case 11:
		made_port(f)->config.len = test_random(seed) % 2 == 0 ? 64 : PCI_CONFIG_BYTES;
		break;
	case 12:
		f->verbs.cap_flags_ex = test_random(seed) % 4 << 38;
		break;
	}
}

/* --- the oracle ---------------------------------------------------------------- */

static bool is(const char *text, const char *good)
{
	return strcmp(text, good) == 0;
}

/* The table of the man page: who places data by DMA, over reliable connections. */
static bool places_by_dma(const struct adapter_ids *ids)
{
	return (is(ids->driver, "mlx5_core") || is(ids->driver, "mlx5_core.sf") ||
		is(ids->driver, "ice")) &&
	       ids->node_type != 5 && ids->node_type != 6 &&
	       !(ids->vendor == 0x8086 && ids->model == 0x24f0);
}

/* Its CPU copies, into a cache that may be persistent. */
static bool copies(const struct adapter_ids *ids)
{
	return ids->node_type != 5 && ids->node_type != 6 && !is(ids->driver, "efa") &&
	       !is(ids->driver, "usnic_verbs") &&
	       (is(ids->driver, "hfi1") || is(ids->driver, "ib_qib") ||
		(ids->vendor == 0x8086 && ids->model == 0x24f0));
}

/* Every fact that the man page lets a verdict depend on, but for DDIO. */
static bool is_good(const struct facts *f)
{
	const struct facts_target *t = &f->target;
	const struct facts_region *r = &t->regions[0];
	const char *flags = r->dimms[0].flags;
	bool odp = f->verbs.odp_known && f->verbs.odp_general != 0 && f->verbs.odp_rc != 0;

	return (places_by_dma(&f->device.ids) || copies(&f->device.ids)) &&
	       is(f->device.ports[0].state, "4: ACTIVE") && !f->pci.cut && !t->cut &&
	       ((t->shape == TARGET_ON_DEVDAX && is(t->driver, "device_dax")) ||
		(t->shape == TARGET_ON_FSDAX && t->answer.map_sync == 0 && odp)) &&
	       (is(t->namespaces[0].mode, "dax") || is(t->namespaces[0].mode, "memory")) &&
	       is(r->provider, "ACPI.NFIT") && is(r->devtype, "nd_pmem") &&
	       (f->platform.guest == KNOWN_NO || f->claims.pmem_why[0] != '\0') &&
	       (is(flags, "none") || is(flags, "smart_notify") || is(flags, "smart_event")) &&
	       r->read_only == 0 && r->badblocks == 0 &&
	       (f->limits.memlock_bytes >= t->size_bytes ||
		(f->limits.memlock_bytes >= 0 && odp)) &&
	       f->limits.open_files >= 64 && f->verbs.max_qp_rd_atom > 0;
}

/* 1: writes reach memory, -1: they do not, 0: not known. */
static int seen(const struct answers_probe *p)
{
	if (!p->done || p->rdma_bytes < 256000000 || p->memory_write_bytes < 0)
		return 0;
	if (p->memory_write_bytes * 5 < p->rdma_bytes)
		return -1;
	return p->memory_write_bytes * 5 > p->rdma_bytes * 4 &&
	       p->memory_write_bytes <= p->rdma_bytes * 3 / 2 && p->window_bytes == 1 << 20 &&
	       p->phases >= 4 && p->share_low_ppm > 800000 && p->share_high_ppm <= 1500000;
}

static bool is_off(const struct facts *f)
{
	const uint8_t *port = f->pci.chains[0].functions[0].config.bytes;
	const uint8_t *nic = f->pci.chains[0].functions[1].config.bytes;
	bool readable = f->platform.model == 0x55 &&
			f->pci.chains[0].functions[0].config.len == PCI_CONFIG_BYTES;
	bool bit_7 = (port[0x180] & 0x80) != 0, bit_3 = (port[0x180] & 0x08) != 0;
	bool tph = (!readable || (port[0x185] & 2) == 0) && nic[0x140] == 0x17;
	bool hints = tph && (nic[0x149] & 1) != 0;
	bool enabled = (bit_3 && (nic[EXPRESS + 9] & 0x08) != 0) || (tph && (nic[0x149] & 1) != 0);
	bool said_off = f->claims.ddio_assumed == KNOWN_NO;
	int probe = seen(&f->claims.probe);

	if (probe < 0 || f->claims.ddio_assumed == KNOWN_YES || hints || copies(&f->device.ids))
		return false;
	if (!readable)
		return said_off || probe > 0;
	if (bit_7)
		return said_off && probe > 0;
	return !enabled && ((!bit_3 && !tph) || probe > 0);
}

TEST(ready_is_only_what_is_good)
{
	static struct readiness_finding findings[READINESS_CHECKS_MAX];
	size_t ready = 0, kept = 0;
	uint64_t seed = 7;

	for (int i = 0; i < MUTATIONS; i++) {
		struct facts *f = made_facts();
		const struct verdict_row *row;
		bool persistent, native;

		for (uint64_t n = 1 + test_random(&seed) % 3; n > 0; n--)
			(test_random(&seed) % 2 ? mutate_memory : mutate_device)(f, &seed);
		readiness_check_all(f, findings);
		row = readiness_judge(f, findings, false);
		persistent = is(f->target.regions[0].persistence_domain, "cpu_cache") ||
			     (is(f->target.regions[0].persistence_domain, "memory_controller") &&
			      is_off(f));
		native = f->verbs.cap_flags_ex == 3ULL << 38 &&
			 is(f->target.regions[0].persistence_domain, "memory_controller");
		if (row->exit_code == 0 && !(is_good(f) && (persistent || native)))
			fail_msg("mutation %d: %s, which is not good", i, row->name);
		if (row->direct_write && !persistent)
			fail_msg("mutation %d: %s, and nothing makes writes persistent", i,
				 row->name);
		ready += row->exit_code == 0;
		kept += row->exit_code != 0;
		made_free(f);
	}
	/* neither always ready nor never */
	assert_true(ready > MUTATIONS / 20 && kept > MUTATIONS / 20);
}

/* Is a check unknown that keeps the host from being ready, and that no remedy is for? */
static bool is_in_the_dark(const struct readiness *r)
{
	const struct readiness_check *check;

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		if (r->findings[i].status == READINESS_UNKNOWN &&
		    check->if_unknown == READINESS_BLOCKS && !is(check->id, "PM-07") &&
		    !is(check->id, "PM-09"))
			return true;
	}
	return false;
}

static void check_advice(const struct readiness *r, int mutation)
{
	static struct advice advice;
	const char *domain = r->facts.target.regions[0].persistence_domain;
	bool ready;

	assert_int_equal(advice_make(r, &advice), 0);
	ready = advice.row->exit_code == 0;
	assert_int_equal(advice.open[0] == '\0', ready);
	if (r->row->exit_code == 0)
		assert_int_equal(advice.count, 0);
	if (advice.count > 0)
		assert_ptr_equal(advice.steps[advice.count - 1].row, advice.row);
	for (size_t i = 1; i < advice.count; i++)
		assert_string_not_equal(advice.steps[i].text, advice.steps[i - 1].text);
	/* no step changes what survives a power failure, or sees what cannot be seen */
	if (ready && !is(domain, "memory_controller") && !is(domain, "cpu_cache"))
		fail_msg("mutation %d: advised to be ready with the domain %s", mutation, domain);
	if (ready && is_in_the_dark(r))
		fail_msg("mutation %d: advised to be ready in the dark: %s, %s", mutation,
			 advice.steps[0].checks, advice.steps[0].text);
}

TEST(advice_ends_and_promises_no_more_than_it_can)
{
	struct readiness *r = calloc(1, sizeof(*r));
	uint64_t seed = 11;

	assert_non_null(r);
	for (int i = 0; i < MUTATIONS; i++) {
		struct facts *f = made_facts();

		for (uint64_t n = 1 + test_random(&seed) % 3; n > 0; n--)
			(test_random(&seed) % 2 ? mutate_memory : mutate_device)(f, &seed);
		r->facts = *f;
		readiness_check_all(&r->facts, r->findings);
		ddio_decide(&r->facts, &r->ddio);
		r->row = readiness_judge(&r->facts, r->findings, false);
		check_advice(r, i);
		made_free(f);
	}
	free(r);
}
