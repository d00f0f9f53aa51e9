/* Trainers: in memory and from an artifact the same bits; what is read, set and placed;
 * calls that meet, fail or are wrong change nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/train.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <unistd.h>

UNIT_WITH_LLVM

enum { ROWS = 5, DIM = 2, BATCH = 3, IDS = 4, STEPS = 4, VALUES = 6 };

/* A table that bags read, a weight, and one that nothing reads. */
static const char text[] =
    "module @m {\n"
    "  symbol B {min = 0}\n"
    "  symbol V {min = 0}\n"
    "  weight @t : f32[5, 2] = [1, -1, 0.5, 2, -0.25, 0.75, 3, 0.125, -2, 1]\n"
    "  weight @w : f32[2, 1] = [0.5, -0.75]\n"
    "  weight @idle : f32[2] = [1, 2]\n"
    "  graph @main(%ids: i64[V], %at: i64[B]) -> (f32[B, 1] \"y\", f32[B, 2] \"sums\") {\n"
    "    %0 = bag @t, %ids, %at {operands = [1], pool = [sum], negative = error} : f32[B, 2]\n"
    "    %1 = matmul %0, @w : f32[B, 1]\n"
    "    ret %1, %0\n"
    "  }\n"
    "}\n";

static char why[512];
static int64_t ids[IDS] = { 0, 4, 4, 2 }, at[BATCH] = { 0, 1, 3 };
static float label[BATCH] = { 1, 0, -2 };
static ig_view inputs[3] = {
    { .data = ids, .dtype = IG_I64, .rank = 1, .dims = { IDS } },
    { .data = at, .dtype = IG_I64, .rank = 1, .dims = { BATCH } },
    { .data = label, .dtype = IG_F32, .rank = 2, .dims = { BATCH, 1 } },
};

static const char *const optimizers[] = { "t=rowwise_adagrad(lr=0.25)",
                                          "*=adam(lr=0.125,weight_decay=0.5)" };
static const ig_train_options how = { .size = sizeof how,
                                      .loss = "mse:y=want",
                                      .optimizers = optimizers,
                                      .optimizer_count = 2 };
static const ig_compile_options compile = { .size = sizeof compile };

typedef struct trainer_case {
    ig_context *context;
    ig_module *module;
    ig_program *programs[IG_TRAIN_PARTS];
} trainer_case;

static trainer_case open_case(void) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_import_options import = { .size = sizeof import, .keeps_weights = 1 };
    trainer_case c = { .context = ig_context_create(&options) };
    CHECK_INT(
        ig_import_memory(c.context, text, sizeof text - 1, NULL, &import, &c.module),
        IG_OK);
    return c;
}

static void compile_parts(trainer_case *c) {
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_PARTS; part++) {
        ig_status status = ig_compile_train(c->module, &how, &compile, part,
                                            &c->programs[part]);
        CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c->context));
    }
}

static void close_case(trainer_case *c) {
    for (int part = 0; part < IG_TRAIN_PARTS; part++) {
        ig_program_close(c->programs[part]);
    }
    ig_module_close(c->module);
    ig_context_destroy(c->context);
}

static ig_trainer *create(const trainer_case *c, const ig_trainer_options *options) {
    ig_trainer_options all = { .size = sizeof all };
    ig_trainer *trainer = NULL;
    if (options) {
        all = *options;
    }
    all.message = why;
    all.message_size = sizeof why;
    ig_status status = ig_trainer_create(c->programs, &all, &trainer);
    CHECK_MSG(status == IG_OK, "%s", why);
    return trainer;
}

/* The bytes of all that is trained, in order. */
typedef struct snapshot {
    char bytes[512];
    size_t size;
} snapshot;

static snapshot take_values(const ig_trainer *trainer) {
    snapshot s = { .size = 0 };
    for (size_t i = 0; i < ig_trainer_count(trainer); i++) {
        ig_trained value = ig_trainer_get(trainer, i);
        size_t size = (size_t)ig_view_bytes(&value.view);
        memcpy(s.bytes + s.size, value.view.data, size);
        s.size += size;
    }
    return s;
}

static void check_same(const ig_trainer *trainer, const snapshot *before) {
    snapshot now = take_values(trainer);
    CHECK_INT(now.size, before->size);
    CHECK(memcmp(now.bytes, before->bytes, now.size) == 0);
}

static void train(ig_trainer *trainer, int count, double *out_loss) {
    for (int i = 0; i < count; i++) {
        ig_status status = ig_trainer_step(trainer, inputs, 3, out_loss, NULL);
        CHECK_MSG(status == IG_OK, "%s", ig_trainer_error(trainer));
    }
}

TEST(names_are_those_of_the_model) {
    static const char *const names[] = { "t", "t.momentum1", "w", "w.momentum1",
                                         "w.momentum2" };
    trainer_case c = open_case();
    compile_parts(&c);
    ig_trainer *trainer = create(&c, NULL);
    CHECK_INT(ig_trainer_input_count(trainer), 3);
    CHECK(strcmp(ig_trainer_input(trainer, 2).name, "want") == 0);
    CHECK_INT(ig_trainer_count(trainer), 5);
    for (int i = 0; i < 5; i++) {
        int found = ig_trainer_find(trainer, names[i]);
        CHECK(found >= 0);
        ig_trained value = ig_trainer_get(trainer, (size_t)found);
        CHECK_INT(value.is_state, strstr(names[i], "momentum") != NULL);
        CHECK_INT(value.is_set, 1);
    }
    CHECK_INT(ig_trainer_find(trainer, "idle"), -1);
    CHECK_INT(ig_trainer_group_count(trainer), 2);
    CHECK(ig_trainer_rates(trainer)[0] == 0.25 &&
          ig_trainer_rates(trainer)[1] == 0.125);
    CHECK(ig_trainer_decays(trainer)[0] == 0 && ig_trainer_decays(trainer)[1] == 0.5);
    ig_trained t = ig_trainer_get(trainer, (size_t)ig_trainer_find(trainer, "t"));
    CHECK(((const float *)t.view.data)[7] == 0.125f);
    ig_trainer_close(trainer);
    close_case(&c);
}
END_TEST

TEST(an_artifact_trains_to_the_same_bits) {
    static char path[] = "/tmp/ingot-trainer-XXXXXX.ingot";
    trainer_case c = open_case();
    ig_trainer *opened = NULL;
    ig_trainer_options options = {
        .size = sizeof options, .threads = 3, .message = why, .message_size = sizeof why
    };
    double loss = 0, other = 0;
    CHECK_INT(close(mkstemps(path, 6)), 0);
    CHECK_INT(ig_compile_train_file(c.module, &how, path, &compile), IG_OK);
    ig_status status = ig_trainer_open(path, &options, &opened);
    CHECK_MSG(status == IG_OK, "%s", why);
    compile_parts(&c);
    ig_trainer *made = create(&c, NULL);
    train(made, STEPS, &loss);
    train(opened, STEPS, &other);
    CHECK(loss == other);
    snapshot values = take_values(made);
    check_same(opened, &values);
    CHECK_INT(ig_trainer_step_count(opened), STEPS);
    ig_trainer_close(made);
    ig_trainer_close(opened);
    CHECK_INT(unlink(path), 0);
    close_case(&c);
}
END_TEST

TEST(evaluation_is_the_next_steps_loss) {
    trainer_case c = open_case();
    compile_parts(&c);
    ig_trainer *trainer = create(&c, NULL);
    double given = 0, loss = 0;
    for (int i = 0; i < STEPS; i++) {
        float y[BATCH], sums[BATCH][DIM];
        ig_view output;
        ig_view outputs[2] = { { .data = y, .capacity = sizeof y },
                               { .data = sums, .capacity = sizeof sums } };
        snapshot before = take_values(trainer);
        CHECK_INT(ig_trainer_evaluate(trainer, inputs, 3, &given, NULL), IG_OK);
        CHECK_INT(ig_trainer_predict(trainer, inputs, 2, outputs, 2), IG_OK);
        check_same(trainer, &before);
        CHECK_INT(ig_trainer_step(trainer, inputs, 3, &loss, &output), IG_OK);
        CHECK(given == loss);
        CHECK_INT(output.rank, 2);
        CHECK(memcmp(output.data, y, sizeof y) == 0);
    }
    ig_trainer_close(trainer);
    close_case(&c);
}
END_TEST

TEST(training_goes_on_where_it_was_left) {
    trainer_case c = open_case();
    compile_parts(&c);
    ig_trainer *whole = create(&c, NULL), *first = create(&c, NULL);
    ig_trainer *second = create(&c, NULL);
    double loss = 0, other = 0;
    train(whole, STEPS, &loss);
    train(first, 1, NULL);
    for (size_t i = 0; i < ig_trainer_count(first); i++) {
        ig_trained value = ig_trainer_get(first, i);
        CHECK_INT(ig_trainer_set(second, i, &value.view), IG_OK);
    }
    ig_trainer_set_step_count(second, 1);
    train(second, STEPS - 1, &other);
    CHECK(loss == other);
    snapshot values = take_values(whole);
    check_same(second, &values);
    ig_trainer_close(whole);
    ig_trainer_close(first);
    ig_trainer_close(second);
    close_case(&c);
}
END_TEST

TEST(weights_stand_where_the_caller_says) {
    float w[2] = { 0.5f, -0.75f }, none[3] = { 0 };
    ig_trainer_place place = {
        "w", { .data = w, .dtype = IG_F32, .rank = 2, .dims = { 2, 1 } }
    };
    ig_trainer_options options = { .size = sizeof options,
                                   .places = &place,
                                   .place_count = 1 };
    trainer_case c = open_case();
    compile_parts(&c);
    ig_trainer *placed = create(&c, &options), *own = create(&c, NULL);
    double loss = 0, other = 0;
    train(placed, STEPS, &loss);
    train(own, STEPS, &other);
    CHECK(loss == other);
    snapshot values = take_values(own);
    check_same(placed, &values);
    CHECK(w[0] != 0.5f);
    w[0] = w[1] = 0;
    ig_trainer_changed(placed);
    CHECK_INT(ig_trainer_evaluate(placed, inputs, 3, &loss, NULL), IG_OK);
    CHECK(fabs(loss - (1 + 0 + 4) / 3.0) < 1e-6);
    ig_trainer_close(placed);
    options.message = why;
    options.message_size = sizeof why;
    place.view = (ig_view){ .data = none, .dtype = IG_F32, .rank = 1, .dims = { 3 } };
    CHECK_INT(ig_trainer_create(c.programs, &options, &placed), IG_INVALID);
    CHECK(strstr(why, "'w' has another dtype or other extents"));
    place.name = "idle";
    CHECK_INT(ig_trainer_create(c.programs, &options, &placed), IG_INVALID);
    CHECK(strstr(why, "'idle' is not a weight"));
    ig_trainer_close(own);
    close_case(&c);
}
END_TEST

TEST(a_step_that_fails_changes_nothing) {
    trainer_case c = open_case();
    compile_parts(&c);
    ig_trainer *trainer = create(&c, NULL);
    train(trainer, 1, NULL);
    snapshot before = take_values(trainer);
    static const int64_t wrong[] = { ROWS, -1, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ids[3] = wrong[i];
        CHECK_INT(ig_trainer_step(trainer, inputs, 3, NULL, NULL), IG_INVALID);
        CHECK(ig_trainer_error(trainer)[0]);
        check_same(trainer, &before);
        CHECK_INT(ig_trainer_step_count(trainer), 1);
    }
    ids[3] = 2;
    CHECK_INT(ig_trainer_step(trainer, inputs, 2, NULL, NULL), IG_INVALID);
    check_same(trainer, &before);
    train(trainer, 1, NULL);
    ig_trainer_close(trainer);
    close_case(&c);
}
END_TEST

TEST(nothing_at_all_is_a_batch) {
    trainer_case c = open_case();
    compile_parts(&c);
    ig_trainer *trainer = create(&c, NULL);
    ig_view none[3] = { inputs[0], inputs[1], inputs[2] };
    double loss = 0;
    none[0].dims[0] = none[1].dims[0] = none[2].dims[0] = 0;
    CHECK_INT(ig_trainer_step(trainer, none, 3, &loss, NULL), IG_OK);
    CHECK(isnan(loss)); /* the mean of none */
    ig_trainer_close(trainer);
    close_case(&c);
}
END_TEST

/* A pool whose threads ask for what a step is writing. */
typedef struct meddler {
    ig_trainer *trainer;
    int refused, asked;
} meddler;

static void meddle(void *user, void (*fn)(void *task, int index), void *task, int n) {
    meddler *m = user;
    ig_view outputs[2] = { { 0 } };
    for (int i = 0; i < n; i++) {
        fn(task, i);
    }
    if (m->trainer) {
        m->asked++;
        m->refused +=
            ig_trainer_predict(m->trainer, inputs, 2, outputs, 2) == IG_INVALID &&
            ig_trainer_evaluate(m->trainer, inputs, 3, NULL, NULL) == IG_INVALID &&
            ig_trainer_set(m->trainer, 0, &inputs[0]) == IG_INVALID &&
            ig_trainer_step(m->trainer, inputs, 3, NULL, NULL) == IG_INVALID;
    }
}

/* More than one thread is worth its while. */
enum { MANY = 20000 };

TEST(calls_that_meet_a_step_are_refused) {
    static int64_t many_ids[MANY], many_at[MANY];
    static float many_labels[MANY];
    meddler m = { NULL, 0, 0 };
    ig_view many[3] = { inputs[0], inputs[1], inputs[2] };
    void *const data[3] = { many_ids, many_at, many_labels };
    for (int i = 0; i < 3; i++) {
        many[i].data = data[i];
        many[i].dims[0] = MANY;
    }
    for (int i = 0; i < MANY; i++) {
        many_ids[i] = i % ROWS;
        many_at[i] = i;
    }
    ig_thread_pool *pool = NULL;
    ig_thread_pool_options threads = {
        .size = sizeof threads, .threads = 2, .run = meddle, .run_user = &m
    };
    trainer_case c = open_case();
    CHECK_INT(ig_thread_pool_create(&threads, &pool), IG_OK);
    ig_trainer_options options = { .size = sizeof options, .pool = pool };
    compile_parts(&c);
    ig_trainer *trainer = create(&c, &options);
    m.trainer = trainer;
    CHECK_INT(ig_trainer_step(trainer, many, 3, NULL, NULL), IG_OK);
    m.trainer = NULL;
    CHECK(m.asked > 0);
    CHECK_INT(m.refused, m.asked);
    train(trainer, 1, NULL);
    ig_trainer_close(trainer);
    ig_thread_pool_destroy(pool);
    close_case(&c);
}
END_TEST

TEST(parts_may_come_later_or_not) {
    trainer_case c = open_case();
    compile_parts(&c);
    ig_program *both[IG_TRAIN_PARTS] = { [IG_TRAIN_STEP] = c.programs[IG_TRAIN_STEP],
                                         [IG_TRAIN_INITIAL] =
                                             c.programs[IG_TRAIN_INITIAL] };
    ig_trainer_options options = { .size = sizeof options,
                                   .message = why,
                                   .message_size = sizeof why };
    ig_trainer *trainer = NULL;
    double loss = 0;
    CHECK_INT(ig_trainer_create(both, &options, &trainer), IG_OK);
    CHECK_INT(ig_trainer_evaluate(trainer, inputs, 3, &loss, NULL), IG_INVALID);
    CHECK(strstr(ig_trainer_error(trainer), "without that part"));
    CHECK_INT(ig_trainer_add(trainer, IG_TRAIN_EVALUATE, c.programs[IG_TRAIN_EVALUATE]),
              IG_OK);
    CHECK_INT(ig_trainer_evaluate(trainer, inputs, 3, &loss, NULL), IG_OK);
    CHECK_INT(ig_trainer_add(trainer, IG_TRAIN_EVALUATE, c.programs[IG_TRAIN_EVALUATE]),
              IG_INVALID);
    ig_trainer_close(trainer);
    both[IG_TRAIN_STEP] = c.programs[IG_TRAIN_PREDICT];
    CHECK_INT(ig_trainer_create(both, &options, &trainer), IG_INVALID);
    CHECK(strstr(why, "not a step of training"));
    both[IG_TRAIN_STEP] = NULL;
    CHECK_INT(ig_trainer_create(both, &options, &trainer), IG_INVALID);
    options.size = 0;
    CHECK_INT(ig_trainer_create(c.programs, &options, &trainer), IG_INVALID);
    CHECK_PTR(trainer, NULL);
    close_case(&c);
}
END_TEST

/* ---- gradients of several calls ---- */

static const char layers[] = "module @m {\n"
                             "  symbol B {min = 0}\n"
                             "  weight @w : f32[2, 3] = [1, -1, 0.5, 2, -0.25, 0.75]\n"
                             "  weight @v : f32[3, 1] = [0.5, -0.75, 0.125]\n"
                             "  graph @main(%x: f32[B, 2]) -> (f32[B, 1] \"y\") {\n"
                             "    %0 = matmul %x, @w : f32[B, 3]\n"
                             "    %1 = tanh %0 : f32[B, 3]\n"
                             "    %2 = matmul %1, @v : f32[B, 1]\n"
                             "    ret %2\n"
                             "  }\n"
                             "}\n";

/* Of `count` samples from `first` on. */
static double step_layers(ig_trainer *trainer, int first, int count) {
    enum { MAX = 16 };
    float x[MAX][2], want[MAX];
    double loss;
    for (int i = 0; i < count; i++) {
        int n = first + i;
        x[i][0] = (float)(n * 7 % 11) / 8 - 0.5f;
        x[i][1] = (float)(n * 5 % 13) / 8 - 0.75f;
        want[i] = (float)(n % 3) - 1;
    }
    ig_view in[] = {
        { .data = x, .dtype = IG_F32, .rank = 2, .dims = { count, 2 } },
        { .data = want, .dtype = IG_F32, .rank = 2, .dims = { count, 1 } }
    };
    ig_status status = ig_trainer_step(trainer, in, 2, &loss, NULL);
    CHECK_MSG(status == IG_OK, "%s", ig_trainer_error(trainer));
    return loss;
}

static ig_trainer *open_layers(trainer_case *c, int64_t accumulate) {
    static const char *const rules[] = { "w=adamw(lr=0.05,weight_decay=0.1)",
                                         "v=sgd(lr=0.5,momentum=0.5)" };
    ig_train_options options = { .size = sizeof options,
                                 .loss = "mse:y=want",
                                 .optimizers = rules,
                                 .optimizer_count = 2,
                                 .clip_norm = 0.25,
                                 .accumulate = accumulate };
    ig_context_options context = { .size = sizeof context, .cache_folder = "" };
    ig_import_options import = { .size = sizeof import, .keeps_weights = 1 };
    *c = (trainer_case){ .context = ig_context_create(&context) };
    CHECK_INT(ig_import_memory(c->context, layers, sizeof layers - 1, NULL, &import,
                               &c->module),
              IG_OK);
    for (int part = 0; part < IG_TRAIN_PARTS; part += IG_TRAIN_INITIAL) {
        ig_status status = ig_compile_train(c->module, &options, &compile,
                                            (ig_train_part)part, &c->programs[part]);
        CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c->context));
    }
    return create(c, NULL);
}

static const float *weight_of(const ig_trainer *trainer, const char *name) {
    int found = ig_trainer_find(trainer, name);
    CHECK_MSG(found >= 0, "%s", name);
    return ig_trainer_get(trainer, (size_t)found).view.data;
}

/* Three calls of four samples are one of twelve; weights stay until the third. */
TEST(gradients_of_calls_are_gathered) {
    enum { CALLS = 3, SAMPLES = 4, UPDATES = 5 };
    trainer_case each, whole;
    ig_trainer *gathered = open_layers(&each, CALLS), *at_once = open_layers(&whole, 0);
    for (int i = 0; i < UPDATES; i++) {
        double sum = 0, loss;
        for (int k = 0; k < CALLS; k++) {
            snapshot before;
            memcpy(before.bytes, weight_of(gathered, "w"), 6 * sizeof(float));
            sum += step_layers(gathered, (i * CALLS + k) * SAMPLES, SAMPLES);
            bool is_same = memcmp(before.bytes, weight_of(gathered, "w"),
                                  6 * sizeof(float)) == 0;
            CHECK_INT(is_same, k < CALLS - 1);
        }
        loss = step_layers(at_once, i * CALLS * SAMPLES, CALLS * SAMPLES);
        CHECK(fabs(sum / CALLS - loss) <= 1e-6 * fabs(loss));
        for (int k = 0; k < 6; k++) {
            CHECK(fabsf(weight_of(gathered, "w")[k] - weight_of(at_once, "w")[k]) <=
                  2e-6f);
            CHECK(weight_of(gathered, "w.momentum3")[k] == 0);
        }
        for (int k = 0; k < 3; k++) {
            CHECK(fabsf(weight_of(gathered, "v")[k] - weight_of(at_once, "v")[k]) <=
                  2e-6f);
        }
    }
    CHECK_INT(ig_trainer_find(at_once, "w.momentum3"), -1);
    ig_trainer_close(gathered);
    ig_trainer_close(at_once);
    close_case(&each);
    close_case(&whole);
}
END_TEST

UNIT_SUITE(trainer, names_are_those_of_the_model, an_artifact_trains_to_the_same_bits,
           evaluation_is_the_next_steps_loss, training_goes_on_where_it_was_left,
           weights_stand_where_the_caller_says, a_step_that_fails_changes_nothing,
           nothing_at_all_is_a_batch, calls_that_meet_a_step_are_refused,
           parts_may_come_later_or_not, gradients_of_calls_are_gathered)
