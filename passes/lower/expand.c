/* expand: composites become what they are made of, unless the target has a kernel.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = batch_norm %x, @scale, @bias, @mean, @variance {epsilon = 1e-05}
 *   becomes
 *     %1 = mul %x, %factor
 *     %2 = add %1, %shift
 *
 * with factor and shift computed from constants, once.  Convolutions and pools lose
 * their padding, which becomes a pad op in front of them.
 *
 * Recognisers and importers make composites, so this stands behind all of them.
 */
#include "compose/compose.h"

#include "passes/lower/lower.h"
#include "passes/engine/pass.h"

#include <string.h>

/* ---- shared ---- */

ig_value *ig_expand_with(ig_builder *b, ig_opcode code, ig_value *x, double number) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    if (ig_dtype_is_float(dtype)) {
        return ig_make2(b, code, x, ig_make_float(b, dtype, number));
    }
    ig_value *whole = ig_make_i64(b, (int64_t)number);
    return ig_make2(b, code, x, ig_make_cast(b, whole, dtype));
}

ig_value *ig_expand_widen(ig_builder *b, ig_value *x) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    bool is_narrow = ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
    return is_narrow ? ig_make_cast(b, x, IG_DT_f32) : x;
}

ig_value *ig_expand_reduce(ig_builder *b, ig_reduce op, ig_value *x, uint32_t first,
                           uint32_t last) {
    int64_t axes[IG_TENSOR_RANK];
    for (uint32_t d = first; d <= last; d++) {
        axes[d - first] = d;
    }
    ig_attr attrs[IG_reduce_attr_count] = { { 0 } };
    attrs[IG_reduce_op] = ig_attr_of_enum(op);
    attrs[IG_reduce_axes] = ig_attr_of_ints(b->graph->module, axes, last - first + 1);
    attrs[IG_reduce_keep] = ig_attr_of_bool(true);
    return ig_make(b, IG_OP_reduce, 1, &x, attrs);
}

ig_value *ig_expand_broadcast(ig_builder *b, ig_value *x, uint32_t rank,
                              const ig_dim *dims) {
    ig_attr attrs[IG_expand_attr_count] = { { 0 } };
    attrs[IG_expand_to] = ig_attr_of_dims(b->graph->module, dims, rank);
    return ig_make(b, IG_OP_expand, 1, &x, attrs);
}

ig_value *ig_expand_along(ig_builder *b, ig_value *x, uint32_t axis, uint32_t rank) {
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = d == axis ? x->type->dims[0] : 1;
    }
    return ig_make_reshape(b, x, rank, dims);
}

ig_value *ig_expand_range(ig_builder *b, ig_dim extent) {
    ig_attr attrs[IG_dims_attr_count] = { { 0 } };
    attrs[IG_dims_values] = ig_attr_of_dims(b->graph->module, &extent, 1);
    attrs[IG_dims_scalar] = ig_attr_of_bool(true);
    ig_value *limit = ig_make(b, IG_OP_dims, 0, NULL, attrs);
    ig_value *start = ig_make_i64(b, 0), *step = ig_make_i64(b, 1);
    return ig_make3(b, IG_OP_range, start, limit, step);
}

ig_value *ig_expand_gather(ig_builder *b, ig_value *x, ig_value *ids, uint32_t axis) {
    ig_value *operands[] = { x, ids };
    ig_attr attrs[IG_gather_attr_count] = { { 0 } };
    attrs[IG_gather_axis] = ig_attr_of_int(axis);
    return ig_make(b, IG_OP_gather, 2, operands, attrs);
}

ig_value *ig_expand_transpose(ig_builder *b, ig_value *x, const int64_t *perm) {
    ig_attr attrs[IG_transpose_attr_count] = { { 0 } };
    attrs[IG_transpose_perm] = ig_attr_of_ints(b->graph->module, perm, x->type->rank);
    return ig_make(b, IG_OP_transpose, 1, &x, attrs);
}

ig_value *ig_expand_matmul(ig_builder *b, ig_value *x, ig_value *y, bool transposes_y) {
    ig_value *operands[] = { x, y };
    ig_attr attrs[IG_matmul_attr_count] = { { 0 } };
    if (transposes_y) {
        attrs[IG_matmul_transpose_b] = ig_attr_of_bool(true);
    }
    return ig_make(b, IG_OP_matmul, 2, operands, attrs);
}

/* ---- the pass ---- */

#define ig_expand_none NULL

typedef struct expansion {
    const char *name;
    ig_kernel_family family;
    ig_rule_fn apply;
} expansion;

static const expansion expansions[IG_OP_COUNT] = {
#define OP(op, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           lower, attrs)                                                          \
    [IG_OP_##op] = { #expand, IG_FAMILY_##lower, ig_expand_##expand },
#include "ir/ops.def"
#undef OP
};

ig_status ig_pass_expand(ig_pass_run *run, ig_graph *graph) {
    ig_rule rules[IG_OP_COUNT];
    uint32_t count = 0;
    if (!run->options->target) {
        return IG_OK; /* the interpreter knows every op */
    }
    for (uint32_t code = 0; code < IG_OP_COUNT; code++) {
        const expansion *e = &expansions[code];
        if (e->apply && !ig_lower_has_family(run->options->target, e->family)) {
            rules[count++] = (ig_rule){ .name = e->name,
                                        .root = (ig_opcode)code,
                                        .apply = e->apply };
        }
    }
    rules[count++] = (ig_rule)RULE(conv, ig_expand_conv_form);
    rules[count++] = (ig_rule)RULE(pool, ig_expand_pool_form);
    return ig_rewrite(run, graph, rules, count);
}
