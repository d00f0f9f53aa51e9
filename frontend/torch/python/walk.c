/* What a piece of source binds, and whether it leaves its function.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/walk.h"

#include <stddef.h>
#include <string.h>

/* ---- children ---- */

static void visit_list(const ig_ast_list *list, ig_python_visit visit, void *user) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]) {
            visit(user, list->items[i]);
        }
    }
}

/* Where a kind of nodes has children: a node or NULL, a list, an array and its
 * count. */
typedef struct field {
    enum { NO_FIELD, ONE_NODE, NODE_LIST, NODE_ARRAY } form;
    size_t at, count_at;
} field;

#define ONE(member) \
    { ONE_NODE, offsetof(ig_ast, as.member), 0 }
#define LIST(member) \
    { NODE_LIST, offsetof(ig_ast, as.member), 0 }
#define ARRAY(member, count) \
    { NODE_ARRAY, offsetof(ig_ast, as.member), offsetof(ig_ast, as.count) }

/* Functions and classes inside are others' affair, annotations nobody's. */
static const field fields[IG_AST_KIND_COUNT][4] = {
    [IG_AST_ATTRIBUTE] = { ONE(attribute.object) },
    [IG_AST_CALL] = { ONE(call.function), LIST(call.arguments) }, /* and keywords */
    [IG_AST_SUBSCRIPT] = { ONE(subscript.object), ONE(subscript.index) },
    [IG_AST_SLICE] = { ONE(slice.start), ONE(slice.stop), ONE(slice.step) },
    [IG_AST_TUPLE] = { LIST(list) },
    [IG_AST_LIST] = { LIST(list) },
    [IG_AST_SET] = { LIST(list) },
    [IG_AST_DELETE] = { LIST(list) },
    [IG_AST_DICT] = { ARRAY(dict.keys, dict.count), ARRAY(dict.values, dict.count) },
    [IG_AST_UNARY] = { ONE(value) },
    [IG_AST_STARRED] = { ONE(value) },
    [IG_AST_AWAIT] = { ONE(value) },
    [IG_AST_YIELD] = { ONE(value) },
    [IG_AST_EXPRESSION] = { ONE(value) },
    [IG_AST_RETURN] = { ONE(value) },
    [IG_AST_BINARY] = { ONE(binary.left), ONE(binary.right) },
    [IG_AST_NAMED] = { ONE(binary.left), ONE(binary.right) },
    [IG_AST_AUGMENTED] = { ONE(binary.left), ONE(binary.right) },
    [IG_AST_COMPARE] = { ONE(compare.first), ARRAY(compare.values, compare.count) },
    [IG_AST_CONDITIONAL] = { ONE(conditional.test), ONE(conditional.yes),
                             ONE(conditional.no) },
    [IG_AST_COMPREHENSION] = { ONE(comprehension.key), ONE(comprehension.value) },
    [IG_AST_ASSIGN] = { ONE(assign.value), LIST(assign.targets) },
    [IG_AST_ANNOTATED] = { ONE(annotated.value), ONE(annotated.target) },
    [IG_AST_IF] = { ONE(branch.test), LIST(branch.body), LIST(branch.orelse) },
    [IG_AST_WHILE] = { ONE(branch.test), LIST(branch.body), LIST(branch.orelse) },
    [IG_AST_FOR] = { ONE(loop.iterable), ONE(loop.target), LIST(loop.body),
                     LIST(loop.orelse) },
    [IG_AST_WITH] = { ARRAY(with.contexts, with.count), ARRAY(with.targets, with.count),
                      LIST(with.body) },
    [IG_AST_RAISE] = { ONE(pair.first), ONE(pair.second) },
    [IG_AST_ASSERT] = { ONE(pair.first), ONE(pair.second) },
};

static void visit_field(const ig_ast *node, const field *of, ig_python_visit visit,
                        void *user) {
    const char *at = (const char *)node + of->at;
    ig_ast_list list = { NULL, 1 };
    if (of->form == ONE_NODE) {
        list.items = (ig_ast **)(uintptr_t)at;
    } else if (of->form == NODE_LIST) {
        memcpy(&list, at, sizeof list);
    } else {
        memcpy(&list.items, at, sizeof list.items);
        memcpy(&list.count, (const char *)node + of->count_at, sizeof list.count);
    }
    visit_list(&list, visit, user);
}

static void visit_clauses(const ig_ast *node, ig_python_visit visit, void *user) {
    for (uint32_t i = 0; i < node->as.comprehension.clause_count; i++) {
        const ig_ast_clause *clause = &node->as.comprehension.clauses[i];
        visit(user, clause->target);
        visit(user, clause->iterable);
        visit_list(&clause->conditions, visit, user);
    }
}

static void visit_try(const ig_ast_try *node, ig_python_visit visit, void *user) {
    visit_list(&node->body, visit, user);
    for (size_t i = 0; i < node->handler_count; i++) {
        visit_list(&node->handlers[i].body, visit, user);
    }
    visit_list(&node->orelse, visit, user);
    visit_list(&node->finally, visit, user);
}

void ig_python_each_child(const ig_ast *node, ig_python_visit visit, void *user) {
    if (node->kind == IG_AST_COMPREHENSION) {
        visit_clauses(node, visit, user);
    } else if (node->kind == IG_AST_TRY) {
        visit_try(node->as.try, visit, user);
    }
    for (size_t i = 0; i < IG_COUNT_OF(fields[0]) && fields[node->kind][i].form; i++) {
        visit_field(node, &fields[node->kind][i], visit, user);
    }
    for (size_t i = 0; node->kind == IG_AST_CALL && i < node->as.call.keyword_count;
         i++) {
        visit(user, node->as.call.keywords[i].value);
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
        ig_python_each_child(node, find_way_out, f);
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
    ig_python_each_child(node, declare_names, user);
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
    const ig_ast *place = NULL;
    if (node->kind == IG_AST_ASSIGN) {
        place = node->as.assign.targets.items[0];
    } else if (node->kind == IG_AST_AUGMENTED) {
        place = node->as.binary.left;
    } else if (node->kind == IG_AST_EXPRESSION && node->as.value->kind == IG_AST_CALL) {
        place = node->as.value->as.call.function;
    } else if (node->kind == IG_AST_DELETE && node->as.list.count) {
        place = node->as.list.items[0];
    }
    const char *root = place ? root_name(place) : NULL;
    return root && place->kind != IG_AST_NAME && strcmp(root, name) == 0;
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
        ig_python_each_child(node, look_for_name, b);
    }
}

bool ig_python_binds(const ig_ast *statement, const char *name) {
    binding b = { name, false };
    look_for_name(&b, statement);
    return b.is_bound;
}
