/* What fold hooks share: errors, scratch memory, extents, walks over elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/walk.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

/* ---- memory ---- */

ig_status ig_eval_alloc(ig_eval *eval, const ig_op *op, ig_dtype dtype, uint32_t rank,
                        const int64_t *dims, ig_tensor *out) {
    ig_status status = ig_tensor_alloc(eval->arena, NULL, dtype, rank, dims, out);
    if (status == IG_OK &&
        ig_tensor_bytes(out) > eval->context->limits.interpret_bytes) {
        status = IG_LIMIT;
    }
    if (status == IG_OK) {
        return IG_OK;
    }
    return FOLD_FAIL(
        eval, op, status,
        "%s: a result of this size cannot be computed: it passes the limit interpret_bytes or the memory there is",
        ig_ops[op->code].name);
}

ig_status ig_eval_scratch(ig_eval *eval, const ig_op *op, int64_t count, size_t size,
                          void *out_memory) {
    size_t bytes;
    void *memory = NULL;
    if (ig_mul_size((size_t)count, size, &bytes)) {
        memory = ig_arena_try_alloc(eval->scratch, bytes);
    }
    if (!memory) {
        return FOLD_FAIL(eval, op, IG_LIMIT, "%s: no memory to compute with",
                         ig_ops[op->code].name);
    }
    memset(memory, 0, bytes);
    memcpy(out_memory, &memory, sizeof memory);
    return IG_OK;
}

/* ---- extents ---- */

typedef struct unbound {
    const ig_eval *eval;
    bool is_found;
} unbound;

static void look_for_unbound(void *user, uint32_t symbol) {
    unbound *search = user;
    const ig_eval *eval = search->eval;
    if (!eval->symbols || symbol >= eval->symbol_count ||
        eval->symbols[symbol] == IG_SYMBOL_UNBOUND) {
        search->is_found = true;
    }
}

static const char *dim_text(ig_eval *eval, const ig_module *module, ig_dim dim) {
    ig_writer writer;
    ig_writer_init(&writer, eval->scratch ? eval->scratch : eval->arena);
    ig_dim_print(module, dim, &writer);
    return writer.data;
}

ig_status ig_eval_dim(ig_eval *eval, const ig_op *op, ig_dim dim, int64_t *out_value) {
    ig_module *module = ig_op_module(op);
    if (ig_dim_constant(module, dim, out_value)) {
        return IG_OK;
    }
    unbound search = { .eval = eval };
    ig_dim_visit_symbols(module, dim, look_for_unbound, &search);
    if (search.is_found) {
        return FOLD_ERROR(eval, op, "%s: %s has no value here: no input gives it one",
                          ig_ops[op->code].name, dim_text(eval, module, dim));
    }
    if (!ig_dim_evaluate(module, dim, eval->symbols, out_value)) {
        return FOLD_ERROR(
            eval, op, "%s: an extent overflows, divides by zero or leaves a remainder",
            ig_ops[op->code].name);
    }
    return IG_OK;
}

ig_status ig_eval_extent(ig_eval *eval, const ig_op *op, ig_dim dim,
                         int64_t *out_value) {
    IG_TRY(ig_eval_dim(eval, op, dim, out_value));
    if (*out_value >= 0) {
        return IG_OK;
    }
    return FOLD_ERROR(eval, op, "%s: an extent is %lld", ig_ops[op->code].name,
                      (long long)*out_value);
}

ig_status ig_eval_shape(ig_eval *eval, const ig_op *op, uint32_t slot,
                        const ig_tensor *operand, uint32_t *out_rank,
                        int64_t *out_dims) {
    const ig_attr *attr = &op->attrs[slot];
    bool by_attr = ig_attr_is_set(op, slot);
    int64_t rank = by_attr ? attr->count : operand->count;
    if (rank > IG_TENSOR_RANK) {
        return FOLD_FAIL(eval, op, IG_LIMIT, "%s: the shape has more than %d entries",
                         ig_ops[op->code].name, IG_TENSOR_RANK);
    }
    *out_rank = (uint32_t)rank;
    for (int64_t i = 0; i < rank; i++) {
        if (by_attr) {
            IG_TRY(ig_eval_extent(eval, op, attr->as.dims[i], &out_dims[i]));
        } else {
            out_dims[i] = ig_tensor_get_i64(operand, i);
        }
    }
    return IG_OK;
}

uint32_t ig_axis_of(int64_t axis, uint32_t rank) {
    int64_t at = axis < 0 ? axis + rank : axis;
    assert(at >= 0 && at < rank && "infer checked the axis");
    return (uint32_t)at;
}

/* ---- strides ---- */

void ig_strides_of(uint32_t rank, const int64_t *dims, int64_t *out_strides) {
    int64_t stride = 1;
    for (uint32_t i = rank; i-- > 0;) {
        out_strides[i] = stride;
        stride *= dims[i] > 0 ? dims[i] : 1;
    }
}

void ig_strides_broadcast(const ig_tensor *tensor, uint32_t out_rank,
                          int64_t *out_strides) {
    uint32_t missing = out_rank - tensor->rank;
    memset(out_strides, 0, out_rank * sizeof *out_strides);
    ig_strides_of(tensor->rank, tensor->dims, out_strides + missing);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] == 1) {
            out_strides[missing + i] = 0;
        }
    }
}

bool ig_walk_broadcast(const ig_tensor *tensor, uint32_t *rank, int64_t *dims) {
    uint32_t joined = tensor->rank > *rank ? tensor->rank : *rank;
    uint32_t added = joined - *rank;
    memmove(dims + added, dims, *rank * sizeof *dims);
    for (uint32_t i = 0; i < added; i++) {
        dims[i] = 1;
    }
    *rank = joined;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        int64_t *dim = &dims[joined - tensor->rank + i];
        if (tensor->dims[i] != 1 && *dim != 1 && *dim != tensor->dims[i]) {
            return false;
        }
        *dim = *dim == 1 ? tensor->dims[i] : *dim;
    }
    return true;
}

/* ---- walks ---- */

void ig_walk_start(ig_walk *walk, uint32_t rank, const int64_t *dims) {
    walk->rank = rank;
    walk->dims = dims;
    walk->is_inside = true;
    for (uint32_t i = 0; i < rank; i++) {
        walk->index[i] = 0;
        walk->is_inside = walk->is_inside && dims[i] > 0;
    }
}

void ig_walk_next(ig_walk *walk) {
    for (uint32_t d = walk->rank; d-- > 0;) {
        bool is_carry = walk->index[d] + 1 == walk->dims[d];
        int64_t steps = is_carry ? -walk->index[d] : 1;
        for (uint32_t k = 0; k < walk->operand_count; k++) {
            walk->at[k] += steps * walk->strides[k][d];
        }
        walk->index[d] += steps;
        if (!is_carry) {
            return;
        }
    }
    walk->is_inside = false;
}

void ig_walk_copy(ig_tensor *out, const ig_tensor *from, uint32_t rank,
                  const int64_t *dims, int64_t start, const int64_t *strides) {
    uint32_t outer = rank ? rank - 1 : 0;
    int64_t run = rank ? dims[outer] : 1, step = rank ? strides[outer] : 1, to = 0;
    ig_walk walk = { .operand_count = 1, .strides = { strides }, .at = { start } };
    if (run == 0) {
        return;
    }
    for (ig_walk_start(&walk, outer, dims); walk.is_inside; ig_walk_next(&walk)) {
        if (step == 1) {
            ig_span_copy(out, to, from, walk.at[0], run);
        } else {
            ig_span_gather(out, to, from, walk.at[0], step, run);
        }
        to += run;
    }
}

ig_around ig_around_axis(const ig_tensor *tensor, uint32_t axis) {
    ig_around around = { 1, tensor->dims[axis], 1 };
    for (uint32_t i = 0; i < axis; i++) {
        around.outer *= tensor->dims[i];
    }
    for (uint32_t i = axis + 1; i < tensor->rank; i++) {
        around.inner *= tensor->dims[i];
    }
    return around;
}
