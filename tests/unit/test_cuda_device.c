/* runtime/cuda: what it says where there is no GPU; where there is one, all templates
 * and a whole DLRM launched on it, against the interpreter of the tensor graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/nvrtc.h"
#include "runtime/cuda/cuda.h"
#include "tests/unit/cuda_case.h"

static char             words[512];
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
    ig_cuda *gpu = NULL;
    CHECK_STATUS(ig_cuda_open(100000, &gpu, &message), IG_UNSUPPORTED);
    CHECK(gpu == NULL && words[0] != '\0');
    CHECK_STATUS(ig_cuda_open(-1, &gpu, &message), IG_UNSUPPORTED);
    ig_cuda_close(NULL);
}
END_TEST

/* ---- on a GPU ---- */

/* NULL, counted as a skip with the reason, where there is none or no NVRTC. */
static ig_cuda *open_gpu(void) {
    ig_context context = { .limits = ig_limits_default };
    ig_nvrtc   nvrtc;
    ig_cuda   *gpu = NULL;
    if (ig_cuda_open(0, &gpu, &message) != IG_OK) {
        unit_skip("launches on a GPU: %s", words);
    } else if (ig_nvrtc_open(&context, &nvrtc) != IG_OK) {
        unit_skip("launches on a GPU: no NVRTC here");
        ig_cuda_close(gpu);
        gpu = NULL;
    }
    return gpu;
}

/* Everything of a plan in the GPU's memory: buffer i is root i of the case. */
typedef struct device_case {
    cuda_case      *c;
    ig_cuda        *gpu;
    ig_cuda_image   image;
    ig_cuda_address buffers[CUDA_CASE_BUFFERS], table, params, report;
} device_case;

#define CHECK_DONE(call)                                                             \
    do {                                                                             \
        ig_status got_status = (call);                                               \
        CHECK_MSG(got_status == IG_OK, "%s: %s", ig_status_name(got_status), words); \
    } while (0)

static const ig_target *target_of(const ig_cuda *gpu) {
    const ig_target *best = NULL;
    int              best_rank = 0;
    for (const ig_target *const *target = ig_targets; *target; target++) {
        bool is_gpu = (*target)->family == IG_FAMILY_GPU;
        int  rank = is_gpu ? ig_cuda_rank(gpu, (*target)->level) : 0;
        best = rank > best_rank ? *target : best;
        best_rank = rank > best_rank ? rank : best_rank;
    }
    return best;
}

static void load_code(device_case *d) {
    cuda_case       *c = d->c;
    const ig_target *target = target_of(d->gpu);
    CHECK_MSG(target != NULL, "no level for this GPU");
    c->target = target;
    void *state = NULL;
    CHECK_OK(ig_backend_cuda.open(&c->context, target, &state));
    ig_writer cubin;
    ig_writer_init(&cubin, &c->arena);
    ig_status status = ig_backend_cuda.assemble(state, ig_str_of(cuda_case_source(c)),
                                                IG_EMIT_IMAGE, &cubin);
    CHECK_MSG(status == IG_OK, "%s", c->last);
    ig_backend_cuda.close(state);
    CHECK_DONE(ig_cuda_load(d->gpu, ig_writer_str(&cubin).data, &d->image, &message));
}

static void copy_buffers(device_case *d, bool is_in) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        const ig_kernel_buffer *root = d->c->roots.items[i];
        size_t                  size = (size_t)root->bytes;
        CHECK_DONE(
            is_in
                ? ig_cuda_copy_in(d->gpu, d->buffers[i], root->data, size, &message)
                : ig_cuda_copy_out(d->gpu, root->data, d->buffers[i], size, &message));
    }
}

/* The address of what lies at `data` on the host. */
static ig_cuda_address address_of(const device_case *d, const void *data) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        const ig_kernel_buffer *root = d->c->roots.items[i];
        int64_t                 offset = (const char *)data - (const char *)root->data;
        if (offset >= 0 && offset <= root->bytes && (offset < root->bytes || !offset)) {
            return d->buffers[i] + (uint64_t)offset;
        }
    }
    ck_abort_msg("a buffer of no root");
}

static void launch(device_case *d, const cuda_launch *l) {
    ig_cuda_address table[CUDA_CASE_BUFFERS];
    for (uint32_t i = 0; i < l->buffer_count; i++) {
        table[i] = address_of(d, l->buffers[i].data);
    }
    ig_cuda_launch on = { .grid = l->grid,
                          .threads = l->threads,
                          .buffers = d->table,
                          .params = d->params,
                          .report = d->report };
    CHECK_DONE(ig_cuda_find(d->gpu, &d->image, l->kernel->name, &on.kernel, &message));
    CHECK_DONE(ig_cuda_copy_in(d->gpu, d->table, table, l->buffer_count * sizeof *table,
                               &message));
    CHECK_DONE(ig_cuda_copy_in(d->gpu, d->params, l->params,
                               l->param_count * sizeof *l->params, &message));
    CHECK_DONE(ig_cuda_launch_kernel(d->gpu, &on, &message));
    CHECK_DONE(ig_cuda_sync(d->gpu, &message));
}

static void open_device(device_case *d, cuda_case *c) {
    *d = (device_case){ .c = c };
    CHECK_DONE(ig_cuda_open(0, &d->gpu, &message));
    CHECK(c->roots.count <= CUDA_CASE_BUFFERS);
    for (size_t i = 0; i < c->roots.count; i++) {
        CHECK_DONE(ig_cuda_alloc(d->gpu, (size_t)c->roots.items[i]->bytes,
                                 &d->buffers[i], &message));
    }
    ig_cuda_report clear = { .operand = -1 };
    CHECK_DONE(ig_cuda_alloc(d->gpu, CUDA_CASE_BUFFERS * 8, &d->table, &message));
    CHECK_DONE(ig_cuda_alloc(d->gpu, CUDA_CASE_PARAMS * 8, &d->params, &message));
    CHECK_DONE(ig_cuda_alloc(d->gpu, sizeof clear, &d->report, &message));
    CHECK_DONE(ig_cuda_copy_in(d->gpu, d->report, &clear, sizeof clear, &message));
    copy_buffers(d, true);
    load_code(d);
}

static void close_device(device_case *d) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        ig_cuda_free(d->gpu, d->buffers[i]);
    }
    ig_cuda_free(d->gpu, d->table);
    ig_cuda_free(d->gpu, d->params);
    ig_cuda_free(d->gpu, d->report);
    ig_cuda_unload(d->gpu, &d->image);
    ig_cuda_close(d->gpu);
}

static void run_on_gpu(cuda_case *c) {
    device_case    d;
    ig_cuda_report report;
    open_device(&d, c);
    for (uint32_t i = 0; i < c->launch_count; i++) {
        launch(&d, &c->launches[i]);
    }
    copy_buffers(&d, false);
    CHECK_DONE(ig_cuda_copy_out(d.gpu, &report, d.report, sizeof report, &message));
    CHECK_DONE(ig_cuda_sync(d.gpu, &message));
    c->report = (ig_kernel_report_v0){ report.operand, report.position, report.value };
    close_device(&d);
}

static bool is_skipped(void) {
    ig_cuda *gpu = open_gpu();
    ig_cuda_close(gpu);
    return gpu == NULL;
}

TEST(templates) {
    if (!is_skipped()) {
        cuda_check_gemm(run_on_gpu, (int64_t[]){ 70, 35, 67 }, "relu %1");
        cuda_check_gemm(run_on_gpu, (int64_t[]){ 0, 35, 67 }, "relu %1");
        cuda_check_bag(run_on_gpu,
                       (cuda_bag){ 11, 64, 40, 19, "operands = [1], pool = [0]" });
        cuda_check_interaction(run_on_gpu, 3, 27, 64);
    }
}
END_TEST

TEST(a_whole_dlrm) {
    if (!is_skipped()) {
        cuda_check_model(run_on_gpu, "dlrm_onehot", 130);
    }
}
END_TEST

UNIT_SUITE(cuda_device, levels_of_a_gpu, a_gpu_that_is_not_there, templates,
           a_whole_dlrm)
