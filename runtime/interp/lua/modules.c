/* Modules of scripts: registered sources, and files of the folders given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/lua/lua_state.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* Letters, digits and underscores, with points between: no other file can be named. */
static bool is_module_name(const char *name) {
    static const char wanted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_.";
    return *name != '\0' && *name != '.' && strspn(name, wanted) == strlen(name) &&
           !strstr(name, "..");
}

/* Pushes the chunk of FOLDER/a/b.lua for a.b.  False: there is no such file. */
static bool load_file(lua_State *lua, const char *folder, const char *name) {
    char path[PATH_BYTES];
    int written = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (written < 0 || written + 5 > (int)sizeof path) {
        return false;
    }
    for (char *at = path + strlen(folder); *at; at++) {
        *at = *at == '.' ? '/' : *at;
    }
    memcpy(path + written, ".lua", 5);
    int status = luaL_loadfilex(lua, path, "t");
    if (status == LUA_ERRFILE) {
        lua_pop(lua, 1);
        return false;
    }
    if (status != LUA_OK) {
        lua_error(lua);
    }
    return true;
}

/* Pushes the chunk of a registered source, or of a file. */
static bool load_module(lua_State *lua, const char *name) {
    const lua_interp *self = interp_of(lua);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, self->sources);
    if (lua_getfield(lua, -1, name) == LUA_TSTRING) {
        size_t size;
        const char *source = lua_tolstring(lua, -1, &size);
        lua_pushfstring(lua, "=<ingot %s>", name);
        load_text(lua, source, size, lua_tostring(lua, -1));
        lua_replace(lua, -4);
        lua_pop(lua, 2);
        return true;
    }
    lua_pop(lua, 2);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, self->paths);
    bool is_found = false;
    for (lua_Integer i = 1; !is_found && lua_rawgeti(lua, -1, i) == LUA_TSTRING; i++) {
        is_found = load_file(lua, lua_tostring(lua, -1), name);
        lua_remove(lua, is_found ? -2 : -1);
    }
    if (is_found) {
        lua_remove(lua, -2);
    } else {
        lua_pop(lua, 2);
    }
    return is_found;
}

void push_module(lua_State *lua, const char *name) {
    const lua_interp *self = interp_of(lua);
    luaL_checkstack(lua, 8, NULL);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, self->loaded);
    if (lua_getfield(lua, -1, name) != LUA_TNIL) {
        lua_remove(lua, -2);
        return;
    }
    lua_pop(lua, 1);
    if (!is_module_name(name) || !load_module(lua, name)) {
        luaL_error(lua, "module '%s' is not found", name);
    }
    lua_pushstring(lua, name);
    lua_call(lua, 1, 1);
    if (lua_isnil(lua, -1)) { /* as Lua's own require */
        lua_pop(lua, 1);
        lua_pushboolean(lua, 1);
    }
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, name);
    lua_remove(lua, -2);
}

int require_module(lua_State *lua) {
    push_module(lua, luaL_checkstring(lua, 1));
    return 1;
}
