/* Lists, tuples, dicts, strings and modules that hold others: items and methods.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/stacked.h"
#include "frontend/torch/python/inside.h"

#include <assert.h>
#include <string.h>

/* ---- modules that hold others ---- */

static const char *container_name(const char *name) {
    static const char *const names[] = { "Sequential", "ModuleList", "ModuleDict",
                                         "ParameterList", "ParameterDict" };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (strcmp(dot ? dot + 1 : name, names[i]) == 0) {
            return names[i];
        }
    }
    return NULL;
}

bool ig_python_is_container(const ig_ts_object *object, const char **out_class) {
    const ig_class *class = object->class;
    bool is_plain = class && class->plain;
    const char *name = is_plain ? class->plain->external : object->class_name;
    *out_class = name ? container_name(name) : NULL;
    return *out_class != NULL;
}

static bool is_member(const ig_ts_value *value) {
    return value->kind == IG_TS_OBJECT || value->kind == IG_TS_TENSOR;
}

static ig_ts_list *members_of(ig_ts_eval *eval, const ig_ts_object *object,
                              ig_ts_list **out_names) {
    ig_ts_list *list = ig_ts_list_create(eval, object->count);
    *out_names = ig_ts_list_create(eval, object->count);
    for (size_t i = 0; i < object->count; i++) {
        if (is_member(&object->values[i])) {
            ig_ts_list_add(eval, list, object->values[i]);
            ig_ts_list_add(eval, *out_names, ig_ts_of_str(ig_str_of(object->names[i])));
        }
    }
    return list;
}

static bool is_keyed(const char *class) {
    return strcmp(class, "ModuleDict") == 0 || strcmp(class, "ParameterDict") == 0;
}

/* ---- items ---- */

static ig_status tensor_items(ig_ts_eval *eval, const ig_ts_value *tensor,
                              ig_ts_list **out) {
    ig_ts_value parts;
    IG_TRY(ig_python_op(eval, "aten::unbind", tensor, 1, &parts));
    if (parts.as.list->stack || parts.as.list->poison) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "loops over an extent of a tensor that is open: give a "
                           "number for it with --input, or loop over range(x.size(0))");
    }
    *out = parts.as.list;
    return IG_OK;
}

static ig_status text_items(ig_ts_eval *eval, ig_str text, ig_ts_list **out) {
    *out = ig_ts_list_create(eval, text.size);
    for (size_t i = 0; i < text.size;) {
        size_t size = 1;
        while (i + size < text.size &&
               ((unsigned char)text.data[i + size] & 0xc0) == 0x80) {
            size++;
        }
        ig_ts_list_add(eval, *out, ig_ts_of_str((ig_str){ text.data + i, size }));
        i += size;
    }
    return IG_OK;
}

static ig_ts_list *copy_items(ig_ts_eval *eval, const ig_ts_value *items,
                              size_t count) {
    ig_ts_list *list = ig_ts_list_create(eval, count);
    for (size_t i = 0; i < count; i++) {
        ig_ts_list_add(eval, list, items[i]);
    }
    return list;
}

static ig_status object_items(ig_ts_eval *eval, const ig_ts_value *value,
                              ig_ts_list **out) {
    const char *class;
    ig_ts_list *names;
    if (!ig_python_is_container(value->as.object, &class)) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "loops over an object of class %s",
                           value->as.object->class_name);
    }
    *out = members_of(eval, value->as.object, &names);
    *out = is_keyed(class) ? names : *out;
    return IG_OK;
}

/* The members of an enum, in order. */
static ig_status class_items(ig_ts_eval *eval, const ig_python_class *class,
                             ig_ts_list **out) {
    const ig_ast_list *body = class->space.body;
    ig_ts_value whole = ig_python_value(&class->thing);
    *out = ig_ts_list_create(eval, body->count);
    for (size_t i = 0; i < body->count; i++) {
        const ig_ast *node = body->items[i];
        bool is_member_of = node->kind == IG_AST_ASSIGN &&
                            node->as.assign.targets.items[0]->kind == IG_AST_NAME;
        ig_ts_value value;
        if (is_member_of) {
            const char *name = node->as.assign.targets.items[0]->as.name;
            IG_TRY(ig_python_attribute(eval, &whole, name, &value));
            ig_ts_list_add(eval, *out, value);
        }
    }
    return IG_OK;
}

ig_status ig_python_items(ig_ts_eval *eval, const ig_ts_value *value,
                          ig_ts_list **out) {
    const ig_python_thing *thing = ig_python_thing_of(value);
    IG_TRY(ig_ts_use(eval, value));
    switch ((int)value->kind) {
    case IG_TS_LIST:
    case IG_TS_TUPLE:
        if (value->as.list->poison) {
            return ig_ts_refuse_poison(eval, "loops over a list that",
                                       value->as.list->poison);
        }
        *out = copy_items(eval, value->as.list->items, value->as.list->count);
        return IG_OK;
    case IG_TS_DICT:
        IG_TRY(ig_ts_open(eval, value));
        *out = copy_items(eval, value->as.dict->keys, value->as.dict->count);
        return IG_OK;
    case IG_TS_STR:
        return text_items(eval, value->as.str, out);
    case IG_TS_TENSOR:
        return tensor_items(eval, value, out);
    case IG_TS_OBJECT:
        return object_items(eval, value, out);
    default:
        if (thing && thing->kind == IG_PYTHON_CLASS &&
            thing->class->kind == IG_PYTHON_ENUM) {
            return class_items(eval, thing->class, out);
        }
        return ig_ts_error(eval, IG_UNSUPPORTED, "loops over %s",
                           ig_ts_kind_name(value));
    }
}

/* ---- sets, which are lists here ---- */

ig_status ig_python_unite(ig_ts_eval *eval, ig_ts_list *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool is_there = false, is_known = true;
        for (size_t k = 0; k < kept && !is_there; k++) {
            IG_TRY(ig_ts_step(eval));
            is_there = ig_ts_equal(&list->items[k], &list->items[i], &is_known);
            if (!is_known) {
                return ig_ts_error(eval, IG_UNSUPPORTED,
                                   "a set holds what only the run knows");
            }
        }
        if (!is_there) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
    list->is_set = true;
    return IG_OK;
}

/* ---- methods ---- */

/* A call of a method, as its rows see it. */
typedef struct method_call {
    ig_ts_eval *eval;
    const ig_ts_value *self;
    const ig_ts_arguments *arguments;
    ig_ts_value *out;
} method_call;

typedef struct method_row {
    const char *name;
    uint32_t least, most; /* arguments */
    ig_status (*run)(const method_call *c);
} method_row;

static const ig_ts_value *find_argument(const method_call *c, uint32_t index) {
    return index < c->arguments->positional + c->arguments->keywords
               ? &c->arguments->values[index]
               : NULL;
}

static ig_status known_place(const method_call *c, uint32_t index, int64_t absent,
                             int64_t *out) {
    const ig_ts_value *value = find_argument(c, index);
    *out = absent;
    if (value && (value->kind != IG_TS_INT || value->form != IG_TS_KNOWN)) {
        return ig_ts_error(c->eval, IG_UNSUPPORTED,
                           "indexes a sequence by what only the run knows");
    }
    *out = value ? value->as.i : absent;
    return IG_OK;
}

/* ---- of lists ---- */

static ig_status list_append(const method_call *c) {
    ig_ts_list *list = c->self->as.list;
    ig_ts_list_insert(c->eval, list, list->count, *find_argument(c, 0));
    return IG_OK;
}

static ig_status list_extend(const method_call *c) {
    ig_ts_list *list = c->self->as.list, *items;
    IG_TRY(ig_python_items(c->eval, find_argument(c, 0), &items));
    for (size_t i = 0; i < items->count; i++) {
        ig_ts_list_insert(c->eval, list, list->count, items->items[i]);
    }
    return IG_OK;
}

static ig_status list_insert(const method_call *c) {
    ig_ts_list *list = c->self->as.list;
    int64_t at, count = (int64_t)list->count;
    IG_TRY(known_place(c, 0, 0, &at));
    at = at < 0 ? at + count : at;
    at = at < 0 ? 0 : at > count ? count : at;
    ig_ts_list_insert(c->eval, list, (size_t)at, *find_argument(c, 1));
    return IG_OK;
}

static ig_status list_pop(const method_call *c) {
    ig_ts_list *list = c->self->as.list;
    int64_t at;
    IG_TRY(known_place(c, 0, -1, &at));
    at = at < 0 ? at + (int64_t)list->count : at;
    if (at < 0 || (uint64_t)at >= list->count) {
        return ig_ts_raise(c->eval, "IndexError: pop index out of range");
    }
    *c->out = list->items[at];
    ig_ts_list_remove(c->eval, list, (size_t)at);
    return IG_OK;
}

static ig_status list_reverse(const method_call *c) {
    ig_ts_list *list = c->self->as.list;
    for (size_t i = 0; i < list->count / 2; i++) {
        ig_ts_value first = list->items[i], last = list->items[list->count - 1 - i];
        ig_ts_list_set(c->eval, list, i, last);
        ig_ts_list_set(c->eval, list, list->count - 1 - i, first);
    }
    return IG_OK;
}

static ig_status list_clear(const method_call *c) {
    while (c->self->as.list->count) {
        ig_ts_list_remove(c->eval, c->self->as.list, c->self->as.list->count - 1);
    }
    return IG_OK;
}

static ig_status list_copy(const method_call *c) {
    *c->out = ig_ts_of_list(
        copy_items(c->eval, c->self->as.list->items, c->self->as.list->count));
    return IG_OK;
}

/* The place of an item, or the count; and how many there are. */
static ig_status find_item(const method_call *c, size_t *out_place, size_t *out_count) {
    const ig_ts_list *list = c->self->as.list;
    *out_place = list->count;
    *out_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        ig_ts_value equal;
        IG_TRY(ig_python_compare(c->eval, IG_AST_OP_EQ, &list->items[i],
                                 find_argument(c, 0), &equal));
        if (equal.kind != IG_TS_BOOL || equal.form != IG_TS_KNOWN) {
            return ig_ts_error(c->eval, IG_UNSUPPORTED,
                               "compares items that only the run knows");
        }
        *out_place = equal.as.b && *out_place == list->count ? i : *out_place;
        *out_count += equal.as.b;
    }
    return IG_OK;
}

static ig_status list_index(const method_call *c) {
    size_t place, count;
    IG_TRY(find_item(c, &place, &count));
    if (!count) {
        return ig_ts_raise(c->eval, "ValueError: is not in list");
    }
    *c->out = ig_ts_of_int((int64_t)place);
    return IG_OK;
}

static ig_status list_count(const method_call *c) {
    size_t place, count;
    IG_TRY(find_item(c, &place, &count));
    *c->out = ig_ts_of_int((int64_t)count);
    return IG_OK;
}

static ig_status list_remove(const method_call *c) {
    size_t place, count;
    IG_TRY(find_item(c, &place, &count));
    if (!count) {
        return ig_ts_raise(c->eval, "ValueError: list.remove(x): x not in list");
    }
    ig_ts_list_remove(c->eval, c->self->as.list, place);
    return IG_OK;
}

static const method_row list_rows[] = {
    { "append", 1, 1, list_append },
    { "extend", 1, 1, list_extend },
    { "insert", 2, 2, list_insert },
    { "pop", 0, 1, list_pop },
    { "reverse", 0, 0, list_reverse },
    { "clear", 0, 0, list_clear },
    { "copy", 0, 0, list_copy },
    { "index", 1, 1, list_index },
    { "count", 1, 1, list_count },
    { "remove", 1, 1, list_remove },
    { NULL, 0, 0, NULL },
};

/* ---- of sets ---- */

static ig_status set_add(const method_call *c) {
    size_t place, count;
    IG_TRY(find_item(c, &place, &count));
    return count ? IG_OK : list_append(c);
}

static ig_status set_discard(const method_call *c) {
    size_t place, count;
    IG_TRY(find_item(c, &place, &count));
    if (count) {
        ig_ts_list_remove(c->eval, c->self->as.list, place);
    }
    return IG_OK;
}

static ig_status set_remove(const method_call *c) {
    size_t place, count;
    IG_TRY(find_item(c, &place, &count));
    return count ? set_discard(c)
                 : ig_ts_raise(c->eval, "KeyError: a set has no such item");
}

static ig_status set_update(const method_call *c) {
    ig_ts_list *items;
    IG_TRY(ig_python_items(c->eval, find_argument(c, 0), &items));
    for (size_t i = 0; i < items->count; i++) {
        ig_ts_arguments one = { .values = &items->items[i], .positional = 1 };
        method_call call = { c->eval, c->self, &one, c->out };
        IG_TRY(set_add(&call));
    }
    return IG_OK;
}

static ig_status set_copy(const method_call *c) {
    IG_TRY(list_copy(c));
    c->out->as.list->is_set = true;
    return IG_OK;
}

static const method_row set_rows[] = {
    { "add", 1, 1, set_add },       { "discard", 1, 1, set_discard },
    { "remove", 1, 1, set_remove }, { "update", 1, 1, set_update },
    { "clear", 0, 0, list_clear },  { "copy", 0, 0, set_copy },
    { NULL, 0, 0, NULL },
};

static ig_status tuple_as_dict(const method_call *c) {
    const ig_ts_list *tuple = c->self->as.list;
    if (!tuple->class) {
        return ig_ts_error(c->eval, IG_INVALID, "a tuple has no method '_asdict'");
    }
    ig_ts_dict *dict = ig_ts_dict_create(c->eval);
    for (size_t i = 0; i < tuple->count; i++) {
        ig_str name = ig_str_of(tuple->class->attributes.items[i].name);
        ig_ts_dict_set(c->eval, dict, ig_ts_of_str(name), tuple->items[i]);
    }
    *c->out = ig_ts_of_dict(dict);
    return IG_OK;
}

static ig_status tuple_replace(const method_call *c) {
    const ig_ts_list *tuple = c->self->as.list;
    ig_ts_list *made = copy_items(c->eval, tuple->items, tuple->count);
    made->class = tuple->class;
    for (size_t i = 0; tuple->class && i < tuple->count; i++) {
        const ig_ts_value *given = ig_python_argument(
            c->arguments, UINT32_MAX, tuple->class->attributes.items[i].name);
        made->items[i] = given ? *given : made->items[i];
    }
    *c->out = ig_ts_of_tuple(made);
    return IG_OK;
}

static ig_status tuple_numel(const method_call *c) {
    ig_ts_value product = ig_ts_of_int(1);
    for (size_t i = 0; i < c->self->as.list->count; i++) {
        IG_TRY(ig_python_binary(c->eval, IG_AST_OP_MUL, &product,
                                &c->self->as.list->items[i], &product));
    }
    *c->out = product;
    return IG_OK;
}

static const method_row tuple_rows[] = {
    { "index", 1, 1, list_index },
    { "count", 1, 1, list_count },
    { "_asdict", 0, 0, tuple_as_dict },
    { "_replace", 0, 64, tuple_replace },
    { "numel", 0, 0, tuple_numel }, /* of a torch.Size */
    { NULL, 0, 0, NULL },
};

/* ---- of dicts ---- */

static ig_status dict_keys(const method_call *c) {
    const ig_ts_dict *dict = c->self->as.dict;
    *c->out = ig_ts_of_list(copy_items(c->eval, dict->keys, dict->count));
    c->out->as.list->is_set = true;
    return IG_OK;
}

static ig_status dict_values(const method_call *c) {
    const ig_ts_dict *dict = c->self->as.dict;
    *c->out = ig_ts_of_list(copy_items(c->eval, dict->values, dict->count));
    return IG_OK;
}

static ig_ts_value pair_of(ig_ts_eval *eval, ig_ts_value a, ig_ts_value b) {
    ig_ts_list *pair = ig_ts_list_create(eval, 2);
    ig_ts_list_add(eval, pair, a);
    ig_ts_list_add(eval, pair, b);
    return ig_ts_of_tuple(pair);
}

static ig_status dict_items(const method_call *c) {
    const ig_ts_dict *dict = c->self->as.dict;
    ig_ts_list *list = ig_ts_list_create(c->eval, dict->count);
    for (size_t i = 0; i < dict->count; i++) {
        ig_ts_list_add(c->eval, list, pair_of(c->eval, dict->keys[i], dict->values[i]));
    }
    *c->out = ig_ts_of_list(list);
    return IG_OK;
}

static ig_status dict_get(const method_call *c) {
    const ig_ts_dict *dict = c->self->as.dict;
    const ig_ts_value *absent = find_argument(c, 1);
    IG_TRY(ig_python_known_key(c->eval, find_argument(c, 0)));
    size_t at = ig_ts_dict_find(dict, find_argument(c, 0));
    *c->out = at < dict->count ? dict->values[at] : absent ? *absent : ig_ts_none();
    return IG_OK;
}

static ig_status dict_pop(const method_call *c) {
    ig_ts_dict *dict = c->self->as.dict;
    IG_TRY(ig_python_known_key(c->eval, find_argument(c, 0)));
    size_t at = ig_ts_dict_find(dict, find_argument(c, 0));
    if (at == dict->count && !find_argument(c, 1)) {
        return ig_ts_raise(c->eval, "KeyError: a dict has no such key");
    }
    IG_TRY(dict_get(c));
    if (at < dict->count) {
        ig_ts_dict_remove(c->eval, dict, at);
    }
    return IG_OK;
}

static ig_status dict_setdefault(const method_call *c) {
    ig_ts_dict *dict = c->self->as.dict;
    IG_TRY(dict_get(c));
    if (ig_ts_dict_find(dict, find_argument(c, 0)) == dict->count) {
        ig_ts_dict_set(c->eval, dict, *find_argument(c, 0), *c->out);
    }
    return IG_OK;
}

static ig_status dict_update(const method_call *c) {
    for (uint32_t i = 0; i < c->arguments->positional; i++) {
        const ig_ts_value *from = &c->arguments->values[i];
        if (from->kind != IG_TS_DICT) {
            return ig_ts_error(c->eval, IG_UNSUPPORTED, "updates a dict by %s",
                               ig_ts_kind_name(from));
        }
        IG_TRY(ig_ts_open(c->eval, from));
        for (size_t k = 0; k < from->as.dict->count; k++) {
            ig_ts_dict_set(c->eval, c->self->as.dict, from->as.dict->keys[k],
                           from->as.dict->values[k]);
        }
    }
    for (uint32_t i = 0; i < c->arguments->keywords; i++) {
        ig_ts_dict_set(c->eval, c->self->as.dict,
                       ig_ts_of_str(ig_str_of(c->arguments->names[i])),
                       c->arguments->values[c->arguments->positional + i]);
    }
    return IG_OK;
}

static ig_status dict_clear(const method_call *c) {
    while (c->self->as.dict->count) {
        ig_ts_dict_remove(c->eval, c->self->as.dict, c->self->as.dict->count - 1);
    }
    return IG_OK;
}

static ig_status dict_popitem(const method_call *c) {
    ig_ts_dict *dict = c->self->as.dict;
    if (!dict->count) {
        return ig_ts_raise(c->eval, "KeyError: popitem(): dictionary is empty");
    }
    size_t at = dict->count - 1;
    *c->out = pair_of(c->eval, dict->keys[at], dict->values[at]);
    ig_ts_dict_remove(c->eval, dict, at);
    return IG_OK;
}

static ig_status dict_copy(const method_call *c) {
    const ig_ts_dict *dict = c->self->as.dict;
    ig_ts_dict *made = ig_ts_dict_create(c->eval);
    for (size_t i = 0; i < dict->count; i++) {
        ig_ts_dict_set(c->eval, made, dict->keys[i], dict->values[i]);
    }
    *c->out = ig_ts_of_dict(made);
    return IG_OK;
}

static const method_row dict_rows[] = {
    { "keys", 0, 0, dict_keys },
    { "values", 0, 0, dict_values },
    { "items", 0, 0, dict_items },
    { "get", 1, 2, dict_get },
    { "pop", 1, 2, dict_pop },
    { "setdefault", 1, 2, dict_setdefault },
    { "update", 0, 64, dict_update },
    { "copy", 0, 0, dict_copy },
    { "clear", 0, 0, dict_clear },
    { "popitem", 0, 0, dict_popitem },
    { NULL, 0, 0, NULL },
};

/* ---- of modules ---- */

static ig_status module_names(const method_call *c) {
    ig_ts_list *names;
    (void)members_of(c->eval, c->self->as.object, &names);
    *c->out = ig_ts_of_list(names);
    return IG_OK;
}

static ig_status module_members(const method_call *c) {
    ig_ts_list *names;
    *c->out = ig_ts_of_list(members_of(c->eval, c->self->as.object, &names));
    return IG_OK;
}

static ig_status module_items(const method_call *c) {
    ig_ts_list *names, *list = members_of(c->eval, c->self->as.object, &names);
    ig_ts_list *pairs = ig_ts_list_create(c->eval, list->count);
    for (size_t i = 0; i < list->count; i++) {
        ig_ts_list_add(c->eval, pairs,
                       pair_of(c->eval, names->items[i], list->items[i]));
    }
    *c->out = ig_ts_of_list(pairs);
    return IG_OK;
}

static void keep_modules(const method_call *c, bool is_paired) {
    ig_ts_list *list = c->out->as.list;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const ig_ts_value *item = &list->items[i];
        const ig_ts_value *module = is_paired ? &item->as.list->items[1] : item;
        if (module->kind == IG_TS_OBJECT) {
            list->items[kept++] = *item;
        }
    }
    list->count = kept;
}

static ig_status module_children(const method_call *c) {
    IG_TRY(module_members(c));
    keep_modules(c, false);
    return IG_OK;
}

static ig_status module_named_children(const method_call *c) {
    IG_TRY(module_items(c));
    keep_modules(c, true);
    return IG_OK;
}

static const method_row module_rows[] = {
    { "keys", 0, 0, module_names },
    { "values", 0, 0, module_members },
    { "items", 0, 0, module_items },
    { "children", 0, 0, module_children },
    { "named_children", 0, 0, module_named_children },
    { NULL, 0, 0, NULL },
};

/* ---- the whole ---- */

/* NULL: methods of that kind are operators. */
static const method_row *rows_of(const ig_ts_value *self) {
    switch ((int)self->kind) {
    case IG_TS_LIST:
        return self->as.list->is_set ? set_rows : list_rows;
    case IG_TS_TUPLE:
        return tuple_rows;
    case IG_TS_DICT:
        return dict_rows;
    case IG_TS_OBJECT:
        return module_rows;
    default:
        return NULL;
    }
}

static ig_status run_row(const method_call *c, const method_row *rows,
                         const char *name) {
    uint32_t count = c->arguments->positional + c->arguments->keywords;
    for (; rows->name && strcmp(rows->name, name) != 0; rows++) {
    }
    if (!rows->name) {
        return ig_ts_error(c->eval, IG_UNSUPPORTED, "method '%s' of %s is not known",
                           name, ig_ts_kind_name(c->self));
    }
    if (count < rows->least || count > rows->most) {
        return ig_ts_raise(c->eval, "TypeError: a method is called with a wrong number "
                                    "of arguments");
    }
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_ts_use(c->eval, &c->arguments->values[i]));
    }
    *c->out = ig_ts_none();
    return rows->run(c);
}

ig_status ig_python_method(ig_ts_eval *eval, const ig_ts_value *self, const char *name,
                           const ig_ts_arguments *arguments, ig_ts_value *out) {
    const method_row *rows = rows_of(self);
    method_call c = { eval, self, arguments, out };
    bool grows = self->kind == IG_TS_LIST && strcmp(name, "append") == 0 &&
                 self->as.list->poison == &ig_ts_grows;
    if (!grows) { /* a loop of the run stacks what it appends */
        IG_TRY(ig_ts_open(eval, self));
    }
    if (rows) {
        return run_row(&c, rows, name);
    }
    ig_ts_arguments with_self = ig_python_with_self(eval, *self, arguments);
    if (self->kind == IG_TS_STR) { /* "a,b".split(",") */
        return ig_python_op_with(eval, ig_arena_printf(eval->arena, "aten::%s", name),
                                 &with_self, out);
    }
    if (self->kind == IG_TS_TENSOR) {
        return ig_python_call_torch(
            eval, ig_arena_printf(eval->arena, "Tensor.%s", name), &with_self, out);
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "method '%s' of %s is not known", name,
                       ig_ts_kind_name(self));
}
