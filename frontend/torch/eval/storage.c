/* Tensors as views of storages.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A view's steps are IR ops: the templates from which it was first built, from the
 * storage's content on.  Replaying a step builds the same op on another operand.  Its
 * inverse, given the operand's old content (`outer`) and the result's new content
 * (`inner`), builds the operand's new content:
 *
 *     reshape      inner in the shape of outer
 *     transpose    inner, transposed back
 *     slice        outer with inner inserted in the slice's place
 *     gather       outer with inner scattered at the index, which has rank 0 or takes
 *                  no element twice (stride.c)
 *     bitcast      inner, as elements of outer's type
 *     expand       nothing: torch refuses to write where elements share memory
 */
#include "frontend/torch/eval/choice.h"

#include <assert.h>
#include <string.h>

ig_ts_storage *ig_ts_storage_create(ig_ts_eval *eval, ig_value *value,
                                    const char *name) {
    ig_ts_storage *storage = IG_NEW(eval->arena, ig_ts_storage);
    storage->cell.born = ++eval->clock;
    storage->version = ++eval->clock;
    storage->value = value;
    storage->name = name;
    return storage;
}

static const ig_torch_dtype_info *natural_dtype(ig_dtype dtype) {
    for (int64_t code = 0; code <= IG_TORCH_uint64; code++) {
        const ig_torch_dtype_info *info = ig_torch_dtype_of_code(code);
        if (info && info->ir == dtype && !info->is_complex && !info->is_quantised) {
            return info;
        }
    }
    return ig_torch_dtype_of_code(IG_TORCH_float32);
}

ig_ts_tensor *ig_ts_tensor_create(ig_ts_eval *eval, ig_value *value,
                                  const ig_torch_dtype_info *dtype) {
    assert(value->type->kind == IG_TENSOR && "a tensor holds a tensor value");
    ig_ts_tensor *tensor = IG_NEW(eval->arena, ig_ts_tensor);
    tensor->storage = ig_ts_storage_create(eval, value, NULL);
    tensor->born = ++eval->clock;
    tensor->type = value->type;
    tensor->dtype = dtype ? dtype : natural_dtype((ig_dtype)value->type->dtype);
    return tensor;
}

/* ---- reading ---- */

#define BY_STRIDES \
    "strides that are not known at import: copy it with clone() or contiguous() first, or give its extents as numbers with --input"

static bool is_view_op(const ig_ts_eval *eval, const ig_op *op);

static ig_status replay_step(ig_ts_eval *eval, const ig_op *step, ig_value *content,
                             ig_value **out_value) {
    assert(is_view_op(eval, step) && "a view is made of view ops only");
    ig_value *operands[2] = { content, ig_op_operand(step, 1) };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = step->operand_count,
                        .attrs = step->attrs };
    ig_op *op = NULL;
    IG_TRY(ig_build(&eval->builder, (ig_opcode)step->code, &spec, &op));
    *out_value = ig_op_result(op, 0);
    return IG_OK;
}

ig_status ig_ts_view_replay(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                            ig_value *content, ig_value **out_value) {
    for (uint32_t i = 0; i < tensor->step_count; i++) {
        IG_TRY(replay_step(eval, tensor->steps[i], content, &content));
    }
    *out_value = content;
    return IG_OK;
}

static bool has_changed(const ig_ts_alias *alias) {
    for (uint32_t i = 0; i < alias->count; i++) {
        if (alias->storages[i]->version != alias->versions[i] ||
            ig_ts_choice_is_stale(alias->storages[i])) {
            return true;
        }
    }
    return false;
}

ig_status ig_ts_tensor_read(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                            ig_value **out_value) {
    if (tensor->storage->poison) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "reads a tensor that %s",
                           tensor->storage->poison);
    }
    for (const ig_ts_alias *alias = tensor->alias; alias; alias = alias->outer) {
        if (has_changed(alias) && alias->copied_by) {
            return ig_ts_error(
                eval, IG_UNSUPPORTED,
                "reads what %s gave after the tensor that it is a view of was written to, which is not supported yet: read it before, or clone() that tensor first",
                alias->copied_by);
        }
        if (has_changed(alias)) {
            return ig_ts_error(
                eval, IG_UNSUPPORTED,
                "reads a tensor that may share its memory with one that was written to, depending on %s",
                alias->is_by_layout
                    ? BY_STRIDES
                    : "a run-time condition: clone() it before that write");
        }
    }
    IG_TRY(ig_ts_storage_load(eval, tensor->storage));
    IG_TRY(ig_ts_choice_refresh(eval, tensor->storage));
    return ig_ts_view_replay(eval, tensor, tensor->storage->value, out_value);
}

/* ---- making views ---- */

/* View ops between `value` and `content`, or UINT32_MAX when there is another way. */
static uint32_t count_steps(const ig_ts_eval *eval, const ig_value *content,
                            const ig_value *value) {
    enum { STEPS_MAX = 4096 };
    uint32_t count = 0;
    while (value != content) {
        if (!value->def || !is_view_op(eval, value->def) || ++count > STEPS_MAX) {
            return UINT32_MAX;
        }
        value = value->def->operands[0].value;
    }
    return count;
}

static bool has_reshape(const ig_ts_tensor *view) {
    for (uint32_t i = 0; i < view->step_count; i++) {
        if (view->steps[i]->code == IG_OP_reshape) {
            return true;
        }
    }
    return false;
}

ig_ts_alias *ig_ts_alias_by_layout(ig_ts_eval *eval, const ig_ts_tensor *base) {
    ig_ts_alias *alias = IG_NEW(eval->arena, ig_ts_alias);
    *alias = (ig_ts_alias){ .storages = { base->storage },
                            .versions = { base->storage->version },
                            .count = 1,
                            .outer = base->alias,
                            .is_by_layout = true };
    return alias;
}

ig_ts_tensor *ig_ts_view_create(ig_ts_eval *eval, const ig_ts_tensor *base,
                                ig_value *value) {
    assert(value->type->kind == IG_TENSOR && "a view is a tensor");
    assert(base->storage && "a base has a storage");
    uint32_t count = count_steps(eval, base->storage->value, value);
    if (count == UINT32_MAX) {
        ig_ts_tensor *fresh = ig_ts_tensor_create(eval, value, base->dtype);
        fresh->quant = base->quant;
        return fresh;
    }
    ig_ts_tensor *view = IG_NEW(eval->arena, ig_ts_tensor);
    const ig_op **steps = IG_NEW_ARRAY(eval->arena, const ig_op *, count + 1u);
    *view = *base;
    view->born = ++eval->clock;
    view->type = value->type;
    view->is_number = view->is_constant = false;
    view->steps = steps;
    view->step_count = count;
    ig_value *at = value;
    for (uint32_t i = count; i-- > 0;) {
        steps[i] = at->def;
        at = at->def->operands[0].value;
    }
    ig_dim strides[IG_TENSOR_RANK];
    ig_truth is_view = ig_ts_tensor_strides(eval, view, strides);
    if (is_view != IG_YES && has_reshape(view)) {
        view->storage = ig_ts_storage_create(eval, value, NULL);
        view->step_count = 0;
        view->alias = is_view == IG_NO ? NULL : ig_ts_alias_by_layout(eval, base);
    }
    return view;
}

/* ---- writing ---- */

/* What `outer` becomes when what `step` takes of it becomes `inner`. */
typedef ig_value *undo_hook(ig_expr *e, const ig_op *step, ig_value *outer,
                            ig_value *inner);

static ig_value *undo_transpose(ig_expr *e, const ig_op *step, ig_value *outer,
                                ig_value *inner) {
    const ig_attr *perm = &step->attrs[IG_transpose_perm];
    int64_t back[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < perm->count; i++) {
        back[perm->as.ints[i]] = i;
    }
    (void)outer;
    return ig_expr_transpose(e, inner, back);
}

static ig_value *undo_slice(ig_expr *e, const ig_op *step, ig_value *outer,
                            ig_value *inner) {
    ig_slice_attrs slice = ig_slice_attrs_of(step);
    return ig_build_insert(
        e, outer, inner,
        (ig_insert_attrs){ .starts = slice.starts, .steps = slice.steps });
}

/* An index of any rank is one of a single axis, along which the elements lie. */
static ig_value *merge_picked(ig_expr *e, ig_value *inner, uint32_t axis,
                              uint32_t rank) {
    return rank == 0   ? ig_expr_unsqueeze(e, inner, axis)
           : rank == 1 ? inner
                       : ig_expr_merge_axes(e, inner, axis, axis + rank - 1);
}

static ig_value *undo_gather(ig_expr *e, const ig_op *step, ig_value *outer,
                             ig_value *inner) {
    int64_t at = ig_attr_int(step, IG_gather_axis, 0);
    uint32_t axis = (uint32_t)(at < 0 ? at + outer->type->rank : at);
    ig_value *index = ig_expr_cast(e, ig_op_operand(step, 1), IG_DT_i64);
    uint32_t rank = index->type->rank;
    inner = merge_picked(e, inner, axis, rank);
    ig_dim column[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < inner->type->rank; i++) {
        column[i] = i == axis ? inner->type->dims[i] : ig_dim_of(1);
    }
    index = ig_expr_reshape(e, index, inner->type->rank, column);
    index = ig_expr_expand(e, index, inner->type->rank, inner->type->dims);
    return ig_build_scatter_elements(e, outer, index, inner,
                                     (ig_scatter_elements_attrs){ .axis = axis });
}

static ig_value *undo_reshape(ig_expr *e, const ig_op *step, ig_value *outer,
                              ig_value *inner) {
    (void)step;
    return ig_expr_reshape(e, inner, outer->type->rank, outer->type->dims);
}

static ig_value *undo_bitcast(ig_expr *e, const ig_op *step, ig_value *outer,
                              ig_value *inner) {
    ig_bitcast_attrs attrs = { .to = (ig_dtype)outer->type->dtype };
    (void)step;
    return ig_build_bitcast(e, inner, attrs);
}

/* NULL where several elements are one in memory: an axis was repeated.  Leading axes of
 * one element repeat nothing. */
static ig_value *undo_expand(ig_expr *e, const ig_op *step, ig_value *outer,
                             ig_value *inner) {
    const ig_type *from = outer->type, *to = inner->type;
    uint32_t more = to->rank - from->rank;
    bool is_same = true;
    (void)step;
    for (uint32_t i = 0; i < to->rank && is_same; i++) {
        ig_dim wanted = i < more ? ig_dim_of(1) : from->dims[i - more];
        is_same = ig_dim_equal(e->module, to->dims[i], wanted) == IG_YES;
    }
    return is_same ? ig_expr_reshape(e, inner, from->rank, from->dims) : NULL;
}

/* ---- the ops that views are made of ---- */

typedef struct view_op {
    ig_opcode code;
    undo_hook *undo;
} view_op;

static const view_op view_ops[] = {
    { IG_OP_reshape, undo_reshape }, { IG_OP_transpose, undo_transpose },
    { IG_OP_slice, undo_slice },     { IG_OP_gather, undo_gather },
    { IG_OP_expand, undo_expand },   { IG_OP_bitcast, undo_bitcast },
};

static const view_op *find_view_op(const ig_op *op) {
    for (size_t i = 0; i < IG_COUNT_OF(view_ops); i++) {
        if (view_ops[i].code == (ig_opcode)op->code) {
            return &view_ops[i];
        }
    }
    return NULL;
}

static bool is_view_op(const ig_ts_eval *eval, const ig_op *op) {
    bool is_fixed = op->operand_count == 1;
    bool is_one = op->operand_count == 2 && op->code == IG_OP_gather &&
                  (op->operands[1].value->type->rank == 0 ||
                   ig_ts_pick_strides(eval, op));
    return (is_fixed || is_one) && find_view_op(op);
}

static void poison_storage(ig_ts_eval *eval, ig_ts_storage *storage) {
    ig_ts_touch(eval, IG_TS_HOLD_STORAGE, storage);
    storage->poison =
        "may have been written to by way of another, depending on " BY_STRIDES;
    for (uint32_t k = 0; storage->choice && k < 2; k++) {
        if (storage->choice->sides[k]) {
            poison_storage(eval, storage->choice->sides[k]->storage);
        }
    }
}

/* A tensor's possible bases are unknown once the tensor was written to. */
static void poison_others(ig_ts_eval *eval, const ig_ts_alias *alias) {
    for (; alias; alias = alias->outer) {
        for (uint32_t i = 0; i < alias->count; i++) {
            poison_storage(eval, alias->storages[i]);
        }
    }
}

/* Why the tensor cannot be written to; NULL: it can. */
static const char *find_refusal(ig_ts_eval *eval, const ig_ts_tensor *tensor) {
    const char *refusal = tensor->storage->refusal;
    for (const ig_ts_alias *alias = tensor->alias; alias; alias = alias->outer) {
        refusal =
            alias->is_by_layout ? refusal
            : alias->copied_by
                ? ig_arena_printf(
                      eval->arena,
                      "%s gave as a view, which is a copy here: write to a clone() of it",
                      alias->copied_by)
                : "may share its memory with another, depending on a run-time condition: write to a clone() of it";
    }
    return refusal;
}

/* What `outer` becomes, by one step back. */
static ig_status undo_step(ig_ts_eval *eval, ig_expr *e, const ig_op *step,
                           ig_value *outer, ig_value **value) {
    bool is_picked = step->code == IG_OP_gather && ig_ts_pick_strides(eval, step);
    if (is_picked && !ig_ts_is_uniform(*value) &&
        !ig_ts_guard_distinct(eval, e, step)) {
        return ig_ts_error(
            eval, IG_UNSUPPORTED,
            "writes different values in place through a view, elements of which may share memory: write to a clone() of it");
    }
    *value = find_view_op(step)->undo(e, step, outer, *value);
    return *value
               ? e->status
               : ig_ts_error(
                     eval, IG_INVALID,
                     "writes in place to an expanded tensor, elements of which share memory");
}

ig_status ig_ts_tensor_write(ig_ts_eval *eval, const ig_ts_tensor *tensor,
                             ig_value *value) {
    ig_ts_storage *storage = tensor->storage;
    const char *refusal = find_refusal(eval, tensor);
    if (refusal) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "writes in place to a tensor that %s",
                           refusal);
    }
    IG_TRY(ig_ts_storage_load(eval, storage));
    IG_TRY(ig_ts_choice_refresh(eval, storage));
    uint32_t count = tensor->step_count;
    ig_expr e = ig_expr_of(&eval->builder);
    ig_value **outer = IG_NEW_ARRAY(eval->arena, ig_value *, count + 1u);
    outer[0] = storage->value;
    for (uint32_t i = 0; i + 1 < count; i++) {
        IG_TRY(replay_step(eval, tensor->steps[i], outer[i], &outer[i + 1]));
    }
    for (uint32_t i = count; i-- > 0;) {
        IG_TRY(undo_step(eval, &e, tensor->steps[i], outer[i], &value));
    }
    poison_others(eval, tensor->alias);
    ig_ts_touch(eval, IG_TS_HOLD_STORAGE, storage);
    storage->value = value;
    storage->version = ++eval->clock;
    storage->is_written = true;
    return ig_ts_choice_spread(eval, storage);
}
