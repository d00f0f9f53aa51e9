/* Results of the entry: the tree of the call's result.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/entry/entry.h"

#include <assert.h>
#include <string.h>

static ig_status add_value(ig_ts_entry *entry, const char *name,
                           const ig_ts_value *value);

static uint32_t add_node(ig_ts_entry *entry, ig_node_kind kind, const char *name) {
    ig_node node = { .kind = kind,
                     .is_leaf = kind == IG_NODE_TENSOR,
                     .name = name ? ig_str_of(name) : (ig_str){ "", 0 } };
    return ig_node_add(entry->eval->arena, &entry->nodes, node);
}

static void add_result(ig_ts_entry *entry, ig_value *value) {
    IG_PUSH(entry->eval->arena, &entry->results, value);
}

/* ---- tensors and numbers ---- */

static ig_status add_quantized(ig_ts_entry *entry, const char *name, ig_value *value,
                               const ig_ts_quant *quant) {
    uint32_t at = add_node(entry, IG_NODE_QUANTIZED, name);
    if (quant->axis >= 0) {
        return ig_ts_entry_fail(
            entry, IG_UNSUPPORTED,
            "a result is a tensor quantised per channel, which is not supported yet");
    }
    entry->nodes.items[at].count = 3;
    add_node(entry, IG_NODE_TENSOR, "values");
    add_result(entry, value);
    ig_ts_value scale, zero;
    IG_TRY(ig_ts_number_of(entry->eval, IG_TS_FLOAT, quant->scale, &scale));
    IG_TRY(ig_ts_number_of(entry->eval, IG_TS_INT, quant->zero_point, &zero));
    IG_TRY(add_value(entry, "scale", &scale));
    return add_value(entry, "zero_point", &zero);
}

static ig_status add_tensor(ig_ts_entry *entry, const char *name,
                            const ig_ts_tensor *tensor) {
    ig_value *value;
    IG_TRY(ig_ts_tensor_read(entry->eval, tensor, &value));
    if (tensor->quant) {
        return add_quantized(entry, name, value, tensor->quant);
    }
    if (tensor->dtype->is_complex) {
        uint32_t at = add_node(entry, IG_NODE_COMPLEX, name);
        entry->nodes.items[at].count = 1;
        name = NULL;
    }
    add_node(entry, IG_NODE_TENSOR, name);
    add_result(entry, value);
    return IG_OK;
}

static ig_status add_number(ig_ts_entry *entry, const char *name,
                            const ig_ts_value *number) {
    static const ig_node_kind kinds[] = { [IG_TS_BOOL] = IG_NODE_BOOL,
                                          [IG_TS_INT] = IG_NODE_INT,
                                          [IG_TS_FLOAT] = IG_NODE_FLOAT };
    if (number->kind == IG_TS_COMPLEX) {
        uint32_t whole = add_node(entry, IG_NODE_COMPLEX, name);
        ig_ts_value re = ig_ts_of_float(number->as.complex.re);
        ig_ts_value im = ig_ts_of_float(number->as.complex.im);
        entry->nodes.items[whole].count = 2;
        IG_TRY(add_number(entry, NULL, &re));
        return add_number(entry, NULL, &im);
    }
    uint32_t at = add_node(entry, kinds[number->kind], name);
    ig_node *node = &entry->nodes.items[at];
    if (number->form == IG_TS_KNOWN) {
        node->i = number->kind == IG_TS_BOOL ? number->as.b : number->as.i;
        node->f = number->kind == IG_TS_FLOAT ? number->as.f : 0;
        return IG_OK;
    }
    ig_value *value;
    node->is_leaf = true;
    IG_TRY(ig_ts_number_read(entry->eval, number, &value));
    add_result(entry, value);
    return IG_OK;
}

/* ---- containers ---- */

static ig_status add_list(ig_ts_entry *entry, const char *name,
                          const ig_ts_value *value) {
    const ig_ts_list *list = value->as.list;
    if (list->poison) {
        return ig_ts_refuse_poison(entry->eval, "returns a list that", list->poison);
    }
    bool is_record = value->kind == IG_TS_TUPLE && list->class;
    uint32_t at = add_node(entry,
                           is_record                    ? IG_NODE_RECORD
                           : value->kind == IG_TS_TUPLE ? IG_NODE_TUPLE
                                                        : IG_NODE_LIST,
                           name);
    entry->nodes.items[at].count = (uint32_t)list->count;
    if (is_record) {
        const char *class = ig_code_plain_name(entry->eval->code, list->class->name);
        const char *dot = strrchr(class, '.');
        entry->nodes.items[at].text = ig_str_of(dot ? dot + 1 : class);
    }
    for (size_t i = 0; i < list->count; i++) {
        const char *field = is_record && i < list->class->attributes.count
                                ? list->class->attributes.items[i].name
                                : NULL;
        IG_TRY(add_value(entry, field, &list->items[i]));
    }
    return IG_OK;
}

static ig_status add_dict(ig_ts_entry *entry, const char *name,
                          const ig_ts_value *value) {
    const ig_ts_dict *dict = value->as.dict;
    uint32_t at = add_node(entry, IG_NODE_DICT, name);
    if (dict->poison) {
        return ig_ts_refuse_poison(entry->eval, "returns a dict that", dict->poison);
    }
    entry->nodes.items[at].count = 2 * (uint32_t)dict->count;
    for (size_t i = 0; i < dict->count; i++) {
        IG_TRY(add_value(entry, NULL, &dict->keys[i]));
        IG_TRY(add_value(entry, NULL, &dict->values[i]));
    }
    return IG_OK;
}

/* ---- objects that a call may give ---- */

static bool is_class(const ig_ts_object *object, const char *name) {
    const char *dot = strrchr(object->class_name, '.');
    return strcmp(dot ? dot + 1 : object->class_name, name) == 0;
}

/* The result of a method without arguments, or the attribute where there is no such. */
static ig_status ask_for_result(ig_ts_entry *entry, ig_ts_object *object,
                                const char *method, const char *attribute,
                                ig_ts_value *out) {
    ig_ts_arguments none = { 0 };
    ig_ts_value *value = attribute ? ig_ts_object_get(object, attribute) : NULL;
    *out = ig_ts_none();
    if (value && value->kind != IG_TS_NONE) {
        *out = *value;
        return IG_OK;
    }
    if (!method || !ig_python_has_method(object, method)) {
        return IG_OK;
    }
    return ig_python_call_method(entry->eval, object, method, &none, out);
}

static ig_status add_object(ig_ts_entry *entry, const char *name,
                            ig_ts_object *object) {
    assert(object->class_name && "an object has a class");
    static const struct {
        const char *class;
        ig_node_kind kind;
        const char *needs[4][2]; /* method, attribute: the field after a _ */
    } kinds[] = {
        { "KeyedJaggedTensor",
          IG_NODE_KJT,
          { { "keys", "_keys" },
            { "values", "_values" },
            { "lengths", "_lengths" },
            { NULL, "_weights" } } },
        { "KeyedTensor",
          IG_NODE_KT,
          { { "keys", "_keys" },
            { "length_per_key", "_length_per_key" },
            { "values", "_values" } } },
        { "JaggedTensor",
          IG_NODE_JT,
          { { "values", "_values" },
            { "lengths", "_lengths" },
            { NULL, "_weights" } } },
    };
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        if (!is_class(object, kinds[i].class)) {
            continue;
        }
        uint32_t at = add_node(entry, kinds[i].kind, name), count = 0;
        for (; count < 4 && kinds[i].needs[count][1]; count++) {
            ig_ts_value value;
            IG_TRY(ask_for_result(entry, object, kinds[i].needs[count][0],
                                  kinds[i].needs[count][1], &value));
            IG_TRY(add_value(entry, kinds[i].needs[count][1] + 1, &value));
        }
        entry->nodes.items[at].count = count;
        return IG_OK;
    }
    return ig_ts_entry_fail(entry, IG_UNSUPPORTED,
                            "returns an object of class %s, which has no form outside",
                            object->class_name);
}

static ig_status add_value(ig_ts_entry *entry, const char *name,
                           const ig_ts_value *value) {
    uint32_t at;
    IG_TRY(ig_ts_use(entry->eval, value));
    switch ((int)value->kind) {
    case IG_TS_NONE:
        add_node(entry, IG_NODE_NONE, name);
        return IG_OK;
    case IG_TS_BOOL:
    case IG_TS_INT:
    case IG_TS_FLOAT:
    case IG_TS_COMPLEX:
        return add_number(entry, name, value);
    case IG_TS_STR:
    case IG_TS_DEVICE:
        at = add_node(entry, IG_NODE_STR, name);
        entry->nodes.items[at].text = value->as.str;
        return IG_OK;
    case IG_TS_TENSOR:
        return add_tensor(entry, name, value->as.tensor);
    case IG_TS_LIST:
    case IG_TS_TUPLE:
        return add_list(entry, name, value);
    case IG_TS_DICT:
        return add_dict(entry, name, value);
    case IG_TS_OBJECT:
        return add_object(entry, name, value->as.object);
    case IG_TS_FUNCTION:
        if (value->as.function->is_done) {
            return add_value(entry, name, &value->as.function->value);
        }
        break;
    default:
        break;
    }
    return ig_ts_entry_fail(entry, IG_UNSUPPORTED,
                            "returns %s, which has no form outside",
                            ig_ts_kind_name(value));
}

ig_status ig_ts_entry_result(ig_ts_entry *entry, ig_ts_value value) {
    assert(entry->results.count == 0 && "the result comes before changed inputs");
    uint32_t first = (uint32_t)entry->nodes.count;
    IG_TRY(add_value(entry, NULL, &value));
    const ig_node *tree = &entry->nodes.items[first];
    ig_arena *arena = &entry->eval->module->arena;
    for (uint32_t i = 0; i < entry->results.count; i++) {
        const char *path = ig_node_path(tree, ig_node_size(tree), i,
                                        entry->eval->arena);
        path = path && path[0] ? path : "result";
        IG_PUSH(arena, &entry->result_names,
                ig_module_string(entry->eval->module, ig_str_of(path)));
    }
    return IG_OK;
}
