/* Loops that the run decides about become a `loop` of the IR.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The values that a loop carries are found by trying.  At first everything is taken to
 * stay as it is before the loop; the body is evaluated; each slot it changed is
 * carried from then on, as an argument of the body, and the body is evaluated again -
 * until nothing new changes.  So an unchanged value stays known.  Extents of carried
 * tensors that change from trip to trip become symbols in the same way.  The loop
 * carries a slot: a name, an item of a list, an attribute, or the content of a
 * storage.
 *
 * A list that is empty before the loop and gets one tensor a trip is a scanned result:
 * a tensor with an axis of trips (stacked.h).
 */
#include "frontend/torch/eval/trip.h"
#include "frontend/torch/eval/choice.h"
#include "frontend/torch/eval/stacked.h"

#include <assert.h>
#include <string.h>

enum { TRIES_MAX = 64 };

/* ---- slots ---- */

static ig_ts_alias *copy_alias(ig_ts_eval *eval, const ig_ts_alias *alias) {
    if (!alias) {
        return NULL;
    }
    ig_ts_alias *copy = IG_NEW(eval->arena, ig_ts_alias);
    *copy = *alias;
    copy->outer = copy_alias(eval, alias->outer);
    return copy;
}

/* The value that represents the content `value` at the slot. */
static ig_ts_value value_for(ig_ts_eval *eval, const ig_ts_trip_slot *slot,
                             ig_value *value) {
    const ig_ts_value *start = &slot->start;
    if (start->kind != IG_TS_TENSOR) {
        return ig_ts_of_run((ig_ts_kind)start->kind, value);
    }
    const ig_ts_tensor *old = start->as.tensor;
    ig_ts_tensor *tensor = ig_ts_tensor_create(eval, value, old->dtype);
    tensor->quant = old->quant;
    tensor->storage->order = ig_ts_order_of_either(eval, old, NULL);
    tensor->alias = copy_alias(eval, slot->alias);
    ig_ts_alias_seal(tensor->alias);
    return ig_ts_of_tensor(tensor);
}

/* Frees the extents of an argument that the body changes. */
static ig_status widen_type(ig_ts_trial *b, ig_ts_trip_slot *slot,
                            const ig_type *after) {
    assert(slot->type && after->kind == IG_TENSOR && "tensors are widened");
    ig_module *module = b->eval->module;
    const ig_type *type = slot->type;
    ig_dim dims[IG_TENSOR_RANK];
    bool is_wider = false;
    if (type->rank != after->rank || type->dtype != after->dtype) {
        return ig_ts_error(
            b->eval, IG_UNSUPPORTED,
            "a tensor changes its rank or dtype in a loop that a run-time condition ends");
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_free = ig_dim_as_symbol(module, type->dims[i]) &&
                       ig_dim_mentions_since(module, type->dims[i], b->first_symbol);
        dims[i] = type->dims[i];
        if (!is_free && ig_dim_equal(module, dims[i], after->dims[i]) != IG_YES) {
            dims[i] = ig_dim_symbol(module, "carried");
            ig_dim_as_symbol(module, dims[i])->origin =
                "an extent that changes from trip to trip";
            is_wider = true;
        }
    }
    if (is_wider) {
        slot->type = ig_type_with_dims(module, type, type->rank, dims);
        b->has_grown = true;
    }
    return IG_OK;
}

/* ---- one try ---- */

static void open_trial(ig_ts_trial *b) {
    ig_ts_eval *eval = b->eval;
    ig_location where = ig_ts_where(eval);
    eval->builder.loc = ig_module_location(eval->module, &where);
    ig_expr e = ig_expr_of(&eval->builder);
    ig_value *none = ig_expr_integer(&e, IG_DT_i64, -1);
    ig_value *always = ig_expr_integer(&e, IG_DT_bool, 1);
    ig_value *operands[] = { b->loop->trips ? b->loop->trips : none,
                             b->loop->condition ? b->loop->condition : always };
    ig_op_spec spec = { .operands = operands, .operand_count = 2 };
    b->trial = ig_build_loop_op(&e, &spec, (ig_loop_attrs){ 0 });
    ig_block *body = b->trial->bodies[0];
    ig_block_add_arg(body, ig_type_tensor(eval->module, IG_DT_i64, 0, NULL), NULL);
    ig_block_add_arg(body, ig_type_tensor(eval->module, IG_DT_bool, 0, NULL), NULL);
}

static ig_status run_body(ig_ts_trial *b) {
    ig_ts_eval *eval = b->eval;
    const ig_ts_loop *loop = b->loop;
    ig_block *body = b->trial->bodies[0];
    ig_ts_value test;
    for (size_t i = 0; i < b->slots.count; i++) {
        ig_ts_trip_slot *slot = &b->slots.items[i];
        slot->arg = ig_block_add_arg(body, slot->type, NULL);
        if (slot->kind != IG_TS_HOLD_STORAGE) {
            slot->inside = value_for(eval, slot, slot->arg);
        }
        ig_ts_trip_put(eval, slot, slot->inside, slot->arg);
    }
    for (size_t i = 0; i < b->rebound.count; i++) {
        ig_ts_trial_bind(eval, &b->rebound.items[i]);
    }
    for (size_t i = 0; i < b->poisoned.count; i++) {
        ig_ts_trip_put(eval, &b->poisoned.items[i], b->poisoned.items[i].inside, NULL);
    }
    for (size_t i = 0; i < b->grown.count; i++) {
        ig_ts_content growing = ig_ts_growing_content();
        ig_ts_set_content(eval, IG_TS_HOLD_LIST, b->grown.items[i].list, &growing);
    }
    if (loop->target) {
        ig_ts_name_set(eval, eval->frame, loop->target->as.name,
                       ig_ts_of_run(IG_TS_INT, body->args[0]));
    }
    test = ig_ts_of_bool(true);
    IG_TRY(loop->run ? loop->run(eval, loop->user, &test)
                     : eval->language->run_block(eval, loop->body));
    if (eval->frame->has_returned) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "returns from within a loop that a run-time condition ends");
    }
    if (loop->test) {
        IG_TRY(eval->language->condition(eval, loop->test, &test));
    }
    return ig_ts_number_read(eval, &test, &b->going_on);
}

/* ---- results of a trip ---- */

static bool is_changed(const ig_ts_trial *b, const void *holder) {
    return ig_map_get_id(&b->level.index, IG_MAP_PTR(holder)) != NULL;
}

/* The item that a trip adds: the run keeps it as it is at the trip's end, so nothing
 * may write to its memory in another trip. */
static ig_status read_item(ig_ts_trial *b, ig_ts_grown *list) {
    ig_ts_content now = ig_ts_side_content(&b->side, IG_TS_HOLD_LIST, list->list);
    const ig_ts_tensor *item = now.values[0].as.tensor;
    bool is_own = item->storage->cell.born >= b->level.start;
    if (!is_own && is_changed(b, item->storage)) {
        return ig_ts_error(b->eval, IG_UNSUPPORTED,
                           "a loop adds a tensor to a list and writes to it in place");
    }
    list->dtype = item->dtype;
    list->alias = ig_ts_alias_of(b->eval, &item, 1, b->level.start);
    IG_TRY(ig_ts_side_read(b->eval, &b->side, &now.values[0], &list->yield));
    for (uint32_t i = 0; i < list->yield->type->rank; i++) {
        if (ig_dim_mentions_since(b->eval->module, list->yield->type->dims[i],
                                  b->first_symbol)) {
            return ig_ts_error(
                b->eval, IG_UNSUPPORTED,
                "a loop adds tensors to a list whose extent of axis %u depends on the trip (%s); a list that a loop fills needs tensors of one shape; where inputs have equal extents, naming those alike with --input makes it known",
                i,
                ig_ts_open_dim(b->eval->module, b->eval->arena,
                               list->yield->type->dims[i]));
        }
    }
    return IG_OK;
}

/* Values of the carried slots at the body's end. */
static ig_status read_yields(ig_ts_trial *b) {
    for (size_t i = 0; i < b->slots.count; i++) {
        ig_ts_trip_slot *slot = &b->slots.items[i];
        ig_ts_content now = ig_ts_trial_content(b, slot);
        const ig_ts_value *after = slot->kind == IG_TS_HOLD_STORAGE
                                       ? NULL
                                       : &now.values[slot->index];
        if (!after) {
            slot->yield = now.value;
        } else if (after->kind != slot->start.kind) {
            slot->yield = slot->arg; /* undefined: any value will do */
        } else {
            IG_TRY(ig_ts_side_read(b->eval, &b->side, after, &slot->yield));
        }
        IG_TRY(widen_type(b, slot, slot->yield->type));
    }
    for (size_t i = 0; i < b->grown.count; i++) {
        IG_TRY(read_item(b, &b->grown.items[i]));
    }
    return IG_OK;
}

static ig_status try_once(ig_ts_trial *b) {
    ig_ts_eval *eval = b->eval;
    ig_builder outside;
    ig_ts_frame *frame = eval->frame;
    uint32_t depth = eval->depth;
    open_trial(b);
    outside = eval->builder;
    ig_ts_level_start(eval, &b->level);
    eval->builder = ig_builder_at_end(b->trial->bodies[0]);
    eval->builder.loc = outside.loc;
    ig_status status = run_body(b);
    b->side = (ig_ts_side){ eval->builder, &b->level };
    eval->builder = outside;
    eval->frame = frame;
    eval->depth = depth;
    ig_ts_level_undo(eval, &b->level);
    IG_TRY(status);
    b->has_grown = false;
    IG_TRY(ig_ts_trial_look(b));
    return b->has_grown ? IG_OK : read_yields(b);
}

/* ---- the op ---- */

/* As seen from outside: extents of the body's own become symbols of the result's. */
static const ig_type *outside_type(ig_ts_trial *b, const ig_type *type) {
    ig_module *module = b->eval->module;
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        dims[i] = type->dims[i];
        if (ig_dim_mentions_since(module, dims[i], b->first_symbol)) {
            dims[i] = ig_dim_symbol(module, "loop");
            ig_dim_as_symbol(module, dims[i])->origin =
                "an extent that a loop computes";
        }
    }
    return ig_type_with_dims(module, type, type->rank, dims);
}

/* A scanned value: an axis of trips before the item's own. */
static const ig_type *scanned_type(ig_ts_trial *b, const ig_type *item, ig_dim trips) {
    ig_dim dims[IG_TENSOR_RANK];
    dims[0] = trips;
    memcpy(dims + 1, item->dims, item->rank * sizeof *dims);
    return ig_type_tensor(b->eval->module, (ig_dtype)item->dtype, item->rank + 1, dims);
}

static ig_dim trip_count(ig_ts_trial *b) {
    ig_dim trips;
    if (b->loop->trips && ig_ts_trip_extent(b->loop->trips, &trips)) {
        return trips;
    }
    trips = ig_dim_symbol(b->eval->module, "trips");
    ig_dim_as_symbol(b->eval->module, trips)->origin = "the trips of a loop";
    return trips;
}

static ig_op *make_loop(ig_ts_trial *b) {
    ig_ts_eval *eval = b->eval;
    size_t count = b->slots.count, all = count + b->grown.count;
    ig_value **operands = IG_NEW_ARRAY(eval->arena, ig_value *, count + 2);
    const ig_type **types = IG_NEW_ARRAY(eval->arena, const ig_type *, all + 1);
    ig_dim trips = b->grown.count ? trip_count(b) : ig_dim_of(0);
    operands[0] = b->trial->operands[0].value;
    operands[1] = b->trial->operands[1].value;
    for (size_t i = 0; i < count; i++) {
        operands[2 + i] = b->slots.items[i].initial;
        types[i] = outside_type(b, b->slots.items[i].type);
    }
    for (size_t i = 0; i < b->grown.count; i++) {
        types[count + i] = scanned_type(b, b->grown.items[i].yield->type, trips);
    }
    ig_loop_attrs attrs = { .scans = { b->grown.count > 0, (int64_t)b->grown.count } };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = (uint32_t)count + 2,
                        .result_types = types,
                        .result_count = (uint32_t)all };
    ig_builder builder = ig_builder_before(b->trial);
    ig_expr e = ig_expr_of(&builder);
    ig_op *op = ig_build_loop_op(&e, &spec, attrs);
    ig_block *from = b->trial->bodies[0], *to = op->bodies[0];
    ig_ts_move_ops(from, to, NULL);
    ig_value **yields = IG_NEW_ARRAY(eval->arena, ig_value *, all + 1);
    yields[0] = b->going_on;
    for (size_t i = 0; i < count; i++) {
        yields[1 + i] = b->slots.items[i].yield;
    }
    for (size_t i = 0; i < b->grown.count; i++) {
        yields[1 + count + i] = b->grown.items[i].yield;
    }
    ig_builder end = ig_builder_at_end(to);
    ig_make_yield(&end, yields, (uint32_t)all + 1);
    for (uint32_t i = 0; i < from->arg_count; i++) {
        ig_value *arg = ig_block_add_arg(to, from->args[i]->type, from->args[i]->name);
        ig_value_replace(from->args[i], arg);
    }
    ig_op_erase(b->trial);
    return op;
}

static void give_lists(ig_ts_trial *b, const ig_op *op) {
    ig_ts_eval *eval = b->eval;
    for (size_t i = 0; i < b->grown.count; i++) {
        ig_ts_grown *list = &b->grown.items[i];
        ig_value *value = ig_op_result(op, (uint32_t)(b->slots.count + i));
        ig_ts_tensor *stack = ig_ts_tensor_create(eval, value, list->dtype);
        stack->storage->refusal = "a loop put into a list: write to a clone() of it";
        ig_ts_alias_seal(list->alias);
        stack->alias = list->alias;
        ig_ts_content content = ig_ts_stacked_content(stack);
        ig_ts_set_content(eval, IG_TS_HOLD_LIST, list->list, &content);
    }
}

static void give_results(ig_ts_trial *b, const ig_op *op) {
    for (size_t i = 0; i < b->slots.count; i++) {
        ig_ts_trip_slot *slot = &b->slots.items[i];
        ig_value *result = ig_op_result(op, (uint32_t)i);
        ig_ts_value value = { 0 };
        if (slot->kind != IG_TS_HOLD_STORAGE) {
            value = value_for(b->eval, slot, result);
        }
        ig_ts_trip_put(b->eval, slot, value, result);
    }
    for (size_t i = 0; i < b->rebound.count; i++) {
        ig_ts_trial_bind(b->eval, &b->rebound.items[i]);
    }
    for (size_t i = 0; i < b->poisoned.count; i++) {
        ig_ts_trip_put(b->eval, &b->poisoned.items[i], b->poisoned.items[i].inside,
                       NULL);
    }
    give_lists(b, op);
    for (size_t i = 0; i < b->slots.count; i++) { /* after every content is in place */
        ig_ts_trip_slot *slot = &b->slots.items[i];
        ig_ts_content now = ig_ts_content_of(slot->kind, slot->holder);
        if (slot->kind == IG_TS_HOLD_STORAGE ||
            now.values[slot->index].kind != IG_TS_TENSOR) {
            continue;
        }
        ig_ts_alias_seal(now.values[slot->index].as.tensor->alias);
    }
}

ig_status ig_ts_loop_build(ig_ts_eval *eval, const ig_ts_loop *loop) {
    ig_ts_trial b = { .eval = eval,
                      .loop = loop,
                      .first_symbol = ig_symbol_count(eval->module) };
    for (int tries = 0;; tries++) {
        IG_TRY(try_once(&b));
        if (!b.has_grown) {
            break;
        }
        if (tries >= TRIES_MAX) {
            return ig_ts_error(
                eval, IG_LIMIT,
                "the values that a loop carries were not found in %d tries", TRIES_MAX);
        }
        ig_op_erase(b.trial);
    }
    give_results(&b, make_loop(&b));
    return IG_OK;
}
