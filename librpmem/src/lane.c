/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane.c -- what a lane has written and what it waits for, whichever transport
 * carries it.
 *
 * Relaxed data are written straight into the remote pool, and so are others where a
 * write tears no aligned word; else they travel in requests, and the daemon copies them.
 * A drain makes them durable: with APM what was written by the device's flush, all else
 * by a request for each range. Without APM, what fits into one request is copied and
 * made durable by that. The daemon performs requests in order, and up to LANE_SLOTS are
 * under way.
 */
#include <errno.h>
#include <poll.h>

#include "common/base/failure.h"
#include "lane_private.h"

/* A device may flush byte by byte: two writes far apart are flushed one by one. */
#define FLUSH_HULL_MAX ((uint64_t)16 << 20)
/* The FLUSH of IBTA 1.7 has 32 bits for a length. */
#define FLUSH_MAX ((uint64_t)1 << 30)
#define ALL_SLOTS ((1U << LANE_SLOTS) - 1)

_Static_assert(LANE_SLOTS < 32, "slots are bits of 32");

/* --- a call begins and ends ----------------------------------------------- */

/* Ends a call on a lane; gives what the call returns. */
static int lane_end(struct lane *l, int ret)
{
	return ret == -ECANCELED ? lanes_stopped(l->lanes) : ret;
}

int lane_check(const struct lane *l, size_t offset, size_t piece)
{
	struct pollfd stop = {l->lanes->stop_fd, POLLIN, 0};

	if (offset / LANE_CHECK == (offset - piece) / LANE_CHECK)
		return 0;
	return poll(&stop, 1, 0) == 1 ? -ECANCELED : 0;
}

int lane_connect(struct lane *l)
{
	struct lanes *lanes = l->lanes;
	int ret = lanes->transport->connect(l);

	if (ret) {
		lanes->transport->disconnect(l, CONNECTION_CLOSE_MS);
		return lane_end(l, lane_errno(ret));
	}
	l->connected = true;
	return 0;
}

/* A lack of files or memory may pass, and so may silence; all else is a lost connection. */
static int connect_later(struct lane *l)
{
	const int ret = lane_connect(l);

	switch (ret) {
	case 0:
	case -EMFILE:
	case -ENOMEM:
	case -ETIMEDOUT:
		return ret;
	case -EPROTO:
		return lanes_violated(l->lanes);
	default:
		return lanes_lost(l->lanes);
	}
}

/* Begins a call on a lane, connecting it if it is not. */
static int lane_begin(struct lanes *lanes, unsigned index, struct lane **lane)
{
	struct lane *l = &lanes->lane[index];

	*lane = l;
	if (atomic_load_explicit(&lanes->lost, memory_order_relaxed) != 0)
		return lanes_stopped(lanes);
	return l->connected ? 0 : connect_later(l);
}

/* --- requests and their answers ------------------------------------------- */

static void note_status(struct lane *l, enum persist_status status)
{
	if (status != PERSIST_DONE && l->failed == 0)
		l->failed = status == PERSIST_OUTSIDE ? -EINVAL : -EIO;
}

static int take_answer(struct lane *l)
{
	struct lane_answer answer;
	int ret = l->lanes->transport->answer(l, &answer);

	if (ret)
		return ret;
	if (answer.slot >= LANE_SLOTS || (l->requests & 1U << answer.slot) == 0) {
		failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "message",
				"rpmemd on %s answered a request of lane %u that was not made",
				l->lanes->host, l->index);
		return lanes_violated(l->lanes);
	}
	l->requests &= ~(1U << answer.slot);
	l->copies &= ~(1U << answer.slot);
	note_status(l, answer.status);
	return 0;
}

/* Until none of these slots awaits an answer; `requests` or `copies`. */
static int take_answers(struct lane *l, const uint32_t *slots)
{
	int ret = 0;

	while (ret == 0 && *slots != 0)
		ret = take_answer(l);
	return ret;
}

static int send_request(struct lane *l, enum lane_op op, uint64_t offset, uint64_t length,
			const void *data)
{
	struct lane_request request = {.op = op, .offset = offset, .length = length};
	int ret = 0;

	while (ret == 0 && l->requests == ALL_SLOTS)
		ret = take_answer(l);
	if (ret)
		return ret;
	request.slot = (uint32_t)__builtin_ctz(~l->requests);
	ret = l->lanes->transport->request(l, &request, data);
	if (ret)
		return ret;
	l->requests |= 1U << request.slot;
	if (op == LANE_WRITE || op == LANE_PERSIST_DATA)
		l->copies |= 1U << request.slot;
	return 0;
}

/* Waits for all answers and gives what they were. */
static int settle(struct lane *l)
{
	int ret = take_answers(l, &l->requests);

	if (ret || l->failed == 0)
		return ret;
	ret = l->failed;
	l->failed = 0;
	failure_set(EXIT_RUN_FAILED, "persist",
		    ret == -EINVAL ? "rpmemd on %s refused a range of lane %u that is not within "
				     "its pool"
				   : "rpmemd on %s could not make the data of lane %u durable (see "
				     "its log)",
		    l->lanes->host, l->index);
	return ret;
}

/* --- what was written ----------------------------------------------------- */

/* The length of the next piece; what follows it begins at a multiple of LANE_CUT. */
static size_t cut(size_t offset, size_t length, size_t max)
{
	return length <= max ? length : (offset + max) / LANE_CUT * LANE_CUT - offset;
}

/* Transfers that begin within a word would split words: a short one leads to the next cut. */
static size_t begin_cut(size_t offset, size_t length)
{
	const size_t to_cut = LANE_CUT - offset % LANE_CUT;

	return offset % LANE_WORD == 0 || length < to_cut ? length : to_cut;
}

static int write_range(struct lane *l, size_t offset, size_t length)
{
	const struct lanes *lanes = l->lanes;
	size_t most = begin_cut(offset, length);
	/* the daemon's copy of older data must not come after the device's write of newer ones */
	int ret = take_answers(l, &l->copies);

	while (ret == 0 && length > 0) {
		size_t piece = cut(offset, most < length ? most : length, lanes->write_max);

		ret = lanes->transport->write(l, offset, piece);
		offset += piece;
		length -= piece;
		most = length;
		if (ret == 0 && length > 0)
			ret = lane_check(l, offset, piece);
	}
	return ret;
}

/* By the daemon, which tears no word; durable only when that is asked for. */
static int copy_range(struct lane *l, size_t offset, size_t length)
{
	int ret = 0;

	while (ret == 0 && length > 0) {
		size_t piece = cut(offset, length, LANE_DATA_MAX);

		ret = send_request(l, LANE_WRITE, offset, piece, l->lanes->memory + offset);
		offset += piece;
		length -= piece;
		if (ret == 0 && length > 0)
			ret = lane_check(l, offset, piece);
	}
	return ret;
}

static bool touches(const struct lane_span *range, uint64_t begin, uint64_t end)
{
	return begin <= range->end && end >= range->begin;
}

static void widen(struct lane_span *range, uint64_t begin, uint64_t end)
{
	range->begin = begin < range->begin ? begin : range->begin;
	range->end = end > range->end ? end : range->end;
}

/* Data written to them is there when the request arrives. */
static int send_ranges(struct lane *l)
{
	uint8_t ranges[LANE_RANGES * LANE_RANGE_BYTES];
	const unsigned count = l->ranges;

	l->ranges = 0;
	if (count == 0)
		return 0;
	if (count == 1)
		return send_request(l, LANE_PERSIST, l->range[0].begin,
				    l->range[0].end - l->range[0].begin, NULL);
	for (unsigned i = 0; i < count; i++)
		lane_encode_range(&(struct lane_range){l->range[i].begin,
						       l->range[i].end - l->range[i].begin},
				  ranges + (size_t)i * LANE_RANGE_BYTES);
	return send_request(l, LANE_PERSIST_RANGES, 0, (uint64_t)count * LANE_RANGE_BYTES, ranges);
}

static int remember_for_request(struct lane *l, uint64_t begin, uint64_t end)
{
	int ret = 0;

	for (unsigned i = l->ranges; i-- > 0;) {
		if (touches(&l->range[i], begin, end)) {
			widen(&l->range[i], begin, end);
			return 0;
		}
	}
	if (l->ranges == LANE_RANGES)
		ret = send_ranges(l);
	l->range[l->ranges++] = (struct lane_span){begin, end};
	return ret;
}

static int flush_span(struct lane *l, struct lane_span span, bool wait)
{
	int ret = 0;

	while (ret == 0 && span.begin < span.end) {
		const bool last = span.end - span.begin <= FLUSH_MAX;
		struct lane_span piece = {span.begin, last ? span.end : span.begin + FLUSH_MAX};

		ret = l->lanes->transport->flush(l, &piece, wait && last);
		span.begin = piece.end;
	}
	return ret;
}

/* One flush is for all that lies between, as long as that is not much. */
static int remember_for_flush(struct lane *l, uint64_t begin, uint64_t end)
{
	struct lane_span hull = l->hull;
	int ret = 0;

	if (hull.end == 0)
		hull.begin = begin;
	widen(&hull, begin, end);
	if (l->hull.end != 0 && hull.end - hull.begin > FLUSH_HULL_MAX) {
		ret = flush_span(l, l->hull, false);
		hull = (struct lane_span){begin, end};
	}
	l->hull = hull;
	return ret;
}

static int flush(struct lane *l, size_t offset, size_t length, bool relaxed)
{
	const bool writes = relaxed || l->writes_words;
	int ret = writes ? write_range(l, offset, length) : copy_range(l, offset, length);

	if (ret)
		return ret;
	return writes && l->flushes ? remember_for_flush(l, offset, offset + length)
				    : remember_for_request(l, offset, offset + length);
}

/* Starts making what was written and copied durable; with APM the written part is. */
static int commit(struct lane *l)
{
	int ret = send_ranges(l);

	if (ret == 0 && l->hull.end != 0) {
		ret = flush_span(l, l->hull, true);
		l->hull.end = 0;
	}
	return ret;
}

static int drain(struct lane *l)
{
	int ret = commit(l);

	return ret ? ret : settle(l);
}

/* Data and all in one message; what was flushed before is durable before. */
static int persist_at_once(struct lane *l, size_t offset, size_t length)
{
	int ret = commit(l);

	if (ret == 0)
		ret = send_request(l, LANE_PERSIST_DATA, offset, length, l->lanes->memory + offset);
	return ret ? ret : settle(l);
}

/* Nothing is under way, and nothing that was flushed waits for a drain. */
static bool is_idle(const struct lane *l)
{
	return l->requests == 0 && l->ranges == 0 && l->hull.end == 0 && l->failed == 0;
}

static int persist(struct lane *l, size_t offset, size_t length, bool relaxed)
{
	const struct lanes *lanes = l->lanes;
	int ret = 0;

	if (length <= LANE_DATA_MAX && !(l->flushes && (relaxed || l->writes_words)))
		return persist_at_once(l, offset, length);
	if (length <= LANE_DATA_MAX && length <= lanes->write_max && is_idle(l) &&
	    begin_cut(offset, length) == length) /* what most calls need */
		return lanes->transport->persist(l, offset, length);
	/* what was flushed before is durable before what is copied now */
	if (!relaxed)
		ret = drain(l);
	if (ret == 0)
		ret = flush(l, offset, length, relaxed);
	return ret ? ret : drain(l);
}

/* --- what is durable, for a device that checks it ---------------------------- */

static void note_flushed(struct lane *l, size_t offset, size_t length)
{
	if (l->flushed < LANE_FLUSHED)
		l->flushed_span[l->flushed++] = (struct lane_span){offset, offset + length};
}

static void tell_flushed(struct lane *l, int ret)
{
	for (unsigned i = 0; ret == 0 && i < l->flushed; i++)
		l->lanes->transport->tell_durable(l, &l->flushed_span[i]);
	l->flushed = 0;
}

static void tell_persisted(const struct lane *l, size_t offset, size_t length)
{
	l->lanes->transport->tell_durable(l, &(struct lane_span){offset, offset + length});
}

/* --- the calls ------------------------------------------------------------ */

int lanes_flush(struct lanes *lanes, unsigned lane, size_t offset, size_t length, bool relaxed)
{
	struct lane *l;
	int ret = lane_begin(lanes, lane, &l);

	if (ret)
		return ret;
	ret = flush(l, offset, length, relaxed);
	if (__builtin_expect(l->is_checked, 0) && ret == 0)
		note_flushed(l, offset, length);
	return lane_end(l, ret);
}

int lanes_drain(struct lanes *lanes, unsigned lane)
{
	struct lane *l;
	int ret = lane_begin(lanes, lane, &l);

	if (ret)
		return ret;
	ret = drain(l);
	if (__builtin_expect(l->is_checked, 0))
		tell_flushed(l, ret);
	return lane_end(l, ret);
}

int lanes_persist(struct lanes *lanes, unsigned lane, size_t offset, size_t length, bool relaxed)
{
	struct lane *l;
	int ret = lane_begin(lanes, lane, &l);

	if (ret)
		return ret;
	ret = persist(l, offset, length, relaxed);
	if (__builtin_expect(l->is_checked, 0) && ret == 0)
		tell_persisted(l, offset, length);
	return lane_end(l, ret);
}

int lanes_deep_persist(struct lanes *lanes, unsigned lane, size_t offset, size_t length)
{
	struct lane *l;
	int ret = lane_begin(lanes, lane, &l);

	if (ret)
		return ret;
	ret = commit(l);
	if (ret == 0)
		ret = write_range(l, offset, length);
	if (ret == 0)
		ret = send_request(l, LANE_DEEP, offset, length, NULL);
	if (ret == 0)
		ret = settle(l);
	if (__builtin_expect(l->is_checked, 0) && ret == 0)
		tell_persisted(l, offset, length);
	return lane_end(l, ret);
}

int lanes_read(struct lanes *lanes, unsigned lane, void *buffer, size_t offset, size_t length)
{
	struct lane *l;
	int ret = lane_begin(lanes, lane, &l);

	if (ret)
		return ret;
	ret = take_answers(l, &l->requests);
	if (ret == 0)
		ret = lanes->transport->read(l, buffer, offset, length);
	return lane_end(l, ret);
}
