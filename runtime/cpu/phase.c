/* Runs the launches of one phase on the threads of a team.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each worker has fixed tiles of each launch (bounds), or fixed blocks of rows, so what
 * it computes depends neither on timing nor on who else runs; a team without its pool
 * does all of it as one worker.  Reports: each worker keeps its least.
 */
#include "runtime/cpu/phase.h"

#include "runtime/cpu/pool.h"

typedef struct phase_task {
    const ig_phase *phase;
    const ig_team *team;
    bool is_split; /* among the workers; else worker 0 does all */
} phase_task;

/* ---- reports ---- */

/* Is the report `new` of (launch, row) before the one that the worker has? */
static bool is_less(const ig_worker *worker, uint32_t launch, int64_t row,
                    const ig_kernel_report_v0 *new) {
    const ig_kernel_report_v0 *old = &worker->report;
    if (old->operand < 0 || worker->launch != launch) {
        return old->operand < 0 || launch < worker->launch;
    }
    if (old->operand != new->operand) {
        return new->operand < old->operand;
    }
    return worker->row != row ? row < worker->row : new->position < old->position;
}

static void keep_least(ig_worker *worker, uint32_t launch, int64_t row,
                       const ig_kernel_report_v0 *new) {
    if (is_less(worker, launch, row, new)) {
        worker->report = *new;
        worker->launch = launch;
        worker->row = row;
    }
}

/* ---- tiles ---- */

static void run_launch(ig_worker *worker, const ig_phase *phase, uint32_t number,
                       int64_t begin, int64_t end) {
    const ig_launch *launch = &phase->launches[number];
    ig_kernel_report_v0 report = { .operand = -1 };
    ig_kernel_call_v0 call = {
        .buffers = launch->buffers,
        .params = launch->params,
        .tile_begin = begin,
        .tile_end = end,
        .scratch = worker->scratch,
        .report = &report,
    };
    launch->kernel(&call);
    if (report.operand >= 0) {
        keep_least(worker, number, 0, &report);
    }
}

/* The share of one worker. */
static void run_tiles(const phase_task *task, int index) {
    const ig_phase *phase = task->phase;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const int64_t *bounds = phase->launches[i].bounds + index;
        if (bounds[0] < bounds[1]) {
            run_launch(&task->team->workers[index], phase, i, bounds[0], bounds[1]);
        }
    }
}

static void run_all_tiles(const ig_phase *phase, ig_worker *worker) {
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        if (phase->launches[i].grid > 0) {
            run_launch(worker, phase, i, 0, phase->launches[i].grid);
        }
    }
}

/* ---- rows ---- */

/* The buffers of `launch` for the block that begins at `row`. */
static void fill_table(ig_worker *worker, const ig_launch *launch, int64_t row) {
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        int64_t stride = launch->strides[i];
        worker->table[i] = stride == IG_WORKER_STRIDE
                               ? worker->memory + (uintptr_t)launch->buffers[i]
                               : (char *)launch->buffers[i] + row * stride;
    }
}

static void run_block(ig_worker *worker, const ig_phase *phase, int64_t row) {
    bool is_tail = phase->rows - row < phase->block;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const ig_launch *launch = &phase->launches[i];
        fill_table(worker, launch, row);
        ig_kernel_report_v0 report = { .operand = -1 };
        ig_kernel_call_v0 call = {
            .buffers = worker->table,
            .params = is_tail ? launch->tail_params : launch->params,
            .tile_end = is_tail ? launch->tail_grid : launch->grid,
            .scratch = worker->scratch,
            .report = &report,
        };
        if (call.tile_end > 0) {
            launch->kernel(&call);
        }
        if (report.operand >= 0) {
            keep_least(worker, i, row, &report);
        }
    }
}

static void run_rows(const phase_task *task, int index) {
    const ig_phase *phase = task->phase;
    const ig_team *team = task->team;
    int64_t blocks = (phase->rows - 1) / phase->block + 1;
    int64_t size = task->is_split ? team->size : 1;
    int64_t begin = blocks / size * index + blocks % size * index / size;
    int64_t end = blocks / size * (index + 1) + blocks % size * (index + 1) / size;
    for (int64_t i = begin; i < end; i++) {
        if (atomic_load_explicit(team->state, memory_order_relaxed) ==
            IG_RUN_CANCELLED) {
            return;
        }
        run_block(&team->workers[index], phase, i * phase->block);
    }
}

/* ---- a block for all workers ---- */

/* One launch of the block's body, whose buffers are those of worker 0. */
typedef struct wide_task {
    const phase_task *task;
    uint32_t number; /* of the launch */
    int64_t grid, workers;
} wide_task;

static void run_share(void *argument, int index) {
    const wide_task *wide = argument;
    const ig_phase *phase = wide->task->phase;
    ig_worker *workers = wide->task->team->workers;
    const ig_launch *launch = &phase->launches[wide->number];
    bool is_tail = phase->rows < phase->block;
    ig_kernel_report_v0 report = { .operand = -1 };
    ig_kernel_call_v0 call = {
        .buffers = workers[0].table,
        .params = is_tail ? launch->tail_params : launch->params,
        .tile_begin = wide->grid * index / wide->workers,
        .tile_end = wide->grid * (index + 1) / wide->workers,
        .scratch = workers[index].scratch,
        .report = &report,
    };
    if (call.tile_begin < call.tile_end) {
        launch->kernel(&call);
    }
    if (report.operand >= 0) {
        keep_least(&workers[index], wide->number, 0, &report);
    }
}

static void run_wide(const phase_task *task) {
    const ig_phase *phase = task->phase;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const ig_launch *launch = &phase->launches[i];
        int64_t grid = phase->rows < phase->block ? launch->tail_grid : launch->grid;
        wide_task wide = { task, i, grid, task->team->size };
        fill_table(&task->team->workers[0], launch, 0);
        if (grid > 1) {
            ig_thread_pool_run(task->team->pool, run_share, &wide);
        } else {
            wide.workers = 1;
            run_share(&wide, 0);
        }
    }
}

/* ---- phases ---- */

static void run_worker(void *argument, int index) {
    const phase_task *task = argument;
    if (task->phase->block > 0) {
        run_rows(task, index);
    } else {
        run_tiles(task, index);
    }
}

void ig_phase_run(const ig_phase *phase, const ig_team *team) {
    phase_task task = { phase, team, phase->is_parallel && team->is_claimed };
    if (phase->block > 0 && phase->rows <= 0) {
        return;
    }
    if (task.is_split && phase->is_wide) {
        run_wide(&task);
    } else if (task.is_split) {
        ig_thread_pool_run(team->pool, run_worker, &task);
    } else if (phase->block > 0) {
        run_rows(&task, 0);
    } else {
        run_all_tiles(phase, team->workers);
    }
}
