/* The names that a piece of source binds, and whether it leaves its function.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/walk.h"

#include <string.h>

static void visit_list(const ig_ast_list *list, ig_ast_visit visit, void *user) {
    for (size_t i = 0; i < list->count; i++) {
        visit(user, list->items[i]);
    }
}

/* ---- leaving ---- */

typedef struct finding {
    bool is_found;
    bool wants_yield; /* else what leaves: return, break, continue */
} finding;

static void find_way_out(void *user, const ig_ast *node) {
    finding *f = user;
    bool leaves = node->kind == IG_AST_RETURN || node->kind == IG_AST_BREAK ||
                  node->kind == IG_AST_CONTINUE;
    f->is_found = f->is_found || (f->wants_yield ? node->kind == IG_AST_YIELD : leaves);
    if (!f->is_found) {
        ig_ast_each_child(node, find_way_out, f);
    }
}

bool ig_python_may_leave(const ig_ast_list *body) {
    finding f = { 0 };
    visit_list(body, find_way_out, &f);
    return f.is_found;
}

bool ig_python_yields(const ig_ast_list *body) {
    finding f = { .wants_yield = true };
    visit_list(body, find_way_out, &f);
    return f.is_found;
}

/* ---- names ---- */

typedef void (*name_visit)(void *user, const char *name);

/* "a" of `import a.b`. */
static const char *first_step(const char *dotted) {
    return strchr(dotted, '.') ? NULL : dotted;
}

static void names_of_target(const ig_ast *target, name_visit visit, void *user) {
    if (target->kind == IG_AST_NAME) {
        visit(user, target->as.name);
    } else if (target->kind == IG_AST_TUPLE || target->kind == IG_AST_LIST) {
        for (size_t i = 0; i < target->as.list.count; i++) {
            names_of_target(target->as.list.items[i], visit, user);
        }
    } else if (target->kind == IG_AST_STARRED) {
        names_of_target(target->as.value, visit, user);
    }
}

static void names_of_comprehension(const ig_ast *node, name_visit visit, void *user) {
    for (uint32_t i = 0; i < node->as.comprehension.clause_count; i++) {
        names_of_target(node->as.comprehension.clauses[i].target, visit, user);
    }
}

static void names_of_statement(const ig_ast *node, name_visit visit, void *user) {
    switch ((int)node->kind) {
    case IG_AST_ASSIGN:
        for (size_t i = 0; i < node->as.assign.targets.count; i++) {
            names_of_target(node->as.assign.targets.items[i], visit, user);
        }
        return;
    case IG_AST_ANNOTATED:
        names_of_target(node->as.annotated.target, visit, user);
        return;
    case IG_AST_AUGMENTED:
    case IG_AST_NAMED:
        names_of_target(node->as.binary.left, visit, user);
        return;
    case IG_AST_FOR:
        names_of_target(node->as.loop.target, visit, user);
        return;
    case IG_AST_WITH:
        for (size_t i = 0; i < node->as.with.count; i++) {
            if (node->as.with.targets[i]) {
                names_of_target(node->as.with.targets[i], visit, user);
            }
        }
        return;
    case IG_AST_DEF:
        visit(user, node->as.def->name);
        return;
    case IG_AST_CLASS:
        visit(user, node->as.class->name);
        return;
    case IG_AST_COMPREHENSION:
        names_of_comprehension(node, visit, user);
        return;
    case IG_AST_IMPORT:
        for (size_t i = 0; i < node->as.import.count; i++) {
            const ig_ast_alias *alias = &node->as.import.aliases[i];
            const char *name = alias->as ? alias->as : first_step(alias->name);
            if (name) {
                visit(user, name);
            }
        }
        return;
    default:
        return;
    }
}

typedef struct declaring {
    ig_ts_eval *eval;
    ig_ts_frame *frame;
} declaring;

static void declare_name(void *user, const char *name) {
    declaring *d = user;
    if (!ig_map_get_id(&d->frame->slots, IG_MAP_PTR(name))) {
        ig_ts_name_set(d->eval, d->frame, name, (ig_ts_value){ 0 });
    }
}

static void declare_names(void *user, const ig_ast *node) {
    names_of_statement(node, declare_name, user);
    ig_ast_each_child(node, declare_names, user);
}

void ig_python_declare(ig_ts_eval *eval, ig_ts_frame *frame, const ig_ast_list *body) {
    declaring d = { eval, frame };
    visit_list(body, declare_names, &d);
}

/* ---- what binds a name ---- */

typedef struct binding {
    const char *name;
    bool is_bound;
} binding;

static void note_name(void *user, const char *name) {
    binding *b = user;
    b->is_bound = b->is_bound || strcmp(name, b->name) == 0;
}

/* The name that a.b[c].d begins with, or NULL. */
static const char *root_name(const ig_ast *node) {
    while (node && (node->kind == IG_AST_ATTRIBUTE || node->kind == IG_AST_SUBSCRIPT)) {
        node = node->kind == IG_AST_ATTRIBUTE ? node->as.attribute.object
                                              : node->as.subscript.object;
    }
    return node && node->kind == IG_AST_NAME ? node->as.name : NULL;
}

/* x[k] = v, x.append(v), import x.y: x is another afterwards. */
static bool changes_name(const ig_ast *node, const char *name) {
    const ig_ast *change = NULL;
    if (node->kind == IG_AST_ASSIGN) {
        change = node->as.assign.targets.items[0];
    } else if (node->kind == IG_AST_AUGMENTED) {
        change = node->as.binary.left;
    } else if (node->kind == IG_AST_EXPRESSION && node->as.value->kind == IG_AST_CALL) {
        change = node->as.value->as.call.function;
    } else if (node->kind == IG_AST_DELETE && node->as.list.count) {
        change = node->as.list.items[0];
    }
    const char *root = change ? root_name(change) : NULL;
    return root && change->kind != IG_AST_NAME && strcmp(root, name) == 0;
}

static bool imports_below(const ig_ast *node, const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; node->kind == IG_AST_IMPORT && i < node->as.import.count; i++) {
        const ig_ast_alias *alias = &node->as.import.aliases[i];
        if (!alias->as && !node->as.import.module &&
            strncmp(alias->name, name, size) == 0 && alias->name[size] == '.') {
            return true;
        }
    }
    return false;
}

static void look_for_name(void *user, const ig_ast *node) {
    binding *b = user;
    if (node->kind != IG_AST_COMPREHENSION) {
        names_of_statement(node, note_name, b);
    }
    b->is_bound = b->is_bound || changes_name(node, b->name) ||
                  imports_below(node, b->name);
    if (!b->is_bound) {
        ig_ast_each_child(node, look_for_name, b);
    }
}

bool ig_python_binds(const ig_ast *statement, const char *name) {
    binding b = { name, false };
    look_for_name(&b, statement);
    return b.is_bound;
}
