/* Declarations shared by the parts of the engine of Lua.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_INTERP_LUA_LUA_STATE_H
#define IG_RUNTIME_INTERP_LUA_LUA_STATE_H

#include "runtime/interp/engine.h"

#include <lauxlib.h>
#include <lua.h>

/* The resources a script may use, and how much of them this call has used. */
typedef struct lua_budget {
    uint64_t instructions, used; /* of one call */
    int64_t begin_ns;            /* CPU time already counted */
    int64_t deadline_ns;         /* of CLOCK_MONOTONIC, or 0 */
    size_t memory, held;         /* bytes of the interpreter */
    ig_status ended;             /* LIMIT: the budget or the deadline is over */
} lua_budget;

typedef struct lua_interp {
    lua_State *lua;
    lua_budget budget;
    int sources, loaded, paths, loans; /* tables in the registry */
} lua_interp;

/* ---- sandbox.c ---- */

/* Opens what scripts may use; in a protected call. */
void sandbox_open(lua_State *lua);
/* Each call has its instructions anew; deadline_ns: of CLOCK_MONOTONIC, or 0. */
void budget_begin(lua_interp *self, int64_t deadline_ns);
/* Counts the use of the last stretch; an error where that is too much. */
void budget_settle(lua_State *lua, uint64_t instructions);
/* An allocator that keeps to budget->memory. */
void *budget_allocate(void *budget, void *block, size_t old_size, size_t new_size);
lua_interp *interp_of(lua_State *lua);
/* A chunk of text, never of bytecode; a function, or an error. */
void load_text(lua_State *lua, const char *source, size_t size, const char *name);

/* ---- modules.c ---- */

/* require, for scripts. */
int require_module(lua_State *lua);
/* Pushes a registered or found module, loaded once. */
void push_module(lua_State *lua, const char *name);

/* ---- tensor.c ---- */

typedef struct lua_tensor {
    ig_view view; /* data NULL: lent to a call that has ended */
    bool is_lent;
} lua_tensor;

/* The module "ingot"; leaves it on the stack. */
void tensor_open(lua_State *lua);
lua_tensor *tensor_at(lua_State *lua, int at); /* NULL: something else */
/* Leaves it on the stack. */
lua_tensor *tensor_push(lua_State *lua, const ig_view *view, bool is_lent);

/* One of zeros, of that type and those dims; on the stack. */
lua_tensor *tensor_new(lua_State *lua, const ig_view *view);

/* ---- artifact.c ---- */

/* Adds `open` to the module on the stack. */
void artifact_open(lua_State *lua);

/* ---- convert.c ---- */

/* A result's memory: freed with it. */
typedef struct lua_result {
    ig_interp_result head;         /* first */
    struct lua_result_part *parts; /* allocations */
    int anchors;                   /* a table in the registry that holds tensors */
} lua_result;

/* Pushes it; an object of this interpreter is its referent.  Tensors that are
 * lent are put into the table at `loans`, so that they can be ended. */
void push_value(lua_State *lua, const ig_interp_value *value, int loans, int depth);
/* Values `first` and those above as one: none, one, or a tuple. */
void fill_result(lua_State *lua, lua_result *result, int first);
/* The result too. */
void free_result_parts(lua_State *lua, lua_result *result);
void *reference_of(int reference);
int object_reference(const ig_interp_object *object);

#endif
