/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal that is caught ends ibv_get_cq_event() with EINTR, as it ends read(2); one that is
 * caught with SA_RESTART does not. */
#include "zoo.h"

#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t restarted, ended;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		restarted = 1;
	else
		ended = 1;
}

static void *send_both(void *thread)
{
	usleep(200000);
	MUST(pthread_kill(*(pthread_t *)thread, SIGUSR1));
	usleep(200000);
	MUST(pthread_kill(*(pthread_t *)thread, SIGUSR2));
	return NULL;
}

int main(void)
{
	struct sigaction again = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction once = {.sa_handler = on_signal};
	pthread_t self = pthread_self(), sender;
	struct ibv_cq *cq;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	MUST(sigaction(SIGUSR1, &again, NULL));
	MUST(sigaction(SIGUSR2, &once, NULL));
	MUST(ibv_req_notify_cq(near.cq, 0));
	MUST(pthread_create(&sender, NULL, send_both, &self));
	CHECK(ibv_get_cq_event(near.channel, &cq, &context) == -1 && errno == EINTR);
	CHECK(restarted && ended);
	MUST(pthread_join(sender, NULL));
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64)); /* it is armed still */
	MUST(ibv_get_cq_event(near.channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	await(near.cq);
	pair_close();
	return 0;
}
