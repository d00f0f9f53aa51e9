/* The known values of a model before it is reduced: those of one run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/defect/reduction.h"
#include "driver/values/argument.h"
#include "frontend/onnx/import/onnx.h"
#include "ir/data.h"
#include "ir/interpret/interpret.h"
#include "ir/ops.h"

/* More than that is read, not written into a file. */
enum { NUMBERS_BYTES = 1 << 16, CONSTANT_BYTES = 1 << 24 };

/* ---- values that become constants ---- */

/* Sizes of values are not made of their elements. */
static bool is_op_computed(const reduction *r, const ig_op *op) {
    if (op->code == IG_OP_shape || op->code == IG_OP_size) {
        return false;
    }
    bool is_so = op->body_count || ig_ops[op->code].traits & IG_STATE;
    for (uint32_t i = 0; i < op->operand_count && !is_so; i++) {
        const ig_value *from = op->operands[i].value;
        is_so = from && ig_map_get_id(&r->computed, IG_MAP_PTR(from));
    }
    return is_so;
}

static void mark_computed(reduction *r, const ig_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ig_map_set_id(&r->computed, IG_MAP_PTR(&values[i]), r);
    }
}

static void find_computed(reduction *r) {
    const ig_block *body = &ig_entry_of(r->model)->body;
    ig_map_init(&r->computed, &r->arena);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        mark_computed(r, body->args[i], 1);
    }
    for (const ig_op *op = body->first; op; op = op->next) {
        if (is_op_computed(r, op)) {
            mark_computed(r, op->results, op->result_count);
        }
    }
}

/* What shapes and weights alone decide is folded in the whole model, too.  Whole
 * numbers steer (shapes, axes, indices): made up, they would be out of range. */
static bool is_kept_as_constant(const reduction *r, const ig_value *value,
                                const ig_tensor *tensor) {
    if (r->is_open || !value->def) {
        return false;
    }
    if (!ig_map_get_id(&r->computed, IG_MAP_PTR(value))) {
        return ig_tensor_bytes(tensor) <= CONSTANT_BYTES;
    }
    return !r->how.has_inputs && ig_dtypes[tensor->dtype].class != IG_FLOAT &&
           ig_tensor_bytes(tensor) <= NUMBERS_BYTES;
}

/* ---- for the editor ---- */

static bool take_type(const ig_type *type, ig_tensor *out) {
    *out = (ig_tensor){ .kind = IG_TENSOR, .dtype = (ig_dtype)type->dtype };
    if (type->kind != IG_TENSOR || type->rank > IG_TENSOR_RANK) {
        return false;
    }
    out->rank = type->rank;
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_known(type->dims[d], &out->dims[d])) {
            out->dims[d] = -1;
        }
    }
    return true;
}

static ig_status know_constant(reduction *r, const named_value *named) {
    const ig_op *op = named->value->def;
    const ig_weight *weight = NULL;
    ig_onnx_known what = { 0 };
    if (op->code == IG_OP_const) {
        IG_TRY(ig_evaluate_op(op, NULL, &r->arena, &what.type));
    } else if (op->code == IG_OP_weight) {
        weight = ig_module_weight(r->model, ig_attr_str(op, IG_weight_name));
        IG_TRY(
            ig_tensor_of_data(&weight->data, &r->arena, r->model->context, &what.type));
    } else {
        return IG_OK;
    }
    ig_onnx_edit_know(r->editor, named->name, &what);
    return IG_OK;
}

/* The run's result for a value, or NULL. */
static const ig_argument *value_in_run(const reduction *r, const ig_value *value) {
    if (!value->def) {
        return value->index < r->input_count ? &r->inputs[value->index] : NULL;
    }
    uintptr_t position = (uintptr_t)ig_map_get_id(&r->index_of, IG_MAP_PTR(value));
    return r->values && position
               ? &r->values[ig_module_output_count(r->model) + position - 1]
               : NULL;
}

static ig_status know_value(reduction *r, const named_value *named) {
    const ig_argument *got = value_in_run(r, named->value);
    ig_onnx_known what = { 0 };
    bool is_typed = take_type(named->value->type, &what.type);
    if (got && got->kind == IG_ARGUMENT_TENSOR) {
        IG_TRY(ig_argument_to_tensor(r->module->context, &r->arena, got, &what.value));
        bool is_constant = is_kept_as_constant(r, named->value, &what.value);
        if (!r->is_open) {
            what.type = what.value;
            what.type.data = is_constant ? what.value.data : NULL;
            is_typed = true;
        }
    }
    if (is_typed) {
        ig_onnx_edit_know(r->editor, named->name, &what);
    }
    return IG_OK;
}

ig_status reduction_know(void *arguments) {
    reduction *r = arguments;
    for (size_t i = 0; i < r->names.count; i++) {
        const named_value *named = &r->names.items[i];
        const ig_op *def = named->value->def;
        IG_TRY(def && ig_ops[def->code].traits & IG_CONSTANT ? know_constant(r, named)
                                                             : know_value(r, named));
    }
    return IG_OK;
}

/* ---- the run ---- */

static void add_name(void *user, const char *name, ig_value *value) {
    reduction *r = user;
    const char *own = ig_arena_printf(&r->arena, "%s", name);
    IG_PUSH(&r->arena, &r->names, (named_value){ own, value });
}

/* The model with the types that the caller's has. */
static ig_status read_names(void *arguments) {
    reduction *r = arguments;
    ig_onnx_input_type *types = IG_NEW_ARRAY(&r->arena, ig_onnx_input_type,
                                             r->input_count);
    for (size_t i = 0; i < r->input_count; i++) {
        types[i].name = ig_module_input_name(r->module, i);
        types[i].type = ig_module_input_type(r->module, i);
    }
    ig_onnx_options options = {
        .types = types, .type_count = r->input_count, .named = add_name, .user = r
    };
    IG_TRY(ig_import_onnx(r->module->context, r->path, &options, &r->model));
    ig_map_init(&r->index_of, &r->arena);
    uintptr_t position = 0;
    for (ig_op *op = ig_entry_of(r->model)->body.first; op; op = op->next) {
        bool is_constant = ig_ops[op->code].traits & IG_CONSTANT;
        for (uint32_t i = 0; i < op->result_count && !is_constant; i++) {
            if (op->results[i].type->kind == IG_TENSOR) {
                ig_map_set_id(&r->index_of, IG_MAP_PTR(&op->results[i]),
                              (void *)++position);
            }
        }
    }
    find_computed(r);
    return IG_OK;
}

/* All that the model computes.  Where there is no run (an op that is not interpreted,
 * too much memory) types do. */
ig_status reduction_run(reduction *r) {
    ig_context *context = r->module->context;
    const ig_inner_value *values;
    size_t count, got = 0;
    IG_TRY(ig_driver_guard(context, read_names, r));
    IG_TRY(ig_module_values(r->model, &values, &count));
    id_list all = { &r->arena, NULL, count };
    IG_TRY(ig_driver_guard(context, ids_all, &all));
    ig_diag diag = context->diag;
    context->diag.sink = NULL;
    ig_status status = ig_module_expose(r->model, all.items, count, &r->exposed);
    if (status == IG_OK) {
        status = ig_interpret_run(r->exposed, r->inputs, r->input_count, &r->values,
                                  &got);
    }
    context->diag = diag;
    bool is_whole = status == IG_OK && got == ig_module_output_count(r->model) + count;
    r->values = is_whole ? r->values : NULL;
    r->is_open = r->is_open || !r->values;
    return status == IG_CANCELLED ? status : IG_OK;
}
