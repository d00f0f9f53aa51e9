/* TorchScript's types: making and printing them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/type.h"

#include "base/vec.h"

#include <assert.h>
#include <string.h>

static const char *const texts[] = {
#define IG_TEXT(name, text) text,
    IG_SCRIPT_TYPE_LIST(IG_TEXT)
#undef IG_TEXT
};

/* ---- interning ---- */

/* By kind and printed form: a class may be called `int`. */
static const ig_script_type *intern_type(ig_script_types *types,
                                         const ig_script_type *wanted) {
    assert(wanted->kind < IG_SCRIPT_KIND_COUNT && wanted->name &&
           "types are interned by kind and printed form");
    ig_writer key;
    ig_writer_init(&key, types->arena);
    ig_put_char(&key, (char)('A' + (int)wanted->kind));
    ig_put(&key, "%s", wanted->name);
    ig_script_type *known = ig_map_get(&types->table, ig_writer_str(&key));
    if (known) {
        return known;
    }
    ig_script_type *type = IG_NEW(types->arena, ig_script_type);
    *type = *wanted;
    type->id = types->count++;
    type->items = IG_NEW_ARRAY(types->arena, const ig_script_type *, wanted->count);
    if (wanted->count) {
        memcpy(type->items, wanted->items, wanted->count * sizeof(*type->items));
    }
    ig_map_set(&types->table, ig_writer_str(&key), type);
    return type;
}

static const ig_script_type *make_named(ig_script_types *types, ig_script_kind kind,
                                        const char *name) {
    return intern_type(types,
                       &(ig_script_type){ .kind = kind,
                                          .name = ig_arena_strdup(types->arena, name),
                                          .depth = 1,
                                          .has_variable = kind == IG_SCRIPT_VARIABLE });
}

void ig_script_types_init(ig_script_types *types, ig_context *context,
                          ig_arena *arena) {
    *types = (ig_script_types){ .arena = arena, .context = context };
    ig_map_init(&types->table, arena);
    for (int kind = 0; kind < IG_SCRIPT_LIST; kind++) {
        types->simple[kind] = make_named(types, (ig_script_kind)kind, texts[kind]);
    }
}

static const char *print_items(ig_script_types *types, ig_script_kind kind,
                               const ig_script_type *const *items, size_t count) {
    ig_writer writer;
    ig_writer_init(&writer, types->arena);
    ig_put(&writer, "%s[", texts[kind]);
    for (size_t i = 0; i < count; i++) {
        ig_put(&writer, "%s%s", i ? ", " : "", items[i]->name);
    }
    ig_put(&writer, count ? "]" : "()]");
    return writer.data;
}

static const ig_script_type *make_items(ig_script_types *types, ig_script_kind kind,
                                        const ig_script_type *const *items,
                                        size_t count) {
    assert(kind >= IG_SCRIPT_LIST && kind < IG_SCRIPT_CLASS &&
           "only these kinds have items");
    assert((kind == IG_SCRIPT_TUPLE || count > 0) && "only a tuple may be empty");
    assert((kind != IG_SCRIPT_DICT || count == 2) && "a dict has a key and a value");
    ig_script_type type = { .kind = kind, .count = count, .depth = 1 };
    type.name = print_items(types, kind, items, count);
    type.items = (const ig_script_type **)(uintptr_t)items; /* copied by intern */
    for (size_t i = 0; i < count; i++) {
        uint16_t below = items[i]->depth < UINT16_MAX ? items[i]->depth
                                                      : UINT16_MAX - 1;
        type.depth = type.depth > below ? type.depth : (uint16_t)(below + 1);
        type.has_variable = type.has_variable || items[i]->has_variable;
    }
    return intern_type(types, &type);
}

/* ---- by kind ---- */

const ig_script_type *ig_script_type_list(ig_script_types *types,
                                          const ig_script_type *element) {
    return make_items(types, IG_SCRIPT_LIST, &element, 1);
}

const ig_script_type *ig_script_type_optional(ig_script_types *types,
                                              const ig_script_type *element) {
    if (element->kind == IG_SCRIPT_UNION) {
        const ig_script_type *both[] = { element, types->simple[IG_SCRIPT_NONE] };
        return ig_script_type_union(types, both, 2);
    }
    return ig_script_type_admits_none(element)
               ? element
               : make_items(types, IG_SCRIPT_OPTIONAL, &element, 1);
}

const ig_script_type *ig_script_type_future(ig_script_types *types,
                                            const ig_script_type *element) {
    return make_items(types, IG_SCRIPT_FUTURE, &element, 1);
}

const ig_script_type *ig_script_type_dict(ig_script_types *types,
                                          const ig_script_type *key,
                                          const ig_script_type *value) {
    const ig_script_type *items[] = { key, value };
    return make_items(types, IG_SCRIPT_DICT, items, 2);
}

const ig_script_type *ig_script_type_tuple(ig_script_types *types,
                                           const ig_script_type *const *items,
                                           size_t count) {
    return make_items(types, IG_SCRIPT_TUPLE, items, count);
}

const ig_script_type *ig_script_type_class(ig_script_types *types, const char *name) {
    return make_named(types, IG_SCRIPT_CLASS, name);
}

const ig_script_type *ig_script_type_variable(ig_script_types *types,
                                              const char *name) {
    return make_named(types, IG_SCRIPT_VARIABLE, name);
}

bool ig_script_type_admits_none(const ig_script_type *type) {
    if (type->kind == IG_SCRIPT_UNION) {
        for (size_t i = 0; i < type->count; i++) {
            if (type->items[i]->kind == IG_SCRIPT_NONE) {
                return true;
            }
        }
    }
    return type->kind == IG_SCRIPT_NONE || type->kind == IG_SCRIPT_OPTIONAL ||
           type->kind == IG_SCRIPT_ANY;
}

/* ---- unions ---- */

typedef struct members {
    IG_VEC(const ig_script_type *) items;
    bool has_none;
} members;

/* One that no other covers; those that it covers go. */
static void add_member(ig_script_types *types, members *list,
                       const ig_script_type *type) {
    size_t kept = 0;
    for (size_t i = 0; i < list->items.count; i++) {
        const ig_script_type *other = list->items.items[i];
        if (ig_script_type_is_subtype(types, type, other)) {
            return;
        }
        if (!ig_script_type_is_subtype(types, other, type)) {
            list->items.items[kept++] = other;
        }
    }
    list->items.count = kept;
    IG_PUSH(types->arena, &list->items, type);
}

static void add_members(ig_script_types *types, members *list,
                        const ig_script_type *type) {
    if (type->kind == IG_SCRIPT_NONE) {
        list->has_none = true;
    } else if (type->kind == IG_SCRIPT_OPTIONAL || type->kind == IG_SCRIPT_UNION) {
        list->has_none = list->has_none || type->kind == IG_SCRIPT_OPTIONAL;
        for (size_t i = 0; i < type->count; i++) { /* flat: items are no unions */
            add_members(types, list, type->items[i]);
        }
    } else {
        add_member(types, list, type);
    }
}

const ig_script_type *ig_script_type_union(ig_script_types *types,
                                           const ig_script_type *const *items,
                                           size_t count) {
    members list = { 0 };
    for (size_t i = 0; i < count; i++) {
        add_members(types, &list, items[i]);
    }
    if (list.items.count == 0) {
        return types->simple[IG_SCRIPT_NONE];
    }
    if (list.items.count == 1) {
        const ig_script_type *one = list.items.items[0];
        return list.has_none ? ig_script_type_optional(types, one) : one;
    }
    if (list.has_none) {
        IG_PUSH(types->arena, &list.items, types->simple[IG_SCRIPT_NONE]);
    }
    return make_items(types, IG_SCRIPT_UNION, list.items.items, list.items.count);
}

const ig_script_type *ig_script_type_without_none(ig_script_types *types,
                                                  const ig_script_type *type) {
    if (type->kind == IG_SCRIPT_OPTIONAL) {
        return type->items[0];
    }
    if (type->kind != IG_SCRIPT_UNION || !ig_script_type_admits_none(type)) {
        return type;
    }
    members list = { 0 };
    for (size_t i = 0; i < type->count; i++) {
        add_members(types, &list, type->items[i]);
    }
    return ig_script_type_union(types, list.items.items, list.items.count);
}

const ig_script_type *ig_script_type_make(ig_script_types *types, ig_script_kind kind,
                                          const ig_script_type *const *items,
                                          size_t count) {
    assert((kind != IG_SCRIPT_OPTIONAL || count == 1) &&
           "an optional type has one item");
    if (kind == IG_SCRIPT_OPTIONAL) {
        return ig_script_type_optional(types, items[0]);
    }
    if (kind == IG_SCRIPT_UNION) {
        return ig_script_type_union(types, items, count);
    }
    return make_items(types, kind, items, count);
}
