/* Artifacts whose tables lie in stores: they answer as the model that has its tables,
 * batches overlap, and what a store does not give is said or made up for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/lookahead.h"
#include "ingot/stored.h"
#include "tests/unit/store/redis_server.h"
#include "tests/unit/unit.h"
#include "tests/unit/watch.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

UNIT_WITH_LLVM

enum { USERS = 1000, ITEMS = 600, DIM = 4, BATCH = 8, MANY = 7, STEPS = 60, DEPTH = 3 };
enum { INPUTS = 2, OUTPUTS = 3, AHEAD = DEPTH + 1 };

/* Ids from the end; i32 ids with a padding row that is clamped; -1 that counts. */
static const char graph[] =
    "  symbol B {min = 0}\n"
    "  symbol V {min = 0}\n"
    "  graph @main(%ids: i64[B, 2], %many: i32[V]) -> (f32[B, 4] \"y\", f32[3, 4] "
    "\"mean\", f32[V, 4] \"each\") {\n"
    "    %0 = slice %ids {starts = [0, 1], sizes = [B, 1]} : i64[B, 1]\n"
    "    %1 = reshape %0 {to = [B]} : i64[B]\n"
    "    %2 = gather @ebc.users.weight, %1 {axis = 0} : f32[B, 4]\n"
    "    %3 = slice %ids {starts = [0, 0], sizes = [B, 1]} : i64[B, 1]\n"
    "    %4 = reshape %3 {to = [B]} : i64[B]\n"
    "    %5 = gather @ebc.items.weight, %4 {axis = 0} : f32[B, 4]\n"
    "    %6 = mul %2, %5 : f32[B, 4]\n"
    "    %7 = const {value = [0, 3, 3]} : i64[3]\n"
    "    %8 = bag @ebc.items.weight, %many, %7 {operands = [1], pool = [mean], padding = "
    "[5], range = clamp} : f32[3, 4]\n"
    "    %9 = bag @ebc.users.weight, %many {operands = [0], pool = [none], negative = "
    "skip} : f32[V, 4]\n"
    "    ret %6, %8, %9\n"
    "  }\n"
    "}\n";

static char why[512];
static char artifact[] = "/tmp/ingot-ahead-XXXXXX.ingot";
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

typedef struct ahead_case {
    ig_context *context;
    char *text;
    ig_module *module;
    ig_program *program; /* with its tables */
    ig_session *session;
} ahead_case;

static ahead_case open_case(void) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ahead_case c = { .context = ig_context_create(&options) };
    size_t size = 0;
    FILE *out = open_memstream(&c.text, &size);
    CHECK(out);
    (void)fputs("module @m {\n", out);
    put_table(out, "users", 0, USERS);
    put_table(out, "items", 1, ITEMS);
    (void)fputs(graph, out);
    (void)fclose(out);
    CHECK_MSG(ig_import_memory(c.context, c.text, strlen(c.text), NULL, NULL,
                               &c.module) == IG_OK,
              "%s", ig_context_messages(c.context));
    CHECK_MSG(ig_compile(c.module, NULL, &c.program) == IG_OK, "%s",
              ig_context_messages(c.context));
    CHECK_INT(ig_session_create(c.program, NULL, &c.session), IG_OK);
    return c;
}

static void close_case(ahead_case *c) {
    ig_session_destroy(c->session);
    ig_program_close(c->program);
    ig_module_close(c->module);
    ig_context_destroy(c->context);
    free(c->text);
    (void)unlink(artifact);
}

static void compile_to(ahead_case *c, const ig_stored_place *places, size_t count) {
    int file = mkstemps(artifact, 6);
    CHECK(file >= 0);
    (void)close(file);
    CHECK_MSG(ig_compile_stored(c->module, places, count, artifact, NULL) == IG_OK,
              "%s", ig_context_messages(c->context));
}

/* ---- stores ---- */

static void push_rows(ig_store *store, const char *name, int table, int64_t rows) {
    int64_t *ids = calloc((size_t)rows, sizeof *ids);
    float *values = calloc((size_t)rows * DIM, sizeof *values);
    uint64_t *offsets = calloc((size_t)rows + 1, sizeof *offsets);
    CHECK(ids && values && offsets);
    for (int64_t i = 0; i < rows; i++) {
        ids[i] = i;
        offsets[i + 1] = (uint64_t)(i + 1) * DIM * sizeof(float);
        for (int k = 0; k < DIM; k++) {
            values[i * DIM + k] = value_of(table, i, k);
        }
    }
    ig_store_cells cells = {
        .size = sizeof cells, .table = name, .ids = ids, .id_count = (size_t)rows
    };
    CHECK_MSG(ig_store_push(store, &call, &cells, values, offsets) == IG_OK, "%s", why);
    free(ids);
    free(values);
    free(offsets);
}

/* False after a skip. */
static bool fill_store(const char *url) {
    ig_store *store = NULL;
    ig_status status = ig_store_open(url, &call, &store);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return false;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    push_rows(store, "ebc.users.weight", 0, USERS);
    push_rows(store, "ebc.items.weight", 1, ITEMS);
    ig_store_close(store);
    return true;
}

static ig_lookahead *open_with(const char *url, int64_t rows, const float *missing) {
    ig_lookahead_table table = { .name = "*",
                                 .url = url,
                                 .row_count = rows,
                                 .missing = missing,
                                 .missing_bytes = DIM * sizeof *missing };
    ig_lookahead_options options = { .size = sizeof options,
                                     .message = why,
                                     .message_size = sizeof why,
                                     .tables = &table,
                                     .table_count = 1,
                                     .depth = DEPTH };
    ig_lookahead *ahead = NULL;
    CHECK_MSG(ig_lookahead_open(artifact, &options, &ahead) == IG_OK, "%s", why);
    CHECK_INT(ig_lookahead_input_count(ahead), INPUTS);
    return ahead;
}

static ig_lookahead *open_ahead(const char *url, int64_t rows) {
    return open_with(url, rows, NULL);
}

static const float zeros[DIM]; /* for what an empty store lacks */

/* ---- batches ---- */

typedef struct batch {
    int64_t ids[BATCH * 2];
    int32_t many[MANY];
    ig_view in[INPUTS];
} batch;

static void make_batch(batch *b, int step) {
    uint64_t draw = (uint64_t)step * 7919 + 17;
    for (int i = 0; i < BATCH * 2 + MANY; i++) {
        draw = draw * 6364136223846793005ULL + 1442695040888963407ULL;
        int64_t id = (int64_t)(draw >> 33);
        if (i >= BATCH * 2) {
            b->many[i - BATCH * 2] = (int32_t)(id % USERS); /* clamped in items */
        } else {
            b->ids[i] = id % (i % 2 ? USERS : ITEMS);
        }
    }
    b->ids[1] = -3; /* wraps */
    b->many[0] = 5; /* padding of items */
    b->many[1] = -1;
    b->in[0] =
        (ig_view){ .data = b->ids, .dtype = IG_I64, .rank = 2, .dims = { BATCH, 2 } };
    b->in[1] =
        (ig_view){ .data = b->many, .dtype = IG_I32, .rank = 1, .dims = { MANY } };
}

static void check_answer(ahead_case *c, const batch *b, const ig_view *out, int step) {
    ig_view whole[OUTPUTS] = { { 0 } };
    CHECK_MSG(ig_session_run(c->session, b->in, INPUTS, whole, OUTPUTS) == IG_OK, "%s",
              ig_session_error(c->session));
    for (int i = 0; i < OUTPUTS; i++) {
        size_t bytes = (size_t)ig_view_bytes(&whole[i]);
        CHECK_INT((size_t)ig_view_bytes(&out[i]), bytes);
        CHECK_MSG(memcmp(whole[i].data, out[i].data, bytes) == 0, "step %d, output %d",
                  step, i);
    }
}

static ig_status wait_for(ig_lookahead *ahead, ig_view *out,
                          ig_lookahead_answer *answer) {
    memset(out, 0, OUTPUTS * sizeof *out);
    return ig_lookahead_wait(ahead, out, OUTPUTS, answer);
}

/* A tenth of the rows in memory, DEPTH batches ahead. */
static void compare_over(const char *url) {
    static batch batches[STEPS];
    ahead_case c = open_case();
    ig_stored_place places[] = { { "*", "memory://" } };
    compile_to(&c, places, 1);
    if (fill_store(url)) {
        ig_lookahead *ahead = open_ahead(url, USERS / 10);
        ig_view out[OUTPUTS];
        int submitted = 0;
        for (int step = 0; step < STEPS; step++) {
            while (submitted < STEPS && submitted < step + AHEAD) {
                make_batch(&batches[submitted], submitted);
                CHECK_INT(
                    ig_lookahead_submit(ahead, batches[submitted].in, INPUTS, NULL),
                    IG_OK);
                submitted++;
            }
            ig_lookahead_answer answer = { .size = sizeof answer };
            CHECK_MSG(wait_for(ahead, out, &answer) == IG_OK, "%s",
                      ig_lookahead_error(ahead));
            CHECK_INT(answer.ids, 2 * BATCH + 2 * MANY);
            CHECK_INT(answer.absent + answer.late, 0);
            CHECK(answer.fetch_end <= answer.run_begin);
            check_answer(&c, &batches[step], out, step);
        }
        ig_lookahead_facts facts = { .size = sizeof facts };
        ig_lookahead_get_facts(ahead, &facts);
        CHECK(facts.fetched > USERS / 10); /* rows came and went */
        CHECK_INT(facts.row_bytes, 2 * (USERS / 10 + 2) * DIM * sizeof(float));
        ig_lookahead_close(ahead);
    }
    close_case(&c);
}

static char *lmdb_url(char *file, char *url, size_t size) {
    int made = mkstemp(file);
    CHECK(made >= 0);
    (void)close(made);
    (void)snprintf(url, size, "lmdb://%s?sync=no", file);
    return url;
}

static void remove_lmdb(const char *file) {
    char lock[96];
    (void)snprintf(lock, sizeof lock, "%s-lock", file);
    (void)unlink(file);
    (void)unlink(lock);
}

TEST(a_tenth_of_the_rows_answers_bit_for_bit_over_lmdb) {
    char file[] = "/tmp/ingot-ahead-rows-XXXXXX", url[96];
    compare_over(lmdb_url(file, url, sizeof url));
    remove_lmdb(file);
}

TEST(and_over_redis) {
    redis_server server = { 0 };
    if (redis_server_start(&server, NULL, NULL)) {
        compare_over(server.url);
        redis_server_end(&server);
    }
}

/* ---- what a store does not give ---- */

/* The ids of batch `step`, none of which another has. */
static void make_apart(batch *b, int step) {
    make_batch(b, step);
    for (int i = 0; i < BATCH * 2; i++) {
        b->ids[i] = 20 + step * (BATCH + MANY) + i / 2;
    }
    for (int i = 0; i < MANY; i++) {
        b->many[i] = 20 + step * (BATCH + MANY) + BATCH + i;
    }
}

/* Room for one batch and a part of the next: what is fetched ahead takes no row from a
 * batch that has not run, and fails where there is none. */
TEST(rows_of_a_batch_stay_until_it_has_run) {
    char file[] = "/tmp/ingot-ahead-lmdb-XXXXXX", url[96];
    ahead_case c = open_case();
    ig_stored_place places[] = { { "*", "memory://" } };
    compile_to(&c, places, 1);
    if (fill_store(lmdb_url(file, url, sizeof url))) {
        ig_lookahead *ahead = open_ahead(url, BATCH + MANY + 5);
        batch b[AHEAD];
        ig_view out[OUTPUTS];
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < AHEAD; i++) {
                make_apart(&b[i], i);
                CHECK_INT(ig_lookahead_submit(ahead, b[i].in, INPUTS, NULL), IG_OK);
            }
            usleep(100000); /* time to fetch too much ahead */
            for (int i = 0; i < AHEAD; i++) {
                ig_status status = wait_for(ahead, out, NULL);
                CHECK_MSG(status == IG_OK || (i > 0 && status == IG_LIMIT), "%s",
                          ig_lookahead_error(ahead));
                if (status == IG_OK) {
                    check_answer(&c, &b[i], out, i);
                }
            }
        }
        ig_lookahead_close(ahead);
    }
    close_case(&c);
    remove_lmdb(file);
}
END_TEST

TEST(ids_that_a_store_lacks_are_the_missing_row) {
    ahead_case c = open_case();
    ig_stored_place places[] = { { "ebc.users.weight", "memory://" },
                                 { "ebc.*", "memory://" } };
    compile_to(&c, places, 2);
    const float missing[DIM] = { 1, -2, 3, 0.5f };
    ig_lookahead_table tables[] = {
        { .name = "*", .missing = missing, .missing_bytes = sizeof missing }
    };
    ig_lookahead_options options = { .size = sizeof options,
                                     .tables = tables,
                                     .table_count = 1 };
    ig_lookahead *ahead = NULL;
    CHECK_INT(ig_lookahead_open(artifact, &options, &ahead), IG_OK);
    batch b;
    ig_view out[OUTPUTS];
    make_batch(&b, 0);
    ig_lookahead_answer answer = { .size = sizeof answer };
    CHECK_INT(ig_lookahead_submit(ahead, b.in, INPUTS, NULL), IG_OK);
    CHECK_INT(wait_for(ahead, out, &answer), IG_OK);
    CHECK(answer.absent > BATCH && answer.late == 0);
    const float *each = out[2].data, *y = out[0].data;
    for (int k = 0; k < DIM; k++) {
        CHECK(y[k] == missing[k] * missing[k]);
        CHECK(each[DIM + k] == 0); /* -1 is no id */
        CHECK(each[2 * DIM + k] == missing[k]);
    }
    ig_lookahead_close(ahead);
    tables[0].missing_bytes--;
    options.message = why;
    options.message_size = sizeof why;
    CHECK_INT(ig_lookahead_open(artifact, &options, &ahead), IG_INVALID);
    CHECK_MSG(strstr(why, "has 15 bytes, expected 16"), "%s", why);
    close_case(&c);
}

TEST(ids_out_of_range_are_named) {
    ahead_case c = open_case();
    ig_stored_place places[] = { { "*", "memory://" } };
    compile_to(&c, places, 1);
    ig_lookahead *ahead = open_with("memory://", 0, zeros);
    batch b;
    ig_view out[OUTPUTS];
    make_batch(&b, 0);
    b.ids[3] = USERS;
    CHECK_INT(ig_lookahead_submit(ahead, b.in, INPUTS, NULL), IG_OK);
    CHECK_INT(wait_for(ahead, out, NULL), IG_INVALID);
    CHECK_MSG(strstr(ig_lookahead_error(ahead),
                     "id 1000 is out of range: table 'ebc.users.weight' has 1000 rows"),
              "%s", ig_lookahead_error(ahead));
    make_batch(&b, 1); /* and the next batch is none the worse */
    CHECK_INT(ig_lookahead_submit(ahead, b.in, INPUTS, NULL), IG_OK);
    CHECK_INT(wait_for(ahead, out, NULL), IG_OK);
    ig_lookahead_close(ahead);
    close_case(&c);
}

/* Each batch fails, also once the rows of its ids are in memory, until there are
 * some. */
TEST(a_table_that_the_store_lacks_is_named) {
    ahead_case c = open_case();
    ig_stored_place places[] = { { "*", "memory://" } };
    compile_to(&c, places, 1);
    ig_lookahead *ahead = open_ahead(NULL, 0);
    batch b;
    ig_view out[OUTPUTS];
    make_batch(&b, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(ig_lookahead_submit(ahead, b.in, INPUTS, NULL), IG_OK);
        CHECK_INT(wait_for(ahead, out, NULL), IG_INVALID);
        CHECK_MSG(strstr(ig_lookahead_error(ahead),
                         "table 'ebc.users.weight': its store has no row"),
                  "%s", ig_lookahead_error(ahead));
    }
    ig_lookahead_close(ahead);
    close_case(&c);
}

TEST(a_deadline_ends_a_call_or_makes_rows_missing) {
    redis_server server = { 0 };
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ahead_case c = open_case();
    ig_stored_place places[] = { { "*", server.url } };
    compile_to(&c, places, 1);
    if (fill_store(server.url)) {
        ig_lookahead *ahead = open_ahead(NULL, 0);
        batch b[2];
        ig_view out[OUTPUTS];
        ig_lookahead_answer answer = { .size = sizeof answer };
        make_batch(&b[0], 0);
        make_batch(&b[1], 1);
        CHECK_INT(ig_lookahead_submit(ahead, b[0].in, INPUTS, NULL), IG_OK);
        CHECK_INT(wait_for(ahead, out, NULL), IG_OK);
        CHECK_INT(kill(server.process, SIGSTOP), 0);
        for (int accepts = 0; accepts < 2; accepts++) {
            unit_watch watch = unit_watch_start();
            ig_lookahead_call how = { .size = sizeof how,
                                      .deadline_ns = unit_clock_ns() + 200000000,
                                      .accepts_missing = accepts };
            CHECK_INT(ig_lookahead_submit(ahead, b[1].in, INPUTS, &how), IG_OK);
            ig_status status = wait_for(ahead, out, &answer);
            CHECK_INT(status, accepts ? IG_OK : IG_LIMIT);
            CHECK(unit_watch_ms(&watch) < 200 + 1000);
        }
        CHECK(answer.late > 0 && answer.late < answer.ids);
        /* Rows that are in memory serve, late or not. */
        ig_lookahead_call how = { .size = sizeof how,
                                  .deadline_ns = unit_clock_ns() + 200000000,
                                  .accepts_missing = 1 };
        CHECK_INT(ig_lookahead_submit(ahead, b[0].in, INPUTS, &how), IG_OK);
        CHECK_INT(wait_for(ahead, out, &answer), IG_OK);
        CHECK_INT(answer.late, 0);
        check_answer(&c, &b[0], out, 0);
        CHECK_INT(kill(server.process, SIGCONT), 0);
        CHECK_INT(ig_lookahead_submit(ahead, b[1].in, INPUTS, NULL), IG_OK);
        CHECK_MSG(wait_for(ahead, out, &answer) == IG_OK, "%s",
                  ig_lookahead_error(ahead));
        check_answer(&c, &b[1], out, 1); /* what was late was not kept */
        ig_lookahead_close(ahead);
    }
    close_case(&c);
    redis_server_end(&server);
}

/* ---- the queue ---- */

TEST(the_queue_is_bounded_and_ends_with_the_look_ahead) {
    ahead_case c = open_case();
    ig_stored_place places[] = { { "*", "memory://" } };
    compile_to(&c, places, 1);
    ig_lookahead *ahead = open_with(NULL, 0, zeros);
    batch b[AHEAD + 1];
    ig_view out[OUTPUTS];
    CHECK_INT(wait_for(ahead, out, NULL), IG_INVALID);
    CHECK_TEXT(ig_lookahead_error(ahead), "no batch was submitted");
    for (int i = 0; i <= AHEAD; i++) {
        make_batch(&b[i], i);
        CHECK_INT(ig_lookahead_submit(ahead, b[i].in, INPUTS, NULL),
                  i < AHEAD ? IG_OK : IG_LIMIT);
    }
    CHECK_INT(ig_lookahead_submit(ahead, b[0].in, 1, NULL), IG_INVALID);
    CHECK_INT(wait_for(ahead, out, NULL), IG_OK);
    CHECK_INT(ig_lookahead_submit(ahead, b[0].in, INPUTS, NULL), IG_OK);
    for (int i = 0; i < AHEAD; i++) { /* the tail is not lost */
        CHECK_INT(wait_for(ahead, out, NULL), IG_OK);
    }
    CHECK_INT(ig_lookahead_submit(ahead, b[0].in, INPUTS, NULL), IG_OK);
    ig_lookahead_cancel(ahead);
    CHECK_INT(ig_lookahead_submit(ahead, b[1].in, INPUTS, NULL), IG_OK);
    ig_status first = wait_for(ahead, out, NULL); /* may have been fetched already */
    CHECK(first == IG_OK || first == IG_CANCELLED);
    CHECK_INT(wait_for(ahead, out, NULL), IG_CANCELLED);
    ig_lookahead_close(ahead); /* with nothing, and below with something in flight */
    ahead = open_ahead(NULL, 0);
    CHECK_INT(ig_lookahead_submit(ahead, b[0].in, INPUTS, NULL), IG_OK);
    ig_lookahead_close(ahead);
    close_case(&c);
}

/* ---- what is refused ---- */

static void flip_byte_after(const char *magic, size_t offset) {
    FILE *file = fopen(artifact, "r+b");
    CHECK(file);
    static char bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file), at = 0;
    while (at + strlen(magic) < size && memcmp(bytes + at, magic, strlen(magic)) != 0) {
        at++;
    }
    CHECK(at + strlen(magic) < size);
    CHECK_INT(fseek(file, (long)(at + offset), SEEK_SET), 0);
    (void)fputc(bytes[at + offset] ^ 1, file);
    (void)fclose(file);
}

TEST(what_is_damaged_or_has_no_stores_is_refused) {
    ahead_case c = open_case();
    ig_stored_place places[] = { { "*", "memory://" }, { "*", "nonsense" } };
    ig_lookahead_options options = { .size = sizeof options,
                                     .message = why,
                                     .message_size = sizeof why };
    ig_lookahead *ahead = NULL;
    CHECK_INT(ig_compile_stored(c.module, &places[1], 1, artifact, NULL), IG_INVALID);
    CHECK(strstr(ig_context_messages(c.context), "a store's URL is TYPE://"));
    CHECK_INT(ig_compile_file(c.module, artifact, NULL), IG_OK);
    CHECK_INT(ig_lookahead_open(artifact, &options, &ahead), IG_UNSUPPORTED);
    CHECK_TEXT(why, "no table of this artifact is in a store");
    compile_to(&c, places, 1);
    ig_lookahead_table other = { .name = "clicks", .url = "memory://" };
    options.tables = &other;
    options.table_count = 1;
    CHECK_INT(ig_lookahead_open(artifact, &options, &ahead), IG_INVALID);
    CHECK_MSG(strstr(why, "no table 'clicks' in a store"), "%s", why);
    options.table_count = 0;
    flip_byte_after("ingotSTO", 60);
    CHECK_INT(ig_lookahead_open(artifact, &options, &ahead), IG_INVALID);
    CHECK_MSG(strstr(why, "list of stores is damaged"), "%s", why);
    close_case(&c);
}

UNIT_SUITE(stored_lookahead, a_tenth_of_the_rows_answers_bit_for_bit_over_lmdb,
           and_over_redis, rows_of_a_batch_stay_until_it_has_run,
           ids_that_a_store_lacks_are_the_missing_row, ids_out_of_range_are_named,
           a_table_that_the_store_lacks_is_named,
           a_deadline_ends_a_call_or_makes_rows_missing,
           the_queue_is_bounded_and_ends_with_the_look_ahead,
           what_is_damaged_or_has_no_stores_is_refused)
