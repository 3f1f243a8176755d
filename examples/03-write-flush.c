/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 03-write-flush.c -- the client writes to the memory of the server and makes
 * sure that it has arrived; in persistent memory, that it will stay.
 *
 * The server takes the path of persistent memory as a last argument: a device
 * DAX (/dev/dax0.0) or a file on a DAX file system. By giving it the user
 * states that Direct Write to PMem holds on this platform, and the server
 * passes that on. Without a path the memory is DRAM, and the client asks for
 * visibility.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "example.h"

enum { SIZE_BYTES = 2 << 20 /* device DAX is mapped in pages of 2 MiB */ };

static const char text[] = "Written and flushed by the client.";

static void *map_memory(const char *path)
{
	struct stat status;
	void *memory;
	int fd;

	if (path == NULL) {
		memory = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
		if (memory == MAP_FAILED)
			fail("mmap: %s", strerror(errno));
		return memory;
	}

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &status) != 0)
		fail("%s: %s", path, strerror(errno));
	if (S_ISREG(status.st_mode) && ftruncate(fd, SIZE_BYTES) != 0)
		fail("%s: %s", path, strerror(errno));
	/* MAP_SYNC fails on memory that is not persistent */
	memory = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd,
		      0);
	if (memory == MAP_FAILED)
		fail("%s: not mapped as persistent memory: %s", path, strerror(errno));
	close(fd);
	return memory;
}

static void server(const char *addr, const char *port, const char *pmem_path)
{
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
			  (pmem_path ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT : 0);
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	char *memory = map_memory(pmem_path);
	struct rpma_peer_cfg *pcfg;
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	memset(memory, 0, sizeof(text));
	CHECK(rpma_mr_reg(peer, memory, SIZE_BYTES, usage, &mr));
	CHECK(rpma_peer_cfg_new(&pcfg));
	CHECK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, pmem_path != NULL));
	struct exported_region region = export_region(mr, pcfg);
	struct rpma_conn_private_data pdata = {&region, sizeof(region)};

	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	conn = establish(req, &pdata);
	close_after_peer(&conn);
	if (memcmp(memory, text, sizeof(text)) != 0)
		fail("the memory has \"%.100s\", expected \"%s\"", memory, text);
	printf("the memory has \"%s\"\n", memory);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_cfg_delete(&pcfg));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
	munmap(memory, SIZE_BYTES);
}

static void client(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) char memory[sizeof(text)];
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_mr_remote *dst;
	struct rpma_mr_local *src;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	int usage;

	(void)unused;
	memcpy(memory, text, sizeof(text));
	CHECK(rpma_mr_reg(peer, memory, sizeof(memory), RPMA_MR_USAGE_WRITE_SRC, &src));
	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
	conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(conn, &cq));
	dst = take_region(conn);
	CHECK(rpma_mr_remote_get_flush_type(dst, &usage));
	bool persistent = (usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0;

	/* one completion for both: the flush is done after the write */
	CHECK(rpma_write(conn, dst, 0, src, 0, sizeof(text), RPMA_F_COMPLETION_ON_ERROR, NULL));
	CHECK(rpma_flush(conn, dst, 0, sizeof(text),
			 persistent ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY,
			 RPMA_F_COMPLETION_ALWAYS, memory));
	struct ibv_wc wc = next_completion(cq);
	if (wc.wr_id != (uintptr_t)memory)
		fail("completion of another operation than the flush");
	printf("written and %s, flushed %s\n", persistent ? "persistent" : "visible",
	       wc.opcode == IBV_WC_RDMA_READ ? "by reading" : "natively");

	close_first(&conn);
	CHECK(rpma_mr_remote_delete(&dst));
	CHECK(rpma_mr_dereg(&src));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
