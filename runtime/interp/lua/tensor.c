/* Tensors in Lua: ingot.tensor(dtype, dims [, numbers]), t[i] (row-major, from 1), #t,
 * t:dims(), t:dtype(), t:reshape(dims), t:totable().
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/lua/lua_state.h"

#include <string.h>

#define TENSOR_TYPE "ingot.tensor"

/* ---- elements ---- */

typedef struct element_type {
    const char *name;
    int32_t dtype;
    void (*push)(lua_State *lua, const char *at);
    void (*put)(lua_State *lua, char *at, int value);
} element_type;

/* An integer that has no place in a type is an error, as in Lua itself. */
#define WHOLE_TYPE(type, min, max)                                       \
    static void push_##type(lua_State *lua, const char *at) {            \
        type value;                                                      \
        memcpy(&value, at, sizeof value);                                \
        lua_pushinteger(lua, (lua_Integer)value);                        \
    }                                                                    \
    static void put_##type(lua_State *lua, char *at, int from) {         \
        lua_Integer given = luaL_checkinteger(lua, from);                \
        if (given < (min) || given > (max)) {                            \
            luaL_error(lua, "%I does not fit the tensor's type", given); \
        }                                                                \
        type value = (type)given;                                        \
        memcpy(at, &value, sizeof value);                                \
    }
#define REAL_TYPE(type)                                          \
    static void push_##type(lua_State *lua, const char *at) {    \
        type value;                                              \
        memcpy(&value, at, sizeof value);                        \
        lua_pushnumber(lua, (lua_Number)value);                  \
    }                                                            \
    static void put_##type(lua_State *lua, char *at, int from) { \
        type value = (type)luaL_checknumber(lua, from);          \
        memcpy(at, &value, sizeof value);                        \
    }
WHOLE_TYPE(int8_t, INT8_MIN, INT8_MAX)
WHOLE_TYPE(int16_t, INT16_MIN, INT16_MAX)
WHOLE_TYPE(int32_t, INT32_MIN, INT32_MAX)
WHOLE_TYPE(int64_t, INT64_MIN, INT64_MAX)
WHOLE_TYPE(uint8_t, 0, UINT8_MAX)
WHOLE_TYPE(uint16_t, 0, UINT16_MAX)
WHOLE_TYPE(uint32_t, 0, UINT32_MAX)
REAL_TYPE(float)
REAL_TYPE(double)

static void push_truth(lua_State *lua, const char *at) {
    lua_pushboolean(lua, *at != 0);
}

static void put_truth(lua_State *lua, char *at, int from) {
    luaL_checktype(lua, from, LUA_TBOOLEAN);
    *at = (char)lua_toboolean(lua, from);
}

static const element_type types[] = {
    { "f32", IG_F32, push_float, put_float },
    { "f64", IG_F64, push_double, put_double },
    { "i8", IG_I8, push_int8_t, put_int8_t },
    { "i16", IG_I16, push_int16_t, put_int16_t },
    { "i32", IG_I32, push_int32_t, put_int32_t },
    { "i64", IG_I64, push_int64_t, put_int64_t },
    { "u8", IG_U8, push_uint8_t, put_uint8_t },
    { "u16", IG_U16, push_uint16_t, put_uint16_t },
    { "u32", IG_U32, push_uint32_t, put_uint32_t },
    { "bool", IG_BOOL8, push_truth, put_truth },
};

static const element_type *type_of(lua_State *lua, const lua_tensor *tensor) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].dtype == tensor->view.dtype) {
            return &types[i];
        }
    }
    luaL_error(lua, "Lua has no numbers of this tensor's type");
    return NULL;
}

/* ---- tensors ---- */

lua_tensor *tensor_at(lua_State *lua, int at) {
    return luaL_testudata(lua, at, TENSOR_TYPE);
}

lua_tensor *tensor_push(lua_State *lua, const ig_view *view, bool is_lent) {
    lua_tensor *made = lua_newuserdatauv(lua, sizeof *made, 1);
    *made = (lua_tensor){ .view = *view, .is_lent = is_lent };
    luaL_setmetatable(lua, TENSOR_TYPE);
    return made;
}

/* One whose memory is there. */
static lua_tensor *check_tensor(lua_State *lua) {
    lua_tensor *tensor = luaL_checkudata(lua, 1, TENSOR_TYPE);
    if (!tensor->view.data) {
        luaL_error(lua,
                   "the call that this tensor was given to has ended: keep a copy");
    }
    return tensor;
}

static int64_t count_elements(const ig_view *view) {
    int64_t count = 1;
    for (uint32_t i = 0; i < view->rank; i++) {
        if (view->dims[i] == 0) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < view->rank; i++) {
        count *= view->dims[i];
    }
    return count;
}

static void read_dims(lua_State *lua, int from, ig_view *view) {
    luaL_checktype(lua, from, LUA_TTABLE);
    lua_Unsigned rank = lua_rawlen(lua, from);
    if (rank > IG_MAX_RANK) {
        luaL_error(lua, "a tensor has at most %d dimensions", IG_MAX_RANK);
    }
    view->rank = (uint32_t)rank;
    for (uint32_t i = 0; i < view->rank; i++) {
        (void)lua_rawgeti(lua, from, i + 1);
        view->dims[i] = luaL_checkinteger(lua, -1);
        lua_pop(lua, 1);
    }
}

/* The bytes of an element, found from a type's name. */
static void read_type(lua_State *lua, int from, ig_view *view) {
    const char *name = luaL_checkstring(lua, from);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0) {
            view->dtype = types[i].dtype;
            return;
        }
    }
    luaL_error(lua, "there is no type '%s' of tensors in Lua", name);
}

/* New memory, which the tensor holds as its value 1. */
lua_tensor *tensor_new(lua_State *lua, const ig_view *view) {
    int64_t bytes = ig_view_bytes(view);
    if (bytes < 0) {
        luaL_error(lua, "a tensor cannot have these dimensions");
    }
    lua_tensor *made = tensor_push(lua, view, false);
    made->view.data = lua_newuserdatauv(lua, (size_t)bytes + 1, 0);
    made->view.capacity = (size_t)bytes;
    memset(made->view.data, 0, (size_t)bytes + 1);
    (void)lua_setiuservalue(lua, -2, 1);
    return made;
}

static char *element_at(const lua_tensor *tensor, int64_t index) {
    int64_t count = count_elements(&tensor->view);
    size_t size = (size_t)ig_view_bytes(&tensor->view) / (size_t)count;
    return (char *)tensor->view.data + (size_t)index * size;
}

static int make_tensor(lua_State *lua) {
    ig_view view = { .rank = 0 };
    read_type(lua, 1, &view);
    read_dims(lua, 2, &view);
    bool has_numbers = !lua_isnoneornil(lua, 3);
    if (has_numbers) {
        luaL_checktype(lua, 3, LUA_TTABLE);
    }
    lua_tensor *made = tensor_new(lua, &view);
    int64_t count = count_elements(&view);
    if (has_numbers && (int64_t)lua_rawlen(lua, 3) != count) {
        return luaL_error(lua, "%I numbers are given to a tensor of %I",
                          (lua_Integer)lua_rawlen(lua, 3), (lua_Integer)count);
    }
    for (int64_t i = 0; has_numbers && i < count; i++) {
        (void)lua_rawgeti(lua, 3, i + 1);
        type_of(lua, made)->put(lua, element_at(made, i), -1);
        lua_pop(lua, 1);
    }
    return 1;
}

/* t[i]: an element, or nil past the end; t.name: a method. */
static int get_element(lua_State *lua) {
    if (lua_type(lua, 2) != LUA_TNUMBER) {
        (void)lua_getmetatable(lua, 1);
        lua_pushvalue(lua, 2);
        (void)lua_rawget(lua, -2);
        return 1;
    }
    const lua_tensor *tensor = check_tensor(lua);
    lua_Integer index = luaL_checkinteger(lua, 2);
    if (index < 1 || index > count_elements(&tensor->view)) {
        lua_pushnil(lua);
        return 1;
    }
    type_of(lua, tensor)->push(lua, element_at(tensor, index - 1));
    return 1;
}

static int set_element(lua_State *lua) {
    const lua_tensor *tensor = check_tensor(lua);
    lua_Integer index = luaL_checkinteger(lua, 2);
    if (index < 1 || index > count_elements(&tensor->view)) {
        return luaL_error(lua, "the tensor has no element %I", index);
    }
    type_of(lua, tensor)->put(lua, element_at(tensor, index - 1), 3);
    return 0;
}

static int get_length(lua_State *lua) {
    lua_pushinteger(lua, count_elements(&check_tensor(lua)->view));
    return 1;
}

static int get_dims(lua_State *lua) {
    const lua_tensor *tensor = check_tensor(lua);
    lua_createtable(lua, (int)tensor->view.rank, 0);
    for (uint32_t i = 0; i < tensor->view.rank; i++) {
        lua_pushinteger(lua, tensor->view.dims[i]);
        lua_rawseti(lua, -2, i + 1);
    }
    return 1;
}

static int get_type(lua_State *lua) {
    lua_pushstring(lua, type_of(lua, check_tensor(lua))->name);
    return 1;
}

/* A copy. */
static int copy_reshaped(lua_State *lua) {
    const lua_tensor *tensor = check_tensor(lua);
    ig_view view = { .dtype = tensor->view.dtype };
    read_dims(lua, 2, &view);
    const lua_tensor *made = tensor_new(lua, &view);
    if (ig_view_bytes(&view) != ig_view_bytes(&tensor->view)) {
        return luaL_error(lua, "a tensor of %I elements cannot have these dimensions",
                          (lua_Integer)count_elements(&tensor->view));
    }
    if (made->view.capacity > 0) {
        memcpy(made->view.data, tensor->view.data, made->view.capacity);
    }
    return 1;
}

static int to_table(lua_State *lua) {
    const lua_tensor *tensor = check_tensor(lua);
    int64_t count = count_elements(&tensor->view);
    const element_type *type = type_of(lua, tensor);
    lua_newtable(lua);
    for (int64_t i = 0; i < count; i++) {
        type->push(lua, element_at(tensor, i));
        lua_rawseti(lua, -2, i + 1);
    }
    budget_settle(lua, (uint64_t)count);
    return 1;
}

void tensor_open(lua_State *lua) {
    static const luaL_Reg methods[] = {
        { "__index", get_element }, { "__newindex", set_element },
        { "__len", get_length },    { "dims", get_dims },
        { "dtype", get_type },      { "reshape", copy_reshaped },
        { "totable", to_table },    { NULL, NULL },
    };
    static const luaL_Reg functions[] = { { "tensor", make_tensor }, { NULL, NULL } };
    luaL_newmetatable(lua, TENSOR_TYPE);
    luaL_setfuncs(lua, methods, 0);
    lua_pushboolean(lua, 0); /* scripts do not see it */
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
    luaL_newlib(lua, functions);
}
