/* The memory layout of results, as far as a program can tell.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The content of a fresh storage is dense; which of its axes has the widest stride
 * torch derives from the operands: what works element by element keeps the order of the
 * first operand that has one (TensorIterator), `clone` and the like that of their
 * argument, most others give rows.  A column of an operator's row gives its layout.
 * One without that column gives rows when it is given rows, and an unknown order
 * otherwise.
 */
#include "frontend/torch/eval/table.h"

#include <assert.h>
#include <string.h>

static const ig_ts_order unknown = { .is_known = false };

/* ---- orders ---- */

static const ig_ts_order *keep_order(ig_ts_eval *eval, uint32_t rank,
                                     const ig_ts_order *order) {
    bool is_rows = true;
    for (uint32_t i = 0; i < rank; i++) {
        is_rows = is_rows && order->axes[i] == i;
    }
    ig_ts_order *copy = is_rows ? NULL : IG_NEW(eval->arena, ig_ts_order);
    if (copy) {
        *copy = *order;
        copy->is_known = true;
    }
    return copy;
}

/* Axes that follow on each other without gaps, from the narrowest on. */
static bool follow_chain(ig_module *module, const ig_type *type, const ig_dim *strides,
                         ig_ts_order *out) {
    bool taken[IG_TENSOR_RANK] = { false };
    ig_dim run = ig_dim_of(1);
    for (uint32_t i = type->rank; i-- > 0;) {
        uint32_t axis = type->rank;
        while (axis-- > 0 &&
               (taken[axis] || ig_dim_equal(module, strides[axis], run) != IG_YES)) {
        }
        if (axis == UINT32_MAX) {
            return false;
        }
        taken[axis] = true;
        out->axes[i] = axis;
        run = ig_dim_mul(module, run, type->dims[axis]);
    }
    return true;
}

/* By known strides, none of them 0; equal ones stay as they are. */
static bool sort_axes(uint32_t rank, const ig_dim *strides, ig_ts_order *out) {
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t at = i;
        if (!ig_dim_is_static(strides[i]) || ig_dim_value(strides[i]) <= 0) {
            return false;
        }
        for (; at > 0 &&
               ig_dim_value(strides[out->axes[at - 1]]) < ig_dim_value(strides[i]);
             at--) {
            out->axes[at] = out->axes[at - 1];
        }
        out->axes[at] = i;
    }
    return true;
}

const ig_ts_order *ig_ts_order_of_strides(ig_ts_eval *eval, const ig_type *type,
                                          const ig_dim *strides) {
    assert(type->rank <= IG_COUNT_OF(((ig_ts_order *)NULL)->axes) &&
           "an order has room for all axes");
    ig_ts_order order = { .is_known = true };
    bool is_found = follow_chain(eval->module, type, strides, &order) ||
                    sort_axes(type->rank, strides, &order);
    return is_found ? keep_order(eval, type->rank, &order) : &unknown;
}

static const ig_ts_order *order_of_tensor(ig_ts_eval *eval,
                                          const ig_ts_tensor *tensor) {
    ig_dim strides[IG_TENSOR_RANK];
    return ig_ts_tensor_strides(eval, tensor, strides) == IG_YES
               ? ig_ts_order_of_strides(eval, tensor->type, strides)
               : &unknown;
}

static bool lies_in_rows(ig_ts_eval *eval, const ig_ts_tensor *tensor) {
    return ig_ts_lies_in_order(eval, tensor, NULL, NULL, NULL) == IG_YES;
}

const ig_ts_order *ig_ts_order_of_either(ig_ts_eval *eval, const ig_ts_tensor *a,
                                         const ig_ts_tensor *b) {
    bool is_rows = (!a || lies_in_rows(eval, a)) && (!b || lies_in_rows(eval, b));
    return is_rows ? NULL : &unknown;
}

bool ig_ts_order_of_format(ig_ts_eval *eval, int64_t format, uint32_t rank,
                           const ig_ts_order **out_order) {
    enum { ROWS = 0, CHANNELS_LAST = 2, CHANNELS_LAST_3D = 3 };
    ig_ts_order last = { .is_known = true };
    *out_order = NULL;
    if ((format == CHANNELS_LAST && rank == 4) ||
        (format == CHANNELS_LAST_3D && rank == 5)) {
        for (uint32_t i = 1; i < rank; i++) {
            last.axes[i] = i + 1 < rank ? i + 1 : 1;
        }
        *out_order = keep_order(eval, rank, &last);
    }
    return format == ROWS || *out_order;
}

/* ---- results ---- */

typedef struct operands {
    const ig_ts_tensor *items[64];
    uint32_t count;
    bool has_more;
} operands;

static void add_operand(operands *all, const ig_ts_value *value) {
    bool is_list = value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
    if (value->kind == IG_TS_TENSOR && all->count < IG_COUNT_OF(all->items)) {
        all->items[all->count++] = value->as.tensor;
    } else if (value->kind == IG_TS_TENSOR) {
        all->has_more = true;
    }
    for (size_t i = 0; is_list && i < value->as.list->count; i++) {
        if (value->as.list->items[i].kind == IG_TS_TENSOR) {
            add_operand(all, &value->as.list->items[i]);
        }
    }
}

static bool all_in_rows(ig_ts_eval *eval, const operands *all) {
    bool are = !all->has_more;
    for (uint32_t i = 0; are && i < all->count; i++) {
        are = lies_in_rows(eval, all->items[i]);
    }
    return are;
}

/* How many axes could have a say about the order. */
static uint32_t count_wide(const ig_module *module, const ig_type *type) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        count += ig_dim_equal(module, type->dims[i], ig_dim_of(1)) != IG_YES;
    }
    return count;
}

static bool has_shape(const ig_module *module, const ig_type *a, const ig_type *b) {
    bool is_same = a->rank == b->rank;
    for (uint32_t i = 0; is_same && i < a->rank; i++) {
        is_same = ig_dim_equal(module, a->dims[i], b->dims[i]) == IG_YES;
    }
    return is_same;
}

/* The first operand that has the result's shape decides, as long as no one before it
 * could: one that is broadcast along all axes but one cannot. */
static const ig_ts_order *order_together(ig_ts_eval *eval, const operands *all,
                                         const ig_type *type) {
    for (uint32_t i = 0; i < all->count; i++) {
        const ig_ts_tensor *item = all->items[i];
        if (has_shape(eval->module, item->type, type)) {
            return order_of_tensor(eval, item);
        }
        if (count_wide(eval->module, item->type) > 1) {
            break;
        }
    }
    return &unknown;
}

static int64_t format_of(const ig_ts_call *call) {
    enum { PRESERVE = 1 };
    const ig_ts_value *format = ig_ts_known_named(call, "memory_format");
    return format && format->kind == IG_TS_INT ? format->as.i : PRESERVE;
}

static const ig_ts_order *order_of_result(ig_ts_call *call, const operands *all,
                                          ig_ts_layout layout, const ig_type *type) {
    const ig_ts_order *order;
    if (layout == IG_TS_LAYOUT_SELF &&
        ig_ts_order_of_format(call->eval, format_of(call), type->rank, &order)) {
        return order;
    }
    if (layout == IG_TS_LAYOUT_ROWS || count_wide(call->module, type) <= 1 ||
        all_in_rows(call->eval, all)) {
        return NULL;
    }
    operands first = *all;
    first.count = layout == IG_TS_LAYOUT_SELF && all->count ? 1 : all->count;
    return layout == IG_TS_LAYOUT_UNKNOWN ? &unknown
                                          : order_together(call->eval, &first, type);
}

/* A result whose order is to be found, made after `start`. */
static bool is_fresh(const ig_ts_value *value, uint64_t start) {
    const ig_ts_tensor *tensor = value->as.tensor;
    return value->kind == IG_TS_TENSOR && !tensor->alias && tensor->step_count == 0 &&
           tensor->storage->cell.born > start && !tensor->storage->order &&
           !tensor->storage->origin;
}

static void lay_result(ig_ts_call *call, const ig_ts_value *value) {
    operands all = { .count = 0 };
    for (uint32_t i = 0; i < call->arg_count; i++) {
        add_operand(&all, &call->args[i]);
    }
    value->as.tensor->storage->order = order_of_result(call, &all, call->row->layout,
                                                       value->as.tensor->type);
}

/* What changes a list in place returns it: nothing in it is new but an argument. */
static bool is_argument(const ig_ts_call *call, const ig_ts_value *list) {
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i].kind == list->kind &&
            call->args[i].as.list == list->as.list) {
            return true;
        }
    }
    return false;
}

void ig_ts_lay_results(ig_ts_call *call, uint64_t start) {
    for (uint32_t i = 0; i < call->result_count; i++) {
        const ig_ts_value *result = &call->results[i];
        if (is_fresh(result, start)) {
            lay_result(call, result);
        }
        bool is_list = result->kind == IG_TS_LIST && !is_argument(call, result);
        for (size_t k = 0; is_list && k < result->as.list->count; k++) {
            if (is_fresh(&result->as.list->items[k], start)) {
                lay_result(call, &result->as.list->items[k]);
            }
        }
    }
}
