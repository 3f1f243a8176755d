/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- gives a client a slot, and keeps it until the client has left.
 *
 * A host that vanished does not say so: now and then a read of no bytes asks
 * its device, whose silence ends the session.
 */
#include "session.h"

#include <errno.h>
#include <poll.h>

#define ALIVE_MS 10000

/* False: the device of the client's host has not answered the question before this one. */
static bool ask(const struct service_client *c, bool *asked)
{
	struct ibv_wc wc;
	int ret = *asked ? rpma_cq_get_wc(connection_cq(c->connection), 1, &wc, NULL) : 0;

	if (ret == RPMA_E_NO_COMPLETION)
		return true;
	if (ret != 0 || (*asked && wc.status != IBV_WC_SUCCESS))
		return false;
	*asked = true;
	return rpma_read(connection_conn(c->connection), NULL, 0, NULL, 0, 0,
			 RPMA_F_COMPLETION_ALWAYS, NULL) == 0;
}

/* Until the client leaves, its host no longer answers, or the server ends. */
static void watch(const struct service_client *c)
{
	struct pollfd fds[] = {{connection_event_fd(c->connection), POLLIN, 0},
			       {c->service->stop_fd, POLLIN, 0}};
	bool asked = false;

	while (fds[1].revents == 0) {
		int ready = poll(fds, 2, ALIVE_MS);

		if (ready < 0 && errno != EINTR)
			return;
		if (ready == 0 && !ask(c, &asked)) {
			service_say(c->service, "%s no longer answers", c->name);
			return;
		}
		if (ready > 0 && fds[0].revents != 0 && !connection_alive(c->connection, 0))
			return;
	}
}

void session_serve(void *slots, struct service_client *client)
{
	struct service *service = client->service;
	struct slots *p = slots;
	int slot;

	pthread_mutex_lock(&service->lock);
	slot = slots_take(p); /* there are as many as clients */
	pthread_mutex_unlock(&service->lock);
	if (service_accept(client, &p->regions[slot]) == 0)
		watch(client);
	connection_close(&client->connection);
	pthread_mutex_lock(&service->lock);
	slots_release(p, slot);
	pthread_mutex_unlock(&service->lock);
}
