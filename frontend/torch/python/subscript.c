/* x[…] of tensors, sequences, dicts and modules that hold others.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of a tensor, as torch's Python does it: numbers, slices, None and ... make a view,
 * axis by axis; what tensors and lists there are among the indices picks from that.
 */
#include "frontend/torch/python/inside.h"

#include <string.h>

/* ---- indices ---- */

/* One index: a value, or the three parts of a slice. */
typedef struct subscript {
    bool is_slice, is_ellipsis;
    ig_ts_value value; /* of a slice: unset */
    ig_ts_value parts[3];
} subscript;

typedef IG_VEC(subscript) subscripts;

static ig_status read_slice(ig_ts_eval *eval, const ig_ast *node, subscript *out) {
    const ig_ast *parts[3] = { node->as.slice.start, node->as.slice.stop,
                               node->as.slice.step };
    out->is_slice = true;
    for (int i = 0; i < 3; i++) {
        out->parts[i] = ig_ts_none();
        if (parts[i]) {
            IG_TRY(ig_python_evaluate(eval, parts[i], &out->parts[i]));
            IG_TRY(ig_ts_use(eval, &out->parts[i]));
        }
    }
    return IG_OK;
}

static ig_status read_one(ig_ts_eval *eval, const ig_ast *node, subscripts *out) {
    subscript one = { 0 };
    if (node->kind == IG_AST_SLICE) {
        IG_TRY(read_slice(eval, node, &one));
    } else if (node->kind == IG_AST_ELLIPSIS) {
        one.is_ellipsis = true;
    } else {
        IG_TRY(ig_python_evaluate(eval, node, &one.value));
        IG_TRY(ig_ts_use(eval, &one.value));
    }
    IG_PUSH(eval->arena, out, one);
    return IG_OK;
}

/* The expression between the brackets; a tuple that is a value is several. */
static ig_status read_subscripts(ig_ts_eval *eval, const ig_ast *node,
                                 subscripts *out) {
    *out = (subscripts){ 0 };
    if (node->kind == IG_AST_TUPLE) {
        for (size_t i = 0; i < node->as.list.count; i++) {
            IG_TRY(read_one(eval, node->as.list.items[i], out));
        }
        return IG_OK;
    }
    IG_TRY(read_one(eval, node, out));
    const ig_ts_value value = out->items[0].value;
    if (value.kind != IG_TS_TUPLE) {
        return IG_OK;
    }
    out->count = 0;
    for (size_t i = 0; i < value.as.list->count; i++) {
        subscript one = { .value = value.as.list->items[i] };
        IG_PUSH(eval->arena, out, one);
    }
    return IG_OK;
}

/* ---- tensors ---- */

typedef struct picking {
    ig_ts_value tensor;
    int64_t axis;
    IG_VEC(ig_ts_value) indices; /* by axis of the view; None: all of it */
    bool has_indices;
} picking;

static ig_status take_slice(ig_ts_eval *eval, const subscript *s, picking *p) {
    ig_ts_value step = s->parts[2].kind == IG_TS_NONE ? ig_ts_of_int(1) : s->parts[2];
    ig_ts_value values[5] = { p->tensor, ig_ts_of_int(p->axis), s->parts[0],
                              s->parts[1], step };
    p->axis++;
    bool is_whole = s->parts[0].kind == IG_TS_NONE && s->parts[1].kind == IG_TS_NONE &&
                    s->parts[2].kind == IG_TS_NONE;
    return is_whole ? IG_OK : ig_python_op(eval, "aten::slice", values, 5, &p->tensor);
}

static bool is_picking(const ig_ts_value *value) {
    return value->kind == IG_TS_TENSOR || value->kind == IG_TS_LIST ||
           value->kind == IG_TS_TUPLE;
}

static ig_status note_index(ig_ts_eval *eval, const ig_ts_value *value, picking *p) {
    ig_ts_value index = *value;
    if (value->kind != IG_TS_TENSOR) {
        IG_TRY(ig_python_op(eval, "aten::tensor", value, 1, &index));
    }
    while ((int64_t)p->indices.count < p->axis) {
        IG_PUSH(eval->arena, &p->indices, ig_ts_none());
    }
    IG_PUSH(eval->arena, &p->indices, index);
    const ig_ts_tensor *tensor = index.as.tensor;
    bool is_mask = tensor->dtype->ir == IG_DT_bool || tensor->dtype->ir == IG_DT_u8;
    p->axis += is_mask ? (int64_t)tensor->type->rank : 1;
    p->has_indices = true;
    return IG_OK;
}

/* How many axes of the tensor the indices take. */
static int64_t axes_taken(const subscripts *list) {
    int64_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const subscript *s = &list->items[i];
        const ig_ts_value *value = &s->value;
        bool is_mask = value->kind == IG_TS_TENSOR &&
                       value->as.tensor->dtype->ir == IG_DT_bool;
        bool takes_none = s->is_ellipsis || (!s->is_slice && value->kind == IG_TS_NONE);
        count += is_mask ? (int64_t)value->as.tensor->type->rank : takes_none ? 0 : 1;
    }
    return count;
}

static ig_status take_one(ig_ts_eval *eval, const subscripts *list, size_t at,
                          picking *p) {
    const subscript *s = &list->items[at];
    const ig_ts_value *value = &s->value;
    if (s->is_slice) {
        return take_slice(eval, s, p);
    }
    if (is_picking(value)) {
        return note_index(eval, value, p);
    }
    ig_ts_value values[3] = { p->tensor, ig_ts_of_int(p->axis), *value };
    if (value->kind == IG_TS_NONE) {
        p->axis++;
        return ig_python_op(eval, "aten::unsqueeze", values, 2, &p->tensor);
    }
    if (value->kind != IG_TS_INT) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "indexes a tensor by %s",
                           ig_ts_kind_name(value));
    }
    return ig_python_op(eval, "aten::select", values, 3, &p->tensor);
}

static ig_status view_tensor(ig_ts_eval *eval, const subscripts *list, picking *p) {
    int64_t rank = p->tensor.as.tensor->type->rank -
                   p->tensor.as.tensor->dtype->is_complex;
    int64_t left = rank - axes_taken(list);
    if (left < 0) {
        return ig_ts_raise(eval, "IndexError: too many indices for tensor");
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].is_ellipsis) {
            p->axis += left;
            left = 0;
            continue;
        }
        IG_TRY(take_one(eval, list, i, p));
    }
    return IG_OK;
}

static ig_ts_value index_list(ig_ts_eval *eval, const picking *p) {
    ig_ts_list *list = ig_ts_list_create(eval, p->indices.count);
    for (size_t i = 0; i < p->indices.count; i++) {
        ig_ts_list_add(eval, list, p->indices.items[i]);
    }
    return ig_ts_of_list(list);
}

static ig_status index_tensor(ig_ts_eval *eval, const ig_ts_value *tensor,
                              const subscripts *list, ig_ts_value *out) {
    picking p = { .tensor = *tensor };
    IG_TRY(view_tensor(eval, list, &p));
    if (!p.has_indices) {
        *out = p.tensor;
        return IG_OK;
    }
    ig_ts_value pair[2] = { p.tensor, index_list(eval, &p) };
    return ig_python_op(eval, "aten::index", pair, 2, out);
}

static ig_status write_tensor(ig_ts_eval *eval, const ig_ts_value *tensor,
                              const subscripts *list, const ig_ts_value *value) {
    picking p = { .tensor = *tensor };
    ig_ts_value nothing;
    IG_TRY(view_tensor(eval, list, &p));
    if (!p.has_indices) {
        ig_ts_value pair[2] = { p.tensor, *value };
        return ig_python_op(eval,
                            value->kind == IG_TS_TENSOR ? "aten::copy_" : "aten::fill_",
                            pair, 2, &nothing);
    }
    ig_ts_value values[3] = { p.tensor, index_list(eval, &p), *value };
    if (value->kind != IG_TS_TENSOR) {
        const ig_torch_dtype_info *dtype = p.tensor.as.tensor->dtype;
        ig_ts_value made[2] = { *value, ig_ts_of_int(dtype->code) };
        const char *names[] = { "dtype" };
        ig_ts_arguments arguments = {
            .values = made, .names = names, .positional = 1, .keywords = 1
        };
        IG_TRY(ig_python_op_with(eval, "aten::tensor", &arguments, &values[2]));
    }
    return ig_python_op(eval, "aten::index_put_", values, 3, &nothing);
}

/* ---- sequences ---- */

static ig_status known_index(ig_ts_eval *eval, const ig_ts_value *value, int64_t absent,
                             int64_t *out) {
    *out = absent;
    if (value->kind == IG_TS_NONE) {
        return IG_OK;
    }
    bool is_number = value->kind == IG_TS_INT || value->kind == IG_TS_BOOL;
    if (!is_number || value->form != IG_TS_KNOWN) {
        return ig_ts_error(
            eval, IG_UNSUPPORTED,
            "indexes a sequence by a value that is known at run time only");
    }
    *out = value->kind == IG_TS_BOOL ? value->as.b : value->as.i;
    return IG_OK;
}

/* Texts are indexed by bytes here, by characters in Python. */
static ig_status check_text(ig_ts_eval *eval, const ig_ts_value *value) {
    for (size_t i = 0; value->kind == IG_TS_STR && i < value->as.str.size; i++) {
        if ((unsigned char)value->as.str.data[i] >= 0x80) {
            return ig_ts_error(eval, IG_UNSUPPORTED, "slices a text that is not ASCII");
        }
    }
    return IG_OK;
}

static ig_status slice_items(ig_ts_eval *eval, const ig_ts_value *object,
                             const subscript *s, ig_ts_value *out) {
    ig_ts_value values[4] = { *object, s->parts[0], s->parts[1], s->parts[2] };
    bool is_text = object->kind == IG_TS_STR;
    for (int i = 1; i < 4; i++) {
        int64_t number;
        IG_TRY(known_index(eval, &values[i], 0, &number));
        bool is_absent = values[i].kind == IG_TS_NONE && i < 3;
        values[i] = is_absent                      ? values[i]
                    : values[i].kind == IG_TS_NONE ? ig_ts_of_int(1)
                                                   : ig_ts_of_int(number);
    }
    IG_TRY(check_text(eval, object));
    return ig_ts_container_run(eval, "slice",
                               is_text ? ig_ts_op_str_slice : ig_ts_op_list_slice,
                               values, 4, out);
}

static ig_status slice_value(ig_ts_eval *eval, const ig_ts_value *object,
                             const subscript *s, ig_ts_value *out) {
    ig_ts_list *items;
    const char *class = NULL;
    ig_ts_value members;
    bool is_module = object->kind == IG_TS_OBJECT &&
                     ig_python_is_container(object->as.object, &class);
    bool is_sliced = object->kind == IG_TS_LIST || object->kind == IG_TS_TUPLE ||
                     object->kind == IG_TS_STR;
    if (is_sliced) {
        IG_TRY(slice_items(eval, object, s, out));
        out->kind = object->kind;
        return IG_OK;
    }
    if (!is_module) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "slices %s", ig_ts_kind_name(object));
    }
    IG_TRY(ig_python_items(eval, object, &items));
    members = ig_ts_of_list(items);
    IG_TRY(slice_items(eval, &members, s, out));
    const ig_ts_list *part = out->as.list;
    if (strcmp(class, "Sequential") == 0) { /* which can be called */
        ig_ts_object *chain = ig_ts_object_create(eval, object->as.object->class_name);
        chain->class = object->as.object->class;
        for (size_t i = 0; i < part->count; i++) {
            ig_ts_object_set(eval, chain, ig_arena_printf(eval->arena, "%zu", i),
                             part->items[i]);
        }
        *out = ig_ts_of_object(chain);
    }
    return IG_OK;
}

/* ---- items ---- */

/* modules[-1], modules["name"] */
static ig_status module_item(ig_ts_eval *eval, const ig_ts_value *modules,
                             const ig_ts_value *index, ig_ts_value *out) {
    ig_ts_list *items;
    if (index->kind == IG_TS_STR) {
        const char *name = ig_arena_copy(eval->arena, index->as.str.data,
                                         index->as.str.size);
        const ig_ts_value *value = ig_ts_object_get(modules->as.object, name);
        if (!value) {
            return ig_ts_raise(eval, "KeyError: a module has no such member");
        }
        *out = *value;
        return IG_OK;
    }
    IG_TRY(ig_python_items(eval, modules, &items));
    ig_ts_value pair[2] = { ig_ts_of_list(items), *index };
    return ig_ts_container_run(eval, "[]", ig_ts_op_list_getitem, pair, 2, out);
}

static ig_status special_item(ig_ts_eval *eval, const ig_ts_value *object,
                              const ig_ts_value *index, ig_ts_value *out) {
    ig_ts_value method;
    ig_ts_value given = *index;
    ig_ts_arguments arguments = { .values = &given, .positional = 1 };
    IG_TRY(ig_python_attribute(eval, object, ig_python_intern(eval, "__getitem__"),
                               &method));
    return ig_python_call(eval, &method, &arguments, out);
}

ig_status ig_python_item(ig_ts_eval *eval, const ig_ts_value *object,
                         const ig_ts_value *index, ig_ts_value *out) {
    const char *class;
    IG_TRY(ig_ts_use(eval, object));
    IG_TRY(ig_ts_use(eval, index));
    ig_ts_value pair[2] = { *object, *index };
    ig_ts_op_hook hook = object->kind == IG_TS_TUPLE  ? ig_ts_op_list_getitem
                         : object->kind == IG_TS_LIST ? ig_ts_op_list_getitem
                         : object->kind == IG_TS_DICT ? ig_ts_op_dict_getitem
                         : object->kind == IG_TS_STR  ? ig_ts_op_str_getitem
                                                      : NULL;
    if (hook) {
        IG_TRY(check_text(eval, object));
        return ig_ts_container_run(eval, "[]", hook, pair, 2, out);
    }
    if (object->kind == IG_TS_OBJECT &&
        ig_python_is_container(object->as.object, &class)) {
        return module_item(eval, object, index, out);
    }
    if (object->kind == IG_TS_OBJECT) {
        return special_item(eval, object, index, out);
    }
    if (object->kind == IG_TS_TENSOR) {
        subscript one = { .value = *index };
        subscripts list = { .items = &one, .count = 1 };
        return index_tensor(eval, object, &list, out);
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "takes an item of %s",
                       ig_ts_kind_name(object));
}

ig_status ig_python_subscript(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    const ig_ast *at = node->as.subscript.index;
    ig_ts_value object, index;
    subscripts list;
    IG_TRY(ig_python_evaluate(eval, node->as.subscript.object, &object));
    IG_TRY(ig_ts_use(eval, &object));
    if (object.kind == IG_TS_FUNCTION) {
        *out = object; /* List[int], nn.ModuleDict[…]: a type */
        return IG_OK;
    }
    if (object.kind == IG_TS_TENSOR) {
        IG_TRY(read_subscripts(eval, at, &list));
        return index_tensor(eval, &object, &list, out);
    }
    if (at->kind == IG_AST_SLICE) {
        subscript slice = { 0 };
        IG_TRY(read_slice(eval, at, &slice));
        return slice_value(eval, &object, &slice, out);
    }
    IG_TRY(ig_python_evaluate(eval, at, &index));
    return ig_python_item(eval, &object, &index, out);
}

/* ---- writing ---- */

ig_status ig_python_assign_item(ig_ts_eval *eval, const ig_ast *target,
                                ig_ts_value value) {
    const ig_ast *at = target->as.subscript.index;
    ig_ts_value object, index;
    subscripts list;
    IG_TRY(ig_ts_use(eval, &value));
    IG_TRY(ig_python_evaluate(eval, target->as.subscript.object, &object));
    IG_TRY(ig_ts_use(eval, &object));
    if (object.kind == IG_TS_TENSOR) {
        IG_TRY(read_subscripts(eval, at, &list));
        return write_tensor(eval, &object, &list, &value);
    }
    if (at->kind == IG_AST_SLICE) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "assigns to a slice of %s",
                           ig_ts_kind_name(&object));
    }
    IG_TRY(ig_python_evaluate(eval, at, &index));
    IG_TRY(ig_ts_use(eval, &index));
    bool is_list = object.kind == IG_TS_LIST;
    if (!is_list && object.kind != IG_TS_DICT) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "assigns to an item of %s",
                           ig_ts_kind_name(&object));
    }
    ig_ts_value values[3] = { object, index, value }, nothing;
    return ig_ts_container_run(
        eval, "[] =", is_list ? ig_ts_op_list_set_item : ig_ts_op_dict_set_item, values,
        3, &nothing);
}
