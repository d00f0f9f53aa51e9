/* Tables in stores: a model whose rows are fetched answers as the one that has them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/dynamic.h"
#include "ingot/runtime.h"
#include "ingot/stored.h"
#include "tests/unit/store/redis_server.h"
#include "tests/unit/unit.h"

#include <unistd.h>

UNIT_WITH_LLVM

/* Of the 1,000 rows of users and 600 of items a tenth fits. */
enum { USERS = 1000, ITEMS = 600, DIM = 4, BATCH = 8, BAGS = 3, STEPS = 60 };
enum { INPUTS = 3, TABLES = 2, LOOKUPS = 3 };

/* users are looked up twice: by a column of ids that the program picks and adds to, and
 * pooled; items by ids of 32 bits. */
static const char graph[] =
    "  symbol B {min = 0}\n"
    "  symbol V {min = 0}\n"
    "  graph @main(%dense: f32[B, 4], %ids: i64[B, 2], %many: i64[V]) -> (f32[B, 4] "
    "\"y\", f32[3, 4] \"pooled\") {\n"
    "    %0 = slice %ids {starts = [0, 1], sizes = [B, 1]} : i64[B, 1]\n"
    "    %1 = reshape %0 {to = [B]} : i64[B]\n"
    "    %2 = const {value = 1} : i64[]\n"
    "    %3 = add %1, %2 : i64[B]\n"
    "    %4 = gather @ebc.users.weight, %3 {axis = 0} : f32[B, 4]\n"
    "    %5 = slice %ids {starts = [0, 0], sizes = [B, 1]} : i64[B, 1]\n"
    "    %6 = reshape %5 {to = [B]} : i64[B]\n"
    "    %7 = cast %6 {to = i32} : i32[B]\n"
    "    %8 = gather @ebc.items.weight, %7 {axis = 0} : f32[B, 4]\n"
    "    %9 = mul %4, %8 : f32[B, 4]\n"
    "    %10 = add %9, %dense : f32[B, 4]\n"
    "    %11 = const {value = [0, 3, 3]} : i64[3]\n"
    "    %12 = bag @ebc.users.weight, %many, %11 {operands = [1], pool = [mean]} : "
    "f32[3, 4]\n"
    "    ret %10, %12\n"
    "  }\n"
    "}\n";

static char why[512];
static ig_store_call call = { .size = sizeof call,
                              .message = why,
                              .message_size = sizeof why };

static float value_of(int table, int64_t row, int column) {
    return (float)((row * 37 + column * 11 + table * 5) % 1009) / 64.0f - 7.0f;
}

static void put_table(FILE *out, const char *name, int table, int rows) {
    (void)fprintf(out, "  weight @ebc.%s.weight : f32[%d, 4] = [", name, rows);
    for (int i = 0; i < rows * DIM; i++) {
        (void)fprintf(out, "%s%.9g", i ? ", " : "",
                      (double)value_of(table, i / DIM, i % DIM));
    }
    (void)fputs("]\n", out);
}

/* free() it. */
static char *model_text(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out);
    (void)fputs("module @m {\n", out);
    put_table(out, "users", 0, USERS);
    put_table(out, "items", 1, ITEMS);
    (void)fputs(graph, out);
    (void)fclose(out);
    return text;
}

typedef struct stored_case {
    ig_context *context;
    char *text;
    ig_module *module, *ids_module;
    const ig_stored *stored;
    ig_program *programs[3]; /* whole, ids, stored */
    ig_session *sessions[3];
    ig_dynamic *tables[TABLES];
} stored_case;

static ig_module *import(stored_case *c) {
    ig_module *module = NULL;
    ig_status status = ig_import_memory(c->context, c->text, strlen(c->text), NULL,
                                        NULL, &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c->context));
    return module;
}

static void compile(stored_case *c, ig_module *module, int which) {
    CHECK_MSG(ig_compile(module, NULL, &c->programs[which]) == IG_OK, "%s",
              ig_context_messages(c->context));
    CHECK_INT(ig_session_create(c->programs[which], NULL, &c->sessions[which]), IG_OK);
}

static stored_case open_case(void) {
    static const char *const names[] = { "users", "ebc.items.weight" };
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    stored_case c = { .context = ig_context_create(&options), .text = model_text() };
    c.module = import(&c);
    compile(&c, c.module, 0);
    ig_status status = ig_module_store(c.module, names, TABLES, NULL, &c.ids_module,
                                       &c.stored);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c.context));
    compile(&c, c.ids_module, 1);
    compile(&c, c.module, 2);
    return c;
}

static void close_case(stored_case *c) {
    for (int i = 0; i < 3; i++) {
        ig_session_destroy(c->sessions[i]);
        ig_program_close(c->programs[i]);
    }
    ig_module_close(c->ids_module);
    ig_module_close(c->module);
    ig_context_destroy(c->context);
    free(c->text);
}

/* ---- a store with the tables, and a tenth of each in memory ---- */

static void push_table(ig_store *store, int table, const ig_stored_table *what) {
    int64_t column = 0;
    uint32_t state = 0;
    uint64_t offsets[] = { 0, DIM * sizeof(float) };
    for (int64_t row = 0; row < what->rows; row++) {
        float values[DIM];
        for (int i = 0; i < DIM; i++) {
            values[i] = value_of(table, row, i);
        }
        ig_store_cells cells = { .size = sizeof cells,
                                 .table = what->name,
                                 .ids = &row,
                                 .id_count = 1,
                                 .columns = &column,
                                 .column_count = 1,
                                 .states = &state,
                                 .state_count = 1 };
        CHECK_MSG(ig_store_push(store, &call, &cells, values, offsets) == IG_OK, "%s",
                  why);
    }
}

static void open_tables(stored_case *c, ig_store *store) {
    for (int t = 0; t < TABLES; t++) {
        const ig_stored_table *what = &c->stored->tables[t];
        ig_dynamic_options options = { .size = sizeof options,
                                       .name = what->name,
                                       .row_count = what->rows / 10,
                                       .row_bytes = (size_t)what->dim * sizeof(float),
                                       .is_read_only = 1 };
        push_table(store, t, what);
        CHECK_MSG(ig_dynamic_create(store, &options, &call, &c->tables[t]) == IG_OK,
                  "%s", why);
    }
}

/* ---- calls ---- */

typedef struct batch {
    float dense[BATCH * 4];
    int64_t ids[BATCH * 2], many[7];
    ig_view in[INPUTS];
} batch;

static void make_batch(batch *b, int step) {
    uint64_t draw = (uint64_t)step * 7919 + 17;
    for (int i = 0; i < BATCH * 4; i++) {
        b->dense[i] = (float)(i + step) / 8.0f;
    }
    for (int i = 0; i < BATCH * 2 + 7; i++) {
        draw = draw * 6364136223846793005ULL + 1442695040888963407ULL;
        int64_t id = (int64_t)(draw >> 33);
        if (i >= BATCH * 2) {
            b->many[i - BATCH * 2] = id % USERS;
        } else {
            b->ids[i] = id % (i % 2 ? USERS - 1 : ITEMS);
        }
    }
    b->ids[1] = -3; /* wraps: two from the end */
    b->in[0] =
        (ig_view){ .data = b->dense, .dtype = IG_F32, .rank = 2, .dims = { BATCH, 4 } };
    b->in[1] =
        (ig_view){ .data = b->ids, .dtype = IG_I64, .rank = 2, .dims = { BATCH, 2 } };
    b->in[2] = (ig_view){ .data = b->many, .dtype = IG_I64, .rank = 1, .dims = { 7 } };
}

static void run(stored_case *c, int which, const ig_view *in, size_t count,
                ig_view *out, size_t out_count) {
    CHECK_MSG(ig_session_run(c->sessions[which], in, count, out, out_count) == IG_OK,
              "%s", ig_session_error(c->sessions[which]));
}

/* Rows of the ids of one look-up, as positions of its type. */
static void find_rows(stored_case *c, size_t lookup, uint32_t time, const ig_view *ids,
                      void *out) {
    const ig_stored_lookup *how = &c->stored->lookups[lookup];
    int64_t rows[BATCH], wanted[BATCH], size = c->stored->tables[how->table].rows;
    size_t count = (size_t)ids->dims[0];
    CHECK(count <= BATCH && how->negative == IG_STORED_WRAP);
    for (size_t i = 0; i < count; i++) {
        wanted[i] = ids->dtype == IG_I32 ? ((const int32_t *)ids->data)[i]
                                         : ((const int64_t *)ids->data)[i];
        wanted[i] += wanted[i] < 0 ? size : 0;
    }
    CHECK_MSG(ig_dynamic_fetch(c->tables[how->table], &call, time, wanted, count,
                               rows) == IG_OK,
              "%s", why);
    for (size_t i = 0; i < count; i++) {
        if (ids->dtype == IG_I32) {
            ((int32_t *)out)[i] = (int32_t)rows[i];
        } else {
            ((int64_t *)out)[i] = rows[i];
        }
    }
}

static void run_stored(stored_case *c, const batch *b, uint32_t time, ig_view *out) {
    int64_t positions[LOOKUPS][BATCH];
    ig_view ids[LOOKUPS] = { { 0 } }, in[INPUTS + TABLES + LOOKUPS];
    run(c, 1, b->in, INPUTS, ids, LOOKUPS);
    memcpy(in, b->in, sizeof b->in);
    for (size_t i = 0; i < LOOKUPS; i++) {
        ig_view *at = &in[INPUTS + TABLES + i];
        find_rows(c, i, time, &ids[i], positions[i]);
        *at = ids[i];
        at->data = positions[i];
        at->capacity = 0;
    }
    for (int t = 0; t < TABLES; t++) {
        const ig_stored_table *what = &c->stored->tables[t];
        in[INPUTS + t] = (ig_view){ .data = ig_dynamic_data(c->tables[t], 0),
                                    .dtype = IG_F32,
                                    .rank = 2,
                                    .dims = { what->rows / 10, what->dim } };
    }
    run(c, 2, in, INPUTS + TABLES + LOOKUPS, out, 2);
    for (int t = 0; t < TABLES; t++) {
        ig_dynamic_release(c->tables[t], time);
    }
}

static void compare_over(const char *url) {
    ig_store *store = NULL;
    ig_status status = ig_store_open(url, &call, &store);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    stored_case c = open_case();
    CHECK_INT(c.stored->input_count, INPUTS);
    CHECK_INT(c.stored->lookup_count, LOOKUPS);
    open_tables(&c, store);
    for (int step = 0; step < STEPS; step++) {
        batch b;
        ig_view whole[2] = { { 0 } }, out[2] = { { 0 } };
        make_batch(&b, step);
        run(&c, 0, b.in, INPUTS, whole, 2);
        run_stored(&c, &b, (uint32_t)step + 1, out);
        for (int i = 0; i < 2; i++) {
            size_t bytes = (size_t)ig_view_bytes(&whole[i]);
            CHECK_INT((size_t)ig_view_bytes(&out[i]), bytes);
            CHECK_MSG(memcmp(whole[i].data, out[i].data, bytes) == 0,
                      "step %d, output %d", step, i);
        }
    }
    for (int t = 0; t < TABLES; t++) {
        CHECK(ig_dynamic_describe(c.tables[t]).fetched > (uint64_t)USERS / 10);
        ig_dynamic_destroy(c.tables[t]);
    }
    ig_store_close(store);
    close_case(&c);
}

TEST(a_tenth_of_the_tables_in_memory_answers_as_all_of_them) {
    compare_over("memory://");
    compare_over("tiered://500/memory://");
}

TEST(so_it_does_over_lmdb) {
    char file[] = "/tmp/ingot-stored-XXXXXX", url[96], lock[96];
    int made = mkstemp(file);
    CHECK(made >= 0);
    (void)close(made);
    (void)snprintf(url, sizeof url, "lmdb://%s?sync=no", file);
    (void)snprintf(lock, sizeof lock, "%s-lock", file);
    compare_over(url);
    (void)unlink(file);
    (void)unlink(lock);
}

TEST(and_over_redis) {
    redis_server server = { 0 };
    if (redis_server_start(&server, NULL, NULL)) {
        compare_over(server.url);
        redis_server_end(&server);
    }
}

/* ---- what is refused ---- */

static void refuse(const char *text, const char *name, const char *words) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    ig_module *module = NULL, *ids = NULL;
    const ig_stored *stored = NULL;
    CHECK_MSG(ig_import_memory(context, text, strlen(text), NULL, NULL, &module) ==
                  IG_OK,
              "%s", ig_context_messages(context));
    CHECK(ig_module_store(module, &name, 1, NULL, &ids, &stored) != IG_OK);
    CHECK(!ids && !stored);
    CHECK_MSG(strstr(ig_context_messages(context), words), "%s",
              ig_context_messages(context));
    ig_module_close(module);
    ig_context_destroy(context);
}

#define TABLE "module @m {\nweight @t : f32[4, 2] = [1, 2, 3, 4, 5, 6, 7, 8]\n"

TEST(what_cannot_lie_in_a_store_is_refused_in_words) {
    static const char plain[] = TABLE
        "graph @main(%i: i64[3]) {\n%0 = gather @t, %i {axis = 0}\nret %0\n}\n}\n";
    static const char twice[] = TABLE
        "graph @main(%i: i64[3]) {\n%0 = gather @t, %i {axis = 0}\nret %0, @t\n}\n}\n";
    refuse(plain, "users",
           "'users' cannot be in a store: the model looks up no weight");
    refuse(twice, "t", "other ops than look-ups at the top of the graph use it");
    refuse(plain, "u*", "'u*' cannot be in a store: the model looks up no weight that");
}

UNIT_SUITE(stored_module, a_tenth_of_the_tables_in_memory_answers_as_all_of_them,
           so_it_does_over_lmdb, and_over_redis,
           what_cannot_lie_in_a_store_is_refused_in_words)
