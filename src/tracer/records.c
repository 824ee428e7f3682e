// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the reports of the kernel side: records in the ring, news, and waiting children. Sets when
 * a CPU emits a record, and reads the sample of its load that follows.
 */
#include <bpf/libbpf.h>
#include <errno.h>

#include "shared/time.h"
#include "tracer/tracer_private.h"

/* Reports the child, unless its wait has ended. */
static void report_child(struct wakegov_child *place, const struct wakegov_child *child,
			 tracer_handler_t handler, void *userdata)
{
	const struct wakegov_record birth = {
		.type = WAKEGOV_RECORD_CHILD,
		.parent = child->parent,
		.pid = child->facts.pid,
	};
	const struct wakegov_facts_record facts = {
		.head.type = WAKEGOV_RECORD_FACTS,
		.facts = child->facts,
	};

	if (!__sync_bool_compare_and_swap(&place->pid, child->facts.pid, 0))
		return;
	handler(userdata, &facts.head);
	if (child->clamped)
		handler(userdata, &birth);
}

static bool find_waiting(const struct wakegov_child *place, struct wakegov_child *ret)
{
	uint32_t pid = __atomic_load_n(&place->pid, __ATOMIC_ACQUIRE);

	if (!pid || pid == WAKEGOV_CHILD_FILLED)
		return false;
	*ret = *place;
	return ret->facts.pid == pid;
}

static void hand_on(struct tracer *tracer, const struct wakegov_record *record)
{
	struct wakegov_child *place, child;
	uint32_t pid;

	switch (record->type) {
	case WAKEGOV_RECORD_LOOK:
		tracer_set_look(tracer, record->class);
		return;
	case WAKEGOV_RECORD_NEWS: /* tracer_consume() takes the news after the records */
		return;
	case WAKEGOV_RECORD_TASK:
		tracer_look_found(tracer);
		pid = tracer->slots[record->slot].pid;
		place = &tracer->programs.bss->children[pid % WAKEGOV_CHILDREN];
		if (find_waiting(place, &child) && child.facts.pid == pid)
			report_child(place, &child, tracer->handler, tracer->userdata);
		break;
	case WAKEGOV_RECORD_CO_RUNNER:
		/* The class number is from before a renumbering. */
		if (record->generation != tracer->programs.bss->settings.co_runner_generation)
			return;
		break;
	default:
		break;
	}
	tracer->handler(tracer->userdata, record);
}

/* Stops after this record once it has taken as many bytes as the ring holds. */
int tracer_on_record(void *context, void *data, size_t size)
{
	struct tracer *tracer = context;

	hand_on(tracer, data);
	tracer->taken_bytes += size + BPF_RINGBUF_HDR_SZ;
	return tracer->taken_bytes < WAKEGOV_RING_BYTES ? 0 : -EAGAIN;
}

static void pop_news_of(struct tracer *tracer, uint32_t cpu, tracer_handler_t handler,
			void *userdata)
{
	uint32_t news = __atomic_exchange_n(&tracer->cpus[cpu].news, 0, __ATOMIC_ACQ_REL);
	struct wakegov_record record = { .cpu = cpu };

	if (news & WAKEGOV_NEWS_LIMITS) {
		record.type = WAKEGOV_RECORD_LIMITS;
		handler(userdata, &record);
	}
	if (news & WAKEGOV_NEWS_CPU) {
		record.type = WAKEGOV_RECORD_CPU;
		handler(userdata, &record);
	}
}

/* The kernel side sets the CPU's news first, and then the flag that there are some. */
static void pop_news(struct tracer *tracer, tracer_handler_t handler, void *userdata)
{
	uint32_t news = __atomic_exchange_n(&tracer->programs.bss->news, 0, __ATOMIC_ACQ_REL);
	const struct wakegov_record resume = { .type = WAKEGOV_RECORD_RESUME };

	if (news & (WAKEGOV_NEWS_CPU | WAKEGOV_NEWS_LIMITS))
		for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++)
			pop_news_of(tracer, cpu, handler, userdata);
	if (news & WAKEGOV_NEWS_CLAMPS)
		tracer_attach_needed(tracer);
	if (news & WAKEGOV_NEWS_RESUME)
		handler(userdata, &resume);
}

/* Does nothing in a handler of such a call, which has received all earlier records. */
static int consume_records(struct tracer *tracer, tracer_handler_t handler, void *userdata)
{
	int n;

	if (tracer->handler)
		return 0;
	tracer->handler = handler;
	tracer->userdata = userdata;
	tracer->taken_bytes = 0;
	n = ring_buffer__consume(tracer->ring);
	tracer->handler = NULL;
	return n == -EAGAIN ? 1 : n < 0 ? n : 0;
}

int tracer_consume(struct tracer *tracer, tracer_handler_t handler, void *userdata)
{
	int r = consume_records(tracer, handler, userdata);

	pop_news(tracer, handler, userdata);
	return r;
}

uint64_t tracer_report_children(struct tracer *tracer, uint32_t pid, uint64_t before_ns,
				tracer_handler_t handler, void *userdata)
{
	struct wakegov__bss *bss = tracer->programs.bss;
	uint64_t now_ns = time_now_ns(), oldest_ns = UINT64_MAX;

	if (!bss->children_wait)
		return UINT64_MAX;
	/* The record of a child's parent enters the ring before the child waits. */
	consume_records(tracer, handler, userdata);
	if (before_ns > now_ns)
		before_ns = now_ns;
	/* Cleared first: a child that begins to wait now is seen below, or sets it again. */
	__atomic_store_n(&bss->children_wait, 0, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < WAKEGOV_CHILDREN; i++) {
		struct wakegov_child *place = &bss->children[i], child;

		if (!find_waiting(place, &child))
			continue;
		if (child.born_ns < before_ns && (!pid || pid == child.facts.pid ||
						  pid == child.parent || pid == child.facts.parent))
			report_child(place, &child, handler, userdata);
		else if (child.born_ns < oldest_ns)
			oldest_ns = child.born_ns;
	}
	if (oldest_ns != UINT64_MAX)
		bss->children_wait = 1;
	return oldest_ns;
}

/* Writes the band before the flag that makes the kernel side compare with it. */
bool tracer_arm(struct tracer *tracer, uint32_t cpu, const struct engine_band *band)
{
	struct wakegov_cpu *shared = &tracer->cpus[cpu];
	uint32_t armed = 0;

	if (band->watch)
		armed |= WAKEGOV_ARM_BAND;
	if (band->watch_idle)
		armed |= WAKEGOV_ARM_IDLE;
	if (band->watch_ran | band->watch_long_running)
		armed |= WAKEGOV_ARM_CLASSES;
	shared->band_low_q = band->low_q;
	shared->band_high_q = band->high_q;
	shared->band_burst_ns = band->burst_ns;
	shared->chain_high_q = band->chain_q;
	shared->waiting_q = band->waiting_q;
	shared->watch_ran = band->watch_ran;
	shared->watch_long_running = band->watch_long_running;
	shared->long_burst_ns = band->long_burst_ns;
	/* The kernel side writes the running task first, and then reads `armed`. */
	__atomic_store_n(&shared->armed, armed, __ATOMIC_SEQ_CST);
	return !band->watch_idle || __atomic_load_n(&shared->load.running, __ATOMIC_SEQ_CST);
}

/*
 * The kernel side may write the fields during this read. A torn set is off by one event's time, and
 * the next sample is right again.
 */
void tracer_read_cpu(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns, struct input *ret)
{
	const struct wakegov_cpu *shared = &tracer->cpus[cpu];
	struct account_cpu load = *(volatile const struct account_cpu *)&shared->load;
	struct wakegov_chain chain = *(volatile const struct wakegov_chain *)&shared->chain;

	account_cpu(&load, now_ns);
	if (now_ns < shared->realtime_ns + WAKEGOV_CHAIN_HOLD_NS && load.est_q < shared->realtime_q)
		load.est_q = shared->realtime_q;
	if (chain.seen_ns && !chain.waker)
		chain.seen_ns -= WAKEGOV_CHAIN_HOLD_NS - WAKEGOV_INPUT_HOLD_NS;
	*ret = (struct input){
		.now_ns = now_ns,
		.type = INPUT_CPU,
		.cpu = {
			.cpu = cpu,
			.util_q = account_util_q(&load),
			.running = load.running != 0,
			.idle_since_ns = load.idle_since_ns,
			.est_q = load.est_q,
			.burst_ns = account_burst_ns(&load, now_ns),
			.chain = {
				.util_q = chain.need_q,
				.pid = chain.pid,
				.waker = chain.waker,
				.seen_ns = chain.seen_ns,
			},
			.served_pid = shared->served_pid,
			.served_ns = shared->served_ns,
		},
	};
}
