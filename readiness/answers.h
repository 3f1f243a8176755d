/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers.h -- what only calls can tell: statx, mmap, the verbs, a probe.
 *
 * On the machine itself they are asked for. Below another root they come from
 * its facts.json, and what that does not have is unknown: a foreign tree must
 * never be mixed with answers of this machine.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/host/sysroot.h"

struct answers_device {
	bool known;   /* the device answered; the file may have some of it alone: */
	char why[96]; /* where it is not: "ibv_query_device_ex: Operation not supported" */
	bool flags_known, odp_known; /* cap_flags_ex; odp_general and odp_rc */
	uint64_t cap_flags_ex;
	uint64_t odp_general;
	uint32_t odp_rc;
	int64_t max_qp_wr, max_cqe, max_qp_rd_atom; /* -1: unknown */
	int tph_handle;				    /* ibv_alloc_dmah works: 1, 0; -1: unknown */
};

enum answers_file {
	ANSWERS_UNKNOWN,
	ANSWERS_NONE,
	ANSWERS_REGULAR,
	ANSWERS_DIRECTORY,
	ANSWERS_CHARACTER,
	ANSWERS_BLOCK,
	ANSWERS_OTHER
};

struct answers_path {
	enum answers_file kind;
	int64_t size_bytes;    /* -1: unknown */
	bool numbers;	       /* whether these two are known: */
	unsigned major, minor; /* the device it is, or lies on */
	int dax;	       /* STATX_ATTR_DAX: 1, 0; -1: unknown */
	int map_sync;	       /* 0: works; an errno; -1: not tried */
	int error;	       /* errno of looking at it, or of opening it to map it; 0: none */
};

/* Memory traffic against RDMA traffic, both over the same time. */
struct answers_probe {
	bool done;
	char why[160]; /* where it was not: what is missing, and how to get it */
	int64_t rdma_bytes;
	int64_t memory_write_bytes;
	int64_t window_bytes;
	int64_t phases; /* phases of traffic, each between two silences; 0: unknown, or one */
	/* 95 % interval of the bytes written to memory for each by RDMA, in millionths */
	int64_t share_low_ppm, share_high_ppm;
	char events[96]; /* which were counted */
};

#define ANSWERS_SCHEMA	  "rpma-ddio-check-facts/1"
#define ANSWERS_BYTES_MAX (1 << 20) /* limit of facts.json */

struct answers {
	const struct sysroot *root; /* borrowed; on the machine it is asked, else `facts` alone */
	json_t *facts;		    /* content of facts.json; NULL: none. Owned */
	json_t *record; /* where live answers are noted for a dump; NULL: not. Borrowed */
};

/* facts.json below a replaced root; -EINVAL, with the error message set, for a broken one. */
int answers_open(struct answers *answers, const struct sysroot *root);
void answers_close(struct answers *answers);
/* The text of a facts.json: NULL, with the error message set, where it is not one. */
json_t *answers_parse(const char *text, size_t size);

void answers_of_device(const struct answers *answers, const char *name, struct answers_device *out);
void answers_of_path(const struct answers *answers, const char *path, struct answers_path *out);
/* For a tree only: on the machine the caller probes. `why` stays where there is none. */
void answers_of_probe(const struct answers *answers, struct answers_probe *out);

/* Into the record, where there is one; answers of the machine are noted by themselves. */
void answers_note_probe(const struct answers *answers, const struct answers_probe *probe);

/* The words of enum answers_file. */
extern const char *const answers_kinds[];

void answers_read_device(const struct answers *answers, const char *name,
			 struct answers_device *out);
void answers_read_path(const struct answers *answers, const char *path, struct answers_path *out);
void answers_read_probe(const struct answers *answers, struct answers_probe *out);

void answers_note_device(const struct answers *answers, const char *name,
			 const struct answers_device *device);
void answers_note_path(const struct answers *answers, const char *path,
		       const struct answers_path *file);
