/* SPDX-License-Identifier: BSD-3-Clause */
/* test_checks_device.c -- DEV-01 to DEV-05: each status from the facts that lead to it. */
#include "cases.h"

CHANGE(none_of_that_name, f->device.found = false,
       snprintf(f->device.asked, sizeof(f->device.asked), "mlx5_9"))
CHANGE(rxe_without_firmware, rxe(f), f->device.firmware[0] = f->device.hca_type[0] = '\0',
       f->device.ids.vendor = f->device.ids.model = -1)
CHANGE(siw, f->device.kind = DEVICE_SIW,
       snprintf(f->device.transport, sizeof(f->device.transport), "iwarp"))

static void state(struct facts *f, const char *text)
{
	snprintf(f->device.ports[0].state, sizeof(f->device.ports[0].state), "%s", text);
}

CHANGE(down, state(f, "1: DOWN"))
CHANGE(initialising, state(f, "2: INIT"))
CHANGE(state_unreadable, state(f, ""))
CHANGE(second_port, f->device.ports[1] = f->device.ports[0], f->device.ports[1].number = 2,
       f->device.ports_count = 2)
CHANGE(first_port_down, second_port(f), down(f))
CHANGE(second_port_slower, second_port(f),
       snprintf(f->device.ports[1].rate, sizeof(f->device.ports[1].rate), "25 Gb/sec (1X EDR)"))
CHANGE(infiniband,
       snprintf(f->device.ports[0].link_layer, sizeof(f->device.ports[0].link_layer), "InfiniBand"),
       snprintf(f->device.transport, sizeof(f->device.transport), "ib"),
       f->device.ports[0].roce_v2 = KNOWN_NO)
CHANGE(infiniband_one_lane, infiniband(f),
       snprintf(f->device.ports[0].rate, sizeof(f->device.ports[0].rate), "25 Gb/sec (1X EDR)"))
CHANGE(infiniband_slow, infiniband(f),
       snprintf(f->device.ports[0].rate, sizeof(f->device.ports[0].rate), "10 Gb/sec (4X SDR)"))
/* 25 Gbit Ethernet has one lane, and that is all it should have */
CHANGE(ethernet_one_lane,
       snprintf(f->device.ports[0].rate, sizeof(f->device.ports[0].rate), "25 Gb/sec (1X EDR)"))
CHANGE(no_gid, f->device.ports[0].roce_v2 = KNOWN_NO)
CHANGE(gids_unreadable, f->device.ports[0].roce_v2 = KNOWN_NOT)
CHANGE(gid_on_second_port, second_port(f), no_gid(f))
CHANGE(nothing_known, f->device.ids.vendor = f->device.ids.model = -1,
       f->device.firmware[0] = f->device.hca_type[0] = '\0')
CHANGE(driver_unreadable, f->device.ids.driver[0] = '\0')
CHANGE(driver_of_tomorrow, snprintf(f->device.ids.driver, sizeof(f->device.ids.driver), "tomorrow"))
CHANGE(usnic, driver_of_tomorrow(f), f->device.ids.node_type = 6)
CHANGE(efa, snprintf(f->device.ids.driver, sizeof(f->device.ids.driver), "efa"))

static const struct check_case cases[] = {
	{"DEV-01", READINESS_PASS, NULL},
	{"DEV-01", READINESS_PASS, rxe},
	{"DEV-01", READINESS_FAIL, no_device},
	{"DEV-01", READINESS_FAIL, none_of_that_name},
	{"DEV-02", READINESS_PASS, NULL},
	{"DEV-02", READINESS_PASS, infiniband},
	{"DEV-02", READINESS_PASS, ethernet_one_lane},
	{"DEV-02", READINESS_PASS, second_port},
	{"DEV-02", READINESS_WARN, first_port_down},
	{"DEV-02", READINESS_WARN, second_port_slower},
	{"DEV-02", READINESS_WARN, infiniband_one_lane},
	{"DEV-02", READINESS_WARN, infiniband_slow},
	{"DEV-02", READINESS_FAIL, down},
	{"DEV-02", READINESS_FAIL, initialising},
	{"DEV-02", READINESS_UNKNOWN, state_unreadable},
	{"DEV-02", READINESS_SKIP, soft},
	{"DEV-02", READINESS_SKIP, no_device},
	{"DEV-03", READINESS_PASS, NULL},
	{"DEV-03", READINESS_PASS, gid_on_second_port},
	{"DEV-03", READINESS_WARN, no_gid},
	{"DEV-03", READINESS_UNKNOWN, gids_unreadable},
	{"DEV-03", READINESS_SKIP, infiniband},
	{"DEV-03", READINESS_SKIP, siw},
	{"DEV-03", READINESS_SKIP, soft},
	{"DEV-03", READINESS_SKIP, no_device},
	{"DEV-04", READINESS_INFO, NULL},
	{"DEV-04", READINESS_INFO, soft},
	{"DEV-04", READINESS_INFO, rxe_without_firmware},
	{"DEV-04", READINESS_UNKNOWN, nothing_known},
	{"DEV-04", READINESS_SKIP, no_device},
	{"DEV-05", READINESS_PASS, NULL},
	{"DEV-05", READINESS_WARN, rxe},
	{"DEV-05", READINESS_WARN, siw},
	{"DEV-05", READINESS_WARN, soft},
	{"DEV-05", READINESS_WARN, copied_by_the_cpu},
	{"DEV-05", READINESS_FAIL, usnic},
	{"DEV-05", READINESS_FAIL, efa},
	{"DEV-05", READINESS_UNKNOWN, driver_unreadable},
	{"DEV-05", READINESS_UNKNOWN, driver_of_tomorrow},
	{"DEV-05", READINESS_SKIP, no_device},
};

CASES_OF(checks_device)

TEST(the_port_that_works_is_shown)
{
	CASE_VALUE(checks_device, "DEV-02", first_port_down,
		   "port 2 of 2: 4: ACTIVE, 5: LinkUp, 100 Gb/sec (4X EDR), Ethernet");
}

CHANGE(no_sysfs, no_device(f), f->device.no_sysfs = true)

TEST(a_host_that_cannot_be_seen_is_not_one_without)
{
	assert_non_null(strstr(case_finding(checks_device, "DEV-01", no_sysfs).meaning, "sysfs"));
	assert_null(strstr(case_finding(checks_device, "DEV-01", no_device).meaning, "sysfs"));
}

TEST(the_missing_name_is_said)
{
	assert_non_null(
		strstr(case_finding(checks_device, "DEV-01", none_of_that_name).value, "mlx5_9"));
}

TEST(ids_are_as_lspci_writes_them)
{
	CASE_VALUE(checks_device, "DEV-04", NULL, "MT4119 (15b3:1017) firmware 16.35.2000");
}
