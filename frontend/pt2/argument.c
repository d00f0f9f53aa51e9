/* Arguments of the schema as values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Schema: torch/_export/serde/schema.py, major versions up to 8.
 */
#include "frontend/pt2/graph.h"

#include "frontend/pt2/codes.h"

#include <string.h>

const char *ig_pt2_union(const ig_json *value, const ig_json **out_member) {
    bool is_union = value && value->kind == IG_JSON_OBJECT && value->as.list.count == 1;
    *out_member = is_union ? ig_json_at(value, 0) : NULL;
    return is_union ? value->as.list.keys[0].data : "";
}

const char *ig_pt2_argument_name(const ig_json *argument) {
    const ig_json *member;
    const char *kind = ig_pt2_union(argument, &member);
    const char *key = ig_str_starts(ig_str_of(kind), "as_sym_") ? "as_name" : "name";
    const char *name = ig_json_text(ig_json_get(member, key));
    return *name ? name : NULL;
}

/* ---- one value ---- */

typedef ig_status (*read_hook)(const ig_pt2_scope *scope, const ig_json *value,
                               ig_ts_value *out);

static ig_status read_none(const ig_pt2_scope *scope, const ig_json *value,
                           ig_ts_value *out) {
    (void)scope, (void)value;
    *out = ig_ts_none();
    return IG_OK;
}

static ig_status read_named(const ig_pt2_scope *scope, const ig_json *value,
                            ig_ts_value *out) {
    bool is_bare = value->kind == IG_JSON_STRING; /* in schema 1 */
    const char *name = ig_json_text(is_bare ? value : ig_json_get(value, "name"));
    return ig_pt2_get(scope, name, out);
}

static ig_status read_int(const ig_pt2_scope *scope, const ig_json *value,
                          ig_ts_value *out) {
    int64_t number;
    if (!ig_json_int(value, &number)) {
        return ig_pt2_error(scope, IG_INVALID,
                            "one of its integer arguments is not an integer");
    }
    *out = ig_ts_of_int(number);
    return IG_OK;
}

static ig_status read_real(const ig_pt2_scope *scope, const ig_json *value,
                           ig_ts_value *out) {
    double number;
    if (!ig_json_real(value, &number)) {
        return ig_pt2_error(scope, IG_INVALID,
                            "one of its numeric arguments is not a number");
    }
    *out = ig_ts_of_float(number);
    return IG_OK;
}

static ig_status read_bool(const ig_pt2_scope *scope, const ig_json *value,
                           ig_ts_value *out) {
    (void)scope;
    *out = ig_ts_of_bool(ig_json_is_true(value));
    return IG_OK;
}

static ig_status read_string(const ig_pt2_scope *scope, const ig_json *value,
                             ig_ts_value *out) {
    (void)scope;
    *out = ig_ts_of_str(ig_str_of(ig_json_text(value)));
    return IG_OK;
}

static ig_status read_complex(const ig_pt2_scope *scope, const ig_json *value,
                              ig_ts_value *out) {
    ig_ts_value real, imag;
    IG_TRY(read_real(scope, ig_json_get(value, "real"), &real));
    IG_TRY(read_real(scope, ig_json_get(value, "imag"), &imag));
    *out = ig_ts_of_complex(real.as.f, imag.as.f);
    return IG_OK;
}

static ig_status read_code(const ig_pt2_scope *scope, const ig_json *value,
                           const char *what, int64_t (*code_of)(int64_t),
                           ig_ts_value *out) {
    int64_t code = -1;
    int64_t ours = ig_json_int(value, &code) ? code_of(code) : -1;
    *out = ig_ts_of_int(ours);
    return ours >= 0 ? IG_OK
                     : ig_pt2_error(scope, IG_UNSUPPORTED, "%s %lld is not known", what,
                                    (long long)code);
}

static ig_status read_dtype(const ig_pt2_scope *scope, const ig_json *value,
                            ig_ts_value *out) {
    return read_code(scope, value, "dtype", ig_pt2_dtype_code, out);
}

static ig_status read_layout(const ig_pt2_scope *scope, const ig_json *value,
                             ig_ts_value *out) {
    int64_t code;
    const char *name = ig_json_int(value, &code) ? ig_pt2_layout_name(code) : NULL;
    if (name) {
        return ig_pt2_error(
            scope, IG_UNSUPPORTED,
            "it makes a sparse tensor (torch.%s), which is not supported "
            "yet: make a dense one, to_dense() in the module",
            name);
    }
    return read_code(scope, value, "layout", ig_pt2_layout_code, out);
}

static ig_status read_format(const ig_pt2_scope *scope, const ig_json *value,
                             ig_ts_value *out) {
    return read_code(scope, value, "memory format", ig_pt2_memory_format_code, out);
}

/* All of a program runs where we put it. */
static ig_status read_device(const ig_pt2_scope *scope, const ig_json *value,
                             ig_ts_value *out) {
    (void)scope, (void)value;
    *out = (ig_ts_value){ .kind = IG_TS_DEVICE, .as.str = IG_STR("cpu") };
    return IG_OK;
}

/* as_name, as_int, as_float, as_bool: the members of as_sym_*. */
static ig_status read_symbolic(const ig_pt2_scope *scope, const ig_json *value,
                               ig_ts_value *out) {
    const ig_json *member;
    const char *kind = ig_pt2_union(value, &member);
    return strcmp(kind, "as_name") == 0 ? ig_pt2_get(scope, ig_json_text(member), out)
                                        : ig_pt2_argument(scope, value, out);
}

/* ---- kinds ---- */

typedef struct argument_row {
    const char *kind;
    read_hook read;
    ig_script_kind type; /* of one; ANY: it may be None */
    bool is_list;
} argument_row;

static const argument_row argument_rows[] = {
    { "as_none", read_none, IG_SCRIPT_NONE, false },
    { "as_tensor", read_named, IG_SCRIPT_TENSOR, false },
    { "as_tensors", read_named, IG_SCRIPT_TENSOR, true },
    { "as_optional_tensor", ig_pt2_argument, IG_SCRIPT_ANY, false },
    { "as_optional_tensors", ig_pt2_argument, IG_SCRIPT_ANY, true },
    { "as_int", read_int, IG_SCRIPT_INT, false },
    { "as_ints", read_int, IG_SCRIPT_INT, true },
    { "as_float", read_real, IG_SCRIPT_FLOAT, false },
    { "as_floats", read_real, IG_SCRIPT_FLOAT, true },
    { "as_bool", read_bool, IG_SCRIPT_BOOL, false },
    { "as_bools", read_bool, IG_SCRIPT_BOOL, true },
    { "as_string", read_string, IG_SCRIPT_STR, false },
    { "as_strings", read_string, IG_SCRIPT_STR, true },
    { "as_complex", read_complex, IG_SCRIPT_COMPLEX, false },
    { "as_sym_int", read_symbolic, IG_SCRIPT_INT, false },
    { "as_sym_ints", read_symbolic, IG_SCRIPT_INT, true },
    { "as_sym_float", read_symbolic, IG_SCRIPT_FLOAT, false },
    { "as_sym_floats", read_symbolic, IG_SCRIPT_FLOAT, true },
    { "as_sym_bool", read_symbolic, IG_SCRIPT_BOOL, false },
    { "as_sym_bools", read_symbolic, IG_SCRIPT_BOOL, true },
    { "as_scalar_type", read_dtype, IG_SCRIPT_INT, false },
    { "as_memory_format", read_format, IG_SCRIPT_INT, false },
    { "as_layout", read_layout, IG_SCRIPT_INT, false },
    { "as_device", read_device, IG_SCRIPT_DEVICE, false },
};

static const argument_row *find_row(const char *kind) {
    for (size_t i = 0; i < IG_COUNT_OF(argument_rows); i++) {
        if (strcmp(kind, argument_rows[i].kind) == 0) {
            return &argument_rows[i];
        }
    }
    return NULL;
}

ig_ts_list *ig_pt2_tensor_list(ig_ts_eval *eval, size_t capacity) {
    ig_script_types *types = &eval->code->types;
    ig_ts_list *list = ig_ts_list_create(eval, capacity);
    list->type = ig_script_type_list(types, types->simple[IG_SCRIPT_TENSOR]);
    return list;
}

static ig_status read_list(const ig_pt2_scope *scope, const argument_row *row,
                           const ig_json *value, ig_ts_value *out) {
    ig_script_types *types = &scope->eval->code->types;
    size_t count = ig_json_count(value);
    ig_ts_list *list = ig_ts_list_create(scope->eval, count);
    if (count == 0) { /* no item tells the type */
        list->type = ig_script_type_list(
            types,
            row->type != IG_SCRIPT_ANY
                ? types->simple[row->type]
                : ig_script_type_optional(types, types->simple[IG_SCRIPT_TENSOR]));
    }
    for (size_t i = 0; i < count; i++) {
        ig_ts_value item;
        IG_TRY(row->read(scope, ig_json_at(value, i), &item));
        ig_ts_list_add(scope->eval, list, item);
    }
    *out = ig_ts_of_list(list);
    return IG_OK;
}

ig_status ig_pt2_argument(const ig_pt2_scope *scope, const ig_json *argument,
                          ig_ts_value *out_value) {
    const ig_json *value;
    const char *kind = ig_pt2_union(argument, &value);
    const argument_row *row = find_row(kind);
    if (row) {
        return row->is_list ? read_list(scope, row, value, out_value)
                            : row->read(scope, value, out_value);
    }
    return ig_pt2_error(scope, *kind ? IG_UNSUPPORTED : IG_INVALID,
                        *kind ? "an argument of kind '%.60s' is not supported yet"
                              : "one of its arguments has no kind%.60s",
                        kind);
}

const ig_script_type *ig_pt2_argument_type(ig_script_types *types,
                                           const ig_json *argument) {
    const ig_json *value;
    const argument_row *row = find_row(ig_pt2_union(argument, &value));
    if (!row || row->type == IG_SCRIPT_ANY) {
        return NULL;
    }
    const ig_script_type *type = types->simple[row->type];
    return row->is_list ? ig_script_type_list(types, type) : type;
}
