/* Training a table whose rows are in a store, of which a tenth fits in memory, is bit
 * for bit training over all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/dynamic.h"
#include "ingot/runtime.h"
#include "ingot/stored.h"
#include "ingot/train.h"
#include "tests/unit/unit.h"

UNIT_WITH_LLVM

enum { ROWS = 1000, ROOM = 100, DIM = 4, BATCH = 8, LENGTH = 3, STEPS = 40, AHEAD = 2 };
enum { STATES = 3 }; /* the weight, and two of an optimizer */

static const char graph[] =
    "  weight @w : f32[4, 1] = [0.5, -0.25, 0.125, 1] {parameter}\n"
    "  graph @main(%ids: i64[24], %offsets: i64[9]) -> (f32[8, 1] \"y\") {\n"
    "    %0 = bag @t, %ids, %offsets {operands = [1], pool = [mean], last = [offset], "
    "negative = error} : f32[8, 4]\n"
    "    %1 = tanh %0 : f32[8, 4]\n"
    "    %2 = matmul %1, @w : f32[8, 1]\n"
    "    ret %2\n"
    "  }\n"
    "}\n";

static char why[512];
static ig_store_call call = { .size = sizeof call,
                              .message = why,
                              .message_size = sizeof why };

static float value_of(int64_t row, int column) {
    return (float)((row * 37 + column * 11) % 1009) / 512.0f - 1.0f;
}

static void fill_row(void *user, int64_t id, void *weight) {
    (void)user;
    for (int i = 0; i < DIM; i++) {
        ((float *)weight)[i] = value_of(id, i);
    }
}

static char *model_text(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out);
    (void)fprintf(out, "module @m {\n  weight @t : f32[%d, %d] = [", ROWS, DIM);
    for (int i = 0; i < ROWS * DIM; i++) {
        (void)fprintf(out, "%s%.9g", i ? ", " : "", (double)value_of(i / DIM, i % DIM));
    }
    (void)fprintf(out, "] {parameter}\n%s", graph);
    (void)fclose(out);
    return text;
}

/* ---- trainers ---- */

typedef struct side {
    ig_context *context;
    ig_module *module, *ids_module;
    ig_program *parts[IG_TRAIN_PARTS], *ids;
    ig_session *session; /* of ids */
    ig_trainer *trainer;
    ig_store *store;
    ig_dynamic *table;
    double losses[STEPS];
} side;

static void open_module(side *s, const char *text) {
    ig_context_options options = { .size = sizeof options,
                                   .cache_folder = INGOT_BINARY_DIR "/train-cache" };
    ig_import_options import = { .size = sizeof import, .keeps_weights = 1 };
    *s = (side){ .context = ig_context_create(&options) };
    ig_status status = ig_import_memory(s->context, text, strlen(text), NULL, &import,
                                        &s->module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(s->context));
}

static void compile_parts(side *s, const char *table, const char *rule) {
    char text[128];
    const char *const optimizers[] = { text, "w=sgd(lr=0.05)" };
    snprintf(text, sizeof text, "%s=%s", table, rule);
    ig_train_options how = { .size = sizeof how,
                             .loss = "bce_logits:y=label",
                             .optimizers = optimizers,
                             .optimizer_count = 2 };
    for (int part = IG_TRAIN_STEP; part < IG_TRAIN_PARTS; part += IG_TRAIN_INITIAL) {
        ig_status status = ig_compile_train(s->module, &how, NULL, (ig_train_part)part,
                                            &s->parts[part]);
        CHECK_MSG(status == IG_OK, "%s: %s", rule, ig_context_messages(s->context));
    }
}

static void create_trainer(side *s, const ig_trainer_place *places, size_t count) {
    ig_trainer_options options = { .size = sizeof options,
                                   .message = why,
                                   .message_size = sizeof why,
                                   .places = places,
                                   .place_count = count };
    CHECK_MSG(ig_trainer_create(s->parts, &options, &s->trainer) == IG_OK, "%s", why);
}

/* Numbers of a row of each state that the step of the whole table has. */
static uint32_t list_states(const side *whole, int64_t widths[STATES]) {
    static const char *const names[] = { "t", "t.momentum1", "t.momentum2" };
    uint32_t count = 0;
    for (int i = 0; i < STATES; i++) {
        int found = ig_trainer_find(whole->trainer, names[i]);
        widths[i] = found < 0
                        ? 0
                        : ig_trainer_get(whole->trainer, (size_t)found).view.dims[1];
        count += found >= 0;
    }
    return count;
}

/* Rows of weight and states are the dynamic table's. */
static void open_table(side *s, const int64_t widths[STATES], uint32_t states) {
    static const char *const names[] = { "t.rows", "t.rows.momentum1",
                                         "t.rows.momentum2" };
    ig_trainer_place places[STATES];
    size_t bytes[STATES];
    for (int i = 0; i < STATES; i++) {
        bytes[i] = (size_t)widths[i] * sizeof(float);
    }
    ig_dynamic_options options = { .size = sizeof options,
                                   .name = "t",
                                   .row_count = ROOM,
                                   .row_bytes = DIM * sizeof(float),
                                   .state_count = states,
                                   .state_bytes = bytes,
                                   .fill = fill_row };
    CHECK_MSG(ig_store_open("memory://", &call, &s->store) == IG_OK, "%s", why);
    CHECK_MSG(ig_dynamic_create(s->store, &options, &call, &s->table) == IG_OK, "%s",
              why);
    for (uint32_t i = 0; i < states; i++) {
        places[i] = (ig_trainer_place){ .name = names[i] };
        places[i].view = (ig_view){ .data = ig_dynamic_data(s->table, i),
                                    .dtype = IG_F32,
                                    .rank = 2,
                                    .dims = { ROOM, widths[i] } };
    }
    create_trainer(s, places, states);
}

static void open_stored(side *s, const char *text, const char *rule,
                        const side *whole) {
    static const char *const names[] = { "t" };
    const ig_stored *stored;
    int64_t widths[STATES];
    uint32_t states = list_states(whole, widths);
    open_module(s, text);
    ig_status status = ig_module_store(s->module, names, 1, NULL, &s->ids_module,
                                       &stored);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(s->context));
    status = ig_compile(s->ids_module, NULL, &s->ids);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(s->context));
    CHECK_OK(ig_session_create(s->ids, NULL, &s->session));
    compile_parts(s, "t.rows", rule);
    open_table(s, widths, states);
}

static void close_side(side *s) {
    ig_trainer_close(s->trainer);
    ig_session_destroy(s->session);
    ig_program_close(s->ids);
    for (int part = 0; part < IG_TRAIN_PARTS; part++) {
        ig_program_close(s->parts[part]);
    }
    ig_dynamic_destroy(s->table);
    ig_store_close(s->store);
    ig_module_close(s->ids_module);
    ig_module_close(s->module);
    ig_context_destroy(s->context);
}

/* ---- batches ---- */

typedef struct batch {
    int64_t ids[BATCH * LENGTH], offsets[BATCH + 1], rows[BATCH * LENGTH];
    float label[BATCH];
    ig_view in[4]; /* ids, offsets, positions, label */
} batch;

/* Some ids come in every batch, some twice in one. */
static void draw_batch(batch *b, int step) {
    uint64_t state = (uint64_t)step * 7919 + 17;
    for (int i = 0; i < BATCH * LENGTH; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        int64_t id = (int64_t)(state >> 33);
        b->ids[i] = i % 4 == 0 ? id % 5 : id % ROWS;
    }
    for (int i = 0; i <= BATCH; i++) {
        b->offsets[i] = i == 0 ? 0 : i * LENGTH - (i % 3 == 1 && i < BATCH);
    }
    for (int i = 0; i < BATCH; i++) {
        b->label[i] = (float)((step + i) % 2);
    }
    b->in[0] = (ig_view){ .data = b->ids, .dtype = IG_I64, .rank = 1 };
    b->in[0].dims[0] = BATCH * LENGTH;
    b->in[1] = (ig_view){ .data = b->offsets, .dtype = IG_I64, .rank = 1 };
    b->in[1].dims[0] = BATCH + 1;
    b->in[2] = b->in[0];
    b->in[2].data = b->rows;
    b->in[3] = (ig_view){ .data = b->label, .dtype = IG_F32, .rank = 2 };
    b->in[3].dims[0] = BATCH;
    b->in[3].dims[1] = 1;
}

static void train_whole(side *s) {
    for (int i = 0; i < STEPS; i++) {
        batch b;
        draw_batch(&b, i);
        ig_view in[] = { b.in[0], b.in[1], b.in[3] };
        ig_status status = ig_trainer_step(s->trainer, in, 3, &s->losses[i], NULL);
        CHECK_MSG(status == IG_OK, "%s", ig_trainer_error(s->trainer));
    }
}

/* Rows of the ids that the model looks up, by the program that computes these. */
static void fetch_batch(side *s, batch *b, int step) {
    int64_t ids[BATCH * LENGTH];
    ig_view out = { .data = ids, .capacity = sizeof ids };
    draw_batch(b, step);
    CHECK_MSG(ig_session_run(s->session, b->in, ig_program_input_count(s->ids), &out,
                             1) == IG_OK,
              "%s", ig_session_error(s->session));
    ig_status status = ig_dynamic_fetch(s->table, &call, (uint32_t)step + 1, out.data,
                                        BATCH * LENGTH, b->rows);
    CHECK_MSG(status == IG_OK, "%s", why);
}

/* Batches are fetched ahead; a step releases its own. */
static void train_stored(side *s) {
    batch *all = calloc(STEPS, sizeof *all);
    CHECK(all);
    for (int i = 0; i < STEPS + AHEAD; i++) {
        int own = i - AHEAD;
        if (i < STEPS) {
            fetch_batch(s, &all[i], i);
        }
        if (own < 0) {
            continue;
        }
        ig_status status = ig_trainer_step(s->trainer, all[own].in, 4, &s->losses[own],
                                           NULL);
        CHECK_MSG(status == IG_OK, "%s", ig_trainer_error(s->trainer));
        ig_dynamic_release(s->table, (uint32_t)own + 1);
    }
    CHECK_MSG(ig_dynamic_save(s->table, &call) == IG_OK, "%s", why);
    free(all);
}

/* ---- comparing ---- */

static void check_rows(side *whole, side *stored, const int64_t widths[STATES],
                       uint32_t states) {
    static const char *const names[] = { "t", "t.momentum1", "t.momentum2" };
    for (int64_t first = 0; first < ROWS; first += ROOM) {
        int64_t ids[ROOM], rows[ROOM];
        uint32_t time = (uint32_t)(STEPS + 1 + first / ROOM);
        for (int64_t i = 0; i < ROOM; i++) {
            ids[i] = first + i;
        }
        ig_status status = ig_dynamic_fetch(stored->table, &call, time, ids, ROOM,
                                            rows);
        CHECK_MSG(status == IG_OK, "%s", why);
        for (uint32_t k = 0; k < states; k++) {
            int found = ig_trainer_find(whole->trainer, names[k]);
            const float *all = ig_trainer_get(whole->trainer, (size_t)found).view.data;
            const float *own = ig_dynamic_data(stored->table, k);
            size_t bytes = (size_t)widths[k] * sizeof(float);
            for (int64_t i = 0; i < ROOM; i++) {
                CHECK_MSG(memcmp(own + rows[i] * widths[k], all + ids[i] * widths[k],
                                 bytes) == 0,
                          "row %lld of %s differs", (long long)ids[i], names[k]);
            }
        }
        ig_dynamic_release(stored->table, time);
    }
}

TEST(a_tenth_of_the_rows_trains_to_the_same_bits) {
    static const char *const rules[] = {
        "sgd(lr=0.5)",
        "adagrad(lr=0.125,eps=0.0001)",
        "rowwise_adagrad(lr=0.125,eps=0.0001)",
        "adam(lr=0.01)",
        "partial_rowwise_adam(lr=0.01)",
        "lamb(lr=0.01)",
        "partial_rowwise_lamb(lr=0.01)",
        "lars(lr=0.01,momentum=0.5)",
    };
    char *text = model_text();
    for (size_t i = 0; i < IG_COUNT_OF(rules); i++) {
        side whole, stored;
        int64_t widths[STATES];
        open_module(&whole, text);
        compile_parts(&whole, "t", rules[i]);
        create_trainer(&whole, NULL, 0);
        open_stored(&stored, text, rules[i], &whole);
        uint32_t states = list_states(&whole, widths);
        train_whole(&whole);
        train_stored(&stored);
        CHECK(memcmp(whole.losses, stored.losses, sizeof whole.losses) == 0);
        check_rows(&whole, &stored, widths, states);
        CHECK(ig_dynamic_describe(stored.table).written > ROOM);
        close_side(&whole);
        close_side(&stored);
    }
    free(text);
}
END_TEST

UNIT_SUITE(stored_train, a_tenth_of_the_rows_trains_to_the_same_bits)
