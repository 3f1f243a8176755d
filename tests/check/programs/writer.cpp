/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.cpp -- in C++: posts to a queue pair in RESET, by a method that a function template calls.
 */
#include <cstdio>
#include <cstdlib>
#include <infiniband/verbs.h>
#include <memory>

static void need(bool is_so, const char *what)
{
	if (is_so)
		return;
	std::fprintf(stderr, "%s\n", what);
	std::exit(70);
}

class Writer
{
      public:
	explicit Writer(ibv_qp *queue_pair) : qp(queue_pair)
	{
	}
	int post();

      private:
	ibv_qp *qp;
};

__attribute__((noinline)) int Writer::post()
{
	ibv_send_wr wr = {}, *bad = nullptr;

	wr.opcode = IBV_WR_SEND;
	return ibv_post_send(qp, &wr, &bad); /* HERE */
}

template <typename T> __attribute__((noinline)) int twice(T &writer)
{
	const int first = writer.post(); /* CALLED */

	return first + 1;
}

int main()
{
	ibv_device **list = ibv_get_device_list(nullptr);
	ibv_qp_init_attr init = {};

	need(list != nullptr && list[0] != nullptr, "no device");
	ibv_context *context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	need(context != nullptr, "no context");
	ibv_pd *pd = ibv_alloc_pd(context);
	init.send_cq = init.recv_cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
	need(pd != nullptr && init.send_cq != nullptr, "no CQ");
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = 4;
	init.cap.max_send_sge = 1;
	ibv_qp *qp = ibv_create_qp(pd, &init);
	need(qp != nullptr, "no QP");

	const auto writer = std::make_unique<Writer>(qp);
	return twice(*writer) > 1 ? 0 : 1;
}
