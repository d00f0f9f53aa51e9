/* Dicts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"

#include <assert.h>

ig_status ig_ts_dict_at(ig_ts_call *call, uint32_t index, ig_ts_dict **out_dict) {
    assert(index < call->arg_count && "the schema has no such argument");
    ig_ts_value *value = &call->args[index];
    if (value->kind != IG_TS_DICT) {
        return ig_ts_fail(call, IG_INVALID, "takes a dict, got %s",
                          ig_ts_kind_name(value));
    }
    IG_TRY(ig_ts_open(call->eval, value));
    *out_dict = value->as.dict;
    return IG_OK;
}

/* At most as deep as the key is nested. */
bool ig_ts_is_key(const ig_ts_value *key) {
    bool is_key = key->kind != IG_TS_POISON && key->kind != IG_TS_TENSOR &&
                  (!ig_ts_is_number(key) || ig_ts_is_known(key));
    for (size_t i = 0; is_key && key->kind == IG_TS_TUPLE && i < key->as.list->count;
         i++) {
        is_key = ig_ts_is_key(&key->as.list->items[i]);
    }
    return is_key;
}

ig_status ig_ts_known_key(ig_ts_eval *eval, const ig_ts_value *key) {
    IG_TRY(ig_ts_use(eval, key));
    return ig_ts_is_key(key) ? IG_OK
                             : ig_ts_error(eval, IG_UNSUPPORTED,
                                           "a key of a dict is known at run time only");
}

static ig_status find_key(ig_ts_call *call, ig_ts_dict **out_dict, size_t *out_index) {
    IG_TRY(ig_ts_dict_at(call, 0, out_dict));
    IG_TRY(ig_ts_known_key(call->eval, &call->args[1]));
    *out_index = ig_ts_dict_find(*out_dict, &call->args[1]);
    return IG_OK;
}

static ig_status no_key(ig_ts_call *call) {
    const ig_ts_value *key = &call->args[1];
    return ig_ts_raise(
        call->eval,
        key->kind == IG_TS_STR
            ? ig_arena_printf(call->arena, "KeyError: '%.*s'", IG_STR_ARG(key->as.str))
            : "KeyError: a dict has no such key");
}

ig_status ig_ts_op_dict_len(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    IG_TRY(ig_ts_dict_at(call, 0, &dict));
    return ig_ts_give_int(call, 0, (int64_t)dict->count);
}

ig_status ig_ts_op_dict_contains(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    size_t i = 0;
    IG_TRY(find_key(call, &dict, &i));
    return ig_ts_give_bool(call, 0, i < dict->count);
}

ig_status ig_ts_op_dict_getitem(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    size_t i = 0;
    IG_TRY(find_key(call, &dict, &i));
    return i == dict->count ? no_key(call) : ig_ts_give_value(call, 0, dict->values[i]);
}

ig_status ig_ts_op_dict_get(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    size_t i = 0;
    IG_TRY(find_key(call, &dict, &i));
    if (i < dict->count) {
        return ig_ts_give_value(call, 0, dict->values[i]);
    }
    return ig_ts_give_value(call, 0,
                            call->arg_count > 2 ? call->args[2] : ig_ts_none());
}

ig_status ig_ts_op_dict_set_item(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    IG_TRY(ig_ts_dict_at(call, 0, &dict));
    IG_TRY(ig_ts_known_key(call->eval, &call->args[1]));
    ig_ts_dict_set(call->eval, dict, call->args[1], call->args[2]);
    return IG_OK;
}

ig_status ig_ts_op_dict_setdefault(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    size_t i = 0;
    IG_TRY(find_key(call, &dict, &i));
    if (i == dict->count) {
        ig_ts_dict_set(call->eval, dict, call->args[1], call->args[2]);
    }
    return ig_ts_give_value(call, 0, dict->values[i]);
}

ig_status ig_ts_op_dict_delete(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    size_t i = 0;
    IG_TRY(find_key(call, &dict, &i));
    if (i == dict->count) {
        return no_key(call);
    }
    ig_ts_dict_remove(call->eval, dict, i);
    return IG_OK;
}

ig_status ig_ts_op_dict_pop(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    size_t i = 0;
    IG_TRY(find_key(call, &dict, &i));
    if (i == dict->count) {
        return call->arg_count > 2 ? ig_ts_give_arg(call, 0, 2) : no_key(call);
    }
    IG_TRY(ig_ts_give_value(call, 0, dict->values[i]));
    ig_ts_dict_remove(call->eval, dict, i);
    return IG_OK;
}

static ig_ts_value pair_at(ig_ts_call *call, const ig_ts_dict *dict, size_t i) {
    return ig_ts_pair_of(call->eval, dict->keys[i], dict->values[i]);
}

ig_status ig_ts_op_dict_popitem(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    IG_TRY(ig_ts_dict_at(call, 0, &dict));
    if (dict->count == 0) {
        return ig_ts_raise(call->eval, "KeyError: popitem(): the dict is empty");
    }
    IG_TRY(ig_ts_give_value(call, 0, pair_at(call, dict, dict->count - 1)));
    ig_ts_dict_remove(call->eval, dict, dict->count - 1);
    return IG_OK;
}

ig_status ig_ts_op_dict_clear(ig_ts_call *call) {
    ig_ts_dict *dict = NULL;
    IG_TRY(ig_ts_dict_at(call, 0, &dict));
    while (dict->count > 0) {
        ig_ts_dict_remove(call->eval, dict, dict->count - 1);
    }
    return IG_OK;
}

ig_status ig_ts_op_dict_update(ig_ts_call *call) {
    ig_ts_dict *dict = NULL, *from = NULL;
    IG_TRY(ig_ts_dict_at(call, 0, &dict));
    IG_TRY(ig_ts_dict_at(call, 1, &from));
    for (size_t i = 0; i < from->count; i++) {
        ig_ts_dict_set(call->eval, dict, from->keys[i], from->values[i]);
    }
    return IG_OK;
}

ig_status ig_ts_op_dict_copy(ig_ts_call *call) {
    ig_ts_dict *dict = NULL, *copy = ig_ts_dict_create(call->eval);
    IG_TRY(ig_ts_dict_at(call, 0, &dict));
    for (size_t i = 0; i < dict->count; i++) {
        ig_ts_dict_set(call->eval, copy, dict->keys[i], dict->values[i]);
    }
    copy->type = dict->type;
    return ig_ts_give_value(call, 0, ig_ts_of_dict(copy));
}

/* dict(), dict([(k, v), …]) */
ig_status ig_ts_op_dict_make(ig_ts_call *call) {
    const ig_ts_list *pairs = NULL;
    IG_TRY(call->arg_count ? ig_ts_list_arg(call, 0, &pairs) : IG_OK);
    ig_ts_dict *dict = ig_ts_dict_create(call->eval);
    for (size_t i = 0; pairs && i < pairs->count; i++) {
        const ig_ts_list *pair = ig_ts_items_of(&pairs->items[i], 2);
        if (!pair || pairs->items[i].kind != IG_TS_TUPLE || pair->count != 2) {
            return ig_ts_fail(call, IG_INVALID, "takes a list of pairs");
        }
        ig_ts_dict_set(call->eval, dict, pair->items[0], pair->items[1]);
    }
    return ig_ts_give_value(call, 0, ig_ts_of_dict(dict));
}

static ig_status give_parts(ig_ts_call *call, bool takes_keys, bool takes_values) {
    ig_ts_dict *dict = NULL;
    IG_TRY(ig_ts_dict_at(call, 0, &dict));
    ig_ts_list *list = ig_ts_list_create(call->eval, dict->count);
    for (size_t i = 0; i < dict->count; i++) {
        ig_ts_list_add(call->eval, list,
                       takes_keys && takes_values ? pair_at(call, dict, i)
                       : takes_keys               ? dict->keys[i]
                                                  : dict->values[i]);
    }
    return ig_ts_give_value(call, 0, ig_ts_of_list(list));
}

ig_status ig_ts_op_dict_keys(ig_ts_call *call) {
    return give_parts(call, true, false);
}
ig_status ig_ts_op_dict_values(ig_ts_call *call) {
    return give_parts(call, false, true);
}
ig_status ig_ts_op_dict_items(ig_ts_call *call) {
    return give_parts(call, true, true);
}
