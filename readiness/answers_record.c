/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers_record.c -- answers of this machine, noted for the facts.json of a
 * dump. What is unknown is not written.
 */
#include "answers_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static void note(const struct answers *answers, const char *group, const char *name, json_t *entry)
{
	json_t *entries = json_object_get(answers->record, group);
	char key[PATH_MAX];

	snprintf(key, sizeof(key), "%s", name);
	sysroot_record_text(answers->root, key);
	if (entries == NULL) {
		entries = json_object();
		json_object_set_new(answers->record, group, entries);
	}
	json_object_set_new(entries, key, entry);
}

static void set_number(json_t *entry, const char *key, int64_t value)
{
	if (value >= 0)
		json_object_set_new(entry, key, json_integer(value));
}

static void set_truth(json_t *entry, const char *key, int value)
{
	if (value >= 0)
		json_object_set_new(entry, key, json_boolean(value));
}

static void set_text(json_t *entry, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_object_set_new(entry, key, json_string(text));
}

void answers_note_device(const struct answers *answers, const char *name,
			 const struct answers_device *device)
{
	json_t *entry;

	if (answers->record == NULL)
		return;
	entry = json_object();
	if (device->known) {
		/* as far as a JSON integer has bits */
		set_number(entry, "device_cap_flags_ex",
			   (int64_t)(device->cap_flags_ex & INT64_MAX));
		set_number(entry, "odp_general", (int64_t)(device->odp_general & INT64_MAX));
		set_number(entry, "odp_rc", device->odp_rc);
	}
	set_number(entry, "max_qp_wr", device->max_qp_wr);
	set_number(entry, "max_cqe", device->max_cqe);
	set_number(entry, "max_qp_rd_atom", device->max_qp_rd_atom);
	set_truth(entry, "tph_handle", device->tph_handle);
	set_text(entry, "why", device->why);
	note(answers, "devices", name, entry);
}

void answers_note_path(const struct answers *answers, const char *path,
		       const struct answers_path *file)
{
	json_t *entry;

	if (answers->record == NULL)
		return;
	entry = json_object();
	set_text(entry, "kind", answers_kinds[file->kind]);
	set_number(entry, "size_bytes", file->size_bytes);
	if (file->numbers) {
		set_number(entry, "major", file->major);
		set_number(entry, "minor", file->minor);
	}
	set_truth(entry, "dax", file->dax);
	if (file->map_sync >= 0)
		set_text(entry, "map_sync",
			 file->map_sync == 0 ? "ok" : strerrorname_np(file->map_sync));
	if (file->error != 0)
		set_text(entry, "error", strerrorname_np(file->error));
	note(answers, "targets", path, entry);
}

void answers_note_probe(const struct answers *answers, const struct answers_probe *probe)
{
	json_t *entry;

	if (answers->record == NULL)
		return;
	entry = json_object();
	set_number(entry, "rdma_bytes", probe->rdma_bytes);
	set_number(entry, "memory_write_bytes", probe->memory_write_bytes);
	set_number(entry, "window_bytes", probe->window_bytes);
	set_number(entry, "phases", probe->phases);
	set_number(entry, "share_low_ppm", probe->share_low_ppm);
	set_number(entry, "share_high_ppm", probe->share_high_ppm);
	set_text(entry, "events", probe->events);
	json_object_set_new(answers->record, "probe", entry);
}
