/* Operators of the user's own, called in the library that the user named.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/custom/custom.h"
#include "ir/fold/fold.h"
#include "ir/graph.h"
#include "ir/hooks.h"

#include <assert.h>

static const ig_custom_op *find_op(const ig_eval *eval, const ig_op *op) {
    const char *name = ig_attr_str(op, IG_custom_function);
    uint32_t version = (uint32_t)ig_attr_int(op, IG_custom_version, 0);
    for (size_t i = 0; i < eval->context->custom_count; i++) {
        const ig_custom_op *found = ig_operators_find(eval->context->custom[i], name,
                                                   version);
        if (found && found->version == version) {
            return found;
        }
    }
    return NULL;
}

static ig_custom_tensor view_of(const ig_tensor *tensor) {
    return (ig_custom_tensor){ .data = tensor->data,
                               .count = tensor->count,
                               .dims = tensor->dims,
                               .rank = tensor->rank,
                               .dtype = ig_dtypes[tensor->dtype].onnx };
}

/* A call of one op, with the views of its arguments. */
typedef struct calling {
    ig_eval *eval;
    const ig_op *op;
    const ig_custom_op *row;
    ig_custom_tensor inputs[IG_CUSTOM_MAX_TENSORS];
} calling;

static ig_status call_function(const calling *c, ig_custom_fn *run,
                               const ig_custom_tensor *outputs, uint32_t count) {
    char reason[IG_CUSTOM_WHY_BYTES] = "";
    ig_custom_call call = { .size = sizeof call,
                            .user = c->row->user,
                            .inputs = c->inputs,
                            .outputs = outputs,
                            .input_count = c->op->operand_count,
                            .output_count = count,
                            .reason = reason,
                            .reason_size = sizeof reason };
    ig_status status = run(&call);
    reason[sizeof reason - 1] = 0;
    return status == IG_OK ? IG_OK
                           : FOLD_FAIL(c->eval, c->op, status, "%s: %s", c->row->name,
                                       reason[0] ? reason : "it failed");
}

/* The symbols that results' own extents are get the values that the library finds. */
static ig_status find_own_extents(const calling *c, int64_t *symbols) {
    const ig_op *op = c->op;
    const ig_attr *own = &op->attrs[IG_custom_own];
    int64_t count = own->count / 2;
    ig_tensor found;
    IG_TRY(ig_eval_alloc(c->eval, op, IG_DT_i64, 1, &count, &found));
    ig_custom_tensor view = view_of(&found);
    IG_TRY(call_function(c, c->row->extents, &view, 1));
    for (int64_t i = 0; i < count; i++) {
        const ig_type *type = op->results[own->as.ints[2 * i]].type;
        ig_dim dim = type->dims[own->as.ints[2 * i + 1]];
        if (ig_dim_as_symbol(ig_op_module(op), dim)) {
            symbols[ig_symbol_index(ig_op_module(op), dim)] = ig_tensor_get_i64(&found,
                                                                                i);
        }
    }
    return IG_OK;
}

/* The values of all symbols, of which a copy may be changed. */
static ig_status copy_symbols(const calling *c, int64_t **out_symbols) {
    uint32_t count = ig_symbol_count(ig_op_module(c->op));
    IG_TRY(
        ig_eval_scratch(c->eval, c->op, count + 1, sizeof **out_symbols, out_symbols));
    for (uint32_t i = 0; i < count; i++) {
        bool is_there = c->eval->symbols && i < c->eval->symbol_count;
        (*out_symbols)[i] = is_there ? c->eval->symbols[i] : IG_SYMBOL_UNBOUND;
    }
    return IG_OK;
}

static ig_status alloc_results(const calling *c, ig_tensor *out,
                               ig_custom_tensor *out_views) {
    ig_eval eval = *c->eval;
    if (c->op->attrs[IG_custom_own].count) {
        int64_t *symbols;
        IG_TRY(copy_symbols(c, &symbols));
        IG_TRY(find_own_extents(c, symbols));
        eval.symbols = symbols;
        eval.symbol_count = ig_symbol_count(ig_op_module(c->op));
    }
    for (uint32_t i = 0; i < c->op->result_count; i++) {
        const ig_type *type = c->op->results[i].type;
        int64_t dims[IG_TENSOR_RANK];
        for (uint32_t k = 0; k < type->rank; k++) {
            IG_TRY(ig_eval_extent(&eval, c->op, type->dims[k], &dims[k]));
        }
        IG_TRY(ig_eval_alloc(&eval, c->op, (ig_dtype)type->dtype, type->rank, dims,
                             &out[i]));
        out_views[i] = view_of(&out[i]);
    }
    return IG_OK;
}

ig_status ig_fold_custom(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    calling c = { .eval = eval, .op = op, .row = find_op(eval, op) };
    bool finds_extents = ig_attr_int(op, IG_custom_extents, 0) != 0;
    bool needs_extents = finds_extents || op->attrs[IG_custom_own].count;
    ig_custom_tensor outputs[IG_CUSTOM_MAX_TENSORS];
    if (!c.row || (needs_extents && !c.row->extents)) {
        return FOLD_FAIL(eval, op, IG_UNSUPPORTED,
                         "no library of operators that was given has %s (version %lld)",
                         ig_attr_str(op, IG_custom_function),
                         (long long)ig_attr_int(op, IG_custom_version, 0));
    }
    assert(op->operand_count + op->result_count <= IG_CUSTOM_MAX_TENSORS &&
           "checked when the library was read");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        c.inputs[i] = view_of(in[i]);
    }
    IG_TRY(alloc_results(&c, out, outputs));
    return call_function(&c, finds_extents ? c.row->extents : c.row->run, outputs,
                         op->result_count);
}
