/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.h -- how a server of this toolkit listens, admits clients, and runs a
 * thread for each of them.
 *
 * A client whose address is not in --allow, or that does not speak our protocol,
 * is rejected: it gets no answer. One of another version or tool, or beyond
 * clients_max, is refused: the reply has the reason. The others are served. The fio
 * engine serves all its clients in one thread: it only opens the service, listens,
 * and reads requests.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "allow.h"
#include "listen.h"
#include "region.h"
#include "resolve.h"

/* The lines of a server on its clients: each with its time, and a limited number a second. */
#define SERVICE_LOG_LINES_MAX 20 /* a second; the others are counted */

struct service_log {
	FILE *to;	  /* borrowed */
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

#define SERVICE_REFUSED_MAX 256 /* clients being refused at once; more are rejected */
#define SERVICE_CLIENT_MAX  64	/* "client 2001:db8::1" */

struct service_client {
	struct service *service;
	struct rpma_conn_req *req;     /* until service_accept() */
	struct connection *connection; /* from then on; serve() may close it */
	char name[SERVICE_CLIENT_MAX];
	enum handshake_answer answer;
};

struct service {
	/* set by its owner before service_open(); pointers are borrowed */
	const char *name;	  /* "rpma-ping server" */
	enum handshake_role role; /* that of the clients it is for */
	const char *listen;	  /* host or address */
	uint16_t port;		  /* 0: any free one, which it has once it listens */
	const struct allow *allow;
	const char *allow_option; /* its name, for the error message */
	struct endpoint_options endpoint;
	const struct connection_queues *queues; /* for each connection; NULL: they carry messages */
	unsigned clients_max;
	uint64_t word; /* in the reply to each client that is welcome */
	void (*serve)(void *server, struct service_client *client); /* in a thread of its own */
	void *server;
	/* NULL, or one that listens on another address of the same device: its peer is used */
	const struct service *same_device;

	/* from service_open() on */
	char address[RESOLVE_ADDRESS_MAX];
	char device[DEVICE_NAME_MAX];
	struct rpma_peer *peer;
	int stop_fd; /* readable: the server stops */
	struct rpma_ep *ep;
	int ep_fd;
	bool any_port; /* port was 0 */
	struct service_log log;
	pthread_mutex_t lock; /* serve() may use it for what its clients share */
	pthread_cond_t changed;
	/* under lock */
	unsigned clients;
	unsigned refused;
};

/* Resolves the address and opens its device. service_close() is due even if it fails. */
int service_open(struct service *service);
/* From now on clients may connect. */
int service_listen(struct service *service);

/* Prints where it listens and for whom; more lines may follow. */
void service_announce(const struct service *service, bool direct_write_to_pmem);
/* Admits and serves until a signal or service_stop(). */
int service_run(struct service *service);
/* Ends service_run() and, by stop_fd, what serve() does. */
void service_stop(struct service *service);
/* Stops, waits until all clients have left, and closes the port. */
void service_end(struct service *service);
/* When the port is closed and everything made with the peer is gone. */
void service_close(struct service *service);

/* For serve(): welcomes the client to the region, or NULL. A failure was printed. */
int service_accept(struct service_client *client, const struct region *region);

/* A line of its log on stderr, unless it is to be quiet. */
void service_say(struct service *service, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* failure_get()'s text as such a line, quiet or not: its client's message tells to look for it. */
void service_complain(struct service *service);

/* The private data of a request. -EACCES: its address is not allowed; -EPROTO: none. */
int service_handshake(const struct allow *allow, const struct rpma_conn_req *req,
		      struct rpma_conn_private_data *handshake);
/* "client 192.0.2.1", or "a client" where librpma, before 1.4, cannot tell. */
void service_client_name(const struct rpma_conn_req *req, char name[SERVICE_CLIENT_MAX]);
