/* Ranks that train together: threads that meet in shared memory, against one trainer
 * that is given the batches of all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/writer.h"
#include "ingot/group.h"
#include "ingot/ingot.h"
#include "ingot/train.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

UNIT_WITH_LLVM

enum { RANKS = 4, TABLES = 3, BAGS = 3, DIM = 4, LONGEST = 3, STEPS = 20 };
enum { IDS_MAX = TABLES * RANKS * BAGS * LONGEST, BAGS_MAX = RANKS * BAGS };

static const int64_t rows_of[TABLES] = { 11, 3, 7 };

/* %y is bags times numbers that are given, so that gradients are these numbers; the
 * loss of %z also goes through layers, of which every rank has all, and @p, weights of
 * the ids of one bag. */
static const char text[] =
    "module @m {\n"
    "  symbol B {min = 0}\n"
    "  weight @t0 : f32[11, 4] = splat(0.5)\n"
    "  weight @t1 : f32[3, 4] = splat(-0.25)\n"
    "  weight @t2 : f32[7, 4] = splat(0.125)\n"
    "  weight @w : f32[16, 3] = splat(0.0625)\n"
    "  weight @v : f32[3, 1] = splat(-1.5)\n"
    "  weight @p : f32[3] = splat(0.75)\n"
    "  graph @main(%x: f32[B, 16], %i0: i64[N0], %o0: i64[B+1], %i1: i64[N1], %o1: "
    "i64[B+1], %i2: i64[N2], %o2: i64[B+1]) -> (f32[B, 16] \"y\", f32[B, 1] \"z\") {\n"
    "    %p = gather @p, %i1 {axis = 0} : f32[N1]\n"
    "    %a, %b, %c, %d = bag @t0, %i0, %o0, @t1, %i1, %o1, @t2, %i2, %o2, @t0, %i1, %o1, %p "
    "{operands = [1, 1, 1, 5], pool = [sum, mean, sum, mean], last = [offset, offset, "
    "offset, offset], negative = error}\n"
    "    %all = concat %a, %b, %c, %d {axis = 1} : f32[B, 16]\n"
    "    %y = mul %all, %x : f32[B, 16]\n"
    "    %h = matmul %y, @w : f32[B, 3]\n"
    "    %g = tanh %h : f32[B, 3]\n"
    "    %z = matmul %g, @v : f32[B, 1]\n"
    "    ret %y, %z\n"
    "  }\n"
    "}\n";

/* ---- batches ---- */

typedef struct batch {
    float x[BAGS_MAX][16], label[BAGS_MAX];
    int64_t ids[TABLES][IDS_MAX], offsets[TABLES][BAGS_MAX + 1];
    int64_t bags;
} batch;

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Of this rank; an id of table 1 is one of table 0 too. */
static void add_bags(batch *b, int step, int rank) {
    uint32_t state = (uint32_t)(step * 77 + rank * 1009 + 5);
    for (int i = 0; i < BAGS; i++, b->bags++) {
        for (int k = 0; k < 16; k++) {
            b->x[b->bags][k] = (float)(draw(&state) % 64) / 32 - 1;
        }
        b->label[b->bags] = (float)(draw(&state) % 2);
        for (int t = 0; t < TABLES; t++) {
            int64_t end = b->offsets[t][b->bags];
            for (uint32_t left = draw(&state) % (LONGEST + 1); left > 0; left--) {
                b->ids[t][end++] = draw(&state) % rows_of[t];
            }
            b->offsets[t][b->bags + 1] = end;
        }
    }
}

static size_t view_batch(batch *b, ig_view views[8]) {
    views[0] = (ig_view){ .data = b->x, .dtype = IG_F32, .rank = 2 };
    views[0].dims[0] = b->bags;
    views[0].dims[1] = 16;
    for (int t = 0; t < TABLES; t++) {
        views[1 + 2 * t] = (ig_view){ .data = b->ids[t],
                                      .dtype = IG_I64,
                                      .rank = 1,
                                      .dims = { b->offsets[t][b->bags] } };
        views[2 + 2 * t] = (ig_view){
            .data = b->offsets[t], .dtype = IG_I64, .rank = 1, .dims = { b->bags + 1 }
        };
    }
    views[7] = (ig_view){ .data = b->label, .dtype = IG_F32, .rank = 2 };
    views[7].dims[0] = b->bags;
    views[7].dims[1] = 1;
    return 8;
}

/* ---- plans ---- */

/* By host: rows on both ranks of a pair (table-row-wise); by grid: so each half of the
 * columns, on pairs of its own. */
typedef enum cut {
    WHOLE_TABLES,
    BY_ROWS,
    BY_COLUMNS,
    SHARED,
    MIXED,
    BY_HOST,
    BY_GRID
} cut;

static void put_shard(ig_writer *to, bool is_first, const int64_t n[5]) {
    ig_put(to, "%s{\"rank\": %lld, \"size\": [%lld, %lld], \"offset\": [%lld, %lld]}",
           is_first ? "" : ", ", (long long)n[0], (long long)n[1], (long long)n[2],
           (long long)n[3], (long long)n[4]);
}

static void put_pairs(ig_writer *to, int t, int64_t columns, int world) {
    int64_t rows = rows_of[t], half = (rows + 1) / 2;
    for (int64_t at = 0; at < DIM; at += columns) {
        int64_t first = 2 * ((at / columns + t) % (world / 2));
        put_shard(to, at == 0, (int64_t[]){ first, half, columns, 0, at });
        put_shard(to, false, (int64_t[]){ first + 1, rows - half, columns, half, at });
    }
}

static void put_table(ig_writer *to, int t, cut how, int world) {
    how = how == MIXED ? (cut)(t + 1) % SHARED : how;
    int64_t rows = rows_of[t], block = (rows + world - 1) / world;
    int64_t width = world == 3 ? 2 : DIM / (world > 1 ? world : 1);
    ig_put(to, "%s{\"name\": \"t%d\", \"sharding_type\": \"%s\", \"shards\": [",
           t ? ", " : "", t, how == SHARED ? "data_parallel" : "any");
    if (how == WHOLE_TABLES || how == SHARED) {
        put_shard(to, true, (int64_t[]){ t % world, rows, DIM, 0, 0 });
    }
    for (int64_t at = 0; how == BY_ROWS && at < rows; at += block) {
        int64_t count = at + block < rows ? block : rows - at;
        put_shard(to, at == 0, (int64_t[]){ at / block, count, DIM, at, 0 });
    }
    for (int64_t at = 0; how == BY_COLUMNS && at < DIM; at += width) {
        int64_t rank = (at / width + t) % world;
        put_shard(to, at == 0, (int64_t[]){ rank, rows, width, 0, at });
    }
    if (how == BY_HOST || how == BY_GRID) {
        put_pairs(to, t, how == BY_HOST ? DIM : DIM / 2, world);
    }
    ig_put(to, "]}");
}

static const char *plan_of(ig_arena *arena, cut how, int world, const char *more) {
    ig_writer to;
    ig_writer_init(&to, arena);
    ig_put(&to, "{\"world_size\": %d, %s\"tables\": [", world, more);
    for (int t = 0; t < TABLES; t++) {
        put_table(&to, t, how, world);
    }
    ig_put(&to, "]}");
    return to.data;
}

/* ---- ranks ---- */

typedef struct rank_run {
    const char *group;
    uint32_t index, world;
    ig_program *parts[IG_TRAIN_PARTS];
    ig_group *joined;
    ig_trainer *trainer;
    int steps, fails_at; /* at that step rank 1 has an id that is no row; -1: none */
    double losses[STEPS];
    int threads;
    char why[512];
    ig_status status;
} rank_run;

typedef struct world_run {
    ig_context *context;
    ig_arena arena;
    ig_module *module;
    uint32_t world;
    rank_run ranks[RANKS];
} world_run;

typedef struct training_of {
    const char *loss;
    const char *const *optimizers;
    size_t count;
    cut how;
    const char *more; /* of the plan */
    ig_train_division division;
    int steps, fails_at, threads;
} training_of;

static void compile_rank(world_run *w, rank_run *r, const training_of *of) {
    ig_train_options how = { .size = sizeof how,
                             .loss = of->loss,
                             .optimizers = of->optimizers,
                             .optimizer_count = of->count,
                             .rank = r->index,
                             .division = of->division };
    static const ig_train_part needed[] = { IG_TRAIN_STEP, IG_TRAIN_INITIAL };
    how.plan = w->world > 1 ? plan_of(&w->arena, of->how, (int)w->world, of->more)
                            : NULL;
    for (size_t i = 0; i < IG_COUNT_OF(needed); i++) {
        ig_status status = ig_compile_train(w->module, &how, NULL, needed[i],
                                            &r->parts[needed[i]]);
        CHECK_MSG(status == IG_OK, "%s", ig_context_messages(w->context));
    }
}

/* The batch of the rank; of a world of one that of all ranks that `all` counts. */
static void draw_batch(batch *b, const rank_run *r, int step, int all) {
    *b = (batch){ .bags = 0 };
    for (int i = 0; i < all; i++) {
        add_bags(b, step, r->world > 1 ? (int)r->index : i);
    }
    if (step == r->fails_at && r->index == 1 && b->offsets[2][b->bags] > 0) {
        b->ids[2][0] = rows_of[2];
    }
}

static int shared_world; /* whose batches one rank is given */

static void *run_rank(void *argument) {
    rank_run *r = argument;
    ig_group_options join = { .size = sizeof join,
                              .rank = r->index,
                              .world = r->world,
                              .timeout_ms = 20000,
                              .message = r->why,
                              .message_size = sizeof r->why };
    ig_trainer_options how = { .size = sizeof how,
                               .message = r->why,
                               .message_size = sizeof r->why,
                               .threads = r->threads };
    r->status = ig_group_open(r->group, &join, &r->joined);
    how.ranks = r->joined ? ig_group_ranks(r->joined) : NULL;
    if (r->status == IG_OK) {
        r->status = ig_trainer_create(r->parts, &how, &r->trainer);
    }
    for (int i = 0; i < r->steps && r->status == IG_OK; i++) {
        batch b;
        ig_view views[8];
        draw_batch(&b, r, i, r->world > 1 ? 1 : shared_world);
        size_t count = view_batch(&b, views);
        if (ig_trainer_input_count(r->trainer) < count) {
            count = ig_trainer_input_count(r->trainer);
        }
        r->status = ig_trainer_step(r->trainer, views, count, &r->losses[i], NULL);
    }
    if (r->status != IG_OK && r->trainer) {
        snprintf(r->why, sizeof r->why, "%s", ig_trainer_error(r->trainer));
    }
    return NULL;
}

static void run_world(world_run *w, uint32_t world, const training_of *of) {
    static int index;
    ig_context_options options = { .size = sizeof options,
                                   .cache_folder = INGOT_BINARY_DIR "/train-cache" };
    ig_import_options import = { .size = sizeof import, .keeps_weights = 1 };
    char name[64];
    pthread_t threads[RANKS];
    *w = (world_run){ .context = ig_context_create(&options), .world = world };
    ig_arena_init(&w->arena, NULL);
    snprintf(name, sizeof name, "shm:trainer-%d-%d", (int)getpid(), index++);
    ig_status status = ig_import_memory(w->context, text, sizeof text - 1, NULL,
                                        &import, &w->module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(w->context));
    for (uint32_t i = 0; i < world; i++) {
        w->ranks[i] = (rank_run){ .group = name,
                                  .index = i,
                                  .world = world,
                                  .steps = of->steps,
                                  .fails_at = of->fails_at,
                                  .threads = of->threads };
        compile_rank(w, &w->ranks[i], of);
    }
    for (uint32_t i = 0; i < world; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_rank, &w->ranks[i]) == 0);
    }
    for (uint32_t i = 0; i < world; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_MSG(of->fails_at >= 0 || w->ranks[i].status == IG_OK, "rank %u: %s", i,
                  w->ranks[i].why);
    }
}

static void close_world(world_run *w) {
    for (uint32_t i = 0; i < w->world; i++) {
        ig_trainer_close(w->ranks[i].trainer);
        ig_group_close(w->ranks[i].joined);
        for (int part = 0; part < IG_TRAIN_PARTS; part++) {
            ig_program_close(w->ranks[i].parts[part]);
        }
    }
    ig_module_close(w->module);
    ig_arena_fini(&w->arena);
    ig_context_destroy(w->context);
}

/* The value of that name, of whichever rank has it. */
static ig_view value_of(const world_run *w, const char *name) {
    for (uint32_t i = 0; i < w->world; i++) {
        int found = ig_trainer_find(w->ranks[i].trainer, name);
        if (found >= 0) {
            return ig_trainer_get(w->ranks[i].trainer, (size_t)found).view;
        }
    }
    return (ig_view){ .data = NULL };
}

static void check_same(const world_run *a, const world_run *b, const char *name) {
    ig_view x = value_of(a, name), y = value_of(b, name);
    CHECK_MSG(x.data && y.data, "%s", name);
    CHECK_INT(ig_view_bytes(&x), ig_view_bytes(&y));
    CHECK_MSG(memcmp(x.data, y.data, (size_t)ig_view_bytes(&x)) == 0,
              "%s differs on %u and %u ranks", name, a->world, b->world);
}

/* ---- the same bits ---- */

/* Given the same gradients, whose sum a rank takes over all batches in order. */
TEST(tables_of_any_world_are_those_of_one_rank) {
    static const char *const rules[] = {
        "t*=sgd(lr=0.5)",
        "t*=adagrad(lr=0.125,eps=0.0001)",
        "t*=rowwise_adagrad(lr=0.125)",
        "t*=adam(lr=0.01)",
        "t*=partial_rowwise_adam(lr=0.01)",
        "t*=lamb(lr=0.01)",
        "t*=partial_rowwise_lamb(lr=0.01)",
        "t*=lars(lr=0.01,momentum=0.5)",
    };
    for (size_t i = 0; i < IG_COUNT_OF(rules); i++) {
        training_of of = { .loss = "sum:y",
                           .optimizers = &rules[i],
                           .count = 1,
                           .how = WHOLE_TABLES,
                           .more = "",
                           .steps = 3,
                           .fails_at = -1 };
        uint32_t world = (uint32_t)(2 + i % 3);
        world_run one, all;
        shared_world = (int)world;
        run_world(&one, 1, &of);
        of.threads = 2;
        run_world(&all, world, &of);
        for (int t = 0; t < TABLES; t++) {
            static const char *const kinds[] = { "", ".momentum1", ".momentum2" };
            for (int k = 0; k < 3; k++) {
                char name[32];
                snprintf(name, sizeof name, "t%d%s", t, kinds[k]);
                if (value_of(&one, name).data) {
                    check_same(&one, &all, name);
                }
            }
        }
        close_world(&one);
        close_world(&all);
    }
}
END_TEST

static const char *const both[] = { "t*=rowwise_adagrad(lr=0.05)",
                                    "*=adamw(lr=0.01,weight_decay=0.1)" };

static training_of layers_of(cut how, const char *more) {
    return (training_of){ .loss = "bce_logits:z=label",
                          .optimizers = both,
                          .count = 2,
                          .how = how,
                          .more = more,
                          .steps = STEPS,
                          .fails_at = -1 };
}

static void check_alike(const world_run *a, const world_run *b) {
    for (uint32_t i = 0; i < a->world; i++) {
        const ig_trainer *own = a->ranks[i].trainer, *other = b->ranks[i].trainer;
        CHECK(memcmp(a->ranks[i].losses, b->ranks[i].losses,
                     sizeof a->ranks[i].losses) == 0);
        CHECK_INT(ig_trainer_count(own), ig_trainer_count(other));
        for (size_t k = 0; k < ig_trainer_count(own); k++) {
            ig_trained x = ig_trainer_get(own, k), y = ig_trainer_get(other, k);
            size_t size = (size_t)ig_view_bytes(&x.view);
            CHECK_MSG(memcmp(x.view.data, y.view.data, size) == 0, "%s", x.name);
        }
    }
}

/* Layers are alike on all ranks; two runs give the same bits, whatever the threads. */
TEST(two_runs_are_alike) {
    training_of of = layers_of(MIXED, "");
    world_run a, b;
    run_world(&a, 3, &of);
    of.threads = 3;
    run_world(&b, 3, &of);
    check_alike(&a, &b);
    for (uint32_t i = 1; i < 3; i++) {
        static const char *const names[] = { "w", "w.momentum1", "w.momentum2", "v" };
        for (int k = 0; k < 4; k++) {
            int own = ig_trainer_find(a.ranks[i].trainer, names[k]);
            int first = ig_trainer_find(a.ranks[0].trainer, names[k]);
            ig_view x = ig_trainer_get(a.ranks[i].trainer, (size_t)own).view;
            ig_view y = ig_trainer_get(a.ranks[0].trainer, (size_t)first).view;
            CHECK(memcmp(x.data, y.data, (size_t)ig_view_bytes(&x)) == 0);
        }
    }
    close_world(&a);
    close_world(&b);
}
END_TEST

/* ---- nearly the same numbers ---- */

/* Of column-wise tables each part has a state of its own: SGD has none. */
TEST(losses_follow_those_of_one_rank) {
    static const char *const plain[] = { "t*=sgd(lr=0.5)", "*=sgd(lr=0.05)" };
    static const struct {
        cut how;
        uint32_t world;
        const char *more;
    } ways[] = { { WHOLE_TABLES, 2, "" },
                 { BY_ROWS, 3, "" },
                 { BY_COLUMNS, 4, "" },
                 { SHARED, 2, "" },
                 { MIXED, 3, "\"deduplicate\": true, " },
                 { MIXED, 4, "\"chunks\": 2, " },
                 { BY_HOST, 4, "" },
                 { BY_GRID, 4, "" } };
    for (size_t i = 0; i < IG_COUNT_OF(ways); i++) {
        training_of of = layers_of(ways[i].how, ways[i].more);
        uint32_t world = ways[i].world;
        world_run one, all;
        of.optimizers = plain;
        shared_world = (int)world;
        run_world(&one, 1, &of);
        run_world(&all, world, &of);
        for (int step = 0; step < STEPS; step++) {
            double want = one.ranks[0].losses[step], got = all.ranks[0].losses[step];
            CHECK_MSG(fabs(got - want) <= 1e-5 * fabs(want), "way %zu, step %d: %g, %g",
                      i, step, got, want);
            CHECK(all.ranks[world - 1].losses[step] == got);
        }
        CHECK(one.ranks[0].losses[STEPS - 1] != one.ranks[0].losses[0]);
        close_world(&one);
        close_world(&all);
    }
}
END_TEST

/* A rank that stops keeps all others from writing: they are where they were. */
TEST(one_rank_that_fails_leaves_every_byte) {
    training_of of = layers_of(MIXED, "");
    world_run a, b;
    of.steps = 2;
    run_world(&a, 2, &of);
    of.steps = 3;
    of.fails_at = 2;
    run_world(&b, 2, &of);
    CHECK(strstr(b.ranks[1].why, "7") != NULL);
    CHECK(b.ranks[0].status != IG_OK && b.ranks[1].status != IG_OK);
    check_alike(&a, &b);
    CHECK_INT(ig_trainer_step_count(b.ranks[0].trainer), 2);
    close_world(&a);
    close_world(&b);
}
END_TEST

/* ---- refusals ---- */

TEST(codes_have_no_gradient) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    ig_module *module = NULL;
    ig_arena arena;
    ig_program *program = NULL;
    ig_arena_init(&arena, NULL);
    CHECK_OK(ig_import_memory(context, text, sizeof text - 1, NULL, NULL, &module));
    ig_train_options how = {
        .size = sizeof how, .loss = "sum:y", .optimizers = both, .optimizer_count = 2
    };
    how.plan = plan_of(&arena, WHOLE_TABLES, 2, "\"communication\": \"int8\", ");
    CHECK_STATUS(ig_compile_train(module, &how, NULL, IG_TRAIN_STEP, &program),
                 IG_UNSUPPORTED);
    CHECK(strstr(ig_context_messages(context), "codes have no gradient"));
    ig_module_close(module);
    ig_arena_fini(&arena);
    ig_context_destroy(context);
}
END_TEST

UNIT_SUITE(ranks_train, tables_of_any_world_are_those_of_one_rank, two_runs_are_alike,
           losses_follow_those_of_one_rank, one_rank_that_fails_leaves_every_byte,
           codes_have_no_gradient)
