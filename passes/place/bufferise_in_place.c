/* bufferise: results in an argument's memory are written after `commit`.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %2 = add %table, %d : f32[V, D]
 *     ret %y, %2 {in_place = [-1, 0]}
 *   becomes
 *     …                                     whatever else reads %table
 *     commit
 *     compute %table, %d, %table {family = "map", outs = 1} …
 *     ret %y, %table {in_place = [-1, 0]}
 *
 * Nothing after commit may fail or be read by others, so only a sure result goes
 * straight to the argument: an elementwise region all of whose results are in place and
 * that reads of such arguments its own alone, element by element; and inserts into the
 * argument and scatters, of which the part alone is written.  A scatter's indices are
 * made into rows before commit, which reports those that are out of range.  Sizes must
 * be known when shapes are bound.  Who reads the new value of a scatter or an insert, a
 * cache of keys and values, comes after commit with all that needs it, if all of that
 * is sure too: regions without reports, views and concats.  Any other result is
 * computed into a buffer of its own, as if it were no argument's, and copied after
 * commit.
 */
#include "passes/place/bufferise.h"

#include "ir/bag.h"
#include "ir/build/expr.h"
#include "ir/families.h"
#include "passes/place/part.h"

#include <assert.h>

typedef ig_buffers buffers;

/* The argument whose memory result `index` is in, or NULL. */
static ig_value *target_of(const buffers *s, const ig_op *ret, uint32_t index) {
    int64_t arg = ig_ret_in_place(ret, index);
    return arg < 0 ? NULL : s->graph->body.args[arg];
}

static bool is_target(const buffers *s, const ig_value *value) {
    const ig_op *ret = s->graph->body.last;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        if (target_of(s, ret, i) == value) {
            return true;
        }
    }
    return false;
}

/* ---- sure results ---- */

static bool are_bound(buffers *s, const ig_dim *dims, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!ig_buffers_is_bound(s, dims[i])) {
            return false;
        }
    }
    return true;
}

static bool is_type_bound(buffers *s, const ig_type *type) {
    return are_bound(s, type->dims, type->rank);
}

/* What `value` is a view of; NULL where only the run knows its source. */
static const ig_value *find_base(buffers *s, const ig_value *value) {
    for (;;) {
        const ig_op *def = value->def;
        bool is_slice = def && def->code == IG_OP_slice;
        bool is_view = is_slice || (def && (def->code == IG_OP_reshape ||
                                            def->code == IG_OP_expand ||
                                            def->code == IG_OP_transpose));
        if (!is_type_bound(s, value->type)) {
            return NULL;
        }
        if (!is_view) {
            return value;
        }
        const ig_attr *starts = &def->attrs[IG_slice_starts];
        if (is_slice && (starts->kind != IG_ATTR_DIMS ||
                         !are_bound(s, starts->as.dims, starts->count))) {
            return NULL;
        }
        value = def->operands[0].value;
    }
}

/* The argument whose memory the value is in as the graph's result, and as nothing
 * else. */
static ig_value *own_target(const buffers *s, const ig_value *value) {
    const ig_op *ret = s->graph->body.last;
    if (!ig_value_has_one_use(value) || value->uses->user != ret) {
        return NULL;
    }
    ig_value *arg = target_of(s, ret, (uint32_t)(value->uses - ret->operands));
    return arg && arg->type == value->type ? arg : NULL;
}

/* A divisor of 0 is reported, but for floats. */
static bool may_report(const ig_op *op) {
    return (ig_ops[op->code].traits & IG_MAY_TRAP) &&
           ig_dtype_is_int((ig_dtype)op->results->type->dtype);
}

static bool is_elementwise(const ig_op *fused) {
    for (const ig_op *op = fused->bodies[0]->first; op; op = op->next) {
        if (!(ig_ops[op->code].traits & (IG_MAP | IG_CONSTANT | IG_TERMINATOR)) ||
            may_report(op)) {
            return false;
        }
    }
    return ig_op_family(fused) == IG_FAMILY_map;
}

/* Of arguments that are written in place a region reads its own results' alone. */
static bool reads_surely(buffers *s, const ig_op *fused, const ig_value *operand) {
    const ig_value *base = find_base(s, operand);
    if (!base || !is_target(s, base)) {
        return base != NULL;
    }
    for (uint32_t i = 0; i < fused->result_count; i++) {
        if (own_target(s, &fused->results[i]) == operand) {
            return true;
        }
    }
    return false;
}

static bool is_sure_region(buffers *s, const ig_op *op) {
    if (op->code != IG_OP_fused || op->block != &s->graph->body ||
        !is_elementwise(op)) {
        return false;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!own_target(s, &op->results[i]) ||
            op->results[i].type != op->results[0].type) {
            return false;
        }
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!reads_surely(s, op, op->operands[i].value)) {
            return false;
        }
    }
    return is_type_bound(s, op->results->type);
}

static bool is_sure_insert(buffers *s, const ig_op *op) {
    const ig_attr *starts = &op->attrs[IG_insert_starts];
    const ig_value *part = find_base(s, op->operands[1].value);
    return op->block == &s->graph->body && part && !is_target(s, part) &&
           starts->kind == IG_ATTR_DIMS && are_bound(s, starts->as.dims, starts->count);
}

/* ---- scatters ---- */

static ig_op *scatter_of(const ig_op *fused) {
    ig_op *op = ig_op_family(fused) == IG_FAMILY_scatter ? fused->bodies[0]->first
                                                         : NULL;
    while (op && op->code != IG_OP_scatter_elements && op->code != IG_OP_scatter_nd) {
        op = op->next;
    }
    return op;
}

/* The argument of a region's body that its scatter changes, and reads once; or NULL. */
static const ig_value *scattered_arg(const ig_op *fused) {
    const ig_op *scatter = scatter_of(fused);
    const ig_value *x = scatter ? scatter->operands[0].value : NULL;
    return x && !x->def && ig_value_has_one_use(x) ? x : NULL;
}

ig_value *ig_bufferise_scattered(const ig_op *fused) {
    const ig_value *x = scattered_arg(fused);
    return x ? fused->operands[x->index].value : NULL;
}

static bool is_sure_scatter(buffers *s, const ig_op *fused) {
    const ig_value *x = scattered_arg(fused);
    if (!x || fused->block != &s->graph->body || !is_type_bound(s, x->type)) {
        return false;
    }
    for (uint32_t i = 0; i < fused->operand_count; i++) {
        const ig_value *base = find_base(s, fused->operands[i].value);
        if (i != x->index && (!base || is_target(s, base))) {
            return false;
        }
    }
    return true;
}

/* The extents that each index, or each place of a tuple, is one of. */
static ig_dims indexed_extents(const ig_op *scatter) {
    const ig_type *x = scatter->operands[0].value->type;
    const ig_type *ids = scatter->operands[1].value->type;
    if (scatter->code == IG_OP_scatter_elements) {
        int64_t axis = ig_attr_int(scatter, IG_scatter_elements_axis, 0);
        return (ig_dims){ x->dims + (axis < 0 ? axis + (int64_t)x->rank : axis), 1 };
    }
    int64_t depth = 0;
    bool is_known = ig_dim_known(ids->dims[ids->rank - 1], &depth);
    assert(is_known && "infer wants the depth");
    (void)is_known;
    return (ig_dims){ x->dims, (uint32_t)depth };
}

/* Rows for the scatter's indices, in a buffer of their own. */
static ig_value *check_indices(buffers *s, ig_builder *b, const ig_op *scatter,
                               ig_value *ids) {
    bool is_nd = scatter->code == IG_OP_scatter_nd;
    const ig_type *type = scatter->operands[1].value->type;
    ig_check_index_attrs attrs = {
        .extents = indexed_extents(scatter),
        .negative = (int)ig_attr_int(
            scatter, is_nd ? IG_scatter_nd_negative : IG_scatter_elements_negative, 0)
    };
    if (attrs.extents.count == 0) {
        return ids; /* of empty tuples */
    }
    ig_place *rows = ig_buffers_alloc(s, b, IG_DT_i64, type->rank, type->dims);
    ig_value *operands[] = { ids, rows->root };
    ig_op *compute = ig_buffers_compute(b, IG_FAMILY_scatter, operands, 2, 1);
    ig_value *arg = ig_block_add_arg(compute->bodies[0], type, NULL);
    ig_builder body = ig_builder_at_end(compute->bodies[0]);
    ig_expr e = ig_expr_of(&body);
    ig_value *checked = ig_build_check_index(&e, arg, attrs);
    ig_make_yield(&body, &checked, 1);
    return rows->root;
}

static void set_flag(ig_op *scatter, uint32_t of_elements, uint32_t of_nd) {
    ig_attr_set(scatter, scatter->code == IG_OP_scatter_nd ? of_nd : of_elements,
                ig_attr_of_bool(true));
}

void ig_bufferise_scatter(buffers *s, ig_builder *b, const ig_op *fused,
                          ig_value **operands) {
    ig_op *scatter = scatter_of(fused);
    const ig_value *x = scatter ? ig_bufferise_scattered(fused) : NULL;
    const ig_place *to = x ? ig_buffers_place(s, fused->results) : NULL;
    if (!x ||
        !ig_place_equal(s->module, ig_buffers_place(s, (ig_value *)(uintptr_t)x), to)) {
        return;
    }
    set_flag(scatter, IG_scatter_elements_in_place, IG_scatter_nd_in_place);
    if (!to->root->def) { /* an argument, after commit */
        ig_value *ids = scatter->operands[1].value;
        assert(!ids->def && "indices are an operand of the region");
        operands[ids->index] = check_indices(s, b, scatter, operands[ids->index]);
        ig_value_retype(ids, ig_type_tensor(s->module,
                                            (ig_dtype)operands[ids->index]->type->dtype,
                                            ids->type->rank, ids->type->dims));
        set_flag(scatter, IG_scatter_elements_is_checked, IG_scatter_nd_is_checked);
    }
}

/* ---- updates of tables ---- */

static const ig_op *update_of(const ig_op *fused) {
    const ig_op *op = ig_op_family(fused) == IG_FAMILY_bag_update
                          ? fused->bodies[0]->first
                          : NULL;
    while (op && op->code != IG_OP_bag_update) {
        op = op->next;
    }
    return op;
}

/* The operand of the region that result `index` is made of: those of its anchor keep
 * their places. */
static uint32_t changed_operand(const ig_op *update, uint32_t index) {
    uint32_t own = 1 + ig_bag_update_states(update);
    return ig_bag_update_at(update, index / own).weight + index % own;
}

/* Weights and states are in place, and nothing else that is written is read. */
static bool is_sure_update(buffers *s, const ig_op *fused) {
    const ig_op *update = update_of(fused);
    uint32_t changed = 0, reads = 0;
    if (!update || fused->block != &s->graph->body) {
        return false;
    }
    for (uint32_t i = 0; i < fused->result_count; i++) {
        const ig_value *x = fused->operands[changed_operand(update, i)].value;
        changed += own_target(s, &fused->results[i]) == x;
    }
    for (uint32_t i = 0; i < fused->operand_count; i++) {
        const ig_value *base = find_base(s, fused->operands[i].value);
        reads += base && is_target(s, base);
        if (!base) {
            return false;
        }
    }
    return changed == fused->result_count && reads == changed;
}

void ig_bufferise_update(buffers *s, ig_builder *b, const ig_op *fused,
                         ig_value **operands) {
    const ig_op *update = update_of(fused);
    for (uint32_t i = 0; update && i < fused->result_count; i++) {
        uint32_t x = changed_operand(update, i);
        ig_place *from = ig_buffers_place(s, fused->operands[x].value);
        ig_place *to = ig_buffers_place(s, &fused->results[i]);
        if (!ig_place_equal(s->module, from, to)) {
            ig_buffers_copy(s, b, from, to);
        }
        operands[x] = operands[fused->operand_count + i];
    }
}

/* ---- offers ---- */

static void offer_target(buffers *s, const ig_value *value, ig_value *arg) {
    ig_map_set_id(&s->wanted, IG_MAP_PTR(value),
                  ig_place_whole(s->arena, s->module, arg));
    ig_map_set_id(&s->owned, IG_MAP_PTR(arg), arg);
}

/* The operand of which an insert or a scatter changes a part, where that is sure; else
 * NULL. */
static ig_value *changed_by(buffers *s, const ig_value *value) {
    const ig_op *op = value->def;
    if (op && op->code == IG_OP_insert) {
        return is_sure_insert(s, op) ? op->operands[0].value : NULL;
    }
    return op && op->code == IG_OP_fused && is_sure_scatter(s, op)
               ? ig_bufferise_scattered(op)
               : NULL;
}

/* Inserts and scatters one after the other into the argument. */
static void offer_changes(buffers *s, ig_value *value, ig_value *arg) {
    ig_value *into = value, *next;
    while ((into == value || ig_value_has_one_use(into)) &&
           (next = changed_by(s, into)) != NULL) {
        into = next;
    }
    for (ig_value *v = value; into == arg && v != into; v = changed_by(s, v)) {
        offer_target(s, v, arg);
    }
}

/* ---- readers of written values ---- */

typedef IG_VEC(const ig_op *) op_list;

static bool is_renewed(const buffers *s, const ig_value *value) {
    return ig_map_get_id(&s->renewed, IG_MAP_PTR(value)) != NULL;
}

/* Results that are a renewed value's in its argument, or computed; not views of one. */
static bool is_sure_return(buffers *s, const ig_value *value) {
    const ig_op *ret = s->graph->body.last;
    for (const ig_use *use = value->uses; use; use = use->next) {
        if (use->user == ret) {
            ig_value *arg = target_of(s, ret, (uint32_t)(use - ret->operands));
            const ig_value *base = find_base(s, value);
            if (arg ? !is_renewed(s, value) : !base || is_renewed(s, base)) {
                return false;
            }
        }
    }
    return true;
}

static bool has_reports(const ig_op *fused) {
    for (const ig_op *op = fused->bodies[0]->first; op; op = op->next) {
        uint32_t traits = ig_ops[op->code].traits;
        bool is_float = (traits & IG_MAP) && !may_report(op);
        if ((traits & (IG_STATE | IG_HOST | IG_COLLECTIVE)) ||
            ((traits & IG_MAY_TRAP) && !is_float)) {
            return true;
        }
    }
    return false;
}

/* Nothing that it reads is changed after commit but values renewed before. */
static bool reads_lasting(buffers *s, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *base = find_base(s, op->operands[i].value);
        if (!base || is_target(s, base)) {
            return false;
        }
    }
    return true;
}

/* May the op, which needs a renewed value, come after commit? */
static bool is_sure_reader(buffers *s, const ig_op *op) {
    if (op->code == IG_OP_ret) {
        return true;
    }
    bool is_view = op->code == IG_OP_reshape || op->code == IG_OP_expand ||
                   op->code == IG_OP_transpose || op->code == IG_OP_slice;
    bool is_region = op->code == IG_OP_fused && !has_reports(op);
    if (op->block != &s->graph->body || op->result_count != 1 ||
        !is_sure_return(s, op->results) || !is_type_bound(s, op->results->type)) {
        return false;
    }
    if (is_renewed(s, op->results)) {
        return true; /* decided with the value */
    }
    return (is_view || is_region || op->code == IG_OP_concat) &&
           find_base(s, op->results) && reads_lasting(s, op);
}

/* All that needs the value, from `todo` on; false where some of it is not sure. */
static bool collect_readers(buffers *s, const ig_value *value, op_list *todo,
                            ig_map *seen) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        if (!ig_map_get_id(seen, IG_MAP_PTR(use->user))) {
            ig_map_set_id(seen, IG_MAP_PTR(use->user), s);
            IG_PUSH(s->arena, todo, use->user);
        }
    }
    while (todo->count) {
        const ig_op *op = IG_POP(todo);
        if (!is_sure_reader(s, op)) {
            return false;
        }
        for (uint32_t i = 0; i < op->result_count; i++) {
            if (!collect_readers(s, &op->results[i], todo, seen)) {
                return false;
            }
        }
    }
    return true;
}

/* The argument of a result that others read as well, where inserts and scatters that
 * are sure make it of an argument that is not read after them. */
static ig_value *renewed_target(buffers *s, const ig_op *ret, uint32_t index) {
    ig_value *value = ret->operands[index].value, *arg = target_of(s, ret, index);
    const ig_value *into = value, *next, *last = value;
    uint32_t returns = 0;
    for (const ig_use *use = value->uses; use; use = use->next) {
        returns += use->user == ret;
    }
    if (!arg || arg->type != value->type || returns != 1 ||
        ig_value_has_one_use(value)) {
        return NULL;
    }
    while ((into == value || ig_value_has_one_use(into)) &&
           (next = changed_by(s, into)) != NULL) {
        last = into;
        into = next;
    }
    return into == arg && last != arg && last->def &&
                   ig_buffers_dies_at(s, arg, last->def)
               ? arg
               : NULL;
}

/* Checks of indices come before commit, so indices do not need later values. */
static bool are_checks_free(const buffers *s, const ig_map *seen) {
    const ig_op *ret = s->graph->body.last;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        const ig_value *value = ret->operands[i].value;
        bool is_fused = is_renewed(s, value) && value->def->code == IG_OP_fused;
        const ig_op *scatter = is_fused ? scatter_of(value->def) : NULL;
        const ig_value *ids = scatter ? scatter->operands[1].value : NULL;
        const ig_op *maker = ids ? value->def->operands[ids->index].value->def : NULL;
        if (maker && ig_map_get_id(seen, IG_MAP_PTR(maker))) {
            return false;
        }
    }
    return true;
}

/* All of them or none. */
static void offer_renewed(buffers *s, const ig_op *ret) {
    ig_map seen;
    op_list todo = { 0 };
    bool is_sure = true;
    ig_map_init(&seen, s->arena);
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        ig_value *arg = renewed_target(s, ret, i);
        if (arg) {
            ig_map_set_id(&s->renewed, IG_MAP_PTR(ret->operands[i].value), arg);
        }
    }
    for (uint32_t i = 0; i < ret->operand_count && is_sure; i++) {
        ig_value *value = ret->operands[i].value;
        is_sure = !is_renewed(s, value) || collect_readers(s, value, &todo, &seen);
    }
    if (!is_sure || !are_checks_free(s, &seen)) {
        ig_map_init(&s->renewed, s->arena);
        return;
    }
    s->after = seen;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        ig_value *value = ret->operands[i].value;
        if (is_renewed(s, value)) {
            offer_changes(s, value, target_of(s, ret, i));
        }
    }
}

void ig_bufferise_offer_in_place(buffers *s, const ig_op *ret) {
    offer_renewed(s, ret);
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        ig_value *value = ret->operands[i].value;
        ig_value *arg = own_target(s, value);
        bool is_sure = arg && value->def &&
                       (is_sure_region(s, value->def) || is_sure_update(s, value->def));
        if (is_sure) {
            offer_target(s, value, arg);
        } else if (arg) {
            offer_changes(s, value, arg);
        }
    }
}

/* ---- after commit ---- */

static const char *result_name(const buffers *s, uint32_t index) {
    const char *const *names = s->graph->result_names;
    return names && names[index] ? names[index]
                                 : ig_arena_printf(s->arena, "output_%u", index);
}

/* A result in place has its argument's extents: where they are other words for these,
 * a guard makes sure, before anything is written. */
static ig_status check_pair(buffers *s, ig_builder *b, const ig_op *ret,
                            uint32_t index) {
    const ig_type *type = ret->operands[index].value->type;
    const ig_value *arg = target_of(s, ret, index);
    const char *name = result_name(s, index);
    if (!is_type_bound(s, type)) {
        return ig_error(&s->module->context->diag, IG_UNSUPPORTED, ig_op_location(ret),
                        "the size of '%s' is found while running, which goes with no "
                        "result in place",
                        name);
    }
    for (uint32_t d = 0; arg && d < type->rank; d++) {
        const char *message = ig_arena_printf(
            s->arena, "dim %u of '%s' is that of the input whose memory it shares", d,
            name);
        ig_make_guard_equal(b, arg->type->dims[d], type->dims[d], message);
    }
    return IG_OK;
}

static bool is_sure_place(buffers *s, const ig_place *place) {
    const ig_type *type = place->root->type;
    return ig_def(place->root, IG_OP_alloc) && is_type_bound(s, type) &&
           are_bound(s, &place->offset, 1) &&
           are_bound(s, place->strides, place->rank) &&
           are_bound(s, place->dims, place->rank);
}

static bool is_writer(const buffers *s, const ig_op *op) {
    ig_value *out = op->code == IG_OP_compute
                        ? op->operands[op->operand_count - 1].value
                        : NULL;
    return out && is_target(s, ig_part_root(out)) &&
           ig_attr_int(op, IG_compute_outs, 0) > 0;
}

static bool checks_indices(const ig_op *op) {
    return op->code == IG_OP_compute && op->bodies[0]->first->code == IG_OP_check_index;
}

/* Part of an op's replacement that goes after commit with it, if it does. */
static bool is_movable(const ig_op *made) {
    const ig_use *use = made->result_count ? made->results->uses : NULL;
    bool is_view = made->code == IG_OP_view && !(use && checks_indices(use->user));
    return is_view || (made->code == IG_OP_compute && !checks_indices(made));
}

/* Does it read the result of an op after commit? Of results that are copied. */
static bool reads_moved(const ig_map *moved, const ig_op *op) {
    bool reads = false;
    for (uint32_t i = 0; op->code == IG_OP_compute && i < ig_part_in_count(op); i++) {
        ig_value *root = ig_part_root(op->operands[i].value);
        reads |= root->def && ig_map_get_id(moved, IG_MAP_PTR(root)) != NULL;
    }
    return reads;
}

/* Every op that writes a target or needs a value written there, in its order, to the
 * end of the block.  An op's replacement comes before it. */
static void move_after(const buffers *s, ig_op *ret) {
    ig_block *block = ret->block;
    IG_VEC(ig_op *) all = { 0 }, made = { 0 };
    ig_map moved;
    ig_map_init(&moved, s->arena);
    for (ig_op *op = block->first; op; op = op->next) {
        if (op != ret && !ig_map_get_id(&s->orders, IG_MAP_PTR(op))) {
            IG_PUSH(s->arena, &made, op);
            continue;
        }
        bool is_after = op != ret && ig_map_get_id(&s->after, IG_MAP_PTR(op));
        for (size_t i = 0; i < made.count; i++) {
            ig_op *m = made.items[i];
            bool is_part = is_after && is_movable(m);
            if (is_writer(s, m) || is_part || reads_moved(&moved, m)) {
                IG_PUSH(s->arena, &all, m);
            }
            if (is_part && m->code == IG_OP_compute) {
                ig_value *out = m->operands[m->operand_count - 1].value;
                ig_map_set_id(&moved, IG_MAP_PTR(ig_part_root(out)), m);
            }
        }
        made.count = 0;
    }
    for (size_t i = 0; i < all.count; i++) {
        ig_op_move(all.items[i], block, ret);
    }
}

ig_status ig_bufferise_in_place(buffers *s, ig_op *ret) {
    if (!ig_attr_is_set(ret, IG_ret_in_place)) {
        return IG_OK;
    }
    ig_builder b = ig_builder_before(ret);
    ig_place **from = IG_NEW_ARRAY(s->arena, ig_place *, ret->operand_count);
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        ig_value *arg = target_of(s, ret, i);
        IG_TRY(check_pair(s, &b, ret, i));
        from[i] = arg ? ig_buffers_place(s, ret->operands[i].value) : NULL;
        if (arg && (from[i]->root != arg || !ig_place_is_whole(s->module, from[i])) &&
            !is_sure_place(s, from[i])) {
            from[i] = ig_buffers_copy_new(s, &b, from[i]);
        }
    }
    ig_expr e = ig_expr_of(&b);
    (void)ig_build_commit(&e);
    move_after(s, ret);
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        ig_value *arg = target_of(s, ret, i);
        if (arg && from[i]->root != arg) {
            ig_place *to = ig_place_whole(s->arena, s->module, arg);
            to->dims = from[i]->dims;
            ig_buffers_copy(s, &b, from[i], to);
        }
        if (arg) {
            ig_use_set(&ret->operands[i], arg);
        }
    }
    return IG_OK;
}
