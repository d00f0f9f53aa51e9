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
 * Where queries, keys and values are jagged rows made padded (jagged_to_padded), and
 * such rows are made of the result, by the same offsets, these ops are part of the
 * region too: rows that fill up parts are not computed.
 *
 * A product of such a region's result is none of it: two products are in one.
 *
 * Nothing else uses the scores or the weights, whose rows and columns have a form that
 * the kernel takes (passes/lower/cpu/attention.c): f32, rows of values of at most
 * IG_ATTENTION_VALUES, and rows and columns enough to pay for the copies of keys and
 * values that it makes.
 */
#include "ir/build/build.h"
#include "ir/semantics/padded.h"
#include "passes/place/fuse.h"

#include <assert.h>
#include <string.h>

enum { MIN_ROWS = 8, MIN_KEYS = 16 };

/* What makes a factor of jagged rows, or such rows of the result: a conversion, and
 * where they are there the ops that split rows into heads or join them. */
typedef struct chain {
    ig_op *ops[3];
    uint32_t count;
} chain;

/* What becomes one region; softmax may be NULL. */
typedef struct pieces {
    ig_fuse_region *scores, *softmax, *product;
    chain factors[3], result; /* of q, k, v and what is computed of them, or empty */
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
    if (op->code != IG_OP_softmax) {
        return false;
    }
    int64_t rank = op->results->type->rank, axis = ig_attr_int(op, IG_softmax_axis, 0);
    return axis + (axis < 0 ? rank : 0) == rank - 1 &&
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
    return out->scores && out->scores->family != IG_FAMILY_attention &&
           is_matrix_product(out->scores->ops.items[0]) &&
           weights->type->dtype == IG_DT_f32;
}

/* ---- jagged rows ---- */

static ig_op *take_maker(const ig_value **value, ig_opcode code, chain *out) {
    ig_op *op = ig_def(*value, code);
    if (op && ig_value_has_one_use(*value)) {
        out->ops[out->count++] = op;
        *value = ig_op_operand(op, 0);
        return op;
    }
    return NULL;
}

/* Is `value`, whose axis `rows` has the rows of a part, and axis 0 the parts, made of
 * jagged rows? */
static bool find_factor(const ig_value *value, uint32_t rows, chain *out) {
    const ig_op *transpose = take_maker(&value, IG_OP_transpose, out);
    const ig_value *split = value;
    const ig_op *reshape = take_maker(&value, IG_OP_reshape, out);
    const ig_op *padded = take_maker(&value, IG_OP_jagged_to_padded, out);
    if (!padded || ig_attr_float(padded, IG_jagged_to_padded_padding, 0) != 0) {
        return false;
    }
    ig_module *module = ig_op_module(padded);
    uint32_t own = reshape
                       ? ig_padded_row_axis(module, padded->results->type, split->type)
                       : 1;
    const int64_t *perm = transpose ? transpose->attrs[IG_transpose_perm].as.ints
                                    : NULL;
    return own > 0 && (perm ? perm[0] == 0 && perm[rows] == own : rows == own);
}

static const ig_op *conversion_of(const chain *c) {
    assert(c->count > 0 && "the conversion is the last one found");
    return c->ops[c->count - 1];
}

/* The only user of a value, or NULL. */
static ig_op *only_user(const ig_value *value) {
    return ig_value_has_one_use(value) ? value->uses->user : NULL;
}

static bool joins_heads(const ig_op *transpose) {
    const int64_t *perm = transpose->attrs[IG_transpose_perm].as.ints;
    uint32_t rank = transpose->results->type->rank;
    bool is_joined = perm[0] == 0 && perm[1] == rank - 2 && perm[rank - 1] == rank - 1;
    for (uint32_t d = 2; d + 1 < rank; d++) {
        is_joined &= perm[d] == d - 1;
    }
    return is_joined;
}

static ig_value *take_user(const ig_value *value, ig_opcode code, chain *out) {
    ig_op *user = only_user(value);
    if (user && user->code == code) {
        out->ops[out->count++] = user;
        return user->results;
    }
    return NULL;
}

/* [B, heads…, N, V]: is there one head alone? */
static bool has_one_head(const ig_type *type) {
    for (uint32_t d = 1; d + 2 < type->rank; d++) {
        if (!ig_dim_is(type->dims[d], 1)) {
            return false;
        }
    }
    return true;
}

/* Has `joined` the parts and, next to them, the rows of axis `axis`? */
static bool has_rows(ig_module *module, const ig_type *a, uint32_t axis,
                     const ig_type *joined) {
    return ig_dim_equal(module, a->dims[0], joined->dims[0]) == IG_YES &&
           ig_dim_equal(module, a->dims[axis], joined->dims[1]) == IG_YES;
}

/* Do nothing but jagged rows become of the result [B, heads…, N, V]?  Heads come next
 * to V, and may become one axis with it. */
static bool find_result(const ig_op *root, chain *out) {
    ig_module *module = ig_op_module(root);
    const ig_value *value = root->results;
    const ig_value *turned = take_user(value, IG_OP_transpose, out);
    if (turned && !joins_heads(turned->def)) {
        return false;
    }
    uint32_t rows = turned ? 1 : value->type->rank - 2u;
    value = turned ? turned : value;
    const ig_value *joined = take_user(value, IG_OP_reshape, out);
    if (joined && (joined->type->rank != 3 ||
                   !has_rows(module, value->type, rows, joined->type))) {
        return false;
    }
    bool is_plain = turned || rows == 1 || (joined && has_one_head(value->type));
    value = joined ? joined : value;
    const ig_value *jagged = take_user(value, IG_OP_padded_to_jagged, out);
    return is_plain && jagged && jagged->def->operand_count == 2;
}

/* Has each conversion the same offsets, and as many rows? */
static bool fit_together(const pieces *p) {
    const ig_op *last = conversion_of(&p->result);
    ig_module *module = ig_op_module(last);
    bool fits = true;
    for (uint32_t i = 0; i < IG_COUNT_OF(p->factors); i++) {
        const ig_op *op = conversion_of(&p->factors[i]);
        const ig_type *x = op->operands[0].value->type;
        fits &= ig_op_operand(op, 1) == ig_op_operand(last, 1) &&
                ig_dim_equal(module, x->dims[0], last->results->type->dims[0]) ==
                    IG_YES;
    }
    return fits;
}

/* Weights of keys that no part has meet values of 0. */
static void find_jagged(const ig_op *product, pieces *p) {
    const ig_op *scores = p->scores->ops.items[0];
    bool is_last[3] = { ig_attr_int(scores, IG_matmul_transpose_a, 0) != 0,
                        ig_attr_int(scores, IG_matmul_transpose_b, 0) == 0,
                        ig_attr_int(product, IG_matmul_transpose_b, 0) != 0 };
    const ig_value *factors[3] = { ig_op_operand(scores, 0), ig_op_operand(scores, 1),
                                   ig_op_operand(product, 1) };
    bool is_jagged = find_result(root_of(p->product), &p->result);
    for (uint32_t i = 0; is_jagged && i < IG_COUNT_OF(factors); i++) {
        uint32_t rank = factors[i]->type->rank;
        is_jagged = rank == product->results->type->rank &&
                    find_factor(factors[i], rank - (is_last[i] ? 1 : 2),
                                &p->factors[i]);
    }
    if (!is_jagged || !fit_together(p)) {
        memset(p->factors, 0, sizeof p->factors);
        memset(&p->result, 0, sizeof p->result);
    }
}

/* ---- joining them ---- */

static void append_chain(ig_fuser *f, ig_fuse_region *into, const chain *from,
                         bool is_backwards) {
    for (uint32_t i = 0; i < from->count; i++) {
        ig_op *op = from->ops[is_backwards ? from->count - 1 - i : i];
        ig_fuse_region *own = ig_fuse_region_of(f, op);
        IG_PUSH(f->run->scratch, &into->ops, op);
        if (own) {
            own->merged_into = into;
        }
        ig_map_set_id(&f->region_of, IG_MAP_PTR(op), into);
    }
}

/* The product's region has all of them, in order. */
static void join_pieces(ig_fuser *f, const pieces *p) {
    ig_fuse_region own = *p->product, *into = p->product;
    into->ops.items = NULL;
    into->ops.count = into->ops.capacity = 0;
    into->family = IG_FAMILY_attention;
    for (uint32_t i = 0; i < IG_COUNT_OF(p->factors); i++) {
        append_chain(f, into, &p->factors[i], true);
    }
    ig_fuse_draw_in(f, into, p->scores);
    if (p->softmax) {
        ig_fuse_draw_in(f, into, p->softmax);
    }
    ig_fuse_draw_in(f, into, &own);
    append_chain(f, into, &p->result, false);
}

static size_t op_count(const pieces *p) {
    return p->scores->ops.count + p->product->ops.count + (p->softmax ? 1 : 0) +
           4 * IG_COUNT_OF(p->result.ops);
}

void ig_fuse_attention(ig_fuser *f, const ig_block *block) {
    const ig_target *target = f->run->options->target;
    if (!target || target->has_threads) {
        return; /* only CPUs have the kernel */
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        pieces p = { 0 };
        if (op->code == IG_OP_matmul && find_pieces(f, op, &p) &&
            op_count(&p) <= IG_REGION_OPS) {
            find_jagged(op, &p);
            join_pieces(f, &p);
        }
    }
}
