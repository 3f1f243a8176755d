/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-unacknowledged; at main; id */
/* SHOWS: hangs */
/* A novice believed that the acknowledgement of an event is for those who want to know more. */
#include "zoo.h"

int main(void)
{
	cm_open(NULL, NULL, NULL);
	MUST(rdma_disconnect(cm.client));
	cm_pass(cm.listening, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rdma_disconnect(cm.server));
	cm_take(cm.calling, RDMA_CM_EVENT_DISCONNECTED); /* HERE */
	rdma_destroy_qp(cm.client);
	may_hang();
	MUST(rdma_destroy_id(cm.client)); /* HERE: where it waits */
	return 0;
}
