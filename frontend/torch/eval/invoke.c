/* Messages of calls of operators, and calls of further operators.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- messages ---- */

static ig_status report_at_call(const ig_ts_call *call, ig_status status,
                                const char *text) {
    call->eval->has_failed = true;
    return ig_error(&call->context->diag, status, &call->where, "%s", text);
}

ig_status ig_ts_fail(const ig_ts_call *call, ig_status status, const char *format,
                     ...) {
    assert(status != IG_OK && "a failure has a status");
    char text[512];
    va_list args;
    if (call->e->status != IG_OK) {
        return call->e->status;
    }
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return report_at_call(call, status, text);
}

static ig_status fail_at_call(void *user, ig_status status, const char *text) {
    return report_at_call(user, status, text);
}

static const char *explain_at_call(void *user, const char *what) {
    const ig_ts_call *call = user;
    return ig_arena_printf(call->arena, "%s, line %u (%s): %s",
                           call->where.graph ? call->where.graph : "?",
                           call->where.line, call->where.op ? call->where.op : "?",
                           what);
}

const ig_expr_source ig_ts_expr_source = { fail_at_call, explain_at_call };

bool ig_ts_fixes_means(const ig_ts_call *call) {
    return call->eval->fixes_rowwise_mean;
}

ig_status ig_ts_gradients(ig_ts_call *call, const ig_gradient_at *what,
                          ig_value **out) {
    return call->eval->gradients
               ? call->eval->gradients(call->builder, what, out)
               : ig_ts_fail(call, IG_UNSUPPORTED, "gradients are not built here");
}

typedef struct open_dim {
    const ig_module *module;
    ig_writer *text;
    bool has_any, is_of_data;
} open_dim;

static void put_symbol(void *user, uint32_t index) {
    open_dim *d = user;
    const ig_symbol *symbol = ig_symbol_at(d->module, index);
    const char *origin = symbol->origin ? symbol->origin : "of no input";
    ig_put(d->text, "%s%s: %s", d->has_any ? "; " : " (", symbol->name, origin);
    d->has_any = true;
    d->is_of_data = d->is_of_data || strncmp(origin, "dim ", 4) != 0;
}

const char *ig_ts_open_dim(const ig_module *module, ig_arena *arena, ig_dim dim) {
    ig_writer text;
    open_dim d = { .module = module, .text = &text };
    ig_writer_init(&text, arena);
    ig_dim_print(module, dim, &text);
    ig_dim_visit_symbols(module, dim, put_symbol, &d);
    ig_put(&text, "%s%s", d.has_any ? ")" : "",
           d.is_of_data ? ", which is known at run time only"
                        : ": give numbers for these extents with --input");
    return text.data;
}

/* ---- calling other operators ---- */

ig_ts_value ig_ts_tensor_value(ig_ts_call *call, ig_value *value) {
    assert((value || call->e->status != IG_OK) &&
           "no value without a failure that tells why");
    return value ? ig_ts_of_tensor(ig_ts_tensor_create(call->eval, value, NULL))
                 : ig_ts_none();
}

ig_value *ig_ts_read(ig_ts_call *call, const ig_ts_value *tensor) {
    ig_value *value = NULL;
    if (call->e->status != IG_OK) {
        return NULL;
    }
    if (tensor->kind != IG_TS_TENSOR) {
        call->e->status = ig_ts_fail(call, IG_INVALID,
                                     "got %s where a tensor is expected",
                                     ig_ts_kind_name(tensor));
        return NULL;
    }
    call->e->status = ig_ts_tensor_read(call->eval, tensor->as.tensor, &value);
    return value;
}

ig_status ig_ts_invoke(ig_ts_call *call, const char *name, const ig_ts_value *args,
                       uint32_t count, ig_ts_value *out_results,
                       uint32_t result_count) {
    assert((args || !count) && (out_results || !result_count) && "room for all values");
    ig_ts_value *values = IG_NEW_ARRAY(call->arena, ig_ts_value, count + 1u);
    ig_ts_arguments arguments = { .values = values, .positional = count };
    uint32_t got = result_count;
    if (count) {
        memcpy(values, args, count * sizeof(*args));
    }
    IG_TRY(ig_ts_call_op(call->eval, name, &arguments, out_results, &got));
    return got >= result_count
               ? IG_OK
               : ig_ts_fail(call, IG_INTERNAL, "%s gives %u results, expected %u", name,
                            got, result_count);
}

/* ---- nested tensors ---- */

ig_ts_nested *ig_ts_nested_of(const ig_ts_call *call, const ig_value *value) {
    assert(call->eval && "a call is of an evaluator");
    return ig_map_get_id(&call->eval->nested, IG_MAP_PTR(value));
}

ig_value *ig_ts_mark_nested(ig_ts_call *call, ig_value *value, ig_ts_nested *nested) {
    assert((!nested || (nested->keep && nested->visible)) && "it says which places");
    if (value && nested) {
        ig_map_set_id(&call->eval->nested, IG_MAP_PTR(value), nested);
    }
    return value;
}
