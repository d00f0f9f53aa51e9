/* Lua 5.4 as an engine: states in the threads of their callers, sandboxed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/lua/lua_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_INSTRUCTIONS = 1000000000, DEFAULT_MEMORY = 256 << 20 };

/* ---- jobs in protected calls ---- */

typedef struct lua_task {
    lua_interp *self;
    ig_engine_job *job;
    lua_result *result; /* of its call, in the making */
} lua_task;

/* Where a tensor was given, its memory is the caller's again.  Nothing here allocates:
 * an error outside of a protected call would end the process. */
static void end_loans(lua_State *lua, int loans) {
    for (lua_Integer i = (lua_Integer)lua_rawlen(lua, loans); i > 0; i--) {
        (void)lua_rawgeti(lua, loans, i);
        ((lua_tensor *)lua_touserdata(lua, -1))->view.data = NULL;
        lua_pop(lua, 1);
        lua_pushnil(lua);
        lua_rawseti(lua, loans, i);
    }
}

static int add_trace(lua_State *lua) {
    const char *text = lua_tostring(lua, 1);
    luaL_traceback(lua, lua, text ? text : "an error that is not a text", 1);
    return 1;
}

static void take_error(lua_State *lua, lua_interp *self, ig_engine_job *job,
                       int status) {
    const char *text = lua_tostring(lua, -1);
    bool is_limit = status == LUA_ERRMEM || self->budget.ended != IG_OK;
    job->status = is_limit ? IG_LIMIT : IG_INVALID;
    if (job->message && job->message_size > 0) {
        (void)snprintf(job->message, job->message_size, "%s",
                       status == LUA_ERRMEM ? "the interpreter's memory is used up"
                       : text               ? text
                                            : "an error that is not a text");
    }
    lua_settop(lua, 0);
}

/* Runs the work with the task and a table of loans on the stack.  The errors of Lua
 * are those of the job. */
static void protect_work(ig_engine_job *job, lua_CFunction work, lua_result *result) {
    lua_interp *self = job->state;
    lua_State *lua = self->lua;
    lua_task task = { self, job, result };
    budget_begin(self, job->deadline_ns);
    lua_settop(lua, 0);
    lua_pushcfunction(lua, add_trace);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, self->loans);
    lua_pushcfunction(lua, work);
    lua_pushlightuserdata(lua, &task);
    lua_pushvalue(lua, 2);
    int status = lua_pcall(lua, 2, 0, 1);
    end_loans(lua, 2);
    if (status != LUA_OK) {
        take_error(lua, self, job, status);
    }
    lua_settop(lua, 0);
}

static lua_task *task_of(lua_State *lua) {
    return lua_touserdata(lua, 1);
}

/* The top of the stack becomes the job's object. */
static void make_object(lua_State *lua, ig_engine_job *job) {
    ig_interp_object *made = calloc(1, sizeof *made);
    if (!made) {
        luaL_error(lua, "no memory for an object");
        return;
    }
    job->made_object = made;
    *made = (ig_interp_object){ job->interp, reference_of(LUA_NOREF) };
    made->reference = reference_of(luaL_ref(lua, LUA_REGISTRYINDEX));
}

static void push_object(lua_State *lua, const ig_interp_object *object) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, object_reference(object));
}

/* ---- jobs ---- */

static int work_path(lua_State *lua) {
    const lua_task *task = task_of(lua);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, task->self->paths);
    lua_pushstring(lua, task->job->source);
    lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
    return 0;
}

static int work_source(lua_State *lua) {
    const lua_task *task = task_of(lua);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, task->self->sources);
    lua_pushstring(lua, task->job->source);
    lua_setfield(lua, -2, task->job->name);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, task->self->loaded);
    lua_pushnil(lua); /* one of this name is loaded anew */
    lua_setfield(lua, -2, task->job->name);
    return 0;
}

static int work_run(lua_State *lua) {
    const ig_engine_job *job = task_of(lua)->job;
    lua_pushfstring(lua, "=%s", job->name);
    load_text(lua, job->source, strlen(job->source), lua_tostring(lua, -1));
    lua_call(lua, 0, 0);
    return 0;
}

static int work_global(lua_State *lua) {
    ig_engine_job *job = task_of(lua)->job;
    if (strcmp(job->module, "__main__") == 0) {
        lua_pushglobaltable(lua);
    } else {
        push_module(lua, job->module);
    }
    if (lua_getfield(lua, -1, job->name) == LUA_TNIL) {
        return luaL_error(lua, "module '%s' has no '%s'", job->module, job->name);
    }
    make_object(lua, job);
    return 0;
}

static int work_attribute(lua_State *lua) {
    ig_engine_job *job = task_of(lua)->job;
    push_object(lua, job->object);
    int type = lua_type(lua, -1);
    bool has_fields = type == LUA_TTABLE || luaL_getmetafield(lua, -1, "__index");
    lua_settop(lua, 3);
    if (!has_fields || lua_getfield(lua, 3, job->name) == LUA_TNIL) {
        job->status = IG_UNSUPPORTED;
        if (job->message && job->message_size > 0) {
            (void)snprintf(job->message, job->message_size,
                           "the object has no such attribute");
        }
        return 0;
    }
    make_object(lua, job);
    return 0;
}

static int work_keep(lua_State *lua) {
    ig_engine_job *job = task_of(lua)->job;
    push_object(lua, job->object);
    make_object(lua, job);
    return 0;
}

static int work_read(lua_State *lua) {
    const lua_task *task = task_of(lua);
    push_object(lua, task->job->object);
    fill_result(lua, task->result, lua_gettop(lua));
    return 0;
}

/* Named arguments are a table after the others. */
static int push_arguments(lua_State *lua, const ig_interp_arguments *arguments) {
    int count = (int)arguments->count;
    luaL_checkstack(lua, count + 8, "too many arguments");
    for (int i = 0; i < count; i++) {
        push_value(lua, &arguments->values[i], 2, 0);
    }
    if (arguments->named_count == 0) {
        return count;
    }
    lua_newtable(lua);
    for (size_t i = 0; i < arguments->named_count; i++) {
        push_value(lua, &arguments->named[i], 2, 0);
        lua_setfield(lua, -2, arguments->names[i]);
    }
    return count + 1;
}

static int work_invoke(lua_State *lua) {
    const lua_task *task = task_of(lua);
    ig_engine_job *job = task->job;
    push_object(lua, job->object);
    int count = push_arguments(lua, job->arguments);
    if (job->wants_object) {
        lua_call(lua, count, 1);
        make_object(lua, job);
    } else {
        lua_call(lua, count, LUA_MULTRET);
        fill_result(lua, task->result, 3);
    }
    return 0;
}

static void add_path(ig_engine_job *job) {
    protect_work(job, work_path, NULL);
}

/* Tensors are Lua's own. */
static void wrap_tensors(ig_engine_job *job) {
    (void)job;
}

static void add_source(ig_engine_job *job) {
    protect_work(job, work_source, NULL);
}

static void set_budgets(ig_engine_job *job) {
    lua_budget *budget = &((lua_interp *)job->state)->budget;
    budget->instructions = job->instructions ? job->instructions : DEFAULT_INSTRUCTIONS;
    budget->memory = job->memory ? job->memory : DEFAULT_MEMORY;
}

static void run_source(ig_engine_job *job) {
    protect_work(job, work_run, NULL);
}

/* What failed leaves no object. */
static void protect_object(ig_engine_job *job, lua_CFunction work) {
    protect_work(job, work, NULL);
    if (job->status != IG_OK) {
        free(job->made_object);
        job->made_object = NULL;
    }
}

static void find_global(ig_engine_job *job) {
    protect_object(job, work_global);
}

static void find_attribute(ig_engine_job *job) {
    protect_object(job, work_attribute);
}

static void keep_object(ig_engine_job *job) {
    protect_object(job, work_keep);
}

static void protect_result(ig_engine_job *job, lua_CFunction work) {
    lua_interp *self = job->state;
    lua_result *result = calloc(1, sizeof *result);
    if (!result) {
        job->status = IG_LIMIT;
        return;
    }
    result->head.interp = job->interp;
    result->anchors = LUA_NOREF;
    protect_work(job, work, result);
    if (job->status != IG_OK) {
        free_result_parts(self->lua, result);
        return;
    }
    job->result = &result->head;
}

static void read_object(ig_engine_job *job) {
    protect_result(job, work_read);
}

static void invoke_object(ig_engine_job *job) {
    if (job->wants_object) {
        protect_object(job, work_invoke);
    } else {
        protect_result(job, work_invoke);
    }
}

static void free_object(ig_engine_job *job) {
    const lua_interp *self = job->state;
    luaL_unref(self->lua, LUA_REGISTRYINDEX, object_reference(job->object));
    free((void *)(uintptr_t)job->object);
}

static void free_result(ig_engine_job *job) {
    const lua_interp *self = job->state;
    free_result_parts(self->lua, (lua_result *)job->result);
}

/* ---- life cycle ---- */

static int new_table(lua_State *lua) {
    lua_newtable(lua);
    return luaL_ref(lua, LUA_REGISTRYINDEX);
}

static int open_state(lua_State *lua) {
    lua_interp *self = interp_of(lua);
    self->sources = new_table(lua);
    self->loaded = new_table(lua);
    self->paths = new_table(lua);
    self->loans = new_table(lua);
    sandbox_open(lua);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, self->loaded);
    tensor_open(lua);
    artifact_open(lua);
    lua_setfield(lua, -2, "ingot");
    return 0;
}

static void stop_engine(void *state) {
    lua_interp *self = state;
    lua_close(self->lua);
    free(self);
}

static int start_engine(ig_mailbox *box) {
    lua_interp *self = calloc(1, sizeof *self);
    if (!self) {
        return -1;
    }
    self->budget.instructions = DEFAULT_INSTRUCTIONS;
    self->budget.memory = DEFAULT_MEMORY;
    self->lua = lua_newstate(budget_allocate, &self->budget);
    if (!self->lua) {
        free(self);
        return -1;
    }
    memcpy(lua_getextraspace(self->lua), &self, sizeof(lua_interp *));
    lua_pushcfunction(self->lua, open_state);
    if (lua_pcall(self->lua, 0, 0, 0) != LUA_OK) {
        stop_engine(self);
        return -1;
    }
    box->job->state = self;
    return 0;
}

static const ig_engine engine = {
    .abi = IG_ENGINE_ABI,
    .name = "lua",
    .start = start_engine,
    .stop = stop_engine,
    .configure = add_path,
    .wrap_tensors = wrap_tensors,
    .set_budgets = set_budgets,
    .add_source = add_source,
    .run = run_source,
    .find_global = find_global,
    .find_attribute = find_attribute,
    .invoke = invoke_object,
    .read = read_object,
    .keep = keep_object,
    .free_object = free_object,
    .free_result = free_result,
};

IG_API ig_engine_entry ig_interp_engine;

const ig_engine *ig_interp_engine(void) {
    return &engine;
}
