/* Tensors that are one of two, as the run chooses.  SPDX-License-Identifier: Apache-2.0
 */
#include "frontend/torch/eval/choice.h"

#include <assert.h>
#include <string.h>

enum { MAX_NESTING = 32 };

/* ---- aliases ---- */

typedef struct bases {
    ig_ts_eval *eval;
    uint64_t start;
    ig_ts_alias *alias; /* a storage each */
} bases;

static bool has_storage(const ig_ts_alias *alias, const ig_ts_storage *storage) {
    for (; alias; alias = alias->outer) {
        for (uint32_t i = 0; i < alias->count; i++) {
            if (alias->storages[i] == storage) {
                return true;
            }
        }
    }
    return false;
}

static void add_tensor(bases *b, const ig_ts_tensor *tensor);

static void add_storage(bases *b, ig_ts_storage *storage) {
    if (has_storage(b->alias, storage)) {
        return;
    }
    if (storage->cell.born < b->start) {
        ig_ts_alias *alias = IG_NEW(b->eval->arena, ig_ts_alias);
        *alias = (ig_ts_alias){ .storages = { storage },
                                .versions = { storage->version },
                                .count = 1,
                                .outer = b->alias };
        b->alias = alias;
    }
    for (uint32_t k = 0; storage->choice && k < 2; k++) {
        if (storage->choice->sides[k]) {
            add_tensor(b, storage->choice->sides[k]);
        }
    }
}

static void add_tensor(bases *b, const ig_ts_tensor *tensor) {
    add_storage(b, tensor->storage);
    for (const ig_ts_alias *alias = tensor->alias; alias; alias = alias->outer) {
        for (uint32_t i = 0; i < alias->count; i++) {
            add_storage(b, alias->storages[i]);
        }
    }
}

ig_ts_alias *ig_ts_alias_of(ig_ts_eval *eval, const ig_ts_tensor *const *tensors,
                            uint32_t count, uint64_t start) {
    bases b = { .eval = eval, .start = start };
    for (uint32_t i = 0; i < count; i++) {
        if (tensors[i]) {
            add_tensor(&b, tensors[i]);
        }
    }
    return b.alias;
}

void ig_ts_alias_seal(ig_ts_alias *alias) {
    for (; alias; alias = alias->outer) {
        for (uint32_t i = 0; i < alias->count; i++) {
            alias->versions[i] = alias->storages[i]->version;
        }
    }
}

bool ig_ts_alias_covers(const ig_ts_alias *alias, const ig_ts_alias *other) {
    for (; other; other = other->outer) {
        for (uint32_t i = 0; i < other->count; i++) {
            if (!has_storage(alias, other->storages[i])) {
                return false;
            }
        }
    }
    return true;
}

/* ---- views that leave a branch ---- */

static bool is_outside(const ig_op *fork, const ig_value *value) {
    const ig_block *home = value->def ? value->def->block : value->block;
    for (const ig_op *op = fork; op; op = op->block->parent) {
        if (op->block == home) {
            return true;
        }
    }
    return false;
}

static bool is_constant(const ig_value *value) {
    return value->def && value->def->code == IG_OP_const;
}

static bool mentions_branch(const ig_ts_eval *eval, const ig_ts_fork *fork,
                            const ig_op *step) {
    const ig_type *type = step->results[0].type;
    bool mentions = false;
    for (uint32_t i = 0; i < type->rank; i++) {
        mentions = mentions || ig_dim_mentions_since(eval->module, type->dims[i],
                                                     fork->first_symbol);
    }
    ig_dims starts = { NULL, 0 };
    if (step->code == IG_OP_slice) {
        starts = ig_slice_attrs_of(step).starts;
    }
    for (uint32_t i = 0; i < starts.count; i++) {
        mentions = mentions || ig_dim_mentions_since(eval->module, starts.items[i],
                                                     fork->first_symbol);
    }
    return mentions;
}

bool ig_ts_can_hoist(ig_ts_eval *eval, const ig_ts_fork *fork,
                     const ig_ts_tensor *view) {
    for (uint32_t i = 0; i < view->step_count; i++) {
        const ig_op *step = view->steps[i];
        const ig_value *index = ig_op_operand(step, 1);
        bool is_there = !index || is_constant(index) || is_outside(fork->op, index);
        if (!is_there || mentions_branch(eval, fork, step)) {
            return false;
        }
    }
    return true;
}

/* The same step with an index that is made in front of the `if`. */
static const ig_op *hoist_step(ig_ts_eval *eval, const ig_ts_fork *fork,
                               const ig_op *step) {
    assert(step->operand_count == 2 && "a step with an index");
    ig_op *copy = IG_NEW(eval->arena, ig_op);
    ig_builder builder = ig_builder_before(fork->op);
    ig_op_spec spec = { .attrs = ig_op_operand(step, 1)->def->attrs };
    *copy = *step;
    copy->operands = IG_NEW_ARRAY(eval->arena, ig_use, 2);
    memcpy(copy->operands, step->operands, 2 * sizeof(*copy->operands));
    copy->operands[1].value = ig_op_result(ig_make_op(&builder, IG_OP_const, &spec), 0);
    ig_ts_pick_copy(eval, step->operands[1].value, copy->operands[1].value);
    return copy;
}

const ig_ts_tensor *ig_ts_hoist(ig_ts_eval *eval, const ig_ts_fork *fork,
                                const ig_ts_tensor *view) {
    ig_ts_tensor *hoisted = IG_NEW(eval->arena, ig_ts_tensor);
    const ig_op **steps = IG_NEW_ARRAY(eval->arena, const ig_op *,
                                       view->step_count + 1u);
    bool is_same = true;
    *hoisted = *view;
    hoisted->steps = steps;
    for (uint32_t i = 0; i < view->step_count; i++) {
        const ig_value *index = ig_op_operand(view->steps[i], 1);
        steps[i] = index && !is_outside(fork->op, index)
                       ? hoist_step(eval, fork, view->steps[i])
                       : view->steps[i];
        is_same = is_same && steps[i] == view->steps[i];
    }
    return is_same ? view : hoisted;
}

/* ---- choices ---- */

static uint32_t depth_of(const ig_ts_tensor *side) {
    return side && side->storage->choice ? side->storage->choice->depth : 0;
}

/* Made in its branch, of nothing that was there before. */
static bool is_own(ig_ts_eval *eval, const ig_ts_tensor *side, uint64_t start) {
    return side->storage->cell.born >= start && !ig_ts_alias_of(eval, &side, 1, start);
}

static bool has_type(const ig_module *module, const ig_type *a, const ig_type *b) {
    bool is_same = a->rank == b->rank && a->dtype == b->dtype;
    for (uint32_t i = 0; is_same && i < a->rank; i++) {
        is_same = ig_dim_equal(module, a->dims[i], b->dims[i]) == IG_YES;
    }
    return is_same;
}

bool ig_ts_choice_make(ig_ts_eval *eval, const ig_ts_fork *fork,
                       const ig_ts_tensor *merged, const ig_ts_tensor *const sides[2]) {
    ig_ts_choice *choice = IG_NEW(eval->arena, ig_ts_choice);
    choice->condition = ig_op_operand(fork->op, 0);
    for (uint32_t k = 0; k < 2; k++) {
        const ig_ts_tensor *side = sides[k];
        if (!side || side->quant || !has_type(eval->module, side->type, merged->type)) {
            return false;
        }
        if (is_own(eval, side, fork->start)) {
            continue;
        }
        if (side->storage->cell.born >= fork->start || side->alias ||
            !ig_ts_can_hoist(eval, fork, side)) {
            return false;
        }
        choice->sides[k] = ig_ts_hoist(eval, fork, side);
        choice->depth = choice->depth > depth_of(side) ? choice->depth : depth_of(side);
    }
    if (++choice->depth > MAX_NESTING || (!choice->sides[0] && !choice->sides[1])) {
        return false;
    }
    merged->storage->choice = choice;
    return true;
}

void ig_ts_choice_seal(ig_ts_storage *storage) {
    assert(storage->choice && "the storage of a choice");
    for (uint32_t k = 0; k < 2; k++) {
        const ig_ts_tensor *side = storage->choice->sides[k];
        storage->seen[k] = side ? side->storage->version : 0;
    }
}

bool ig_ts_choice_is_stale(const ig_ts_storage *storage) {
    bool is_stale = false;
    for (uint32_t k = 0; storage->choice && k < 2; k++) {
        const ig_ts_tensor *side = storage->choice->sides[k];
        is_stale = is_stale || (side && (storage->seen[k] != side->storage->version ||
                                         ig_ts_choice_is_stale(side->storage)));
    }
    return is_stale;
}

ig_value *ig_ts_choice_pick(ig_ts_eval *eval, const ig_ts_choice *choice, uint32_t k,
                            ig_value *chosen, ig_value *other) {
    assert(k < 2 && "a choice has two sides");
    ig_expr e = ig_expr_of(&eval->builder);
    return ig_build_where(&e, choice->condition, k == 0 ? chosen : other,
                          k == 0 ? other : chosen);
}

static ig_status refresh_side(ig_ts_eval *eval, ig_ts_storage *storage, uint32_t k) {
    const ig_ts_tensor *side = storage->choice->sides[k];
    ig_value *value;
    IG_TRY(ig_ts_choice_refresh(eval, side->storage));
    if (storage->seen[k] == side->storage->version) {
        return IG_OK;
    }
    IG_TRY(ig_ts_tensor_read(eval, side, &value));
    ig_ts_touch(eval, IG_TS_HOLD_STORAGE, storage);
    storage->value = ig_ts_choice_pick(eval, storage->choice, k, value, storage->value);
    storage->version = ++eval->clock;
    storage->seen[k] = side->storage->version;
    return IG_OK;
}

ig_status ig_ts_choice_refresh(ig_ts_eval *eval, ig_ts_storage *storage) {
    for (uint32_t k = 0; storage->choice && k < 2; k++) {
        if (storage->choice->sides[k]) {
            IG_TRY(refresh_side(eval, storage, k));
        }
    }
    return IG_OK;
}

ig_status ig_ts_choice_spread(ig_ts_eval *eval, ig_ts_storage *storage) {
    for (uint32_t k = 0; storage->choice && k < 2; k++) {
        const ig_ts_tensor *side = storage->choice->sides[k];
        ig_value *now;
        if (side) {
            IG_TRY(ig_ts_tensor_read(eval, side, &now));
            now = ig_ts_choice_pick(eval, storage->choice, k, storage->value, now);
            IG_TRY(ig_ts_tensor_write(eval, side, now));
        }
    }
    if (storage->choice) {
        ig_ts_choice_seal(storage);
    }
    return IG_OK;
}
