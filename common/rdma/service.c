/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.c -- listens, judges requests, and runs a thread for each client.
 *
 * Clients that are served and clients that are being refused are counted apart:
 * a flood of refused ones takes no slot from the others.
 */
#include "service.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/cli.h"
#include "common/base/failure.h"
#include "common/base/thread.h"
#include "librpma_1_4.h"

/*
 * Writes a server's lines on its clients.
 *
 * A scan of the port, or a client that tries again without end, must not fill
 * the disk that keeps the output: beyond a number of lines a second only
 * their count is written.
 */

void service_log_init(struct service_log *log, FILE *to, const char *name)
{
	*log = (struct service_log){.to = to, .name = name};
	pthread_mutex_init(&log->lock, NULL);
}

void service_log_destroy(struct service_log *log)
{
	pthread_mutex_destroy(&log->lock);
}

static void write_line(const struct service_log *log, time_t now, const char *text)
{
	char stamp[40] = "";
	struct tm local;

	if (localtime_r(&now, &local) != NULL)
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S%z ", &local);
	fprintf(log->to, "%s: %s%s\n", log->name, stamp, text);
}

/* Lock held. */
static void begin_second(struct service_log *log, time_t now)
{
	char text[64];

	if (now == log->second)
		return;
	if (log->hidden > 0) {
		snprintf(text, sizeof(text), "%u more lines not shown", log->hidden);
		write_line(log, log->second, text);
	}
	log->second = now;
	log->shown = log->hidden = 0;
}

void service_log_line(struct service_log *log, time_t now, const char *text)
{
	pthread_mutex_lock(&log->lock);
	begin_second(log, now);
	if (log->shown < SERVICE_LOG_LINES_MAX) {
		log->shown++;
		write_line(log, now, text);
	} else {
		log->hidden++;
	}
	pthread_mutex_unlock(&log->lock);
}

bool service_log_settle(struct service_log *log, time_t now)
{
	bool more;

	pthread_mutex_lock(&log->lock);
	if (log->hidden > 0)
		begin_second(log, now);
	more = log->hidden > 0;
	pthread_mutex_unlock(&log->lock);
	return more;
}

/* --- begin and end ------------------------------------------------------------ */

int service_open(struct service *s)
{
	int ret;

	s->any_port = s->port == 0;
	service_log_init(&s->log, stderr, s->name);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->stop_fd < 0)
		return failure_call("start", errno, "make an eventfd");
	if (s->allow->count > 0 && !allow_works())
		return failure_set(EXIT_RUN_FAILED, "listen",
				   "%s: this librpma is older than 1.4 and cannot tell who a "
				   "client is: use a firewall",
				   s->allow_option);
	ret = resolve_host(s->listen, RESOLVE_TIMEOUT_MS, s->address);
	return ret ? ret
		   : endpoint_own(&sysroot_machine, &s->endpoint, s->address, &s->peer, s->device);
}

int service_listen(struct service *service)
{
	return endpoint_listen(service->peer, service->address, &service->port, &service->ep,
			       &service->ep_fd);
}

void service_stop(struct service *service)
{
	eventfd_write(service->stop_fd, 1);
}

void service_end(struct service *service)
{
	service_stop(service);
	pthread_mutex_lock(&service->lock);
	while (service->clients + service->refused > 0)
		pthread_cond_wait(&service->changed, &service->lock);
	pthread_mutex_unlock(&service->lock);
	rpma_ep_shutdown(&service->ep);
}

void service_close(struct service *service)
{
	if (service->same_device == NULL)
		rpma_peer_delete(&service->peer);
	service_log_destroy(&service->log);
	pthread_cond_destroy(&service->changed);
	pthread_mutex_destroy(&service->lock);
	if (service->stop_fd >= 0)
		close(service->stop_fd);
}

/* --- messages ------------------------------------------------------------------- */

void service_say(struct service *service, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (service->endpoint.quiet)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	service_log_line(&service->log, time(NULL), text);
}

void service_complain(struct service *service)
{
	service_log_line(&service->log, time(NULL), failure_get()->text);
}

void service_announce(const struct service *service, bool direct_write_to_pmem)
{
	printf("%s: listening on %s port %u (%s), for %s; direct write to PMem: %s\n",
	       service->name, service->address, service->port, service->device,
	       service->allow->count > 0 ? "the addresses of --allow"
					 : "every host that reaches this address",
	       direct_write_to_pmem ? "stated by the operator" : "no");
}

/* --- requests ------------------------------------------------------------------- */

void service_client_name(const struct rpma_conn_req *req, char name[SERVICE_CLIENT_MAX])
{
	const struct librpma_1_4 newer = librpma_1_4_calls();
	struct sockaddr_storage address = {0};
	char text[INET6_ADDRSTRLEN];

	snprintf(name, SERVICE_CLIENT_MAX, "a client");
	if (newer.conn_req_get_peer_addr != NULL &&
	    newer.conn_req_get_peer_addr(req, &address) == 0 &&
	    getnameinfo((struct sockaddr *)(void *)&address, sizeof(address), text, sizeof(text),
			NULL, 0, NI_NUMERICHOST) == 0)
		snprintf(name, SERVICE_CLIENT_MAX, "client %s", text);
}

int service_handshake(const struct allow *allow, const struct rpma_conn_req *req,
		      struct rpma_conn_private_data *handshake)
{
	*handshake = (struct rpma_conn_private_data){NULL, 0};
	if (!allow_request(allow, req))
		return -EACCES;
	return rpma_conn_req_get_private_data(req, handshake) == 0 && handshake->ptr != NULL
		       ? 0
		       : -EPROTO;
}

/* --- a client ------------------------------------------------------------------- */

static unsigned *count_of(const struct service_client *c)
{
	return c->answer == HANDSHAKE_WELCOME ? &c->service->clients : &c->service->refused;
}

/* Why the client is rejected; NULL: it is not, and has been counted. */
static const char *judge(struct service_client *c)
{
	struct service *s = c->service;
	struct rpma_conn_private_data handshake;
	struct handshake_request request;
	int ret = service_handshake(s->allow, c->req, &handshake);
	bool flooded;

	if (ret == 0)
		ret = handshake_judge_request(handshake.ptr, handshake.len, s->role, &request,
					      &c->answer);
	if (ret)
		return ret == -EACCES ? "its address is not in --allow"
				      : "it is not a client of this tool";
	pthread_mutex_lock(&s->lock);
	if (c->answer == HANDSHAKE_WELCOME && s->clients >= s->clients_max)
		c->answer = HANDSHAKE_BUSY;
	flooded = c->answer != HANDSHAKE_WELCOME && s->refused >= SERVICE_REFUSED_MAX;
	if (!flooded)
		++*count_of(c);
	pthread_mutex_unlock(&s->lock);
	return flooded ? "too many at once" : NULL;
}

int service_accept(struct service_client *client, const struct region *region)
{
	struct service *s = client->service;
	const struct connection_cfg cfg = {
		.peer_name = client->name, .stop_fd = s->stop_fd, .queues = s->queues};
	uint8_t reply[HANDSHAKE_REPLY_BYTES];
	int ret;

	region_encode_reply(region, client->answer,
			    client->answer == HANDSHAKE_WELCOME ? s->word : 0, reply);
	ret = connection_accept(&client->connection, s->peer, &client->req, &cfg, reply,
				sizeof(reply));
	if (ret != 0 && ret != -ECANCELED)
		service_complain(s);
	return ret;
}

/* The refusal travels in the reply: the client has time to read it. */
static void refuse(struct service_client *c)
{
	service_say(c->service, "refused %s: %s", c->name, handshake_refusal(c->answer));
	if (service_accept(c, NULL) == 0)
		connection_alive(c->connection, CONNECTION_TIMEOUT_MS);
}

/* Frees the client. */
static void leave(struct service_client *c)
{
	struct service *s = c->service;

	rpma_conn_req_delete(&c->req);
	connection_close(&c->connection);
	pthread_mutex_lock(&s->lock);
	--*count_of(c);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	free(c);
}

static void *client_thread(void *arg)
{
	struct service_client *c = arg;

	if (c->answer == HANDSHAKE_WELCOME)
		c->service->serve(c->service->server, c);
	else
		refuse(c);
	leave(c);
	return NULL;
}

/* Takes the request in any case. */
static void admit(struct service *s, struct rpma_conn_req *req)
{
	struct service_client *c = calloc(1, sizeof(*c));
	const char *why;

	if (c == NULL) {
		rpma_conn_req_delete(&req);
		return;
	}
	c->service = s;
	c->req = req;
	service_client_name(req, c->name);
	why = judge(c);
	if (why != NULL) {
		service_say(s, "rejected %s: %s", c->name, why);
		rpma_conn_req_delete(&c->req);
		free(c);
	} else if (thread_start(NULL, client_thread, c) != 0) {
		leave(c);
	}
}

/* A port that was chosen but not printed is useless. */
static int check_announced(const struct service *s)
{
	if (fflush(stdout) != 0 && s->any_port)
		return failure_set(EXIT_RUN_FAILED, "listen",
				   "--port 0: cannot write which port it is: %s", strerror(errno));
	return 0;
}

/* Not 0: no client can come any more. One that fails keeps no others out. */
static int next_client(struct service *s)
{
	struct rpma_conn_req *req;
	int ret = endpoint_next(s->ep, s->queues, NULL, &req);

	if (ret == -ECONNABORTED)
		service_complain(s);
	if (ret == 0 && req != NULL)
		admit(s, req);
	return ret == -ENODEV ? ret : 0;
}

int service_run(struct service *service)
{
	struct pollfd fds[] = {{service->ep_fd, POLLIN, 0},
			       {cli_stop_fd(), POLLIN, 0},
			       {service->stop_fd, POLLIN, 0}};
	int ret = check_announced(service);

	while (ret == 0 && fds[1].revents == 0 && fds[2].revents == 0) {
		/* lines that were not shown are counted once their second is over */
		int ready = poll(fds, 3, service_log_settle(&service->log, time(NULL)) ? 1000 : -1);

		if (ready < 0 && errno != EINTR)
			ret = failure_set(EXIT_INTERNAL, "listen", "poll: %s", strerror(errno));
		else if (ready > 0 && fds[0].revents != 0)
			ret = next_client(service);
	}
	return ret;
}
