/* Modules of plain Python: their globals, when they are first used.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A module is not run from top to bottom: a package's module imports much that its
 * model never calls.  A name is bound by the statements of the body that bind it or
 * change its value, in their order, when the name is first used.  Where another
 * statement between them uses the name, the order would count; that is refused.
 */
#include "frontend/torch/python/branch.h"
#include "frontend/torch/python/missing.h"
#include "frontend/torch/python/piecewise.h"
#include "frontend/torch/python/walk.h"

#include <assert.h>
#include <string.h>

/* Known facts about a name in a space. */
typedef enum ig_python_state {
    NAME_NEW,
    NAME_RUNNING,
    NAME_BOUND,
    NAME_ABSENT
} ig_python_state;

static const char no_module;

const char *ig_python_intern(ig_ts_eval *eval, const char *name) {
    return ig_names_intern(&eval->code->names, ig_str_of(name));
}

/* ---- finding modules ---- */

ig_status ig_python_module_parse(ig_ts_eval *eval, const char *name,
                                 const ig_ts_source *from, ig_python_module **out) {
    ig_python_module *module = IG_NEW(eval->arena, ig_python_module);
    ig_script_source source = { .context = eval->context,
                                .arena = eval->code->arena,
                                .names = &eval->code->names,
                                .node_count = &eval->code->node_count,
                                .file = from->file };
    module->name = name;
    module->file = from->file;
    module->is_package = from->is_package;
    module->thing =
        (ig_python_thing){ .kind = IG_PYTHON_MODULE, .name = name, .module = module };
    module->thing.value.plain = &module->thing;
    ig_map_set(&eval->python->modules, ig_str_of(name), module);
    IG_TRY(ig_parse_source(&source, from->text, &module->body));
    ig_python_space_open(eval, &module->space, module, name, &module->body);
    *out = module;
    return IG_OK;
}

ig_status ig_python_module_find(ig_ts_eval *eval, const char *name,
                                ig_python_module **out) {
    void *known = ig_map_get(&eval->python->modules, ig_str_of(name));
    const ig_ts_sources *sources = eval->python->sources;
    ig_ts_source source;
    bool is_found = false;
    *out = known && known != &no_module ? known : NULL;
    if (known) {
        return IG_OK;
    }
    name = ig_arena_strdup(eval->arena, name);
    const ig_stock_module *stock = ig_stock_find(ig_str_of(name));
    if (stock) {
        return ig_python_stock_open(eval, stock, out);
    }
    if (sources) { /* an archive of TorchScript has no modules */
        IG_TRY(sources->read(sources->user, ig_str_of(name), &source, &is_found));
    }
    if (!is_found) {
        ig_map_set(&eval->python->modules, ig_str_of(name),
                   (void *)(uintptr_t)&no_module);
        return IG_OK;
    }
    return ig_python_module_parse(eval, name, &source, out);
}

ig_ts_frame *ig_python_frame(ig_ts_eval *eval, ig_python_module *module,
                             const char *label) {
    ig_ts_frame *frame = IG_NEW(eval->arena, ig_ts_frame);
    frame->cell.born = ++eval->clock;
    frame->file = module->file;
    frame->label = label;
    frame->is_dialect = module->is_dialect;
    ig_map_init(&frame->slots, eval->arena);
    frame->result = ig_ts_none();
    frame->scope = IG_NEW(eval->arena, ig_python_scope);
    frame->scope->module = module;
    return frame;
}

/* ---- names of a body ---- */

/* A space is as old as the program, whenever it is opened: bindings by a branch of the
 * run are undone with the branch. */
void ig_python_space_open(ig_ts_eval *eval, ig_python_space *space,
                          ig_python_module *module, const char *label,
                          const ig_ast_list *body) {
    space->frame = ig_python_frame(eval, module, label);
    space->frame->cell.born = 0;
    space->body = body;
    ig_map_init(&space->states, eval->arena);
    ig_python_space_declare(eval, space, body);
}

void ig_python_space_declare(ig_ts_eval *eval, ig_python_space *space,
                             const ig_ast_list *body) {
    ig_ts_level *level = eval->level;
    eval->level = NULL;
    ig_python_declare(eval, space->frame, body);
    eval->level = level;
}

typedef struct mention {
    const char *name;
    bool is_found;
} mention;

static void find_mention(void *user, const ig_ast *node) {
    mention *m = user;
    m->is_found = m->is_found ||
                  (node->kind == IG_AST_NAME && node->as.name == m->name);
    if (!m->is_found) {
        ig_ast_each_child(node, find_mention, m);
    }
}

/* Does the order of statements count for the name?  `first` to `last` bind it. */
static const ig_ast *find_reader_between(const ig_ast_list *body, const char *name,
                                         size_t first, size_t last) {
    for (size_t i = first + 1; i < last; i++) {
        mention m = { .name = name };
        find_mention(&m, body->items[i]);
        if (m.is_found && !ig_python_binds(body->items[i], name)) {
            return body->items[i];
        }
    }
    return NULL;
}

static ig_status run_binding(ig_ts_eval *eval, ig_python_space *space,
                             const char *name) {
    const ig_ast_list *body = space->body;
    size_t first = body->count, last = 0;
    for (size_t i = 0; i < body->count; i++) {
        if (ig_python_binds(body->items[i], name)) {
            first = first == body->count ? i : first;
            last = i;
        }
    }
    const ig_ast *reader = find_reader_between(body, name, first, last);
    if (reader) {
        eval->frame->line = reader->line;
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "uses '%s' between two statements that bind it, and globals "
                           "are not evaluated in order",
                           name);
    }
    for (size_t i = first; i < body->count && i <= last; i++) {
        if (ig_python_binds(body->items[i], name)) {
            IG_TRY(ig_python_run_block(eval, (ig_ast_list){ &body->items[i], 1 }));
        }
    }
    return IG_OK;
}

/* In the frame of the space, which knows nothing of who asks. */
static ig_status bind_in_space(ig_ts_eval *eval, ig_python_space *space,
                               const char *name) {
    enum { MAX_DEPTH = 100 };
    ig_ts_frame *caller = eval->frame, *before = space->frame->caller;
    uint32_t line = space->frame->line;
    if (eval->depth >= MAX_DEPTH) {
        return ig_ts_error(eval, IG_LIMIT, "names are defined more than %d deep",
                           MAX_DEPTH);
    }
    if (!before) { /* else it is running already */
        space->frame->caller = caller;
    }
    eval->frame = space->frame;
    eval->depth++;
    ig_status status = run_binding(eval, space, name);
    eval->depth--;
    eval->frame = caller;
    space->frame->caller = before;
    space->frame->line = line;
    return status;
}

ig_status ig_python_space_get(ig_ts_eval *eval, ig_python_space *space,
                              const char *name, ig_ts_value *out, bool *out_found) {
    uint64_t key = IG_MAP_PTR(name);
    uintptr_t state = (uintptr_t)ig_map_get_id(&space->states, key);
    bool is_declared = ig_map_get_id(&space->frame->slots, key) != NULL;
    ig_ts_value *value = ig_ts_name_get(space->frame, name);
    *out_found = false;
    if (!value && is_declared && state != NAME_RUNNING) {
        ig_map_set_id(&space->states, key, (void *)(uintptr_t)NAME_RUNNING);
        ig_status status = bind_in_space(eval, space, name);
        ig_map_set_id(&space->states, key, (void *)(uintptr_t)NAME_BOUND);
        IG_TRY(status);
        value = ig_ts_name_get(space->frame, name);
    }
    if (value) {
        *out = *value;
        *out_found = true;
    }
    return IG_OK;
}

/* ---- imports ---- */

/* "a.b" of level 1 in module a.c; NULL: above the top. */
static const char *absolute_name(ig_ts_eval *eval, const ig_python_module *module,
                                 const ig_ast *node) {
    const char *tail = node->as.import.module;
    uint32_t up = node->as.import.level;
    if (up == 0) {
        return tail;
    }
    size_t size = strlen(module->name);
    up -= module->is_package;
    for (; up > 0; up--) {
        while (size > 0 && module->name[size - 1] != '.') {
            size--;
        }
        if (size == 0) {
            return up == 1 && tail ? tail : NULL;
        }
        size--;
    }
    return tail && tail[0]
               ? ig_arena_printf(eval->arena, "%.*s.%s", (int)size, module->name, tail)
               : ig_arena_copy(eval->arena, module->name, size);
}

/* Is there a module of the sources below that name? */
static ig_status find_submodule(ig_ts_eval *eval, const char *module, const char *name,
                                ig_python_module **out) {
    const char *whole = module && module[0]
                            ? ig_arena_printf(eval->arena, "%s.%s", module, name)
                            : name;
    return ig_python_module_find(eval, whole, out);
}

ig_status ig_python_import_from(ig_ts_eval *eval, const char *module, const char *name,
                                ig_ts_value *out) {
    ig_python_module *found, *below;
    bool is_bound = false;
    IG_TRY(ig_python_module_find(eval, module, &found));
    if (found) {
        IG_TRY(ig_python_global(eval, found, ig_python_intern(eval, name), out,
                                &is_bound));
    }
    if (is_bound) {
        return IG_OK;
    }
    IG_TRY(find_submodule(eval, module, name, &below));
    if (below) {
        *out = ig_python_value(&below->thing);
        return IG_OK;
    }
    if (found && !found->is_stock) {
        return ig_ts_error(eval, IG_INVALID, "module '%s' has no '%s'", module, name);
    }
    return ig_python_elsewhere(
        eval, ig_arena_printf(eval->arena, "%s.%s", module, name), out);
}

/* `import a.b as c` binds c to a.b; `import a.b` binds a to a. */
static ig_status import_module(ig_ts_eval *eval, const ig_ast_alias *alias) {
    size_t first = strcspn(alias->name, ".");
    const char *head = ig_arena_copy(eval->arena, alias->name, first);
    const char *whole = alias->as ? alias->name : head;
    const char *name = ig_python_intern(eval, alias->as ? alias->as : head);
    ig_python_module *module;
    IG_TRY(ig_python_module_find(eval, whole, &module));
    ig_ts_value value = module ? ig_python_value(&module->thing)
                               : ig_python_external(eval, whole);
    ig_ts_name_set(eval, eval->frame, name, value);
    return IG_OK;
}

ig_status ig_python_run_import(ig_ts_eval *eval, const ig_ast *node) {
    const ig_python_module *here = eval->frame->scope->module;
    bool is_from = node->as.import.module || node->as.import.level;
    const char *module = is_from ? absolute_name(eval, here, node) : NULL;
    if (is_from && !module) {
        return ig_ts_error(eval, IG_INVALID, "imports from above the package");
    }
    for (size_t i = 0; i < node->as.import.count; i++) {
        const ig_ast_alias *alias = &node->as.import.aliases[i];
        ig_ts_value value;
        if (!is_from) {
            IG_TRY(import_module(eval, alias));
            continue;
        }
        if (strcmp(alias->name, "*") == 0) {
            continue; /* looked at when a name is not bound otherwise */
        }
        IG_TRY(ig_python_import_from(eval, module, alias->name, &value));
        const char *name = alias->as ? alias->as : alias->name;
        ig_ts_name_set(eval, eval->frame, ig_python_intern(eval, name), value);
    }
    return IG_OK;
}

/* ---- globals ---- */

static bool is_star(const ig_ast *node) {
    return node->kind == IG_AST_IMPORT && node->as.import.count == 1 &&
           strcmp(node->as.import.aliases[0].name, "*") == 0;
}

/* `from x import *`, where x is of the sources. */
static ig_status find_starred(ig_ts_eval *eval, ig_python_module *module,
                              const char *name, ig_ts_value *out, bool *out_found) {
    for (size_t i = module->body.count; i-- > 0 && name[0] != '_';) {
        const ig_ast *node = module->body.items[i];
        const char *from = is_star(node) ? absolute_name(eval, module, node) : NULL;
        ig_python_module *found = NULL;
        if (from) {
            IG_TRY(ig_python_module_find(eval, from, &found));
        }
        if (found && found != module) {
            IG_TRY(ig_python_space_get(eval, &found->space, name, out, out_found));
        }
        if (*out_found) {
            return IG_OK;
        }
    }
    return IG_OK;
}

ig_status ig_python_global(ig_ts_eval *eval, ig_python_module *module, const char *name,
                           ig_ts_value *out, bool *out_found) {
    IG_TRY(ig_python_stock_read(eval, module, name));
    IG_TRY(ig_python_space_get(eval, &module->space, name, out, out_found));
    if (*out_found) {
        return IG_OK;
    }
    IG_TRY(find_starred(eval, module, name, out, out_found));
    if (!*out_found && strcmp(name, "__name__") == 0) {
        *out = ig_ts_of_str(ig_str_of(module->name));
        *out_found = true;
    }
    return IG_OK;
}

/* ---- the whole ---- */

void ig_python_begin(ig_ts_eval *eval, const ig_ts_sources *sources) {
    static const ig_ts_language python = { .run_block = ig_python_run_block,
                                           .condition = ig_python_condition,
                                           .missing = ig_python_report_missing,
                                           .unfit = ig_python_report_unfit,
                                           .composite = ig_python_composite };
    ig_python_module *module = IG_NEW(eval->arena, ig_python_module);
    module->name = module->file = eval->file;
    module->is_dialect = true;
    eval->language = &python;
    eval->python = IG_NEW(eval->arena, struct ig_python);
    eval->python->sources = sources;
    eval->python->branching = IG_NEW(eval->arena, struct ig_python_branching);
    ig_map_init(&eval->python->modules, eval->arena);
    ig_map_init(&eval->python->externals, eval->arena);
    ig_map_init(&eval->python->things, eval->arena);
    ig_map_init(&eval->python->results, eval->arena);
    ig_map_init(&eval->python->called, eval->arena);
    eval->frame = eval->python->top = ig_python_frame(eval, module, "module");
}
