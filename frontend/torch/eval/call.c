/* Calls of operators: which row, its arguments, in-place forms, results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/control.h"
#include "frontend/torch/eval/table.h"

#include <assert.h>
#include <string.h>

/* ---- which row ---- */

/* ".Tensor" of "aten::add_.Tensor"; NULL: no overload is told. */
static const char *overload_of(const char *name) {
    const char *colons = strstr(name, "::");
    return colons ? strchr(colons, '.') : NULL;
}

/* Rows of base + overload, then those of the form that is not in place. */
static ig_status find_forms(ig_ts_eval *eval, const char *base, const char *overload,
                            ig_ts_overloads **out) {
    size_t size = strlen(base);
    const char *name = ig_arena_printf(eval->arena, "%s%s", base, overload);
    IG_TRY(ig_ts_rows_find(eval, name, &out[0]));
    if (size > 2 && base[size - 1] == '_' && base[size - 2] != '_') {
        name = ig_arena_printf(eval->arena, "%.*s%s", (int)size - 1, base, overload);
        IG_TRY(ig_ts_rows_find(eval, name, &out[1]));
    }
    return IG_OK;
}

ig_status ig_ts_candidates_find(ig_ts_eval *eval, const char *name,
                                ig_ts_candidates *out) {
    const char *overload = overload_of(name), *base = name;
    *out = (ig_ts_candidates){ .is_given = overload != NULL };
    if (overload) {
        base = ig_arena_copy(eval->arena, name, (size_t)(overload - name));
        IG_TRY(find_forms(eval, base, overload, out->own));
    }
    IG_TRY(find_forms(eval, base, "", out->own + IG_TS_FORMS));
    for (uint32_t i = 0; i < IG_TS_CANDIDATES; i++) {
        out->is_any = out->is_any || out->own[i];
    }
    return IG_OK;
}

uint32_t ig_ts_candidates_match(ig_ts_eval *eval, const ig_ts_candidates *from,
                                const ig_call_shape *shape,
                                ig_overload_match *out_match) {
    uint32_t i = 0;
    for (; i < IG_TS_CANDIDATES; i++) {
        const ig_ts_overloads *rows = from->own[i];
        if (rows && ig_overload_find(&eval->code->types, rows->schemas, rows->count,
                                     shape, out_match)) {
            break;
        }
    }
    return i;
}

static ig_status find_rows(ig_ts_eval *eval, const char *name, ig_ts_candidates *out) {
    IG_TRY(ig_ts_candidates_find(eval, name, out));
    if (out->is_any) {
        return IG_OK;
    }
    ig_location where = ig_ts_where(eval);
    return eval->language->missing(eval, name, &where);
}

/* An empty list of plain Python fits lists of every item, as the empty tuple does. */
static const ig_script_type *argument_type(ig_ts_eval *eval, const ig_ts_value *value) {
    bool is_open = value->kind == IG_TS_LIST && !value->as.list->count &&
                   !value->as.list->type && !eval->frame->is_dialect;
    return is_open ? ig_script_type_tuple(&eval->code->types, NULL, 0)
                   : ig_ts_type_of(eval, value);
}

static ig_call_shape shape_of(ig_ts_eval *eval, const ig_ts_arguments *arguments) {
    uint32_t count = arguments->positional + arguments->keywords;
    const ig_script_type **types = IG_NEW_ARRAY(eval->arena, const ig_script_type *,
                                                count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = argument_type(eval, &arguments->values[i]);
    }
    return (ig_call_shape){ .positional = types,
                            .positional_count = arguments->positional,
                            .keywords = arguments->names,
                            .keyword_types = types + arguments->positional,
                            .keyword_count = arguments->keywords };
}

/* ---- arguments ---- */

/* A float's default may be written as an integer, that of a list of `size` items as
 * one. */
static ig_ts_value default_of(ig_ts_eval *eval, const ig_script_type *type,
                              int64_t size, const ig_ast *node) {
    ig_ts_value value = ig_ts_none();
    bool is_list = node->kind == IG_AST_LIST;
    type = type->kind == IG_SCRIPT_OPTIONAL ? type->items[0] : type;
    if (!is_list && (node->kind == IG_AST_NONE || type->kind != IG_SCRIPT_LIST)) {
        ig_ts_literal(node, &value);
        bool is_float = type->kind == IG_SCRIPT_FLOAT && value.kind == IG_TS_INT;
        return is_float ? ig_ts_of_float((double)value.as.i) : value;
    }
    type = type->kind == IG_SCRIPT_LIST ? type->items[0] : type;
    size_t count = is_list ? node->as.list.count : (size_t)size;
    ig_ts_list *list = ig_ts_list_create(eval, count);
    for (size_t i = 0; i < count; i++) {
        ig_ts_list_add(
            eval, list,
            default_of(eval, type, 0, is_list ? node->as.list.items[i] : node));
    }
    return ig_ts_of_list(list);
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
                          const ig_overload_match *match, size_t index,
                          ig_ts_value *out_value) {
    const ig_bound_argument *bound = &match->arguments[index];
    const ig_schema_argument *argument = &match->schema->arguments[index];
    if (bound->source == IG_FROM_DEFAULT) {
        *out_value = default_of(eval, argument->type, argument->list_size,
                                argument->value);
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
                                const ig_overload_match *match) {
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

/* A real result as the content of a complex tensor, whose parts are the last axis. */
static ig_value *with_no_imaginary(ig_ts_call *call, ig_value *value, ig_dtype part) {
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    uint32_t rank = value->type->rank;
    value = ig_expr_unsqueeze(call->e, ig_expr_cast(call->e, value, part), rank);
    if (!value) {
        return NULL;
    }
    after[rank] = ig_dim_of(1);
    return ig_expr_pad(call->e, value, before, after, IG_PAD_constant, 0);
}

/* The first result goes to the first argument, which becomes the result. */
static ig_status write_back(ig_ts_call *call) {
    const ig_ts_value *result = &call->results[0];
    const ig_ts_tensor *self = ig_ts_peek(call, 0);
    ig_value *value;
    if (!self || result->kind != IG_TS_TENSOR) {
        return ig_ts_fail(call, IG_INVALID, "works in place, but on %s",
                          ig_ts_kind_name(&call->args[0]));
    }
    if (!self->dtype->is_complex && result->as.tensor->dtype->is_complex) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "writes complex numbers to a tensor of %s",
                          self->dtype->name);
    }
    IG_TRY(ig_ts_tensor_read(call->eval, result->as.tensor, &value));
    if (self->dtype->is_complex && !result->as.tensor->dtype->is_complex) {
        value = with_no_imaginary(call, value, (ig_dtype)self->type->dtype);
    }
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
static void type_results(const ig_ts_call *call, const ig_overload_match *match) {
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

static ig_status run_hook(ig_ts_eval *eval, ig_ts_call *call,
                          const ig_overload_match *match) {
    assert(match->schema->result_count <= UINT32_MAX &&
           "results are counted in 32 bits");
    call->builder->loc = ig_module_location(eval->module, &call->where);
    call->result_count = (uint32_t)match->schema->result_count;
    call->results = IG_NEW_ARRAY(eval->arena, ig_ts_value, call->result_count + 1u);
    uint64_t start = eval->clock;
    ig_status status = ig_ts_needs_check(call);
    if (status == IG_OK) {
        status = ig_ts_is_by_parts(call) ? ig_ts_run_by_parts(call)
                                         : call->row->hook(call);
    }
    /* What failed in the row's formula was reported, whatever the row then gave. */
    status = status == IG_OK ? call->e->status : status;
    if (status != IG_OK) {
        eval->has_failed = eval->has_failed || !eval->has_raised;
        return status;
    }
    type_results(call, match);
    ig_ts_lay_results(call, start);
    IG_TRY(ig_ts_share_results(call, start));
    return check_results(call);
}

/* The row that serves a call. */
typedef struct chosen_row {
    const ig_ts_row *row;
    ig_overload_match match;
    bool is_in_place; /* by writing its result to self */
} chosen_row;

static ig_status resolve_row(ig_ts_eval *eval, const ig_ts_candidates *from,
                             const ig_call_shape *shape, const ig_location *where,
                             chosen_row *out) {
    uint32_t at = ig_ts_candidates_match(eval, from, shape, &out->match);
    if (at < IG_TS_CANDIDATES) {
        out->row = from->own[at]->rows[out->match.index];
        out->is_in_place = at % IG_TS_FORMS == 1;
        return IG_OK;
    }
    const ig_ts_overloads *named = from->own[IG_TS_FORMS] ? from->own[IG_TS_FORMS]
                                                          : from->own[IG_TS_FORMS + 1];
    assert(named && "rows of an overload are rows of the name");
    ig_overload_explain(&eval->code->types, named->schemas, named->count, shape, where);
    return eval->language->unfit(eval, where->op, where);
}

/* A file that tells the overload writes a number where its schema has a tensor
 * (aten::sub.Tensor(1, x)): it is a tensor of rank 0 that promotes like a number.  A
 * name of one overload tells it, too. */
static ig_status wrap_number(ig_ts_eval *eval, const ig_schema_argument *argument,
                             ig_ts_value *value) {
    ig_value *content;
    if (argument->type->kind != IG_SCRIPT_TENSOR || !ig_ts_is_number(value)) {
        return IG_OK;
    }
    IG_TRY(ig_ts_number_read(eval, value, &content));
    const ig_torch_dtype_info *dtype = value->kind == IG_TS_COMPLEX
                                           ? ig_torch_dtype_of_code(IG_TORCH_complex128)
                                           : NULL;
    *value = ig_ts_of_tensor(ig_ts_tensor_create(eval, content, dtype));
    value->as.tensor->is_number = true;
    return IG_OK;
}

static ig_status wrap_numbers(ig_ts_eval *eval, const ig_ts_candidates *from,
                              const ig_ts_arguments *arguments) {
    const ig_ts_overloads *given = from->own[0] ? from->own[0] : from->own[1];
    const ig_ts_overloads *named = from->own[IG_TS_FORMS];
    given = !given && named && named->count == 1 ? named : given;
    const ig_schema *schema = given ? given->schemas[0] : NULL;
    for (uint32_t i = 0; schema && i < arguments->positional; i++) {
        if (i < schema->argument_count) {
            IG_TRY(wrap_number(eval, &schema->arguments[i], &arguments->values[i]));
        }
    }
    for (uint32_t i = 0; schema && i < arguments->keywords; i++) {
        int at = ig_schema_argument_index(schema, arguments->names[i]);
        if (at >= 0) {
            IG_TRY(wrap_number(eval, &schema->arguments[at],
                               &arguments->values[arguments->positional + i]));
        }
    }
    return IG_OK;
}

/* ---- out= ---- */

/* The place among the keywords of a tensor that the result is written to and no row
 * takes itself; -1: there is none. */
static int find_out(const ig_ts_candidates *from, const ig_ts_arguments *arguments) {
    int at = -1;
    for (uint32_t i = 0; i < arguments->keywords; i++) {
        const ig_ts_value *value = &arguments->values[arguments->positional + i];
        bool is_out = value->kind == IG_TS_TENSOR &&
                      !strcmp(arguments->names[i], "out");
        at = is_out ? (int)i : at;
    }
    for (uint32_t i = 0; at >= 0 && i < IG_TS_CANDIDATES; i++) {
        const ig_ts_overloads *rows = from->own[i];
        for (size_t k = 0; rows && k < rows->count; k++) {
            if (ig_schema_argument_index(rows->schemas[k], "out") >= 0) {
                return -1;
            }
        }
    }
    return at;
}

/* Gives `out` the shape and the content of a result, as torch resizes it. */
static ig_status resize_out(ig_ts_eval *eval, ig_ts_tensor *out,
                            const ig_ts_value *result) {
    bool is_whole = !out->step_count && !out->alias && !out->storage->is_input &&
                    !out->storage->name;
    if (!is_whole || eval->builder.block != &eval->builder.graph->body) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "out= is resized, and is an argument, a buffer, a view, or "
                           "written to in a branch: give one of the result's shape");
    }
    ig_ts_value values[] = { *result, ig_ts_of_int(out->dtype->code) }, cast;
    ig_ts_arguments given = { .values = values, .positional = 2 };
    uint32_t room = 1;
    IG_TRY(ig_ts_call_op(eval, "aten::to", &given, &cast, &room));
    *out = *cast.as.tensor;
    return IG_OK;
}

static ig_status write_out(ig_ts_eval *eval, const ig_ts_value *out,
                           ig_ts_value *result) {
    if (result->kind != IG_TS_TENSOR) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "out= of %s is not supported",
                           ig_ts_kind_name(result));
    }
    const ig_type *from = result->as.tensor->type, *to = out->as.tensor->type;
    bool is_same = from->rank == to->rank;
    for (uint32_t i = 0; is_same && i < from->rank; i++) {
        ig_truth fits = ig_dim_equal(eval->module, from->dims[i], to->dims[i]);
        is_same = fits == IG_YES || (fits == IG_MAYBE && !ig_dim_is(to->dims[i], 0));
    }
    if (!is_same) {
        IG_TRY(resize_out(eval, out->as.tensor, result));
        *result = *out;
        return IG_OK;
    }
    for (uint32_t i = 0; i < from->rank; i++) {
        ig_make_guard_equal(&eval->builder, from->dims[i], to->dims[i],
                            "out= must have the result's shape");
    }
    ig_ts_value values[] = { *out, *result };
    ig_ts_arguments both = { .values = values, .positional = 2 };
    uint32_t room = 1;
    return ig_ts_call_op(eval, "aten::copy_", &both, result, &room);
}

/* Calls the operator without its keyword `at`, which its first result is written to. */
static ig_status call_with_out(ig_ts_eval *eval, const char *name,
                               const ig_ts_arguments *arguments, uint32_t at,
                               ig_ts_value *out_results, uint32_t *out_count) {
    ig_ts_arguments others = *arguments;
    uint32_t first = arguments->positional + at, kept = --others.keywords;
    ig_ts_value out = arguments->values[first];
    others.values = IG_NEW_ARRAY(eval->arena, ig_ts_value, first + kept + 1u);
    const char **names = IG_NEW_ARRAY(eval->arena, const char *, kept + 1u);
    memcpy(others.values, arguments->values, first * sizeof(*others.values));
    memcpy(others.values + first, arguments->values + first + 1,
           (kept - at) * sizeof(*others.values));
    for (uint32_t i = 0; i < kept; i++) {
        names[i] = arguments->names[i < at ? i : i + 1];
    }
    others.names = names;
    IG_TRY(ig_ts_call_op(eval, name, &others, out_results, out_count));
    return write_out(eval, &out, &out_results[0]);
}

static ig_status run_row(ig_ts_eval *eval, ig_ts_call *call, const chosen_row *chosen,
                         const ig_ts_arguments *arguments) {
    IG_TRY(bind_arguments(call, arguments, &chosen->match));
    IG_TRY(run_hook(eval, call, &chosen->match));
    return chosen->is_in_place ? write_back(call) : IG_OK;
}

ig_status ig_ts_call_op(ig_ts_eval *eval, const char *name,
                        const ig_ts_arguments *arguments, ig_ts_value *out_results,
                        uint32_t *out_count) {
    ig_ts_candidates from;
    chosen_row chosen = { 0 };
    IG_TRY(find_rows(eval, name, &from));
    int out = find_out(&from, arguments);
    if (out >= 0) {
        return call_with_out(eval, name, arguments, (uint32_t)out, out_results,
                             out_count);
    }
    for (uint32_t i = 0; i < arguments->positional + arguments->keywords; i++) {
        IG_TRY(ig_ts_use(eval, &arguments->values[i]));
    }
    IG_TRY(wrap_numbers(eval, &from, arguments));
    ig_call_shape shape = shape_of(eval, arguments);
    ig_location where = ig_ts_where(eval);
    where.op = name;
    IG_TRY(resolve_row(eval, &from, &shape, &where, &chosen));
    ig_ts_call call = { .eval = eval,
                        .context = eval->context,
                        .module = eval->module,
                        .arena = eval->arena,
                        .builder = &eval->builder,
                        .row = chosen.row,
                        .schema = chosen.match.schema,
                        .where = where,
                        .names = eval->names,
                        .version = eval->version };
    ig_expr expr = ig_expr_for(&eval->builder, &ig_ts_expr_source, &call);
    call.e = &expr;
    eval->names = 0;
    IG_TRY(run_row(eval, &call, &chosen, arguments));
    uint32_t room = *out_count;
    *out_count = call.result_count;
    if (call.result_count) {
        memcpy(out_results, call.results,
               (call.result_count < room ? call.result_count : room) *
                   sizeof(*out_results));
    }
    return IG_OK;
}
