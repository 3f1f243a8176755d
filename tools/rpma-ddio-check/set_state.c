/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * set_state.c -- the state file as JSON, replaced as a whole.
 */
#include "set_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/json/result.h"

#define SCHEMA "rpma-ddio-check-state/1"

json_t *set_state_load(const char *path)
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

bool set_state_get(const json_t *ports, const char *address, uint8_t *byte)
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

void set_state_add(json_t *ports, const char *address, uint8_t byte)
{
	char text[8];

	if (json_object_get(ports, address) != NULL)
		return;
	snprintf(text, sizeof(text), "0x%02x", byte);
	json_object_set_new(ports, address, json_string(text));
}

int set_state_save(const char *path, const json_t *ports)
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
