/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.c -- see kinds.h. IBTA is the InfiniBand Architecture Specification, volume 1; names with a
 * section in parentheses are manual pages. rpma-soft(1) has the same ids with the same levels:
 * tests/check compares them.
 */
#include "kinds.h"

#include <string.h>

const struct check_kind_text check_kinds[CHECK_KINDS] = {
	[CHECK_RKEY_UNKNOWN] =
		{"rkey-unknown", CHECK_ERROR,
		 "A request names an rkey that no region of the peer has or had.",
		 "IBTA 9.7.4.1.5: the responder checks the R_Key of each RDMA and atomic request.",
		 "The request completes with IBV_WC_REM_ACCESS_ERR, both queue pairs go to ERR.",
		 "Compare the value that the peer sends with the one that is used here: a message "
		 "that is not complete yet, another field of it, or a struct with other padding."},
	[CHECK_RKEY_STALE] =
		{"rkey-stale", CHECK_ERROR,
		 "The region of an rkey was deregistered before the request came.",
		 "ibv_dereg_mr(3): the region is not to be used any more, by peers either.",
		 "IBV_WC_REM_ACCESS_ERR; or, where the key was given to another region, the bytes "
		 "land there.",
		 "Have the peer deregister after the last request was acknowledged, and tell the "
		 "new rkey to each peer that has the old one."},
	[CHECK_RKEY_BYTE_SWAPPED] =
		{"rkey-byte-swapped", CHECK_ERROR, "The bytes of an rkey are in the wrong order.",
		 "ibv_post_send(3): wr.rdma.rkey is in host order, only imm_data is not.",
		 "IBV_WC_REM_ACCESS_ERR.",
		 "Convert with htonl() where the key is sent and with ntohl() where it is "
		 "received, "
		 "or on neither side."},
	[CHECK_RKEY_OTHER_PD] =
		{"rkey-other-pd", CHECK_ERROR,
		 "The region of an rkey is in another protection domain than the peer's queue "
		 "pair.",
		 "IBTA 9.7.4.1.5; ibv_alloc_pd(3): regions and queue pairs work together within "
		 "one domain.",
		 "IBV_WC_REM_ACCESS_ERR.",
		 "Have the peer register the memory with the protection domain of the queue pair; "
		 "with the RDMA CM that is id->pd or the one given to rdma_create_qp()."},
	[CHECK_LKEY_FOR_RKEY] =
		{"lkey-for-rkey", CHECK_ERROR, "A key is used as an rkey that is an lkey.",
		 "ibv_reg_mr(3): lkey is for the own requests, rkey is what peers get.",
		 "Works on a NIC that gives both the same value, and ends with "
		 "IBV_WC_REM_ACCESS_ERR on others.",
		 "Send mr->rkey to the peer, and use the one that it has sent in wr.rdma.rkey."},
	[CHECK_RANGE_BEYOND] =
		{"range-beyond", CHECK_ERROR, "A request reaches beyond the region of its rkey.",
		 "IBTA 9.7.4.1.5: all bytes of the request are to be inside the region.",
		 "IBV_WC_REM_ACCESS_ERR; of a long write some packets may have been written.",
		 "Compute the address from the peer's base and length; look for an offset that is "
		 "added twice, or a length of the own buffer used for the peer's."},
	[CHECK_RIGHT_MISSING] =
		{"right-missing", CHECK_ERROR,
		 "The region, or the queue pair of the peer, does not allow the request.",
		 "ibv_reg_mr(3), access flags; ibv_modify_qp(3), qp_access_flags and "
		 "max_dest_rd_atomic.",
		 "IBV_WC_REM_ACCESS_ERR for the region, IBV_WC_REM_INV_REQ_ERR for the queue pair.",
		 "Register with IBV_ACCESS_REMOTE_WRITE, _READ or _ATOMIC, the first and the last "
		 "together with IBV_ACCESS_LOCAL_WRITE, and set the same in qp_access_flags."},
	[CHECK_LKEY_UNKNOWN] =
		{"lkey-unknown", CHECK_ERROR,
		 "A piece of a request or receive names an lkey that no region has or had.",
		 "ibv_post_send(3), ibv_post_recv(3): each sge has the lkey of its memory.",
		 "IBV_WC_LOC_PROT_ERR.",
		 "Set sge.lkey; an sge that is not initialised is found so. Inline data need "
		 "none."},
	[CHECK_LKEY_STALE] =
		{"lkey-stale", CHECK_ERROR,
		 "The region of an lkey was deregistered before the request was executed.",
		 "ibv_dereg_mr(3): not before all requests that use the region have completed.",
		 "IBV_WC_LOC_PROT_ERR, or other memory is read or written.",
		 "Deregister after the completion of the last request, or receive, that uses it."},
	[CHECK_LKEY_OTHER_PD] =
		{"lkey-other-pd", CHECK_ERROR,
		 "The region of an lkey is in another protection domain than the queue pair.",
		 "ibv_alloc_pd(3): regions and queue pairs work together within one domain.",
		 "IBV_WC_LOC_PROT_ERR.", "Register the memory with qp->pd."},
	[CHECK_LOCAL_RANGE_BEYOND] =
		{"local-range-beyond", CHECK_ERROR,
		 "A piece of a request or receive reaches beyond its region.",
		 "ibv_post_send(3): addr and length of an sge are inside the region of its lkey.",
		 "IBV_WC_LOC_PROT_ERR.",
		 "Compare addr and length of the sge with those of the registration."},
	[CHECK_LOCAL_RIGHT_MISSING] =
		{"local-right-missing", CHECK_ERROR,
		 "The memory for a read, an atomic or a receive was registered without "
		 "IBV_ACCESS_LOCAL_WRITE.",
		 "ibv_reg_mr(3): without that flag the device may only read the memory.",
		 "IBV_WC_LOC_PROT_ERR.", "Register with IBV_ACCESS_LOCAL_WRITE."},
	[CHECK_ATOMIC_UNALIGNED] =
		{"atomic-unaligned", CHECK_ERROR,
		 "The remote address of an atomic operation is not a multiple of 8.",
		 "IBTA 9.4.5: the address is naturally aligned to 8 bytes.",
		 "IBV_WC_REM_INV_REQ_ERR, or IBV_WC_REM_ACCESS_ERR.",
		 "Align the variable, and the offset in the region, to 8 bytes."},
	[CHECK_MESSAGE_TOO_LONG] =
		{"message-too-long", CHECK_ERROR,
		 "A message is longer than max_msg_sz of the port.",
		 "ibv_query_port(3): max_msg_sz is the longest message.",
		 "IBV_WC_LOC_LEN_ERR, often at 1 or 2 GiB instead of here at 8 MiB.",
		 "Split it in requests of at most max_msg_sz bytes."},
	[CHECK_RNR] =
		{"rnr", CHECK_ERROR,
		 "A message found no receive at the peer until its retries were used up.",
		 "IBTA 9.7.5.2.8: rnr_retry of the sender is how often, min_rnr_timer of the "
		 "receiver how soon it tries again; 7 means for ever.",
		 "IBV_WC_RNR_RETRY_EXC_ERR, and the queue pair goes to ERR.",
		 "Post receives before the peer may send, and repost before the answer that allows "
		 "the next message. rnr_retry comes from ibv_modify_qp(); with the RDMA CM "
		 "rnr_retry_count of rdma_connect() and rdma_accept() is for what the peer sends."},
	[CHECK_RECEIVE_TOO_SMALL] =
		{"receive-too-small", CHECK_ERROR,
		 "A message is longer than the receive that it found.",
		 "IBTA 9.7.4.1; receives are taken in order, whatever their size.",
		 "IBV_WC_LOC_LEN_ERR at the receiver and IBV_WC_REM_INV_REQ_ERR at the sender; a "
		 "datagram is lost.",
		 "Post receives for the longest message; those of datagrams with 40 bytes more."},
	[CHECK_QKEY] = {"qkey", CHECK_ERROR,
			"A datagram has another Q_Key than the queue pair it is for.",
			"ibv_post_send(3), wr.ud.remote_qkey; ibv_modify_qp(3), qkey.",
			"The datagram is lost, neither end is told.",
			"Send with the Q_Key that the receiver has set; of the RDMA CM it is in "
			"the event, "
			"param.ud.qkey."},
	[CHECK_PATH_MTU] =
		{"path-mtu", CHECK_ERROR, "The two ends of a connection have different path_mtu.",
		 "IBTA 9.7.4.1, C9-92: the packets of a message have the length of the path MTU.",
		 "Messages longer than the smaller one fail with IBV_WC_REM_INV_REQ_ERR, or hang "
		 "in "
		 "retries until IBV_WC_RETRY_EXC_ERR.",
		 "Set the smaller of both active_mtu at both ends: exchange it with the QP "
		 "number."},
	[CHECK_GID_VERSION] =
		{"gid-version", CHECK_ERROR,
		 "One end uses a GID of RoCE v1, the other one of RoCE v2.",
		 "ibv_query_gid_ex(3): the type of the GID at sgid_index decides about the "
		 "packets.",
		 "No packet arrives: IBV_WC_RETRY_EXC_ERR after the timeout.",
		 "Choose at both ends an index whose gid_type is IBV_GID_TYPE_ROCE_V2."},
	[CHECK_SQ_FULL] =
		{"sq-full", CHECK_ERROR,
		 "A send request found no free slot in the send queue, and neither was that queue "
		 "posted to later nor the request to another one.",
		 "ibv_post_send(3), ENOMEM; IBTA 10.8.6: slots of unsignaled requests are free "
		 "once a completion of a later request was polled.",
		 "The same; some count generously, so the program fails on another NIC.",
		 "Signal one request in max_send_wr / 2 at least, poll its completion, "
		 "and post again what was refused."},
	[CHECK_RQ_FULL] =
		{"rq-full", CHECK_WARNING,
		 "A receive found no free slot in the receive queue, none was posted there later, "
		 "and no message took one.",
		 "ibv_post_recv(3), ibv_post_srq_recv(3), ENOMEM. To post until it comes is legal; "
		 "a message that finds no receive is reported as rnr.",
		 "The same.",
		 "Ask for max_recv_wr, or max_wr of the SRQ, as many as are posted at most."},
	[CHECK_TOO_MANY_SGES] =
		{"too-many-sges", CHECK_ERROR,
		 "A request has more pieces than the queue was created for.",
		 "ibv_create_qp(3): max_send_sge, max_recv_sge; ibv_create_srq(3): max_sge.",
		 "ibv_post_send() and its kin fail with EINVAL or ENOMEM.",
		 "Ask for more pieces when the queue is created, or use fewer."},
	[CHECK_INLINE_TOO_LONG] =
		{"inline-too-long", CHECK_ERROR,
		 "A request has more inline data than the queue pair was granted.",
		 "ibv_create_qp(3): max_inline_data, which the call sets to what is granted.",
		 "ibv_post_send() fails with EINVAL or ENOMEM.",
		 "Use IBV_SEND_INLINE only up to cap.max_inline_data as it is after the call."},
	[CHECK_WRONG_OPCODE] =
		{"wrong-opcode", CHECK_ERROR,
		 "A request is for an operation that its type of queue pair does not have.",
		 "ibv_post_send(3), the table of opcodes and types: reads and atomics are for RC, "
		 "writes for RC and UC.",
		 "ibv_post_send() fails with EINVAL, or the request completes with "
		 "IBV_WC_LOC_QP_OP_ERR.",
		 "Use a reliable connection, or have the peer write or send the data."},
	[CHECK_POST_IN_STATE] = {"post-in-state", CHECK_ERROR,
				 "A request was posted to a queue pair that is not ready for it.",
				 "IBTA 10.3.1: sends from RTS on, receives from INIT on.",
				 "The post fails with EINVAL, or succeeds on NICs that do not "
				 "look, and the request "
				 "is lost.",
				 "Post after ibv_modify_qp() to RTS, or after the event "
				 "RDMA_CM_EVENT_ESTABLISHED."},
	[CHECK_POST_AFTER_ERROR] =
		{"post-after-error", CHECK_WARNING,
		 "Requests go on to be posted after a completion said that the queue pair failed.",
		 "IBTA 10.3.1: in the Error state they all complete with a flush error.",
		 "The same.",
		 "Look at wc.status, and connect again. A last request that finds the end of what "
		 "is flushed is not reported once ibv_modify_qp() to IBV_QPS_ERR was called."},
	[CHECK_BAD_WR_IGNORED] =
		{"bad-wr-ignored", CHECK_WARNING,
		 "A list of requests was posted in part, and the rest was never posted.",
		 "ibv_post_send(3): *bad_wr is the first that was not posted.", "The same.",
		 "Post again from *bad_wr on, once there is room."},
	[CHECK_CQ_TOO_SMALL] =
		{"cq-too-small", CHECK_NOTE,
		 "A completion queue has less room than the queues that complete into it.",
		 "ibv_create_cq(3); legal where credits or polling keep it from filling up.",
		 "If it overflows, all its queue pairs fail.",
		 "Make it as large as the sum of max_send_wr and max_recv_wr of its queue pairs."},
	[CHECK_CQ_OVERRUN] =
		{"cq-overrun", CHECK_ERROR, "A completion queue overflowed.",
		 "IBTA 11.6.3: an error of the completion queue, which ends the queue pairs that "
		 "use "
		 "it.",
		 "IBV_EVENT_CQ_ERR, and completions are lost; many NICs round the size up, so it "
		 "comes later or only under load.",
		 "Make it larger, or poll more often."},
	[CHECK_CQ_NEVER_POLLED] =
		{"cq-never-polled", CHECK_WARNING,
		 "Completions came to a queue that was never polled.",
		 "ibv_poll_cq(3): a completion keeps its entry until it is polled.",
		 "The queue overflows at last, and the send queue fills up.",
		 "Poll it, or do not signal what is not waited for."},
	[CHECK_LOST_WAKEUP] =
		{"lost-wakeup", CHECK_WARNING,
		 "A thread waits for an event of a completion queue in which completions wait.",
		 "ibv_req_notify_cq(3): only a completion that comes after it makes an event.",
		 "The thread sleeps until another completion comes, or for ever.",
		 "After ibv_req_notify_cq() poll until the queue is empty, then wait."},
	[CHECK_STATUS_UNREAD] =
		{"status-unread", CHECK_WARNING,
		 "A completion failed, and the program ended with success.",
		 "ibv_poll_cq(3): of a failed completion only wr_id, status, qp_num and vendor_err "
		 "are valid.",
		 "The data were not moved.",
		 "Look at wc.status of each completion before anything else of it."},
	[CHECK_WAIT_FOR_NOTHING] = {"wait-for-nothing", CHECK_WARNING,
				    "A completion queue is polled into which nothing can complete.",
				    "ibv_post_send(3): a request without IBV_SEND_SIGNALED gives "
				    "no completion, if the "
				    "queue pair has not sq_sig_all.",
				    "The program waits for ever.",
				    "Signal the request that is waited for."},
	[CHECK_EVENT_ACKNOWLEDGED_TWICE] =
		{"event-acknowledged-twice", CHECK_ERROR,
		 "An event was acknowledged that had been acknowledged, or never came.",
		 "ibv_get_cq_event(3), ibv_get_async_event(3), rdma_ack_cm_event(3): once each.",
		 "Memory is freed twice, or a destroy waits for ever.",
		 "Acknowledge in one place, right after the event was copied."},
	[CHECK_EVENT_UNACKNOWLEDGED] =
		{"event-unacknowledged", CHECK_ERROR,
		 "An object is destroyed, and waits for events that are not acknowledged.",
		 "ibv_get_cq_event(3), ibv_get_async_event(3), rdma_ack_cm_event(3): destroying "
		 "waits until all are acknowledged.",
		 "The same: the call does not return.",
		 "Acknowledge each event that was got before the object is destroyed."},
	[CHECK_MEMORY_UNMAPPED] =
		{"memory-unmapped", CHECK_ERROR,
		 "Registered memory was unmapped or replaced, and then used.",
		 "ibv_reg_mr(3): the region stands for the pages that it was registered with.",
		 "The NIC keeps the old pages: peers write to memory that the program does not see "
		 "any more, and no error is told.",
		 "Deregister before munmap(), mmap() with MAP_FIXED or madvise() with "
		 "MADV_DONTNEED; register again what is mapped there."},
	[CHECK_MEMORY_FREED] =
		{"memory-freed", CHECK_ERROR,
		 "Registered memory was given back to the system by free() or its like, and then "
		 "used.",
		 "ibv_reg_mr(3): the region stands for the pages that it was registered with.",
		 "The NIC keeps the old pages: peers write to memory that the program does not see "
		 "any more, and no error is told.",
		 "Deregister before free(), or before the allocator of a language lets go of it."},
	[CHECK_MEMORY_PROTECTED] =
		{"memory-protected", CHECK_WARNING,
		 "Registered memory was made read-only by mprotect() or its like, and then written "
		 "to.",
		 "ibv_reg_mr(3): the region has the pages and the rights that it was registered "
		 "with.",
		 "The NIC has pinned the pages and writes to them: this device is stricter. With "
		 "IBV_ACCESS_ON_DEMAND the request fails there as well.",
		 "Leave the memory writable as long as peers, reads or receives write to it."},
	[CHECK_DEREG_IN_FLIGHT] =
		{"dereg-in-flight", CHECK_ERROR,
		 "A region was deregistered while a request that was posted uses it.",
		 "ibv_dereg_mr(3): not before all requests that use the region have completed.",
		 "The request fails with IBV_WC_LOC_PROT_ERR, or not, depending on who is faster.",
		 "Deregister after the completion was polled."},
	[CHECK_SOURCE_CHANGED] =
		{"source-changed", CHECK_ERROR,
		 "The bytes of a request changed between its post and its execution.",
		 "IBTA 10.8.5, ibv_post_send(3): the buffers of a request are the device's until "
		 "its "
		 "completion was polled; inline data are copied by the post.",
		 "Old, new or mixed bytes are sent.",
		 "Use another buffer until the completion, or IBV_SEND_INLINE. A local variable is "
		 "overwritten by the next call once its function has returned."},
	[CHECK_EARLY_READ] =
		{"early-read", CHECK_ERROR,
		 "Memory was used before the completion that brings its bytes; looked for with "
		 "--check=watch.",
		 "ibv_post_send(3), ibv_post_recv(3): the memory of a read, an atomic or a receive "
		 "is the device's until its completion was polled.",
		 "Old, new or mixed bytes are loaded, depending on who is faster.",
		 "Poll the completion, look at its status, and use the memory then."},
	[CHECK_DOUBLE_DESTROY] =
		{"double-destroy", CHECK_ERROR,
		 "An object was destroyed that is destroyed already.",
		 "The manual of each call: the object is freed.",
		 "Memory is freed twice, or another object is destroyed in its place.",
		 "Set the pointer to NULL where it is destroyed, and have one owner of it."},
	[CHECK_USED_BY_FORK_CHILD] =
		{"used-by-fork-child", CHECK_ERROR,
		 "A child of fork() used an object of its parent.",
		 "ibv_fork_init(3): objects are of the process that made them.",
		 "Both processes write to the same rings: data and completions are mixed up.",
		 "Open the device in the child, or fork() before it is opened."},
	[CHECK_GROWTH] =
		{"growth", CHECK_WARNING,
		 "Objects of one place in the program became more and more, while others were "
		 "destroyed.",
		 "The manual of each call: what is made is to be destroyed.",
		 "Registered memory cannot be swapped out, and a NIC has limits of its own.",
		 "Destroy them, or make them once and use them again."},
	[CHECK_NOT_DURABLE] =
		{"not-durable", CHECK_ERROR,
		 "Bytes are not durable that the program calls so, by a mark, by a commit word, or "
		 "with --check=durable-on-send by a message.",
		 "librpma(7), PERSISTENCE; pmem_persist(3), msync(2): what a peer wrote has to be "
		 "flushed, after it left the NIC. IBTA A19: a flush to global visibility is none "
		 "to persistence, and a read is neither.",
		 "They are lost when the power fails; with a commit word that is durable, the "
		 "program then takes for whole what is not.",
		 "Flush the range of the write to persistence, or have the peer's CPU flush it, "
		 "before the program calls it durable, and before it writes the commit word."},
	[CHECK_COMMIT_WORD_TORN] =
		{"commit-word-torn", CHECK_ERROR,
		 "A commit word that the program marked is written in a way that may tear it: by a "
		 "write that spans lines of 64 bytes, or not at a multiple of 8.",
		 "IBTA 9.5: the payload of an RDMA write arrives in no defined order. IBTA A19: an "
		 "atomic write is of 8 bytes, at a multiple of 8.",
		 "Packets, and lines of 64 bytes within one, may arrive in any order: the word may "
		 "be there before the data that it commits, or half of it.",
		 "Write the data, flush them, and then write the word alone, aligned, with "
		 "ibv_wr_atomic_write() or rpma_atomic_write()."},
	[CHECK_COMMIT_WORD_PLAIN] =
		{"commit-word-plain", CHECK_WARNING,
		 "A commit word that the program marked is written by a plain RDMA write.",
		 "IBTA A19: of 8 bytes at a multiple of 8, an atomic write arrives all or not at "
		 "all; nothing promises that of an RDMA write. IBTA 9.4.5 has the other atomics.",
		 "Platforms that store a line of 64 bytes of a device at once do not tear it. "
		 "An RDMA write without a fence may be executed before an earlier flush completes.",
		 "Use ibv_wr_atomic_write(), or rpma_atomic_write(), which does where the device "
		 "can; where it cannot, suppress this, or recognise a torn word by a checksum."},
};

enum check_kind check_kind_find(const char *id)
{
	unsigned kind = 0;

	while (kind < CHECK_KINDS && strcmp(check_kinds[kind].id, id) != 0)
		kind++;
	return (enum check_kind)kind;
}

const char *check_level_name(enum check_level level)
{
	static const char *const names[] = {"note", "warning", "error"};

	return names[level];
}
