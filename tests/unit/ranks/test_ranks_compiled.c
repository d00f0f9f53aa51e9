/* Compiled programs of ranks, threads that meet in shared memory, against the program
 * of the whole model.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank has a batch of its own; what its program gives must be what the whole
 * program gives for that batch: to the bit where no sums of rows are divided, else
 * within 2 * world * 2^-24 of the sum of the terms' sizes.
 */
#include "ingot/group.h"
#include "ingot/shard.h"
#include "tests/unit/passes/shard_model.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

UNIT_WITH_LLVM

enum { PLAN_BYTES = 1 << 16, ROUNDS = 3 };

typedef struct fixture {
    ig_context *context;
    ig_arena arena;
} fixture;

static void setup(fixture *f) {
    ig_context_options options = { .size = sizeof options,
                                   .cache_folder = INGOT_BINARY_DIR "/ranks-cache" };
    f->context = ig_context_create(&options);
    ig_arena_init(&f->arena, NULL);
}

static void teardown(fixture *f) {
    ig_arena_fini(&f->arena);
    ig_context_destroy(f->context);
}

/* ---- programs ---- */

/* What rows travel as, half a place of it (0: as they are), and whether an id travels
 * but once. */
typedef struct wire_kind {
    const char *name;
    double unit;
    bool is_distinct;
    int chunks; /* of the batch */
} wire_kind;

static const char *plan_text(fixture *f, shard_cut type, int64_t world,
                             wire_kind wire) {
    ig_writer out;
    ig_writer_init(&out, &f->arena);
    ig_put(&out,
           "{\"communication\": \"%s\", \"deduplicate\": %s, \"chunks\": %d, "
           "\"world_size\": %lld, \"tables\": [",
           wire.name, wire.is_distinct ? "true" : "false", wire.chunks,
           (long long)world);
    for (uint32_t i = 0; i < TABLES; i++) {
        shard_layout l = shard_lay_out(type, i, world);
        ig_put(&out, "%s{\"name\": \"%s\", \"sharding_type\": \"%s\", \"shards\": [",
               i ? ", " : "", shard_tables[i].name, l.count ? "any" : "data_parallel");
        for (uint32_t k = 0; k < l.count; k++) {
            const ig_shard *s = &l.shards[k];
            ig_put(&out,
                   "%s{\"rank\": %lld, \"size\": [%lld, %lld], \"offset\": [%lld, "
                   "%lld]}",
                   k ? ", " : "", (long long)s->rank, (long long)s->rows,
                   (long long)s->columns, (long long)s->row, (long long)s->column);
        }
        ig_put(&out, "]}");
    }
    ig_put(&out, "]}");
    return out.data;
}

/* `plan` NULL: the whole model. */
static ig_program *compile(fixture *f, const char *text, const char *plan,
                           int64_t rank) {
    ig_module *module = NULL;
    ig_program *program = NULL;
    ig_status status = ig_import_memory(f->context, text, strlen(text), "case.ig", NULL,
                                        &module);
    if (status == IG_OK && plan) {
        status = ig_module_shard(module, "plan", plan, (size_t)rank, NULL);
    }
    status = status == IG_OK ? ig_compile(module, NULL, &program) : status;
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(f->context));
    ig_module_close(module);
    return program;
}

/* ---- runs ---- */

static void view_inputs(const shard_inputs *from, ig_view *views) {
    for (uint32_t i = 0; i < INPUTS; i++) {
        const shard_input *input = &from->inputs[i];
        views[i] = (ig_view){ .data = (void *)(uintptr_t)input->data,
                              .dtype = input->is_float ? IG_F32 : IG_I64,
                              .rank = input->rank,
                              .dims = { input->dims[0], input->dims[1] } };
    }
}

typedef struct rank_run {
    ig_program *program;
    char name[64];
    uint32_t rank, world;
    ig_session *session;
    ig_group *group;
    shard_inputs inputs;
    ig_view outputs[OUTPUTS];
    char message[512];
    ig_status status;
} rank_run;

static ig_status open_rank(rank_run *r) {
    ig_group_options how = { .size = sizeof how,
                             .rank = r->rank,
                             .world = r->world,
                             .timeout_ms = 20000,
                             .message = r->message,
                             .message_size = sizeof r->message };
    ig_status status = r->name[0] ? ig_group_open(r->name, &how, &r->group) : IG_OK;
    ig_session_options options = { .size = sizeof options,
                                   .message = r->message,
                                   .message_size = sizeof r->message,
                                   .ranks = r->group ? ig_group_ranks(r->group)
                                                     : NULL };
    return status == IG_OK ? ig_session_create(r->program, &options, &r->session)
                           : status;
}

static void *run_rank(void *argument) {
    rank_run *r = argument;
    ig_view in[INPUTS];
    r->status = open_rank(r);
    for (uint32_t i = 0; i < ROUNDS && r->status == IG_OK; i++) {
        shard_draw_inputs(&r->inputs, i * 100 + r->rank + r->world * 8);
        view_inputs(&r->inputs, in);
        memset(r->outputs, 0, sizeof r->outputs);
        r->status = ig_session_run(r->session, in, INPUTS, r->outputs, OUTPUTS);
        if (r->status != IG_OK) {
            snprintf(r->message, sizeof r->message, "%s", ig_session_error(r->session));
        }
    }
    return NULL;
}

static void close_rank(rank_run *r) {
    ig_session_destroy(r->session);
    ig_group_close(r->group);
    ig_program_close(r->program);
}

/* ---- comparing ---- */

/* Floats of 16 bits are widened here, exactly. */
static double half_of(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                 : ldexp(mantissa, -24);
    return bits >> 15 ? -size : size;
}

static double element(const ig_view *view, int64_t i) {
    return view->dtype == IG_F64   ? ((const double *)view->data)[i]
           : view->dtype == IG_F32 ? (double)((const float *)view->data)[i]
           : view->dtype == IG_F16 ? half_of(((const uint16_t *)view->data)[i])
                                   : (double)((const int64_t *)view->data)[i];
}

/* How far a sum may be off. */
static double bound_of(const rank_run *r, shard_cut type, uint32_t output, double size,
                       wire_kind wire) {
    bool is_exact = wire.is_distinct ? !shard_adds_codes(output)
                                     : !shard_splits_rows(type) || shard_copies(output);
    double within = is_exact ? 0 : shard_bound(output, r->world, size);
    return within + 2 * r->world * wire.unit * size;
}

/* Codes of 8 bits are multiples of a step that is the row's, 1 / 127 of its largest. */
#define CODE_UNIT (1 / 254.0)

/* The size that a unit is a part of: the number's own, or of its row the largest. */
static double size_of(const ig_view *sizes, int64_t i, double unit) {
    int64_t width = unit == CODE_UNIT ? sizes->dims[sizes->rank - 1] : 1;
    double max = 0;
    for (int64_t k = i / width * width; k < (i / width + 1) * width; k++) {
        max = fmax(max, element(sizes, k));
    }
    return max;
}

/* All outputs of one rank, as the whole program gives them, and of sizes. */
static void compare(const rank_run *r, const ig_view *wanted, const ig_view *sizes,
                    shard_cut type, wire_kind wire) {
    for (uint32_t o = 0; o < OUTPUTS; o++) {
        const ig_view *got = &r->outputs[o], *want = &wanted[o];
        int64_t count = 1;
        CHECK_INT(got->rank, want->rank);
        CHECK_INT(got->dtype, want->dtype);
        CHECK(memcmp(got->dims, want->dims, want->rank * sizeof *want->dims) == 0);
        for (uint32_t d = 0; d < want->rank; d++) {
            count *= want->dims[d];
        }
        for (int64_t i = 0; i < count; i++) {
            double a = element(want, i), b = element(got, i);
            double size = size_of(&sizes[o], i, wire.unit);
            double within = bound_of(r, type, o, size, wire);
            bool is_same = isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
            CHECK_MSG(is_same || (within > 0 && fabs(a - b) <= within),
                      "type %d, rank %u of %u, output %u, element %lld: %.9g, expected "
                      "%.9g within %g",
                      (int)type, r->rank, r->world, o, (long long)i, b, a, within);
        }
    }
}

static void run_whole(rank_run *whole, const rank_run *like) {
    ig_view in[INPUTS];
    whole->inputs = like->inputs;
    view_inputs(&like->inputs, in);
    memset(whole->outputs, 0, sizeof whole->outputs);
    ig_status status = ig_session_run(whole->session, in, INPUTS, whole->outputs,
                                      OUTPUTS);
    CHECK_MSG(status == IG_OK, "%s", ig_session_error(whole->session));
}

/* The program of the whole model, and that of the sizes of its numbers. */
typedef struct judges {
    rank_run whole, sizes;
} judges;

static void open_judges(fixture *f, judges *j) {
    *j = (judges){ 0 };
    j->whole.program = compile(f, shard_model_text(&f->arena, false), NULL, 0);
    j->sizes.program = compile(f, shard_model_text(&f->arena, true), NULL, 0);
    CHECK_OK(open_rank(&j->whole));
    CHECK_OK(open_rank(&j->sizes));
}

static void close_judges(judges *j) {
    close_rank(&j->whole);
    close_rank(&j->sizes);
}

static void check_type_at(fixture *f, shard_cut type, uint32_t world, judges *j,
                          wire_kind wire) {
    const char *text = shard_model_text(&f->arena, false);
    const char *plan = plan_text(f, type, world, wire);
    rank_run ranks[WORLD];
    pthread_t threads[WORLD];
    memset(ranks, 0, sizeof ranks);
    for (uint32_t r = 0; r < world; r++) {
        ranks[r].program = compile(f, text, plan, r);
        ranks[r].rank = r;
        ranks[r].world = world;
        snprintf(ranks[r].name, sizeof ranks[r].name, "shm:ingot-ranks-%d",
                 (int)getpid());
    }
    for (uint32_t r = 0; r < world; r++) {
        CHECK_INT(pthread_create(&threads[r], NULL, run_rank, &ranks[r]), 0);
    }
    for (uint32_t r = 0; r < world; r++) {
        pthread_join(threads[r], NULL);
    }
    for (uint32_t r = 0; r < world; r++) {
        CHECK_MSG(ranks[r].status == IG_OK, "type %d, rank %u of %u: %s", (int)type, r,
                  world, ranks[r].message);
        run_whole(&j->whole, &ranks[r]);
        run_whole(&j->sizes, &ranks[r]);
        compare(&ranks[r], j->whole.outputs, j->sizes.outputs, type, wire);
        close_rank(&ranks[r]);
    }
}

TEST(ranks_give_what_the_whole_gives) {
    static const uint32_t worlds[] = { 1, 2, 3, 4, 8 };
    fixture f;
    judges j;
    setup(&f);
    open_judges(&f, &j);
    for (int type = 0; type < TYPES; type++) {
        for (size_t i = 0; i < IG_COUNT_OF(worlds); i++) {
            check_type_at(&f, (shard_cut)type, worlds[i], &j,
                          (wire_kind){ "fp32", 0, false, 1 });
        }
    }
    close_judges(&j);
    teardown(&f);
}

TEST(rows_may_travel_narrow) {
    static const wire_kind wires[] = { { "fp16", 0x1p-11, false, 1 },
                                       { "bf16", 0x1p-9, false, 1 },
                                       { "int8", CODE_UNIT, false, 1 },
                                       { "fp16", 0x1p-11, true, 1 },
                                       { "int8", CODE_UNIT, true, 1 } };
    fixture f;
    judges j;
    setup(&f);
    open_judges(&f, &j);
    for (size_t i = 0; i < IG_COUNT_OF(wires); i++) {
        check_type_at(&f, ROW_WISE, 3, &j, wires[i]);
        check_type_at(&f, COLUMN_WISE, 2, &j, wires[i]);
        check_type_at(&f, GRID, 4, &j, wires[i]);
    }
    close_judges(&j);
    teardown(&f);
}

/* Rows come whole and are added in the order of ids, so that no sum is divided. */
TEST(an_id_may_travel_once) {
    static const uint32_t worlds[] = { 2, 3, 8 };
    fixture f;
    judges j;
    setup(&f);
    open_judges(&f, &j);
    for (int type = 0; type < TYPES; type++) {
        check_type_at(&f, (shard_cut)type, worlds[type % 3], &j,
                      (wire_kind){ "fp32", 0, true, 1 });
    }
    close_judges(&j);
    teardown(&f);
}

/* Rows of a chunk travel while others are looked up. */
TEST(the_batch_may_go_in_chunks) {
    static const uint32_t worlds[] = { 2, 3, 4, 8 };
    static const int chunks[] = { 2, 4, 3, 16 };
    fixture f;
    judges j;
    setup(&f);
    open_judges(&f, &j);
    for (int type = 0; type < TYPES; type++) {
        for (int k = 0; k < 2; k++) {
            check_type_at(&f, (shard_cut)type, worlds[(type + k) % 4], &j,
                          (wire_kind){ "fp32", 0, k, chunks[(type + 2 * k) % 4] });
        }
    }
    check_type_at(&f, ROW_WISE, 3, &j, (wire_kind){ "int8", CODE_UNIT, false, 3 });
    close_judges(&j);
    teardown(&f);
}

/* ---- what goes wrong ---- */

static const char strict[] =
    "module @t {\nweight @a : f32[4, 2] = [1, 2, 3, 4, 5, 6, 7, 8]\n"
    "graph @main(%ids: i64[N], %off: i64[B]) {\n"
    "%1 = bag @a, %ids, %off {operands = [1], pool = [sum], negative = error}\n"
    "ret %1\n}\n}\n";
static const char two_plan[] =
    "{\"world_size\": 2, \"tables\": [{\"name\": \"a\", \"sharding_type\": "
    "\"row_wise\", \"shards\": [{\"rank\": 0, \"size\": [2, 2], \"offset\": [0, 0]}, "
    "{\"rank\": 1, \"size\": [2, 2], \"offset\": [2, 0]}]}]}";

/* One rank of two that looks up a last id of its own. */
typedef struct pair_run {
    rank_run rank;
    int64_t id;
    pthread_t thread;
} pair_run;

static void *run_of_pair(void *argument) {
    pair_run *p = argument;
    rank_run *r = &p->rank;
    int64_t ids[] = { 3, p->id }, begins[] = { 0 };
    ig_view in[] = { { .data = ids, .dtype = IG_I64, .rank = 1, .dims = { 2 } },
                     { .data = begins, .dtype = IG_I64, .rank = 1, .dims = { 1 } } };
    r->status = open_rank(r);
    if (r->status == IG_OK) {
        r->status = ig_session_run(r->session, in, 2, r->outputs, 1);
        if (r->status != IG_OK) {
            snprintf(r->message, sizeof r->message, "%s", ig_session_error(r->session));
        }
    }
    return NULL;
}

/* Ranks 0 and 1, each with a program and an id. */
static void run_pair(fixture *f, pair_run pair[2], const char *const models[2],
                     const int64_t programs[2], const int64_t ids[2]) {
    memset(pair, 0, 2 * sizeof *pair);
    for (uint32_t r = 0; r < 2; r++) {
        pair[r].rank.program = compile(f, models[r], two_plan, programs[r]);
        pair[r].rank.rank = r;
        pair[r].rank.world = 2;
        pair[r].id = ids[r];
        snprintf(pair[r].rank.name, sizeof pair[r].rank.name, "shm:ingot-pair-%d",
                 (int)getpid());
    }
    for (uint32_t r = 0; r < 2; r++) {
        CHECK_INT(pthread_create(&pair[r].thread, NULL, run_of_pair, &pair[r]), 0);
    }
    for (uint32_t r = 0; r < 2; r++) {
        pthread_join(pair[r].thread, NULL);
    }
}

static void close_pair(pair_run pair[2]) {
    close_rank(&pair[0].rank);
    close_rank(&pair[1].rank);
}

TEST(a_rank_whose_run_fails_is_named_to_the_others) {
    fixture f;
    pair_run pair[2];
    setup(&f);
    run_pair(&f, pair, (const char *const[]){ strict, strict },
             (const int64_t[]){ 0, 1 }, (const int64_t[]){ 1, 4 });
    CHECK_STATUS(pair[1].rank.status, IG_INVALID);
    CHECK(strstr(pair[1].rank.message,
                 "bag_ids: feature 0: id 4 at position 1 is out of range: the table "
                 "has 4 rows"));
    CHECK_STATUS(pair[0].rank.status, IG_INVALID);
    CHECK_MSG(strstr(pair[0].rank.message, "all_to_all: rank 1 has failed"), "%s",
              pair[0].rank.message);
    close_pair(pair);
    run_pair(&f, pair, (const char *const[]){ strict, strict },
             (const int64_t[]){ 0, 1 }, (const int64_t[]){ 1, 2 });
    CHECK_OK(pair[0].rank.status);
    CHECK(((const float *)pair[0].rank.outputs[0].data)[0] == 10);
    CHECK(((const float *)pair[1].rank.outputs[0].data)[1] == 14);
    close_pair(pair);
    teardown(&f);
}

TEST(programs_of_another_model_or_rank_are_found) {
    fixture f;
    pair_run pair[2];
    char other[sizeof strict];
    setup(&f);
    memcpy(other, strict, sizeof other);
    *strchr(other, '8') = '9';
    run_pair(&f, pair, (const char *const[]){ strict, other },
             (const int64_t[]){ 0, 1 }, (const int64_t[]){ 1, 1 });
    CHECK_MSG(
        strstr(pair[0].rank.message, "rank 1 has the program of another model or plan"),
        "%s", pair[0].rank.message);
    CHECK_MSG(
        strstr(pair[1].rank.message, "rank 0 has the program of another model or plan"),
        "%s", pair[1].rank.message);
    close_pair(pair);
    run_pair(&f, pair, (const char *const[]){ strict, strict },
             (const int64_t[]){ 0, 0 }, (const int64_t[]){ 1, 1 });
    CHECK_MSG(strstr(pair[1].rank.message,
                     "this is the program of rank 0 of 2, and its session was given to "
                     "rank 1 of 2"),
              "%s", pair[1].rank.message);
    close_pair(pair);
    teardown(&f);
}

TEST(a_session_without_a_group_is_refused) {
    fixture f;
    rank_run alone = { 0 };
    setup(&f);
    alone.program = compile(&f, strict, two_plan, 1);
    CHECK_STATUS(open_rank(&alone), IG_INVALID);
    CHECK_TEXT(alone.message,
               "this is the program of one rank: give its session the group in which "
               "the ranks meet (ig_session_options.ranks)");
    close_rank(&alone);
    teardown(&f);
}

UNIT_SUITE(ranks_compiled, ranks_give_what_the_whole_gives, rows_may_travel_narrow,
           an_id_may_travel_once, the_batch_may_go_in_chunks,
           a_rank_whose_run_fails_is_named_to_the_others,
           programs_of_another_model_or_rank_are_found,
           a_session_without_a_group_is_refused)
