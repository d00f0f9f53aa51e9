/* Shorter extents and plainer weights of a model that still does something wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/defect/reduction.h"

typedef struct extents_call {
    reduction *r;
    int64_t *items;
    size_t count;
} extents_call;

static ig_status list_extents(void *arguments) {
    extents_call *call = arguments;
    ig_onnx_variant variant = reduction_variant(call->r);
    call->count = ig_onnx_edit_extents(call->r->editor, &variant, &call->r->arena,
                                       &call->items);
    return IG_OK;
}

static ig_status add_extent(void *arguments) {
    reduction *r = arguments;
    IG_PUSH(&r->arena, &r->extents, (ig_onnx_extent){ 0 });
    return IG_OK;
}

/* The smallest that does of 1, 2, 3 and the half. */
static ig_status reduce_extent(reduction *r, int64_t extent) {
    const int64_t tries[] = { 1, 2, 3, extent / 2 };
    IG_TRY(ig_driver_guard(r->module->context, add_extent, r));
    ig_onnx_extent *at = &r->extents.items[r->extents.count - 1];
    for (size_t i = 0; i < IG_COUNT_OF(tries); i++) {
        *at = (ig_onnx_extent){ extent, tries[i] };
        if (tries[i] < extent && reduction_try(r) == YES) {
            return IG_OK;
        }
    }
    r->extents.count--;
    return IG_OK;
}

ig_status reduce_values(reduction *r) {
    extents_call call = { .r = r };
    IG_TRY(ig_driver_guard(r->module->context, list_extents, &call));
    for (size_t i = 0; i < call.count && r->verdict != STOP; i++) {
        IG_TRY(reduce_extent(r, call.items[i]));
    }
    r->has_plain_weights = true;
    r->has_plain_weights = reduction_try(r) == YES;
    return IG_OK;
}
