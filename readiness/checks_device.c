/* SPDX-License-Identifier: BSD-3-Clause */
/* checks_device.c -- is there an RDMA device, does its port work, what is it? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

#define CLASS		"/sys/class/infiniband"
#define STATE_ACTIVE	"4: ACTIVE"
#define LAYER_ETHERNET	"Ethernet"
#define DESCRIPTION_MAX 160 /* the four texts of a port, and what stands between */

bool checks_without_device(const struct facts *facts, struct readiness_finding *finding)
{
	if (facts->device.found)
		return false;
	finding_is(finding, SKIP, "There is no RDMA device to look at (DEV-01).");
	return true;
}

bool checks_without_hardware(const struct facts *facts, struct readiness_finding *finding)
{
	if (checks_without_device(facts, finding))
		return true;
	if (facts->device.kind == DEVICE_HARDWARE)
		return false;
	finding_value(finding, "%s", device_kind_name(facts->device.kind));
	finding_is(
		finding, SKIP,
		"Software transport: the CPU copies the data, and no RDMA hardware is on a bus.");
	return true;
}

enum adapter_placement checks_placement(const struct facts *facts)
{
	return adapter_find(facts->device.kind, &facts->device.ids)->placement;
}

bool checks_without_dma(const struct facts *facts, struct readiness_finding *finding)
{
	if (checks_without_hardware(facts, finding))
		return true;
	if (checks_placement(facts) != ADAPTER_BY_CPU)
		return false;
	finding_value(finding, "%s", facts->device.ids.driver);
	finding_is(finding, SKIP,
		   "The CPU copies the data, so that where device writes go does not matter "
		   "(DEV-05).");
	return true;
}

static void inspect_exists(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_device *device = &facts->device;

	finding_source(finding, CLASS);
	if (device->found) {
		finding_value(finding, "%s (%s), one of %zu", device->name,
			      device_kind_name(device->kind), device->count);
		finding_say(finding, READINESS_PASS,
			    device->count > 1
				    ? "There is an RDMA device; all that follows is of this "
				      "one (--device names another)."
				    : "There is an RDMA device.",
			    NULL);
		return;
	}
	if (device->no_sysfs) {
		finding_value(finding, "no /sys/class");
		finding_say(
			finding, READINESS_FAIL, "No RDMA device can be seen: sysfs is not there.",
			"Mount it (mount -t sysfs sysfs /sys), or name a directory with --sysroot "
			"that has sys below it.");
		return;
	}
	if (device->count == 0) {
		finding_value(finding, "none");
		finding_say(finding, READINESS_FAIL,
			    "This host has no RDMA device, or its driver is not loaded.",
			    "Load the driver of the NIC (lspci shows it); in a container let it "
			    "see the device; without hardware: rdma link add rxe0 type rxe netdev "
			    "INTERFACE.");
		return;
	}
	finding_value(finding, "no %s among %zu", device->asked, device->count);
	finding_say(finding, READINESS_FAIL, "There is no RDMA device of that name.",
		    "Name one that rdma link or ibv_devices lists.");
}

static bool active(const struct facts_port *port)
{
	return strcmp(port->state, STATE_ACTIVE) == 0;
}

/* Gb/s; 0: unknown */
static double rate_of(const struct facts_port *port)
{
	return strtod(port->rate, NULL);
}

/* "(1X EDR)", "(4X SDR)": links of InfiniBand have four lanes, and are not that slow. */
static bool trained_badly(const struct facts_port *port)
{
	const char *width = strchr(port->rate, '(');

	return strcmp(port->link_layer, "InfiniBand") == 0 && width != NULL &&
	       (strncmp(width, "(1X", 3) == 0 || strncmp(width, "(2X", 3) == 0 ||
		strstr(width, " SDR)") != NULL);
}

struct port_count {
	size_t known, active;
	const struct facts_port *shown; /* the first that is active, or the first */
	double slowest, fastest;
	bool trained_badly;
};

static struct port_count count_ports(const struct facts_device *device)
{
	struct port_count count = {.shown = &device->ports[0]};

	for (size_t i = 0; i < device->ports_count; i++) {
		const struct facts_port *port = &device->ports[i];
		double rate = rate_of(port);

		count.known += port->state[0] != '\0';
		if (!active(port))
			continue;
		if (count.active++ == 0)
			count.shown = port;
		if (count.slowest == 0 || rate < count.slowest)
			count.slowest = rate;
		if (rate > count.fastest)
			count.fastest = rate;
		count.trained_badly = count.trained_badly || trained_badly(port);
	}
	return count;
}

static const char *describe(const struct facts_port *port, char text[DESCRIPTION_MAX])
{
	const char *const parts[] = {port->state, port->phys_state, port->rate, port->link_layer};
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i][0] != '\0')
			len += (size_t)snprintf(text + len, DESCRIPTION_MAX - len, "%s%s",
						len > 0 ? ", " : "", parts[i]);
	}
	return text;
}

static bool without_port(const struct facts_device *device, struct readiness_finding *finding)
{
	if (device->kind != DEVICE_SOFT)
		return false;
	finding_is(finding, SKIP, "The software device has no port that the kernel knows.");
	return true;
}

static void inspect_port(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_device *device = &facts->device;
	char text[DESCRIPTION_MAX];
	struct port_count count;

	if (checks_without_device(facts, finding))
		return;
	if (without_port(device, finding))
		return;
	count = count_ports(device);
	finding_source(finding, CLASS "/%s/ports/*/{state,phys_state,rate,link_layer}",
		       device->name);
	if (count.known == 0) {
		finding_is(finding, UNKNOWN, "The state of the port cannot be read.");
		return;
	}
	finding_value(finding, "port %d of %zu: %s", count.shown->number, device->ports_count,
		      describe(count.shown, text));
	if (count.active == 0)
		finding_say(finding, READINESS_FAIL,
			    "No port of the device is active: nothing can be sent.",
			    "Plug in the cable, set the interface up (ip link set INTERFACE up); "
			    "on InfiniBand see that a subnet manager runs.");
	else if (count.trained_badly || count.slowest < count.fastest)
		finding_say(finding, READINESS_WARN,
			    "The link is slower than it could be: fewer lanes, a lower speed, or "
			    "slower than the other port.",
			    "Look at the cable and the switch's port; ibportstate or mlxlink tell "
			    "why it trained so low.");
	else if (count.active < device->ports_count)
		finding_say(finding, READINESS_WARN, "A port is active, but not all are.",
			    "Nothing, if the other port is not meant to be used.");
	else
		finding_is(finding, PASS, "The port is active.");
}

static void inspect_gid(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_device *device = &facts->device;
	size_t ethernet = 0, unknown = 0, with = 0;

	if (checks_without_device(facts, finding) || without_port(device, finding))
		return;
	for (size_t i = 0; i < device->ports_count; i++) {
		const struct facts_port *port = &device->ports[i];

		if (strcmp(port->link_layer, LAYER_ETHERNET) != 0)
			continue;
		ethernet++;
		with += port->roce_v2 == KNOWN_YES;
		unknown += port->roce_v2 == KNOWN_NOT;
	}
	if (strcmp(device->transport, "iwarp") == 0 || ethernet == 0) {
		finding_value(finding, "%s", device->transport);
		finding_is(finding, SKIP, "GIDs of RoCE are for Ethernet ports alone.");
		return;
	}
	finding_source(finding, CLASS "/%s/ports/*/{gids,gid_attrs/types}", device->name);
	finding_value(finding, "%zu of %zu Ethernet ports", with, ethernet);
	if (with > 0)
		finding_is(finding, PASS, "There is a GID of RoCE v2 that is not link-local.");
	else if (unknown > 0)
		finding_is(finding, UNKNOWN, "The GIDs cannot be read.");
	else
		finding_say(
			finding, READINESS_WARN,
			"There is no GID of RoCE v2 but link-local ones: a peer beyond this "
			"network cannot be reached.",
			facts->limits.container != CONTAINER_NONE
				? "Give the container the interface that has the address, by a "
				  "network attachment or the host's network: others' GIDs are not "
				  "shown in its network namespace."
				: "Give the network interface an IP address (ip addr add ADDRESS "
				  "dev INTERFACE).");
}

static void inspect_model(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_device *device = &facts->device;
	char ids[32] = "";

	if (checks_without_device(facts, finding))
		return;
	if (device->ids.vendor >= 0 && device->ids.model >= 0)
		snprintf(ids, sizeof(ids), "%04x:%04x", (unsigned)device->ids.vendor & 0xffff,
			 (unsigned)device->ids.model & 0xffff);
	finding_source(finding, CLASS "/%s/{fw_ver,board_id,hca_type,device/vendor,device/device}",
		       device->name);
	if (device->firmware[0] == '\0' && device->kind != DEVICE_HARDWARE) {
		finding_value(finding, "%s", device_kind_name(device->kind));
		finding_is(finding, INFO, "A device in software has no firmware.");
		return;
	}
	if (device->firmware[0] == '\0' && device->hca_type[0] == '\0' && ids[0] == '\0') {
		finding_is(finding, UNKNOWN, "Neither model nor firmware can be read.");
		return;
	}
	finding_value(finding, "%s%s%s%s firmware %s%s%s",
		      device->hca_type[0] != '\0' ? device->hca_type : device->name,
		      ids[0] != '\0' ? " (" : "", ids, ids[0] != '\0' ? ")" : "",
		      device->firmware[0] != '\0' ? device->firmware : "unknown",
		      device->board[0] != '\0' ? ", board " : "", device->board);
	finding_is(finding, INFO, "What to name when asking the vendor.");
}

static void say_adapter(const struct facts_device *device, const struct adapter *adapter,
			struct readiness_finding *finding)
{
	const char *driver = device->ids.driver;

	finding_source(finding, CLASS "/%s/{device/driver,parent,node_type,node_desc}%s%s",
		       device->name, adapter->source[0] != '\0' ? "; " : "", adapter->source);
	if (device->kind == DEVICE_HARDWARE)
		finding_value(finding, "hardware, driver %s: %s",
			      driver[0] != '\0' ? driver : "unknown", adapter->name);
	else
		finding_value(finding, "%s: %s", device_kind_name(device->kind), adapter->name);
}

static void inspect_placement(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_device *device = &facts->device;
	const struct adapter *adapter = adapter_find(device->kind, &device->ids);

	if (checks_without_device(facts, finding))
		return;
	say_adapter(device, adapter, finding);
	if (adapter->placement == ADAPTER_BY_DMA)
		finding_is(finding, PASS, "The adapter writes to memory by DMA.");
	else if (adapter->placement == ADAPTER_NO_RC)
		finding_say(finding, READINESS_FAIL,
			    "The adapter has no reliable connections (RC), which librpma needs.",
			    "Use an adapter with RC, such as one for RoCE, InfiniBand or iWARP.");
	else if (adapter->placement == ADAPTER_NOT_KNOWN)
		finding_say(finding, READINESS_UNKNOWN,
			    "Whether the adapter writes by DMA, or its driver copies with the CPU, "
			    "is not known.",
			    device->ids.driver[0] == '\0'
				    ? "Run this where the link \"driver\" of the device is in /sys."
				    : "Ask its maker; or use the flush by a message (GPSPM), which "
				      "needs no knowledge of it.");
	else
		finding_say(
			finding, READINESS_WARN,
			"The CPU copies received data, so it is in the cache; it is persistent "
			"only after a flush by the CPU.",
			device->kind == DEVICE_HARDWARE
				? "Use an adapter that writes by DMA, or the flush by a message "
				  "(GPSPM)."
				: "Use an RDMA NIC; a software device is for functional tests.");
}

const struct readiness_check checks_device[] = {
	{"DEV-01", "RDMA device", READINESS_BLOCKS, READINESS_BLOCKS, inspect_exists,
	 "Without an RDMA device there is nothing to be ready. Without --device one that is\n"
	 "hardware and has an active port is taken, else the first that is hardware, else one\n"
	 "in software. Read from /sys/class/infiniband.\n"
	 "PASS: there is one, or the one that was named.\n"
	 "FAIL: there is none, none of that name, or no sysfs to tell; the verdict is\n"
	 "UNDETERMINED, exit code 3.\n"},
	{"DEV-02", "port and link", READINESS_BLOCKS, READINESS_ADVISES, inspect_port,
	 "A port that is not active sends nothing; one that trained to fewer lanes or a lower\n"
	 "speed than it has spoils all figures. Read from state, phys_state, rate and\n"
	 "link_layer of the ports. The most an Ethernet port could do is not in sysfs; ports\n"
	 "of one device are compared with each other, and those of InfiniBand should have four\n"
	 "lanes.\n"
	 "PASS: all ports are active (\"4: ACTIVE\").\n"
	 "WARN: an active port is slower than it could be, or another port is not active.\n"
	 "FAIL: no port is active.\n"
	 "UNKNOWN: the state cannot be read.\n"
	 "SKIP: there is no device, or it is the software device of this package.\n"},
	{"DEV-03", "GID of RoCE v2", READINESS_ADVISES, READINESS_ADVISES, inspect_gid,
	 "Over Ethernet, peers find each other by GIDs. RoCE v2 with an address that routers\n"
	 "know works everywhere; link-local GIDs (fe80::, 169.254.x.x) and RoCE v1 end at the\n"
	 "first router. Read from gids and gid_attrs/types of the ports.\n"
	 "PASS: an Ethernet port has such a GID.\n"
	 "WARN: none has one; most often the interface has no IP address.\n"
	 "UNKNOWN: the GIDs cannot be read.\n"
	 "SKIP: no device, no Ethernet port, or iWARP, which has no such GIDs.\n"},
	{"DEV-04", "model and firmware", READINESS_ADVISES, READINESS_ADVISES, inspect_model,
	 "What support asks for first, and what results of two hosts should have in common.\n"
	 "Read from fw_ver, board_id, hca_type and the PCI ids.\n"
	 "INFO: what was found.\n"
	 "UNKNOWN: nothing can be read.\n"
	 "SKIP: there is no device.\n"},
	{"DEV-05", "who places received data", READINESS_BLOCKS, READINESS_WEIGHED,
	 inspect_placement,
	 "Where the CPU copies received data, it goes through the cache whatever the PCI\n"
	 "Express settings are, so Direct Write to PMem is not persistent. That is so with rxe,\n"
	 "siw and the software device of this package, but also with adapters whose driver\n"
	 "copies: hfi1 (Omni-Path 100) and ib_qib (TrueScale). The native flush of rxe does\n"
	 "flush by the CPU. usNIC and EFA have no reliable connections. Decided by the kernel\n"
	 "driver behind the link \"device\", the PCI ids and node_type, from a table made from\n"
	 "the sources of Linux, which rpma-ddio-check(1) prints. rxe alone has the attribute\n"
	 "\"parent\"; siw is an RNIC without hardware, or is named in node_desc.\n"
	 "PASS: the adapter writes to memory by DMA.\n"
	 "WARN: the CPU copies; the checks of DDIO are SKIP, in software those of PCI Express "
	 "too.\n"
	 "FAIL: the adapter has no reliable connections.\n"
	 "UNKNOWN: its driver is not in the table, or cannot be read.\n"
	 "SKIP: there is no device.\n"},
	{0},
};
