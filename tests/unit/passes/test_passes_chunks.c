/* What follows a divided bag is computed chunk by chunk: every op of
 * passes/shard/rows.c in forms that keep samples apart, and in forms that do not.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tables lie whole on one rank, so that no sum is divided: every output must be what
 * the whole graph gives, to the bit.
 */
#include "ir/interpret/interpret.h"
#include "ir/shard.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"
#include "passes/engine/pass.h"

#include "tests/unit/unit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORLD = 2, INPUTS = 5, OUTPUTS_MAX = 4, IDS_MAX = 64, BAGS_MAX = 19 };

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

/* What is done to %y: f32[B, 4, 8] of bags, %s: f32[B, 32] of the same, and %x. */
typedef struct case_row {
    const char *ops; /* %r … are returned */
    const char *returned;
    bool is_split; /* in chunks, to the end */
} case_row;

static const case_row cases[] = {
    /* elementwise: a row, one row for all, a scalar, another value of the batch */
    { "%r = add %s, @row\n%q = mul %r, @one_row\n%p = sub %q, %z\n", "%p", true },
    { "%r = relu %y\n%q = mul %r, %r\n%p = cast %q {to = f64}\n", "%p", true },
    { "%t = transpose %y {perm = [1, 2, 0]}\n%r = add %t, %t\n", "%r", false },
    /* of lower rank: its axis is the batch's where it stands last */
    { "%k = reduce %y {axes = [1, 2]}\n%r = add %square, %k\n", "%r", false },
    { "%r = matmul %s, @w\n%q = matmul @wt, %y\n", "%r, %q", false },
    { "%r = matmul %s, @w\n%t = reshape %r {to = [B, 1, 4]}\n%q = matmul %t, %y\n",
      "%q", true },
    { "%t = transpose %y {perm = [0, 2, 1]}\n%r = matmul %y, %t\n"
      "%q = matmul %y, %y {transpose_b = true}\n%p = sub %r, %q\n",
      "%p", true },
    { "%r = matmul %s, %x {transpose_a = true}\n", "%r", false },
    { "%r = reshape %y {to = [4*B, 8]}\n%q = add %r, @eight\n"
      "%p = reshape %q {to = [2*B, 16]}\n%o = reshape %p {to = [B, 32]}\n",
      "%o", true },
    { "%r = reshape %y {to = [2, 2*B, 8]}\n%q = relu %r\n", "%q", false },
    { "%r = reshape %s {to = [B, 1, 32]}\n%q = expand %r {to = [B, 3, 32]}\n", "%q",
      true },
    { "%r = slice %y {starts = [0, 1, 2], sizes = [B, 2, 3], steps = [1, 2, 2]}\n",
      "%r", true },
    { "%r = slice %y {starts = [B - 1, 0, 0], sizes = [B, 4, 8], steps = [-1, 1, 1]}\n",
      "%r", false },
    { "%r = concat %s, %z, %s {axis = 1}\n%q = concat %y, %y {axis = -1}\n", "%r, %q",
      true },
    { "%r = concat %s, %s {axis = 0}\n%q = relu %r\n", "%q", false },
    { "%r = softmax %s {axis = 1}\n%q = softmax %y {axis = -1}\n", "%r, %q", true },
    { "%r = softmax %s {axis = 0}\n%q = softmax %y {axis = -3}\n", "%r, %q", false },
    { "%r = layer_norm %y {axis = 2, epsilon = 0.001}\n"
      "%q = layer_norm %s {axis = -1, epsilon = 0.001}\n",
      "%r, %q", true },
    { "%r = reduce %y {axes = [1]}\n"
      "%q = reduce %y {op = max, axes = [-1], keep = true}\n",
      "%r, %q", true },
    { "%r = reduce %y {axes = [0]}\n%q = reduce %y {axes = [-3, 1]}\n%p = reduce %y\n",
      "%r, %q, %p", false },
    { "%i = const {value = [3, 0, 0]} : i64[3]\n%r = gather %y, %i {axis = 1}\n", "%r",
      true },
    { "%i = const {value = [0, 0]} : i64[2]\n%r = gather @eight2, %i {axis = 0}\n"
      "%q = matmul %s, @w\n",
      "%r, %q", true },
    { "%r = interact %y {pairs = [1, 2, 11]}\n", "%r", true },
    { "%r = cumsum %s {axis = 0}\n%q = relu %r\n", "%q", false },
    /* one result whole, of which another op needs a part with the chunks */
    { "%r = reduce %s {axes = [0], keep = true}\n%q = sub %s, %r\n%p = relu %s\n",
      "%q, %p", false },
    { "%r = matmul %s, @w\n%q = reduce %r\n%p = mul %r, %q\n", "%p, %r", false },
};

static const char head[] =
    "module @m {\n"
    "weight @a : f32[5, 32] = %s\n"
    "weight @b : f32[3, 8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,\n"
    "17, 18, 19, 20, 21, 22, 23, 24]\n"
    "weight @w : f32[32, 4] = splat(0.25)\nweight @wt : f32[2, 4] = splat(0.5)\n"
    "weight @row : f32[32] = splat(2)\nweight @one_row : f32[1, 32] = splat(3)\n"
    "weight @eight : f32[8] = [1, 2, 3, 4, 5, 6, 7, 8]\n"
    "weight @eight2 : f32[2, 8] = splat(1)\n"
    "graph @main(%%x: f32[B, 4], %%ids: i64[N], %%off: i64[B], %%ids2: i64[B, 4],\n"
    "    %%more: i64[M]) {\n"
    "%%ta = shard @a {world = 2, rank = %d, chunks = %d, parts = [1, 0, 5, 0, 32]}\n"
    "%%tb = shard @b {world = 2, rank = %d, chunks = %d, parts = [0, 0, 3, 0, 8]}\n"
    "%%z = matmul %%x, @w {transpose_b = true}\n"
    "%%square = matmul %%x, %%x {transpose_b = true}\n"
    "%%s1, %%s2 = bag %%ta, %%ids, %%off, %%ta, %%more, %%off\n"
    "    {operands = [1, 1], pool = [mean, sum]}\n"
    "%%s = add %%s1, %%s2\n"
    "%%y = bag %%tb, %%ids2 {operands = [0], pool = [none]}\n"
    "%sret %s\n}\n}\n";

/* The text with a number in place of B. */
static const char *with_extent(trial *t, const char *text, int64_t bags) {
    ig_writer out;
    ig_writer_init(&out, &t->arena);
    for (const char *at = text; *at; at++) {
        bool is_name = at[0] == 'B' && !isalnum((unsigned char)at[1]) &&
                       !isalnum((unsigned char)at[-1]);
        if (is_name) {
            ig_put(&out, "%lld", (long long)bags);
        } else {
            ig_put(&out, "%.1s", at);
        }
    }
    return out.data;
}

static const char *text_of(trial *t, const case_row *row, int rank, int chunks) {
    ig_writer numbers;
    ig_writer_init(&numbers, &t->arena);
    for (int i = 0; i < 5 * 32; i++) {
        ig_put(&numbers, "%s%d", i ? ", " : "[", (i * 37 + 11) % 64 - 30);
    }
    ig_put(&numbers, "]");
    return ig_arena_printf(&t->arena, head, numbers.data, rank, chunks, rank, chunks,
                           row->ops, row->returned);
}

static ig_module *parse(trial *t, const char *text) {
    ig_module *module = NULL;
    ig_status status = ig_parse_module(&t->context, "case", ig_str_of(text), &module);
    CHECK_MSG(status == IG_OK, "%s\n%s", t->message, text);
    return module;
}

static ig_module *program_of(trial *t, const char *text) {
    ig_module *module = parse(t, text);
    ig_pass_options options = { 0 };
    ig_status status = ig_passes_run(module, &options, "shard,dce");
    CHECK_MSG(status == IG_OK, "%s\n%s", t->message, text);
    CHECK_MSG(ig_verify_module(module) == IG_OK, "%s\n%s", t->message, text);
    return module;
}

/* Is the last op of the graph that puts chunks together? */
static bool ends_in_chunks(const ig_module *module) {
    const ig_op *ret = ig_module_graph(module, "main")->body.last;
    bool are = true;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        const ig_op *op = ig_def(ret->operands[i].value, IG_OP_concat);
        bool has_other = ig_def(ret->operands[i].value, IG_OP_gather) != NULL;
        are = are && (has_other || (op && ig_attr_int(op, IG_concat_axis, -1) == 0));
    }
    return are;
}

/* Batches of 0, of fewer samples than chunks, and of more. */
static void fill_inputs(trial *t, ig_tensor *in, int64_t bags, uint32_t seed) {
    int64_t ids = bags * 3, more = ids + 2, x[] = { bags, 4 };
    CHECK_OK(ig_tensor_alloc(&t->arena, &t->context, IG_DT_f32, 2, x, &in[0]));
    CHECK_OK(ig_tensor_alloc(&t->arena, &t->context, IG_DT_i64, 1, &ids, &in[1]));
    CHECK_OK(ig_tensor_alloc(&t->arena, &t->context, IG_DT_i64, 1, &bags, &in[2]));
    CHECK_OK(ig_tensor_alloc(&t->arena, &t->context, IG_DT_i64, 2, x, &in[3]));
    CHECK_OK(ig_tensor_alloc(&t->arena, &t->context, IG_DT_i64, 1, &more, &in[4]));
    for (int64_t i = 0; i < bags * 4; i++) {
        ig_tensor_set_f64(&in[0], i, (double)((i * 7 + seed) % 13) - 6);
        ig_tensor_set_i64(&in[3], i, (i * 5 + seed) % 3);
    }
    for (int64_t i = 0; i < ids; i++) {
        ig_tensor_set_i64(&in[1], i, (i * 3 + seed) % 5);
    }
    for (int64_t i = 0; i < more; i++) {
        ig_tensor_set_i64(&in[4], i, (i * 2 + seed) % 5);
    }
    for (int64_t i = 0; i < bags; i++) {
        ig_tensor_set_i64(&in[2], i, i * 3 - (i % 3 == 1)); /* some bags are longer */
    }
}

/* With the batch open, or known. */
static void check_case(const case_row *row, int chunks, int64_t bags, bool is_known) {
    trial t;
    start(&t);
    ig_module *wholes[WORLD], *programs[WORLD];
    const ig_graph *graphs[WORLD];
    ig_tensor in[WORLD][INPUTS], out[WORLD][OUTPUTS_MAX], want[OUTPUTS_MAX];
    const ig_tensor *inputs[WORLD];
    ig_tensor *outputs[WORLD];
    for (int r = 0; r < WORLD; r++) {
        int64_t own = r ? bags / 2 + 1 : bags;
        const char *text = text_of(&t, row, r, chunks), *whole = text_of(&t, row, r, 1);
        programs[r] = program_of(&t, is_known ? with_extent(&t, text, own) : text);
        wholes[r] = parse(&t, is_known ? with_extent(&t, whole, own) : whole);
        CHECK_MSG(ends_in_chunks(programs[r]) >= row->is_split, "not in chunks:\n%s",
                  row->ops);
        graphs[r] = ig_module_graph(programs[r], "main");
        fill_inputs(&t, in[r], own, (uint32_t)r);
        inputs[r] = in[r];
        outputs[r] = out[r];
    }
    ig_status status = ig_interpret_ranks(graphs, WORLD, inputs, &t.arena, outputs);
    CHECK_MSG(status == IG_OK, "%s\n%s", t.message, row->ops);
    for (int r = 0; r < WORLD; r++) {
        CHECK_OK(
            ig_interpret(ig_module_graph(wholes[r], "main"), in[r], &t.arena, want));
        uint32_t count = graphs[r]->body.last->operand_count;
        for (uint32_t i = 0; i < count; i++) {
            CHECK_INT(out[r][i].count, want[i].count);
            for (int64_t k = 0; k < want[i].count; k++) {
                double a = ig_tensor_get_f64(&want[i], k);
                double b = ig_tensor_get_f64(&out[r][i], k);
                CHECK_MSG(a == b || (isnan(a) && isnan(b)),
                          "rank %d, %d chunks of %lld, output %u, element %lld: %.9g, "
                          "expected %.9g\n%s",
                          r, chunks, (long long)bags, i, (long long)k, b, a, row->ops);
            }
        }
        ig_module_destroy(programs[r]);
        ig_module_destroy(wholes[r]);
    }
    ig_arena_fini(&t.arena);
}

TEST(what_keeps_samples_apart_is_computed_in_chunks) {
    static const int chunks[] = { 2, 3, 16 };
    static const int64_t bags[] = { 0, 1, 5, 18 };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        for (size_t k = 0; k < IG_COUNT_OF(chunks); k++) {
            for (size_t n = 0; n < IG_COUNT_OF(bags); n++) {
                check_case(&cases[i], chunks[k], bags[n], false);
                check_case(&cases[i], chunks[k], bags[n], true);
            }
        }
    }
}

UNIT_SUITE(passes_chunks, what_keeps_samples_apart_is_computed_in_chunks)
