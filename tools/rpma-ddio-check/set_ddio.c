/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * set_ddio.c -- plans the writes for all root ports of the device, keeps what they hold,
 * then writes and reads back.
 *
 * perfctrlsts_0 is at 0x180 of the root ports of Skylake-SP, Cascade Lake and Cooper Lake:
 * bit 7 is use_allocating_flow_wr, 1 by default, bit 3 is NoSnoopOpWrEn, 0 by default.
 * Both are public by the script ddio.sh of pmem/rpma and by ddio-bench.
 */
#include "set_ddio.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/json/result.h"

/* The state file as JSON, replaced as a whole. */

#define SCHEMA "rpma-ddio-check-state/1"

/* The ports of the file; none if there is no file. NULL, with a message: it is not one. */
static json_t *set_state_load(const char *path)
{
	json_error_t error;
	json_t *file, *ports;

	if (access(path, F_OK) != 0 && errno == ENOENT)
		return json_object();
	file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	ports = json_incref(json_object_get(file, "ports"));
	if (!json_is_object(ports) || json_string_value(json_object_get(file, "schema")) == NULL ||
	    strcmp(json_string_value(json_object_get(file, "schema")), SCHEMA) != 0) {
		failure_set(EXIT_RUN_FAILED, "state",
			    "%s is not a state file of rpma-ddio-check (%s): expected an object "
			    "with the schema " SCHEMA,
			    path, file == NULL ? error.text : "another object");
		json_decref(ports);
		ports = NULL;
	}
	json_decref(file);
	return ports;
}

static bool set_state_get(const json_t *ports, const char *address, uint8_t *byte)
{
	const char *text = json_string_value(json_object_get(ports, address));
	unsigned long value;
	char *end;

	if (text == NULL || strncmp(text, "0x", 2) != 0)
		return false;
	value = strtoul(text, &end, 16);
	if (*end != '\0' || strlen(text) != 4)
		return false;
	*byte = (uint8_t)value;
	return true;
}

/* Unless there is a value. */
static void set_state_add(json_t *ports, const char *address, uint8_t byte)
{
	char text[8];

	if (json_object_get(ports, address) != NULL)
		return;
	snprintf(text, sizeof(text), "0x%02x", byte);
	json_object_set_new(ports, address, json_string(text));
}

/* A file without ports is removed. */
static int set_state_save(const char *path, const json_t *ports)
{
	json_t *file;
	int ret;

	if (json_object_size(ports) == 0) {
		if (unlink(path) != 0 && errno != ENOENT)
			return failure_set(EXIT_RUN_FAILED, "state", "cannot remove %s: %s", path,
					   strerror(errno));
		return 0;
	}
	file = json_pack("{s:s, s:O}", "schema", SCHEMA, "ports", ports);
	ret = result_write(path, file);
	json_decref(file);
	return ret;
}

#define TOOL	    "rpma-ddio-check"
#define STEP	    "set"
#define failed(...) failure_set(EXIT_RUN_FAILED, STEP, __VA_ARGS__)

struct port {
	const struct facts_function *function;
	uint32_t before; /* perfctrlsts_0 */
	uint8_t byte;	 /* to be written as its lowest */
};

struct ports {
	struct port list[FACTS_CHAINS_MAX];
	size_t count;
};

static int refuse(enum set_choice set, const char *why)
{
	return failure_set(EXIT_NO_DEVICE, STEP, "--set %s: nothing was written: %s",
			   options_set_words[set], why);
}

static bool is_planned(const struct ports *ports, const struct facts_function *top)
{
	for (size_t i = 0; i < ports->count; i++) {
		if (strcmp(ports->list[i].function->path, top->path) == 0)
			return true;
	}
	return false;
}

static int plan_port(enum set_choice set, const struct facts *facts,
		     const struct facts_chain *chain, const json_t *state, struct ports *ports)
{
	const struct facts_function *top = &chain->functions[0];
	struct port *port = &ports->list[ports->count];
	struct ddio ddio;

	ddio_of_chain(&facts->platform, chain, &ddio);
	if (!ddio.read)
		return refuse(set, ddio.why);
	if (ddio.low_confidence)
		return refuse(set, "the register is not well documented for this processor: use "
				   "the firmware's menu");
	if (is_planned(ports, top))
		return 0;
	*port = (struct port){top, ddio.perfctrlsts[0], (uint8_t)ddio.perfctrlsts[0]};
	if (set == SET_RESTORE && !set_state_get(state, top->address, &port->byte))
		return failure_set(EXIT_NO_DEVICE, STEP,
				   "--set ddio=restore: nothing was written: the state file has no "
				   "former value of %s",
				   top->address);
	if (set != SET_RESTORE)
		port->byte &= (uint8_t)~DDIO_SWITCHES;
	if (set == SET_ON)
		port->byte |= DDIO_ALLOCATING;
	/* a file decides on the switches alone */
	port->byte =
		(uint8_t)((ddio.perfctrlsts[0] & ~DDIO_SWITCHES) | (port->byte & DDIO_SWITCHES));
	ports->count++;
	return 0;
}

/* All of them, or none. */
static int plan(enum set_choice set, const struct facts *facts, const json_t *state,
		struct ports *ports)
{
	int ret = 0;

	memset(ports, 0, sizeof(*ports));
	if (!facts->device.found)
		return refuse(set, "there is no RDMA device, or not the one that was asked for");
	if (facts->device.kind != DEVICE_HARDWARE)
		return refuse(set, "the RDMA device is software, and has no root port");
	if (facts->pci.cut || facts->pci.count == 0)
		return refuse(set, "not all root ports of the device can be seen");
	for (size_t i = 0; i < facts->pci.count && ret == 0; i++)
		ret = plan_port(set, facts, &facts->pci.chains[i], state, ports);
	return ret;
}

/* Links were resolved when the facts were gathered; none may be there now. */
static int open_config(const struct sysroot *root, const struct facts_function *function)
{
	const struct open_how how = {.flags = O_RDWR | O_CLOEXEC,
				     .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	char path[FACTS_PATH_MAX + 16];
	struct stat status;
	int fd;

	snprintf(path, sizeof(path), "%s/config", function->path);
	fd = (int)syscall(SYS_openat2, root->fd, path, &how, sizeof(how));
	if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		fd = -1;
		errno = EINVAL;
	}
	if (fd < 0)
		failed("cannot open the configuration space /%s for writing: %s%s", path,
		       strerror(errno),
		       errno == EPERM	 ? " (the kernel is locked down, see SYS-05)"
		       : errno == EACCES ? " (it takes root)"
					 : "");
	return fd;
}

static int write_port(int fd, const struct port *port)
{
	const uint32_t expected = (port->before & ~0xffU) | port->byte;
	uint8_t bytes[4] = {0};
	uint32_t after;

	if (pwrite(fd, &port->byte, 1, DDIO_PERFCTRLSTS_0) != 1)
		return failed("cannot write to the root port %s: %s", port->function->address,
			      strerror(errno));
	if (pread(fd, bytes, sizeof(bytes), DDIO_PERFCTRLSTS_0) != (ssize_t)sizeof(bytes))
		return failed("wrote to the root port %s, but cannot read it back: %s",
			      port->function->address, strerror(errno));
	after = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
		(uint32_t)bytes[3] << 24;
	if (after != expected)
		return failed("perfctrlsts_0 of the root port %s reads back as 0x%08x after 0x%08x "
			      "was written: the platform holds it",
			      port->function->address, after, expected);
	printf("%s: perfctrlsts_0 0x%08x -> 0x%08x, read back\n", port->function->address,
	       port->before, after);
	return 0;
}

static int change(const struct sysroot *root, const struct port *port)
{
	int fd, ret;

	if ((uint8_t)port->before == port->byte) {
		printf("%s: perfctrlsts_0 0x%08x, as it is to be\n", port->function->address,
		       port->before);
		return 0;
	}
	fd = open_config(root, port->function);
	if (fd < 0)
		return -EIO;
	ret = write_port(fd, port);
	close(fd);
	return ret;
}

static void warn(enum set_choice set, const struct ports *ports)
{
	for (size_t i = 0; i < ports->count; i++)
		fprintf(stderr,
			TOOL ": warning: --set %s changes where the writes of all devices below "
			     "the root port %s go, until the next boot or --set ddio=restore%s\n",
			options_set_words[set], ports->list[i].function->address,
			set == SET_OFF ? "; they get slower" : "");
}

static void print_plan(const struct ports *ports)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct port *p = &ports->list[i];

		printf("%s: perfctrlsts_0 0x%08x, would write 0x%02x to byte 0x180 (setpci -s %s "
		       "180.b=%02x:%02x)\n",
		       p->function->address, p->before, p->byte, p->function->address,
		       p->byte & DDIO_SWITCHES, DDIO_SWITCHES);
	}
}

/* The former values are in the file before anything is written. */
static int carry_out(const struct options *o, const struct sysroot *root, json_t *state,
		     const struct ports *ports)
{
	int ret = 0;

	warn(o->set, ports);
	for (size_t i = 0; i < ports->count && o->set != SET_RESTORE; i++)
		set_state_add(state, ports->list[i].function->address,
			      (uint8_t)ports->list[i].before);
	if (o->set != SET_RESTORE)
		ret = set_state_save(o->state, state);
	for (size_t i = 0; i < ports->count && ret == 0; i++) {
		ret = change(root, &ports->list[i]);
		if (ret == 0 && o->set == SET_RESTORE)
			json_object_del(state, ports->list[i].function->address);
	}
	if (ret == 0 && o->set == SET_RESTORE)
		ret = set_state_save(o->state, state);
	return ret;
}

/* The facts of the device decide, and the file of former values. */
static int set_with(const struct options *o, const struct sysroot *root,
		    struct readiness *readiness, json_t *state)
{
	const struct readiness_cfg cfg = {.root = root, .device = o->device};
	struct ports ports;
	int ret = readiness_inspect(readiness, &cfg);

	if (ret == 0)
		ret = plan(o->set, &readiness->facts, state, &ports);
	if (ret != 0)
		return ret;
	if (o->dry_run) {
		print_plan(&ports);
		return 0;
	}
	return carry_out(o, root, state, &ports);
}

int set_ddio(const struct options *options, const struct sysroot *root)
{
	struct readiness *readiness;
	json_t *state = set_state_load(options->state);
	int ret;

	if (state == NULL)
		return -EIO;
	readiness = calloc(1, sizeof(*readiness));
	if (readiness == NULL) {
		json_decref(state);
		return failure_set(EXIT_INTERNAL, STEP, "out of memory");
	}
	ret = set_with(options, root, readiness, state);
	readiness_free(readiness);
	free(readiness);
	json_decref(state);
	return ret;
}
