/* runtime/cuda: templates and a whole DLRM, launched on a GPU where there is one, and
 * everywhere on a driver that has none (tests/cuda_host/driver.cc), against the
 * interpreter of the tensor graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/nvrtc.h"
#include "runtime/cuda/cuda.h"
#include "tests/unit/cuda/cuda_case.h"

static char words[512];
static const ig_message message = { words, sizeof words };

/* ---- without a GPU ---- */

TEST(levels_of_a_gpu) {
    CHECK(ig_cuda_level_rank("sm_80", 8, 0) > 0);
    CHECK(ig_cuda_level_rank("sm_80", 8, 9) > 0);
    CHECK_INT(ig_cuda_level_rank("sm_80", 9, 0), 0);
    CHECK_INT(ig_cuda_level_rank("sm_86", 8, 0), 0);
    CHECK(ig_cuda_level_rank("sm_90a", 9, 0) > ig_cuda_level_rank("sm_90", 9, 0));
    CHECK_INT(ig_cuda_level_rank("sm_100a", 10, 3), 0);
    CHECK(ig_cuda_level_rank("sm_100", 10, 3) > 0);
    CHECK_INT(ig_cuda_level_rank("v3", 9, 0), 0);
    CHECK_INT(ig_cuda_level_rank("sm_", 9, 0), 0);
    CHECK_INT(ig_cuda_level_rank("sm_90b", 9, 0), 0);
    CHECK_INT(ig_cuda_level_rank("sm_90aa", 9, 0), 0);
}
END_TEST

TEST(a_gpu_that_is_not_there) {
    const ig_device *gpu = NULL;
    CHECK_STATUS(ig_cuda_open(100000, &gpu, &message), IG_UNSUPPORTED);
    CHECK(gpu == NULL && words[0] != '\0');
    CHECK_STATUS(ig_cuda_open(-1, &gpu, &message), IG_UNSUPPORTED);
    ig_cuda_close(NULL);
}
END_TEST

/* ---- on a GPU ---- */

/* False, counted as a skip with the reason, where there is none or no NVRTC. */
static bool has_gpu(void) {
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
    ig_image image;
    char *buffers[CUDA_CASE_BUFFERS];
} device_case;

#define CHECK_DONE(call)                                                             \
    do {                                                                             \
        ig_status got_status = (call);                                               \
        CHECK_MSG(got_status == IG_OK, "%s: %s", ig_status_name(got_status), words); \
    } while (0)

static const ig_target *target_of(const ig_device *gpu) {
    const ig_target *best = NULL;
    int best_rank = 0;
    for (const ig_target *const *target = ig_targets; *target; target++) {
        bool is_gpu = (*target)->family == IG_FAMILY_GPU;
        int rank = is_gpu ? gpu->verbs->rank(gpu, (*target)->level) : 0;
        best = rank > best_rank ? *target : best;
        best_rank = rank > best_rank ? rank : best_rank;
    }
    return best;
}

static void load_cubin(device_case *d) {
    cuda_case *c = d->c;
    void *state = NULL;
    CHECK_OK(ig_backend_cuda.open(&c->context, c->target, &state));
    ig_writer cubin;
    ig_writer_init(&cubin, &c->arena);
    ig_status status = ig_backend_cuda.assemble(state, ig_str_of(cuda_case_source(c)),
                                                IG_EMIT_IMAGE, &cubin);
    CHECK_MSG(status == IG_OK, "%s", c->last);
    ig_backend_cuda.close(state);
    ig_str code = ig_writer_str(&cubin);
    CHECK_DONE(d->gpu->verbs->load(d->gpu, code.data, code.size, &d->image, &message));
}

/* The image of the driver without a GPU is the path of a library. */
static void load_library(device_case *d) {
    cuda_library library = cuda_case_build(d->c);
    CHECK_DONE(d->gpu->verbs->load(d->gpu, library.path, strlen(library.path) + 1,
                                   &d->image, &message));
    cuda_library_remove(&library);
}

static void copy_buffers(device_case *d, bool is_in) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        const ig_kernel_buffer *root = d->c->roots.items[i];
        void *to = is_in ? d->buffers[i] : root->data;
        const void *from = is_in ? root->data : d->buffers[i];
        CHECK_DONE(ig_queue_copy(d->queue, is_in ? IG_COPY_IN : IG_COPY_OUT, to, from,
                                 root->bytes));
    }
    CHECK_DONE(ig_queue_finish(d->queue));
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

static void launch(device_case *d, const cuda_launch *l) {
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
    CHECK_DONE(d->gpu->verbs->find(d->gpu, &d->image, id, &on.kernel, &message));
    CHECK_DONE(d->queue->verbs->submit(
        d->queue, &(ig_phase){ .launches = &on, .launch_count = 1 }));
    CHECK_DONE(ig_queue_finish(d->queue));
}

static void open_device(device_case *d, cuda_case *c) {
    *d = (device_case){ .c = c, .host = ig_memory_host() };
    CHECK_DONE(ig_cuda_open(0, &d->gpu, &message));
    c->target = target_of(d->gpu);
    CHECK_MSG(c->target != NULL, "no level for this GPU");
    CHECK(c->roots.count <= CUDA_CASE_BUFFERS);
    d->memory = ig_device_memory(d->gpu);
    ig_queue_options options = { .memory = &d->host, .message = message };
    CHECK_DONE(d->gpu->verbs->open_queue(d->gpu, &options, &d->queue));
    for (size_t i = 0; i < c->roots.count; i++) {
        d->buffers[i] = ig_memory_take(&d->memory, (size_t)c->roots.items[i]->bytes);
        CHECK(d->buffers[i] != NULL);
    }
    copy_buffers(d, true);
}

static void close_device(device_case *d) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        ig_memory_give(&d->memory, d->buffers[i], (size_t)d->c->roots.items[i]->bytes);
    }
    CHECK_INT(d->memory.held, 0);
    d->gpu->verbs->close_queue(d->queue);
    d->gpu->verbs->unload(d->gpu, &d->image);
    ig_cuda_close(d->gpu);
}

static void run_device(cuda_case *c, void (*load)(device_case *d)) {
    device_case d;
    open_device(&d, c);
    c->report.operand = -1;
    load(&d);
    for (uint32_t i = 0; i < c->launch_count; i++) {
        launch(&d, &c->launches[i]);
    }
    copy_buffers(&d, false);
    if (d.queue->has_report) {
        c->report = d.queue->report.kernel;
    }
    close_device(&d);
}

static void run_on_gpu(cuda_case *c) {
    run_device(c, load_cubin);
}

static void check_templates(cuda_run *run) {
    cuda_check_gemm(run, (int64_t[]){ 70, 35, 67 }, "relu %1");
    cuda_check_gemm(run, (int64_t[]){ 0, 35, 67 }, "relu %1");
    cuda_check_bag(run, (cuda_bag){ 11, 64, 40, 19, "operands = [1], pool = [sum]" });
    cuda_check_interaction(run, 3, 27, 64);
}

TEST(templates) {
    if (has_gpu()) {
        check_templates(run_on_gpu);
    }
}
END_TEST

TEST(a_whole_dlrm) {
    if (has_gpu()) {
        cuda_check_model(run_on_gpu, "dlrm_onehot", 130);
    }
}
END_TEST

/* ---- on the driver without a GPU ---- */

static void run_on_driver(cuda_case *c) {
    run_device(c, load_library);
}

TEST(templates_without_a_gpu) {
    if (cuda_open_driver()) {
        check_templates(run_on_driver);
    }
}
END_TEST

/* What test_devices.c cannot know of a family: the driver's words. */
TEST(errors_of_the_driver) {
    const ig_device *gpu = NULL;
    ig_memory host = ig_memory_host();
    ig_queue *queue = NULL;
    ig_image image;
    if (!cuda_open_driver()) {
        return;
    }
    CHECK_STATUS(ig_cuda_open(1, &gpu, &message), IG_UNSUPPORTED);
    CHECK_DONE(ig_cuda_open(0, &gpu, &message));
    ig_queue_options options = { .memory = &host, .message = message };
    CHECK_DONE(gpu->verbs->open_queue(gpu, &options, &queue));
    void *memory = gpu->verbs->allocate((void *)(uintptr_t)gpu, 16, IG_MAX_ALIGN);
    char bytes[17] = "sixteen letters!";
    CHECK_STATUS(ig_queue_copy(queue, IG_COPY_IN, memory, bytes, 17), IG_INTERNAL);
    CHECK(strstr(words, "CUDA error 1") != NULL);
    CHECK_DONE(ig_queue_finish(queue));
    CHECK_STATUS(gpu->verbs->load(gpu, "/no/such/image", 15, &image, &message),
                 IG_INTERNAL);
    ig_launch launch = { .grid = (int64_t)1 << 40, .threads = 32 };
    ig_phase phase = { .launches = &launch, .launch_count = 1 };
    CHECK_STATUS(queue->verbs->submit(queue, &phase), IG_LIMIT);
    launch.grid = 0;
    CHECK_DONE(queue->verbs->submit(queue, &phase));
    phase.block = phase.rows = 1;
    CHECK_STATUS(queue->verbs->submit(queue, &phase), IG_UNSUPPORTED);
    CHECK_DONE(ig_queue_finish(queue));
    gpu->verbs->release((void *)(uintptr_t)gpu, memory, 16);
    gpu->verbs->close_queue(queue);
    ig_cuda_close(gpu);
}
END_TEST

UNIT_SUITE(cuda_device, levels_of_a_gpu, a_gpu_that_is_not_there, templates,
           a_whole_dlrm, templates_without_a_gpu, errors_of_the_driver)
