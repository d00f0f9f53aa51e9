/* Memory of a step: none that grows with the tables, and none that is had in steady
 * state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/train.h"
#include "tests/unit/unit.h"

#include <malloc.h>

UNIT_WITH_LLVM

enum { DIM = 16, BATCH = 64, IDS = 128, INPUTS = 32 };

static const char graph[] =
    "  weight @w : f32[16, 32] = splat(0.0625) {parameter}\n"
    "  weight @v : f32[32, 1] = splat(-0.125) {parameter}\n"
    "  graph @main(%ids: i64[128], %offsets: i64[65]) -> (f32[64, 1] \"y\") {\n"
    "    %0 = bag @t, %ids, %offsets {operands = [1], pool = [sum], last = [offset], "
    "negative = error} : f32[64, 16]\n"
    "    %1 = matmul %0, @w : f32[64, 32]\n"
    "    %2 = tanh %1 : f32[64, 32]\n"
    "    %3 = matmul %2, @v : f32[64, 1]\n"
    "    ret %3\n"
    "  }\n"
    "}\n";

static const char *const optimizers[] = { "t=adam(lr=0.01)", "*=adamw(lr=0.01)" };
static const ig_train_options how = { .size = sizeof how,
                                      .loss = "bce_logits:y=label",
                                      .optimizers = optimizers,
                                      .optimizer_count = 2 };

static ig_module *open_model(ig_context *context, int64_t rows) {
    char text[2048];
    ig_module *module = NULL;
    ig_import_options import = { .size = sizeof import, .keeps_weights = 1 };
    snprintf(text, sizeof text,
             "module @m {\n  weight @t : f32[%lld, 16] = splat(0.5) {parameter}\n%s",
             (long long)rows, graph);
    ig_status status = ig_import_memory(context, text, strlen(text), NULL, &import,
                                        &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    return module;
}

typedef struct batch {
    int64_t ids[IDS], offsets[BATCH + 1], step;
    float label[BATCH];
    double numbers[2];
} batch;

static void draw_batch(batch *b) {
    *b = (batch){ .step = 1, .numbers = { 0.01, 0.01 } };
    for (int i = 0; i < IDS; i++) {
        b->ids[i] = i * 37 % 100;
    }
    for (int i = 0; i < BATCH; i++) {
        b->offsets[i + 1] = 2 * (i + 1);
        b->label[i] = (float)(i % 2);
    }
}

/* Its own memory where the batch has none; *out_memory is free()d. */
static ig_view view_of(batch *b, ig_port port, void **out_memory) {
    ig_view view = { .dtype = (int32_t)port.dtype, .rank = port.rank };
    const struct {
        const char *name;
        void *data;
    } given[] = { { "ids", b->ids },       { "offsets", b->offsets },
                  { "label", b->label },   { "step", &b->step },
                  { "rates", b->numbers }, { "decays", b->numbers } };
    memcpy(view.dims, port.dims, sizeof view.dims);
    for (size_t i = 0; i < IG_COUNT_OF(given); i++) {
        view.data = strcmp(given[i].name, port.name) == 0 ? given[i].data : view.data;
    }
    *out_memory = NULL;
    if (!view.data) {
        *out_memory = view.data = calloc(1, (size_t)ig_view_bytes(&view) + 64);
        CHECK(view.data);
    }
    return view;
}

/* Bytes that the session of a step holds beside weights and states. */
static size_t memory_of_step(int64_t rows) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    ig_module *module = open_model(context, rows);
    ig_program *program = NULL;
    ig_session *session = NULL;
    ig_view in[INPUTS] = { { 0 } }, out[INPUTS] = { { 0 } };
    void *memory[INPUTS] = { NULL };
    batch b;
    draw_batch(&b);
    ig_status status = ig_compile_train(module, &how, NULL, IG_TRAIN_STEP, &program);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    size_t inputs = ig_program_input_count(program);
    size_t outputs = ig_program_output_count(program);
    CHECK(inputs <= INPUTS && outputs <= INPUTS);
    for (size_t i = 0; i < inputs; i++) {
        in[i] = view_of(&b, ig_program_input(program, i), &memory[i]);
    }
    CHECK_OK(ig_session_create(program, NULL, &session));
    status = ig_session_run(session, in, inputs, out, outputs);
    CHECK_MSG(status == IG_OK, "%s", ig_session_error(session));
    size_t held = ig_session_memory(session);
    ig_session_destroy(session);
    for (size_t i = 0; i < inputs; i++) {
        free(memory[i]);
    }
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
    return held;
}

/* A table is copied nowhere, and no gradient of all its rows is made. */
TEST(memory_does_not_grow_with_the_rows) {
    size_t few = memory_of_step(100), many = memory_of_step(100000);
    size_t table = (size_t)100000 * DIM * sizeof(float);
    CHECK_MSG(many <= few + 4096, "%zu bytes for 100 rows, %zu for 100,000", few, many);
    CHECK_MSG(many < table / 20, "%zu bytes beside a table of %zu", many, table);
}
END_TEST

TEST(steady_state_allocates_nothing) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    ig_module *module = open_model(context, 1000);
    ig_program *parts[IG_TRAIN_PARTS] = { NULL };
    ig_trainer_options with = { .size = sizeof with };
    ig_trainer *trainer = NULL;
    batch b;
    void *memory;
    draw_batch(&b);
    for (int part = 0; part < IG_TRAIN_PARTS; part++) {
        ig_status status = ig_compile_train(module, &how, NULL, (ig_train_part)part,
                                            &parts[part]);
        CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    }
    CHECK_OK(ig_trainer_create(parts, &with, &trainer));
    ig_view in[3];
    for (size_t i = 0; i < IG_COUNT_OF(in); i++) {
        in[i] = view_of(&b, ig_trainer_input(trainer, i), &memory);
    }
    size_t held = 0;
    double loss;
    for (int i = 0; i < 200; i++) {
        CHECK_OK(ig_trainer_step(trainer, in, 3, &loss, NULL));
        if (i % 10 == 9) {
            CHECK_OK(ig_trainer_evaluate(trainer, in, 3, &loss, NULL));
        }
        held = i == 20 ? mallinfo2().uordblks : held;
    }
    size_t end = mallinfo2().uordblks;
    CHECK_MSG(end == held, "%zu bytes were had, then %zu", held, end);
    ig_trainer_close(trainer);
    for (int part = 0; part < IG_TRAIN_PARTS; part++) {
        ig_program_close(parts[part]);
    }
    ig_module_close(module);
    ig_context_destroy(context);
}
END_TEST

UNIT_SUITE(trainer_memory, memory_does_not_grow_with_the_rows,
           steady_state_allocates_nothing)
