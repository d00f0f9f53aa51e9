/* The pass shard: programs of all ranks, run together, against the whole graph.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank has a batch of its own; what its program gives must be what the whole graph
 * gives for that batch: to the bit where no sums of rows are divided, else within
 * 2 * world * 2^-24 of the sum of the terms' sizes.
 */
#include "ir/interpret/interpret.h"
#include "ir/shard.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"
#include "passes/engine/pass.h"
#include "passes/shard/mark.h"

#include "tests/unit/passes/shard_model.h"

#include <math.h>
#include <string.h>

typedef struct trial {
    ig_context context;
    ig_arena arena;
    char message[512];
} trial;

static void keep(void *user, const ig_diagnostic *diagnostic) {
    trial *t = user;
    if (diagnostic->severity == IG_ERROR && !t->message[0]) {
        snprintf(t->message, sizeof t->message, "%s: %s",
                 ig_status_name(diagnostic->status), diagnostic->message);
    }
}

static void start(trial *t) {
    *t = (trial){ .context = { .limits = ig_limits_default } };
    t->context.diag = (ig_diag){ .sink = keep, .user = t };
    ig_arena_init(&t->arena, NULL);
}

static ig_module *parse(trial *t, const char *text) {
    ig_module *module = NULL;
    ig_status status = ig_parse_module(&t->context, "case", ig_str_of(text), &module);
    CHECK_MSG(status == IG_OK, "%s", t->message);
    return module;
}

static ig_op *find_table(ig_graph *graph, const char *name) {
    for (ig_op *op = graph->body.first; op; op = op->next) {
        bool is_one = op->code == IG_OP_weight || op->code == IG_OP_table;
        if (is_one && strcmp(ig_attr_str(op, IG_weight_name), name) == 0) {
            return op;
        }
    }
    return NULL;
}

static void check_module(trial *t, const ig_module *module) {
    ig_writer text;
    CHECK_MSG(ig_verify_module(module) == IG_OK, "%s", t->message);
    ig_writer_init(&text, &t->arena);
    ig_print_module(module, &text);
    ig_module *again = parse(t, text.data);
    CHECK(ig_graph_hash(ig_module_graph(again, "main")) ==
          ig_graph_hash(ig_module_graph(module, "main")));
    ig_module_destroy(again);
}

/* Whether an id travels once, and in how many chunks the batch goes. */
typedef struct way {
    bool is_distinct;
    int64_t chunks;
} way;

/* The program of one rank. */
static ig_module *program_of(trial *t, const char *text, shard_cut type, int64_t world,
                             int64_t rank, way how) {
    ig_module *module = parse(t, text);
    ig_graph *graph = ig_module_graph(module, "main");
    for (uint32_t i = 0; i < TABLES; i++) {
        shard_layout l = shard_lay_out(type, i, world);
        ig_shard_mark mark = { .world = world,
                               .rank = rank,
                               .is_distinct = how.is_distinct,
                               .chunks = how.chunks,
                               .shards = l.shards,
                               .count = l.count };
        ig_op *op = find_table(graph, shard_tables[i].name);
        CHECK_MSG(ig_mark_table(op->results, &mark) == IG_OK, "%s", t->message);
    }
    check_module(t, module);
    ig_pass_options options = { 0 };
    ig_status status = ig_passes_run(module, &options, "shard,dce");
    CHECK_MSG(status == IG_OK, "%s", t->message);
    check_module(t, module);
    return module;
}

/* ---- inputs ---- */

static ig_tensor *fill(trial *t, ig_tensor *out, ig_dtype dtype, uint32_t rank,
                       const int64_t *dims) {
    CHECK_OK(ig_tensor_alloc(&t->arena, &t->context, dtype, rank, dims, out));
    return out;
}

/* As tensors. */
static void draw_inputs(trial *t, ig_tensor *inputs, uint32_t seed) {
    shard_inputs drawn;
    shard_draw_inputs(&drawn, seed);
    for (uint32_t i = 0; i < INPUTS; i++) {
        const shard_input *from = &drawn.inputs[i];
        ig_dtype dtype = from->is_float ? IG_DT_f32 : IG_DT_i64;
        fill(t, &inputs[i], dtype, from->rank, from->dims);
        memcpy(inputs[i].data, from->data,
               (size_t)inputs[i].count * (ig_dtypes[dtype].bits / 8u));
    }
}

/* ---- comparing ---- */

/* One output of one rank, as the whole graph gives it, and of sizes. */
typedef struct outcome {
    const ig_tensor *want, *got, *sizes;
    uint32_t index;
    bool is_distinct;
} outcome;

static void compare(outcome o, shard_cut type, int64_t world, int64_t rank) {
    const ig_tensor *want = o.want, *got = o.got, *sizes = o.sizes;
    uint32_t output = o.index;
    CHECK_INT(got->rank, want->rank);
    CHECK_INT(got->dtype, want->dtype);
    CHECK(memcmp(got->dims, want->dims, want->rank * sizeof *want->dims) == 0);
    for (int64_t i = 0; i < want->count; i++) {
        double a = ig_tensor_get_f64(want, i), b = ig_tensor_get_f64(got, i);
        bool is_exact = o.is_distinct
                            ? !shard_adds_codes(output)
                            : !shard_splits_rows(type) || shard_copies(output);
        double within = is_exact
                            ? 0
                            : shard_bound(output, world, ig_tensor_get_f64(sizes, i));
        bool is_same = isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
        CHECK_MSG(is_same || (within > 0 && fabs(a - b) <= within),
                  "type %d, rank %lld of %lld, output %u, element %lld: %.9g, expected "
                  "%.9g within %g",
                  (int)type, (long long)rank, (long long)world, output, (long long)i, b,
                  a, within);
    }
}

static void check_type_at(trial *t, shard_cut type, int64_t world, way how) {
    const char *text = shard_model_text(&t->arena, false);
    ig_module *whole = parse(t, text),
              *sizes = parse(t, shard_model_text(&t->arena, true));
    ig_module *programs[WORLD];
    const ig_graph *graphs[WORLD];
    const ig_tensor *inputs[WORLD];
    ig_tensor *outputs[WORLD];
    ig_tensor in[WORLD][INPUTS], out[WORLD][OUTPUTS];
    for (int64_t r = 0; r < world; r++) {
        programs[r] = program_of(t, text, type, world, r, how);
        graphs[r] = ig_module_graph(programs[r], "main");
        draw_inputs(t, in[r], (uint32_t)(r + world * 8));
        inputs[r] = in[r];
        outputs[r] = out[r];
    }
    ig_status status = ig_interpret_ranks(graphs, (uint32_t)world, inputs, &t->arena,
                                          outputs);
    CHECK_MSG(status == IG_OK, "type %d, world %lld: %s", (int)type, (long long)world,
              t->message);
    for (int64_t r = 0; r < world; r++) {
        ig_tensor want[OUTPUTS], size[OUTPUTS];
        CHECK_OK(ig_interpret(ig_module_graph(whole, "main"), in[r], &t->arena, want));
        CHECK_OK(ig_interpret(ig_module_graph(sizes, "main"), in[r], &t->arena, size));
        for (uint32_t i = 0; i < OUTPUTS; i++) {
            outcome o = { &want[i], &out[r][i], &size[i], i, how.is_distinct };
            compare(o, type, world, r);
        }
        ig_module_destroy(programs[r]);
    }
    ig_module_destroy(whole);
    ig_module_destroy(sizes);
}

TEST(ranks_give_what_the_whole_gives) {
    static const int64_t worlds[] = { 1, 2, 3, 4, 8 };
    for (uint32_t i = 0; i < 2 * TYPES * IG_COUNT_OF(worlds); i++) {
        trial t;
        start(&t);
        check_type_at(&t, (shard_cut)(i / 2 % TYPES), worlds[i / 2 / TYPES],
                      (way){ i % 2, 1 });
        ig_arena_fini(&t.arena);
    }
}

/* Batches of 0 to 4 samples: some chunks have none. */
TEST(the_batch_may_go_in_chunks) {
    static const int64_t worlds[] = { 2, 3, 8 }, chunks[] = { 2, 3, 4, 16 };
    for (uint32_t i = 0; i < TYPES * IG_COUNT_OF(worlds); i++) {
        trial t;
        start(&t);
        check_type_at(&t, (shard_cut)(i % TYPES), worlds[i / TYPES],
                      (way){ i / TYPES % 2, chunks[i % 4] });
        ig_arena_fini(&t.arena);
    }
}

/* ---- what goes wrong ---- */

static const char strict[] =
    "module @t {\nweight @a : f32[4, 2] = [1, 2, 3, 4, 5, 6, 7, 8]\n"
    "graph @main(%ids: i64[N], %off: i64[B]) {\n"
    "%0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2]}\n"
    "%1 = bag %0, %ids, %off {operands = [1], pool = [sum], negative = error}\n"
    "ret %1\n}\n}\n";

/* Runs ranks 0 and 1 of the text; the first error. */
static const char *run_pair(trial *t, const char *first, const char *second,
                            int64_t wrong_id) {
    const char *texts[] = { first, second };
    ig_module *programs[2];
    const ig_graph *graphs[2];
    ig_tensor in[2][2], out[2][1];
    int64_t ids = 2, bags = 1;
    for (uint32_t r = 0; r < 2; r++) {
        ig_pass_options options = { 0 };
        programs[r] = parse(t, texts[r]);
        CHECK_OK(ig_passes_run(programs[r], &options, "shard,dce"));
        graphs[r] = ig_module_graph(programs[r], "main");
        fill(t, &in[r][0], IG_DT_i64, 1, &ids);
        fill(t, &in[r][1], IG_DT_i64, 1, &bags);
        ig_tensor_set_i64(&in[r][0], 1, r ? wrong_id : 3);
    }
    const ig_tensor *inputs[] = { in[0], in[1] };
    ig_tensor *outputs[] = { out[0], out[1] };
    ig_status status = ig_interpret_ranks(graphs, 2, inputs, &t->arena, outputs);
    CHECK((status == IG_OK) == !t->message[0]);
    ig_module_destroy(programs[0]);
    ig_module_destroy(programs[1]);
    return t->message;
}

/* The same text with another number of the rank. */
static char *with_rank(trial *t, const char *text, int rank) {
    const char *at = strstr(text, "rank = 0");
    return ig_arena_printf(&t->arena, "%.*srank = %d%s", (int)(at - text), text, rank,
                           at + strlen("rank = 0"));
}

TEST(an_id_out_of_range_is_found_where_it_was_given) {
    trial t;
    start(&t);
    CHECK_TEXT(run_pair(&t, strict, with_rank(&t, strict, 1), 4),
               "INVALID: bag_ids: feature 0: id 4 at position 1 is out of range: the "
               "table has 4 rows");
    t.message[0] = '\0';
    CHECK_TEXT(run_pair(&t, strict, with_rank(&t, strict, 1), 2), "");
    ig_arena_fini(&t.arena);
}

TEST(ranks_at_different_collectives_are_named) {
    static const char other[] =
        "module @t {\nweight @a : f32[4, 2] = splat(1)\n"
        "graph @main(%ids: i64[N], %off: i64[B]) {\n"
        "%1 = bag @a, %ids, %off {operands = [1], pool = [sum]}\nret %1\n}\n}\n";
    trial t;
    start(&t);
    const char *message = run_pair(&t, strict, other, 0);
    CHECK_TEXT(message,
               "INVALID: rank 1 is at its end of 1 operands, and rank 0 at "
               "all_to_all of 4; all ranks must be given programs of one model "
               "and plan");
    ig_arena_fini(&t.arena);
}

TEST(one_rank_cannot_run_alone) {
    trial t;
    start(&t);
    ig_module *module = parse(&t, strict);
    ig_pass_options options = { 0 };
    ig_tensor in[2], out[1];
    int64_t none = 0;
    CHECK_OK(ig_passes_run(module, &options, "shard,dce"));
    fill(&t, &in[0], IG_DT_i64, 1, &none);
    fill(&t, &in[1], IG_DT_i64, 1, &none);
    CHECK_STATUS(ig_interpret(ig_module_graph(module, "main"), in, &t.arena, out),
                 IG_UNSUPPORTED);
    CHECK(strstr(t.message, "all_to_all: this is the program of one rank"));
    ig_module_destroy(module);
    ig_arena_fini(&t.arena);
}

/* ---- collectives of whole tensors ---- */

/* Rank r's x is r + 1 and 10 (r + 1). */
static ig_status meet_whole(trial *t, const char *const *texts, uint32_t world,
                            ig_tensor (*out)[2]) {
    ig_module *programs[3];
    const ig_graph *graphs[3];
    ig_tensor in[3];
    const ig_tensor *inputs[3];
    ig_tensor *outputs[3];
    int64_t two = 2;
    for (uint32_t r = 0; r < world; r++) {
        programs[r] = parse(t, texts[r]);
        graphs[r] = ig_module_graph(programs[r], "main");
        inputs[r] = fill(t, &in[r], IG_DT_f32, 1, &two);
        outputs[r] = out[r];
        ig_tensor_set_f64(&in[r], 0, r + 1);
        ig_tensor_set_f64(&in[r], 1, 10 * (r + 1));
    }
    ig_status status = ig_interpret_ranks(graphs, world, inputs, &t->arena, outputs);
    for (uint32_t r = 0; r < world; r++) {
        ig_module_destroy(programs[r]);
    }
    return status;
}

#define WHOLE(world)                                                             \
    "module @t {\ngraph @main(%x: f32[N]) {\n%0 = all_reduce %x {world = " world \
    "}\n%1 = all_gather %x {world = " world "}\nret %0, %1\n}\n}\n"

TEST(whole_tensors_are_added_and_joined) {
    static const char *const texts[] = { WHOLE("3"), WHOLE("3"), WHOLE("3") };
    trial t;
    ig_tensor out[3][2];
    start(&t);
    CHECK_OK(meet_whole(&t, texts, 3, out));
    for (uint32_t r = 0; r < 3; r++) {
        CHECK(ig_tensor_get_f64(&out[r][0], 0) == 6);
        CHECK(ig_tensor_get_f64(&out[r][0], 1) == 60);
        CHECK_INT(out[r][1].dims[0], 6);
        for (int64_t i = 0; i < 6; i++) {
            double want = (double)(i / 2 + 1) * (i % 2 ? 10 : 1);
            CHECK(ig_tensor_get_f64(&out[r][1], i) == want);
        }
    }
    ig_arena_fini(&t.arena);
}

TEST(worlds_of_whole_tensors_are_compared) {
    static const char *const texts[] = { WHOLE("3"), WHOLE("3") }, *one = WHOLE("1");
    trial t;
    ig_tensor out[3][2], in, alone[2];
    int64_t two = 2;
    start(&t);
    CHECK_STATUS(meet_whole(&t, texts, 2, out), IG_INVALID);
    CHECK(strstr(t.message, "all_reduce: rank 0 is one of 3, and 2 run"));
    ig_module *module = parse(&t, one);
    fill(&t, &in, IG_DT_f32, 1, &two);
    ig_tensor_set_f64(&in, 1, 7);
    CHECK_OK(ig_interpret(ig_module_graph(module, "main"), &in, &t.arena, alone));
    CHECK(ig_tensor_get_f64(&alone[0], 1) == 7 && ig_tensor_get_f64(&alone[1], 1) == 7);
    ig_module_destroy(module);
    ig_arena_fini(&t.arena);
}

UNIT_SUITE(passes_shard, ranks_give_what_the_whole_gives, the_batch_may_go_in_chunks,
           an_id_out_of_range_is_found_where_it_was_given,
           ranks_at_different_collectives_are_named, one_rank_cannot_run_alone,
           whole_tensors_are_added_and_joined, worlds_of_whole_tensors_are_compared)
