/* Fewer nodes of a model that still has the defect of the whole one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most defects are of a few neighbouring nodes.  So a half is looked at, and half of
 * that, while one fails by itself; all of it takes no longer than two runs of the
 * whole.  Where neither half fails, ever wider windows about where they meet are tried,
 * then a binary search finds where those that fail end, and another one where they
 * begin.  The last one is needed: ever more of its sources are taken.  Then comes delta
 * debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
 * Input", 2002) over the rest: parts alone, then the rest without a part, with ever
 * smaller parts.  At last single nodes are passed by, where an input has their result's
 * type: the others stay together, which a defect of fused ops needs.  Of the few that
 * are left two may go at once: a defect of two parts that are alike is none of one that
 * is shorter.
 */
#include "driver/defect/reduction.h"

#include <assert.h>
#include <string.h>

enum { FEW_NODES = 12 };

/* ---- windows ---- */

static bool fails_between(reduction *r, const id_list *list, size_t from, size_t to) {
    memset(r->fates, IG_ONNX_GONE, r->node_count);
    for (size_t i = from; i < to; i++) {
        r->fates[list->items[i]] = IG_ONNX_KEPT;
    }
    return reduction_try(r) == YES;
}

static void take_between(id_list *list, size_t from, size_t to) {
    list->items += from;
    list->count = to - from;
}

static void reduce_to_halves(reduction *r, id_list *list) {
    while (list->count > 1 && r->verdict != STOP) {
        size_t middle = list->count / 2;
        if (fails_between(r, list, 0, middle)) {
            take_between(list, 0, middle);
        } else if (fails_between(r, list, middle, list->count)) {
            take_between(list, middle, list->count);
        } else {
            return;
        }
    }
}

/* Neither half fails alone: those needed are about the middle, or all over the list. */
static void reduce_to_window(reduction *r, id_list *list) {
    size_t middle = list->count / 2;
    for (size_t reach = 1; reach < middle && r->verdict != STOP; reach *= 2) {
        if (fails_between(r, list, middle - reach, middle + reach)) {
            take_between(list, middle - reach, middle + reach);
            return;
        }
    }
}

/* The shortest beginning that fails, and of that the shortest end. */
static void reduce_ends(reduction *r, id_list *list) {
    size_t from = 0, to = list->count;
    for (size_t min = 1; min < to && r->verdict != STOP;) {
        size_t middle = min + (to - min) / 2;
        if (fails_between(r, list, 0, middle)) {
            to = middle;
        } else {
            min = middle + 1;
        }
    }
    for (size_t max = to - 1; from < max && r->verdict != STOP;) {
        size_t middle = max - (max - from) / 2;
        if (fails_between(r, list, middle, to)) {
            from = middle;
        } else {
            max = middle - 1;
        }
    }
    take_between(list, from, to);
}

/* ---- sources of the last one ---- */

static void take_kept(const reduction *r, id_list *list) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (r->fates[list->items[i]] == IG_ONNX_KEPT) {
            list->items[count++] = list->items[i];
        }
    }
    assert(count > 0 && "a variant has nodes");
    list->count = count;
}

/* Keeps those that are at most `max` in front of the list's last; their number. */
static size_t keep_near(reduction *r, const id_list *list, const uint32_t *distances,
                        uint32_t max) {
    size_t count = 0;
    memset(r->fates, IG_ONNX_GONE, r->node_count);
    for (size_t i = 0; i < list->count; i++) {
        bool is_near = distances[list->items[i]] <= max;
        r->fates[list->items[i]] = is_near ? IG_ONNX_KEPT : IG_ONNX_GONE;
        count += is_near;
    }
    return count;
}

typedef struct distances_call {
    reduction *r;
    size_t node;
    uint32_t *items;
} distances_call;

static ig_status find_distances(void *arguments) {
    distances_call *call = arguments;
    ig_arena *arena = &call->r->arena;
    call->items = IG_NEW_ARRAY(arena, uint32_t, call->r->node_count);
    ig_onnx_edit_distances(call->r->editor, call->node, arena, call->items);
    return IG_OK;
}

static void reduce_to_near(reduction *r, id_list *list) {
    distances_call call = { .r = r, .node = list->items[list->count - 1] };
    size_t before = 0;
    if (ig_driver_guard(r->module->context, find_distances, &call) != IG_OK) {
        r->verdict = STOP;
    }
    for (uint32_t max = 0; r->verdict != STOP; max = max ? 2 * max : 1) {
        size_t count = keep_near(r, list, call.items, max);
        if (count == before || count == list->count) {
            return;
        }
        if (reduction_try(r) == YES) {
            take_kept(r, list);
            return;
        }
        before = count;
    }
}

/* ---- parts ---- */

/* Part `number` of `parts` of the list: alone, or all the others. */
static void keep_part(reduction *r, const id_list *list, size_t index, size_t parts,
                      bool is_alone) {
    memset(r->fates, IG_ONNX_GONE, r->node_count);
    for (size_t i = 0; i < list->count; i++) {
        bool is_in = i * parts / list->count == index;
        r->fates[list->items[i]] = is_in == is_alone ? IG_ONNX_KEPT : IG_ONNX_GONE;
    }
}

static bool try_parts(reduction *r, id_list *list, size_t parts, bool is_alone) {
    for (size_t i = 0; i < parts; i++) {
        keep_part(r, list, i, parts, is_alone);
        if (reduction_try(r) == YES) {
            take_kept(r, list);
            return true;
        }
    }
    return false;
}

static void reduce_to_parts(reduction *r, id_list *list) {
    size_t parts = 2;
    while (list->count > 1 && r->verdict != STOP) {
        parts = parts < list->count ? parts : list->count;
        if (try_parts(r, list, parts, true)) {
            parts = 2;
        } else if (parts > 2 && try_parts(r, list, parts, false)) {
            parts = parts > 3 ? parts - 1 : 2;
        } else if (parts == list->count) {
            break;
        } else {
            parts *= 2;
        }
    }
    memset(r->fates, IG_ONNX_GONE, r->node_count);
    for (size_t i = 0; i < list->count; i++) {
        r->fates[list->items[i]] = IG_ONNX_KEPT;
    }
}

/* Passes by each node that is not needed so; again, while one of them was not. */
static void pass_nodes(reduction *r, const id_list *list) {
    for (bool is_less = true; is_less && r->verdict != STOP;) {
        is_less = false;
        for (size_t i = list->count; i-- > 0 && r->verdict != STOP;) {
            uint8_t *fate = &r->fates[list->items[i]];
            if (*fate == IG_ONNX_KEPT) {
                *fate = IG_ONNX_PASSED;
                bool is_passed = reduction_try(r) == YES;
                *fate = is_passed ? IG_ONNX_PASSED : IG_ONNX_KEPT;
                is_less = is_less || is_passed;
            }
        }
    }
}

/* ---- two at once ---- */

static bool try_fate(reduction *r, uint8_t *one, uint8_t *other, ig_onnx_fate fate) {
    *one = *other = (uint8_t)fate;
    if (reduction_try(r) == YES) {
        return true;
    }
    *one = *other = IG_ONNX_KEPT;
    return false;
}

/* Some node, or some two, of those that are kept. */
static bool drop_two(reduction *r, const id_list *list) {
    for (size_t i = list->count; i-- > 0;) {
        uint8_t *one = &r->fates[list->items[i]];
        for (size_t k = i + 1; k-- > 0 && *one == IG_ONNX_KEPT;) {
            uint8_t *other = &r->fates[list->items[k]];
            if (*other == IG_ONNX_KEPT && (try_fate(r, one, other, IG_ONNX_GONE) ||
                                           try_fate(r, one, other, IG_ONNX_PASSED))) {
                return true;
            }
        }
    }
    return false;
}

static void drop_pairs(reduction *r, const id_list *list) {
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++) {
        left += r->fates[list->items[i]] == IG_ONNX_KEPT;
    }
    while (left > 1 && left <= FEW_NODES && drop_two(r, list)) {
        left--;
    }
}

void reduce_nodes(reduction *r, id_list *list) {
    reduce_to_halves(r, list);
    reduce_to_window(r, list);
    reduce_ends(r, list);
    reduce_to_near(r, list);
    reduce_to_parts(r, list);
    pass_nodes(r, list);
    drop_pairs(r, list);
}
