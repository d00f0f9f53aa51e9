/* The parts of a model's classes that stay Python, read off their sources.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation ends at the first thing that it does not follow.  The rest of the model is
 * looked through here, so that who reads the refusal sees at once how much there is to
 * change: methods that a call of a class may reach, each with the first statement or
 * call in it that is refused anywhere.  Decisions by values are not seen.
 */
#include "frontend/torch/python/survey.h"

#include <string.h>

enum { NAME_BYTES = 512 };

/* ---- names ---- */

static const char *alias_in(const ig_python_look *s, const ig_ast *node,
                            const char *name) {
    for (size_t i = 0; i < node->as.import.count && !node->as.import.level; i++) {
        const ig_ast_alias *alias = &node->as.import.aliases[i];
        const char *bound = alias->as ? alias->as : alias->name;
        size_t size = strlen(name);
        if (node->as.import.module) {
            if (strcmp(bound, name) == 0) {
                return ig_arena_printf(s->eval->arena, "%s.%s", node->as.import.module,
                                       alias->name);
            }
            continue;
        }
        bool is_top = !alias->as && strncmp(bound, name, size) == 0 &&
                      (bound[size] == '.' || bound[size] == '\0');
        if (is_top || strcmp(bound, name) == 0) {
            return is_top ? name : alias->name;
        }
    }
    return NULL;
}

/* The value that an import of `body`, perhaps in a `try`, binds to the name: "numpy",
 * "torch.no_grad"; NULL: none does. */
static const char *import_in(const ig_python_look *s, const ig_ast_list *body,
                             const char *name) {
    const char *found = NULL;
    for (size_t i = 0; i < body->count && !found; i++) {
        const ig_ast *node = body->items[i];
        if (node->kind == IG_AST_IMPORT) {
            found = alias_in(s, node, name);
        } else if (node->kind == IG_AST_TRY) {
            const ig_ast_list *tried = &node->as.try->body;
            for (size_t k = 0; k < tried->count && !found; k++) {
                found = tried->items[k]->kind == IG_AST_IMPORT
                            ? alias_in(s, tried->items[k], name)
                            : NULL;
            }
        }
    }
    return found;
}

/* "numpy.linalg.norm", if an import here binds the first part; else NULL. */
static const char *full_name(const ig_python_look *s, const ig_ast *node) {
    const char *dotted = ig_ast_dotted(node, s->eval->arena);
    char first[NAME_BYTES];
    size_t size = dotted ? strcspn(dotted, ".") : sizeof first;
    if (size >= sizeof first) {
        return NULL;
    }
    memcpy(first, dotted, size);
    first[size] = '\0';
    const char *from = import_in(s, &s->now.node->as.def->body, first);
    from = from ? from : import_in(s, &s->now.module->body, first);
    return from ? ig_arena_printf(s->eval->arena, "%s%s", from, dotted + size) : NULL;
}

static bool is_in_sources(const ig_python_look *s, const char *name) {
    const ig_ts_sources *sources = s->eval->python->sources;
    ig_ts_source source;
    bool is_found = false;
    for (size_t end = strlen(name); end > 0 && !is_found; end--) {
        if (name[end] == '.' || name[end] == '\0') {
            ig_status status = sources->read(sources->user, (ig_str){ name, end },
                                             &source, &is_found);
            is_found = is_found || status != IG_OK;
        }
    }
    return is_found;
}

/* Is it a name elsewhere that evaluation may know? */
static bool may_be_known(const ig_python_look *s, const char *name) {
    static const char *const modules[] = { "torch.",   "math.",     "operator.",
                                           "logging.", "warnings.", "builtins." };
    for (size_t i = 0; i < IG_COUNT_OF(modules); i++) {
        if (strncmp(name, modules[i], strlen(modules[i])) == 0) {
            return true;
        }
    }
    return ig_python_builtin(name) || is_in_sources(s, name);
}

/* ---- constructs that are refused anywhere ---- */

static void set_barrier(ig_python_look *s, const ig_ast *node, const char *why) {
    s->barrier = s->barrier ? s->barrier : node;
    s->why = s->barrier == node ? why : s->why;
}

static void check_try(ig_python_look *s, const ig_ast *node) {
    const ig_ast_list *body = &node->as.try->body;
    for (size_t i = 0; i < body->count; i++) {
        if (body->items[i]->kind != IG_AST_IMPORT) {
            set_barrier(s, node, "a try statement");
            return;
        }
    }
}

static void check_with(ig_python_look *s, const ig_ast *node) {
    for (size_t i = 0; i < node->as.with.count; i++) {
        const ig_ast *context = node->as.with.contexts[i];
        context = context->kind == IG_AST_CALL ? context->as.call.function : context;
        const char *name = full_name(s, context);
        if (name && !ig_python_is_idle_context(name) && !is_in_sources(s, name)) {
            set_barrier(
                s, node,
                ig_arena_printf(s->eval->arena, "a with statement over %s", name));
        }
    }
}

static void check_call(ig_python_look *s, const ig_ast *node) {
    const char *name = full_name(s, node->as.call.function);
    if (name && !may_be_known(s, name)) {
        set_barrier(s, node,
                    ig_arena_printf(s->eval->arena,
                                    "a call of %s, which is neither in "
                                    "the package nor known here",
                                    name));
    }
}

static void check_node(ig_python_look *s, const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_TRY:
        check_try(s, node);
        return;
    case IG_AST_WITH:
        check_with(s, node);
        return;
    case IG_AST_CALL:
        check_call(s, node);
        return;
    case IG_AST_GLOBAL:
        set_barrier(s, node, "a global statement");
        return;
    default:
        if (node->flags & IG_AST_ASYNC && node->kind == IG_AST_FOR) {
            set_barrier(s, node, "async");
        }
        return;
    }
}

/* ---- methods within reach ---- */

static void queue_def(ig_python_look *s, const ig_python_class *class,
                      ig_python_module *module, const ig_ast *node) {
    ig_python_visit_of next = { .node = node, .module = module, .class = class };
    ig_python_queue(s, node, NULL, next);
}

static const ig_ast *find_def(const ig_ast_list *body, const char *name) {
    for (size_t i = body->count; i-- > 0;) {
        const ig_ast *node = body->items[i];
        if (node->kind == IG_AST_DEF && strcmp(node->as.def->name, name) == 0) {
            return node;
        }
    }
    return NULL;
}

void ig_python_queue_method(ig_python_look *s, const ig_python_class *class,
                            const char *name) {
    for (size_t i = 0; class && i < class->order_count; i++) {
        const ig_python_class *one = class->order[i];
        const ig_ast *node = one->node ? find_def(&one->node->as.class->body, name)
                                       : NULL;
        bool is_own = node && node == s->now.node; /* super() goes on after it */
        if (node && !is_own) {
            queue_def(s, one, one->module, node);
            return;
        }
    }
}

/* A tree is at most limits.source_depth deep. */
static void visit_node(void *user, const ig_ast *node) {
    ig_python_look *s = user;
    check_node(s, node);
    if (node->kind == IG_AST_ATTRIBUTE) {
        ig_python_queue_method(s, s->now.class, node->as.attribute.name);
    }
    if (node->kind == IG_AST_NAME) {
        const ig_ast *def = find_def(&s->now.module->body, node->as.name);
        if (def) {
            queue_def(s, NULL, s->now.module, def);
        }
    }
    ig_ast_each_child(node, visit_node, s);
}

static void note_barrier(ig_python_look *s) {
    const ig_python_visit_of *now = &s->now;
    const char *owner = now->class ? now->class->name : now->module->name;
    ig_location where = { .file = now->module->file, .line = s->barrier->line };
    ig_note(&s->eval->context->diag, &where, "%s.%s stays Python as well: %s", owner,
            now->node->as.def->name, s->why);
}

void ig_python_look_at_plain(ig_python_look *s) {
    const ig_ast_def *def = s->now.node->as.def;
    const ig_python_thing *failed = s->eval->python->failed;
    s->barrier = NULL;
    if (def->is_async || ig_python_yields(&def->body)) {
        set_barrier(s, s->now.node, "a generator or coroutine");
    }
    for (size_t i = 0; i < def->body.count; i++) {
        visit_node(s, def->body.items[i]);
    }
    if (s->barrier && !(failed && failed->node == s->now.node)) {
        note_barrier(s);
    }
}
