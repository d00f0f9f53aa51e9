/* The pass shard: programs of all ranks, run together, against the whole graph.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank has a batch of its own; what its program gives must be what the whole graph
 * gives for that batch: to the bit where no sums of rows are divided, else within
 * 2 * world * 2^-24 of the sum of the terms' sizes.
 */
#include "ir/interpret/interpret.h"
#include "ir/shard.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/engine/pass.h"
#include "passes/shard/mark.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { WORLD = 8, OUTPUTS = 12, INPUTS = 8, SHARDS = 64, TABLES = 6 };

typedef enum cut {
    DATA_PARALLEL,
    TABLE_WISE,
    COLUMN_WISE,
    ROW_WISE,
    TABLE_ROW_WISE,
    TABLE_COLUMN_WISE,
    GRID,
    BY_HAND, /* one rank has rows in two places */
    TYPES
} cut;

static bool has_split_rows(cut type) {
    return type == ROW_WISE || type == TABLE_ROW_WISE || type == GRID ||
           type == BY_HAND;
}

typedef struct table {
    const char *name;
    int64_t rows, dim;
} table;

static const table tables[TABLES] = { { "a", 11, 8 }, { "b", 3, 4 }, { "h", 5, 4 },
                                      { "q", 9, 8 },  { "d", 6, 4 }, { "n", 7, 4 } };

/* ---- where shards lie ---- */

typedef struct layout {
    ig_shard shards[SHARDS];
    uint32_t count;
} layout;

static void add(layout *l, int64_t rank, const int64_t rows[2],
                const int64_t columns[2]) {
    CHECK(l->count < SHARDS);
    l->shards[l->count++] = (ig_shard){ rank, rows[0], rows[1] - rows[0], columns[0],
                                        columns[1] - columns[0] };
}

/* The end of piece `i` of `count` equal ones, the last ones shorter or empty. */
static int64_t end_of(int64_t i, int64_t count, int64_t whole) {
    int64_t block = (whole + count - 1) / count, end = (i + 1) * block;
    return end < whole ? end : whole;
}

/* `rows` x `columns` pieces, on ranks from `first` on, rows of a column next to each
 * other. */
static void add_pieces(layout *l, const table *t, int64_t first, int64_t rows,
                       int64_t columns, int64_t world) {
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t r = 0; r < rows; r++) {
            int64_t row[] = { r ? end_of(r - 1, rows, t->rows) : 0,
                              end_of(r, rows, t->rows) };
            int64_t column[] = { c ? end_of(c - 1, columns, t->dim) : 0,
                                 end_of(c, columns, t->dim) };
            add(l, (first + c * rows + r) % world, row, column);
        }
    }
}

static layout lay_out(cut type, uint32_t number, int64_t world) {
    layout l = { .count = 0 };
    const table *t = &tables[number];
    int64_t local = world % 2 ? world : world == 8 ? 4 : 2, hosts = world / local;
    int64_t host = number % hosts * local, first = number % world;
    if (type == TABLE_WISE) {
        add_pieces(&l, t, first, 1, 1, world);
    } else if (type == COLUMN_WISE) {
        add_pieces(&l, t, first, 1, world < t->dim ? world : t->dim, world);
    } else if (type == ROW_WISE) {
        add_pieces(&l, t, 0, world, 1, world);
    } else if (type == TABLE_ROW_WISE) {
        add_pieces(&l, t, host, local, 1, world);
    } else if (type == TABLE_COLUMN_WISE) {
        add_pieces(&l, t, host, 1, local, world);
    } else if (type == GRID) {
        add_pieces(&l, t, 0, local, hosts, world);
    } else if (type == BY_HAND) {
        add_pieces(&l, t, first, 3, 2, world < 3 ? world : 2);
    }
    return l;
}

/* ---- the model ---- */

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void put_numbers(ig_writer *out, const table *t, bool is_whole, bool is_size,
                        uint32_t *state) {
    for (int64_t i = 0; i < t->rows * t->dim; i++) {
        int32_t number = (int32_t)(draw(state) % 2001) - 1000;
        number = is_size && number < 0 ? -number : number;
        ig_put(out, i ? ", " : "[");
        if (is_whole) {
            ig_put(out, "%d", number);
        } else {
            ig_put(out, "%.6g", number / 777.0);
        }
    }
    ig_put(out, "]\n");
}

/* Rows of codes behind their f16 scale and bias, 0.1 and 0. */
static void put_codes(ig_writer *out, const table *t, uint32_t *state) {
    ig_put(out, "inline(0x");
    for (int64_t r = 0; r < t->rows; r++) {
        ig_put(out, "662e0000");
        for (int64_t i = 0; i < t->dim; i++) {
            ig_put(out, "%02x", draw(state) % 256);
        }
    }
    ig_put(out, ")\n");
}

static const char body[] =
    "graph @main(%ids: i64[N], %off: i64[B], %off1: i64[B + 1], %ends: i64[B],\n"
    "            %w: f32[N], %ids2: i64[B, 3], %w2: f32[B, 3]) {\n"
    "%0, %1, %2 = bag @a, %ids, %off, @b, %ids, %off1, @a, %ids, %off, %ends, %w\n"
    "    {operands = [1, 1, 7], pool = [sum, mean, mean], last = [ids, offset, ids],\n"
    "     empty = [zero, nan, nan], negative = skip, range = clamp, offsets = clamp}\n"
    "%3 = bag @a, %ids2, %w2 {operands = [4], pool = [max], range = first}\n"
    "%4, %5 = bag @h, %ids, %off, @q, %ids, %off {operands = [1, 1],\n"
    "    pool = [sum, mean], padding = [1, 2], negative = skip, range = clamp,\n"
    "    offsets = clamp}\n"
    "%6 = bag @q, %ids2 {operands = [0], pool = [none], range = clamp}\n"
    "%7 = bag @a, %ids, %off1 {operands = [1], pool = [mean], last = [mean],\n"
    "    padding = [3], negative = skip, range = clamp, offsets = clamp}\n"
    "%8 = bag @a, %ids, %off1, %w {operands = [5], pool = [none], last = [offset],\n"
    "    negative = skip, range = clamp, offsets = clamp}\n"
    "%9 = bag @d, %ids, %off1 {operands = [1], pool = [sum], last = [rest],\n"
    "    empty = [neg_inf], negative = skip, range = clamp, offsets = clamp}\n"
    "%10 = bag @n, %ids2 {operands = [0], pool = [none], range = clamp}\n"
    "%11 = bag @a, %ids, %off1 {operands = [1], pool = [max], last = [offset],\n"
    "    negative = skip, range = clamp, offsets = clamp}\n"
    "ret %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11\n}\n}\n";

/* Outputs that no sum goes into. */
static bool is_copied(uint32_t output) {
    return output == 3 || output == 6 || output == 8 || output == 10 || output == 11;
}

/* Half a unit in the last place: f16, f64, else f32. */
static double rounding(uint32_t output) {
    return output == 4 ? 0x1p-11 : output == 9 ? 0x1p-53 : 0;
}

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

/* With sizes in place of numbers, or not. */
static const char *model_text(trial *t, bool is_size) {
    static const char *const types[] = {
        "weight @a : f32", "weight @b : f32",
        "weight @h : f16", "table @q : u8<rowwise f16>",
        "weight @d : f64", "weight @n : i64"
    };
    ig_writer out;
    uint32_t state = 5;
    ig_writer_init(&out, &t->arena);
    ig_put(&out, "module @t {\n");
    for (uint32_t i = 0; i < TABLES; i++) {
        ig_put(&out, "%s[%lld, %lld] = ", types[i], (long long)tables[i].rows,
               (long long)tables[i].dim);
        if (i == 3) {
            put_codes(&out, &tables[i], &state);
        } else {
            put_numbers(&out, &tables[i], i == 5, is_size, &state);
        }
    }
    ig_put(&out, "%s", body);
    return out.data;
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

/* The program of one rank. */
static ig_module *program_of(trial *t, const char *text, cut type, int64_t world,
                             int64_t rank) {
    ig_module *module = parse(t, text);
    ig_graph *graph = ig_module_graph(module, "main");
    for (uint32_t i = 0; i < TABLES; i++) {
        layout l = lay_out(type, i, world);
        ig_shard_mark mark = { world, rank, l.shards, l.count };
        ig_op *op = find_table(graph, tables[i].name);
        CHECK_MSG(ig_mark_table(op, &mark) == IG_OK, "%s", t->message);
    }
    check_module(t, module);
    ig_pass_options options = { 0 };
    ig_status status = ig_run_passes(module, &options, "shard,dce");
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

/* A batch of 0 to 4, ids between -1 and a few beyond the largest table; offsets rise,
 * and some bags are empty; ids are left behind the last. */
static void draw_inputs(trial *t, ig_tensor *inputs, uint32_t seed) {
    uint32_t state = seed * 2654435761u + 1;
    int64_t bags = draw(&state) % 5, ids = bags * 3 + draw(&state) % 4, at = 0;
    int64_t more = bags + 1, fixed[] = { bags, 3 };
    fill(t, &inputs[0], IG_DT_i64, 1, &ids);
    fill(t, &inputs[1], IG_DT_i64, 1, &bags);
    fill(t, &inputs[2], IG_DT_i64, 1, &more);
    fill(t, &inputs[3], IG_DT_i64, 1, &bags);
    fill(t, &inputs[4], IG_DT_f32, 1, &ids);
    fill(t, &inputs[5], IG_DT_i64, 2, fixed);
    fill(t, &inputs[6], IG_DT_f32, 2, fixed);
    for (int64_t i = 0; i < ids; i++) {
        ig_tensor_set_i64(&inputs[0], i, (int64_t)(draw(&state) % 15) - 1);
        ig_tensor_set_f64(&inputs[4], i, draw(&state) % 64 / 16.0);
    }
    for (int64_t i = 0; i <= bags; i++) {
        ig_tensor_set_i64(&inputs[2], i, at);
        if (i < bags) {
            ig_tensor_set_i64(&inputs[1], i, at);
            at += draw(&state) % 5;
            ig_tensor_set_i64(&inputs[3], i, at);
        }
    }
    for (int64_t i = 0; i < bags * 3; i++) {
        ig_tensor_set_i64(&inputs[5], i, (int64_t)(draw(&state) % 14) - 2);
        ig_tensor_set_f64(&inputs[6], i, draw(&state) % 64 / 16.0);
    }
}

/* ---- comparing ---- */

static double bound_of(uint32_t output, int64_t world, double size) {
    double unit = output == 9 ? 0x1p-53 : 0x1p-24;
    return 2 * (double)world * unit * size + rounding(output) * size;
}

/* One output of one rank, as the whole graph gives it, and of sizes. */
typedef struct outcome {
    const ig_tensor *want, *got, *sizes;
    uint32_t number;
} outcome;

static void compare(outcome o, cut type, int64_t world, int64_t rank) {
    const ig_tensor *want = o.want, *got = o.got, *sizes = o.sizes;
    uint32_t output = o.number;
    CHECK_INT(got->rank, want->rank);
    CHECK_INT(got->dtype, want->dtype);
    CHECK(memcmp(got->dims, want->dims, want->rank * sizeof *want->dims) == 0);
    for (int64_t i = 0; i < want->count; i++) {
        double a = ig_tensor_get_f64(want, i), b = ig_tensor_get_f64(got, i);
        bool is_exact = !has_split_rows(type) || is_copied(output);
        double within = is_exact ? 0
                                 : bound_of(output, world, ig_tensor_get_f64(sizes, i));
        bool is_same = isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
        CHECK_MSG(is_same || (within > 0 && fabs(a - b) <= within),
                  "type %d, rank %lld of %lld, output %u, element %lld: %.9g, expected "
                  "%.9g within %g",
                  (int)type, (long long)rank, (long long)world, output, (long long)i, b,
                  a, within);
    }
}

static void check_type_at(trial *t, cut type, int64_t world) {
    const char *text = model_text(t, false);
    ig_module *whole = parse(t, text), *sizes = parse(t, model_text(t, true));
    ig_module *programs[WORLD];
    const ig_graph *graphs[WORLD];
    const ig_tensor *inputs[WORLD];
    ig_tensor *outputs[WORLD];
    ig_tensor in[WORLD][INPUTS], out[WORLD][OUTPUTS];
    for (int64_t r = 0; r < world; r++) {
        programs[r] = program_of(t, text, type, world, r);
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
            compare((outcome){ &want[i], &out[r][i], &size[i], i }, type, world, r);
        }
        ig_module_destroy(programs[r]);
    }
    ig_module_destroy(whole);
    ig_module_destroy(sizes);
}

TEST(ranks_give_what_the_whole_gives) {
    static const int64_t worlds[] = { 1, 2, 3, 4, 8 };
    for (int type = 0; type < TYPES; type++) {
        for (size_t i = 0; i < IG_COUNT_OF(worlds); i++) {
            trial t;
            start(&t);
            check_type_at(&t, (cut)type, worlds[i]);
            ig_arena_fini(&t.arena);
        }
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
        CHECK_OK(ig_run_passes(programs[r], &options, "shard,dce"));
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
    CHECK_OK(ig_run_passes(module, &options, "shard,dce"));
    fill(&t, &in[0], IG_DT_i64, 1, &none);
    fill(&t, &in[1], IG_DT_i64, 1, &none);
    CHECK_STATUS(ig_interpret(ig_module_graph(module, "main"), in, &t.arena, out),
                 IG_UNSUPPORTED);
    CHECK(strstr(t.message, "all_to_all: this is the program of one rank"));
    ig_module_destroy(module);
    ig_arena_fini(&t.arena);
}

UNIT_SUITE(passes_shard, ranks_give_what_the_whole_gives,
           an_id_out_of_range_is_found_where_it_was_given,
           ranks_at_different_collectives_are_named, one_rank_cannot_run_alone)
