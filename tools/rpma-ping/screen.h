/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen.h -- what a client prints for people, as ping(8) does: a head, a line
 * or a dot for each ping, and a summary. With --json nothing of it. Clients of
 * several hosts print at the same time: a call's lines stay together.
 */
#pragma once

#include "client.h"
#include "common/json/result.h"

/* The result as JSON, of the schema rpma-ping/1. */
json_t *document_make(const struct client *client);

void screen_begin(const struct client *client);
void screen_before(const struct client *client);
void screen_ping(const struct client *client, uint64_t number, const struct ping_report *report);
void screen_summary(const struct client *client);
/* The statistics so far, in one line on standard error. */
void screen_status(const struct client *client);

/* Flushes the output, so that it is seen before a pause. */
void screen_flush(void);
/* Its reader is gone: no more can be printed. */
bool screen_broken(void);
