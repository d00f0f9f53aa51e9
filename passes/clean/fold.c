/* fold: computes values that are known at compile time.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = shape %x : i64[2]                       (%x: f32[B, 13])
 *     %1 = mul %0, [2, 1] : i64[2]
 *     %2 = add [1.0], [2.0] : f32[1]
 *   becomes
 *     %1 = dims {values = [2*B, 13]} : i64[2]
 *     %2 = const {value = [3.0]} : f32[1]
 *
 * Two ways.  Small whole-number tensors are read as dim expressions (ig_value_dims):
 * numbers become a constant, expressions a `dims` op, and a constant once they are
 * known.  Ops on constants are evaluated by the reference interpreter, as long as
 * operands and results stay within limits.inline_bytes each; larger ones are the
 * business of recipes.  An op whose evaluation fails (an index out of range) is left
 * for the run to report.
 *
 * A matrix of bytes that a product takes as real numbers is not widened here, nor are
 * the weights of a convolution, however small.
 *
 * Keeps: order; dce removes unused ops.
 */
#include "ir/build/expr.h"
#include "ir/data.h"
#include "ir/interpret/interpret.h"
#include "passes/engine/pass.h"
#include "base/checked.h"
#include "base/silence.h"
#include "passes/engine/symbols.h"

#include <assert.h>

enum { MAX_STEPS = 8, MIN_NARROW = 1024 /* elements */ };

typedef struct folder {
    ig_pass_run *run;
    ig_module *module;
    int64_t bytes_max;
    ig_symbols symbols;
} folder;

/* ---- results ---- */

static void replace_result(folder *f, ig_op *op, uint32_t index, ig_value *by) {
    ig_value *old = &op->results[index];
    if (old->type != by->type) {
        ig_symbols_learn(&f->symbols, op, old->type, by->type);
        ig_value_retype(old, by->type);
    }
    by->name = by->name ? by->name : old->name;
    ig_value_replace(old, by);
    f->run->changed = true;
}

/* ---- shapes ---- */

static bool all_constant(const folder *f, const ig_dims_value *value, int64_t *out) {
    for (uint32_t i = 0; i < value->count; i++) {
        if (!ig_dim_constant(f->module, value->dims[i], &out[i])) {
            return false;
        }
    }
    return true;
}

/* A constant of any whole-number dtype. */
static ig_value *make_whole(folder *f, ig_builder *b, const ig_dims_value *value,
                            const int64_t *numbers, ig_dtype dtype) {
    int64_t count = value->count;
    ig_tensor tensor;
    ig_status status = ig_tensor_alloc(f->run->scratch, f->module->context, dtype,
                                       value->rank, &count, &tensor);
    if (status != IG_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < value->count; i++) {
        ig_tensor_set_i64(&tensor, i, numbers[i]);
    }
    const ig_type *type = ig_type_of_extents(f->module, dtype, value->rank, &count);
    return ig_make_const(b, type, tensor.data);
}

static ig_value *make_dims(ig_builder *b, const ig_dims_value *value) {
    ig_expr e = ig_expr_of(b);
    ig_dims_attrs attrs = { .values = { value->dims, value->count },
                            .scalar = value->rank == 0 };
    return ig_build_dims(&e, attrs);
}

static bool fold_shape(folder *f, ig_op *op) {
    ig_dims_value value;
    int64_t numbers[IG_COUNT_OF(value.dims)];
    if (op->result_count != 1 || !op->results[0].uses ||
        !ig_value_dims(&op->results[0], &value)) {
        return false;
    }
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    ig_builder b = ig_builder_before(op);
    ig_value *by = NULL;
    if (all_constant(f, &value, numbers)) {
        by = make_whole(f, &b, &value, numbers, dtype);
    } else if (dtype == IG_DT_i64 && op->code != IG_OP_dims) {
        by = make_dims(&b, &value);
    }
    if (by) {
        replace_result(f, op, 0, by);
    }
    return by != NULL;
}

/* ---- constants ---- */

static bool is_small(const folder *f, const ig_type *type) {
    int64_t count = 1, bytes;
    if (type->kind != IG_TENSOR) {
        return false;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t extent;
        if (!ig_dim_known(type->dims[i], &extent) ||
            !ig_mul_i64(count, extent, &count)) {
            return false;
        }
    }
    return ig_dtype_bytes((ig_dtype)type->dtype, count, &bytes) &&
           bytes <= f->bytes_max;
}

static bool has_small_constants(const folder *f, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_data *data = ig_constant_of(op->operands[i].value);
        if (!data || !data->bytes || !is_small(f, data->type)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!is_small(f, op->results[i].type)) {
            return false;
        }
    }
    return true;
}

/* The matmul that takes this matrix, after ops that turn bytes into floats or turn it
 * (a column by a reshape); or NULL. */
static const ig_op *find_product(const ig_value *value) {
    for (uint32_t steps = 0; steps < MAX_STEPS; steps++) {
        const ig_use *use = value->uses;
        uint32_t code = use && !use->next ? use->user->code : IG_OP_COUNT;
        if (code == IG_OP_matmul) {
            return use == &use->user->operands[1] ? use->user : NULL;
        }
        if (code != IG_OP_dequantize && code != IG_OP_cast && code != IG_OP_sub &&
            code != IG_OP_mul && code != IG_OP_transpose && code != IG_OP_reshape) {
            return NULL;
        }
        value = use->user->results;
    }
    return NULL;
}

static bool has_many(const ig_type *matrix) {
    int64_t rows = ig_dim_value(matrix->dims[0]),
            columns = ig_dim_value(matrix->dims[1]);
    return rows > 0 && columns >= (MIN_NARROW + rows - 1) / rows;
}

/* Do these dequantised bytes go into convolutions alone, as weights? */
static bool is_kernel(const ig_op *op) {
    const ig_use *use = op->results->uses;
    while (use && use->user->code == IG_OP_conv && use == &use->user->operands[1]) {
        use = use->next;
    }
    return op->code == IG_OP_dequantize && !use;
}

/* Weights of bytes stay so until `recognise_integer` and `pack` have seen them: these
 * keep them narrow, also small ones where both factors are bytes. */
static bool is_narrow_factor(const ig_op *op) {
    const ig_value *x = op->operand_count ? op->operands[0].value : NULL;
    const ig_type *type = x ? x->type : NULL;
    bool is_byte = type && (type->dtype == IG_DT_i8 || type->dtype == IG_DT_u8);
    if (!is_byte || !ig_def(x, IG_OP_weight) || !ig_type_is_static(type)) {
        return false;
    }
    const ig_op *product = type->rank == 2 ? find_product(op->results) : NULL;
    return is_kernel(op) ||
           (product &&
            (has_many(type) || ig_def(product->operands[0].value, IG_OP_dequantize)));
}

static bool can_evaluate(const folder *f, const ig_op *op) {
    uint32_t barred = IG_TERMINATOR | IG_GUARD | IG_STATE | IG_HOST | IG_CONSTANT;
    return ig_ops[op->code].fold && !op->body_count &&
           !(ig_ops[op->code].traits & barred) && ig_op_is_used(op) &&
           !is_narrow_factor(op) && has_small_constants(f, op);
}

static bool evaluate_op(folder *f, const ig_op *op, ig_tensor *out) {
    assert(ig_ops[op->code].fold && "an op that has an evaluation");
    ig_arena *scratch = f->run->scratch;
    ig_tensor *in = IG_NEW_ARRAY(scratch, ig_tensor, op->operand_count);
    const ig_tensor **pointers = IG_NEW_ARRAY(scratch, const ig_tensor *,
                                              op->operand_count);
    ig_silence silence = ig_silence_begin(f->module->context);
    ig_status status = IG_OK;
    for (uint32_t i = 0; i < op->operand_count && status == IG_OK; i++) {
        pointers[i] = &in[i];
        status = ig_tensor_of_data(ig_constant_of(op->operands[i].value), scratch,
                                   f->module->context, &in[i]);
    }
    if (status == IG_OK) {
        status = ig_evaluate_op(op, pointers, scratch, out);
    }
    ig_silence_end(&silence);
    return status == IG_OK;
}

static void fold_constants(folder *f, ig_op *op) {
    ig_tensor *out = IG_NEW_ARRAY(f->run->scratch, ig_tensor, op->result_count);
    if (!evaluate_op(f, op, out)) {
        return;
    }
    ig_builder b = ig_builder_before(op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = ig_type_of_extents(f->module, out[i].dtype, out[i].rank,
                                                 out[i].dims);
        replace_result(f, op, i, ig_make_const(&b, type, out[i].data));
    }
}

/* ---- the walk ---- */

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void fold_block(folder *f, ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            fold_block(f, op->bodies[i]);
        }
        bool is_constant = ig_ops[op->code].traits & IG_CONSTANT;
        if (is_constant && op->code != IG_OP_dims) {
            continue;
        }
        if (!fold_shape(f, op) && can_evaluate(f, op)) {
            fold_constants(f, op);
        }
    }
}

ig_status ig_pass_fold(ig_pass_run *run, ig_graph *graph) {
    folder f = { .run = run,
                 .module = graph->module,
                 .bytes_max = graph->module->context->limits.inline_bytes };
    ig_symbols_init(&f.symbols, graph, run->scratch);
    fold_block(&f, &graph->body);
    return ig_symbols_apply(&f.symbols, run, graph);
}
