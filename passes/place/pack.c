/* pack: constant matrices of matmuls get the layout that GEMM schedules read in order.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = matmul %x, @w {transpose_b} : f32[B, 512]          w: f32[512, 13]
 *   becomes
 *     %1 = matmul_panels %x, @w.panels {columns = 512} : f32[B, 512]
 *   with, in @weights, the recipe
 *     %p = pad @w …; reshape [32, 16, 13]; transpose [0, 2, 1]
 *
 * The driver computes recipes once, when compiling.  A matrix of fewer than 8 columns
 * is not worth panels of 16: it becomes rows of k for the dot schedule.  Leading dims
 * of x are merged into rows.
 *
 *     %0 = cast @h {to = f32} : f32[13, 512]                  h: f16[13, 512]
 *     %1 = matmul %x, %0 : f32[B, 512]
 *   becomes
 *     %1 = matmul_panels %x, @h.panels.t {columns = 512}      panels of f16
 *
 * f16 and bf16 panels stay so: few rows wait for memory, and widening is exact.  The
 * CPU's schedules widen as they load; f16 by the recipe where a level of the artifact
 * has no instruction for it.  Narrow x is widened first, and the product
 * rounded to its type, as the sum of a narrow matmul is.  GPUs multiply factors that
 * are both narrow as they are (x, or the operand of a widening cast), `wide`: with
 * sums in f32.
 *
 * Weights of 8-bit integers (pack_quantised.c) stay so as well: the schedule takes zero
 * points away as it widens, which is exact, and scales leave the sum:
 *
 *     %1 = mul (sub (cast @w), @zero), @scale           w: i8[13, 512], scale: f32[512]
 *     %2 = matmul %x, %1
 *   becomes
 *     %1 = matmul_panels %x, @w.panels.t, zeros
 *     %2 = mul %1, @scale
 *
 * Products of integers (pack_integer.c, pack_bytes.c) stay integer products.
 *
 * A scale for each row multiplies x in place of the product.  Whatever else constants
 * alone make is computed in @weights, before it is packed.
 */
#include "passes/place/pack.h"

#include "compose/decompose.h"
#include "ir/build/expr.h"
#include "ir/semantics/panels.h"

#include <assert.h>
#include <string.h>

enum { PANEL = IG_PANEL, FEW_COLUMNS = 8, MAX_OPS = 64, MANY_ROWS = 32 };

typedef ig_pack_matrix matrix;

typedef struct packer {
    ig_pass_run *run;
    ig_map computed; /* value of the graph -> matrix whose value is in @weights */
} packer;

/* ---- weights that can be packed ---- */

bool ig_pack_is_narrow(ig_dtype dtype) {
    return dtype == IG_DT_f16 || dtype == IG_DT_bf16;
}

/* The weight under casts that widen it and transposes, each of which flips
 * `is_transposed`. */
static const ig_op *read_weight(const ig_op *def, bool *is_transposed) {
    while (def && def->code != IG_OP_weight) {
        const ig_type *from = def->operand_count ? def->operands[0].value->type : NULL;
        bool is_widening = def->code == IG_OP_cast &&
                           def->results->type->dtype == IG_DT_f32 &&
                           ig_pack_is_narrow((ig_dtype)from->dtype);
        if (!is_widening && !ig_pack_swaps_two(def)) {
            return NULL;
        }
        *is_transposed ^= !is_widening;
        def = def->operands[0].value->def;
    }
    return def;
}

static void set_extents(matrix *m, const ig_type *type) {
    m->n = ig_dim_value(type->dims[m->is_transposed ? 0 : 1]);
    m->k = ig_dim_value(type->dims[m->is_transposed ? 1 : 0]);
}

bool ig_pack_take_weight(const ig_op *def, matrix *out) {
    const ig_type *type = def->results->type;
    if (type->rank != 2 || !ig_type_is_static(type)) {
        return false;
    }
    out->weight = ig_module_weight(ig_op_module(def), ig_attr_str(def, IG_weight_name));
    set_extents(out, type);
    return out->weight && out->n > 0 && out->k > 0;
}

static bool packs_factors(const ig_pass_run *run) {
    return run->options->target->has_packed_products;
}

static bool read_plain(const ig_pass_run *run, const ig_op *op, matrix *out) {
    out->is_transposed = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0;
    const ig_op *def = read_weight(op->operands[1].value->def, &out->is_transposed);
    if (!def || !ig_pack_take_weight(def, out)) {
        return false;
    }
    ig_dtype dtype = (ig_dtype)def->results->type->dtype;
    out->is_narrow = ig_pack_is_narrow(dtype);
    if (dtype != IG_DT_f32 && !out->is_narrow) {
        return false;
    }
    bool has_f16c = run->options->target->has_f16c && !run->options->lacks_f16c;
    out->is_widened = dtype == IG_DT_f16 && !has_f16c;
    return true;
}

static bool read_quantised(const ig_pass_run *run, const ig_op *op, matrix *out) {
    *out = (matrix){ .is_transposed = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0 };
    return packs_factors(run) && op->results->type->dtype == IG_DT_f32 &&
           ig_pack_read_quantised(run, op->operands[1].value, out) &&
           out->n >= FEW_COLUMNS;
}

/* A weight that the caller may change: packed by the plan, once a change. */
static bool read_opened(const ig_op *op, matrix *out) {
    const ig_value *value = op->operands[1].value;
    *out = (matrix){ .is_transposed = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0 };
    while (value->def && ig_pack_swaps_two(value->def)) {
        out->is_transposed ^= true;
        value = value->def->operands[0].value;
    }
    const ig_type *type = value->type;
    if (!ig_graph_is_opened(op->block->graph, value) || type->rank != 2 ||
        type->dtype != IG_DT_f32) {
        return false;
    }
    set_extents(out, type);
    out->computed = (ig_value *)value;
    out->is_opened = true;
    return out->n >= FEW_COLUMNS && out->k > 0;
}

static bool is_plain_product(const ig_op *op) {
    return op->operands[0].value->type->rank >= 1 &&
           !ig_attr_int(op, IG_matmul_transpose_a, 0);
}

/* ---- recipes ---- */

ig_graph *ig_pack_recipes(ig_module *module) {
    ig_graph *graph = ig_module_graph(module, "weights");
    if (!graph) {
        graph = ig_graph_create(module, "weights", IG_STAGE_TENSOR);
        ig_builder b = ig_builder_at_end(&graph->body);
        ig_make_ret(&b, NULL, 0);
    }
    return graph;
}

ig_weight *ig_pack_add_recipe(ig_pass_run *run, ig_module *module, const char *name,
                              ig_value *value) {
    ig_graph *graph = ig_pack_recipes(module);
    assert(graph->body.last->code == IG_OP_ret && "the graph of recipes ends in ret");
    assert(value->type->kind == IG_TENSOR && "a recipe makes a tensor");
    ig_op *ret = graph->body.last;
    uint32_t count = ret->operand_count;
    ig_value **values = IG_NEW_ARRAY(run->scratch, ig_value *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = ret->operands[i].value;
    }
    values[count] = value;
    ig_op_erase(ret);
    ig_builder b = ig_builder_at_end(&graph->body);
    ig_make_ret(&b, values, count + 1);
    ig_data data = { .type = value->type };
    ig_weight *weight = ig_module_add_weight(module, name, &data);
    weight->is_recipe = true;
    weight->index = count;
    return weight;
}

/* Zeros after the end of an axis. */
static ig_value *pad_axis(ig_builder *b, ig_value *x, uint32_t axis, int64_t count) {
    assert(count >= 0 && axis < 2 && x->type->rank == 2 && "an axis of a matrix");
    if (count == 0) {
        return x;
    }
    ig_dim before[2] = { ig_dim_of(0), ig_dim_of(0) },
           after[2] = { ig_dim_of(0), ig_dim_of(0) };
    after[axis] = ig_dim_of(count);
    ig_expr e = ig_expr_of(b);
    ig_pad_attrs attrs = { .before = { before, 2 }, .after = { after, 2 } };
    return ig_build_pad(&e, x, NULL, NULL, NULL, attrs);
}

/* [N, K] or [K, N] -> [ceil(N / 16), K, 16].  Of [K, N] the columns are cut where they
 * are, so that 16 at a time are moved and one copy is made. */
static ig_value *build_panels(ig_builder *b, const matrix *m, ig_value *x) {
    static const int64_t from_rows[] = { 0, 2, 1 }, from_columns[] = { 1, 0, 2 };
    int64_t panels = (m->n + PANEL - 1) / PANEL;
    ig_dim count = ig_dim_of(panels), panel = ig_dim_of(PANEL), k = ig_dim_of(m->k);
    ig_dim of_rows[] = { count, panel, k }, of_columns[] = { k, count, panel };
    ig_expr e = ig_expr_of(b);
    x = pad_axis(b, x, m->is_transposed ? 0 : 1, panels * PANEL - m->n);
    x = ig_expr_reshape(&e, x, 3, m->is_transposed ? of_rows : of_columns);
    return ig_expr_transpose(&e, x, m->is_transposed ? from_rows : from_columns);
}

/* [N, K] or [K, N] -> [N, K] when few columns, else panels. */
static ig_value *build_recipe(ig_builder *b, const matrix *m, bool as_panels) {
    assert((m->computed || m->weight) && "a recipe is of a weight or of recipes");
    ig_value *x = m->computed ? m->computed : ig_make_weight(b, m->weight);
    ig_expr e = ig_expr_of(b);
    if (m->is_narrow && (m->is_widened || !as_panels)) {
        x = ig_expr_cast(&e, x, IG_DT_f32);
    }
    if (as_panels) {
        return build_panels(b, m, x);
    }
    return m->is_transposed ? x : ig_expr_swap(&e, x, 0, 1);
}

static ig_weight *make_packed(ig_pass_run *run, ig_module *module, const matrix *m,
                              bool as_panels) {
    const char *from = m->name ? m->name : m->weight->name;
    const char *name = ig_arena_printf(run->scratch, "%s.%s%s", from,
                                       as_panels ? "panels" : "rows",
                                       m->is_transposed ? "" : ".t");
    ig_weight *known = ig_module_weight(module, name);
    if (known) {
        return known;
    }
    ig_builder b = ig_builder_before(ig_pack_recipes(module)->body.last);
    return ig_pack_add_recipe(run, module, name, build_recipe(&b, m, as_panels));
}

/* ---- matrices computed from constants ---- */

/* A look-up, by masked indices, in a table of all values of few bits, which cannot
 * trap. */
static bool is_look_up(const ig_op *op) {
    int64_t extent, mask;
    if (op->code != IG_OP_gather || ig_attr_int(op, IG_gather_axis, 0) != 0) {
        return false;
    }
    const ig_op *index = op->operands[1].value->def;
    while (index && index->code == IG_OP_reshape) {
        index = index->operands[0].value->def;
    }
    return index && index->code == IG_OP_and &&
           ig_constant_i64(index->operands[1].value, &mask) && mask >= 0 &&
           ig_dim_constant(ig_op_module(op), op->operands[0].value->type->dims[0],
                           &extent) &&
           mask < extent;
}

/* Does an attribute hold an extent that is known at run time only, as a slice's start
 * may? */
static bool has_open_attr(const ig_op *op) {
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        const ig_attr *attr = &op->attrs[i];
        const ig_dim *dims = attr->kind == IG_ATTR_DIM ? &attr->as.dim : attr->as.dims;
        uint32_t count = attr->kind == IG_ATTR_DIM    ? 1
                         : attr->kind == IG_ATTR_DIMS ? attr->count
                                                      : 0;
        for (uint32_t d = 0; d < count; d++) {
            if (!ig_dim_is_static(dims[d])) {
                return true;
            }
        }
    }
    return false;
}

/* Is `value` computed from nothing but constants, by at most *left ops? */
static bool is_from_constants(const ig_value *value, uint32_t *left) {
    const ig_op *op = value->def;
    uint32_t barred = IG_TERMINATOR | IG_GUARD | IG_STATE | IG_HOST |
                      (op && is_look_up(op) ? 0 : IG_MAY_TRAP);
    if (!op || (*left)-- == 0 || !ig_type_is_static(value->type) ||
        value->type->kind != IG_TENSOR) {
        *left = 0;
        return false;
    }
    if (op->code == IG_OP_weight || op->code == IG_OP_const) {
        return true;
    }
    bool is_pure = op->operand_count > 0 && op->result_count == 1 && !op->body_count &&
                   !(ig_ops[op->code].traits & barred) && !has_open_attr(op);
    for (uint32_t i = 0; is_pure && i < op->operand_count; i++) {
        is_pure = is_from_constants(op->operands[i].value, left);
    }
    return is_pure;
}

/* The same value in @weights. */
static ig_value *copy_value(ig_builder *b, const ig_value *value, ig_map *copies,
                            matrix *m) {
    ig_value *known = ig_map_get_id(copies, IG_MAP_PTR(value));
    ig_op *op = value->def;
    if (known) {
        return known;
    }
    if (op->code == IG_OP_weight) {
        ig_weight *weight = ig_module_weight(b->graph->module,
                                             ig_attr_str(op, IG_weight_name));
        m->weight = m->weight ? m->weight : weight;
        known = ig_make_weight(b, weight);
        ig_map_set_id(copies, IG_MAP_PTR(value), known);
        return known;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        copy_value(b, op->operands[i].value, copies, m);
    }
    return ig_op_clone(op, b->block, b->before, copies)->results;
}

static const char *free_name(ig_pass_run *run, ig_module *module, const matrix *m) {
    const char *from = m->weight ? m->weight->name : "constant";
    ig_graph *graph = ig_pack_recipes(module);
    return ig_arena_printf(run->scratch, "%s.value%u", from,
                           graph->body.last->operand_count);
}

bool ig_pack_is_constant(ig_value *value) {
    uint32_t left = MAX_OPS;
    return is_from_constants(value, &left);
}

ig_value *ig_pack_constant(ig_pass_run *run, ig_value *value, const char **out_name) {
    uint32_t left = MAX_OPS;
    if (!is_from_constants(value, &left)) {
        return NULL;
    }
    ig_module *module = ig_op_module(value->def);
    matrix m = { 0 };
    ig_builder b = ig_builder_before(ig_pack_recipes(module)->body.last);
    ig_map copies;
    ig_map_init(&copies, run->scratch);
    ig_value *copy = copy_value(&b, value, &copies, &m);
    bool is_stored = value->def->code == IG_OP_weight;
    *out_name = is_stored ? m.weight->name : free_name(run, module, &m);
    return copy;
}

/* A matrix of f32 that only constants go into: the recipe computes it too. */
static bool read_computed(packer *p, const ig_op *op, matrix *out) {
    ig_value *value = op->operands[1].value;
    const ig_type *type = value->type;
    uint32_t left = MAX_OPS;
    const matrix *known = ig_map_get_id(&p->computed, IG_MAP_PTR(value));
    *out = known ? *known : (matrix){ 0 };
    if (!known) {
        if (type->rank != 2 || type->dtype != IG_DT_f32 ||
            !is_from_constants(value, &left) || !ig_type_is_static(type) ||
            ig_dim_is(type->dims[0], 0) || ig_dim_is(type->dims[1], 0)) {
            return false;
        }
        ig_builder b = ig_builder_before(ig_pack_recipes(ig_op_module(op))->body.last);
        ig_map copies;
        ig_map_init(&copies, p->run->scratch);
        out->computed = copy_value(&b, value, &copies, out);
        out->name = free_name(p->run, ig_op_module(op), out);
        matrix *kept = IG_NEW(p->run->scratch, matrix);
        *kept = *out;
        ig_map_set_id(&p->computed, IG_MAP_PTR(value), kept);
    }
    out->is_transposed = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0;
    set_extents(out, type);
    return true;
}

/* ---- the product ---- */

/* `x` with the dims that it has without extents of 1: one number, or a row of them. */
static ig_value *as_row(ig_builder *b, ig_value *x) {
    ig_dim count = ig_type_count(b->graph->module, x->type);
    uint32_t rank = ig_dim_is(count, 1) ? 0 : 1;
    const ig_type *type = ig_type_with_dims(b->graph->module, x->type, rank, &count);
    if (x->type->rank == rank) {
        return x;
    }
    ig_op *constant = ig_def(x, IG_OP_const);
    if (constant) {
        return ig_make_const(b, type, ig_constant_of(x)->bytes);
    }
    ig_expr e = ig_expr_of(b);
    return ig_expr_reshape(&e, x, rank, &count);
}

static ig_value *scale_by(ig_builder *b, ig_value *x, ig_value *scale) {
    ig_expr e = ig_expr_of(b);
    return scale ? ig_build_mul(&e, x, as_row(b, scale)) : x;
}

static ig_value *merge_rows(ig_builder *b, ig_value *x) {
    ig_expr e = ig_expr_of(b);
    const ig_type *type = x->type;
    if (type->rank == 2) {
        return x;
    }
    ig_dim rows = ig_dim_product(b->graph->module, type->dims, type->rank - 1);
    ig_dim dims[] = { rows, type->dims[type->rank - 1] };
    return ig_expr_reshape(&e, x, 2, dims);
}

ig_value *ig_pack_merge_rows(ig_builder *b, ig_value *x) {
    ig_expr e = ig_expr_of(b);
    bool widens = ig_pack_is_narrow((ig_dtype)x->type->dtype);
    return merge_rows(b, widens ? ig_expr_cast(&e, x, IG_DT_f32) : x);
}

/* Erases ops that only made a weight of a product ready. */
static void erase_unused(ig_op *op) {
    if (!op || op->code == IG_OP_weight || op->results->uses) {
        return;
    }
    ig_op *before[2] = { NULL, NULL };
    uint32_t count = op->operand_count < 2 ? op->operand_count : 2;
    for (uint32_t i = 0; i < count; i++) {
        before[i] = op->operands[i].value->def;
    }
    ig_op_erase(op);
    erase_unused(before[0]);
    if (before[1] != before[0]) {
        erase_unused(before[1]);
    }
}

void ig_pack_replace_product(ig_op *op, ig_builder *b, ig_value *product) {
    const ig_type *type = op->results->type;
    ig_op *weight = op->operands[1].value->def;
    ig_expr e = ig_expr_of(b);
    if (ig_pack_is_narrow((ig_dtype)type->dtype)) {
        product = ig_expr_cast(&e, product, (ig_dtype)type->dtype);
    }
    if (product->type->rank != type->rank) {
        product = ig_expr_reshape(&e, product, type->rank, type->dims);
    }
    if (product->type != type) {
        assert(product->type->dtype == type->dtype && "a product keeps its dtype");
        ig_value_retype(product, type);
    }
    product->name = op->results->name;
    ig_value_replace(op->results, product);
    ig_op_erase(op);
    erase_unused(weight);
}

static ig_value *make_zeros(ig_builder *b, const matrix *m) {
    assert(m->zeros && m->weight && "zero points are those of a weight");
    ig_dim dims[] = { ig_dim_of((m->n + PANEL - 1) / PANEL), ig_dim_of(PANEL) };
    const ig_type *type = ig_type_tensor(b->graph->module, m->weight->data.type->dtype,
                                         2, dims);
    return ig_make_const(b, type, m->zeros);
}

/* Where fragments are multiplied, factors of one narrow type stay so. */
static ig_value *narrow_rows(const ig_pass_run *run, const ig_op *op, const matrix *m) {
    ig_value *x = op->operands[0].value;
    bool is_widening = x->def && x->def->code == IG_OP_cast &&
                       x->type->dtype == IG_DT_f32;
    x = is_widening ? x->def->operands[0].value : x;
    bool is_same = m->is_narrow && !m->is_widened && m->weight && !m->row_scale &&
                   x->type->dtype == m->weight->data.type->dtype;
    return run->options->target->has_threads && is_same ? x : NULL;
}

static void to_panels(ig_pass_run *run, ig_op *op, const matrix *m) {
    ig_builder b = ig_builder_before(op);
    ig_value *narrow = narrow_rows(run, op, m);
    ig_value *x = narrow ? merge_rows(&b, narrow)
                         : ig_pack_merge_rows(&b, op->operands[0].value);
    x = scale_by(&b, x, m->row_scale);
    ig_value *panels =
        m->is_opened ? build_recipe(&b, m, true)
                     : ig_make_weight(&b, make_packed(run, ig_op_module(op), m, true));
    ig_value *zeros = m->zeros ? make_zeros(&b, m) : NULL;
    ig_expr e = ig_expr_of(&b);
    x = ig_build_matmul_panels(
        &e, x, panels, zeros,
        (ig_matmul_panels_attrs){ .columns = m->n, .wide = narrow != NULL });
    ig_pack_replace_product(op, &b, scale_by(&b, x, m->scale));
    run->changed = true;
}

/* Few columns: rows of k, both operands contiguous along it. */
static void to_rows(ig_pass_run *run, ig_op *op, const matrix *m) {
    ig_value *x = op->operands[0].value;
    bool is_row = m->is_transposed && !m->is_narrow && !m->computed;
    if (is_row && x->type->rank == 2 &&
        op->operands[1].value->def->code == IG_OP_weight) {
        return;
    }
    ig_builder b = ig_builder_before(op);
    ig_weight *weight = is_row ? m->weight
                               : make_packed(run, ig_op_module(op), m, false);
    x = ig_pack_merge_rows(&b, x);
    ig_expr e = ig_expr_of(&b);
    ig_value *rows = ig_make_weight(&b, weight);
    ig_pack_replace_product(op, &b, ig_expr_matmul_transposed(&e, x, rows));
    run->changed = true;
}

/* Does every matrix of x meet the same second factor, and has it few rows? */
static bool can_merge(const ig_op *op) {
    const ig_value *x = op->operands[0].value;
    const ig_type *type = x->type;
    int64_t rows = 0;
    bool is_view = x->def && x->def->code != IG_OP_reshape &&
                   (ig_ops[x->def->code].traits & IG_VIEW);
    return type->rank > 2 && op->operands[1].value->type->rank == 2 && !is_view &&
           !ig_pack_is_narrow((ig_dtype)type->dtype) &&
           !(ig_dim_constant(ig_op_module(op), type->dims[type->rank - 2], &rows) &&
             rows >= MANY_ROWS);
}

/* One product of all rows: its second factor is read and packed once. */
static void merge_batches(packer *p, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_value *x = ig_pack_merge_rows(&b, op->operands[0].value);
    bool is_transposed = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0;
    ig_matmul_attrs attrs = { .transpose_b = is_transposed };
    ig_expr e = ig_expr_of(&b);
    ig_pack_replace_product(op, &b,
                            ig_build_matmul(&e, x, op->operands[1].value, attrs));
    p->run->changed = true;
}

static void take_apart(packer *p, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    ig_value *result = NULL;
    if (ig_decomposition_of((ig_opcode)op->code)(&e, op, &result)) {
        ig_value_retype(op->results,
                        result->type); /* extents may be other words for it */
        ig_value_replace(op->results, result);
        ig_op_erase(op);
        p->run->changed = true;
    }
}

/* Integer products first: one that cannot stay becomes a matmul, which comes next. */
static void take_integers(packer *p, ig_block *block) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            take_integers(p, op->bodies[i]);
        }
        if (op->code == IG_OP_matmul_integer && !ig_pack_integer(p->run, op) &&
            !ig_pack_bytes(p->run, op)) {
            take_apart(p, op);
        }
    }
}

/* Windows that no product reads in place. */
static void take_windows(packer *p, ig_block *block) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            take_windows(p, op->bodies[i]);
        }
        if (op->code == IG_OP_windows && op->results->uses) {
            take_apart(p, op);
        } else if (op->code == IG_OP_windows) {
            ig_op_erase(op);
        }
    }
}

static void pack_product(packer *p, ig_op *op) {
    ig_pass_run *run = p->run;
    matrix m = { 0 };
    if (op->code != IG_OP_matmul || !is_plain_product(op)) {
        return;
    }
    if (!read_plain(run, op, &m) && !read_quantised(run, op, &m) &&
        !read_computed(p, op, &m) && !read_opened(op, &m)) {
        if (can_merge(op)) {
            merge_batches(p, op);
        }
        return;
    }
    if (m.n < FEW_COLUMNS) {
        to_rows(run, op, &m);
    } else {
        to_panels(run, op, &m);
    }
}

static void pack_block(packer *p, ig_block *block) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            pack_block(p, op->bodies[i]);
        }
        pack_product(p, op);
    }
}

ig_status ig_pass_pack(ig_pass_run *run, ig_graph *graph) {
    if (run->options->target && strcmp(graph->name, "weights") != 0) {
        packer p = { .run = run };
        ig_map_init(&p.computed, run->scratch);
        take_integers(&p, &graph->body);
        take_windows(&p, &graph->body);
        pack_block(&p, &graph->body);
    }
    return IG_OK;
}
