/* Memory that torch's results share with arguments, against the values that a row made.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A schema says which results are views: `Tensor(a) self … -> Tensor(a)`.  A row that
 * had to compute such a view made a copy: it is right until either is written to, which
 * is refused from then on.  `*_copy` operators are the other way about: what their rows
 * give as a view is a copy.
 */
#include "frontend/torch/eval/table.h"

#include <assert.h>
#include <string.h>

/* Their results share memory only where nothing had to be copied, as rows have it. */
static bool may_copy(const char *name) {
    static const char *const names[] = {
        "aten::to",           "aten::reshape",    "aten::contiguous",
        "aten::flatten",      "aten::ravel",      "aten::reshape_as",
        "aten::as_tensor",    "aten::cpu",        "aten::cuda",
        "aten::resolve_conj", "aten::pin_memory", "aten::resolve_neg",
        "aten::lift_fresh",
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The tensor that the result is to be a view of, or NULL. */
static const ig_ts_tensor *base_of(const ig_ts_call *call, const ig_alias *alias) {
    for (uint32_t i = 0; alias->after && i < call->schema->argument_count; i++) {
        const ig_alias *own = &call->schema->arguments[i].alias;
        if (own->before == alias->after && call->args[i].kind == IG_TS_TENSOR) {
            return call->args[i].as.tensor;
        }
    }
    return NULL;
}

static void mark_copy(ig_ts_call *call, const ig_ts_tensor *base,
                      const ig_ts_value *result, uint64_t start) {
    bool is_copy = result->kind == IG_TS_TENSOR &&
                   result->as.tensor->storage != base->storage &&
                   result->as.tensor->storage->cell.born > start &&
                   !result->as.tensor->alias;
    if (is_copy) {
        ig_ts_alias *alias = IG_NEW(call->arena, ig_ts_alias);
        *alias = (ig_ts_alias){ .storages = { base->storage },
                                .versions = { base->storage->version },
                                .count = 1,
                                .outer = base->alias,
                                .copied_by = call->schema->name };
        result->as.tensor->alias = alias;
    }
}

static void mark_copies(ig_ts_call *call, uint32_t index, uint64_t start) {
    assert(index < call->result_count && "a result of the call");
    const ig_schema_argument *schema = &call->schema->results[index];
    const ig_ts_value *result = &call->results[index];
    bool is_list = result->kind == IG_TS_LIST;
    const ig_alias *alias = is_list ? &schema->element_alias : &schema->alias;
    const ig_ts_tensor *base = alias->is_written ? NULL : base_of(call, alias);
    if (!base) {
        return;
    }
    mark_copy(call, base, result, start);
    for (size_t i = 0; is_list && i < result->as.list->count; i++) {
        mark_copy(call, base, &result->as.list->items[i], start);
    }
}

/* meshgrid's results are views of its tensors, one each, though its schema has no sign
 * of that. */
static void mark_items(ig_ts_call *call, uint64_t start) {
    const ig_ts_value *tensors = &call->args[0], *results = &call->results[0];
    size_t count = results->as.list->count;
    for (size_t i = 0; i < count && i < tensors->as.list->count; i++) {
        const ig_ts_value *base = &tensors->as.list->items[i];
        if (base->kind == IG_TS_TENSOR) {
            mark_copy(call, base->as.tensor, &results->as.list->items[i], start);
        }
    }
}

static ig_status detach_value(ig_ts_call *call, ig_ts_value *result, uint64_t start) {
    ig_value *value;
    bool is_fresh = result->kind == IG_TS_TENSOR &&
                    result->as.tensor->storage->cell.born > start;
    if (result->kind != IG_TS_TENSOR || is_fresh) {
        return IG_OK;
    }
    const ig_ts_tensor *view = result->as.tensor;
    IG_TRY(ig_ts_tensor_read(call->eval, view, &value));
    ig_ts_tensor *copy = ig_ts_tensor_create(call->eval, value, view->dtype);
    copy->quant = view->quant;
    *result = ig_ts_of_tensor(copy);
    return IG_OK;
}

static ig_status detach_result(ig_ts_call *call, ig_ts_value *result, uint64_t start) {
    IG_TRY(detach_value(call, result, start));
    for (size_t i = 0; result->kind == IG_TS_LIST && i < result->as.list->count; i++) {
        IG_TRY(detach_value(call, &result->as.list->items[i], start));
    }
    return IG_OK;
}

static bool ends_in_copy(const char *name) {
    return ig_str_ends(ig_str_of(name), "_copy");
}

ig_status ig_ts_share_results(ig_ts_call *call, uint64_t start) {
    const char *name = call->schema->name;
    if (strcmp(name, "aten::meshgrid") == 0) {
        mark_items(call, start);
    }
    for (uint32_t i = 0; i < call->result_count; i++) {
        if (ends_in_copy(name)) {
            IG_TRY(detach_result(call, &call->results[i], start));
        } else if (!may_copy(name)) {
            mark_copies(call, i, start);
        }
    }
    return IG_OK;
}
