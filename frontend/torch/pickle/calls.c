/* The meaning of names, and the values of calls.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A name is looked up in calls.def.  One that is not there may be in a pickle
 * when it is a class of TorchScript's (`__torch__.…`, in that dialect) or when the
 * reader's caller allows it; calling it then makes a CALL value, nothing else.
 */
#include "frontend/torch/pickle/vm.h"

#include <assert.h>
#include <string.h>

typedef struct name_row {
    const char *modules, *names;
    ig_pickle_maker *make;
    const char *type;
} name_row;

/* ---- arguments ---- */

static ig_status fail_args(ig_pickle_vm *vm, const ig_py *function) {
    assert(function->kind == IG_PY_GLOBAL && "ig_pickle_call takes only names");
    return ig_pickle_fail(vm, IG_INVALID, "%.*s.%.*s cannot be called like this",
                          IG_STR_ARG(function->as.global.module),
                          IG_STR_ARG(function->as.global.name));
}

static bool is_items(const ig_py *value) {
    return value && (value->kind == IG_PY_LIST || value->kind == IG_PY_TUPLE ||
                     value->kind == IG_PY_SET);
}

/* ---- makers ---- */

static ig_status ig_pickle_make_keep(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                     ig_py **out_value) {
    IG_TRY(ig_pickle_new(vm, IG_PY_CALL, out_value));
    (*out_value)->as.call.function = function;
    (*out_value)->as.call.args = args;
    return IG_OK;
}

/* A container of `kind` with the items of the first argument, if there is one. */
static ig_status make_items(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                            ig_py_kind kind, ig_py **out_value) {
    const ig_py *from = ig_pickle_arg(args, 0);
    if (args->as.list.count > 1 || (from && !is_items(from))) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_new(vm, kind, out_value));
    for (size_t i = 0; from && i < from->as.list.count; i++) {
        ig_pickle_append(vm, *out_value, from->as.list.items[i]);
    }
    return IG_OK;
}

static ig_status ig_pickle_make_list(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                     ig_py **out_value) {
    return make_items(vm, function, args, IG_PY_LIST, out_value);
}

static ig_status ig_pickle_make_tuple(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                      ig_py **out_value) {
    return make_items(vm, function, args, IG_PY_TUPLE, out_value);
}

static ig_status ig_pickle_make_set(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                    ig_py **out_value) {
    return make_items(vm, function, args, IG_PY_SET, out_value);
}

/* dict(), dict({…}), dict([[k, v], …]): `from` is NULL, a DICT or a list of pairs. */
static ig_status fill_dict(ig_pickle_vm *vm, ig_py *function, const ig_py *from,
                           ig_py *dict) {
    if (!from) {
        return IG_OK;
    }
    if (from->kind == IG_PY_DICT) {
        for (size_t i = 0; i < from->as.dict.count; i++) {
            ig_pickle_insert(vm, dict, from->as.dict.keys[i], from->as.dict.values[i]);
        }
        return IG_OK;
    }
    if (!is_items(from)) {
        return fail_args(vm, function);
    }
    for (size_t i = 0; i < from->as.list.count; i++) {
        const ig_py *pair = from->as.list.items[i];
        if (!is_items(pair) || pair->as.list.count != 2) {
            return fail_args(vm, function);
        }
        ig_pickle_insert(vm, dict, pair->as.list.items[0], pair->as.list.items[1]);
    }
    return IG_OK;
}

static ig_status ig_pickle_make_dict(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                     ig_py **out_value) {
    if (args->as.list.count > 1) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_DICT, out_value));
    return fill_dict(vm, function, ig_pickle_arg(args, 0), *out_value);
}

/* defaultdict(factory[, items]): the factory is not kept. */
static ig_status ig_pickle_make_default_dict(ig_pickle_vm *vm, ig_py *function,
                                             ig_py *args, ig_py **out_value) {
    if (args->as.list.count > 2) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_DICT, out_value));
    return fill_dict(vm, function, ig_pickle_arg(args, 1), *out_value);
}

static bool read_real(const ig_py *value, double *out) {
    if (!value || (value->kind != IG_PY_FLOAT && value->kind != IG_PY_INT)) {
        return false;
    }
    *out = value->kind == IG_PY_FLOAT ? value->as.f : (double)value->as.i;
    return true;
}

static ig_status ig_pickle_make_complex(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                        ig_py **out_value) {
    double re, im;
    if (!read_real(ig_pickle_arg(args, 0), &re) ||
        !read_real(ig_pickle_arg(args, 1), &im)) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_COMPLEX, out_value));
    (*out_value)->as.complex.re = re;
    (*out_value)->as.complex.im = im;
    return IG_OK;
}

/* bytes(), bytes(b"…"). */
static ig_status ig_pickle_make_bytes(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                      ig_py **out_value) {
    const ig_py *from = ig_pickle_arg(args, 0);
    if (from && from->kind != IG_PY_BYTES && from->kind != IG_PY_STR) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_BYTES, out_value));
    (*out_value)->as.text = from ? from->as.text : IG_STR("");
    return IG_OK;
}

/* _codecs.encode(text, "latin1"): how protocols before 3 write bytes.  Latin-1 in UTF-8
 * is at most two bytes a character. */
static ig_status ig_pickle_make_encoded(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                        ig_py **out_value) {
    const ig_py *from = ig_pickle_arg(args, 0);
    if (!from || from->kind != IG_PY_STR ||
        !ig_py_is_str(ig_pickle_arg(args, 1), "latin1")) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_BYTES, out_value));
    ig_str text = from->as.text;
    char *bytes = ig_arena_alloc(vm->arena, text.size + 1);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= 0xc4) {
            return fail_args(vm, function);
        }
        if (c >= 0x80) {
            c = (unsigned char)(c << 6 | (text.data[++i] & 0x3f));
        }
        bytes[size++] = (char)c;
    }
    (*out_value)->as.text = (ig_str){ bytes, size };
    return IG_OK;
}

/* copyreg._reconstructor(class, object, None): an instance, by protocols 0 and 1. */
static ig_status ig_pickle_make_reconstructed(ig_pickle_vm *vm, ig_py *function,
                                              ig_py *args, ig_py **out_value) {
    ig_py *class = ig_pickle_arg(args, 0);
    if (!class || class->kind != IG_PY_GLOBAL || args->as.list.count != 3) {
        return fail_args(vm, function);
    }
    ig_py *none;
    IG_TRY(ig_pickle_new(vm, IG_PY_TUPLE, &none));
    IG_TRY(ig_pickle_new(vm, IG_PY_OBJECT, out_value));
    (*out_value)->as.object.class = class;
    (*out_value)->as.object.args = none;
    return IG_OK;
}

/* device("cpu"), device("cuda", 1). */
static ig_status ig_pickle_make_device(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                       ig_py **out_value) {
    const ig_py *kind = ig_pickle_arg(args, 0), *number = ig_pickle_arg(args, 1);
    bool has_number = number && number->kind == IG_PY_INT;
    if (!kind || kind->kind != IG_PY_STR || args->as.list.count > 2 ||
        (number && !has_number)) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_DEVICE, out_value));
    ig_str *text = &(*out_value)->as.text;
    *text = kind->as.text;
    if (has_number) {
        *text = ig_str_of(ig_arena_printf(vm->arena, "%.*s:%lld", IG_STR_ARG(*text),
                                          (long long)number->as.i));
    }
    return IG_OK;
}

/* _get_layout("torch.sparse_coo"): the global of that name. */
static ig_status ig_pickle_make_layout(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                       ig_py **out_value) {
    const ig_py *text = ig_pickle_arg(args, 0);
    if (!text || text->kind != IG_PY_STR || !ig_str_starts(text->as.text, "torch.")) {
        return fail_args(vm, function);
    }
    ig_str name = { text->as.text.data + 6, text->as.text.size - 6 };
    return ig_pickle_name(vm, IG_STR("torch"), name, out_value);
}

/* ---- TorchScript's typed containers ---- */

/* The list itself, which gets its type. */
static ig_status ig_pickle_make_same_list(ig_pickle_vm *vm, ig_py *function,
                                          ig_py *args, ig_py **out_value) {
    ig_py *list = ig_pickle_arg(args, 0);
    if (!list || list->kind != IG_PY_LIST || args->as.list.count != 1) {
        return fail_args(vm, function);
    }
    *out_value = list;
    return IG_OK;
}

static ig_status ig_pickle_make_tagged(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                       ig_py **out_value) {
    ig_py *value = ig_pickle_arg(args, 0);
    const ig_py *type = ig_pickle_arg(args, 1);
    if (!value || !type || type->kind != IG_PY_STR || args->as.list.count != 2) {
        return fail_args(vm, function);
    }
    if (value->kind == IG_PY_LIST || value->kind == IG_PY_DICT) {
        value->type = ig_arena_copy(vm->arena, type->as.text.data, type->as.text.size);
    }
    *out_value = value;
    return IG_OK;
}

/* ---- the table ---- */

static const name_row rows[] = {
#define NAME(modules, names, make, type) \
    { modules, names, ig_pickle_make_##make, type },
#include "frontend/torch/pickle/calls.def"
#undef NAME
};

bool ig_py_name_is_one_of(ig_str name, const char *alternatives) {
    for (const char *at = alternatives;;) {
        size_t size = strcspn(at, "|");
        if (name.size == size && memcmp(name.data, at, size) == 0) {
            return true;
        }
        if (!at[size]) {
            return false;
        }
        at += size + 1;
    }
}

static const name_row *find_row(ig_str module, ig_str name) {
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (ig_py_name_is_one_of(module, rows[i].modules) &&
            ig_py_name_is_one_of(name, rows[i].names)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* "__torch__", "__torch__.a.b": what libtorch itself makes objects of. */
static bool is_script_module(ig_str module) {
    return ig_str_is(module, "__torch__") || ig_str_starts(module, "__torch__.");
}

static bool is_storage_class(ig_str module, ig_str name) {
    return (ig_str_is(module, "torch") || ig_str_is(module, "torch.storage")) &&
           ig_torch_dtype_of_storage(name) != NULL;
}

static bool is_name_good(const ig_pickle_vm *vm, ig_str module, ig_str name) {
    const ig_pickle_options *options = vm->options;
    return (options->is_torchscript && is_script_module(module)) ||
           is_storage_class(module, name) || find_row(module, name) ||
           (options->is_allowed && options->is_allowed(options->user, module, name));
}

/* Python writes identifiers with dots, and <locals> and <lambda>. */
static bool is_identifier(ig_str text) {
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c <= 0x20 || c == 0x7f) {
            return false;
        }
    }
    return text.size > 0 && ig_utf8_is_valid(text);
}

static ig_status refuse_name(ig_pickle_vm *vm, ig_str module, ig_str name) {
    const ig_pickle_options *options = vm->options;
    int module_size = (int)(module.size < 200 ? module.size : 200);
    int name_size = (int)(name.size < 200 ? name.size : 200);
    const char *limit = options->limit_of
                            ? options->limit_of(options->user, module, name)
                            : NULL;
    const char *why = limit              ? limit
                      : options->why_not ? options->why_not
                                         : "which is not allowed in it";
    return ig_pickle_fail(vm, limit ? IG_UNSUPPORTED : IG_INVALID,
                          "it names '%.*s.%.*s', %s (nothing was executed)",
                          module_size, module.data, name_size, name.data, why);
}

ig_status ig_pickle_name(ig_pickle_vm *vm, ig_str module, ig_str name,
                         ig_py **out_value) {
    if (!is_identifier(module) || !is_identifier(name)) {
        return ig_pickle_fail(vm, IG_INVALID, "its argument is not a name");
    }
    const ig_torch_dtype_info *dtype = ig_str_is(module, "torch")
                                           ? ig_torch_dtype_of_name(name)
                                           : NULL;
    if (dtype) {
        IG_TRY(ig_pickle_new(vm, IG_PY_DTYPE, out_value));
        (*out_value)->as.dtype = dtype;
        return IG_OK;
    }
    if (!is_name_good(vm, module, name)) {
        return refuse_name(vm, module, name);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_GLOBAL, out_value));
    (*out_value)->as.global.module = module;
    (*out_value)->as.global.name = name;
    return IG_OK;
}

ig_status ig_pickle_call(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                         ig_py **out_value) {
    if (function->kind != IG_PY_GLOBAL) {
        return ig_pickle_fail(vm, IG_INVALID, "it calls a value that is %s",
                              ig_py_kind_name(function->kind));
    }
    ig_str module = function->as.global.module, name = function->as.global.name;
    if (vm->options->is_torchscript && is_script_module(module)) {
        /* libtorch writes the member of an enum as class and value, without a tuple. */
        IG_TRY(ig_pickle_new(vm, IG_PY_ENUM, out_value));
        (*out_value)->as.enumeration.class = function;
        (*out_value)->as.enumeration.value = args;
        return IG_OK;
    }
    if (args->kind != IG_PY_TUPLE) {
        return ig_pickle_fail(vm, IG_INVALID, "its arguments are %s, not a tuple",
                              ig_py_kind_name(args->kind));
    }
    const name_row *row = find_row(module, name);
    if (!row) {
        return ig_pickle_make_keep(vm, function, args, out_value);
    }
    IG_TRY(row->make(vm, function, args, out_value));
    (*out_value)->type = row->type ? row->type : (*out_value)->type;
    return IG_OK;
}
