/* Launches of a case through NVRTC and runtime/cuda; see the header.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cuda/cuda_gpu.h"

#include "codegen/cuda/nvrtc.h"
#include "runtime/cuda/cuda.h"

static char words[512];
static const ig_message message = { words, sizeof words, NULL };

bool cuda_has_gpu(void) {
    ig_context context = { .limits = ig_limits_default };
    ig_nvrtc nvrtc;
    const ig_device *gpu = NULL;
    if (ig_cuda_open(0, &gpu, &message) != IG_OK) {
        unit_skip("launches on a GPU: %s", words);
        return false;
    }
    ig_cuda_close(gpu);
    if (ig_nvrtc_open(&context, &nvrtc) != IG_OK) {
        unit_skip("launches on a GPU: no NVRTC here");
        return false;
    }
    return true;
}

/* Everything of a plan in the GPU's memory: buffer i is root i of the case. */
typedef struct device_case {
    cuda_case *c;
    const ig_device *gpu;
    ig_memory host, memory;
    ig_queue *queue;
    ig_device_code image;
    char *buffers[CUDA_CASE_BUFFERS];
} device_case;

static const ig_target *target_of(const ig_device *gpu) {
    const ig_target *best = NULL;
    int best_rank = 0;
    for (const ig_target *const *target = ig_targets; *target; target++) {
        bool is_gpu = (*target)->family == IG_FAMILY_GPU;
        int rank = is_gpu ? gpu->verbs->rank(gpu, (*target)->level) : 0;
        best = rank > best_rank ? *target : best;
        best_rank = rank > best_rank ? rank : best_rank;
    }
    CHECK_MSG(best != NULL, "no level for this GPU");
    return best;
}

const ig_target *cuda_gpu_target(void) {
    const ig_device *gpu = NULL;
    CHECK_OK(ig_cuda_open(0, &gpu, &message));
    const ig_target *target = target_of(gpu);
    ig_cuda_close(gpu);
    return target;
}

/* ---- code ---- */

static ig_status load_cubin(device_case *d) {
    cuda_case *c = d->c;
    void *state = NULL;
    ig_writer cubin;
    ig_writer_init(&cubin, &c->arena);
    c->target = target_of(d->gpu);
    const char *source = cuda_case_source(c);
    if (!source) {
        return IG_INTERNAL;
    }
    IG_TRY(ig_backend_cuda.open(&c->context, c->target, &state));
    ig_status status = ig_backend_cuda.assemble(state, ig_str_of(source), IG_EMIT_IMAGE,
                                                &cubin);
    ig_backend_cuda.close(state);
    IG_TRY(status);
    ig_str code = ig_writer_str(&cubin);
    ig_code_source from = { .bytes = code.data, .size = code.size, .file = -1 };
    return d->gpu->verbs->load(d->gpu, &from, &d->image, &message);
}

/* ---- running ---- */

static ig_status copy_buffers(device_case *d, bool is_in) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        const ig_kernel_buffer *root = d->c->roots.items[i];
        void *to = is_in ? d->buffers[i] : root->data;
        const void *from = is_in ? root->data : d->buffers[i];
        IG_TRY(ig_queue_copy(d->queue, is_in ? IG_COPY_IN : IG_COPY_OUT, to, from,
                             root->bytes));
    }
    return ig_queue_finish(d->queue);
}

/* The GPU's address for `data` on the host. */
static void *address_of(const device_case *d, const void *data) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        const ig_kernel_buffer *root = d->c->roots.items[i];
        int64_t offset = (const char *)data - (const char *)root->data;
        if (offset >= 0 && offset <= root->bytes && (offset < root->bytes || !offset)) {
            return d->buffers[i] + offset;
        }
    }
    ck_abort_msg("a buffer of no root");
}

static ig_status launch(device_case *d, const cuda_launch *l) {
    void *table[CUDA_CASE_BUFFERS];
    for (uint32_t i = 0; i < l->buffer_count; i++) {
        table[i] = address_of(d, l->buffers[i].data);
    }
    ig_launch on = { .buffers = table,
                     .params = l->params,
                     .grid = l->grid,
                     .threads = l->threads,
                     .buffer_count = l->buffer_count,
                     .param_count = l->param_count };
    ig_kernel_id id = { l->kernel->name, 0 };
    IG_TRY(d->gpu->verbs->find(d->gpu, &d->image, id, &on.kernel, &message));
    IG_TRY(d->queue->verbs->submit(d->queue,
                                   &(ig_phase){ .launches = &on, .launch_count = 1 }));
    return ig_queue_finish(d->queue);
}

static ig_status open_device(device_case *d, cuda_case *c) {
    *d = (device_case){ .c = c, .host = ig_memory_host() };
    IG_TRY(ig_cuda_open(0, &d->gpu, &message));
    CHECK(c->roots.count <= CUDA_CASE_BUFFERS);
    d->memory = ig_device_memory(d->gpu);
    ig_queue_options options = { .memory = &d->host, .message = message };
    IG_TRY(d->gpu->verbs->open_queue(d->gpu, &options, &d->queue));
    for (size_t i = 0; i < c->roots.count; i++) {
        d->buffers[i] = ig_memory_take(&d->memory, (size_t)c->roots.items[i]->bytes);
        CHECK(d->buffers[i] != NULL);
    }
    return copy_buffers(d, true);
}

static void close_device(device_case *d) {
    if (!d->gpu) {
        return;
    }
    for (size_t i = 0; i < d->c->roots.count; i++) {
        ig_memory_give(&d->memory, d->buffers[i], (size_t)d->c->roots.items[i]->bytes);
    }
    CHECK_INT(d->memory.held, 0);
    d->gpu->verbs->close_queue(d->queue);
    d->gpu->verbs->unload(d->gpu, &d->image);
    ig_cuda_close(d->gpu);
}

/* Held against the interpreter's launch on the host's memory. */
static ig_status check_launch(device_case *d, const cuda_launch *l) {
    cuda_case *c = d->c;
    IG_TRY(cuda_interpret_launch(c, l));
    for (size_t i = 0; i < c->roots.count; i++) {
        const ig_kernel_buffer *root = c->roots.items[i];
        size_t size = (size_t)root->bytes;
        char *got = malloc(size + 1);
        IG_TRY(ig_queue_read(d->queue, got, d->buffers[i], root->bytes));
        bool is_same = size == 0 || memcmp(got, root->data, size) == 0;
        free(got);
        if (!is_same) {
            snprintf(c->last, sizeof c->last,
                     "'%s' leaves other bits in buffer %zu than the interpreter",
                     l->kernel->name, i);
            return IG_INTERNAL;
        }
    }
    return IG_OK;
}

static ig_status run_launches(cuda_case *c, device_case *d, bool is_checked) {
    IG_TRY(open_device(d, c));
    IG_TRY(load_cubin(d));
    for (uint32_t i = 0; i < c->launch_count; i++) {
        IG_TRY(launch(d, &c->launches[i]));
        if (is_checked) {
            IG_TRY(check_launch(d, &c->launches[i]));
        }
    }
    return copy_buffers(d, false);
}

static ig_status run_device(cuda_case *c, bool is_checked) {
    device_case d;
    words[0] = '\0';
    ig_status status = run_launches(c, &d, is_checked);
    if (status != IG_OK && words[0]) {
        snprintf(c->last, sizeof c->last, "%s", words);
    }
    c->report.operand = -1;
    if (status == IG_OK && d.queue->has_report) {
        c->report = d.queue->report.kernel;
    }
    close_device(&d);
    return status;
}

ig_status cuda_run_gpu(cuda_case *c) {
    return run_device(c, false);
}

ig_status cuda_run_checked(cuda_case *c) {
    return run_device(c, true);
}
