/* Arguments of operators: the accessors of op.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/eval.h"
#include "frontend/torch/language/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const ig_ts_value *argument_at(const ig_ts_call *call, uint32_t index) {
    assert(index < call->arg_count && "the schema has no such argument");
    return &call->args[index];
}

static const char *name_of(const ig_ts_call *call, uint32_t index) {
    const ig_schema *schema = call->schema;
    return schema && index < schema->argument_count ? schema->arguments[index].name
                                                    : "?";
}

static ig_status wrong_kind(const ig_ts_call *call, uint32_t index,
                            const char *wanted) {
    return ig_ts_fail(call, IG_INVALID, "argument '%s' is %s, expected %s",
                      name_of(call, index), ig_ts_kind_name(argument_at(call, index)),
                      wanted);
}

static ig_status not_known(const ig_ts_call *call, uint32_t index) {
    return ig_ts_fail(
        call, IG_UNSUPPORTED,
        "argument '%s' must be known when the model is compiled, but depends on the %s of inputs",
        name_of(call, index), call->args[index].form == IG_TS_DIM ? "extents" : "data");
}

const ig_ts_value *ig_ts_known_named(const ig_ts_call *call, const char *name) {
    assert(call->schema && "names are in the schema");
    for (size_t i = 0; i < call->schema->argument_count; i++) {
        if (strcmp(call->schema->arguments[i].name, name) == 0) {
            return ig_ts_is_known(&call->args[i]) ? &call->args[i] : NULL;
        }
    }
    return NULL;
}

bool ig_ts_is_none(const ig_ts_call *call, uint32_t index) {
    assert((!call->schema || index < call->schema->argument_count) &&
           "the schema has no such argument");
    return index >= call->arg_count || call->args[index].kind == IG_TS_NONE;
}

/* ---- tensors ---- */

const ig_ts_tensor *ig_ts_peek(const ig_ts_call *call, uint32_t index) {
    assert((!call->schema || index < call->schema->argument_count) &&
           "the schema has no such argument");
    bool is_tensor = index < call->arg_count && call->args[index].kind == IG_TS_TENSOR;
    return is_tensor ? call->args[index].as.tensor : NULL;
}

bool ig_ts_is_from_outside(const ig_ts_call *call, const ig_ts_tensor *tensor) {
    const ig_ts_level *level = call->eval->level;
    assert(tensor->storage && "a tensor has a storage");
    /* The outermost level is the call itself. */
    return level && level->outer && tensor->born < level->start;
}

static ig_status read_plain(ig_ts_call *call, uint32_t index, const ig_ts_value *value,
                            ig_value **out_value) {
    if (value->kind != IG_TS_TENSOR) {
        return ig_ts_fail(call, IG_INVALID, "argument '%s' is %s, expected a tensor",
                          name_of(call, index), ig_ts_kind_name(value));
    }
    const ig_ts_tensor *tensor = value->as.tensor;
    if (tensor->dtype->is_quantised || tensor->dtype->is_complex) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "argument '%s' has elements of type %s, which this operator does not take yet",
            name_of(call, index), tensor->dtype->name);
    }
    return ig_ts_tensor_read(call->eval, tensor, out_value);
}

ig_status ig_ts_tensor_arg(ig_ts_call *call, uint32_t index, ig_value **out_value) {
    return read_plain(call, index, argument_at(call, index), out_value);
}

ig_status ig_ts_tensor_opt(ig_ts_call *call, uint32_t index, ig_value **out_value) {
    *out_value = NULL;
    return ig_ts_is_none(call, index) ? IG_OK
                                      : ig_ts_tensor_arg(call, index, out_value);
}

ig_status ig_ts_list_arg(ig_ts_call *call, uint32_t index,
                         const ig_ts_list **out_list) {
    const ig_ts_value *value = argument_at(call, index);
    if (value->kind != IG_TS_LIST && value->kind != IG_TS_TUPLE) {
        return wrong_kind(call, index, "a list");
    }
    if (value->as.list->poison) {
        return ig_ts_refuse_poison(
            call->eval,
            ig_arena_printf(call->arena, "argument '%s'", name_of(call, index)),
            value->as.list->poison);
    }
    *out_list = value->as.list;
    return IG_OK;
}

const ig_ts_list *ig_ts_items_of(const ig_ts_value *value, size_t min) {
    assert((!value || value->kind != IG_TS_LIST || value->as.list) &&
           "a list is there");
    bool is_list = value && (value->kind == IG_TS_TUPLE || value->kind == IG_TS_LIST);
    bool is_known = is_list && !value->as.list->poison;
    return is_known && value->as.list->count >= min ? value->as.list : NULL;
}

ig_status ig_ts_tensors(ig_ts_call *call, uint32_t index, ig_value ***out_values,
                        uint32_t *out_count) {
    const ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_arg(call, index, &list));
    *out_values = IG_NEW_ARRAY(call->arena, ig_value *, list->count + 1);
    *out_count = (uint32_t)list->count;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != IG_TS_NONE) {
            IG_TRY(read_plain(call, index, &list->items[i], &(*out_values)[i]));
        }
    }
    return IG_OK;
}

ig_status ig_ts_tensor_raw(ig_ts_call *call, uint32_t index, ig_value **out_value,
                           const ig_ts_tensor **out_tensor) {
    *out_tensor = ig_ts_peek(call, index);
    return *out_tensor ? ig_ts_tensor_read(call->eval, *out_tensor, out_value)
                       : wrong_kind(call, index, "a tensor");
}

bool ig_ts_strides(const ig_ts_call *call, uint32_t index, ig_dim *out_strides) {
    const ig_ts_tensor *tensor = ig_ts_peek(call, index);
    return tensor && ig_ts_tensor_strides(call->eval, tensor, out_strides) == IG_YES;
}

/* ---- numbers ---- */

/* A number that may have come as a tensor of one element. */
static ig_status number_at(ig_ts_call *call, uint32_t index, const ig_ts_value *value,
                           ig_ts_kind kind, ig_ts_value *out) {
    if (value->kind == IG_TS_TENSOR) {
        ig_value *content;
        IG_TRY(ig_ts_tensor_read(call->eval, value->as.tensor, &content));
        return ig_ts_number_of(call->eval, kind, content, out);
    }
    if (!ig_ts_is_number(value) || value->kind == IG_TS_COMPLEX) {
        return ig_ts_fail(call, IG_INVALID, "argument '%s' holds %s, expected a number",
                          name_of(call, index), ig_ts_kind_name(value));
    }
    return ig_ts_convert(call->eval, kind, value, out);
}

static ig_status known_at(ig_ts_call *call, uint32_t index, const ig_ts_value *value,
                          ig_ts_kind kind, ig_ts_value *out) {
    IG_TRY(number_at(call, index, value, kind, out));
    return out->form == IG_TS_KNOWN ? IG_OK : not_known(call, index);
}

ig_status ig_ts_int(ig_ts_call *call, uint32_t index, int64_t *out_value) {
    ig_ts_value number;
    IG_TRY(known_at(call, index, argument_at(call, index), IG_TS_INT, &number));
    *out_value = number.as.i;
    return IG_OK;
}

ig_status ig_ts_float(ig_ts_call *call, uint32_t index, double *out_value) {
    ig_ts_value number;
    IG_TRY(known_at(call, index, argument_at(call, index), IG_TS_FLOAT, &number));
    *out_value = number.as.f;
    return IG_OK;
}

ig_status ig_ts_bool(ig_ts_call *call, uint32_t index, bool *out_value) {
    ig_ts_value number;
    IG_TRY(known_at(call, index, argument_at(call, index), IG_TS_BOOL, &number));
    *out_value = number.as.b;
    return IG_OK;
}

ig_status ig_ts_int_or(ig_ts_call *call, uint32_t index, int64_t none,
                       int64_t *out_value) {
    *out_value = none;
    return ig_ts_is_none(call, index) ? IG_OK : ig_ts_int(call, index, out_value);
}

ig_status ig_ts_float_or(ig_ts_call *call, uint32_t index, double none,
                         double *out_value) {
    *out_value = none;
    return ig_ts_is_none(call, index) ? IG_OK : ig_ts_float(call, index, out_value);
}

ig_status ig_ts_bool_or(ig_ts_call *call, uint32_t index, bool none, bool *out_value) {
    *out_value = none;
    return ig_ts_is_none(call, index) ? IG_OK : ig_ts_bool(call, index, out_value);
}

/* A run-time integer gets a symbol, which a `bind` op gives its value. */
static ig_status bind_symbol(ig_ts_call *call, ig_value *value, ig_dim *out_dim) {
    ig_dim one = ig_dim_of(1);
    *out_dim = ig_expr_symbol(call->e, "n", "a number that depends on the data");
    value = ig_expr_reshape(call->e, value, 1, &one);
    (void)ig_build_bind(call->e, value, (ig_bind_attrs){ .symbols = { out_dim, 1 } });
    return call->e->status;
}

static ig_status dim_at(ig_ts_call *call, uint32_t index, const ig_ts_value *value,
                        ig_dim *out_dim) {
    ig_ts_value number;
    IG_TRY(number_at(call, index, value, IG_TS_INT, &number));
    if (ig_ts_as_dim(call->module, &number, out_dim)) {
        return IG_OK;
    }
    return bind_symbol(call, number.as.value, out_dim);
}

ig_status ig_ts_dim(ig_ts_call *call, uint32_t index, ig_dim *out_dim) {
    return dim_at(call, index, argument_at(call, index), out_dim);
}

/* The items of a list; a lone number counts as one item, to be repeated `count` times.
 */
static ig_status items_at(ig_ts_call *call, uint32_t index, uint32_t count,
                          const ig_ts_value **out_items, uint32_t *out_count) {
    const ig_ts_value *value = argument_at(call, index);
    const ig_ts_list *list = NULL;
    if (count && (ig_ts_is_number(value) || value->kind == IG_TS_TENSOR)) {
        *out_items = value;
        *out_count = 1;
        return IG_OK;
    }
    IG_TRY(ig_ts_list_arg(call, index, &list));
    if (count && list->count != count && list->count != 1) {
        return ig_ts_fail(call, IG_INVALID, "argument '%s' has %zu items, expected %u",
                          name_of(call, index), list->count, count);
    }
    *out_items = list->items;
    *out_count = (uint32_t)list->count;
    return IG_OK;
}

/* The same as known numbers of `kind`, `count` of them unless that is 0. */
static ig_status known_items(ig_ts_call *call, uint32_t index, uint32_t count,
                             ig_ts_kind kind, ig_ts_value **out_numbers,
                             uint32_t *out_count) {
    const ig_ts_value *items;
    uint32_t given, wanted;
    IG_TRY(items_at(call, index, count, &items, &given));
    wanted = count ? count : given;
    *out_numbers = IG_NEW_ARRAY(call->arena, ig_ts_value, wanted + 1u);
    for (uint32_t i = 0; i < wanted; i++) {
        IG_TRY(known_at(call, index, &items[given == 1 ? 0 : i], kind,
                        &(*out_numbers)[i]));
    }
    *out_count = wanted;
    return IG_OK;
}

ig_status ig_ts_ints(ig_ts_call *call, uint32_t index, uint32_t count,
                     const int64_t **out_values, uint32_t *out_count) {
    ig_ts_value *numbers;
    IG_TRY(known_items(call, index, count, IG_TS_INT, &numbers, out_count));
    int64_t *values = IG_NEW_ARRAY(call->arena, int64_t, *out_count + 1u);
    for (uint32_t i = 0; i < *out_count; i++) {
        values[i] = numbers[i].as.i;
    }
    *out_values = values;
    return IG_OK;
}

ig_status ig_ts_floats(ig_ts_call *call, uint32_t index, uint32_t count,
                       const double **out_values, uint32_t *out_count) {
    ig_ts_value *numbers;
    IG_TRY(known_items(call, index, count, IG_TS_FLOAT, &numbers, out_count));
    double *values = IG_NEW_ARRAY(call->arena, double, *out_count + 1u);
    for (uint32_t i = 0; i < *out_count; i++) {
        values[i] = numbers[i].as.f;
    }
    *out_values = values;
    return IG_OK;
}

ig_status ig_ts_dims(ig_ts_call *call, uint32_t index, uint32_t count,
                     const ig_dim **out_dims, uint32_t *out_count) {
    const ig_ts_value *items;
    uint32_t given, wanted;
    IG_TRY(items_at(call, index, count, &items, &given));
    wanted = count ? count : given;
    ig_dim *dims = IG_NEW_ARRAY(call->arena, ig_dim, wanted + 1u);
    for (uint32_t i = 0; i < wanted; i++) {
        IG_TRY(dim_at(call, index, &items[given == 1 ? 0 : i], &dims[i]));
    }
    *out_dims = dims;
    *out_count = wanted;
    return IG_OK;
}

/* ---- axes ---- */

static ig_status wrap_axis(const ig_ts_call *call, uint32_t index, int64_t axis,
                           uint32_t rank, uint32_t *out_axis) {
    int64_t bound = rank ? rank : 1;
    if (axis < -bound || axis >= bound) {
        return ig_ts_fail(call, IG_INVALID,
                          "argument '%s' is %lld, outside of a tensor of rank %u",
                          name_of(call, index), (long long)axis, rank);
    }
    *out_axis = (uint32_t)(axis < 0 ? axis + bound : axis);
    return IG_OK;
}

ig_status ig_ts_axis(ig_ts_call *call, uint32_t index, uint32_t rank,
                     uint32_t *out_axis) {
    int64_t axis = 0;
    IG_TRY(ig_ts_int(call, index, &axis));
    return wrap_axis(call, index, axis, rank, out_axis);
}

ig_status ig_ts_axes(ig_ts_call *call, uint32_t index, uint32_t rank, bool empty_is_all,
                     const int64_t **out_axes, uint32_t *out_count) {
    bool taken[IG_TENSOR_RANK] = { false };
    const int64_t *given = NULL;
    uint32_t count = 0, axis = 0;
    bool is_all = ig_ts_is_none(call, index);
    if (!is_all && ig_ts_is_number(argument_at(call, index))) {
        IG_TRY(ig_ts_ints(call, index, 1, &given, &count));
    } else if (!is_all) {
        IG_TRY(ig_ts_ints(call, index, 0, &given, &count));
        is_all = count == 0 && empty_is_all;
    }
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(wrap_axis(call, index, given[i], rank, &axis));
        if (taken[axis] && rank > 0) {
            return ig_ts_fail(call, IG_INVALID, "argument '%s' names axis %u twice",
                              name_of(call, index), axis);
        }
        taken[axis] = true;
    }
    int64_t *axes = IG_NEW_ARRAY(call->arena, int64_t, rank + 1u);
    *out_count = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (is_all || taken[i]) {
            axes[(*out_count)++] = i;
        }
    }
    *out_axes = axes;
    return IG_OK;
}

/* ---- the rest ---- */

ig_status ig_ts_str(ig_ts_call *call, uint32_t index, ig_str *out_text) {
    const ig_ts_value *value = argument_at(call, index);
    if (value->kind != IG_TS_STR && value->kind != IG_TS_DEVICE) {
        return wrong_kind(call, index, "a string");
    }
    *out_text = value->as.str;
    return IG_OK;
}

ig_status ig_ts_torch_dtype(ig_ts_call *call, uint32_t index,
                            const ig_torch_dtype_info *none,
                            const ig_torch_dtype_info **out_dtype) {
    int64_t code = 0;
    *out_dtype = none;
    if (ig_ts_is_none(call, index)) {
        return IG_OK;
    }
    IG_TRY(ig_ts_int(call, index, &code));
    *out_dtype = ig_torch_dtype_of_code(code);
    if (!*out_dtype || (*out_dtype)->ir == IG_DT_COUNT) {
        return ig_ts_fail(call, *out_dtype ? IG_UNSUPPORTED : IG_INVALID,
                          "argument '%s' is %lld, not the code of a known dtype",
                          name_of(call, index), (long long)code);
    }
    return IG_OK;
}

ig_status ig_ts_dtype(ig_ts_call *call, uint32_t index, ig_dtype none,
                      ig_dtype *out_dtype) {
    const ig_torch_dtype_info *info = NULL;
    IG_TRY(ig_ts_torch_dtype(call, index, NULL, &info));
    if (info && (info->is_complex || info->is_quantised)) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "argument '%s' asks for %s, which this operator does not give yet",
            name_of(call, index), info->name);
    }
    *out_dtype = info ? info->ir : none;
    return IG_OK;
}

ig_status ig_ts_object_arg(ig_ts_call *call, uint32_t index, const char *class_name,
                           ig_ts_object **out_object) {
    const ig_ts_value *value = argument_at(call, index);
    if (value->kind != IG_TS_OBJECT ||
        !strstr(value->as.object->class_name, class_name)) {
        return wrong_kind(call, index, class_name);
    }
    *out_object = value->as.object;
    return IG_OK;
}
