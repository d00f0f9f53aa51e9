/* What scripts may use: libraries without files and processes, instructions, memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A hook counts instructions.  What runs long without any, and so past the hook, is
 * absent or guarded: - bytecode, files, processes, debug, coroutines (each has a
 * counter of its own); - xpcall's handlers and __gc, which run with hooks off; -
 * functions in C whose loops are as long as their arguments say: these check the
 * arguments first, and count the time that they took.  Once a budget is over, each
 * further instruction fails, so that pcall does not help.
 */
#include "runtime/interp/lua/lua_state.h"

#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOOK_STEP = 1000, NS_A_STEP = 20 };

lua_interp *interp_of(lua_State *lua) {
    lua_interp *self;
    memcpy(&self, lua_getextraspace(lua), sizeof(lua_interp *));
    return self;
}

/* ---- budgets ---- */

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void *budget_allocate(void *given, void *block, size_t old_size, size_t new_size) {
    lua_budget *budget = given;
    old_size = block ? old_size : 0; /* else a kind of object */
    if (new_size == 0) {
        budget->held -= old_size;
        free(block);
        return NULL;
    }
    if (new_size > old_size && budget->held + new_size - old_size > budget->memory) {
        return NULL;
    }
    void *made = realloc(block, new_size);
    if (made) {
        budget->held += new_size - old_size;
    }
    return made;
}

/* Lua's collector runs here and where memory ends, not by itself: that of 5.4.4 (Debian
 * 12) may look past the end of a stack that has grown in a metamethod of `..`. */
static void collect_garbage(lua_State *lua) {
    enum { MORE_KB = 1 }; /* than was allocated: 0 would be a step without need */
    (void)lua_gc(lua, LUA_GCSTEP, MORE_KB);
}

static void count_instructions(lua_State *lua, lua_Debug *unused) {
    (void)unused;
    collect_garbage(lua);
    budget_settle(lua, HOOK_STEP);
}

void budget_begin(lua_interp *self, int64_t deadline_ns) {
    lua_budget *budget = &self->budget;
    budget->used = 0;
    budget->ended = IG_OK;
    budget->deadline_ns = deadline_ns;
    budget->begin_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    (void)lua_gc(self->lua, LUA_GCSTOP);
    collect_garbage(self->lua);
    lua_sethook(self->lua, count_instructions, LUA_MASKCOUNT, HOOK_STEP);
}

void budget_settle(lua_State *lua, uint64_t instructions) {
    lua_budget *budget = &interp_of(lua)->budget;
    int64_t now = read_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t took = (uint64_t)(now - budget->begin_ns) / NS_A_STEP;
    budget->begin_ns = now;
    budget->used += took > instructions ? took : instructions;
    bool is_late = budget->deadline_ns != 0 &&
                   read_clock(CLOCK_MONOTONIC) >= budget->deadline_ns;
    if (!is_late && budget->used <= budget->instructions) {
        return;
    }
    budget->ended = IG_LIMIT;
    lua_sethook(lua, count_instructions, LUA_MASKCOUNT, 1);
    luaL_error(lua, is_late ? "the call's deadline has passed"
                            : "the call's budget of instructions is used up");
}

/* An error before a function in C would do so many steps: of this call's budget, or of
 * any call's. */
static void check_steps(lua_State *lua, uint64_t steps, const char *what) {
    const lua_budget *budget = &interp_of(lua)->budget;
    if (steps > budget->instructions) {
        luaL_error(lua, "%s could take longer than a call's budget of instructions",
                   what);
    }
    if (steps > budget->instructions - budget->used) {
        budget_settle(lua, steps);
    }
}

/* ---- guarded functions ---- */

/* The original is the first upvalue; it finds the arguments where they are. */
static int call_original(lua_State *lua) {
    int results = lua_tocfunction(lua, lua_upvalueindex(1))(lua);
    budget_settle(lua, 0);
    return results;
}

static int guard_repeat(lua_State *lua) {
    size_t size, between = 0;
    (void)luaL_checklstring(lua, 1, &size);
    (void)luaL_optlstring(lua, 3, "", &between);
    if (size + between == 0) {
        (void)luaL_checkinteger(lua, 2);
        lua_pushliteral(lua, "");
        return 1;
    }
    return call_original(lua); /* the memory is the limit */
}

/* Past the set that begins at `at`: its characters are no repeat. */
static size_t skip_set(const char *pattern, size_t length, size_t at) {
    size_t end = at + 1;
    end += end < length && pattern[end] == '^';
    end += end < length && pattern[end] == ']';
    while (end < length && pattern[end] != ']') {
        end += pattern[end] == '%' ? 2 : 1;
    }
    return end;
}

/* How many times longer a pattern may take by its item at `at`; that is skipped. */
static uint64_t weigh_item(const char *pattern, size_t length, size_t *at,
                           size_t size) {
    char c = pattern[*at];
    if (c == '[') {
        *at = skip_set(pattern, length, *at);
        return 1;
    }
    if (c == '%' && *at + 1 < length) {
        char escaped = pattern[++*at];
        bool goes_on = escaped == 'b' || (escaped >= '0' && escaped <= '9');
        return goes_on ? size + 1 : 1;
    }
    return c == '*' || c == '+' || c == '-' ? size + 1 : c == '?' ? 2 : 1;
}

/* Each repeat of a pattern may go over the whole text again. */
static void check_pattern(lua_State *lua) {
    size_t size, length;
    (void)luaL_checklstring(lua, 1, &size);
    const char *pattern = luaL_checklstring(lua, 2, &length);
    uint64_t steps = size + 1;
    for (size_t i = 0; i < length && steps < UINT32_MAX; i++) {
        steps *= weigh_item(pattern, length, &i, size);
    }
    check_steps(lua, steps, "this pattern on this text");
}

static int guard_pattern(lua_State *lua) {
    check_pattern(lua);
    return call_original(lua);
}

static int guard_plain_find(lua_State *lua) {
    if (!lua_toboolean(lua, 4)) {
        check_pattern(lua);
    }
    return call_original(lua);
}

static int next_match(lua_State *lua) {
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_call(lua, 0, LUA_MULTRET);
    budget_settle(lua, 0);
    return lua_gettop(lua);
}

static int guard_matches(lua_State *lua) {
    check_pattern(lua);
    (void)call_original(lua);
    lua_pushcclosure(lua, next_match, 1);
    return 1;
}

/* A table says how long it is, not a function of its. */
static int guard_table(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    if (lua_getmetatable(lua, 1)) {
        return luaL_error(lua, "a table with a metatable cannot be given here");
    }
    check_steps(lua, lua_rawlen(lua, 1), "a table of this length");
    return call_original(lua);
}

static int guard_move(lua_State *lua) {
    lua_Integer first = luaL_checkinteger(lua, 2), last = luaL_checkinteger(lua, 3);
    if (last >= first) {
        check_steps(lua, (uint64_t)last - (uint64_t)first, "a move of this length");
    }
    return call_original(lua);
}

/* Finalisers would run with hooks off. */
static int guard_metatable(lua_State *lua) {
    if (lua_type(lua, 2) == LUA_TTABLE) {
        lua_pushliteral(lua, "__gc");
        if (lua_rawget(lua, 2) != LUA_TNIL) {
            return luaL_error(lua, "metatables have no __gc here");
        }
        lua_pop(lua, 1);
    }
    return call_original(lua);
}

void load_text(lua_State *lua, const char *source, size_t size, const char *name) {
    if (luaL_loadbufferx(lua, source, size, name, "t") != LUA_OK) {
        lua_error(lua);
    }
}

/* load(text [, name [, "t" [, names]]]): nil and a message where it is wrong. */
static int load_chunk(lua_State *lua) {
    size_t size;
    const char *source = luaL_checklstring(lua, 1, &size);
    const char *name = luaL_optstring(lua, 2, "=(load)");
    bool has_names = !lua_isnone(lua, 4);
    if (luaL_loadbufferx(lua, source, size, name, "t") != LUA_OK) {
        lua_pushnil(lua);
        lua_insert(lua, -2);
        return 2;
    }
    if (has_names) {
        lua_pushvalue(lua, 4);
        (void)lua_setupvalue(lua, -2, 1);
    }
    return 1;
}

/* ---- libraries ---- */

static const char *const absent[] = { "collectgarbage", "dofile", "loadfile",
                                      "print",          "warn",   "xpcall" };

typedef struct guarded {
    const char *library, *name;
    lua_CFunction guard;
} guarded;

static const guarded guards[] = {
    { LUA_STRLIBNAME, "rep", guard_repeat },
    { LUA_STRLIBNAME, "find", guard_plain_find },
    { LUA_STRLIBNAME, "match", guard_pattern },
    { LUA_STRLIBNAME, "gmatch", guard_matches },
    { LUA_STRLIBNAME, "gsub", guard_pattern },
    { LUA_TABLIBNAME, "concat", guard_table },
    { LUA_TABLIBNAME, "insert", guard_table },
    { LUA_TABLIBNAME, "remove", guard_table },
    { LUA_TABLIBNAME, "sort", guard_table },
    { LUA_TABLIBNAME, "unpack", guard_table },
    { LUA_TABLIBNAME, "move", guard_move },
    { LUA_GNAME, "setmetatable", guard_metatable },
};

void sandbox_open(lua_State *lua) {
    static const luaL_Reg libraries[] = { { LUA_GNAME, luaopen_base },
                                          { LUA_STRLIBNAME, luaopen_string },
                                          { LUA_TABLIBNAME, luaopen_table },
                                          { LUA_MATHLIBNAME, luaopen_math },
                                          { LUA_UTF8LIBNAME, luaopen_utf8 } };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        luaL_requiref(lua, libraries[i].name, libraries[i].func, 1);
        lua_pop(lua, 1);
    }
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        lua_pushnil(lua);
        lua_setglobal(lua, absent[i]);
    }
    for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++) {
        (void)lua_getglobal(lua, guards[i].library);
        (void)lua_getfield(lua, -1, guards[i].name);
        lua_pushcclosure(lua, guards[i].guard, 1);
        lua_setfield(lua, -2, guards[i].name);
        lua_pop(lua, 1);
    }
    (void)lua_getglobal(lua, LUA_STRLIBNAME);
    lua_pushnil(lua);
    lua_setfield(lua, -2, "dump");
    lua_pop(lua, 1);
    lua_pushcfunction(lua, load_chunk);
    lua_setglobal(lua, "load");
    lua_pushcfunction(lua, require_module);
    lua_setglobal(lua, "require");
}
