/* runtime/cuda: templates and a whole DLRM, launched on a GPU where there is one, and
 * everywhere on a driver that has none (tests/cuda_host/driver.cc), against the
 * interpreter of the tensor graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/nvrtc.h"
#include "runtime/cuda/cuda.h"
#include "tests/unit/cuda/cuda_case.h"

#include <dlfcn.h>

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
    ig_nvrtc nvrtc;
    ig_cuda *gpu = NULL;
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
    cuda_case *c;
    ig_cuda *gpu;
    ig_cuda_image image;
    ig_cuda_address buffers[CUDA_CASE_BUFFERS], table, params, report;
} device_case;

#define CHECK_DONE(call)                                                             \
    do {                                                                             \
        ig_status got_status = (call);                                               \
        CHECK_MSG(got_status == IG_OK, "%s: %s", ig_status_name(got_status), words); \
    } while (0)

static const ig_target *target_of(const ig_cuda *gpu) {
    const ig_target *best = NULL;
    int best_rank = 0;
    for (const ig_target *const *target = ig_targets; *target; target++) {
        bool is_gpu = (*target)->family == IG_FAMILY_GPU;
        int rank = is_gpu ? ig_cuda_rank(gpu, (*target)->level) : 0;
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
    CHECK_DONE(ig_cuda_load(d->gpu, ig_writer_str(&cubin).data, &d->image, &message));
}

/* The image of the driver without a GPU is the path of a library. */
static void load_library(device_case *d) {
    cuda_library library = cuda_case_build(d->c);
    CHECK_DONE(ig_cuda_load(d->gpu, library.path, &d->image, &message));
    cuda_library_remove(&library);
}

static void copy_buffers(device_case *d, bool is_in) {
    for (size_t i = 0; i < d->c->roots.count; i++) {
        const ig_kernel_buffer *root = d->c->roots.items[i];
        size_t size = (size_t)root->bytes;
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
        int64_t offset = (const char *)data - (const char *)root->data;
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
    c->target = target_of(d->gpu);
    CHECK_MSG(c->target != NULL, "no level for this GPU");
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

static void run_device(cuda_case *c, void (*load)(device_case *d)) {
    device_case d;
    ig_cuda_report report;
    open_device(&d, c);
    load(&d);
    for (uint32_t i = 0; i < c->launch_count; i++) {
        launch(&d, &c->launches[i]);
    }
    copy_buffers(&d, false);
    CHECK_DONE(ig_cuda_copy_out(d.gpu, &report, d.report, sizeof report, &message));
    CHECK_DONE(ig_cuda_sync(d.gpu, &message));
    c->report = (ig_kernel_report_v0){ report.operand, report.position, report.value };
    close_device(&d);
}

static void run_on_gpu(cuda_case *c) {
    run_device(c, load_cubin);
}

static bool is_skipped(void) {
    ig_cuda *gpu = open_gpu();
    ig_cuda_close(gpu);
    return gpu == NULL;
}

static void check_templates(cuda_run *run) {
    cuda_check_gemm(run, (int64_t[]){ 70, 35, 67 }, "relu %1");
    cuda_check_gemm(run, (int64_t[]){ 0, 35, 67 }, "relu %1");
    cuda_check_bag(run, (cuda_bag){ 11, 64, 40, 19, "operands = [1], pool = [0]" });
    cuda_check_interaction(run, 3, 27, 64);
}

TEST(templates) {
    if (!is_skipped()) {
        check_templates(run_on_gpu);
    }
}
END_TEST

TEST(a_whole_dlrm) {
    if (!is_skipped()) {
        cuda_check_model(run_on_gpu, "dlrm_onehot", 130);
    }
}
END_TEST

/* ---- on the driver without a GPU ---- */

/* A library that is open is found by its soname: from here on this is the driver of
 * this test's process. */
static bool open_driver(void) {
    if (!cuda_has_compiler()) {
        return false;
    }
    cuda_library driver = cuda_library_build("#include \"" INGOT_SOURCE_DIR
                                             "/tests/cuda_host/driver.cc\"\n",
                                             "-Wl,-soname,libcuda.so.1 -ldl");
    void *opened = dlopen(driver.path, RTLD_NOW | RTLD_LOCAL);
    cuda_library_remove(&driver);
    CHECK_MSG(opened != NULL, "%s", dlerror());
    return true;
}

static void run_on_driver(cuda_case *c) {
    run_device(c, load_library);
}

TEST(templates_without_a_gpu) {
    if (open_driver()) {
        check_templates(run_on_driver);
    }
}
END_TEST

TEST(errors_of_the_driver) {
    ig_cuda *gpu = NULL;
    ig_cuda_image image;
    ig_cuda_address address = 0, more = 0;
    if (!open_driver()) {
        return;
    }
    CHECK_STATUS(ig_cuda_open(1, &gpu, &message), IG_UNSUPPORTED);
    CHECK_DONE(ig_cuda_open(0, &gpu, &message));
    CHECK_STATUS(ig_cuda_alloc(gpu, (size_t)1 << 50, &address, &message), IG_LIMIT);
    CHECK(strstr(words, "CUDA error 2") != NULL && address == 0);
    CHECK_DONE(ig_cuda_alloc(gpu, 0, &address, &message));
    CHECK_DONE(ig_cuda_alloc(gpu, 16, &address, &message));
    CHECK_DONE(ig_cuda_alloc(gpu, 16, &more, &message));
    CHECK_DONE(ig_cuda_copy_in(gpu, address, "fifteen letters", 16, &message));
    CHECK_DONE(ig_cuda_copy(gpu, more, address, 16, &message));
    char back[16] = "";
    CHECK_DONE(ig_cuda_copy_out(gpu, back, more, 16, &message));
    CHECK_DONE(ig_cuda_sync(gpu, &message));
    CHECK_TEXT(back, "fifteen letters");
    CHECK_STATUS(ig_cuda_copy_in(gpu, address, back, 17, &message), IG_INTERNAL);
    CHECK_STATUS(ig_cuda_load(gpu, "/no/such/image", &image, &message), IG_INTERNAL);
    ig_cuda_launch launch = { .grid = (int64_t)1 << 40, .threads = 32 };
    CHECK_STATUS(ig_cuda_launch_kernel(gpu, &launch, &message), IG_LIMIT);
    launch.grid = 0;
    CHECK_DONE(ig_cuda_launch_kernel(gpu, &launch, &message));
    ig_cuda_free(gpu, address);
    ig_cuda_free(gpu, more);
    ig_cuda_close(gpu);
}
END_TEST

UNIT_SUITE(cuda_device, levels_of_a_gpu, a_gpu_that_is_not_there, templates,
           a_whole_dlrm, templates_without_a_gpu, errors_of_the_driver)
