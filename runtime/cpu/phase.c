/* Runs the launches of one phase on the workers of a queue.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each worker has fixed tiles of each launch (bounds), or fixed blocks of rows, so its
 * results depend neither on timing nor on who else runs; a run without the pool does
 * all of it as one worker.  Reports: each worker keeps its first, and the first of
 * these becomes the queue's when the phase is done.
 */
#include "runtime/cpu/pool.h"
#include "runtime/cpu/queue.h"

typedef struct phase_task {
    const ig_phase *phase;
    ig_cpu_queue *queue;
    bool is_split; /* among the workers; else worker 0 does all */
} phase_task;

/* ---- reports ---- */

static bool is_before(const ig_queue_report *a, const ig_queue_report *b) {
    if (a->step != b->step) {
        return a->step < b->step;
    }
    if (a->kernel.operand != b->kernel.operand) {
        return a->kernel.operand < b->kernel.operand;
    }
    return a->row != b->row ? a->row < b->row : a->kernel.position < b->kernel.position;
}

static void keep_first(ig_queue_report *kept, const ig_queue_report *report) {
    if (kept->kernel.operand < 0 || is_before(report, kept)) {
        *kept = *report;
    }
}

static void keep_report(ig_cpu_worker *worker, const ig_launch *launch, int64_t row,
                        const ig_kernel_report_v0 *report) {
    keep_first(&worker->report, &(ig_queue_report){ launch->step, row, *report });
}

/* Of all workers into the queue, which are ready for the next phase then. */
static void merge_reports(ig_cpu_queue *queue) {
    ig_queue_report *first = &queue->base.report;
    for (int w = 0; w < queue->base.active_count; w++) {
        ig_queue_report *report = &queue->workers[w].report;
        if (report->kernel.operand < 0) {
            continue;
        }
        if (!queue->base.has_report || is_before(report, first)) {
            *first = *report;
        }
        queue->base.has_report = true;
        report->kernel.operand = -1;
    }
}

/* ---- tiles ---- */

static void run_tiles(ig_cpu_worker *worker, const ig_launch *launch, int64_t begin,
                      int64_t end) {
    ig_kernel_report_v0 report = { .operand = -1 };
    ig_kernel_call_v0 call = {
        .buffers = launch->buffers,
        .params = launch->params,
        .tile_begin = begin,
        .tile_end = end,
        .scratch = worker->scratch,
        .report = &report,
    };
    launch->kernel.call(&call);
    if (report.operand >= 0) {
        keep_report(worker, launch, 0, &report);
    }
}

/* The share of one worker. */
static void run_bounds(const phase_task *task, int index) {
    const ig_phase *phase = task->phase;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const ig_launch *launch = &phase->launches[i];
        const int64_t *bounds = launch->bounds + index;
        assert(bounds[0] >= 0 && bounds[1] <= launch->grid &&
               "a worker's tiles are outside of the grid");
        if (bounds[0] < bounds[1]) {
            run_tiles(&task->queue->workers[index], launch, bounds[0], bounds[1]);
        }
    }
}

static void run_all_tiles(const ig_phase *phase, ig_cpu_worker *worker) {
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const ig_launch *launch = &phase->launches[i];
        if (launch->grid > 0) {
            run_tiles(worker, launch, 0, launch->grid);
        }
    }
}

/* ---- rows ---- */

/* The buffers of `launch` for worker `index` and the block that begins at `row`. */
static void fill_table(const ig_cpu_queue *queue, int index, const ig_launch *launch,
                       int64_t row) {
    void **table = queue->workers[index].table;
    char *own = queue->base.worker_memory + queue->base.worker_bytes * index;
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        int64_t stride = launch->strides[i];
        assert(stride >= IG_WORKER_STRIDE && "a stride was not checked");
        table[i] = stride == IG_WORKER_STRIDE
                       ? own + (uintptr_t)launch->buffers[i]
                       : (char *)launch->buffers[i] + row * stride;
    }
}

static void run_block(const phase_task *task, int index, int64_t row) {
    const ig_phase *phase = task->phase;
    ig_cpu_worker *worker = &task->queue->workers[index];
    bool is_tail = phase->rows - row < phase->block;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const ig_launch *launch = &phase->launches[i];
        fill_table(task->queue, index, launch, row);
        ig_kernel_report_v0 report = { .operand = -1 };
        ig_kernel_call_v0 call = {
            .buffers = worker->table,
            .params = is_tail ? launch->tail_params : launch->params,
            .tile_end = is_tail ? launch->tail_grid : launch->grid,
            .scratch = worker->scratch,
            .report = &report,
        };
        if (call.tile_end > 0) {
            launch->kernel.call(&call);
        }
        if (report.operand >= 0) {
            keep_report(worker, launch, row, &report);
        }
    }
}

static void run_rows(const phase_task *task, int index) {
    const ig_phase *phase = task->phase;
    const atomic_int *state = task->queue->state;
    int64_t blocks = (phase->rows - 1) / phase->block + 1;
    int64_t size = task->is_split ? task->queue->base.active_count : 1;
    int64_t begin = blocks / size * index + blocks % size * index / size;
    int64_t end = blocks / size * (index + 1) + blocks % size * (index + 1) / size;
    assert(index < size && end <= blocks && "a worker's rows are outside of the phase");
    for (int64_t i = begin; i < end; i++) {
        if (atomic_load_explicit(state, memory_order_relaxed) == IG_RUN_CANCELLED) {
            return;
        }
        run_block(task, index, i * phase->block);
    }
}

/* ---- blocks for all workers, one after the other ---- */

/* One launch of a block's body, whose buffers are those of worker 0. */
typedef struct wide_task {
    const phase_task *task;
    const ig_launch *launch;
    int64_t row, workers;
    bool is_tail;
} wide_task;

static int64_t grid_of(const ig_launch *launch, bool is_tail) {
    return is_tail ? launch->tail_grid : launch->grid;
}

static void run_wide_share(void *argument, int index) {
    const wide_task *wide = argument;
    ig_cpu_worker *workers = wide->task->queue->workers;
    const ig_launch *launch = wide->launch;
    int64_t grid = grid_of(launch, wide->is_tail);
    ig_kernel_report_v0 report = { .operand = -1 };
    ig_kernel_call_v0 call = {
        .buffers = workers[0].table,
        .params = wide->is_tail ? launch->tail_params : launch->params,
        .tile_begin = grid * index / wide->workers,
        .tile_end = grid * (index + 1) / wide->workers,
        .scratch = workers[index].scratch,
        .report = &report,
    };
    assert(call.tile_end <= grid && "more shares than workers");
    if (call.tile_begin < call.tile_end) {
        launch->kernel.call(&call);
    }
    if (report.operand >= 0) {
        keep_report(&workers[index], launch, wide->row, &report);
    }
}

static void run_wide(const phase_task *task) {
    const ig_phase *phase = task->phase;
    wide_task wide = { .task = task };
    for (; wide.row < phase->rows; wide.row += phase->block) {
        wide.is_tail = phase->rows - wide.row < phase->block;
        for (uint32_t i = 0; i < phase->launch_count; i++) {
            wide.launch = &phase->launches[i];
            wide.workers = task->queue->base.active_count;
            fill_table(task->queue, 0, wide.launch, wide.row);
            if (grid_of(wide.launch, wide.is_tail) > 1) {
                ig_thread_pool_run(task->queue->pool, run_wide_share, &wide);
            } else {
                wide.workers = 1;
                run_wide_share(&wide, 0);
            }
        }
    }
}

/* ---- phases ---- */

static void run_worker(void *argument, int index) {
    const phase_task *task = argument;
    if (task->phase->block > 0) {
        run_rows(task, index);
    } else {
        run_bounds(task, index);
    }
}

/* A phase of rows, or one for several workers. */
static void run_shares(ig_cpu_queue *queue, const ig_phase *phase) {
    phase_task task = { phase, queue,
                        phase->is_parallel && queue->base.active_count > 1 };
    if (phase->block > 0 && phase->rows <= 0) {
        return;
    }
    if (task.is_split && phase->is_wide) {
        run_wide(&task);
    } else if (task.is_split) {
        ig_thread_pool_run(queue->pool, run_worker, &task);
    } else {
        run_rows(&task, 0);
    }
}

ig_status ig_cpu_queue_submit(ig_queue *base, const ig_phase *phase) {
    ig_cpu_queue *queue = ig_cpu_queue_of(base);
    bool is_split = phase->is_parallel && base->active_count > 1;
    if (is_split || phase->block > 0) {
        run_shares(queue, phase);
    } else {
        run_all_tiles(phase, queue->workers);
    }
    ig_cpu_queue_pass(base);
    if (is_split || queue->workers->report.kernel.operand >= 0) {
        merge_reports(queue);
    }
    return IG_OK;
}
