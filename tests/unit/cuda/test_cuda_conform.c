/* The GPU's schedules against the conformance cases: in the interpreter of kernel form,
 * with all threads of a block in lockstep and races found, and on a GPU where there is
 * one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter takes one case in SAMPLE (INGOT_FULL=1: all).  A plan with more than
 * launches (branches, loops, steps of the host), and what has no schedule for a GPU
 * yet, is a skip; how many may be is stated, so that no schedule goes missing unseen.
 */
#include "runtime/cuda/cuda.h"
#include "tests/conform/conform.h"
#include "tests/unit/cuda/cuda_gpu.h"

enum { SAMPLE = 4 };

typedef struct way {
    cuda_run *run;
    const char *target;
} way;

static ig_status run_passes(cuda_case *c) {
    const char *const pipelines[] = { ig_pipeline_clean, ig_pipeline_understand,
                                      ig_pipeline_place, ig_pipeline_lower };
    ig_pass_options options = { .target = c->target };
    for (size_t i = 0; i < IG_COUNT_OF(pipelines); i++) {
        IG_TRY(ig_passes_run(c->module, &options, pipelines[i]));
    }
    return IG_OK;
}

static ig_status compute(cuda_case *c, cuda_run *run) {
    IG_TRY(run_passes(c));
    IG_TRY(cuda_case_resolve(c));
    IG_TRY(run(c));
    if (c->report.operand >= 0) {
        snprintf(c->last, sizeof c->last, "a kernel reports operand %d",
                 (int)c->report.operand);
        return IG_INVALID;
    }
    return IG_OK;
}

/* Results of the caller's arena: the case's goes. */
static void keep_results(const cuda_case *c, ig_arena *arena, ig_tensor *out_outputs) {
    for (uint32_t i = 0; i < c->graph->body.last->operand_count; i++) {
        const ig_tensor *got = &c->got[i];
        size_t size = ((size_t)got->count * ig_dtypes[got->dtype].bits + 7) / 8;
        out_outputs[i] = *got;
        out_outputs[i].data = ig_arena_copy(arena, got->data, size);
    }
}

static ig_status lower_and_run(conform *self, const char *text, const ig_tensor *inputs,
                               ig_arena *arena, ig_tensor *out_outputs) {
    const way *how = self->user;
    cuda_case c;
    cuda_case_init(&c, how->target);
    ig_status status = cuda_case_take(&c, text, inputs);
    if (status == IG_OK) {
        status = compute(&c, how->run);
    }
    if (status == IG_OK) {
        keep_results(&c, arena, out_outputs);
    }
    snprintf(self->message, sizeof self->message, "%.500s", c.last);
    cuda_case_close(&c);
    return status;
}

typedef struct file_share {
    const char *name;
    int min; /* percent of its cases that run */
} file_share;

static const file_share files[] = {
    { "binary.txt", 100 },  { "boxes.txt", 100 },    { "bounds.txt", 0 },
    { "cast.txt", 100 },    { "contract.txt", 80 },  { "fbgemm.txt", 100 },
    { "index.txt", 50 },    { "move.txt", 85 },      { "network.txt", 80 },
    { "quantise.txt", 55 }, { "recommend.txt", 40 }, { "small.txt", 0 },
    { "special.txt", 100 }, { "unary.txt", 100 },    { "values.txt", 90 },
};

static conform_totals totals_of(const file_share *file, way *how, int first,
                                int every) {
    conform self = {
        .run = lower_and_run, .user = how, .every = every, .first = first
    };
    char path[512];
    snprintf(path, sizeof path, "%s/tests/conform/cases/%s", INGOT_SOURCE_DIR,
             file->name);
    conform_file(&self, path);
    printf("%s: %d passed, %d failed, %d skipped\n", file->name, self.totals.passed,
           self.totals.failed, self.totals.skipped);
    return self.totals;
}

/* Every kernel has a text, too. */
static ig_status run_in_lockstep(cuda_case *c) {
    return cuda_case_source(c) ? cuda_run_interpreter(c) : IG_INTERNAL;
}

TEST(schedules_conform_in_lockstep) {
    const char *full = getenv("INGOT_FULL");
    way how = { run_in_lockstep, "cuda:sm_80" };
    int every = full && *full == '1' ? 1 : SAMPLE;
    const file_share *file = &files[_i];
    conform_totals totals = totals_of(file, &how, 0, every);
    int ran = totals.passed + totals.failed, all = ran + totals.skipped;
    CHECK_INT(totals.failed, 0);
    CHECK_MSG(100 * ran >= file->min * all, "%d of %d cases of %s ran", ran, all,
              file->name);
}
END_TEST

/* INGOT_GPU_SHARE="I N": of N processes that share the cases this is number I. */
TEST(kernels_conform_on_a_gpu) {
    const char *share = getenv("INGOT_GPU_SHARE");
    int first = 0, every = 1, failed = 0;
    const ig_device *held = NULL; /* so that the context stays from case to case */
    if (!cuda_has_gpu()) {
        return;
    }
    CHECK_OK(ig_cuda_open(0, &held, &(ig_message){ NULL, 0, NULL }));
    way how = { cuda_run_gpu, cuda_gpu_target()->name };
    CHECK(!share || sscanf(share, "%d %d", &first, &every) == 2);
    for (size_t i = 0; i < IG_COUNT_OF(files); i++) {
        failed += totals_of(&files[i], &how, first, every).failed;
    }
    ig_cuda_close(held);
    CHECK_INT(failed, 0);
}
END_TEST

static void add_files(TCase *tcase) {
    tcase_add_loop_test(tcase, schedules_conform_in_lockstep, 0, IG_COUNT_OF(files));
}

UNIT_SUITE_WITH(cuda_conform, add_files, kernels_conform_on_a_gpu)
