/* fuse: groups ops into regions that become one kernel each.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = matmul_panels %x, @w {columns = 512} : f32[B, 512]
 *     %1 = add %0, @bias : f32[B, 512]
 *     %2 = relu %1 : f32[B, 512]
 *   becomes
 *     %2 = fused %x, @w, @bias {family = "gemm"} (%a, %b, %c) {
 *       %3 = matmul_panels %a, %b {columns = 512} ...  yield %5
 *     } : f32[B, 512]
 *
 * A region has at most one anchor (the op that gives the family) and grows downwards:
 * an elementwise op joins the region that computes one of its operands when nobody else
 * uses that operand and the shape stays the same.  Of two such regions the one with the
 * anchor is joined, and an anchorless one is drawn into it.  Where several ops use a
 * region's results and come together again, they join as one:
 *
 *     %1 = add %0, @bias
 *     %2 = sigmoid %1
 *     %3 = mul %1, %2            all of it is one region
 *
 * At last an elementwise region whose result one other elementwise region alone uses,
 * though in several places, joins that:
 *
 *     %2 = abs %0
 *     %3 = neg %1
 *     %4 = add %2, %3
 *     %5 = mul %4, %2
 *     %6 = sub %5, %3            all of it is one region
 *
 * Then each region moves to its last op.  Constants of one element go inside.
 *
 * A product of weights that one other region alone computes from a product, by
 * elementwise ops and softmax, is a region with it (fuse_attention.c).
 *
 * Reductions of one tensor over the same axes are a region of several results, which
 * is where the first of them was: the tensor is read once.
 *
 *     %1 = reduce %0 {op = min}
 *     %2 = reduce %0 {op = max}      both are one region
 *
 * Keeps: shapes, values; the order of everything else.
 */
#include "ir/build/expr.h"
#include "ir/families.h"
#include "passes/place/fuse.h"
#include "passes/place/whole_bytes.h"

#include <assert.h>

enum { LOOK_AHEAD = 256 };

/* ---- growing regions ---- */

static ig_fuse_region *new_region(ig_fuser *f, ig_op *op, ig_kernel_family family) {
    ig_fuse_region *r = IG_NEW(f->run->scratch, ig_fuse_region);
    r->family = family;
    IG_PUSH(f->run->scratch, &r->ops, op);
    IG_PUSH(f->run->scratch, &f->regions, r);
    ig_map_set_id(&f->region_of, IG_MAP_PTR(op), r);
    return r;
}

static bool is_map(const ig_fuse_region *r) {
    return r->family == IG_FAMILY_map;
}

/* All uses of `value` are operands of `op`. */
static bool is_used_only_by(const ig_value *value, const ig_op *op) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        if (use->user != op) {
            return false;
        }
    }
    return true;
}

static bool has_equal_dims(ig_module *module, const ig_type *a, const ig_type *b) {
    if (a->rank != b->rank) {
        return false;
    }
    for (uint32_t d = 0; d < a->rank; d++) {
        if (ig_dim_equal(module, a->dims[d], b->dims[d]) != IG_YES) {
            return false;
        }
    }
    return true;
}

/* Of the family of softmax only norms do: its kernels know no places but offsets. */
static bool takes_epilogue(const ig_fuse_region *r) {
    return ig_family_has(r->family, IG_FAMILY_EPILOGUE) ||
           r->ops.items[0]->code == IG_OP_layer_norm;
}

/* The region whose root computes `value` and could have elementwise `op`, or NULL. */
static ig_fuse_region *find_growing(ig_fuser *f, ig_op *op, const ig_value *value) {
    if (!value->def || value->def->block != op->block) {
        return NULL;
    }
    ig_fuse_region *r = ig_map_get_id(&f->region_of, IG_MAP_PTR(value->def));
    bool is_root = r && IG_LAST(&r->ops) == value->def;
    if (!is_root || r->ops.count >= IG_REGION_OPS) {
        return NULL;
    }
    bool can_grow = is_map(r) || takes_epilogue(r);
    bool is_same = has_equal_dims(ig_op_module(op), value->type, op->results[0].type);
    return can_grow && is_same ? r : NULL;
}

/* The region that elementwise `op` may join through operand `value`, or NULL. */
static ig_fuse_region *find_joinable(ig_fuser *f, ig_op *op, const ig_value *value) {
    return is_used_only_by(value, op) ? find_growing(f, op, value) : NULL;
}

void ig_fuse_draw_in(ig_fuser *f, ig_fuse_region *into, ig_fuse_region *from) {
    ig_arena *arena = f->run->scratch;
    for (size_t i = 0; i < from->ops.count; i++) {
        IG_PUSH(arena, &into->ops, from->ops.items[i]);
        ig_map_set_id(&f->region_of, IG_MAP_PTR(from->ops.items[i]), into);
    }
    from->merged_into = into;
}

/* Adds `op` and the anchorless regions that feed it. */
static void add_op(ig_fuser *f, ig_fuse_region *r, ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_fuse_region *from = find_joinable(f, op, op->operands[i].value);
        if (from && from != r && is_map(from) &&
            from->ops.count + r->ops.count < IG_REGION_OPS) {
            ig_fuse_draw_in(f, r, from);
        }
    }
    IG_PUSH(f->run->scratch, &r->ops, op);
    ig_map_set_id(&f->region_of, IG_MAP_PTR(op), r);
}

/* ---- several users that come together ---- */

/* Ops after a region's root that might join it. */
typedef struct bundle {
    ig_op *root;
    ig_map inside; /* op -> itself, the root too */
    uint32_t count;
    ig_op *ops[IG_REGION_OPS];
} bundle;

static bool is_inside(const bundle *b, const ig_op *op) {
    return ig_map_get_id(&b->inside, IG_MAP_PTR(op)) != NULL;
}

static bool uses_any(const bundle *b, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_op *def = op->operands[i].value->def;
        if (def && is_inside(b, def)) {
            return true;
        }
    }
    return false;
}

static bool stays_inside(const bundle *b, const ig_op *op) {
    for (const ig_use *use = op->results[0].uses; use; use = use->next) {
        if (!is_inside(b, use->user)) {
            return false;
        }
    }
    return true;
}

/* Nothing but the last op's result is wanted by others. */
static bool is_closed(const bundle *b) {
    bool is_closed = stays_inside(b, b->root);
    for (uint32_t i = 0; is_closed && i + 1 < b->count; i++) {
        is_closed = stays_inside(b, b->ops[i]);
    }
    return is_closed;
}

static bool may_join(ig_fuser *f, const bundle *b, const ig_op *op, uint32_t room) {
    return (ig_ops[op->code].traits & IG_MAP) && !ig_is_bits_cast(op) &&
           op->result_count == 1 && b->count < room &&
           !ig_map_get_id(&f->region_of, IG_MAP_PTR(op)) &&
           has_equal_dims(ig_op_module(op), b->root->results[0].type,
                          op->results[0].type);
}

/* Takes the ops after the root that use it, up to the first that ends them all. */
static bool gather_users(ig_fuser *f, ig_fuse_region *r, bundle *b) {
    uint32_t room = IG_REGION_OPS - (uint32_t)r->ops.count, seen = 0;
    ig_map_init(&b->inside, f->run->scratch);
    ig_map_set_id(&b->inside, IG_MAP_PTR(b->root), b->root);
    for (ig_op *op = b->root->next; op && seen < LOOK_AHEAD; op = op->next, seen++) {
        if (!uses_any(b, op)) {
            continue;
        }
        if (!may_join(f, b, op, room)) {
            return false;
        }
        b->ops[b->count++] = op;
        ig_map_set_id(&b->inside, IG_MAP_PTR(op), op);
        if (is_closed(b)) {
            return true;
        }
    }
    return false;
}

/* Does `op` join, with others, a region whose result it does not use alone? */
static bool join_together(ig_fuser *f, ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_fuse_region *r = find_growing(f, op, op->operands[i].value);
        bundle b = { .root = r ? IG_LAST(&r->ops) : NULL };
        if (!r || r->tried == b.root || b.root->result_count != 1) {
            continue;
        }
        r->tried = b.root;
        if (gather_users(f, r, &b)) {
            for (uint32_t k = 0; k < b.count; k++) {
                add_op(f, r, b.ops[k]);
            }
            return true;
        }
    }
    return false;
}

static void join_region(ig_fuser *f, ig_op *op) {
    if (ig_map_get_id(&f->region_of, IG_MAP_PTR(op))) {
        return; /* together with others */
    }
    ig_fuse_region *best = NULL;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_fuse_region *r = find_joinable(f, op, op->operands[i].value);
        if (r && (!best || (is_map(best) && !is_map(r)))) {
            best = r;
        }
    }
    if (best) {
        add_op(f, best, op);
    } else if (!join_together(f, op)) {
        new_region(f, op, ig_op_family(op));
    }
}

/* A sort of 64-bit numbers, whose keys leave no room for positions: a function of the
 * host does it. */
static bool is_wide_sort(const ig_op *op, ig_kernel_family family) {
    return family == IG_FAMILY_sort &&
           ig_dtypes[op->operands[0].value->type->dtype].bits > 32;
}

/* ---- reductions of one tensor ---- */

/* Floats, whose kinds of reduction are all computed in one dtype; but logsumexp reads
 * its tensor twice anyway. */
static bool may_share_reads(const ig_op *op) {
    return op->code == IG_OP_reduce && op->operand_count == 1 &&
           ig_dtype_is_float((ig_dtype)op->operands[0].value->type->dtype) &&
           ig_attr_int(op, IG_reduce_op, 0) != IG_REDUCE_logsumexp;
}

static bool reduces_alike(const ig_op *a, const ig_op *b) {
    static const int slots[] = { IG_reduce_axes, IG_reduce_keep,
                                 IG_reduce_noop_if_empty };
    bool is_alike = a->operands[0].value == b->operands[0].value &&
                    a->block == b->block;
    for (size_t i = 0; is_alike && i < IG_COUNT_OF(slots); i++) {
        is_alike = ig_attr_equal(&a->attrs[slots[i]], &b->attrs[slots[i]]);
    }
    return is_alike;
}

/* A region of reductions that `op` could be one more of, or NULL. */
static ig_fuse_region *find_reduction(ig_fuser *f, const ig_op *op) {
    size_t count = f->regions.count;
    size_t end = count > LOOK_AHEAD ? count - LOOK_AHEAD : 0;
    for (size_t i = may_share_reads(op) ? count : end; i-- > end;) {
        ig_fuse_region *r = f->regions.items[i];
        if (r->ops.count < IG_REDUCE_TOGETHER && may_share_reads(r->ops.items[0]) &&
            reduces_alike(r->ops.items[0], op)) {
            return r;
        }
    }
    return NULL;
}

static void add_anchor(ig_fuser *f, ig_op *op, ig_kernel_family family) {
    ig_fuse_region *r = find_reduction(f, op);
    if (r) {
        IG_PUSH(f->run->scratch, &r->ops, op);
        ig_map_set_id(&f->region_of, IG_MAP_PTR(op), r);
    } else {
        new_region(f, op, family);
    }
}

static void collect_regions(ig_fuser *f, ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        ig_kernel_family family = ig_op_family(op);
        if (ig_family_has(family, IG_FAMILY_ANCHOR) && !is_wide_sort(op, family)) {
            add_anchor(f, op, family);
        } else if ((ig_ops[op->code].traits & IG_MAP) && !ig_is_bits_cast(op)) {
            join_region(f, op);
        }
    }
}

/* ---- what one region alone uses ---- */

ig_fuse_region *ig_fuse_region_of(ig_fuser *f, const ig_op *op) {
    ig_fuse_region *r = ig_map_get_id(&f->region_of, IG_MAP_PTR(op));
    while (r && r->merged_into) {
        r = r->merged_into;
    }
    return r;
}

/* The region whose elementwise ops are all that uses `value`, or NULL. */
static ig_fuse_region *only_user(ig_fuser *f, const ig_value *value) {
    ig_fuse_region *only = NULL;
    for (const ig_use *use = value->uses; use; use = use->next) {
        ig_fuse_region *r = ig_fuse_region_of(f, use->user);
        if (!r || (only && r != only) || !is_map(r)) {
            return NULL;
        }
        only = r;
    }
    return only;
}

/* All of `from` goes in front of what `into` has. */
static void put_in_front(ig_fuser *f, ig_fuse_region *into, ig_fuse_region *from) {
    ig_fuse_region own = *into;
    into->ops = from->ops;
    from->merged_into = into;
    for (size_t i = 0; i < own.ops.count; i++) {
        IG_PUSH(f->run->scratch, &into->ops, own.ops.items[i]);
    }
}

/* An elementwise region whose result another one alone uses, however often, becomes a
 * part of it.  Later regions first, for they may be the users of one before. */
static void join_users(ig_fuser *f, const ig_block *block) {
    for (const ig_op *op = block->last; op; op = op->prev) {
        ig_fuse_region *r = ig_fuse_region_of(f, op), *into;
        if (!r || !is_map(r) || IG_LAST(&r->ops) != op || op->result_count != 1) {
            continue;
        }
        into = only_user(f, &op->results[0]);
        if (into && into != r && into->ops.count + r->ops.count <= IG_REGION_OPS &&
            has_equal_dims(ig_op_module(op), op->results[0].type,
                           IG_LAST(&into->ops)->results[0].type)) {
            put_in_front(f, into, r);
        }
    }
}

/* ---- making the region an op ---- */

typedef struct region_body {
    ig_op *fused;
    ig_block *body;
    ig_builder b;
    ig_map inside; /* outer value -> value in the body */
    IG_VEC(ig_value *) operands;
    IG_VEC(ig_value *) results; /* of its ops, that others use */
} region_body;

static bool is_one_element(const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_is(type->dims[d], 1)) {
            return false;
        }
    }
    return true;
}

/* Constants of one element are part of the code. */
static bool goes_inside(const ig_op *user, const ig_value *value) {
    bool is_constant = ig_def(value, IG_OP_const) || ig_def(value, IG_OP_dims);
    return is_constant && (ig_ops[user->code].traits & IG_MAP) &&
           is_one_element(value->type);
}

static bool is_own(ig_fuser *f, const ig_fuse_region *r, const ig_value *value) {
    return value->def && ig_fuse_region_of(f, value->def) == r;
}

/* One operand of the region for each outer value; those of its anchor, the first op,
 * keep their places, twice the same value too, because schedules index them. */
static void collect_operands(ig_fuser *f, const ig_fuse_region *r, region_body *out) {
    ig_arena *arena = f->run->scratch;
    for (size_t i = 0; i < r->ops.count; i++) {
        ig_op *op = r->ops.items[i];
        bool keeps_positions = i == 0 && !(ig_ops[op->code].traits & IG_MAP);
        for (uint32_t o = 0; o < op->operand_count; o++) {
            ig_value *value = op->operands[o].value;
            bool is_known = ig_map_get_id(&out->inside, IG_MAP_PTR(value)) != NULL;
            if (is_own(f, r, value) || goes_inside(op, value) ||
                (is_known && !keeps_positions)) {
                continue;
            }
            ig_map_set_id(&out->inside, IG_MAP_PTR(value), value);
            IG_PUSH(arena, &out->operands, value);
        }
    }
}

/* The ops from this one on give the region's results: the last one, or all of several
 * reductions.  The region is where this one was. */
static size_t first_root(const ig_fuse_region *r) {
    assert(r->ops.count > 0 && "a region has ops");
    return may_share_reads(r->ops.items[0]) ? 0 : r->ops.count - 1;
}

static void collect_results(ig_fuser *f, const ig_fuse_region *r, region_body *out) {
    for (size_t i = first_root(r); i < r->ops.count; i++) {
        ig_op *op = r->ops.items[i];
        for (uint32_t k = 0; k < op->result_count; k++) {
            IG_PUSH(f->run->scratch, &out->results, &op->results[k]);
        }
    }
}

static void make_fused(const ig_fuse_region *r, region_body *out) {
    assert(r->family < IG_FAMILY_COUNT && "a region has a family");
    ig_op *root = r->ops.items[first_root(r)];
    ig_module *module = ig_op_module(root);
    size_t count = out->results.count;
    const ig_type **types = IG_NEW_ARRAY(&module->arena, const ig_type *, count);
    for (size_t i = 0; i < count; i++) {
        types[i] = out->results.items[i]->type;
    }
    ig_op_spec spec = { .operands = out->operands.items,
                        .operand_count = (uint32_t)out->operands.count,
                        .result_types = types,
                        .result_count = (uint32_t)count,
                        .body_count = 1 };
    ig_builder b = ig_builder_before(root);
    ig_expr e = ig_expr_of(&b);
    ig_fused_attrs attrs = { .family = ig_families[r->family].name };
    out->fused = ig_build_fused_op(&e, &spec, attrs);
    out->body = out->fused->bodies[0];
    out->b = ig_builder_at_end(out->body);
    for (size_t i = 0; i < out->operands.count; i++) {
        ig_value *value = out->operands.items[i];
        ig_value *arg = ig_block_add_arg(out->body, value->type, NULL);
        ig_map_set_id(&out->inside, IG_MAP_PTR(value), arg);
    }
}

/* Constants that the op's own bodies share with others. */
static void clone_constants(const ig_op *op, region_body *out) {
    const ig_block *body = op->body_count ? op->bodies[0] : NULL;
    for (const ig_op *inner = body ? body->first : NULL; inner; inner = inner->next) {
        for (uint32_t i = 0; i < inner->operand_count; i++) {
            const ig_value *value = inner->operands[i].value;
            if (ig_value_is_outside(value, body) &&
                !ig_map_get_id(&out->inside, IG_MAP_PTR(value))) {
                assert(ig_def(value, IG_OP_const) && "the verifier wants constants");
                ig_op_clone(value->def, out->body, NULL, &out->inside);
            }
        }
    }
}

/* `is_first`: the region's first op, whose operands are the first ones of the body. */
static void clone_op(const ig_op *op, bool is_first, region_body *out) {
    clone_constants(op, out);
    for (uint32_t o = 0; o < op->operand_count; o++) {
        const ig_value *value = op->operands[o].value;
        if (goes_inside(op, value) && !ig_map_get_id(&out->inside, IG_MAP_PTR(value))) {
            ig_op_clone(value->def, out->body, NULL, &out->inside);
        }
    }
    ig_op *copy = ig_op_clone(op, out->body, NULL, &out->inside);
    bool keeps_positions = is_first && !(ig_ops[op->code].traits & IG_MAP);
    for (uint32_t o = 0; keeps_positions && o < op->operand_count; o++) {
        ig_use_set(&copy->operands[o], out->body->args[o]);
    }
}

/* Replaces the region's ops by one fused op. */
static void build_region(ig_fuser *f, const ig_fuse_region *r) {
    region_body body = { 0 };
    ig_map_init(&body.inside, f->run->scratch);
    collect_operands(f, r, &body);
    collect_results(f, r, &body);
    make_fused(r, &body);
    for (size_t i = 0; i < r->ops.count; i++) {
        clone_op(r->ops.items[i], i == 0, &body);
    }
    size_t count = body.results.count;
    ig_value **yields = IG_NEW_ARRAY(f->run->scratch, ig_value *, count);
    for (size_t i = 0; i < count; i++) {
        ig_value *result = body.results.items[i];
        yields[i] = ig_map_get_id(&body.inside, IG_MAP_PTR(result));
        assert(yields[i] && "the root is in the body");
        body.fused->results[i].name = result->name;
        ig_value_replace(result, &body.fused->results[i]);
    }
    ig_make_yield(&body.b, yields, (uint32_t)count);
    for (size_t i = r->ops.count; i-- > 0;) {
        ig_op_erase(r->ops.items[i]);
    }
    f->run->changed = true;
}

static void fuse_block(ig_pass_run *run, ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        bool is_region = op->code == IG_OP_fused || op->code == IG_OP_bag_update;
        for (uint32_t i = 0; !is_region && i < op->body_count; i++) {
            fuse_block(run, op->bodies[i]);
        }
    }
    ig_fuser f = { .run = run };
    ig_map_init(&f.region_of, run->scratch);
    collect_regions(&f, block);
    join_users(&f, block);
    ig_fuse_attention(&f, block);
    for (size_t i = 0; i < f.regions.count; i++) {
        if (!f.regions.items[i]->merged_into) {
            build_region(&f, f.regions.items[i]);
        }
    }
}

ig_status ig_pass_fuse(ig_pass_run *run, ig_graph *graph) {
    fuse_block(run, &graph->body);
    return IG_OK;
}
