/* Concrete tensors: memory, and one element at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/tensor/tensor.h"

#include "base/checked.h"
#include "ir/tensor/span.h"

#include <assert.h>
#include <string.h>

static ig_status report_error(ig_context *context, ig_status status, const char *what) {
    if (!context) {
        return status;
    }
    return ig_error(&context->diag, status, NULL, "%s", what);
}

/* Number of elements; false on overflow. */
static bool count_elements(uint32_t rank, const int64_t *dims, int64_t *out_count) {
    int64_t count = 1;
    bool is_empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        assert(dims[i] >= 0 && "extents are checked before memory is asked for");
        is_empty |= dims[i] == 0;
        if (dims[i] != 0 && !ig_mul_i64(count, dims[i], &count)) {
            return false;
        }
    }
    *out_count = is_empty ? 0 : count;
    return true;
}

ig_status ig_tensor_alloc(ig_arena *arena, ig_context *context, ig_dtype dtype,
                          uint32_t rank, const int64_t *dims, ig_tensor *out_tensor) {
    assert((dims || !rank) && "a shape has its extents");
    if (rank > IG_TENSOR_RANK) {
        return report_error(context, IG_LIMIT, "a tensor has more than 32 dimensions");
    }
    int64_t count, bytes;
    int64_t max = context ? context->limits.interpret_bytes
                          : ig_limits_default.interpret_bytes;
    if (!count_elements(rank, dims, &count) || !ig_dtype_bytes(dtype, count, &bytes) ||
        bytes > max) {
        return context ? ig_error_limit(&context->diag, NULL, &context->limits,
                                        IG_LIMIT_interpret_bytes, "a tensor")
                       : IG_LIMIT;
    }
    void *data = ig_arena_try_alloc(arena, (size_t)bytes);
    if (!data) {
        return report_error(context, IG_LIMIT, "no memory for a tensor of this size");
    }
    memset(data, 0, (size_t)bytes);
    memset(out_tensor, 0, sizeof *out_tensor);
    out_tensor->kind = IG_TENSOR;
    out_tensor->dtype = dtype;
    out_tensor->rank = rank;
    if (rank) {
        memcpy(out_tensor->dims, dims, rank * sizeof *dims);
    }
    out_tensor->data = data;
    out_tensor->count = count;
    return IG_OK;
}

bool ig_table_layout(const ig_tensor *table, ig_row_layout *out_layout) {
    assert(table->kind == IG_TABLE && table->rank == 2 && "only a table has rows");
    unsigned bits = ig_dtypes[table->dtype].bits;
    return ig_row_layout_of(table->rows, bits, table->dims[1], out_layout);
}

static int64_t content_bytes(const ig_tensor *tensor) {
    int64_t bytes = 0;
    if (tensor->kind == IG_TABLE) {
        ig_row_layout layout = { 0 };
        bool exists = ig_table_layout(tensor, &layout);
        assert(exists && "the table exists");
        (void)exists;
        return tensor->dims[0] * layout.stride;
    }
    bool fits = ig_dtype_bytes(tensor->dtype, tensor->count, &bytes);
    assert(fits && "the tensor exists");
    (void)fits;
    return bytes;
}

/* Recursion is as deep as host types nest, which readers bound by
 * limits.graph_depth. */
int64_t ig_tensor_bytes(const ig_tensor *tensor) {
    assert(tensor->count >= 0 && "a count is never negative");
    if (tensor->kind != IG_SEQUENCE && tensor->kind != IG_OPTIONAL) {
        return content_bytes(tensor);
    }
    int64_t total = 0;
    for (int64_t i = 0; i < tensor->count; i++) {
        total += ig_tensor_bytes(&tensor->items[i]);
    }
    return total;
}

double ig_tensor_get_f64(const ig_tensor *tensor, int64_t index) {
    assert(index >= 0 && index < tensor->count && "no such element");
    double value;
    ig_span_read_f64(ig_span_of(tensor, index, 1), 1, &value);
    return value;
}

int64_t ig_tensor_get_i64(const ig_tensor *tensor, int64_t index) {
    assert(index >= 0 && index < tensor->count && "no such element");
    int64_t value;
    ig_span_read_i64(ig_span_of(tensor, index, 1), 1, &value);
    return value;
}

void ig_tensor_set_f64(ig_tensor *tensor, int64_t index, double value) {
    assert(index >= 0 && index < tensor->count && "no such element");
    ig_span_write_f64(tensor, index, 1, &value, false);
}

void ig_tensor_set_i64(ig_tensor *tensor, int64_t index, int64_t value) {
    assert(index >= 0 && index < tensor->count && "no such element");
    ig_span_write_i64(tensor, index, 1, &value);
}
