/* What two branches that the run chooses from do not agree about.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value, or the content of a container, that an `if` of the run cannot give as one is
 * poison: nobody may look at it.  A look is no refusal yet.  The branch
 * is noted as split and the import begins again; then its two sides are not merged, but
 * each goes on by itself (frontend/torch/python/branch.c), so that either knows what
 * its containers hold:
 *
 *     if x.sum() > 0:               if …:   d["b"] = …
 *         d["b"] = x * 2     ->             return x + 1
 *     if "b" in d:                  else:
 *         return x + 1                      return x
 *     return x
 *
 * Level 0 goes on to the end of the function that has the branch.  Where its caller
 * still reads the values that it leaves, level 1 goes on to the caller's end, and so
 * forth.
 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <stdio.h>

enum { ROUNDS_MAX = 64 };

static uint64_t hash_name(const char *name) {
    ig_str text = ig_str_of(name);
    return ig_hash_bytes(text.data, text.size, 0);
}

static ig_ts_split *find_split(const ig_ts_splits *splits, uint64_t module,
                               uint32_t line, uint32_t column, bool catches) {
    for (uint32_t i = 0; splits && i < splits->count; i++) {
        const ig_ts_split *s = &splits->items[i];
        if (s->module == module && s->line == line && s->column == column &&
            s->catches == catches) {
            return (ig_ts_split *)(uintptr_t)s;
        }
    }
    return NULL;
}

const ig_ts_split *ig_ts_split_find(const ig_ts_eval *eval, const char *module,
                                    const ig_ast *node, bool catches) {
    bool has_any = eval->splits && eval->splits->count;
    return has_any ? find_split(eval->splits, hash_name(module), node->line,
                                node->column, catches)
                   : NULL;
}

bool ig_ts_split_add(ig_ts_eval *eval, const ig_ts_point *point, bool catches,
                     const char *what) {
    ig_ts_splits *splits = eval->splits;
    uint64_t module = hash_name(point->module);
    ig_ts_split *known = find_split(splits, module, point->line, point->column,
                                    catches);
    if (!splits || splits->rounds > ROUNDS_MAX || point->level >= point->levels ||
        (known && known->level >= point->level)) {
        return false;
    }
    if (!known && splits->count == IG_COUNT_OF(splits->items)) {
        return false;
    }
    assert((!known || known->catches == catches) && "a split of the kind asked for");
    known = known ? known : &splits->items[splits->count++];
    *known = (ig_ts_split){ .module = module,
                            .line = point->line,
                            .column = point->column,
                            .level = point->level,
                            .catches = catches };
    snprintf(known->what, sizeof known->what, "%s", what);
    splits->has_grown = true;
    return true;
}

ig_status ig_ts_refuse_poison(ig_ts_eval *eval, const char *words,
                              const ig_ts_poison *poison) {
    const char *what = ig_arena_printf(eval->arena, "%s %s", words, poison->what);
    if (poison->point && ig_ts_split_add(eval, poison->point, false, what)) {
        return IG_UNSUPPORTED; /* not reported: the next evaluation may do it */
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "%s %s", words, poison->what);
}

ig_status ig_ts_open(ig_ts_eval *eval, const ig_ts_value *value) {
    bool is_list = value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
    const ig_ts_poison *poison = is_list                     ? value->as.list->poison
                                 : value->kind == IG_TS_DICT ? value->as.dict->poison
                                                             : NULL;
    return poison ? ig_ts_refuse_poison(
                        eval, is_list ? "uses a list that" : "uses a dict that", poison)
                  : IG_OK;
}
