// SPDX-License-Identifier: GPL-2.0-only
/* What the manager shows of I/O: the tasks, their devices, and what could be done about them. */
#include <errno.h>

#include "core/io_model.h"
#include "daemon/state.h"
#include "daemon/views.h"
#include "diag/advice.h"
#include "diag/interrupts.h"
#include "shared/cleanup.h"
#include "shared/time.h"

uint32_t views_gain_permille(uint32_t saved_ppm)
{
	if (saved_ppm > IO_SHARE_MAX)
		saved_ppm = IO_SHARE_MAX;
	return (uint64_t)saved_ppm * 1000 / (IO_PPM - saved_ppm);
}

/* The gain that was found, how sure that is, and in how many pairs. */
static void show_found(const struct manager *manager, const struct io_boost *boost,
		       struct task_view *view)
{
	struct experiment_estimate found;

	engine_estimate(manager->engine, boost, &view->pairs, &found);
	view->measured_gain_permille = VIEW_UNKNOWN;
	view->gain_error_permille = VIEW_UNKNOWN;
	if (!view->pairs)
		return;
	view->measured_gain_permille = found.gain_ppm > 0 ? found.gain_ppm / 1000 : 0;
	view->gain_error_permille = found.error_ppm / 1000;
}

static const char *domain_name(const struct topology *topology, uint32_t domain)
{
	return domain < topology->n_domains ? topology->domains[domain].name : NULL;
}

static uint32_t present_level(const struct manager *manager, uint32_t domain)
{
	uint32_t khz = engine_last(manager->engine, domain)->target_khz;
	const struct topology_domain *info = &manager->topology->domains[domain];

	return io_level_at(info, khz ? khz : info->opp_khz[0]);
}

/* What depends on the task's I/O being measured, and on where it runs. */
static void show_prediction(const struct manager *manager, const struct io_boost *boost,
			    uint32_t domain, struct task_view *view)
{
	const struct topology_domain *info = &manager->topology->domains[domain];
	bool is_known = boost->ratio ||
			(boost->device != IO_BOOST_NO_DEVICE && boost->state != IO_BOOST_MEASURING);

	if (!is_known)
		return;
	view->host_share_permille =
		io_share_of_ratio(boost->ratio, present_level(manager, domain)) / 1000;
	if (boost->wanted_khz)
		view->predicted_gain_permille = views_gain_permille(
			io_saved_ppm(boost->ratio, io_level_at(info, info->opp_khz[0]),
				     io_level_at(info, boost->wanted_khz)));
}

/* name: of its device, or NULL. */
static void show_task(const struct manager *manager, const struct task *task, const char *name,
		      struct task_view *view)
{
	const struct topology *topology = manager->topology;
	const struct io_boost *boost = &task->io_boost;
	uint32_t domain = topology_domain_of(topology, task->cpu);
	uint64_t now_ns = time_now_ns();

	*view = (struct task_view){
		.pid = task->pid,
		.tgid = task->tgid,
		.comm = task->comm,
		.cpu = task->cpu,
		.domain = domain_name(topology, domain),
		.state = io_boost_state_name(boost->state),
		.device = name,
		.io_rate_per_s = boost->rate_per_s,
		.host_share_permille = VIEW_UNKNOWN,
		.predicted_gain_permille = VIEW_UNKNOWN,
		.wanted_khz = boost->wanted_khz,
		.boost_cap = engine_task_boost_cap(manager->engine, task),
	};
	if (boost->lease_end_ns > now_ns)
		view->lease_left_us = (boost->lease_end_ns - now_ns) / NS_PER_US;
	show_found(manager, boost, view);
	if (domain != TOPOLOGY_NO_DOMAIN)
		show_prediction(manager, boost, domain, view);
}

static void tell_boost(void *userdata, const struct task *task, const enum io_boost_state *before)
{
	struct manager *manager = userdata;
	char name[TRACER_DISK_SIZE];
	struct task_view view;
	bool named = tracer_device_name(manager->tracer, task->io_boost.device, name) == 0;

	show_task(manager, task, named ? name : NULL, &view);
	query_server_publish(manager->server,
			     &(struct event_view){
				     .kind = EVENT_BOOST,
				     .monotonic_us = time_now_ns() / NS_PER_US,
				     .domain = view.domain,
				     .pid = view.pid,
				     .comm = view.comm,
				     .task = &view,
				     .previous_state = before ? io_boost_state_name(*before) : NULL,
			     });
}

/* Who begins to listen is told of what changes from then on. */
void manager_show_boosts(struct manager *manager)
{
	const struct task_table *tasks = engine_tasks(manager->engine);
	uint32_t place;

	if (!query_server_is_monitored(manager->server)) {
		manager->boost_news = boost_news_free(manager->boost_news);
		return;
	}
	if (!manager->boost_news)
		manager->boost_news = boost_news_new(tasks);
	while (manager->boost_news && (place = engine_take_changed(manager->engine)) != UINT32_MAX)
		boost_news_look(manager->boost_news, tasks, place, tell_boost, manager);
}

int views_list_tasks(void *userdata, task_emit_t emit, void *context)
{
	const struct manager *manager = userdata;
	const struct task_table *tasks = engine_tasks(manager->engine);
	const struct task *task = NULL;
	int r = 0;

	while (!r && (task = task_table_next(tasks, task))) {
		char name[TRACER_DISK_SIZE];
		struct task_view view;
		bool named;

		if (task->released)
			continue; /* remembered, and not followed any more */
		/* No device has this index where the task has none. */
		named = tracer_device_name(manager->tracer, task->io_boost.device, name) == 0;
		show_task(manager, task, named ? name : NULL, &view);
		r = emit(context, &view);
	}
	return r;
}

/* As of when its requests were last followed. */
static void show_rates(const struct io_device *device, struct device_view *view)
{
	if (!device->rates.known)
		return;
	view->completions_per_s = device->rates.completions_per_s;
	view->idle_permille = device->rates.idle_permille;
}

static void count_boosts(const struct manager *manager, uint32_t device, struct device_view *view)
{
	const struct task *task = NULL;

	while ((task = engine_next_user(manager->engine, device, task))) {
		view->boosted += io_boost_is_held(&task->io_boost);
		view->trying += task->io_boost.state == IO_BOOST_TRYING;
	}
}

static void show_device(const struct manager *manager, const char *name, const struct input *now,
			struct device_view *view)
{
	const struct io_device *device = engine_device(manager->engine, now->device.device);
	const struct topology *topology = manager->topology;
	uint32_t cpu = now->device.completion_cpu;

	*view = (struct device_view){
		.name = name,
		.tasks = device->n_users,
		.depth = now->device.depth,
		.completions = now->device.completions,
		.idle_us = now->device.idle_ns / NS_PER_US,
		.completions_per_s = VIEW_UNKNOWN,
		.idle_permille = VIEW_UNKNOWN,
		.completion_cpu = cpu,
		.completion_domain = domain_name(topology, cpu < topology->n_cpus
								   ? topology->cpu_domain[cpu]
								   : TOPOLOGY_NO_DOMAIN),
	};
	show_rates(device, view);
	count_boosts(manager, now->device.device, view);
}

int views_list_devices(void *userdata, device_emit_t emit, void *context)
{
	const struct manager *manager = userdata;
	uint64_t now_ns = time_now_ns();
	int r = 0;

	for (uint32_t i = 0; !r && i < INPUT_DEVICES_MAX; i++) {
		char name[TRACER_DISK_SIZE];
		struct device_view view;
		struct input now;

		if (tracer_read_device(manager->tracer, i, now_ns, &now) < 0 ||
		    tracer_device_name(manager->tracer, i, name) < 0)
			continue;
		show_device(manager, name, &now, &view);
		r = emit(context, &view);
	}
	return r;
}

static struct advice_place place_of(const struct manager *manager, uint32_t domain)
{
	return (struct advice_place){
		.domain = manager->topology->domains[domain].name,
		.cpus = manager->domains[domain].cpus,
	};
}

static int advise_on_device(const struct manager *manager, uint32_t device, advice_emit_t emit,
			    void *context)
{
	struct advice_place completions, tasks;
	_cleanup_free_ char *sentence = NULL;
	struct misplacement misplacement;
	struct interrupt interrupt;
	char name[TRACER_DISK_SIZE];
	bool found;

	if (!advice_find_misplacement(manager->engine, manager->topology, device, &misplacement) ||
	    tracer_device_name(manager->tracer, device, name) < 0)
		return 0;
	completions = place_of(manager, misplacement.completion_domain);
	tasks = place_of(manager, misplacement.task_domain);
	found = interrupts_of_disk(name, misplacement.cpu, &interrupt) == 0;
	sentence = advice_on_misplacement(name, found ? &interrupt : NULL, &completions, &tasks,
					  misplacement.n_tasks);
	return sentence ? emit(context, sentence) : -ENOMEM;
}

static int advise_on_rival(const struct rival *rival, advice_emit_t emit, void *context)
{
	_cleanup_free_ char *sentence = advice_on_rival(rival);

	return sentence ? emit(context, sentence) : -ENOMEM;
}

static int advise_on_clamp_sets(uint64_t refused, advice_emit_t emit, void *context)
{
	_cleanup_free_ char *sentence = NULL;

	if (!refused)
		return 0;
	sentence = advice_on_clamp_sets(refused);
	return sentence ? emit(context, sentence) : -ENOMEM;
}

int views_list_advice(void *userdata, advice_emit_t emit, void *context)
{
	const struct manager *manager = userdata;
	int r = 0;

	for (uint32_t i = 0; !r && i < manager->n_rivals; i++)
		r = advise_on_rival(manager->rivals[i], emit, context);
	if (!r)
		r = advise_on_clamp_sets(engine_clamp_sets(manager->engine)->refused, emit,
					 context);
	for (uint32_t i = 0; !r && i < INPUT_DEVICES_MAX; i++)
		r = advise_on_device(manager, i, emit, context);
	return r;
}
