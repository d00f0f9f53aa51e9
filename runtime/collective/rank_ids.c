/* Functions of ranks about ids: bag_ids.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Written apart from the interpreter's (ir/fold), which judges them; the rules of ids
 * are those of bag: padding, negatives, then the range (ir/ops.def).
 */
#include "base/checked.h"
#include "runtime/collective/ranks.h"

#include <string.h>

enum { POOL_MEAN = 1, POOL_MAX = 2, POOL_NONE = 3 };
enum { LAST_IDS, LAST_OFFSET, LAST_MEAN, LAST_REST };
enum { NEGATIVE_WRAP, NEGATIVE_ERROR, NEGATIVE_SKIP };
enum { RANGE_ERROR, RANGE_CLAMP, RANGE_FIRST };
enum { OFFSETS_ERROR, OFFSETS_CLAMP, OFFSETS_SLICE, OFFSETS_FIRST };
enum { HAS_BEGINS = 1, HAS_ENDS = 2, HAS_WEIGHTS = 4 };
enum { BAG_PARAMS = 14 };

typedef struct bags {
    const ig_host_call *call;
    int64_t pool, last, negative, range, offsets, rows, feature;
    bool has_padding;
    int64_t padding, id_count, begin_count, bag_count, length, weight_bytes;
    const int64_t *ids, *begins, *ends;
    const char *weights;
    /* The output; NULL while it is counted. */
    int64_t *lengths, *listed;
    char *listed_weights;
    int64_t count; /* ids so far */
} bags;

typedef enum id_use { ID_ROW, ID_COUNTS, ID_LEFT_OUT, ID_WRONG } id_use;

static int64_t clamp_index(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

static id_use use_of(const bags *b, int64_t position, int64_t *out_row) {
    int64_t id = b->ids[position], row = id;
    if (id < 0 && b->negative == NEGATIVE_WRAP) {
        row = id + b->rows;
    }
    if (b->has_padding && row == b->padding) {
        return ID_LEFT_OUT;
    }
    if (id == -1 && b->negative == NEGATIVE_SKIP) {
        return ID_COUNTS;
    }
    bool may_move = b->rows > 0 && b->range != RANGE_ERROR &&
                    (id >= 0 || b->negative != NEGATIVE_ERROR);
    if (may_move) {
        bool is_far = row >= b->rows && b->range == RANGE_FIRST;
        row = is_far ? 0 : clamp_index(row, 0, b->rows - 1);
    }
    *out_row = row;
    return row < 0 || row >= b->rows ? ID_WRONG : ID_ROW;
}

static bool refuse_id(const bags *b, int64_t position) {
    return ig_rank_refuse(
        b->call,
        "bag_ids: feature %lld: id %lld at position %lld is out of range: the table has "
        "%lld rows",
        (long long)b->feature, (long long)b->ids[position], (long long)position,
        (long long)b->rows);
}

/* `position` -1: an id that counts, and is in no list. */
static void list_id(bags *b, int64_t position, int64_t row) {
    if (b->listed) {
        b->listed[b->count] = row;
        if (b->listed_weights) {
            char *to = b->listed_weights + b->count * b->weight_bytes;
            memset(to, 0, (size_t)b->weight_bytes);
            if (position >= 0) {
                memcpy(to, b->weights + position * b->weight_bytes,
                       (size_t)b->weight_bytes);
            }
        }
    }
    b->count++;
}

typedef struct span {
    int64_t begin, end;
} span;

/* Bag `number` as it is given. */
static span given_span(const bags *b, int64_t index) {
    if (!b->begins) {
        return (span){ index * b->length, (index + 1) * b->length };
    }
    int64_t end = b->ends                      ? b->ends[index]
                  : index + 1 < b->begin_count ? b->begins[index + 1]
                                               : b->id_count;
    return (span){ b->begins[index], end };
}

/* In order and within the ids, by the rule of offsets. */
static bool check_span(const bags *b, int64_t index, span *s) {
    if (b->offsets == OFFSETS_SLICE) {
        s->begin += s->begin < 0 ? b->id_count : 0;
        s->end += s->end < 0 ? b->id_count : 0;
    }
    if (b->offsets == OFFSETS_CLAMP || b->offsets == OFFSETS_SLICE) {
        s->begin = clamp_index(s->begin, 0, b->id_count);
        s->end = clamp_index(s->end, s->begin, b->id_count);
    }
    bool is_whole = b->offsets != OFFSETS_FIRST || index > 0 || s->begin == 0;
    bool is_good = is_whole && s->begin >= 0 && s->begin <= s->end &&
                   s->end <= b->id_count;
    return is_good ||
           ig_rank_refuse(b->call,
                          "bag_ids: feature %lld: bag %lld goes from %lld to %lld, and "
                          "there are %lld ids",
                          (long long)b->feature, (long long)index, (long long)s->begin,
                          (long long)s->end, (long long)b->id_count);
}

static bool list_bag(bags *b, int64_t index) {
    bool is_last = b->begins && index == b->bag_count - 1;
    int64_t first = b->count, row, divisor = 0;
    span s = given_span(b, index);
    if (!check_span(b, index, &s)) {
        return false;
    }
    if (is_last && b->last == LAST_MEAN && b->pool == POOL_MEAN) {
        divisor = b->id_count - s.begin;
    }
    if (is_last && b->last == LAST_REST && s.begin != s.end) {
        s.end = b->id_count;
    }
    for (int64_t i = s.begin; i < s.end; i++) {
        id_use use = use_of(b, i, &row);
        if (use == ID_WRONG) {
            return refuse_id(b, i);
        }
        if (use == ID_ROW || (use == ID_COUNTS && b->pool != POOL_MAX)) {
            list_id(b, i, use == ID_ROW ? row : -1);
        }
    }
    int64_t counted = b->count - first;
    for (int64_t i = counted; counted > 0 && i < divisor; i++) {
        list_id(b, -1, -1);
    }
    if (b->lengths) {
        b->lengths[index] = b->count - first;
    }
    return true;
}

/* Without pooling each id is a bag; those before the first and after the last bag that
 * was given are -1. */
static bool list_each(bags *b) {
    span window = { 0, b->begins ? 0 : b->id_count };
    if (b->begins && b->bag_count > 0) {
        window.begin = given_span(b, 0).begin;
        window.end = given_span(b, b->bag_count - 1).end;
        if (!check_span(b, 0, &window)) {
            return false;
        }
    }
    for (int64_t i = 0; i < b->id_count; i++) {
        int64_t row = -1;
        id_use use = i >= window.begin && i < window.end ? use_of(b, i, &row)
                                                         : ID_LEFT_OUT;
        if (use == ID_WRONG) {
            return refuse_id(b, i);
        }
        list_id(b, i, use == ID_ROW ? row : -1);
        b->lengths[i] = 1;
    }
    return true;
}

static bool list_bags(bags *b) {
    for (int64_t i = 0; i < b->bag_count; i++) {
        if (!list_bag(b, i)) {
            return false;
        }
    }
    return true;
}

/* Reads params, and buffers from `first` on: ids, begins, ends, weights. */
static bool open_bags(const ig_host_call *call, uint32_t first, bool has_weights,
                      bags *b) {
    const int64_t *p = call->params;
    if (call->param_count != BAG_PARAMS) {
        return false;
    }
    *b = (bags){ .call = call,
                 .pool = p[1],
                 .last = p[2],
                 .negative = p[3],
                 .range = p[4],
                 .offsets = p[5],
                 .rows = p[6],
                 .feature = p[7],
                 .has_padding = p[8] != 0,
                 .padding = p[9],
                 .id_count = p[10],
                 .begin_count = p[11],
                 .length = p[12],
                 .weight_bytes = p[13] };
    uint32_t at = first + 1, begins = p[0] & HAS_BEGINS ? at++ : 0;
    uint32_t ends = p[0] & HAS_ENDS ? at++ : 0;
    uint32_t weights = has_weights && p[0] & HAS_WEIGHTS ? at++ : 0;
    if (call->buffer_count != at || !ig_rank_holds(call, first, b->id_count, 8) ||
        (begins && !ig_rank_holds(call, begins, b->begin_count, 8)) ||
        (ends && !ig_rank_holds(call, ends, b->begin_count, 8)) ||
        (weights && !ig_rank_holds(call, weights, b->id_count, b->weight_bytes))) {
        return false;
    }
    b->ids = call->buffers[first];
    b->begins = begins ? call->buffers[begins] : NULL;
    b->ends = ends ? call->buffers[ends] : NULL;
    b->weights = weights ? call->buffers[weights] : NULL;
    b->bag_count = b->begins   ? b->begin_count - (b->last != LAST_IDS)
                   : b->length ? b->id_count / b->length
                               : 0;
    return b->bag_count >= 0 ||
           ig_rank_refuse(call,
                          "bag_ids: feature %lld: the last end is missing among 0 "
                          "offsets",
                          (long long)b->feature);
}

bool ig_rank_bag_ids_count(ig_group *group, const ig_host_call *call) {
    (void)group;
    bags b;
    if (!open_bags(call, 1, false, &b) || !ig_rank_holds(call, 0, 1, 8) ||
        !list_bags(&b)) {
        return false;
    }
    *(int64_t *)call->buffers[0] = b.count;
    return true;
}

bool ig_rank_bag_ids(ig_group *group, const ig_host_call *call) {
    (void)group;
    bags b, counted;
    bool has_weights = call->param_count == BAG_PARAMS && call->params[0] & HAS_WEIGHTS;
    if (!open_bags(call, has_weights ? 3 : 2, true, &b)) {
        return false;
    }
    bool is_none = b.pool == POOL_NONE;
    counted = b;
    if (!is_none && !list_bags(&counted)) {
        return false;
    }
    int64_t count = is_none ? b.id_count : counted.count;
    if (!ig_rank_holds(call, 0, is_none ? b.id_count : b.bag_count, 8) ||
        !ig_rank_holds(call, 1, count, 8) ||
        (has_weights && !ig_rank_holds(call, 2, count, b.weight_bytes))) {
        return false;
    }
    b.lengths = call->buffers[0];
    b.listed = call->buffers[1];
    b.listed_weights = has_weights ? call->buffers[2] : NULL;
    return is_none ? list_each(&b) : list_bags(&b);
}
