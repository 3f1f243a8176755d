/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * set_state.h -- what the registers held before --set changed them, in a file.
 *
 * {"schema": "rpma-ddio-check-state/1", "ports": {"0000:16:00.0": "0x91"}}: for each root
 * port the byte with its switches. The first value stays, however often it is changed.
 */
#ifndef SET_STATE_H
#define SET_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The ports of the file; none if there is no file. NULL, with a message: it is not one. */
json_t *set_state_load(const char *path);
bool set_state_get(const json_t *ports, const char *address, uint8_t *byte);
/* Unless there is a value. */
void set_state_add(json_t *ports, const char *address, uint8_t byte);
/* A file without ports is removed. */
int set_state_save(const char *path, const json_t *ports);

#endif /* SET_STATE_H */
