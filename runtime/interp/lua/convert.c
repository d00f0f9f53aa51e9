/* Values from C to Lua and back.  SPDX-License-Identifier: Apache-2.0
 *
 * Lists and tuples are tables from 1, dicts are tables; a table comes back as a list
 * where it is one, else as a dict.  Text that is not UTF-8 comes back as bytes.
 */
#include "base/utf8.h"
#include "runtime/interp/lua/lua_state.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

typedef struct lua_result_part {
    struct lua_result_part *next;
    ig_interp_object *object; /* in the part's bytes, or NULL */
    _Alignas(16) char bytes[];
} lua_result_part;

void *reference_of(int reference) {
    return (void *)(intptr_t)reference;
}

int object_reference(const ig_interp_object *object) {
    return (int)(intptr_t)object->reference;
}

/* ---- to Lua ---- */

static void push_list(lua_State *lua, const ig_interp_value *value, int loans,
                      int depth) {
    lua_newtable(lua);
    for (size_t i = 0; i < value->as.list.count; i++) {
        push_value(lua, &value->as.list.items[i], loans, depth + 1);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
}

static void push_dict(lua_State *lua, const ig_interp_value *value, int loans,
                      int depth) {
    lua_newtable(lua);
    for (size_t i = 0; i + 1 < value->as.list.count; i += 2) {
        push_value(lua, &value->as.list.items[i], loans, depth + 1);
        if (lua_isnil(lua, -1)) {
            luaL_error(lua, "a table has no key nil");
        }
        push_value(lua, &value->as.list.items[i + 1], loans, depth + 1);
        lua_rawset(lua, -3);
    }
}

static void push_lent(lua_State *lua, const ig_view *view, int loans) {
    if (ig_view_bytes(view) < 0 || !view->data) {
        luaL_error(lua, "a tensor without data, or whose dimensions are wrong");
    }
    (void)tensor_push(lua, view, true);
    lua_pushvalue(lua, -1);
    lua_rawseti(lua, loans, (lua_Integer)lua_rawlen(lua, loans) + 1);
}

void push_value(lua_State *lua, const ig_interp_value *value, int loans, int depth) {
    luaL_checkstack(lua, 4, NULL);
    if (depth > DEPTH_MAX) {
        luaL_error(lua, "an argument is nested deeper than %d", DEPTH_MAX);
    }
    switch (value->kind) {
    case IG_INTERP_NONE:
        lua_pushnil(lua);
        return;
    case IG_INTERP_TRUTH:
        lua_pushboolean(lua, value->as.truth);
        return;
    case IG_INTERP_INTEGER:
        lua_pushinteger(lua, value->as.integer);
        return;
    case IG_INTERP_REAL:
        lua_pushnumber(lua, value->as.real);
        return;
    case IG_INTERP_TEXT:
    case IG_INTERP_BYTES:
        lua_pushlstring(lua, value->as.text.data, value->as.text.size);
        return;
    case IG_INTERP_LIST:
    case IG_INTERP_TUPLE:
        push_list(lua, value, loans, depth);
        return;
    case IG_INTERP_DICT:
        push_dict(lua, value, loans, depth);
        return;
    case IG_INTERP_TENSOR:
        push_lent(lua, &value->as.tensor, loans);
        return;
    case IG_INTERP_OBJECT:
        lua_rawgeti(lua, LUA_REGISTRYINDEX, object_reference(value->as.object));
        return;
    }
    luaL_error(lua, "an argument of a kind that Lua does not have");
}

/* ---- from Lua ---- */

static void *take_part(lua_State *lua, lua_result *result, size_t size) {
    lua_result_part *part = malloc(sizeof *part + size);
    if (!part) {
        luaL_error(lua, "no memory for a result");
        return NULL;
    }
    part->next = result->parts;
    part->object = NULL;
    result->parts = part;
    return part->bytes;
}

static void read_value(lua_State *lua, lua_result *result, ig_interp_value *value,
                       int depth);

static void read_text(lua_State *lua, lua_result *result, ig_interp_value *value) {
    size_t size, at = 0, step = 1;
    const char *text = lua_tolstring(lua, -1, &size);
    while (at < size && step > 0) {
        step = ig_utf8_length(text + at, size - at);
        at += step;
    }
    char *copy = take_part(lua, result, size + 1);
    memcpy(copy, text, size + 1);
    value->kind = at == size && step > 0 ? IG_INTERP_TEXT : IG_INTERP_BYTES;
    value->as.text.data = copy;
    value->as.text.size = size;
}

static size_t count_pairs(lua_State *lua) {
    size_t count = 0;
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        lua_pop(lua, 1);
        count++;
    }
    return count;
}

/* The items are none until they are read, for what frees a result that failed. */
static void read_table(lua_State *lua, lua_result *result, ig_interp_value *value,
                       int depth) {
    size_t pairs = count_pairs(lua), length = lua_rawlen(lua, -1);
    bool is_list = pairs == length;
    size_t count = is_list ? pairs : 2 * pairs, at = 0;
    ig_interp_value *items = take_part(lua, result, (count + 1) * sizeof *items);
    value->kind = is_list ? IG_INTERP_LIST : IG_INTERP_DICT;
    value->as.list.items = items;
    value->as.list.count = count;
    for (size_t i = 0; is_list && i < count; i++) {
        (void)lua_rawgeti(lua, -1, (lua_Integer)i + 1);
        read_value(lua, result, &items[i], depth + 1);
        lua_pop(lua, 1);
    }
    if (is_list) {
        return;
    }
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        lua_pushvalue(lua, -2);
        read_value(lua, result, &items[at], depth + 1);
        lua_pop(lua, 1);
        read_value(lua, result, &items[at + 1], depth + 1);
        lua_pop(lua, 1);
        at += 2;
    }
}

/* A lent one is copied; another is held until the result is freed. */
static void read_tensor(lua_State *lua, lua_result *result, const lua_tensor *tensor,
                        ig_interp_value *value) {
    if (!tensor->view.data) {
        luaL_error(lua, "the result is a tensor of a call that has ended");
    }
    value->kind = IG_INTERP_TENSOR;
    value->as.tensor = tensor->view;
    value->as.tensor.capacity = (size_t)ig_view_bytes(&tensor->view);
    if (tensor->is_lent) {
        size_t size = value->as.tensor.capacity;
        value->as.tensor.data = take_part(lua, result, size + 1);
        memcpy(value->as.tensor.data, tensor->view.data, size);
        return;
    }
    lua_rawgeti(lua, LUA_REGISTRYINDEX, result->anchors);
    lua_pushvalue(lua, -2);
    lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
    lua_pop(lua, 1);
}

static void read_object(lua_State *lua, lua_result *result, ig_interp_value *value) {
    ig_interp_object *object = take_part(lua, result, sizeof *object);
    lua_pushvalue(lua, -1);
    *object = (ig_interp_object){ result->head.interp,
                                  reference_of(luaL_ref(lua, LUA_REGISTRYINDEX)) };
    result->parts->object = object;
    value->kind = IG_INTERP_OBJECT;
    value->as.object = object;
}

static void read_value(lua_State *lua, lua_result *result, ig_interp_value *value,
                       int depth) {
    const lua_tensor *tensor = tensor_at(lua, -1);
    luaL_checkstack(lua, 6, NULL);
    if (depth > DEPTH_MAX) {
        luaL_error(lua, "the result is nested deeper than %d", DEPTH_MAX);
    }
    if (tensor) {
        read_tensor(lua, result, tensor, value);
        return;
    }
    switch (lua_type(lua, -1)) {
    case LUA_TNIL:
        value->kind = IG_INTERP_NONE;
        return;
    case LUA_TBOOLEAN:
        value->kind = IG_INTERP_TRUTH;
        value->as.truth = lua_toboolean(lua, -1);
        return;
    case LUA_TNUMBER:
        value->kind = lua_isinteger(lua, -1) ? IG_INTERP_INTEGER : IG_INTERP_REAL;
        if (value->kind == IG_INTERP_INTEGER) {
            value->as.integer = lua_tointeger(lua, -1);
        } else {
            value->as.real = lua_tonumber(lua, -1);
        }
        return;
    case LUA_TSTRING:
        read_text(lua, result, value);
        return;
    case LUA_TTABLE:
        read_table(lua, result, value, depth);
        return;
    default:
        read_object(lua, result, value);
    }
}

void fill_result(lua_State *lua, lua_result *result, int first) {
    int count = lua_gettop(lua) - first + 1;
    lua_newtable(lua);
    result->anchors = luaL_ref(lua, LUA_REGISTRYINDEX);
    ig_interp_value *items = count > 1
                                 ? take_part(lua, result, (size_t)count * sizeof *items)
                                 : &result->head.value;
    for (int i = 0; i < count; i++) {
        lua_pushvalue(lua, first + i);
        read_value(lua, result, &items[i], 0);
        lua_pop(lua, 1);
    }
    if (count > 1) {
        result->head.value.kind = IG_INTERP_TUPLE;
        result->head.value.as.list.items = items;
        result->head.value.as.list.count = (size_t)count;
    }
}

void free_result_parts(lua_State *lua, lua_result *result) {
    for (lua_result_part *part = result->parts, *next; part; part = next) {
        next = part->next;
        if (part->object) {
            luaL_unref(lua, LUA_REGISTRYINDEX, object_reference(part->object));
        }
        free(part);
    }
    luaL_unref(lua, LUA_REGISTRYINDEX, result->anchors);
    free(result);
}
