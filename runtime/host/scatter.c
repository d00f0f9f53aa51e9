/* Host function scatter_elements: x, with elements at indices along an axis replaced.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "runtime/host/host.h"

#include <string.h>

ig_host_fn ig_host_scatter_elements;

/* outer * n * inner, when that many elements of `element` bytes fit into `held`. */
static bool fits_bytes(const int64_t *outer_n_inner, int64_t n, int64_t element,
                       int64_t held) {
    int64_t bytes;
    return ig_mul_i64(outer_n_inner[0], n, &bytes) &&
           ig_mul_i64(bytes, outer_n_inner[2], &bytes) &&
           ig_mul_i64(bytes, element, &bytes) && bytes <= held;
}

bool ig_host_scatter_elements(const ig_host_call *call) {
    const int64_t *p = call->params;
    int64_t outer = p[0], n = p[1], inner = p[2], m = p[3], element = p[4];
    if (outer < 0 || n < 0 || inner < 0 || m < 0 || element < 1 || element > 16 ||
        !fits_bytes(p, n, element, call->bytes[0]) ||
        !fits_bytes(p, n, element, call->bytes[1]) ||
        !fits_bytes(p, m, 8, call->bytes[2]) ||
        !fits_bytes(p, m, element, call->bytes[3])) {
        return false;
    }
    char *y = call->buffers[0];
    const char *indices = call->buffers[2], *updates = call->buffers[3];
    memmove(y, call->buffers[1], (size_t)(outer * n * inner * element));
    for (int64_t i = 0; i < outer * m * inner; i++) {
        int64_t index;
        memcpy(&index, indices + i * 8, sizeof index);
        int64_t row = index < 0 ? index + n : index;
        if (row < 0 || row >= n) {
            *call->report = (ig_kernel_report_v0){ 2, i, index };
            return true;
        }
        int64_t at = (i / inner / m * n + row) * inner + i % inner;
        memcpy(y + at * element, updates + i * element, (size_t)element);
    }
    return true;
}
