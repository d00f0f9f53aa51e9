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
 * rounded to its type, as the sum of a narrow matmul is.
 */
#include "passes/pass.h"

#include <string.h>

enum { PANEL = 16, FEW_COLUMNS = 8 };

typedef struct matrix {
    ig_weight *weight;
    bool       is_transposed; /* stored [N, K] */
    bool       is_narrow;     /* f16 or bf16 */
    bool       is_widened;    /* by the recipe already */
    int64_t    k, n;
} matrix;

/* ---- what can be packed ---- */

static bool is_narrow(ig_dtype dtype) {
    return dtype == IG_DT_f16 || dtype == IG_DT_bf16;
}

static bool swaps_two(const ig_op *op) {
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    return op->code == IG_OP_transpose && perm->count == 2 && perm->as.ints[0] == 1;
}

/* The weight behind casts that widen it and transposes, which turn `is_transposed`. */
static const ig_op *read_weight(const ig_op *def, bool *is_transposed) {
    while (def && def->code != IG_OP_weight) {
        const ig_type *from = def->operand_count ? def->operands[0].value->type : NULL;
        bool           is_widening = def->code == IG_OP_cast &&
                           def->results->type->dtype == IG_DT_f32 &&
                           is_narrow((ig_dtype)from->dtype);
        if (!is_widening && !swaps_two(def)) {
            return NULL;
        }
        *is_transposed ^= !is_widening;
        def = def->operands[0].value->def;
    }
    return def;
}

static bool read_matrix(const ig_pass_run *run, const ig_op *op, matrix *out) {
    out->is_transposed = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0;
    const ig_op *def = read_weight(op->operands[1].value->def, &out->is_transposed);
    if (!def || def->results->type->rank != 2 ||
        !ig_type_is_static(def->results->type)) {
        return false;
    }
    ig_dtype dtype = (ig_dtype)def->results->type->dtype;
    out->is_narrow = is_narrow(dtype);
    if (dtype != IG_DT_f32 &&
        (!out->is_narrow || run->options->target->family != IG_FAMILY_CPU)) {
        return false;
    }
    bool has_f16c = run->options->target->has_f16c && !run->options->lacks_f16c;
    out->is_widened = dtype == IG_DT_f16 && !has_f16c;
    const ig_dim *dims = def->results->type->dims;
    out->weight = ig_module_weight(ig_op_module(op), ig_attr_str(def, IG_weight_name));
    out->n = dims[out->is_transposed ? 0 : 1];
    out->k = dims[out->is_transposed ? 1 : 0];
    return out->weight && out->n > 0 && out->k > 0;
}

static bool is_plain_product(const ig_op *op) {
    return op->operands[0].value->type->rank >= 1 &&
           !ig_attr_int(op, IG_matmul_transpose_a, 0);
}

/* ---- recipes ---- */

/* The graph of recipes; its ret grows by one value a recipe. */
static ig_graph *weights_graph(ig_module *module) {
    ig_graph *graph = ig_module_graph(module, "weights");
    if (!graph) {
        graph = ig_graph_create(module, "weights", IG_STAGE_TENSOR);
        ig_builder b = ig_builder_at_end(&graph->body);
        ig_make_ret(&b, NULL, 0);
    }
    return graph;
}

static ig_weight *add_recipe(ig_graph *graph, const char *name, ig_value *value,
                             ig_arena *scratch) {
    ig_op     *ret = graph->body.last;
    uint32_t   count = ret->operand_count;
    ig_value **values = IG_NEW_ARRAY(scratch, ig_value *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = ret->operands[i].value;
    }
    values[count] = value;
    ig_op_erase(ret);
    ig_builder b = ig_builder_at_end(&graph->body);
    ig_make_ret(&b, values, count + 1);
    ig_data    data = { .type = value->type };
    ig_weight *weight = ig_module_add_weight(graph->module, name, &data);
    weight->is_recipe = true;
    weight->index = count;
    return weight;
}

/* The last two of `rank` dims exchanged. */
static ig_value *transposed(ig_builder *b, ig_value *x, uint32_t rank) {
    static const int64_t of_two[] = { 1, 0 }, of_three[] = { 0, 2, 1 };
    ig_attr              attrs[IG_transpose_attr_count] = {
                     [IG_transpose_perm] = ig_attr_of_ints(b->graph->module,
                                              rank == 2 ? of_two : of_three, rank)
    };
    return ig_make(b, IG_OP_transpose, 1, &x, attrs);
}

static ig_value *padded(ig_builder *b, ig_value *x, int64_t rows) {
    ig_module *module = b->graph->module;
    if (rows == 0) {
        return x;
    }
    ig_dim  before[2] = { 0, 0 }, after[2] = { rows, 0 };
    ig_attr attrs[IG_pad_attr_count] = {
        [IG_pad_before] = ig_attr_of_dims(module, before, 2),
        [IG_pad_after] = ig_attr_of_dims(module, after, 2),
    };
    return ig_make(b, IG_OP_pad, 1, &x, attrs);
}

/* [N, K] or [K, N] -> [N, K] when few columns, else panels [ceil(N / 16), K, 16]. */
static ig_value *build_recipe(ig_builder *b, const matrix *m, bool as_panels) {
    ig_value *x = ig_make_weight(b, m->weight);
    if (m->is_narrow && (m->is_widened || !as_panels)) {
        x = ig_make_cast(b, x, IG_DT_f32);
    }
    x = m->is_transposed ? x : transposed(b, x, 2);
    if (!as_panels) {
        return x;
    }
    int64_t panels = (m->n + PANEL - 1) / PANEL;
    x = padded(b, x, panels * PANEL - m->n);
    ig_dim dims[] = { panels, PANEL, m->k };
    return transposed(b, ig_make_reshape(b, x, 3, dims), 3);
}

static ig_weight *packed(ig_pass_run *run, ig_module *module, const matrix *m,
                         bool as_panels) {
    const char *name = ig_arena_printf(run->scratch, "%s.%s%s", m->weight->name,
                                       as_panels ? "panels" : "rows",
                                       m->is_transposed ? "" : ".t");
    ig_weight  *known = ig_module_weight(module, name);
    if (known) {
        return known;
    }
    ig_graph  *graph = weights_graph(module);
    ig_builder b = ig_builder_before(graph->body.last);
    return add_recipe(graph, name, build_recipe(&b, m, as_panels), run->scratch);
}

/* ---- the product ---- */

/* x as rows of K, in f32. */
static ig_value *merge_rows(ig_builder *b, ig_value *x) {
    if (is_narrow((ig_dtype)x->type->dtype)) {
        x = ig_make_cast(b, x, IG_DT_f32);
    }
    const ig_type *type = x->type;
    if (type->rank == 2) {
        return x;
    }
    ig_dim rows = ig_dim_product(b->graph->module, type->dims, type->rank - 1);
    ig_dim dims[] = { rows, type->dims[type->rank - 1] };
    return ig_make_reshape(b, x, 2, dims);
}

/* Erases what only made a weight of a product ready. */
static void erase_unused(ig_op *op) {
    while (op && op->code != IG_OP_weight && !op->results->uses) {
        ig_op *before = op->operands[0].value->def;
        ig_op_erase(op);
        op = before;
    }
}

static void replace_product(ig_op *op, ig_builder *b, ig_value *product) {
    const ig_type *type = op->results->type;
    ig_op         *weight = op->operands[1].value->def;
    if (is_narrow((ig_dtype)type->dtype)) {
        product = ig_make_cast(b, product, (ig_dtype)type->dtype);
    }
    if (product->type->rank != type->rank) {
        product = ig_make_reshape(b, product, type->rank, type->dims);
    }
    if (product->type != type) {
        ig_value_retype(product, type);
    }
    product->name = op->results->name;
    ig_value_replace(op->results, product);
    ig_op_erase(op);
    erase_unused(weight);
}

static void to_panels(ig_pass_run *run, ig_op *op, const matrix *m) {
    ig_builder b = ig_builder_before(op);
    ig_weight *weight = packed(run, ig_op_module(op), m, true);
    ig_value  *operands[] = { merge_rows(&b, op->operands[0].value),
                              ig_make_weight(&b, weight) };
    ig_attr    attrs[IG_matmul_panels_attr_count] = { [IG_matmul_panels_columns] =
                                                          ig_attr_of_int(m->n) };
    replace_product(op, &b, ig_make(&b, IG_OP_matmul_panels, 2, operands, attrs));
    run->changed = true;
}

/* Few columns: rows of k, both operands contiguous along it. */
static void to_rows(ig_pass_run *run, ig_op *op, const matrix *m) {
    ig_value *x = op->operands[0].value;
    bool      is_row = m->is_transposed && !m->is_narrow;
    if (is_row && x->type->rank == 2 &&
        op->operands[1].value->def->code == IG_OP_weight) {
        return;
    }
    ig_builder b = ig_builder_before(op);
    ig_value  *weight = ig_make_weight(&b, m->weight);
    if (!is_row) {
        weight = ig_make_weight(&b, packed(run, ig_op_module(op), m, false));
    }
    ig_value *operands[] = { merge_rows(&b, x), weight };
    ig_attr   attrs[IG_matmul_attr_count] = { [IG_matmul_transpose_b] =
                                                  ig_attr_of_bool(true) };
    replace_product(op, &b, ig_make(&b, IG_OP_matmul, 2, operands, attrs));
    run->changed = true;
}

static void pack_block(ig_pass_run *run, ig_block *block) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            pack_block(run, op->bodies[i]);
        }
        matrix m;
        if (op->code != IG_OP_matmul || !is_plain_product(op) ||
            !read_matrix(run, op, &m)) {
            continue;
        }
        if (m.n < FEW_COLUMNS) {
            to_rows(run, op, &m);
        } else {
            to_panels(run, op, &m);
        }
    }
}

ig_status ig_pass_pack(ig_pass_run *run, ig_graph *graph) {
    if (run->options->target && strcmp(graph->name, "weights") != 0) {
        pack_block(run, &graph->body);
    }
    return IG_OK;
}
