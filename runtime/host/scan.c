/* Host function cumsum: running sums along an axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ingot/runtime.h"
#include "runtime/host/host.h"

typedef struct scan {
    void *y;
    const void *x;
    int64_t outer, n, inner;
    bool is_exclusive, is_reverse;
} scan;

/* One line of n elements, `inner` apart, that begins at element `at`. */
typedef void scan_line(const scan *s, int64_t at);

#define SCAN_LINE(name, type, sum_type)                                     \
    static void scan_##name(const scan *s, int64_t at) {                    \
        sum_type sum = 0;                                                   \
        for (int64_t k = 0; k < s->n; k++) {                                \
            int64_t i = at + (s->is_reverse ? s->n - 1 - k : k) * s->inner; \
            sum_type before = sum;                                          \
            sum += (sum_type)((const type *)s->x)[i];                       \
            ((type *)s->y)[i] = (type)(s->is_exclusive ? before : sum);     \
        }                                                                   \
    }

/* Signed sums wrap, as everywhere: they are done unsigned. */
SCAN_LINE(f32, float, double)
SCAN_LINE(f64, double, double)
SCAN_LINE(i32, uint32_t, uint32_t)
SCAN_LINE(i64, uint64_t, uint64_t)

static const struct {
    scan_line *line;
    int64_t bytes;
} lines[] = {
    [IG_F32] = { scan_f32, 4 }, [IG_F64] = { scan_f64, 8 }, [IG_I32] = { scan_i32, 4 },
    [IG_U32] = { scan_i32, 4 }, [IG_I64] = { scan_i64, 8 }, [IG_U64] = { scan_i64, 8 },
};

ig_host_fn ig_host_cumsum;

bool ig_host_cumsum(const ig_host_call *call) {
    const int64_t *p = call->params;
    scan s = { call->buffers[0], call->buffers[1], p[0], p[1], p[2],
               p[4] != 0,        p[5] != 0 };
    int64_t dtype = p[3], count, bytes;
    if (dtype < 0 || dtype >= (int64_t)IG_COUNT_OF(lines) || !lines[dtype].line ||
        s.outer < 0 || s.n < 0 || s.inner < 0 || !ig_mul_i64(s.outer, s.n, &count) ||
        !ig_mul_i64(count, s.inner, &count) ||
        !ig_mul_i64(count, lines[dtype].bytes, &bytes) || bytes > call->bytes[0] ||
        bytes > call->bytes[1]) {
        return false;
    }
    for (int64_t i = 0; i < (s.n > 0 ? s.outer : 0); i++) {
        for (int64_t k = 0; k < s.inner; k++) {
            lines[dtype].line(&s, i * s.n * s.inner + k);
        }
    }
    return true;
}
