/* Products of 8-bit integers, for `pack`.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = matmul_integer %a, @w, %za, %zw      a: u8 or i8, w: [K, N] or transposed
 *   becomes
 *     %1 = matmul_quads %a', @w.quads {columns = N}
 *     %2 = sub %1, (mul %za', @w.sums)
 *
 * The kernel multiplies u8 by i8.  Elements of a of i8 get 128 more, and their zero
 * point too: a' - za' is a - za.  Of w the recipe stores w - o, with an offset o for
 * each column: its zero point where all differences fit i8, else 0 or 128.  Then
 *
 *     sum (a' - za') (w - zw) = sum a' (w - o) - (zw - o) sum a' - za' sum (w - zw)
 *
 * and the last sum is known now; the one of a', where it counts at all, is a product
 * with ones.  All of it wraps in 32 bits as matmul_integer does, so it is exact.
 *
 * Rows of a that are windows are read in place, by conv_quads.
 *
 * Levels that have no instruction for dot4 multiply in 16 bits, as far as w proves that
 * nothing overflows: with
 *     %1 = matmul_quads %a', @w.quads.chain4, @w.quads.chain4.places {chain = 4, …}
 */
#include "passes/place/pack.h"
#include "passes/engine/known.h"

#include "compose/quantise.h"
#include "ir/build/expr.h"
#include "ir/interpret/interpret.h"
#include "ir/semantics/chains.h"

#include <assert.h>

enum { FLIP = 128 }; /* between u8 and i8 */

/* ---- the weight ---- */

typedef struct quads {
    ig_op *source; /* of the matrix: a weight or a constant */
    ig_op *view;   /* NULL, or a reshape to [N, K] of its axes from 1 on in any order,
                    * to which zeros may have been added */
    ig_op *added;  /* or NULL: the view is of what this adds zeros to */
    const char *name;
    bool is_transposed; /* stored [N, K] */
    int64_t k, n;
    int32_t *zeros, *offsets; /* by column */
    bool has_zeros, has_sums; /* sums: some zero point is not the offset */
    int64_t factor;           /* of sums, the rows' zero point where it is known */
} quads;

static bool is_byte(const ig_value *x) {
    return x->type->dtype == IG_DT_i8 || x->type->dtype == IG_DT_u8;
}

static bool is_stored(const ig_op *op) {
    return op && (op->code == IG_OP_weight || op->code == IG_OP_const) &&
           ig_type_is_static(op->results->type);
}

/* Zeros after the elements of each row. */
static bool adds_zeros(const ig_op *op) {
    int64_t value = 0;
    bool is_pad = op && op->code == IG_OP_pad;
    bool is_zero = is_pad && (op->operand_count == 1 ||
                              (op->operand_count == 2 &&
                               ig_constant_i64(op->operands[1].value, &value)));
    return is_zero && value == 0 &&
           ig_attr_int(op, IG_pad_mode, IG_PAD_constant) == IG_PAD_constant;
}

/* Weights of windows [N, C, k…] as a matrix [N, K]: a reshape that leaves axis 0, of a
 * transpose that does, or of the weights. */
static bool read_windows(ig_op *op, quads *out) {
    ig_op *inner = op->code == IG_OP_reshape ? op->operands[0].value->def : NULL;
    if (inner && inner->code == IG_OP_transpose &&
        inner->attrs[IG_transpose_perm].as.ints[0] == 0) {
        inner = inner->operands[0].value->def;
    }
    out->added = adds_zeros(inner) ? inner : NULL;
    inner = out->added ? inner->operands[0].value->def : inner;
    if (!is_stored(inner) || !out->is_transposed ||
        !ig_dim_same(inner->results->type->dims[0], op->results->type->dims[0])) {
        return false;
    }
    out->view = op;
    out->source = inner;
    return true;
}

/* The matrix below transpositions. */
static bool read_matrix(const ig_value *value, quads *out) {
    ig_op *op = value->def;
    while (op && ig_pack_swaps_two(op)) {
        out->is_transposed = !out->is_transposed;
        op = op->operands[0].value->def;
    }
    if (!op || value->type->rank != 2 || !ig_type_is_static(op->results->type) ||
        (!is_stored(op) && !read_windows(op, out))) {
        return false;
    }
    const ig_type *type = op->results->type;
    op = out->view ? out->source : op;
    out->source = op;
    out->name = op->code == IG_OP_weight ? ig_attr_str(op, IG_weight_name) : "constant";
    out->n = ig_dim_value(type->dims[out->is_transposed ? 0 : 1]);
    out->k = ig_dim_value(type->dims[out->is_transposed ? 1 : 0]);
    return out->n > 0 && out->k > 0;
}

/* One zero point, or one for each column, along the last axis. */
static bool read_zeros(ig_pass_run *run, const ig_op *op, quads *q) {
    ig_tensor zeros;
    q->zeros = IG_NEW_ARRAY(run->scratch, int32_t, (size_t)q->n);
    if (op->operand_count < 4) {
        return true;
    }
    const ig_type *type = op->operands[3].value->type;
    bool is_row = type->rank < 2 || ig_dim_is(type->dims[0], 1);
    if (type->rank > 2 || !is_row ||
        !ig_read_constant(op->operands[3].value, run->scratch, &zeros) ||
        (zeros.count != 1 && zeros.count != q->n)) {
        return false;
    }
    for (int64_t i = 0; i < q->n; i++) {
        q->zeros[i] = (int32_t)ig_tensor_get_i64(&zeros, zeros.count == 1 ? 0 : i);
        q->has_zeros |= q->zeros[i] != 0;
    }
    return true;
}

/* The offset of a column whose elements are between low and high. */
static int32_t choose_offset(int32_t zero, int64_t low, int64_t high, int32_t usual) {
    bool fits = low - zero >= -FLIP && high - zero < FLIP;
    return fits ? zero : usual;
}

static bool choose_offsets(ig_pass_run *run, quads *q) {
    ig_tensor w;
    bool is_unsigned = q->source->results->type->dtype == IG_DT_u8;
    q->offsets = IG_NEW_ARRAY(run->scratch, int32_t, (size_t)q->n);
    if (!q->has_zeros && !is_unsigned) {
        return true;
    }
    if (!ig_read_constant(q->source->results, run->scratch, &w)) {
        return false;
    }
    int64_t step = q->is_transposed ? 1 : q->n, depth = w.count / q->n;
    for (int64_t i = 0; i < q->n; i++) {
        int64_t at = q->is_transposed ? i * depth : i;
        int64_t low = q->added ? 0 : INT64_MAX, high = q->added ? 0 : INT64_MIN;
        for (int64_t k = 0; k < depth; k++) {
            int64_t x = ig_tensor_get_i64(&w, at + k * step);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        q->offsets[i] = choose_offset(q->zeros[i], low, high, is_unsigned ? FLIP : 0);
        q->has_sums |= q->offsets[i] != q->zeros[i];
    }
    return true;
}

static bool read_quads(ig_pass_run *run, const ig_op *op, quads *out) {
    *out = (quads){ 0 };
    return is_byte(op->operands[1].value) && read_matrix(op->operands[1].value, out) &&
           read_zeros(run, op, out) && choose_offsets(run, out);
}

/* ---- recipes ---- */

static ig_value *values_of_columns(ig_expr *e, const quads *q, const int32_t *values) {
    return ig_expr_constant(e, "columns", IG_DT_i32, 1, &q->n, values);
}

/* `view` of the weights, made anew of `x`. */
static ig_value *view_again(ig_expr *e, const ig_op *view, const ig_op *added,
                            ig_value *x) {
    const ig_op *inner = view->operands[0].value->def;
    x = added ? ig_build_pad(e, x, NULL, NULL, NULL, ig_pad_attrs_of(added)) : x;
    if (inner->code == IG_OP_transpose) {
        x = ig_expr_transpose(e, x, inner->attrs[IG_transpose_perm].as.ints);
    }
    const ig_type *type = view->results->type;
    return ig_expr_reshape(e, x, type->rank, type->dims);
}

/* The matrix [N, K] in i32, less a number for each column. */
static ig_value *centre_matrix(ig_expr *e, const quads *q, const int32_t *less) {
    ig_map copies;
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_map_init(&copies, &arena);
    ig_builder *b = e->builder;
    ig_value *x = NULL;
    if (q->source->code == IG_OP_weight) {
        x = ig_make_weight(b, ig_module_weight(e->module, q->name));
    } else {
        x = ig_op_clone(q->source, b->block, b->before, &copies)->results;
    }
    ig_arena_fini(&arena);
    x = q->view ? view_again(e, q->view, q->added, x) : x;
    x = ig_expr_cast(e, x, IG_DT_i32);
    x = q->is_transposed ? x : ig_expr_swap(e, x, 0, 1);
    ig_value *columns = ig_expr_along(e, values_of_columns(e, q, less), 0, 2);
    return ig_build_sub(e, x, columns);
}

/* Panels of quads, zero beyond K and N. */
static ig_value *build_panels(ig_expr *e, const quads *q) {
    static const int64_t perm[] = { 0, 2, 1, 3 };
    int64_t panels = (q->n + IG_PANEL - 1) / IG_PANEL;
    int64_t depth = (q->k + IG_QUAD - 1) / IG_QUAD;
    ig_value *x = ig_expr_cast(e, centre_matrix(e, q, q->offsets), IG_DT_i8);
    ig_dim before[] = { ig_dim_of(0), ig_dim_of(0) };
    ig_dim after[] = { ig_dim_of(panels * IG_PANEL - q->n),
                       ig_dim_of(depth * IG_QUAD - q->k) };
    x = ig_expr_pad(e, x, before, after, IG_PAD_constant, 0);
    ig_dim dims[] = { ig_dim_of(panels), ig_dim_of(IG_PANEL), ig_dim_of(depth),
                      ig_dim_of(IG_QUAD) };
    return ig_expr_transpose(e, ig_expr_reshape(e, x, 4, dims), perm);
}

/* The name of a recipe that depends on a weight and on numbers of its columns, which
 * are all one number as a rule; others are not shared. */
static const char *name_recipe(ig_pass_run *run, const quads *q, const char *what,
                               const int32_t *values) {
    bool is_shared = q->source->code == IG_OP_weight && !q->view;
    for (int64_t i = 1; i < q->n; i++) {
        is_shared &= values[i] == values[0];
    }
    return !is_shared ? NULL
                      : ig_arena_printf(run->scratch, "%s.%s%s.less%d", q->name, what,
                                        q->is_transposed ? "" : ".t", (int)values[0]);
}

/* The value of the recipe `name` (NULL: one of its own), made when it is new. */
static ig_value *take_recipe(ig_pass_run *run, ig_builder *b, const char *name,
                             const quads *q,
                             ig_value *(*build)(ig_expr *e, const quads *q)) {
    ig_module *module = b->graph->module;
    ig_graph *recipes = ig_pack_recipes(module);
    ig_weight *weight = name ? ig_module_weight(module, name) : NULL;
    if (weight && weight->is_recipe) {
        return ig_make_weight(b, weight);
    }
    if (!name || weight) {
        name = ig_arena_printf(run->scratch, "%s.quads.recipe%u", q->name,
                               recipes->body.last->operand_count);
    }
    ig_builder inside = ig_builder_before(recipes->body.last);
    ig_expr e = ig_expr_of(&inside);
    return ig_make_weight(b, ig_pack_add_recipe(run, module, name, build(&e, q)));
}

static ig_value *build_sums(ig_expr *e, const quads *q) {
    ig_value *x = centre_matrix(e, q, q->zeros);
    x = ig_expr_reduce_axis(e, IG_REDUCE_sum, x, 1, false);
    return ig_expr_with_integer(e, IG_OP_mul, x, q->factor);
}

/* Of all columns: as many panels as the product of one needs. */
static ig_value *build_ones(ig_expr *e, const quads *q) {
    ig_dim dims[] = { ig_dim_of(1), ig_dim_of((q->k + IG_QUAD - 1) / IG_QUAD),
                      ig_dim_of(IG_PANEL), ig_dim_of(IG_QUAD) };
    return ig_expr_fill(e, IG_DT_i8, 4, dims, 1);
}

/* ---- chains ---- */

/* The first factor: rows, or windows in x. */
typedef struct rows {
    ig_value *x;
    const ig_op *windows; /* or NULL */
} rows;

static int64_t quads_of(const quads *q) {
    return (q->k + IG_QUAD - 1) / IG_QUAD;
}

/* For each k of a column, how far its element is from the column's first. */
static int64_t *find_steps(ig_pass_run *run, const quads *q) {
    int64_t *steps = IG_NEW_ARRAY(run->scratch, int64_t, (size_t)q->k);
    const ig_op *inner = q->view ? q->view->operands[0].value->def : NULL;
    if (!inner || inner->code != IG_OP_transpose) {
        for (int64_t k = 0; k < q->k; k++) {
            steps[k] = q->is_transposed ? k : k * q->n;
        }
        return steps;
    }
    const ig_type *type = q->source->results->type;
    int64_t dims[IG_TENSOR_RANK], apart[IG_TENSOR_RANK], distance = 1;
    const int64_t *perm = inner->attrs[IG_transpose_perm].as.ints;
    for (uint32_t d = type->rank; d-- > 1;) {
        dims[d] = ig_dim_value(type->dims[d]);
        apart[d] = distance;
        distance *= dims[d];
    }
    for (int64_t k = 0; k < q->k; k++) {
        int64_t left = k;
        for (uint32_t d = type->rank; d-- > 1;) {
            steps[k] += left % dims[perm[d]] * apart[perm[d]];
            left /= dims[perm[d]];
        }
    }
    return steps;
}

/* The panels that the recipe makes; NULL where the weights cannot be read. */
static int8_t *read_panels(ig_pass_run *run, const quads *q) {
    ig_tensor w;
    if (q->added || !ig_read_constant(q->source->results, run->scratch, &w)) {
        return NULL;
    }
    int64_t depth = quads_of(q), panels = (q->n + IG_PANEL - 1) / IG_PANEL;
    int64_t *steps = find_steps(run, q), across = q->is_transposed ? q->k : 1;
    int8_t *out = IG_NEW_ARRAY(run->scratch, int8_t,
                               (size_t)(panels * depth * IG_CHAIN_WORD));
    for (int64_t n = 0; n < q->n; n++) {
        int8_t *column = out + n / IG_PANEL * depth * IG_CHAIN_WORD;
        column += n % IG_PANEL * IG_QUAD;
        for (int64_t k = 0; k < q->k; k++) {
            int64_t x = ig_tensor_get_i64(&w, n * across + steps[k]) - q->offsets[n];
            column[k / IG_QUAD * IG_CHAIN_WORD + k % IG_QUAD] = (int8_t)x;
        }
    }
    return out;
}

/* None for windows, nor for rows whose extent is open in their own type: chains are
 * cut by a depth that the kernel knows.  Rows that end within a quad are copied, a pass
 * at a time, where extra quads would ask for any. */
static ig_pack_chains choose_chains(ig_pass_run *run, const quads *q, const rows *a) {
    ig_pack_chains none = { 0 };
    const ig_pass_options *options = run->options;
    const ig_type *x = a->x->type;
    int64_t k;
    if (a->windows ||
        !ig_dim_constant(ig_op_module(q->source), x->dims[x->rank - 1], &k) ||
        options->target->has_vnni || options->has_vnni ||
        (quads_of(q) > IG_PANEL_PASS && q->k % IG_QUAD != 0)) {
        return none;
    }
    int8_t *panels = read_panels(run, q);
    const int64_t dims[] = { (q->n + IG_PANEL - 1) / IG_PANEL, quads_of(q) };
    return panels ? ig_pack_choose_chains(run, panels, dims) : none;
}

/* The second factor of a product: panels, and what chains need. */
typedef struct factor {
    ig_value *panels, *targets; /* targets: or NULL */
    int64_t columns;
    ig_pack_chains chains;
} factor;

static ig_value *add_result(ig_pass_run *run, ig_builder *b, const char *name,
                            ig_value *value) {
    return ig_make_weight(b, ig_pack_add_recipe(run, b->graph->module, name, value));
}

/* Panels whose sums fit 16 bits, and the places of their extra quads; `name`: of the
 * panels as they are, or NULL.  False where a model's own weights have these names. */
static bool take_chained(ig_pass_run *run, ig_builder *b, const quads *q,
                         const char *name, factor *out) {
    ig_module *module = b->graph->module;
    ig_graph *recipes = ig_pack_recipes(module);
    if (!name) {
        name = ig_arena_printf(run->scratch, "%s.quads.recipe%u", q->name,
                               recipes->body.last->operand_count);
    }
    name = ig_arena_printf(run->scratch, "%s.chain%lld", name,
                           (long long)out->chains.chain);
    const char *quads_name = ig_arena_printf(run->scratch, "%s.places", name);
    ig_weight *known = ig_module_weight(module, name);
    ig_weight *known_quads = ig_module_weight(module, quads_name);
    if (known && known->is_recipe && known_quads && known_quads->is_recipe) {
        out->panels = ig_make_weight(b, known);
        out->targets = ig_make_weight(b, known_quads);
        return true;
    }
    if (known || known_quads) {
        return false;
    }
    ig_builder inside = ig_builder_before(recipes->body.last);
    ig_expr e = ig_expr_of(&inside);
    ig_value *panels = build_panels(&e, q), *split[2];
    ig_chain_quads_attrs attrs = { .chain = out->chains.chain,
                                   .extra = out->chains.extra };
    if (!ig_expr_results(ig_build_chain_quads(&e, panels, attrs), split)) {
        return false;
    }
    out->panels = add_result(run, b, name, split[0]);
    out->targets = add_result(run, b, quads_name, split[1]);
    return true;
}

static factor take_factor(ig_pass_run *run, ig_builder *b, const quads *q,
                          const rows *a) {
    const char *name = name_recipe(run, q, "quads", q->offsets);
    factor out = { .columns = q->n, .chains = choose_chains(run, q, a) };
    if (out.chains.extra > 0 && take_chained(run, b, q, name, &out)) {
        return out;
    }
    out.chains.chain = out.chains.extra > 0 ? 0 : out.chains.chain;
    out.panels = take_recipe(run, b, name, q, build_panels);
    return out;
}

/* ---- the product ---- */

/* Windows whose channels are whole quads. */
static const ig_op *find_windows(const ig_value *a) {
    const ig_op *op = a->def && a->def->code == IG_OP_windows ? a->def : NULL;
    const ig_type *x = op ? op->operands[0].value->type : NULL;
    int64_t channels = 1;
    bool is_known = x &&
                    ig_dim_constant(ig_op_module(op), x->dims[x->rank - 1], &channels);
    return is_known && x->dtype == IG_DT_u8 && channels % IG_QUAD == 0 ? op : NULL;
}

static rows take_rows(ig_builder *b, ig_value *a) {
    const ig_op *windows = find_windows(a);
    ig_expr e = ig_expr_of(b);
    return windows
               ? (rows){ windows->operands[0].value, windows }
               : (rows){ ig_pack_merge_rows(b, ig_compose_as_unsigned(&e, a)), NULL };
}

static ig_value *multiply_rows(ig_expr *e, const rows *a, const factor *w) {
    if (!a->windows) {
        int64_t chain = w->chains.chain;
        ig_matmul_quads_attrs attrs = { .columns = w->columns,
                                        .chain = { chain > 0, chain } };
        return ig_build_matmul_quads(e, a->x, w->panels, w->targets, attrs);
    }
    ig_windows_attrs own = ig_windows_attrs_of(a->windows);
    ig_conv_quads_attrs attrs = { .kernel = own.kernel,
                                  .columns = w->columns,
                                  .strides = own.strides,
                                  .dilations = own.dilations };
    return ig_build_conv_quads(e, a->x, w->panels, attrs);
}

/* Of rows that are all zero points: their products with the columns, i32[N], or NULL
 * where they are 0. */
static ig_value *sums_of_columns(ig_pass_run *run, ig_expr *e, const ig_op *op,
                                 const quads *given) {
    quads q = *given;
    bool is_signed = op->operands[0].value->type->dtype == IG_DT_i8;
    ig_value *zero = op->operand_count > 2 ? op->operands[2].value : NULL;
    bool is_known = !zero || ig_constant_i64(zero, &q.factor);
    q.factor = is_known ? q.factor + (is_signed ? FLIP : 0) : 1;
    if (q.factor == 0) {
        return NULL;
    }
    const char *what = ig_arena_printf(run->scratch, "sums%lld", (long long)q.factor);
    const char *name = name_recipe(run, &q, what, q.zeros);
    ig_value *sums = take_recipe(run, e->builder, name, &q, build_sums);
    if (is_known) {
        return sums;
    }
    zero = ig_expr_cast(e, ig_expr_reshape(e, zero, 0, NULL), IG_DT_i32);
    zero = is_signed ? ig_expr_with_integer(e, IG_OP_add, zero, FLIP) : zero;
    return ig_build_mul(e, sums, zero);
}

static bool is_one_number(const ig_op *op) {
    const ig_value *zero = op->operand_count > 2 ? op->operands[2].value : NULL;
    return !zero || ig_dim_is(ig_type_count(ig_op_module(op), zero->type), 1);
}

/* sum a' for each row, times the zero points that no offset took away. */
static ig_value *sums_of_rows(ig_pass_run *run, ig_expr *e, const rows *a,
                              const quads *q) {
    const char *name = ig_arena_printf(run->scratch, "ones.%lld", (long long)q->k);
    int32_t *left = IG_NEW_ARRAY(run->scratch, int32_t, (size_t)q->n);
    for (int64_t i = 0; i < q->n; i++) {
        left[i] = q->zeros[i] - q->offsets[i];
    }
    ig_value *ones = take_recipe(run, e->builder, name, q, build_ones);
    factor w = { .panels = ones, .columns = 1 };
    ig_value *sums = multiply_rows(e, a, &w);
    return ig_build_mul(e, sums, values_of_columns(e, q, left));
}

bool ig_pack_integer(ig_pass_run *run, ig_op *op) {
    quads q;
    ig_value *a = op->operands[0].value;
    if (!run->options->target->has_packed_products || a->type->rank < 1 ||
        op->results->type->dtype != IG_DT_i32 || !is_byte(a) || !is_one_number(op) ||
        !read_quads(run, op, &q)) {
        return false;
    }
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    rows x = take_rows(&b, a);
    factor w = take_factor(run, &b, &q, &x);
    ig_value *product = multiply_rows(&e, &x, &w);
    ig_value *sums = sums_of_columns(run, &e, op, &q);
    product = sums ? ig_build_sub(&e, product, sums) : product;
    if (q.has_sums) {
        product = ig_build_sub(&e, product, sums_of_rows(run, &e, &x, &q));
    }
    ig_pack_replace_product(op, &b, product);
    run->changed = true;
    return true;
}
