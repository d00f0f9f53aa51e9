/* SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/entry/bound.h"

#include "base/checked.h"

enum { FILE_FACTOR = 56 };

ig_budget ig_ts_bound_begin(ig_context *context, const char *file, size_t file_bytes) {
    ig_budget *budget = &context->budget, before = *budget;
    size_t min = (size_t)context->limits.script_bytes, share, max;
    bool is_bounded = ig_mul_size(file_bytes, FILE_FACTOR, &share) &&
                      ig_add_size(share > min ? share : min, budget->used, &max);
    if (is_bounded && (budget->limit == 0 || max < budget->limit)) {
        budget->limit = max;
        budget->limit_name = "script_bytes";
        budget->limit_file = file;
    }
    return before;
}

void ig_ts_bound_end(ig_context *context, const ig_budget *before) {
    context->budget.limit = before->limit;
    context->budget.limit_name = before->limit_name;
    context->budget.limit_file = before->limit_file;
}
