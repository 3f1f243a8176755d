/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider_objects.h -- what the files of the scripted provider share: the
 * objects behind the public structs, and the resets of each file.
 */
#pragma once

#include "calls.h"
#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAITING 16

/* Every object starts with the public struct, so the pointers are the same. */
struct pd {
	struct ibv_pd base;
	int users;
};

struct cq {
	struct ibv_cq base;
	int users;
	int unacked;
	struct ibv_wc waiting[MAX_WAITING];
	int num_waiting;
};

struct srq {
	struct ibv_srq base;
	int users;
};

void provider_break_rule(const char *rule);

/* A real fd, readable while events wait, so that callers may poll it. */
int provider_event_fd(void);
void provider_raise(int fd);
void provider_lower(int fd);

int provider_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
struct ibv_qp *provider_create_qp(struct ibv_qp_init_attr_ex *attr);
void provider_destroy_qp(struct ibv_qp *qp);

/* Each file puts its operations into the context, and forgets the last test. */
void provider_reset_verbs(void);
void provider_reset_cq(void);
void provider_reset_qp(void);
void provider_reset_rdmacm(void);
