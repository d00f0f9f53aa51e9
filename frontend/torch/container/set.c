/* Sets of plain Python: lists without equal items, in an order that tells nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"

/* Is it in the first `count` items?  That must be known. */
static ig_status find_known(ig_ts_eval *eval, ig_ts_list *list, size_t count,
                            const ig_ts_value *item, size_t *out_index) {
    for (*out_index = 0; *out_index < count; ++*out_index) {
        ig_ts_value equal;
        IG_TRY(ig_ts_step(eval));
        IG_TRY(ig_ts_values_equal(eval, &list->items[*out_index], item, &equal));
        if (equal.kind != IG_TS_BOOL || equal.form != IG_TS_KNOWN) {
            return ig_ts_error(eval, IG_UNSUPPORTED,
                               "a set holds a value that is known at run time only");
        }
        if (equal.as.b) {
            return IG_OK;
        }
    }
    return IG_OK;
}

ig_status ig_ts_unite(ig_ts_eval *eval, ig_ts_list *list) {
    size_t kept = 0, index;
    for (size_t i = 0; i < list->count; i++) {
        IG_TRY(find_known(eval, list, kept, &list->items[i], &index));
        if (index == kept) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
    list->is_set = true;
    return IG_OK;
}

ig_status ig_ts_join_sets(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                          const ig_ts_value *b, ig_ts_value *out) {
    ig_ts_list *x = a->as.list, *y = b->as.list, *list;
    size_t index;
    IG_TRY(ig_ts_open(eval, a));
    IG_TRY(ig_ts_open(eval, b));
    list = ig_ts_list_create(eval, x->count + y->count);
    *out = ig_ts_of_list(list);
    for (size_t i = 0; i < x->count; i++) {
        IG_TRY(find_known(eval, y, y->count, &x->items[i], &index));
        bool is_in = index < y->count;
        if (op == IG_AST_OP_BIT_OR || is_in == (op == IG_AST_OP_BIT_AND)) {
            ig_ts_list_add(eval, list, x->items[i]);
        }
    }
    for (size_t i = 0; op == IG_AST_OP_BIT_OR && i < y->count; i++) {
        ig_ts_list_add(eval, list, y->items[i]);
    }
    return ig_ts_unite(eval, list);
}

/* ---- methods ---- */

static ig_status find_argument(ig_ts_call *call, ig_ts_list **out_list,
                               size_t *out_index) {
    IG_TRY(ig_ts_list_at(call, 0, out_list));
    return find_known(call->eval, *out_list, (*out_list)->count, &call->args[1],
                      out_index);
}

ig_status ig_ts_op_set_add(ig_ts_call *call) {
    ig_ts_list *set = NULL;
    size_t i = 0;
    IG_TRY(find_argument(call, &set, &i));
    if (i == set->count) {
        ig_ts_list_insert(call->eval, set, i, call->args[1]);
    }
    return IG_OK;
}

ig_status ig_ts_op_set_discard(ig_ts_call *call) {
    ig_ts_list *set = NULL;
    size_t i = 0;
    IG_TRY(find_argument(call, &set, &i));
    if (i < set->count) {
        ig_ts_list_remove(call->eval, set, i);
    }
    return IG_OK;
}

ig_status ig_ts_op_set_remove(ig_ts_call *call) {
    ig_ts_list *set = NULL;
    size_t i = 0;
    IG_TRY(find_argument(call, &set, &i));
    return i < set->count ? ig_ts_op_set_discard(call)
                          : ig_ts_raise(call->eval, "KeyError: a set has no such item");
}

ig_status ig_ts_op_set_update(ig_ts_call *call) {
    ig_ts_list *set = NULL, *from = NULL;
    size_t index;
    IG_TRY(ig_ts_list_at(call, 0, &set));
    IG_TRY(ig_ts_list_at(call, 1, &from));
    for (size_t i = 0; i < from->count; i++) {
        IG_TRY(find_known(call->eval, set, set->count, &from->items[i], &index));
        if (index == set->count) {
            ig_ts_list_insert(call->eval, set, index, from->items[i]);
        }
    }
    return IG_OK;
}
