/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service_log.h -- the lines of a server on its clients: each with its time,
 * and a limited number a second, whatever clients do.
 */
#ifndef COMMON_RDMA_SERVICE_LOG_H
#define COMMON_RDMA_SERVICE_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define SERVICE_LOG_LINES_MAX 20 /* a second; the others are counted */

struct service_log {
	FILE *to;	  /* borrowed; NULL: nothing is written */
	const char *name; /* what each line begins with; borrowed */
	pthread_mutex_t lock;
	/* under lock */
	time_t second;
	unsigned shown; /* in that second */
	unsigned hidden;
};

void service_log_init(struct service_log *log, FILE *to, const char *name);
void service_log_destroy(struct service_log *log);

/* "NAME: 2026-08-21T10:00:00+0200 TEXT" */
void service_log_line(struct service_log *log, time_t now, const char *text);

/* Once their second is over it prints how many lines were not shown. True: there are some still. */
bool service_log_settle(struct service_log *log, time_t now);

#endif /* COMMON_RDMA_SERVICE_LOG_H */
