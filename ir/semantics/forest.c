/* Whether the records of a tree ensemble lead nowhere outside of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kernels check nothing at run time: which records, leaves and targets are named is
 * known from the arrays alone, and is looked at once.
 */
#include "ir/semantics/forest.h"

#include <math.h>

static const char *check_record(const ig_tensor *const *arrays, int64_t r) {
    int64_t word = ig_tensor_get_i64(arrays[IG_FOREST_NODES], r);
    int64_t next = ig_forest_next(word);
    int64_t records = arrays[IG_FOREST_NODES]->count;
    int64_t leaf = ig_tensor_get_i64(arrays[IG_FOREST_LEAVES], r);
    bool never = isnan(ig_tensor_get_f64(arrays[IG_FOREST_TESTS], r)) &&
                 !ig_forest_tracks(word);
    if (next < (never ? -1 : 0) || next > records - 2) {
        return "a record leads to none";
    }
    bool is_there = leaf >= 0 && leaf < arrays[IG_FOREST_WEIGHTS]->dims[0];
    return is_there ? NULL : "a record names a leaf that has no weights";
}

static const char *check_tree(const ig_tensor *const *arrays, int64_t t,
                              int64_t targets) {
    const ig_tensor *trees = arrays[IG_FOREST_TREES];
    int64_t target = ig_tensor_get_i64(trees, 2 * t + 1);
    int64_t width = arrays[IG_FOREST_WEIGHTS]->dims[1];
    if (t >= arrays[IG_FOREST_NODES]->count) {
        return "a tree has no first record";
    }
    if (ig_tensor_get_i64(trees, 2 * t) < 0) {
        return "a tree has a negative number of steps";
    }
    return target >= 0 && target <= targets - width ? NULL : "a tree is for no target";
}

ig_forest_facts ig_forest_facts_read(const ig_tensor *const *arrays, int64_t targets) {
    const ig_tensor *nodes = arrays[IG_FOREST_NODES], *trees = arrays[IG_FOREST_TREES];
    ig_forest_facts facts = { .features = 0 };
    for (int64_t t = 0; t < trees->dims[0] && !facts.fault; t++) {
        int64_t steps = ig_tensor_get_i64(trees, 2 * t);
        facts.fault = check_tree(arrays, t, targets);
        facts.steps += steps < INT32_MAX ? steps : INT32_MAX;
    }
    for (int64_t r = 0; r < nodes->count && !facts.fault; r++) {
        int64_t word = ig_tensor_get_i64(nodes, r), feature = ig_forest_feature(word);
        facts.fault = check_record(arrays, r);
        facts.tracks |= ig_forest_tracks(word);
        if (facts.steps > 0 && feature >= facts.features) {
            facts.features = feature + 1;
        }
    }
    return facts;
}
