/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check_region.c -- a memory region in a finding: what is known of it at this side.
 *
 * Where a region was registered is known to its process alone. Over TCP that tells it with its
 * answer, if it is checked; of the same host it prints it itself, as a note.
 */
#include <stdio.h>
#include <unistd.h>

#include "soft_device/process/names.h"
#include "soft_device/process/process.h"
#include "sq_check.h"
#include "sq_region.h"

static _Thread_local const struct wire_region *told;

void sq_region_told(const struct wire_region *region)
{
	told = region;
}

bool sq_is_own_process(const struct send_queue *sq)
{
	return sq->peer != NULL && sq->peer->key.identity == process_current->segment->identity;
}

/* A region of another process: its table keeps an entry until the place is used again. */
static struct sq_region peers_region(const struct segment *segment, uint32_t key)
{
	const struct shared_mr *mr = &segment->mr[key >> 8 < SEGMENT_MRS ? key >> 8 : 0];
	const bool is_there = key != 0 && key >> 8 < SEGMENT_MRS && atomic_load(&mr->key) == key;
	const bool was_there = key != 0 && key >> 8 < SEGMENT_MRS && mr->last == (uint8_t)key;

	return (struct sq_region){
		.is_known = is_there || was_there || (mr->window != 0 && key >> 8 < SEGMENT_MRS),
		.is_window = mr->window != 0,
		.pid = segment->pid,
		.object = {.number = key,
			   .is_gone = !is_there,
			   .pd = mr->pd & ~(MR_UNMAPPED | MR_WINDOW),
			   .access = mr->access,
			   .addr = mr->iova,
			   .length = mr->length},
	};
}

struct sq_region sq_own_region(uint32_t key)
{
	struct sq_region region = {.pid = getpid()};

	region.is_known = objects_find(OBJECT_MR, key, &region.object);
	return region.is_known ? region : peers_region(process_current->segment, key);
}

struct sq_region sq_target_region(const struct send_queue *sq, uint32_t key)
{
	if (sq_is_own_process(sq))
		return sq_own_region(key);
	if (sq->peer != NULL && sq->peer->segment != NULL)
		return peers_region(sq->peer->segment, key);
	if (told == NULL || told->key != key)
		return (struct sq_region){.is_known = false};
	return (struct sq_region){
		.is_known = true,
		.pid = (pid_t)told->pid,
		.object = {.number = key,
			   .is_gone = told->is_gone,
			   .pd = told->pd,
			   .access = told->access,
			   .addr = told->addr,
			   .length = told->length},
		.told = told,
	};
}

bool sq_region_is_live(const struct send_queue *sq, uint32_t key)
{
	const struct sq_region region = sq_target_region(sq, key);

	return region.is_known && !region.object.is_gone;
}

void sq_region_put(struct check_finding *finding, const char *name, const struct sq_region *region)
{
	const struct object *object = &region->object;
	char names[NAMES_BYTES];

	if (!region->is_known)
		return;
	if (region->is_window)
		name = "window";
	check_line(finding, name, "%#llx .. %#llx   %llu bytes, %s, PD %u, process %d",
		   (unsigned long long)object->addr,
		   (unsigned long long)object->addr + object->length,
		   (unsigned long long)object->length,
		   sq_check_rights(object->access & ~MR_NULL, names), object->pd, (int)region->pid);
	if (region->told != NULL && region->told->made_at[0] != '\0')
		check_line(finding, "registered at", "%s", region->told->made_at);
	if (region->told != NULL && region->told->gone_at[0] != '\0')
		check_line(finding, "deregistered at", "%s", region->told->gone_at);
	check_place(finding, "registered at", object->made_at);
	check_place(finding, "changed at", object->changed_at);
	check_place(finding, "deregistered at", object->is_gone ? object->gone_at : 0);
	check_place(finding, "unmapped at", object->unmapped_at);
	check_place(finding, "freed at", object->freed_at);
}

void sq_region_put_distance(const struct object *region, uint64_t addr, uint64_t length,
			    char text[CHECK_TEXT_BYTES])
{
	const uint64_t end = region->addr + region->length;

	if (addr < region->addr)
		snprintf(text, CHECK_TEXT_BYTES, "begins %llu bytes before",
			 (unsigned long long)(region->addr - addr));
	else
		snprintf(text, CHECK_TEXT_BYTES, "ends %llu bytes behind",
			 (unsigned long long)(addr + length - end));
}
