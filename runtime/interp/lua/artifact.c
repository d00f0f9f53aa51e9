/* Artifacts in Lua: ingot.open(NAME) of the manager's folders; a program p(x, …) runs
 * and gives tensors; p:inputs() and p:outputs() tell names and types.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The memory of sessions is of the interpreter's budget, weights are not; the time of a
 * run counts like any other.
 */
#include "runtime/interp/lua/lua_state.h"

#include "base/platform/clock.h"
#include "ingot/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM_TYPE "ingot.program"

enum { PATH_BYTES = 4096 };

typedef struct lua_program {
    ig_program *program;
    ig_session *session;
} lua_program;

/* ---- memory: the session's is of the interpreter's budget ---- */

static void *take_memory(void *user, size_t size, size_t alignment) {
    lua_budget *budget = user;
    if (budget->held + size > budget->memory || budget->held + size < size) {
        return NULL;
    }
    size_t whole = (size + alignment - 1) / alignment * alignment;
    void *memory = aligned_alloc(alignment, whole > 0 ? whole : alignment);
    if (memory) {
        budget->held += size;
    }
    return memory;
}

static void give_memory(void *user, void *memory, size_t size) {
    lua_budget *budget = user;
    budget->held -= memory ? size : 0;
    free(memory);
}

/* ---- files ---- */

/* A file of a folder, never of one above or below it. */
static bool is_file_name(const char *name) {
    return *name != '\0' && *name != '.' && !strchr(name, '/');
}

/* The first of the manager's folders that has it. */
static bool find_file(lua_State *lua, const char *name, char path[PATH_BYTES]) {
    bool is_found = false;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, interp_of(lua)->paths);
    for (lua_Integer i = 1; !is_found && lua_rawgeti(lua, -1, i) == LUA_TSTRING; i++) {
        int written = snprintf(path, PATH_BYTES, "%s/%s", lua_tostring(lua, -1), name);
        is_found = written > 0 && written < PATH_BYTES && access(path, R_OK) == 0;
        lua_pop(lua, 1);
    }
    return is_found;
}

static int open_artifact(lua_State *lua) {
    const char *name = luaL_checkstring(lua, 1);
    char path[PATH_BYTES], why[512] = "no memory";
    if (!is_file_name(name) || !find_file(lua, name, path)) {
        return luaL_error(lua, "artifact '%s' is not found", name);
    }
    ig_program_options how = { .size = sizeof how,
                               .message = why,
                               .message_size = sizeof why };
    ig_session_options with = { .size = sizeof with,
                                .message = why,
                                .message_size = sizeof why,
                                .allocate = take_memory,
                                .release = give_memory,
                                .memory_user = &interp_of(lua)->budget };
    (void)lua_gc(lua, LUA_GCCOLLECT); /* which does not see what programs hold */
    lua_program *made = lua_newuserdatauv(lua, sizeof *made, 0);
    *made = (lua_program){ NULL, NULL };
    luaL_setmetatable(lua, PROGRAM_TYPE); /* closes it, whatever comes */
    if (ig_program_open(path, &how, &made->program) != IG_OK ||
        ig_session_create(made->program, &with, &made->session) != IG_OK) {
        return luaL_error(lua, "artifact '%s': %s", name, why);
    }
    return 1;
}

static int close_program(lua_State *lua) {
    lua_program *program = luaL_checkudata(lua, 1, PROGRAM_TYPE);
    ig_session_destroy(program->session);
    ig_program_close(program->program);
    *program = (lua_program){ NULL, NULL };
    return 0;
}

/* ---- runs ---- */

static void read_inputs(lua_State *lua, const lua_program *p, ig_view *inputs,
                        size_t count) {
    for (size_t i = 0; i < count; i++) {
        const lua_tensor *tensor = tensor_at(lua, (int)i + 2);
        if (!tensor || !tensor->view.data) {
            luaL_error(lua, "input '%s' is given no tensor, or one of an ended call",
                       ig_program_input(p->program, i).name);
            return;
        }
        inputs[i] = tensor->view;
        inputs[i].capacity = (size_t)ig_view_bytes(&tensor->view);
    }
}

static void set_deadline(ig_session *session, int64_t deadline_ns) {
    int64_t left = deadline_ns - ig_clock_ns();
    ig_session_set_deadline(session, deadline_ns == 0 ? 0 : left > 1 ? left : 1);
}

/* p(x, …): outputs are copies, so that the next run does not change them. */
static int run_program(lua_State *lua) {
    const lua_program *p = luaL_checkudata(lua, 1, PROGRAM_TYPE);
    size_t input_count = ig_program_input_count(p->program);
    size_t output_count = ig_program_output_count(p->program);
    size_t bytes = (input_count + output_count + 1) * sizeof(ig_view);
    if ((size_t)lua_gettop(lua) - 1 != input_count) {
        return luaL_error(lua, "the program takes %d tensors, not %d", (int)input_count,
                          lua_gettop(lua) - 1);
    }
    luaL_checkstack(lua, (int)output_count + 4, "too many outputs");
    ig_view *inputs = lua_newuserdatauv(lua, bytes, 0);
    ig_view *outputs = inputs + input_count;
    memset(inputs, 0, bytes);
    read_inputs(lua, p, inputs, input_count);
    set_deadline(p->session, interp_of(lua)->budget.deadline_ns);
    ig_status status = ig_session_run(p->session, inputs, input_count, outputs,
                                      output_count);
    budget_settle(lua, 0);
    if (status != IG_OK) {
        return luaL_error(lua, "%s", ig_session_error(p->session));
    }
    for (size_t i = 0; i < output_count; i++) {
        const lua_tensor *made = tensor_new(lua, &outputs[i]);
        if (made->view.capacity > 0) {
            memcpy(made->view.data, outputs[i].data, made->view.capacity);
        }
    }
    return (int)output_count;
}

/* ---- arguments and results ---- */

/* {{name = …, type = …}, …} */
static int push_ports(lua_State *lua, size_t count,
                      ig_port (*port_of)(const ig_program *program, size_t index)) {
    const lua_program *p = luaL_checkudata(lua, 1, PROGRAM_TYPE);
    lua_createtable(lua, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        ig_port port = port_of(p->program, i);
        lua_createtable(lua, 0, 2);
        lua_pushstring(lua, port.name);
        lua_setfield(lua, -2, "name");
        lua_pushstring(lua, port.type);
        lua_setfield(lua, -2, "type");
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int list_inputs(lua_State *lua) {
    const lua_program *p = luaL_checkudata(lua, 1, PROGRAM_TYPE);
    return push_ports(lua, ig_program_input_count(p->program), ig_program_input);
}

static int list_outputs(lua_State *lua) {
    const lua_program *p = luaL_checkudata(lua, 1, PROGRAM_TYPE);
    return push_ports(lua, ig_program_output_count(p->program), ig_program_output);
}

void artifact_open(lua_State *lua) {
    static const luaL_Reg meta[] = { { "__call", run_program },
                                     { "__gc", close_program },
                                     { NULL, NULL } };
    static const luaL_Reg methods[] = { { "inputs", list_inputs },
                                        { "outputs", list_outputs },
                                        { NULL, NULL } };
    luaL_newmetatable(lua, PROGRAM_TYPE);
    luaL_setfuncs(lua, meta, 0);
    luaL_newlib(lua, methods);
    lua_setfield(lua, -2, "__index");
    lua_pushboolean(lua, 0); /* scripts do not see it */
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
    lua_pushcfunction(lua, open_artifact);
    lua_setfield(lua, -2, "open");
}
