/* Calls of operators: which row, its arguments, in-place forms, results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/overload.h"
#include "frontend/torch/eval/table.h"

#include <assert.h>
#include <string.h>

/* ---- which row ---- */

/* The rows of `name` itself; and of the form without the underscore, which serve it in
 * place when none of its own does. */
typedef struct candidates {
    ig_ts_overloads *own, *plain;
} candidates;

static ig_status find_rows(ig_ts_eval *eval, const char *name, candidates *out) {
    size_t size = strlen(name);
    *out = (candidates){ 0 };
    IG_TRY(ig_ts_rows_find(eval, name, &out->own));
    if (size > 2 && name[size - 1] == '_' && name[size - 2] != '_') {
        const char *plain = ig_arena_copy(eval->arena, name, size - 1);
        IG_TRY(ig_ts_rows_find(eval, plain, &out->plain));
    }
    return out->own || out->plain
               ? IG_OK
               : ig_ts_error(eval, IG_UNSUPPORTED, "operator %s is not supported yet",
                             name);
}

static ig_call_shape shape_of(ig_ts_eval *eval, const ig_ts_arguments *arguments) {
    uint32_t count = arguments->positional + arguments->keywords;
    const ig_script_type **types = IG_NEW_ARRAY(eval->arena, const ig_script_type *,
                                                count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = ig_ts_type_of(eval, &arguments->values[i]);
    }
    return (ig_call_shape){ .positional = types,
                            .positional_count = arguments->positional,
                            .keywords = arguments->names,
                            .keyword_types = types + arguments->positional,
                            .keyword_count = arguments->keywords };
}

/* ---- arguments ---- */

static ig_ts_value of_literal(ig_ts_eval *eval, const ig_literal *literal) {
    ig_ts_list *list;
    switch ((int)literal->kind) {
    case IG_LITERAL_BOOL:
        return ig_ts_of_bool(literal->b);
    case IG_LITERAL_INT:
        return ig_ts_of_int(literal->i);
    case IG_LITERAL_FLOAT:
        return ig_ts_of_float(literal->f);
    case IG_LITERAL_STR:
        return ig_ts_of_str(literal->text);
    case IG_LITERAL_LIST:
        list = ig_ts_list_create(eval, literal->count);
        for (size_t i = 0; i < literal->count; i++) {
            ig_ts_list_add(eval, list, of_literal(eval, &literal->items[i]));
        }
        return ig_ts_of_list(list);
    default:
        return ig_ts_none();
    }
}

static ig_status item_of(ig_ts_eval *eval, ig_ts_kind kind, ig_ts_value *value) {
    ig_value *content;
    if (value->kind != IG_TS_TENSOR) {
        return IG_OK;
    }
    const ig_ts_tensor *tensor = value->as.tensor;
    bool is_float = ig_dtype_is_float((ig_dtype)tensor->type->dtype);
    if (kind == IG_TS_UNSET) {
        kind = tensor->dtype->ir == IG_DT_bool ? IG_TS_BOOL
               : is_float                      ? IG_TS_FLOAT
                                               : IG_TS_INT;
    }
    IG_TRY(ig_ts_tensor_read(eval, tensor, &content));
    return ig_ts_number_of(eval, kind, content, value);
}

static ig_status convert_argument(ig_ts_eval *eval, ig_conversion conversion,
                                  const ig_schema_argument *argument,
                                  ig_ts_value *value) {
    ig_ts_list *list;
    switch ((int)conversion) {
    case IG_CONVERT_REPEAT:
        list = ig_ts_list_create(eval, (size_t)argument->list_size);
        for (int64_t i = 0; i < argument->list_size; i++) {
            ig_ts_list_add(eval, list, *value);
        }
        *value = ig_ts_of_list(list);
        return IG_OK;
    case IG_CONVERT_TO_LIST:
        value->kind = IG_TS_LIST;
        return IG_OK;
    case IG_CONVERT_TENSOR_INT:
        return item_of(eval, IG_TS_INT, value);
    case IG_CONVERT_TENSOR_FLOAT:
        return item_of(eval, IG_TS_FLOAT, value);
    case IG_CONVERT_TENSOR_NUMBER:
        return item_of(eval, IG_TS_UNSET, value);
    case IG_CONVERT_NUMBER_INT:
        return ig_ts_convert(eval, IG_TS_INT, value, value);
    case IG_CONVERT_NUMBER_FLOAT:
        return ig_ts_convert(eval, IG_TS_FLOAT, value, value);
    case IG_CONVERT_NUMBER_COMPLEX:
        return ig_ts_convert(eval, IG_TS_COMPLEX, value, value);
    case IG_CONVERT_STR_DEVICE:
        value->kind = IG_TS_DEVICE;
        return IG_OK;
    default:
        return IG_OK;
    }
}

static ig_status bind_one(ig_ts_eval *eval, const ig_ts_arguments *given,
                          const ig_match *match, size_t index, ig_ts_value *out_value) {
    const ig_bound_argument *bound = &match->arguments[index];
    const ig_schema_argument *argument = &match->schema->arguments[index];
    if (bound->source == IG_FROM_DEFAULT) {
        *out_value = of_literal(eval, &argument->value);
        return IG_OK;
    }
    uint32_t at = bound->source >= 0
                      ? (uint32_t)bound->source
                      : given->positional + (uint32_t)(-1 - bound->source);
    if (bound->conversion == IG_CONVERT_GATHER) {
        ig_ts_list *list = ig_ts_list_create(eval, given->positional);
        for (uint32_t i = at; i < given->positional; i++) {
            ig_ts_list_add(eval, list, given->values[i]);
        }
        *out_value = ig_ts_of_list(list);
        return IG_OK;
    }
    *out_value = given->values[at];
    return convert_argument(eval, bound->conversion, argument, out_value);
}

static ig_status bind_arguments(ig_ts_call *call, const ig_ts_arguments *given,
                                const ig_match *match) {
    ig_ts_eval *eval = call->eval;
    size_t count = match->schema->argument_count;
    size_t extra = match->schema->is_vararg && match->extra < given->positional
                       ? given->positional - match->extra
                       : 0;
    call->args = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + extra + 1);
    call->arg_count = (uint32_t)(count + extra);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(bind_one(eval, given, match, i, &call->args[i]));
    }
    for (size_t i = 0; i < extra; i++) {
        call->args[count + i] = given->values[match->extra + i];
    }
    return IG_OK;
}

/* ---- results ---- */

/* The first result goes to the first argument, which becomes the result. */
static ig_status write_back(ig_ts_call *call) {
    const ig_ts_value *result = &call->results[0];
    const ig_ts_tensor *self = ig_ts_peek(call, 0);
    ig_value *value;
    if (!self || result->kind != IG_TS_TENSOR) {
        return ig_ts_fail(call, IG_INVALID, "works in place, but on %s",
                          ig_ts_kind_name(&call->args[0]));
    }
    IG_TRY(ig_ts_tensor_read(call->eval, result->as.tensor, &value));
    IG_TRY(ig_ts_write(call, 0, value));
    call->results[0] = call->args[0];
    return IG_OK;
}

static ig_status check_results(const ig_ts_call *call) {
    if (call->result_count && call->results[0].kind == IG_TS_UNSET) {
        return ig_ts_fail(call, IG_INTERNAL, "its row does not give a result");
    }
    for (uint32_t i = 1; i < call->result_count; i++) {
        if (call->results[i].kind != IG_TS_UNSET) {
            continue;
        }
        ig_ts_poison *poison = IG_NEW(call->arena, ig_ts_poison);
        poison->where = call->where;
        poison->what = ig_arena_printf(call->arena,
                                       "is result %u of %s, which is not computed", i,
                                       call->where.op);
        call->results[i] = (ig_ts_value){ .kind = IG_TS_POISON, .as.poison = poison };
    }
    return IG_OK;
}

/* An empty list or dict is of the type that the schema says: no item can tell. */
static void type_results(const ig_ts_call *call, const ig_match *match) {
    for (uint32_t i = 0; i < call->result_count; i++) {
        const ig_ts_value *result = &call->results[i];
        const ig_script_type *type = match->result_types[i];
        if (result->kind == IG_TS_LIST && type->kind == IG_SCRIPT_LIST &&
            !result->as.list->type && !result->as.list->count) {
            result->as.list->type = type;
        } else if (result->kind == IG_TS_DICT && type->kind == IG_SCRIPT_DICT &&
                   !result->as.dict->type && !result->as.dict->count) {
            result->as.dict->type = type;
        }
    }
}

static ig_status run_hook(ig_ts_eval *eval, ig_ts_call *call, const ig_match *match) {
    assert(match->schema->result_count <= UINT32_MAX &&
           "results are counted in 32 bits");
    call->builder->loc = ig_module_location(eval->module, &call->where);
    call->result_count = (uint32_t)match->schema->result_count;
    call->results = IG_NEW_ARRAY(eval->arena, ig_ts_value, call->result_count + 1u);
    uint64_t start = eval->clock;
    ig_status status = ig_ts_needs_check(call);
    status = status == IG_OK ? call->row->hook(call) : status;
    if (status != IG_OK) {
        eval->has_failed = eval->has_failed || !eval->has_raised;
        return status;
    }
    type_results(call, match);
    ig_ts_lay_results(call, start);
    return check_results(call);
}

/* The row that serves the call; *out_in_place: by writing its result to self. */
static ig_status resolve_row(ig_ts_eval *eval, const candidates *from,
                             const ig_call_shape *shape, const ig_location *where,
                             ig_match *out_match, const ig_ts_row **out_row) {
    ig_types *types = &eval->code->types;
    for (int i = 0; i < 2; i++) {
        const ig_ts_overloads *rows = i ? from->plain : from->own;
        if (rows &&
            ig_overload_find(types, rows->schemas, rows->count, shape, out_match)) {
            *out_row = rows->rows[out_match->index];
            return IG_OK;
        }
    }
    const ig_ts_overloads *rows = from->own ? from->own : from->plain;
    eval->has_failed = true;
    return ig_overload_explain(types, rows->schemas, rows->count, shape, where);
}

/* Does the row stand for another name: the form that is not in place? */
static bool is_plain_form(const candidates *from, const ig_ts_row *row) {
    for (size_t i = 0; from->plain && i < from->plain->count; i++) {
        if (from->plain->rows[i] == row) {
            return true;
        }
    }
    return false;
}

static ig_status run_row(ig_ts_eval *eval, ig_ts_call *call, const ig_match *match,
                         const ig_ts_arguments *arguments, bool is_in_place) {
    IG_TRY(bind_arguments(call, arguments, match));
    IG_TRY(run_hook(eval, call, match));
    return is_in_place ? write_back(call) : IG_OK;
}

ig_status ig_ts_call_op(ig_ts_eval *eval, const char *name,
                        const ig_ts_arguments *arguments, ig_ts_value *out_results,
                        uint32_t *out_count) {
    candidates from;
    ig_match match;
    const ig_ts_row *row = NULL;
    IG_TRY(find_rows(eval, name, &from));
    for (uint32_t i = 0; i < arguments->positional + arguments->keywords; i++) {
        IG_TRY(ig_ts_use(eval, &arguments->values[i]));
    }
    ig_call_shape shape = shape_of(eval, arguments);
    ig_location where = ig_ts_where(eval);
    where.op = name;
    IG_TRY(resolve_row(eval, &from, &shape, &where, &match, &row));
    ig_ts_call call = { .eval = eval,
                        .context = eval->context,
                        .module = eval->module,
                        .arena = eval->arena,
                        .builder = &eval->builder,
                        .row = row,
                        .schema = match.schema,
                        .where = where,
                        .names = eval->names,
                        .version = eval->version };
    ig_expr expr = ig_expr_for(&eval->builder, &ig_ts_expr_source, &call);
    call.e = &expr;
    eval->names = 0;
    IG_TRY(run_row(eval, &call, &match, arguments, is_plain_form(&from, row)));
    uint32_t room = *out_count;
    *out_count = call.result_count;
    if (call.result_count) {
        memcpy(out_results, call.results,
               (call.result_count < room ? call.result_count : room) *
                   sizeof(*out_results));
    }
    return IG_OK;
}
