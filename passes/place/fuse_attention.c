/* fuse: products of weights that are made of a product, as in attention, in one region.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = matmul %q, %k {transpose_b}      region "dot"
 *     %1 = mul %0, 0.125
 *     %2 = add %1, %mask
 *     %3 = softmax %2 {axis = 3}            region "softmax"
 *     %4 = matmul %3, %v                    region "dot"
 *   become one region "attention", whose kernel never has all weights in memory.
 *
 * Softmax may be absent: weights are then what elementwise ops make of the scores.
 * Nothing else uses the scores or the weights, whose rows and columns have a form that
 * the kernel takes (passes/lower/cpu/attention.c): f32, rows of values of at most
 * IG_ATTENTION_VALUES, and rows and columns enough to pay for the copies of keys and
 * values that it makes.
 */
#include "ir/build/build.h"
#include "passes/place/fuse.h"

enum { MIN_ROWS = 8, MIN_KEYS = 16 };

/* What becomes one region; softmax may be NULL. */
typedef struct pieces {
    ig_fuse_region *scores, *softmax, *product;
} pieces;

static const ig_op *root_of(const ig_fuse_region *r) {
    return IG_LAST(&r->ops);
}

/* The region whose root computes `value` for nothing but `user`, or NULL. */
static ig_fuse_region *maker_for(ig_fuser *f, const ig_value *value,
                                 const ig_op *user) {
    ig_fuse_region *r = value->def ? ig_fuse_region_of(f, value->def) : NULL;
    bool is_own = r && root_of(r) == value->def && ig_value_has_one_use(value);
    return is_own && value->def->block == user->block ? r : NULL;
}

static bool is_plain_softmax(const ig_op *op) {
    int64_t rank = op->results->type->rank, axis = ig_attr_int(op, IG_softmax_axis, 0);
    return op->code == IG_OP_softmax && axis + (axis < 0 ? rank : 0) == rank - 1 &&
           !ig_attr_int(op, IG_softmax_log, 0);
}

static bool is_matrix_product(const ig_op *op) {
    bool fits = op->code == IG_OP_matmul && op->results->type->dtype == IG_DT_f32;
    for (uint32_t i = 0; fits && i < op->operand_count; i++) {
        const ig_type *type = op->operands[i].value->type;
        fits = type->rank >= 2 && type->dtype == IG_DT_f32;
    }
    return fits;
}

static bool may_reach(ig_module *module, ig_dim extent, int64_t min) {
    int64_t known;
    return !ig_dim_constant(module, extent, &known) || known >= min;
}

/* Do the extents suit the kernel?  Each row of weights is computed once: values are not
 * more matrices than weights. */
static bool suits_kernel(const ig_op *product) {
    ig_module *module = ig_op_module(product);
    const ig_type *weights = product->operands[0].value->type;
    const ig_type *result = product->results->type;
    uint32_t rank = result->rank;
    int64_t values;
    if (weights->rank != rank || ig_attr_int(product, IG_matmul_transpose_a, 0) ||
        !ig_dim_constant(module, result->dims[rank - 1], &values) || values < 1 ||
        values > IG_ATTENTION_VALUES) {
        return false;
    }
    for (uint32_t d = 0; d + 1 < rank; d++) {
        if (ig_dim_equal(module, weights->dims[d], result->dims[d]) != IG_YES) {
            return false;
        }
    }
    return may_reach(module, weights->dims[rank - 2], MIN_ROWS) &&
           may_reach(module, weights->dims[rank - 1], MIN_KEYS);
}

static bool find_pieces(ig_fuser *f, const ig_op *product, pieces *out) {
    out->product = ig_fuse_region_of(f, product);
    if (!out->product || !is_matrix_product(product) || !suits_kernel(product) ||
        out->product->ops.items[0] != product) {
        return false;
    }
    const ig_value *weights = product->operands[0].value;
    ig_fuse_region *made = maker_for(f, weights, product);
    out->softmax = made && is_plain_softmax(root_of(made)) ? made : NULL;
    const ig_op *softmax = out->softmax ? root_of(made) : NULL;
    out->scores = softmax ? maker_for(f, softmax->operands[0].value, softmax) : made;
    return out->scores && is_matrix_product(out->scores->ops.items[0]) &&
           weights->type->dtype == IG_DT_f32;
}

static void append_ops(ig_fuser *f, ig_fuse_region *into, const ig_fuse_region *from) {
    for (size_t i = 0; i < from->ops.count; i++) {
        IG_PUSH(f->run->scratch, &into->ops, from->ops.items[i]);
    }
}

/* The product's region has all of them, in order. */
static void join_pieces(ig_fuser *f, const pieces *p) {
    ig_fuse_region own = *p->product;
    p->product->ops = p->scores->ops;
    p->product->family = IG_FAMILY_attention;
    p->scores->merged_into = p->product;
    if (p->softmax) {
        append_ops(f, p->product, p->softmax);
        p->softmax->merged_into = p->product;
    }
    append_ops(f, p->product, &own);
}

static size_t op_count(const pieces *p) {
    return p->scores->ops.count + p->product->ops.count + (p->softmax ? 1 : 0);
}

void ig_fuse_attention(ig_fuser *f, const ig_block *block) {
    const ig_target *target = f->run->options->target;
    if (!target || target->has_threads) {
        return; /* only CPUs have the kernel */
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        pieces p;
        if (op->code == IG_OP_matmul && find_pieces(f, op, &p) &&
            op_count(&p) <= IG_REGION_OPS) {
            join_pieces(f, &p);
        }
    }
}
