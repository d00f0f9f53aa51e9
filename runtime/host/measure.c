/* Host functions that find sizes in values that a model has computed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The values come from data, so every one of them is checked here: results never lead
 * outside of the tensor whose extents were given.
 */
#include "base/checked.h"
#include "runtime/host/host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANK = 32 }; /* of any tensor */

static const int64_t *values_of(const ig_host_call *call, uint32_t buffer) {
    return call->buffers[buffer];
}

/* Do the first buffers hold at least `counts[i]` values each? */
static bool has_counts(const ig_host_call *call, const int64_t *counts) {
    for (uint32_t i = 0; i < call->buffer_count; i++) {
        if (counts[i] < 0 || counts[i] > call->bytes[i] / (int64_t)sizeof(int64_t)) {
            return false;
        }
    }
    return true;
}

static bool is_rank(int64_t rank) {
    return rank >= 0 && rank <= RANK;
}

static bool refuse_size(const ig_host_call *call) {
    return ig_host_refuse(call, "the result has more elements than can be counted");
}

/* ---- tile ---- */

ig_host_fn ig_host_tile_bounds;

bool ig_host_tile_bounds(const ig_host_call *call) {
    int64_t rank = call->params[0], *y = call->buffers[0];
    if (!is_rank(rank) || !has_counts(call, (int64_t[]){ 2 * rank, rank, rank })) {
        return false;
    }
    for (int64_t d = 0; d < rank; d++) {
        y[d] = values_of(call, 2)[d];
        if (y[d] < 0) {
            return ig_host_refuse(call, "repeats axis %lld %lld times", (long long)d,
                                  (long long)y[d]);
        }
        if (!ig_mul_i64(y[d], values_of(call, 1)[d], &y[rank + d])) {
            return refuse_size(call);
        }
    }
    return true;
}

/* ---- reshape ---- */

static bool count_of(const int64_t *dims, int64_t rank, int64_t *out) {
    *out = 1;
    for (int64_t d = 0; d < rank; d++) {
        if (!ig_mul_i64(*out, dims[d], out)) {
            return false;
        }
    }
    return true;
}

/* "[2, -1] for 7 elements" */
static bool refuse_shape(const ig_host_call *call, int64_t count) {
    char shape[128] = "";
    size_t used = 0;
    for (int64_t d = 0; d < call->params[1] && used + 24 < sizeof shape; d++) {
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%lld",
                                 d ? ", " : "", (long long)values_of(call, 2)[d]);
    }
    return ig_host_refuse(call, "the shape [%s] does not fit %lld elements", shape,
                          (long long)count);
}

ig_host_fn ig_host_reshape_bounds;

bool ig_host_reshape_bounds(const ig_host_call *call) {
    int64_t rank = call->params[0], to = call->params[1], *y = call->buffers[0];
    int64_t count, others = 1, rest = -1;
    if (!is_rank(rank) || !is_rank(to) ||
        !has_counts(call, (int64_t[]){ to, rank, to }) ||
        !count_of(values_of(call, 1), rank, &count)) {
        return false;
    }
    for (int64_t d = 0; d < to; d++) {
        y[d] = values_of(call, 2)[d];
        if (y[d] == -1 && rest < 0) {
            rest = d;
        } else if (y[d] < 0 || !ig_mul_i64(others, y[d], &others)) {
            return refuse_shape(call, count);
        }
    }
    if (rest >= 0) {
        if (others == 0) {
            return refuse_shape(call, count);
        }
        y[rest] = count / others;
        others *= y[rest];
    }
    return others == count || refuse_shape(call, count);
}

/* ---- expand ---- */

ig_host_fn ig_host_expand_bounds;

bool ig_host_expand_bounds(const ig_host_call *call) {
    int64_t rank = call->params[0], entries = call->params[1], *y = call->buffers[0];
    int64_t to = rank > entries ? rank : entries;
    if (!is_rank(rank) || !is_rank(entries) ||
        !has_counts(call, (int64_t[]){ to, rank, entries })) {
        return false;
    }
    for (int64_t d = 0; d < to; d++) { /* from the last axis on */
        int64_t own = d < rank ? values_of(call, 1)[rank - 1 - d] : 1;
        int64_t other = d < entries ? values_of(call, 2)[entries - 1 - d] : 1;
        if (other < 0) {
            return ig_host_refuse(call, "extent %lld of the shape is %lld",
                                  (long long)(entries - 1 - d), (long long)other);
        }
        if (own != other && own != 1 && other != 1) {
            return ig_host_refuse(call, "an extent of %lld does not broadcast to %lld",
                                  (long long)own, (long long)other);
        }
        y[to - 1 - d] = own == 1 ? other : own;
    }
    return true;
}

/* ---- axes ---- */

/* The axis named by an entry, or -1 when there is none or it was named before. */
static int64_t take_axis(int64_t axis, int64_t rank, uint64_t *seen) {
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || (*seen >> axis & 1)) {
        return -1;
    }
    *seen |= (uint64_t)1 << axis;
    return axis;
}

static bool refuse_axis(const ig_host_call *call, int64_t axis, int64_t rank) {
    return ig_host_refuse(call, "axis %lld of %lld is not there, or named twice",
                          (long long)axis, (long long)rank);
}

/* ---- slice ---- */

/* As ir/infer/slice.h: going backwards a start is 0 at least, an end -1. */
static int64_t clamp_position(int64_t at, int64_t extent, int64_t step, bool is_end) {
    int64_t low = step < 0 && is_end ? -1 : 0, high = step > 0 ? extent : extent - 1;
    at += at < 0 ? extent : 0; /* the signs differ */
    at = at < low ? low : at;
    return at > high ? high : at;
}

static int64_t steps_in(int64_t length, int64_t step) {
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return length > 0 ? (int64_t)(((uint64_t)length - 1) / stride) + 1 : 0;
}

ig_host_fn ig_host_slice_bounds;

bool ig_host_slice_bounds(const ig_host_call *call) {
    int64_t rank = call->params[0], entries = call->params[1], *y = call->buffers[0];
    uint64_t seen = 0;
    if (!is_rank(rank) || !has_counts(call, (int64_t[]){ 3 * rank, rank, entries,
                                                         entries, entries, entries })) {
        return false;
    }
    int64_t *starts = y, *sizes = y + rank, *steps = y + 2 * rank;
    for (int64_t d = 0; d < rank; d++) {
        starts[d] = 0;
        sizes[d] = values_of(call, 1)[d];
        steps[d] = 1;
    }
    for (int64_t i = 0; i < entries; i++) {
        int64_t axis = take_axis(values_of(call, 4)[i], rank, &seen);
        int64_t step = values_of(call, 5)[i];
        if (axis < 0) {
            return refuse_axis(call, values_of(call, 4)[i], rank);
        }
        if (step == 0) {
            return ig_host_refuse(call, "a step is 0");
        }
        int64_t extent = values_of(call, 1)[axis];
        int64_t first = clamp_position(values_of(call, 2)[i], extent, step, false);
        int64_t past = clamp_position(values_of(call, 3)[i], extent, step, true);
        sizes[axis] = steps_in(step > 0 ? past - first : first - past, step);
        starts[axis] = sizes[axis] ? first : 0;
        steps[axis] = sizes[axis] > 1 ? step : 1;
    }
    return true;
}

/* ---- pad ---- */

ig_host_fn ig_host_pad_bounds;

bool ig_host_pad_bounds(const ig_host_call *call) {
    int64_t rank = call->params[0], entries = call->params[1], *y = call->buffers[0];
    bool needs_elements = call->params[2] != 0;
    if (!is_rank(rank) || !is_rank(entries) ||
        !has_counts(call, (int64_t[]){ 3 * rank, rank, 2 * entries, entries })) {
        return false;
    }
    memset(y, 0, (size_t)(2 * rank) * sizeof *y);
    for (int64_t i = 0; i < entries; i++) {
        uint64_t others = 0; /* of an axis that is named twice the last counts */
        int64_t axis = take_axis(values_of(call, 3)[i], rank, &others);
        if (axis < 0) {
            return refuse_axis(call, values_of(call, 3)[i], rank);
        }
        y[axis] = values_of(call, 2)[i];
        y[rank + axis] = values_of(call, 2)[entries + i];
    }
    for (int64_t d = 0; d < rank; d++) {
        int64_t extent = values_of(call, 1)[d], *size = &y[2 * rank + d];
        if (!ig_add_i64(extent, y[d], size) || !ig_add_i64(*size, y[rank + d], size)) {
            return refuse_size(call);
        }
        if (*size < 0 || (needs_elements && extent == 0 && *size > 0)) {
            return ig_host_refuse(call,
                                  "axis %lld of %lld cannot be padded by %lld and %lld",
                                  (long long)d, (long long)extent, (long long)y[d],
                                  (long long)y[rank + d]);
        }
    }
    return true;
}

/* ---- reductions ---- */

ig_host_fn ig_host_reduce_bounds;

bool ig_host_reduce_bounds(const ig_host_call *call) {
    int64_t rank = call->params[0], entries = call->params[1], *y = call->buffers[0];
    uint64_t reduced = 0, whole = ~(uint64_t)0;
    bool none_is_none = call->params[2] & 1, may_repeat = call->params[2] & 2;
    if (!is_rank(rank) || !has_counts(call, (int64_t[]){ 3 * rank, rank, entries })) {
        return false;
    }
    for (int64_t i = 0; i < entries; i++) {
        uint64_t others = may_repeat ? 0 : reduced;
        if (take_axis(values_of(call, 2)[i], rank, &others) < 0) {
            return refuse_axis(call, values_of(call, 2)[i], rank);
        }
        reduced |= others;
    }
    reduced = entries == 0 && !none_is_none ? whole : reduced;
    int64_t alone = 2 * rank;
    for (int64_t d = 0; d < rank; d++) {
        bool is_reduced = reduced >> d & 1;
        int64_t extent = values_of(call, 1)[d];
        y[d] = is_reduced ? 1 : extent;
        y[rank + d] = is_reduced ? extent : 1;
        y[2 * rank + d] = 1;
        if (!is_reduced) {
            y[alone++] = extent;
        }
    }
    return true;
}

/* ---- range ---- */

ig_host_fn ig_host_range_count;

bool ig_host_range_count(const ig_host_call *call) {
    if (!has_counts(call, (int64_t[]){ 1, 1, 1, 1 })) {
        return false;
    }
    int64_t start = values_of(call, 1)[0], limit = values_of(call, 2)[0];
    int64_t step = values_of(call, 3)[0];
    bool is_empty = step > 0 ? limit <= start : limit >= start;
    uint64_t span = step > 0 ? (uint64_t)limit - (uint64_t)start
                             : (uint64_t)start - (uint64_t)limit;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t count = is_empty || !step ? 0 : (span - 1) / stride + 1;
    *(int64_t *)call->buffers[0] = (int64_t)count;
    if (step == 0) {
        return ig_host_refuse(call, "the step from %lld to %lld is 0", (long long)start,
                              (long long)limit);
    }
    return count <= INT64_MAX || refuse_size(call);
}

ig_host_fn ig_host_range_count_real;

bool ig_host_range_count_real(const ig_host_call *call) {
    if (!has_counts(call, (int64_t[]){ 1, 1, 1, 1 })) {
        return false;
    }
    const double *start = call->buffers[1], *limit = call->buffers[2];
    const double *step = call->buffers[3];
    double count = (*limit - *start) / *step;
    bool is_number = count <= 0 || count < 9e18;
    int64_t whole = is_number && count > 0 ? (int64_t)count : 0;
    *(int64_t *)call->buffers[0] = whole + (is_number && count > (double)whole);
    return is_number ||
           ig_host_refuse(call, "a range from %g to %g by %g has no countable length",
                          *start, *limit, *step);
}
