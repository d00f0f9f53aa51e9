/* bufferise: values become buffers; what computes them gets its destinations.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %2 = fused %x, @w, @b {family = "gemm"} (…) { … } : f32[B, 64]
 *     %9 = concat %2, %8 {axis = 1} : f32[B, 128]
 *   becomes
 *     %c = alloc : &f32[B, 128]
 *     %d = view %c {offset = 0, strides = [128, 1]} : &f32[B, 64]
 *     compute %x, @w, @b, %d {family = "gemm", outs = 1} (…) { … }
 *     …
 *
 * Two walks over a block.  Backwards, every value is offered a destination: results of
 * the graph own their buffer; operands of a concat get their slice of its buffer, so
 * that concat copies nothing where its operand is computed for it alone or first.
 * Forwards, ops are rewritten: views become strides, fused regions become compute ops,
 * and whatever still must move is a compute of the family "copy".
 *
 * Needs fuse; shapes in attribute form.  Changes the stage to plan.
 */
#include "ir/build/expr.h"
#include "passes/place/bufferise.h"

#include "ir/bag.h"

#include "ir/families.h"

#include <assert.h>
#include <stdio.h>

typedef ig_buffers buffers;

/* ---- destinations, backwards ---- */

static bool is_computed(const ig_value *value) {
    return ig_def(value, IG_OP_fused) != NULL;
}

/* The schedule of the value's region must be able to write with these strides. */
static bool can_write(const ig_value *value, const ig_place *place) {
    if (ig_family_has(ig_op_family(value->def), IG_FAMILY_STRIDED) ||
        place->rank == 0) {
        return true;
    }
    return ig_dim_is(place->strides[place->rank - 1], 1);
}

static ig_place *wanted_place(buffers *s, ig_value *value) {
    return ig_map_get_id(&s->wanted, IG_MAP_PTR(value));
}

/* ---- destinations ---- */

static bool reshape_agrees(buffers *s, const ig_op *reshape) {
    const ig_type *from = reshape->operands[0].value->type,
                  *to = reshape->results->type;
    return ig_buffers_must_agree(s, reshape->block,
                                 ig_dim_product(s->module, from->dims, from->rank),
                                 ig_dim_product(s->module, to->dims, to->rank));
}

/* Offers `place` for `value`: straight to what computes it, through reshapes and
 * transposes too, which nobody else reads, or whose elements are all of a buffer
 * (`is_all`). */
static void offer_through(buffers *s, ig_value *value, ig_place *place, bool is_all) {
    while (place && (is_all || ig_value_has_one_use(value))) {
        ig_op *reshape = ig_def(value, IG_OP_reshape);
        ig_op *view = reshape ? reshape : ig_def(value, IG_OP_transpose);
        if (!view || (reshape && !reshape_agrees(s, reshape))) {
            break;
        }
        place = ig_place_under(s->arena, s->module, view, place);
        value = view->operands[0].value;
    }
    if (!place) { /* the strides do not survive the reshape */
        return;
    }
    bool is_free = !wanted_place(s, value) &&
                   !ig_map_get_id(&s->owned, IG_MAP_PTR(value));
    bool is_moved = ig_def(value, IG_OP_concat) || ig_def(value, IG_OP_insert);
    bool is_made_here = is_moved && ig_value_has_one_use(value);
    bool can_be = is_made_here || (is_computed(value) && can_write(value, place));
    if (is_free && can_be && ig_buffers_is_known_at(s, value->def, place)) {
        ig_map_set_id(&s->wanted, IG_MAP_PTR(value), place);
    }
}

static void offer_place(buffers *s, ig_value *value, ig_place *place) {
    offer_through(s, value, place, false);
}

/* One of the caller's own: `destination` turns the root of a place into its buffer. */
static ig_place *whole_of(buffers *s, ig_value *value) {
    ig_place *wanted = wanted_place(s, value);
    if (!wanted) {
        return ig_place_whole(s->arena, s->module, value);
    }
    ig_place *own = IG_NEW(s->arena, ig_place);
    *own = *wanted;
    return own;
}

/* Place of operand `index` of a concat within the concat's own. */
static ig_place *concat_slice(buffers *s, const ig_op *concat, const ig_place *whole,
                              uint32_t index, ig_dim *at) {
    uint32_t axis = (uint32_t)ig_attr_int(concat, IG_concat_axis, 0);
    const ig_type *type = concat->operands[index].value->type;
    ig_dim starts[IG_TENSOR_RANK] = { 0 };
    starts[axis] = *at;
    *at = ig_dim_add(s->module, *at, type->dims[axis]);
    return ig_place_slice(s->arena, s->module, whole, starts, type->dims, NULL);
}

/* Does operand `index` fit beside the others?  Its extent along the axis is its own. */
static bool fits_concat(buffers *s, const ig_op *concat, uint32_t index) {
    uint32_t axis = (uint32_t)ig_attr_int(concat, IG_concat_axis, 0);
    const ig_type *part = concat->operands[index].value->type;
    const ig_type *whole = concat->results->type;
    for (uint32_t d = 0; d < part->rank; d++) {
        if (d != axis &&
            !ig_buffers_must_agree(s, concat->block, part->dims[d], whole->dims[d])) {
            return false;
        }
    }
    return true;
}

static void offer_slices(buffers *s, ig_op *concat) {
    ig_place *whole = whole_of(s, concat->results);
    ig_dim at = ig_dim_of(0);
    for (uint32_t i = 0; i < concat->operand_count; i++) {
        ig_place *slice = concat_slice(s, concat, whole, i, &at);
        if (fits_concat(s, concat, i)) {
            offer_place(s, concat->operands[i].value, slice);
        }
    }
}

/* The x of a scatter, where all readers of it, or of the value that it reshapes, come
 * before. */
static void offer_scattered(buffers *s, ig_op *fused) {
    ig_value *x = ig_bufferise_scattered(fused);
    const ig_op *at = fused;
    for (ig_value *v = x; v;) {
        ig_op *reshape = ig_def(v, IG_OP_reshape);
        if (!ig_buffers_dies_at(s, v, at)) {
            return;
        }
        at = reshape;
        v = reshape ? reshape->operands[0].value : NULL;
    }
    if (x) {
        offer_place(s, x, whole_of(s, fused->results));
    }
}

/* The operand that an insert changes, where nobody else reads it, nor the value that it
 * reshapes. */
static void offer_whole(buffers *s, ig_op *insert) {
    ig_value *x = insert->operands[0].value;
    for (ig_value *v = x; v;) {
        ig_op *reshape = ig_def(v, IG_OP_reshape);
        if (!ig_value_has_one_use(v)) {
            return;
        }
        v = reshape ? reshape->operands[0].value : NULL;
    }
    offer_place(s, x, whole_of(s, insert->results));
}

/* A reshape of turned axes would copy them: what computes them writes them in that
 * order, where its rows stay rows, as heads of attention that are joined. */
static void offer_joined(buffers *s, ig_op *reshape) {
    const ig_op *transpose = ig_def(reshape->operands[0].value, IG_OP_transpose);
    uint32_t last = transpose ? transpose->results->type->rank - 1u : 0;
    if (last > 0 && transpose->attrs[IG_transpose_perm].as.ints[last] == last &&
        ig_value_has_one_use(transpose->results) &&
        ig_value_has_one_use(transpose->operands[0].value)) {
        offer_place(s, reshape->results, whole_of(s, reshape->results));
    }
}

typedef void (*offer_fn)(buffers *s, ig_op *op);

static const offer_fn offers[IG_OP_COUNT] = {
    [IG_OP_concat] = offer_slices,
    [IG_OP_insert] = offer_whole,
    [IG_OP_fused] = offer_scattered,
    [IG_OP_reshape] = offer_joined,
};

static void offer_results(buffers *s, ig_op *ret) {
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        ig_value *value = ret->operands[i].value;
        if (!wanted_place(s, value) && is_computed(value)) {
            ig_place *own = ig_place_whole(s->arena, s->module, value);
            ig_map_set_id(&s->wanted, IG_MAP_PTR(value), own);
        } else if (!wanted_place(s, value) && ig_def(value, IG_OP_reshape)) {
            ig_place *own = ig_place_whole(s->arena, s->module, value);
            offer_through(s, value, own, true);
        }
    }
}

static void assign_destinations(buffers *s, ig_block *block) {
    if (!block->parent) {
        ig_bufferise_offer_in_place(s, block->last);
    }
    for (ig_op *op = block->last; op; op = op->prev) {
        if (op->code == IG_OP_ret) {
            offer_results(s, op);
        } else if (offers[op->code]) {
            offers[op->code](s, op);
        }
    }
}

/* ---- buffers ---- */

static const ig_type *buffer_type(buffers *s, const ig_type *type) {
    return ig_type_buffer(s->module, (ig_dtype)type->dtype, type->rank, type->dims);
}

static ig_value *make_alloc(buffers *s, ig_builder *b, const ig_type *type) {
    assert(type->rank <= IG_TENSOR_RANK && "a buffer is a tensor's");
    const ig_type *buffer = buffer_type(s, type);
    ig_op_spec spec = { .result_types = &buffer, .result_count = 1 };
    ig_expr e = ig_expr_of(b);
    return ig_build_alloc_op(&e, &spec)->results;
}

static ig_value *owned_alloc(buffers *s, ig_builder *b, ig_value *owner) {
    ig_value *alloc = ig_map_get_id(&s->owned, IG_MAP_PTR(owner));
    if (!alloc) {
        alloc = make_alloc(s, b, owner->type);
        ig_map_set_id(&s->owned, IG_MAP_PTR(owner), alloc);
    }
    return alloc;
}

/* Where `value` is to be written: the place it was offered, or a buffer of its own. */
static ig_place *choose_destination(buffers *s, ig_builder *b, ig_value *value) {
    ig_place *wanted = wanted_place(s, value);
    ig_value *owner = wanted ? wanted->root : value;
    ig_value *alloc = owned_alloc(s, b, owner);
    ig_place *place = wanted ? wanted : ig_place_whole(s->arena, s->module, alloc);
    place->root = alloc;
    ig_map_set_id(&s->places, IG_MAP_PTR(value), place);
    return place;
}

static ig_place *place_of(buffers *s, ig_value *value) {
    ig_place *place = ig_map_get_id(&s->places, IG_MAP_PTR(value));
    assert(place && "operands are placed before their users");
    return place;
}

/* ---- compute ops ---- */

ig_op *ig_buffers_compute(ig_builder *b, ig_kernel_family family,
                          ig_value *const *operands, uint32_t count, uint32_t outs) {
    assert(outs <= count && "destinations are the last operands");
    ig_expr e = ig_expr_of(b);
    ig_op_spec spec = { .operands = operands, .operand_count = count, .body_count = 1 };
    ig_compute_attrs attrs = { .family = ig_families[family].name, .outs = outs };
    return ig_build_compute_op(&e, &spec, attrs);
}

static void copy_place(buffers *s, ig_builder *b, const ig_place *from,
                       const ig_place *to) {
    assert(from->rank == to->rank && "a copy keeps the axes");
    ig_value *operands[] = { ig_place_value(b, from), ig_place_value(b, to) };
    ig_op *compute = ig_buffers_compute(b, IG_FAMILY_copy, operands, 2, 1);
    const ig_type *type = ig_type_tensor(s->module, (ig_dtype)from->root->type->dtype,
                                         from->rank, from->dims);
    ig_value *arg = ig_block_add_arg(compute->bodies[0], type, NULL);
    ig_builder body = ig_builder_at_end(compute->bodies[0]);
    ig_make_yield(&body, &arg, 1);
}

/* The same elements in a buffer of their own. */
static ig_place *copy_to_buffer(buffers *s, ig_builder *b, const ig_place *from) {
    const ig_type *type = ig_type_tensor(s->module, (ig_dtype)from->root->type->dtype,
                                         from->rank, from->dims);
    ig_place *to = ig_place_whole(s->arena, s->module, make_alloc(s, b, type));
    copy_place(s, b, from, to);
    return to;
}

/* Is input `index` of a fused op the table of a bag?  Rows of tables are
 * contiguous. */
static bool is_table(const ig_op *fused, uint32_t index) {
    assert(index < fused->bodies[0]->arg_count && "an input of the region");
    for (const ig_use *use = fused->bodies[0]->args[index]->uses; use;
         use = use->next) {
        uint32_t features = use->user->code == IG_OP_bag
                                ? ig_bag_feature_count(use->user)
                                : 0;
        for (uint32_t f = 0; f < features; f++) {
            ig_bag_feature feature = ig_bag_feature_at(use->user, f);
            ptrdiff_t at = use - &use->user->operands[feature.table];
            if (at >= 0 && at < (ptrdiff_t)feature.tables) {
                return true;
            }
        }
    }
    return false;
}

/* Is input `index` gathered from so often that its lines pay for a copy side by
 * side? */
static bool is_gathered_often(buffers *s, const ig_op *fused, uint32_t index) {
    const ig_op *op = fused->bodies[0]->first;
    int64_t elements, results;
    return op->code == IG_OP_gather && index == 0 &&
           op->operands[0].value == fused->bodies[0]->args[0] &&
           ig_dim_constant(s->module,
                           ig_type_count(s->module, op->operands[0].value->type),
                           &elements) &&
           ig_dim_constant(s->module, ig_type_count(s->module, op->results[0].type),
                           &results) &&
           results >= elements;
}

static ig_value *input_value(buffers *s, ig_builder *b, const ig_op *fused,
                             uint32_t index) {
    assert(index < fused->operand_count && "an input of the region");
    ig_value *value = fused->operands[index].value;
    ig_place *place = place_of(s, value);
    bool is_unit = place->rank == 0 || ig_dim_is(place->strides[place->rank - 1], 1) ||
                   ig_dim_is(place->dims[place->rank - 1], 1);
    ig_kernel_family family = ig_op_family(fused);
    bool needs_whole = ig_family_needs_whole(family, index) || is_table(fused, index);
    bool needs_unit = ig_family_needs_unit_stride(family, index) ||
                      (family == IG_FAMILY_gather &&
                       is_gathered_often(s, fused, index));
    if ((needs_unit && !is_unit) ||
        (needs_whole && !ig_place_is_row_major(s->module, place))) {
        place = copy_to_buffer(s, b, place);
        if (family == IG_FAMILY_gather && value->def &&
            value->def->block == fused->block) {
            ig_buffers_set_place(s, value, place); /* other gathers read it too */
        }
    }
    return ig_place_value(b, place);
}

/* Who reads the value from here on reads an argument that was written. */
static void note_renewed(buffers *s, const ig_value *value) {
    if (ig_map_get_id(&s->renewed, IG_MAP_PTR(value))) {
        place_of(s, (ig_value *)(uintptr_t)value)->is_new = true;
    }
}

static void rewrite_fused(buffers *s, ig_op *op) {
    assert(op->bodies[0]->arg_count == op->operand_count && "an argument per operand");
    ig_builder b = ig_builder_before(op);
    uint32_t ins = op->operand_count, outs = op->result_count;
    ig_value **operands = IG_NEW_ARRAY(s->arena, ig_value *, ins + outs);
    for (uint32_t i = 0; i < ins; i++) {
        operands[i] = input_value(s, &b, op, i);
    }
    for (uint32_t i = 0; i < outs; i++) {
        operands[ins + i] = ig_place_value(&b,
                                           choose_destination(s, &b, &op->results[i]));
    }
    ig_bufferise_scatter(s, &b, op, operands);
    ig_bufferise_update(s, &b, op, operands);
    ig_op *compute = ig_buffers_compute(&b, ig_op_family(op), operands, ins + outs,
                                        outs);
    ig_block *from = op->bodies[0], *to = compute->bodies[0];
    ig_value **args = IG_NEW_ARRAY(s->arena, ig_value *, from->arg_count);
    for (uint32_t i = 0; i < from->arg_count; i++) {
        args[i] = ig_block_add_arg(to, from->args[i]->type, NULL);
    }
    ig_value **yields = IG_NEW_ARRAY(s->arena, ig_value *, outs);
    ig_block_inline(from, to, NULL, args, yields);
    ig_builder end = ig_builder_at_end(to);
    ig_make_yield(&end, yields, outs);
    note_renewed(s, op->results);
}

/* ---- one op; a row each ---- */

ig_status ig_buffers_unsupported(const ig_op *op, const char *why) {
    ig_context *context = ig_op_module(op)->context;
    return ig_error_hint(&context->diag, IG_UNSUPPORTED, ig_op_location(op),
                         "run it with --target interpret, or report the model",
                         "'%s' cannot be compiled yet%s", ig_ops[op->code].name, why);
}

static void set_place(buffers *s, ig_value *value, ig_place *place) {
    ig_map_set_id(&s->places, IG_MAP_PTR(value), place);
}

/* Do others read the operand as well, which could read a copy of it?  Not one that is a
 * result of the graph. */
static bool is_read_again(const ig_op *op, const ig_place *from) {
    const ig_value *value = op->operands[0].value;
    for (const ig_use *use = op->results->uses; use; use = use->next) {
        if (use->user->code == IG_OP_ret) {
            return false;
        }
    }
    return value->def && value->def->block == op->block &&
           !ig_value_has_one_use(value) && !from->is_new;
}

/* Elements that no strides show so are copied to a buffer of the new shape, which may
 * be returned as it is; where others read them too, to one of the old shape, from which
 * these read from then on. */
static ig_place *copy_reshaped(buffers *s, ig_builder *b, const ig_op *op,
                               const ig_place *from) {
    if (is_read_again(op, from)) {
        ig_place *own = copy_to_buffer(s, b, from);
        set_place(s, op->operands[0].value, own);
        return ig_place_view(s->arena, s->module, op, own);
    }
    ig_place *whole = ig_place_whole(s->arena, s->module,
                                     make_alloc(s, b, op->results->type));
    ig_place *to = ig_place_reshape(s->arena, s->module, whole, from->rank, from->dims);
    if (to) {
        copy_place(s, b, from, to);
    }
    return to ? whole : NULL;
}

/* Strides, else a copy first; a slice in operand form is not known well enough. */
static ig_status rewrite_view(buffers *s, ig_op *op) {
    if (op->code == IG_OP_slice && !ig_attr_is_set(op, IG_slice_starts)) {
        return ig_buffers_unsupported(op, " where its range is computed by the model");
    }
    ig_builder b = ig_builder_before(op);
    ig_place *from = place_of(s, op->operands[0].value);
    ig_place *place = ig_place_view(s->arena, s->module, op, from);
    if (!place) {
        place = op->code == IG_OP_reshape ? copy_reshaped(s, &b, op, from) : NULL;
    }
    if (!place) {
        place = ig_place_view(s->arena, s->module, op, copy_to_buffer(s, &b, from));
    }
    place->is_new = from->is_new && place->root == from->root;
    set_place(s, op->results, place);
    return IG_OK;
}

/* Values that were not computed in place are copied there. */
static ig_status rewrite_concat(buffers *s, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_place *whole = choose_destination(s, &b, op->results);
    ig_dim at = ig_dim_of(0);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_place *slice = concat_slice(s, op, whole, i, &at);
        ig_place *from = place_of(s, op->operands[i].value);
        if (!ig_place_equal(s->module, from, slice)) {
            copy_place(s, &b, from, slice);
        }
    }
    return IG_OK;
}

/* x and then y, each copied to its place where it was not computed there. */
static ig_status rewrite_insert(buffers *s, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_place *x = place_of(s, op->operands[0].value);
    ig_place *y = place_of(s, op->operands[1].value);
    ig_place *whole = choose_destination(s, &b, op->results);
    const ig_attr *steps = &op->attrs[IG_insert_steps];
    ig_place *slice =
        ig_place_slice(s->arena, s->module, whole, op->attrs[IG_insert_starts].as.dims,
                       y->dims, steps->kind == IG_ATTR_INTS ? steps->as.ints : NULL);
    if (!ig_place_equal(s->module, x, whole)) {
        copy_place(s, &b, x, whole);
    }
    copy_place(s, &b, y, slice);
    note_renewed(s, op->results);
    return IG_OK;
}

static ig_status rewrite_fused_op(buffers *s, ig_op *op) {
    rewrite_fused(s, op);
    return IG_OK;
}

static ig_status rewrite_weight(buffers *s, ig_op *op) {
    set_place(s, op->results, ig_place_whole(s->arena, s->module, op->results));
    return IG_OK;
}

/* A constant that a kernel reads from memory is a weight. */
static ig_status rewrite_const(buffers *s, ig_op *op) {
    if (!op->results->uses) {
        return IG_OK;
    }
    ig_builder b = ig_builder_before(op);
    const ig_data *data = op->attrs[IG_const_value].as.data;
    ig_weight *weight = ig_module_add_weight(s->module, "constant", data);
    ig_value *value = ig_make_weight(&b, weight);
    set_place(s, op->results, ig_place_whole(s->arena, s->module, value));
    return IG_OK;
}

static bool are_static(const ig_attr *dims) {
    for (uint32_t i = 0; i < dims->count; i++) {
        if (!ig_dim_is_static(dims->as.dims[i])) {
            return false;
        }
    }
    return true;
}

/* A shape that a kernel reads: a weight when it is known, else stored while running. */
static ig_status rewrite_dims(buffers *s, ig_op *op) {
    if (!op->results->uses) {
        return IG_OK;
    }
    ig_builder b = ig_builder_before(op);
    const ig_attr *values = &op->attrs[IG_dims_values];
    ig_value *root;
    if (are_static(values)) {
        ig_data data = { .type = op->results->type,
                         .bytes = values->as.dims,
                         .size = (int64_t)values->count * 8 };
        root = ig_make_weight(&b, ig_module_add_weight(s->module, "shape", &data));
    } else {
        root = make_alloc(s, &b, op->results->type);
        ig_bufferise_store_dims(&b, root, values->as.dims, values->count);
    }
    set_place(s, op->results, ig_place_whole(s->arena, s->module, root));
    return IG_OK;
}

/* A host function, which wants its operands row-major. */
static ig_status rewrite_measure(buffers *s, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    uint32_t ins = op->operand_count;
    ig_value **operands = IG_NEW_ARRAY(s->arena, ig_value *, ins + 1);
    for (uint32_t i = 0; i < ins; i++) {
        operands[i] = ig_buffers_whole(s, &b, place_of(s, op->operands[i].value));
    }
    operands[ins] = choose_destination(s, &b, op->results)->root;
    ig_measure_attrs measured = ig_measure_attrs_of(op);
    ig_host_attrs attrs = { .function = measured.function,
                            .outs = 1,
                            .params = measured.params };
    ig_expr e = ig_expr_of(&b);
    (void)ig_build_host(&e, operands, ins + 1, attrs);
    return IG_OK;
}

static ig_status rewrite_bind(buffers *s, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_place *place = place_of(s, op->operands[0].value);
    ig_use_set(&op->operands[0], ig_place_value(&b, place));
    return IG_OK;
}

static ig_status keep_op(buffers *s, ig_op *op) {
    (void)s;
    (void)op;
    return IG_OK;
}

/* Each result of the graph is a buffer of its own, but for those in an argument's
 * memory; inputs, constants and values inside others are copied. */
static ig_status rewrite_ret(buffers *s, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_map returned;
    ig_map_init(&returned, s->arena);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_op *maker = op->operands[i].value->def;
        if (ig_ret_in_place(op, i) >= 0) {
            continue;
        }
        b.loc = maker ? maker->loc : op->loc;
        b.origins = maker ? maker->origins : op->origins;
        ig_place *place = place_of(s, op->operands[i].value);
        bool is_own = ig_def(place->root, IG_OP_alloc) &&
                      ig_place_is_whole(s->module, place) &&
                      !ig_map_get_id(&returned, IG_MAP_PTR(place->root));
        place = is_own ? place : copy_to_buffer(s, &b, place);
        ig_map_set_id(&returned, IG_MAP_PTR(place->root), place->root);
        ig_use_set(&op->operands[i], place->root);
    }
    return ig_bufferise_in_place(s, op);
}

typedef ig_status (*rewrite_fn)(buffers *s, ig_op *op);

static const rewrite_fn rewrites[IG_OP_COUNT] = {
    [IG_OP_fused] = rewrite_fused_op,
    [IG_OP_concat] = rewrite_concat,
    [IG_OP_insert] = rewrite_insert,
    [IG_OP_weight] = rewrite_weight,
    [IG_OP_table] = rewrite_weight,
    [IG_OP_const] = rewrite_const,
    [IG_OP_dims] = rewrite_dims,
    [IG_OP_reshape] = rewrite_view,
    [IG_OP_expand] = rewrite_view,
    [IG_OP_transpose] = rewrite_view,
    [IG_OP_slice] = rewrite_view,
    [IG_OP_measure] = rewrite_measure,
    [IG_OP_sort] = ig_bufferise_host,
    [IG_OP_topk] = ig_bufferise_host,
    [IG_OP_run_number] = ig_bufferise_host,
    [IG_OP_cast] = ig_bufferise_host,
    [IG_OP_text_of] = ig_bufferise_host,
    [IG_OP_text_eq] = ig_bufferise_host,
    [IG_OP_text_join] = ig_bufferise_host,
    [IG_OP_text_find] = ig_bufferise_host,
    [IG_OP_text_order] = ig_bufferise_host,
    [IG_OP_text_match] = ig_bufferise_host,
    [IG_OP_text_parse] = ig_bufferise_host,
    [IG_OP_text_print] = ig_bufferise_host,
    [IG_OP_text_split] = ig_bufferise_host,
    [IG_OP_text_clean] = ig_bufferise_host,
    [IG_OP_image_decode] = ig_bufferise_host,
    [IG_OP_custom] = ig_bufferise_custom,
    [IG_OP_bag_ids] = ig_bufferise_ranks,
    [IG_OP_deal] = ig_bufferise_ranks,
    [IG_OP_meet_counts] = ig_bufferise_ranks,
    [IG_OP_meet_start] = ig_bufferise_ranks,
    [IG_OP_meet_lists] = ig_bufferise_ranks,
    [IG_OP_meet_end] = ig_bufferise_ranks,
    [IG_OP_reduce_scatter] = ig_bufferise_ranks,
    [IG_OP_all_reduce] = ig_bufferise_ranks,
    [IG_OP_all_gather] = ig_bufferise_ranks,
    [IG_OP_bind] = rewrite_bind,
    [IG_OP_if] = ig_bufferise_if,
    [IG_OP_loop] = ig_bufferise_loop,
    [IG_OP_guard] = keep_op,
    [IG_OP_let] = keep_op,
    [IG_OP_alloc] = keep_op,
    [IG_OP_store_dims] = keep_op,
    [IG_OP_yield] = keep_op,
    [IG_OP_ret] = rewrite_ret,
};

/* ---- for the files of bufferise ---- */

ig_place *ig_buffers_place(ig_buffers *s, ig_value *value) {
    return place_of(s, value);
}

void ig_buffers_set_place(ig_buffers *s, ig_value *value, ig_place *place) {
    set_place(s, value, place);
}

ig_place *ig_buffers_alloc(ig_buffers *s, ig_builder *b, ig_dtype dtype, uint32_t rank,
                           const ig_dim *dims) {
    const ig_type *type = ig_type_tensor(s->module, dtype, rank, dims);
    return ig_place_whole(s->arena, s->module, make_alloc(s, b, type));
}

void ig_buffers_copy(ig_buffers *s, ig_builder *b, const ig_place *from,
                     const ig_place *to) {
    copy_place(s, b, from, to);
}

ig_place *ig_buffers_copy_new(ig_buffers *s, ig_builder *b, const ig_place *from) {
    return copy_to_buffer(s, b, from);
}

ig_value *ig_buffers_whole(ig_buffers *s, ig_builder *b, ig_place *from) {
    bool is_whole = ig_dim_is(from->offset, 0) &&
                    ig_place_is_row_major(s->module, from);
    return is_whole ? from->root : copy_to_buffer(s, b, from)->root;
}

/* ---- the pass ---- */

/* Branches and loops occur in both stages, and those that only guard have no
 * results. */
static bool is_plan_op(const ig_buffers *s, const ig_op *op) {
    bool is_flow = op->code == IG_OP_if || op->code == IG_OP_loop;
    return is_flow ? ig_map_get_id(&s->steps, IG_MAP_PTR(op)) != NULL
                   : (ig_ops[op->code].stages & IG_STAGE_PLAN) != 0;
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void erase_tensor_ops(const ig_buffers *s, ig_block *block) {
    for (ig_op *op = block->last, *prev; op; op = prev) {
        prev = op->prev;
        bool is_flow = op->code == IG_OP_if || op->code == IG_OP_loop;
        for (uint32_t i = 0; is_flow && i < op->body_count; i++) {
            erase_tensor_ops(s, op->bodies[i]);
        }
        if (!is_plan_op(s, op)) {
            ig_op_erase(op);
        }
    }
}

/* Elements that are not whole bytes, and strings, are no kernel's business: only
 * constants and casts at the ends have them (whole_bytes). */
static ig_status check_dtypes(const ig_op *op) {
    bool is_end = op->code == IG_OP_cast || (ig_ops[op->code].traits & IG_CONSTANT);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        bool is_tensor = type->kind == IG_TENSOR;
        bool is_whole = !is_tensor ||
                        (ig_dtypes[type->dtype].bits >= 8 && type->dtype != IG_DT_str);
        if (!is_whole && !is_end) {
            char why[64];
            snprintf(why, sizeof why, " for %s", ig_dtypes[type->dtype].name);
            return ig_buffers_unsupported(op, why);
        }
    }
    return IG_OK;
}

/* All that there are: whoever reads the first wants to know of the others. */
static ig_status check_ops(const ig_block *block) {
    ig_status status = IG_OK;
    for (const ig_op *op = block->first; op; op = op->next) {
        if (!rewrites[op->code]) {
            status = ig_buffers_unsupported(op, "");
        }
    }
    return status;
}

ig_status ig_bufferise_block(ig_buffers *s, ig_block *block) {
    IG_TRY(check_ops(block));
    assign_destinations(s, block);
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        IG_TRY(check_dtypes(op));
        IG_TRY(rewrites[op->code](s, op));
    }
    return IG_OK;
}

static void note_bound(void *user, uint32_t symbol) {
    buffers *s = user;
    ig_map_set_id(&s->bound, symbol, s);
}

/* Programs take tensors; elements narrower than a byte are unpacked (whole_bytes). */
static ig_status check_argument(const buffers *s, const ig_value *arg) {
    bool is_tensor = arg->type->kind == IG_TENSOR;
    if (is_tensor && ig_dtypes[arg->type->dtype].bits > 0) {
        return IG_OK;
    }
    return ig_error_hint(
        &s->module->context->diag, IG_UNSUPPORTED, NULL,
        "run it with --target interpret, or report the model",
        "inputs %s cannot be compiled yet",
        !is_tensor
            ? "that are sequences"
            : ig_arena_printf(s->arena, "of %s", ig_dtypes[arg->type->dtype].name));
}

static ig_status place_arguments(buffers *s) {
    ig_block *block = &s->graph->body;
    for (uint32_t i = 0; i < block->arg_count; i++) {
        ig_value *arg = block->args[i];
        IG_TRY(check_argument(s, arg));
        set_place(s, arg, ig_place_whole(s->arena, s->module, arg));
        for (uint32_t d = 0; d < arg->type->rank; d++) {
            ig_dim_visit_symbols(s->module, arg->type->dims[d], note_bound, s);
        }
    }
    return IG_OK;
}

ig_status ig_pass_bufferise(ig_pass_run *run, ig_graph *graph) {
    buffers s = {
        .run = run, .arena = run->scratch, .module = graph->module, .graph = graph
    };
    ig_map_init(&s.wanted, s.arena);
    ig_map_init(&s.owned, s.arena);
    ig_map_init(&s.places, s.arena);
    ig_map_init(&s.bound, s.arena);
    ig_map_init(&s.steps, s.arena);
    ig_map_init(&s.renewed, s.arena);
    ig_map_init(&s.after, s.arena);
    IG_TRY(place_arguments(&s));
    ig_buffers_note_order(&s);
    IG_TRY(ig_bufferise_block(&s, &graph->body));
    erase_tensor_ops(&s, &graph->body);
    graph->stage = IG_STAGE_PLAN;
    run->changed = true;
    return IG_OK;
}
