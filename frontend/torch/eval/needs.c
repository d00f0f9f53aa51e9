/* Ranks and dtypes of an operator's tensors, before its row's function sees them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All that a row's function reads of a shape is there: column NEEDS of a row says which
 * ranks its arguments have, and here is the only place that checks it. */
#include "frontend/torch/eval/table.h"

#include <string.h>

/* ---- one clause ---- */

typedef struct need {
    ig_str name;
    char dtype; /* 'i', 'b', or 0: any */
    uint32_t min, max;
} need;

static const char *read_need(const char *at, need *out) {
    size_t length = strcspn(at, " ");
    *out = (need){ .name = { at, length } };
    at += length + 1;
    if (*at == 'i' || *at == 'b') {
        out->dtype = *at++;
    }
    out->min = out->max = (uint32_t)(*at++ - '0');
    if (*at == '-') {
        at++;
        bool is_open = *at == '\0' || *at == ';';
        out->max = is_open ? IG_TENSOR_RANK : (uint32_t)(*at++ - '0');
    }
    return *at == ';' ? at + 2 : at;
}

static ig_status refuse_rank(const ig_ts_call *call, const need *n, uint32_t rank) {
    const char *max = n->min == n->max ? ""
                      : n->max >= IG_TENSOR_RANK
                          ? " or more"
                          : ig_arena_printf(call->arena, " to %u", n->max);
    return ig_ts_fail(call, IG_INVALID, "argument '%.*s' has rank %u, expected %u%s",
                      IG_STR_ARG(n->name), rank, n->min, max);
}

static ig_status check_tensor(const ig_ts_call *call, const need *n,
                              const ig_ts_tensor *tensor) {
    const ig_torch_dtype_info *dtype = tensor->dtype;
    uint32_t rank = tensor->type->rank - (dtype->is_complex ? 1 : 0);
    bool is_integer = ig_dtype_is_int(dtype->ir) && !dtype->is_quantised;
    bool is_mask = dtype->ir == IG_DT_bool || dtype->ir == IG_DT_u8;
    if (rank < n->min || rank > n->max) {
        return refuse_rank(call, n, rank);
    }
    if ((n->dtype == 'i' && !is_integer) || (n->dtype == 'b' && !is_mask)) {
        return ig_ts_fail(call, IG_INVALID, "argument '%.*s' is of %s, expected %s",
                          IG_STR_ARG(n->name), dtype->name,
                          n->dtype == 'i' ? "integers" : "truth values");
    }
    return IG_OK;
}

static ig_status check_argument(const ig_ts_call *call, const need *n,
                                const ig_ts_value *value) {
    bool is_list = value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
    if (value->kind == IG_TS_TENSOR) {
        return check_tensor(call, n, value->as.tensor);
    }
    for (size_t i = 0; is_list && i < value->as.list->count; i++) {
        const ig_ts_value *item = &value->as.list->items[i];
        if (item->kind == IG_TS_TENSOR) {
            IG_TRY(check_tensor(call, n, item->as.tensor));
        }
    }
    return IG_OK;
}

/* ---- a call ---- */

static int argument_named(const ig_ts_call *call, ig_str name) {
    for (size_t i = 0; i < call->schema->argument_count; i++) {
        if (ig_str_is(name, call->schema->arguments[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

ig_status ig_ts_needs_check(const ig_ts_call *call) {
    const char *at = call->row->needs;
    while (at && *at) {
        need n;
        at = read_need(at, &n);
        int index = argument_named(call, n.name);
        if (index >= 0) {
            IG_TRY(check_argument(call, &n, &call->args[index]));
        }
    }
    return IG_OK;
}
