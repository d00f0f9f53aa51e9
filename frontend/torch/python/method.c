/* Methods of lists, sets, tuples, dicts, texts and modules that hold others.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A method's body is in container/, as the function of an operator; rows here
 * say which, and how Python calls it.  Methods that no operator has are functions of
 * this file.
 */
#include "frontend/torch/eval/stacked.h"
#include "frontend/torch/python/inside.h"

#include <string.h>

/* A call of a method. */
typedef struct method_call {
    ig_ts_eval *eval;
    const ig_ts_value *self;
    const ig_ts_arguments *arguments;
    ig_ts_value *out;
} method_call;

enum { GIVES_NONE = 1, GIVES_SET = 2, TAKES_ITEMS = 4 };

typedef struct method_row {
    const char *name;
    uint32_t min, max;  /* arguments */
    ig_ts_op_hook hook; /* or: */
    ig_status (*run)(const method_call *c);
    int flags;
} method_row;

/* ---- of lists ---- */

/* sort(key=…, reverse=…), as sorted() does it. */
static ig_status list_sort(const method_call *c) {
    ig_ts_arguments given = ig_python_with_self(c->eval, *c->self, c->arguments);
    ig_ts_value sorted;
    IG_TRY(ig_python_builtin("builtins.sorted")(c->eval, &given, &sorted));
    ig_ts_content content = ig_ts_content_of(IG_TS_HOLD_LIST, sorted.as.list);
    ig_ts_set_content(c->eval, IG_TS_HOLD_LIST, c->self->as.list, &content);
    return IG_OK;
}

/* ---- of tuples ---- */

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
    ig_ts_list *made = ig_ts_list_of(c->eval, tuple->items, tuple->count);
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

/* ---- of dicts ---- */

static ig_status dict_update(const method_call *c) {
    const ig_ts_arguments *a = c->arguments;
    for (uint32_t i = 0; i < a->positional; i++) {
        ig_ts_value pair[2] = { *c->self, a->values[i] };
        if (pair[1].kind != IG_TS_DICT) {
            return ig_ts_error(c->eval, IG_UNSUPPORTED, "updates a dict by %s",
                               ig_ts_kind_name(&pair[1]));
        }
        IG_TRY(ig_ts_container_run(c->eval, "update", ig_ts_op_dict_update, pair, 2,
                                   c->out));
    }
    for (uint32_t i = 0; i < a->keywords; i++) {
        ig_ts_dict_set(c->eval, c->self->as.dict, ig_ts_of_str(ig_str_of(a->names[i])),
                       a->values[a->positional + i]);
    }
    return IG_OK;
}

/* ---- of modules ---- */

static ig_status module_names(const method_call *c) {
    ig_ts_list *names;
    (void)ig_python_members(c->eval, c->self->as.object, &names);
    *c->out = ig_ts_of_list(names);
    return IG_OK;
}

static ig_status module_members(const method_call *c) {
    ig_ts_list *names;
    *c->out = ig_ts_of_list(ig_python_members(c->eval, c->self->as.object, &names));
    return IG_OK;
}

static ig_status module_items(const method_call *c) {
    ig_ts_list *names, *list = ig_python_members(c->eval, c->self->as.object, &names);
    ig_ts_list *pairs = ig_ts_list_create(c->eval, list->count);
    for (size_t i = 0; i < list->count; i++) {
        ig_ts_list_add(c->eval, pairs,
                       ig_ts_pair_of(c->eval, names->items[i], list->items[i]));
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

/* ---- the rows ---- */

static const method_row list_rows[] = {
    { "append", 1, 1, .hook = ig_ts_op_list_append, .flags = GIVES_NONE },
    { "extend", 1, 1, .hook = ig_ts_op_list_extend, .flags = TAKES_ITEMS },
    { "insert", 2, 2, .hook = ig_ts_op_list_insert },
    { "pop", 0, 1, .hook = ig_ts_op_list_pop },
    { "reverse", 0, 0, .hook = ig_ts_op_list_reverse },
    { "clear", 0, 0, .hook = ig_ts_op_list_clear },
    { "copy", 0, 0, .hook = ig_ts_op_list_copy },
    { "index", 1, 1, .hook = ig_ts_op_list_index },
    { "count", 1, 1, .hook = ig_ts_op_list_count },
    { "remove", 1, 1, .hook = ig_ts_op_list_remove },
    { "sort", 0, 2, .run = list_sort },
    { 0 },
};

static const method_row set_rows[] = {
    { "add", 1, 1, .hook = ig_ts_op_set_add },
    { "discard", 1, 1, .hook = ig_ts_op_set_discard },
    { "remove", 1, 1, .hook = ig_ts_op_set_remove },
    { "update", 1, 1, .hook = ig_ts_op_set_update, .flags = TAKES_ITEMS },
    { "clear", 0, 0, .hook = ig_ts_op_list_clear },
    { "copy", 0, 0, .hook = ig_ts_op_list_copy },
    { 0 },
};

static const method_row tuple_rows[] = {
    { "index", 1, 1, .hook = ig_ts_op_list_index },
    { "count", 1, 1, .hook = ig_ts_op_list_count },
    { "_asdict", 0, 0, .run = tuple_as_dict },
    { "_replace", 0, 64, .run = tuple_replace },
    { "numel", 0, 0, .run = tuple_numel }, /* of a torch.Size */
    { 0 },
};

static const method_row dict_rows[] = {
    { "keys", 0, 0, .hook = ig_ts_op_dict_keys, .flags = GIVES_SET },
    { "values", 0, 0, .hook = ig_ts_op_dict_values },
    { "items", 0, 0, .hook = ig_ts_op_dict_items },
    { "get", 1, 2, .hook = ig_ts_op_dict_get },
    { "pop", 1, 2, .hook = ig_ts_op_dict_pop },
    { "setdefault", 1, 2, .hook = ig_ts_op_dict_setdefault },
    { "update", 0, 64, .run = dict_update },
    { "copy", 0, 0, .hook = ig_ts_op_dict_copy },
    { "clear", 0, 0, .hook = ig_ts_op_dict_clear },
    { "popitem", 0, 0, .hook = ig_ts_op_dict_popitem },
    { 0 },
};

static const method_row module_rows[] = {
    { "keys", 0, 0, .run = module_names },
    { "values", 0, 0, .run = module_members },
    { "items", 0, 0, .run = module_items },
    { "children", 0, 0, .run = module_children },
    { "named_children", 0, 0, .run = module_named_children },
    { 0 },
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

static ig_status call_hook(const method_call *c, const method_row *row,
                           uint32_t count) {
    ig_ts_arguments given = ig_python_with_self(c->eval, *c->self, c->arguments);
    ig_ts_list *items;
    if (row->flags & TAKES_ITEMS) {
        IG_TRY(ig_python_items(c->eval, &given.values[count], &items));
        given.values[count] = ig_ts_of_list(items);
    }
    IG_TRY(ig_ts_container_run(c->eval, row->name, row->hook, given.values, count + 1,
                               c->out));
    if (row->flags & GIVES_NONE) {
        *c->out = ig_ts_none();
    } else if (row->flags & GIVES_SET) {
        c->out->as.list->is_set = true;
    }
    return IG_OK;
}

static ig_status call_row(const method_call *c, const method_row *rows,
                          const char *name) {
    uint32_t count = c->arguments->positional + c->arguments->keywords;
    for (; rows->name && strcmp(rows->name, name) != 0; rows++) {
    }
    if (!rows->name) {
        return ig_ts_error(c->eval, IG_UNSUPPORTED, "method '%s' of %s is not known",
                           name, ig_ts_kind_name(c->self));
    }
    if (count < rows->min || count > rows->max) {
        return ig_ts_raise(c->eval, "TypeError: a method is called with a wrong number "
                                    "of arguments");
    }
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_ts_use(c->eval, &c->arguments->values[i]));
    }
    *c->out = ig_ts_none();
    return rows->run ? rows->run(c) : call_hook(c, rows, count);
}

ig_status ig_python_method(ig_ts_eval *eval, const ig_ts_value *self, const char *name,
                           const ig_ts_arguments *arguments, ig_ts_value *out) {
    const method_row *rows = rows_of(self);
    method_call c = { eval, self, arguments, out };
    bool grows = self->kind == IG_TS_LIST && strcmp(name, "append") == 0 &&
                 self->as.list->poison == &ig_ts_grows;
    if (!grows) { /* a loop of the run stacks the items it appends */
        IG_TRY(ig_ts_open(eval, self));
    }
    if (rows) {
        return call_row(&c, rows, name);
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
