/* runtime/cuda: templates and a whole DLRM, launched on a GPU where there is one,
 * against the interpreter of the tensor graph; what the driver says, on the stand-in.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cuda/cuda.h"
#include "tests/unit/cuda/cuda_gpu.h"

static char words[512];
static const ig_message message = { words, sizeof words, NULL };

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
    CHECK(ig_cuda_level_rank("compute_80", 9, 0) > 0);
    CHECK(ig_cuda_level_rank("compute_90", 12, 0) >
          ig_cuda_level_rank("compute_80", 12, 0));
    CHECK(ig_cuda_level_rank("compute_80", 8, 0) < ig_cuda_level_rank("sm_75", 7, 5));
    CHECK_INT(ig_cuda_level_rank("compute_90", 8, 9), 0);
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

#define CHECK_DONE(call)                                                             \
    do {                                                                             \
        ig_status got_status = (call);                                               \
        CHECK_MSG(got_status == IG_OK, "%s: %s", ig_status_name(got_status), words); \
    } while (0)

/* ---- on a GPU ---- */

TEST(templates) {
    if (cuda_has_gpu()) {
        cuda_check_gemm(cuda_run_gpu, (int64_t[]){ 70, 35, 67 }, "relu %1");
        cuda_check_gemm(cuda_run_gpu, (int64_t[]){ 0, 35, 67 }, "relu %1");
        cuda_check_bag(cuda_run_gpu,
                       (cuda_bag){ 11, 64, 40, 19, "operands = [1], pool = [sum]" });
        cuda_check_interaction(cuda_run_gpu, 3, 27, 64);
    }
}
END_TEST

TEST(a_whole_dlrm) {
    if (cuda_has_gpu()) {
        cuda_check_model(cuda_run_gpu, "dlrm_onehot", 130);
    }
}
END_TEST

/* ---- on the stand-in ---- */

/* What test_devices.c cannot know of a family: the driver's words. */
TEST(errors_of_the_driver) {
    const ig_device *gpu = NULL;
    ig_memory host = ig_memory_host();
    ig_queue *queue = NULL;
    ig_device_code image;
    if (!cuda_open_stand_ins()) {
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
    ig_code_source absent = { .bytes = "no image", .size = 9, .file = -1 };
    ig_device_kernel kernel;
    CHECK_DONE(gpu->verbs->load(gpu, &absent, &image, &message));
    ig_kernel_id id = { "gemm", 0 };
    CHECK_STATUS(gpu->verbs->find(gpu, &image, id, &kernel, &message), IG_INTERNAL);
    CHECK(strstr(words, "kernel 'gemm' of the GPU: ") != NULL);
    gpu->verbs->unload(gpu, &image);
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
           a_whole_dlrm, errors_of_the_driver)
