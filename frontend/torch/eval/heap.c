/* Values with identity, and the journal of their changes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whatever can change - frames, lists, dicts, objects, storages - is a holder.  Before
 * a holder changes, ig_ts_touch writes all that it holds to the innermost level's
 * journal, once a level: `stamp` says when that was last done.  A holder that was born
 * inside the level is not written, since nothing outside of it can see it.
 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <string.h>

/* ---- the journal ---- */

static ig_ts_cell *cell_of(ig_ts_holder kind, void *holder) {
    switch ((int)kind) {
    case IG_TS_HOLD_FRAME:
        return &((ig_ts_frame *)holder)->cell;
    case IG_TS_HOLD_LIST:
        return &((ig_ts_list *)holder)->cell;
    case IG_TS_HOLD_DICT:
        return &((ig_ts_dict *)holder)->cell;
    case IG_TS_HOLD_OBJECT:
        return &((ig_ts_object *)holder)->cell;
    case IG_TS_HOLD_STORAGE:
        break;
    }
    return &((ig_ts_storage *)holder)->cell;
}

ig_ts_content ig_ts_content_of(ig_ts_holder kind, const void *holder) {
    ig_ts_content c = { 0 };
    if (kind == IG_TS_HOLD_FRAME) {
        const ig_ts_frame *frame = holder;
        c = (ig_ts_content){ .values = frame->values,
                             .names = frame->names,
                             .count = frame->count };
    } else if (kind == IG_TS_HOLD_LIST) {
        const ig_ts_list *list = holder;
        c = (ig_ts_content){ .values = list->items,
                             .count = list->count,
                             .poison = list->poison,
                             .stack = list->stack };
    } else if (kind == IG_TS_HOLD_DICT) {
        const ig_ts_dict *dict = holder;
        c = (ig_ts_content){ .values = dict->values,
                             .keys = dict->keys,
                             .count = dict->count,
                             .poison = dict->poison };
    } else if (kind == IG_TS_HOLD_OBJECT) {
        const ig_ts_object *object = holder;
        c = (ig_ts_content){ .values = object->values,
                             .names = object->names,
                             .count = object->count };
    } else {
        const ig_ts_storage *storage = holder;
        c = (ig_ts_content){ .value = storage->value,
                             .version = storage->version,
                             .seen = { storage->seen[0], storage->seen[1] },
                             .unknown = storage->poison,
                             .is_written = storage->is_written };
    }
    return c;
}

/* The same in arrays of its own. */
static ig_ts_content copy_content(ig_ts_eval *eval, const ig_ts_content *from) {
    ig_ts_content to = *from;
    size_t values = from->count * sizeof(ig_ts_value);
    size_t names = from->count * sizeof(char *);
    if (from->values) {
        to.values = (ig_ts_value *)ig_arena_copy(eval->arena, from->values, values);
    }
    if (from->keys) {
        to.keys = (ig_ts_value *)ig_arena_copy(eval->arena, from->keys, values);
    }
    if (from->names) {
        to.names = (const char **)ig_arena_copy(eval->arena, from->names, names);
    }
    return to;
}

static void put_content(ig_ts_eval *eval, ig_ts_holder kind, void *holder,
                        const ig_ts_content *content) {
    ig_ts_content c = copy_content(eval, content);
    ig_ts_value *values = (ig_ts_value *)(uintptr_t)c.values;
    const char **names = (const char **)(uintptr_t)c.names;
    if (kind == IG_TS_HOLD_FRAME) {
        ig_ts_frame *frame = holder; /* names never go: later ones become unset */
        for (size_t i = 0; i < frame->count; i++) {
            frame->values[i] = i < c.count ? values[i] : (ig_ts_value){ 0 };
        }
    } else if (kind == IG_TS_HOLD_LIST) {
        ig_ts_list *list = holder;
        list->items = values;
        list->count = list->capacity = c.count;
        list->poison = c.poison;
        list->stack = c.stack;
    } else if (kind == IG_TS_HOLD_DICT) {
        ig_ts_dict *dict = holder;
        dict->values = values;
        dict->keys = (ig_ts_value *)(uintptr_t)c.keys;
        dict->index = NULL;
        dict->count = dict->capacity = c.count;
        dict->poison = c.poison;
    } else if (kind == IG_TS_HOLD_OBJECT) {
        ig_ts_object *object = holder;
        object->values = values;
        object->names = names;
        object->count = object->capacity = c.count;
    } else {
        ig_ts_storage *storage = holder;
        storage->value = c.value;
        storage->version = c.version;
        memcpy(storage->seen, c.seen, sizeof c.seen);
        storage->poison = c.unknown;
        storage->is_written = c.is_written;
    }
}

void ig_ts_touch(ig_ts_eval *eval, ig_ts_holder kind, void *holder) {
    ig_ts_level *level = eval->level;
    ig_ts_cell *cell = cell_of(kind, holder);
    if (!level || cell->born >= level->start || cell->stamp >= level->start) {
        return;
    }
    ig_ts_content now = ig_ts_content_of(kind, holder);
    ig_ts_change change = { .kind = kind,
                            .holder = holder,
                            .stamp = cell->stamp,
                            .where = ig_ts_where(eval),
                            .before = copy_content(eval, &now) };
    IG_PUSH(eval->arena, &level->changes, change);
    ig_map_set_id(&level->index, IG_MAP_PTR(holder),
                  (void *)(uintptr_t)level->changes.count);
    cell->stamp = ++eval->clock;
}

void ig_ts_set_content(ig_ts_eval *eval, ig_ts_holder kind, void *holder,
                       const ig_ts_content *content) {
    ig_ts_touch(eval, kind, holder);
    put_content(eval, kind, holder, content);
}

void ig_ts_level_start(ig_ts_eval *eval, ig_ts_level *level) {
    *level = (ig_ts_level){ .outer = eval->level, .start = ++eval->clock };
    ig_map_init(&level->index, eval->arena);
    eval->level = level;
}

void ig_ts_level_undo(ig_ts_eval *eval, ig_ts_level *level) {
    assert(eval->level == level && "levels end in the reverse order of their starts");
    for (size_t i = level->changes.count; i-- > 0;) {
        ig_ts_change *change = &level->changes.items[i];
        ig_ts_content now = ig_ts_content_of(change->kind, change->holder);
        change->after = copy_content(eval, &now);
        put_content(eval, change->kind, change->holder, &change->before);
        cell_of(change->kind, change->holder)->stamp = change->stamp;
    }
    eval->level = level->outer;
}

/* ---- lists ---- */

ig_ts_list *ig_ts_list_create(ig_ts_eval *eval, size_t capacity) {
    ig_ts_list *list = IG_NEW(eval->arena, ig_ts_list);
    list->cell.born = ++eval->clock;
    list->items = IG_NEW_ARRAY(eval->arena, ig_ts_value, capacity);
    list->capacity = capacity;
    return list;
}

void ig_ts_list_add(ig_ts_eval *eval, ig_ts_list *list, ig_ts_value item) {
    assert(item.kind != IG_TS_UNSET && "an item is something");
    ig_vec_grow(eval->arena, (void **)&list->items, &list->count, &list->capacity,
                sizeof(ig_ts_value));
    list->items[list->count - 1] = item;
}

void ig_ts_list_set(ig_ts_eval *eval, ig_ts_list *list, size_t index,
                    ig_ts_value item) {
    assert(index < list->count && "the list has no such item");
    ig_ts_touch(eval, IG_TS_HOLD_LIST, list);
    list->items[index] = item;
}

void ig_ts_list_insert(ig_ts_eval *eval, ig_ts_list *list, size_t index,
                       ig_ts_value item) {
    assert(index <= list->count && "an item goes into the list or after its last one");
    ig_ts_touch(eval, IG_TS_HOLD_LIST, list);
    ig_ts_list_add(eval, list, item);
    memmove(&list->items[index + 1], &list->items[index],
            (list->count - 1 - index) * sizeof(item));
    list->items[index] = item;
}

/* In the dialect an empty list or dict is of a type too: that of its last item. */
static const ig_script_type *type_when_empty(ig_ts_eval *eval, ig_ts_value value,
                                             size_t count, const ig_script_type *type) {
    bool is_given = type || count != 1 || !eval->frame->is_dialect;
    return is_given ? type : ig_ts_type_of(eval, &value);
}

void ig_ts_list_remove(ig_ts_eval *eval, ig_ts_list *list, size_t index) {
    assert(index < list->count && "the list has no such item");
    ig_ts_touch(eval, IG_TS_HOLD_LIST, list);
    list->type = type_when_empty(eval, ig_ts_of_list(list), list->count, list->type);
    list->count--;
    memmove(&list->items[index], &list->items[index + 1],
            (list->count - index) * sizeof(*list->items));
}

/* ---- dicts ---- */

enum { INDEXED_ABOVE = 15 };

ig_ts_dict *ig_ts_dict_create(ig_ts_eval *eval) {
    ig_ts_dict *dict = IG_NEW(eval->arena, ig_ts_dict);
    dict->cell.born = ++eval->clock;
    return dict;
}

/* The text by which an index finds a key; false where keys of other kinds may equal
 * it. */
static bool key_text(const ig_ts_value *key, ig_str *out) {
    bool is_int = key->kind == IG_TS_INT;
    *out = is_int ? (ig_str){ (const char *)&key->as.i, sizeof(key->as.i) }
                  : key->as.str;
    return key->form == IG_TS_KNOWN && (is_int || key->kind == IG_TS_STR);
}

static void index_key(ig_ts_dict *dict, size_t position) {
    assert(position < dict->count && "the dict has no such key");
    ig_str text;
    if (dict->index && key_text(&dict->keys[position], &text)) {
        ig_map_set(dict->index, text, (void *)(uintptr_t)(position + 1));
    } else {
        dict->index = NULL;
    }
}

/* Keys of one kind, numbers or texts. */
static void make_index(ig_ts_eval *eval, ig_ts_dict *dict) {
    bool is_plain = true;
    for (size_t i = 0; i < dict->count; i++) {
        is_plain = is_plain && dict->keys[i].kind == dict->keys[0].kind;
    }
    if (!is_plain || dict->index) {
        return;
    }
    dict->index = IG_NEW(eval->arena, ig_map);
    ig_map_init(dict->index, eval->arena);
    for (size_t i = 0; i < dict->count && dict->index; i++) {
        index_key(dict, i);
    }
}

size_t ig_ts_dict_find(const ig_ts_dict *dict, const ig_ts_value *key) {
    ig_str text;
    if (dict->index && key->kind == dict->keys[0].kind && key_text(key, &text)) {
        size_t position = (size_t)(uintptr_t)ig_map_get(dict->index, text);
        return position ? position - 1 : dict->count;
    }
    for (size_t i = 0; i < dict->count; i++) {
        bool is_known;
        if (ig_ts_equal(&dict->keys[i], key, &is_known) && is_known) {
            return i;
        }
    }
    return dict->count;
}

void ig_ts_dict_set(ig_ts_eval *eval, ig_ts_dict *dict, ig_ts_value key,
                    ig_ts_value value) {
    assert(key.kind != IG_TS_UNSET && value.kind != IG_TS_UNSET &&
           "an entry has a key and a value");
    ig_ts_touch(eval, IG_TS_HOLD_DICT, dict);
    size_t index = ig_ts_dict_find(dict, &key);
    if (index == dict->count) {
        size_t count = dict->count, capacity = dict->capacity;
        ig_vec_grow(eval->arena, (void **)&dict->keys, &count, &capacity,
                    sizeof(ig_ts_value));
        ig_vec_grow(eval->arena, (void **)&dict->values, &dict->count, &dict->capacity,
                    sizeof(ig_ts_value));
        dict->keys[index] = key;
        if (dict->index && key.kind == dict->keys[0].kind) {
            index_key(dict, index);
        } else {
            dict->index = NULL;
        }
        if (dict->count > INDEXED_ABOVE && (dict->count & (dict->count - 1)) == 0) {
            make_index(eval, dict);
        }
    }
    dict->values[index] = value;
}

void ig_ts_dict_remove(ig_ts_eval *eval, ig_ts_dict *dict, size_t index) {
    assert(index < dict->count && "the dict has no such key");
    ig_ts_touch(eval, IG_TS_HOLD_DICT, dict);
    dict->type = type_when_empty(eval, ig_ts_of_dict(dict), dict->count, dict->type);
    dict->index = NULL;
    dict->count--;
    size_t bytes = (dict->count - index) * sizeof(ig_ts_value);
    memmove(&dict->keys[index], &dict->keys[index + 1], bytes);
    memmove(&dict->values[index], &dict->values[index + 1], bytes);
}

/* ---- objects ---- */

ig_ts_object *ig_ts_object_create(ig_ts_eval *eval, const char *class_name) {
    ig_ts_object *object = IG_NEW(eval->arena, ig_ts_object);
    object->cell.born = ++eval->clock;
    object->class_name = class_name;
    return object;
}

static size_t find_attribute(const ig_ts_object *object, const char *name) {
    size_t i = 0;
    while (i < object->count && strcmp(object->names[i], name) != 0) {
        i++;
    }
    return i;
}

ig_ts_value *ig_ts_object_get(const ig_ts_object *object, const char *name) {
    size_t index = find_attribute(object, name);
    return index < object->count ? &object->values[index] : NULL;
}

void ig_ts_object_set(ig_ts_eval *eval, ig_ts_object *object, const char *name,
                      ig_ts_value value) {
    ig_ts_touch(eval, IG_TS_HOLD_OBJECT, object);
    size_t index = find_attribute(object, name);
    if (index == object->count) {
        size_t count = object->count, capacity = object->capacity;
        ig_vec_grow(eval->arena, (void **)&object->names, &count, &capacity,
                    sizeof(char *));
        ig_vec_grow(eval->arena, (void **)&object->values, &object->count,
                    &object->capacity, sizeof(ig_ts_value));
        object->names[index] = name;
    }
    object->values[index] = value;
}
