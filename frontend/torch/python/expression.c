/* Expressions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/branch.h"
#include "frontend/torch/python/dialect.h"

#include <assert.h>
#include <string.h>

enum { NESTING_MAX = 1000 };

/* ---- names ---- */

static ig_status evaluate_name(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    const char *name = node->as.name;
    ig_ts_value *local = ig_ts_name_get(eval->frame, name);
    bool is_found;
    if (local) {
        *out = *local;
        return IG_OK;
    }
    if (eval->frame->is_dialect) {
        return ig_dialect_name(eval, name, out);
    }
    IG_TRY(ig_python_global(eval, eval->frame->scope->module, name, out, &is_found));
    if (is_found) {
        return IG_OK;
    }
    const char *whole = ig_arena_printf(eval->arena, "builtins.%s", name);
    if (ig_python_constant(whole, out)) {
        return IG_OK;
    }
    if (ig_python_builtin(whole)) {
        *out = ig_python_external(eval, whole);
        return IG_OK;
    }
    return ig_ts_error(
        eval, IG_UNSUPPORTED,
        "name '%s' has no value here: it is bound in another branch, or is a builtin that is not known",
        name);
}

/* ---- containers ---- */

/* Poison may be moved in the dialect, as long as nobody reads it. */
static ig_status use_part(ig_ts_eval *eval, const ig_ts_value *part) {
    return eval->frame->is_dialect ? IG_OK : ig_ts_use(eval, part);
}

static ig_status add_starred(ig_ts_eval *eval, const ig_ast *node, ig_ts_list *list) {
    ig_ts_value value;
    ig_ts_list *items;
    IG_TRY(ig_python_evaluate(eval, node->as.value, &value));
    IG_TRY(ig_python_items(eval, &value, &items));
    for (size_t i = 0; i < items->count; i++) {
        ig_ts_list_add(eval, list, items->items[i]);
    }
    return IG_OK;
}

static ig_status evaluate_items(ig_ts_eval *eval, const ig_ast *node,
                                ig_ts_value *out) {
    const ig_ast_list *items = &node->as.list;
    ig_ts_list *list = ig_ts_list_create(eval, items->count);
    for (size_t i = 0; i < items->count; i++) {
        ig_ts_value item;
        if (items->items[i]->kind == IG_AST_STARRED) {
            IG_TRY(add_starred(eval, items->items[i], list));
            continue;
        }
        IG_TRY(ig_python_evaluate(eval, items->items[i], &item));
        IG_TRY(use_part(eval, &item));
        ig_ts_list_add(eval, list, item);
    }
    *out = node->kind == IG_AST_TUPLE ? ig_ts_of_tuple(list) : ig_ts_of_list(list);
    return node->kind == IG_AST_SET ? ig_ts_unite(eval, list) : IG_OK;
}

static ig_status add_dict(ig_ts_eval *eval, const ig_ast *node, ig_ts_dict *dict) {
    ig_ts_value value;
    IG_TRY(ig_python_evaluate(eval, node, &value));
    IG_TRY(ig_ts_use(eval, &value));
    if (value.kind != IG_TS_DICT) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "'**' of %s in a dict",
                           ig_ts_kind_name(&value));
    }
    IG_TRY(ig_ts_open(eval, &value));
    for (size_t i = 0; i < value.as.dict->count; i++) {
        ig_ts_dict_set(eval, dict, value.as.dict->keys[i], value.as.dict->values[i]);
    }
    return IG_OK;
}

static ig_status set_key(ig_ts_eval *eval, ig_ts_dict *dict, ig_ts_value key,
                         ig_ts_value value) {
    IG_TRY(ig_ts_known_key(eval, &key));
    IG_TRY(use_part(eval, &value));
    ig_ts_dict_set(eval, dict, key, value);
    return IG_OK;
}

static ig_status evaluate_dict(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    ig_ts_dict *dict = ig_ts_dict_create(eval);
    for (size_t i = 0; i < node->as.dict.count; i++) {
        ig_ts_value key, value;
        if (!node->as.dict.keys[i]) {
            IG_TRY(add_dict(eval, node->as.dict.values[i], dict));
            continue;
        }
        IG_TRY(ig_python_evaluate(eval, node->as.dict.keys[i], &key));
        IG_TRY(ig_python_evaluate(eval, node->as.dict.values[i], &value));
        IG_TRY(set_key(eval, dict, key, value));
    }
    *out = ig_ts_of_dict(dict);
    return IG_OK;
}

/* ---- comprehensions ---- */

typedef struct comprehension {
    const ig_ast *node;
    ig_ts_list *list;
    ig_ts_dict *dict;
} comprehension;

static ig_status add_item(ig_ts_eval *eval, comprehension *c) {
    const ig_ast *node = c->node;
    ig_ts_value key, value;
    if (node->as.comprehension.key) {
        IG_TRY(ig_python_evaluate(eval, node->as.comprehension.key, &key));
        IG_TRY(ig_python_evaluate(eval, node->as.comprehension.value, &value));
        return set_key(eval, c->dict, key, value);
    }
    IG_TRY(ig_python_evaluate(eval, node->as.comprehension.value, &value));
    IG_TRY(ig_ts_use(eval, &value));
    ig_ts_list_add(eval, c->list, value);
    return IG_OK;
}

static ig_status passes_conditions(ig_ts_eval *eval, const ig_ast_clause *clause,
                                   bool *out_passes) {
    *out_passes = true;
    for (size_t i = 0; i < clause->conditions.count && *out_passes; i++) {
        ig_ts_value truth;
        IG_TRY(ig_python_condition(eval, clause->conditions.items[i], &truth));
        if (truth.form != IG_TS_KNOWN) {
            return ig_ts_error(
                eval, IG_UNSUPPORTED,
                "a comprehension has a number of items that is known at run time only");
        }
        *out_passes = truth.as.b;
    }
    return IG_OK;
}

/* At most as deep as the source. */
static ig_status run_clause(ig_ts_eval *eval, comprehension *c, uint32_t at) {
    if (at == c->node->as.comprehension.clause_count) {
        return add_item(eval, c);
    }
    const ig_ast_clause *clause = &c->node->as.comprehension.clauses[at];
    ig_ts_value iterable;
    ig_ts_list *items;
    IG_TRY(ig_python_evaluate(eval, clause->iterable, &iterable));
    IG_TRY(ig_python_items(eval, &iterable, &items));
    for (size_t i = 0; i < items->count; i++) {
        bool passes;
        IG_TRY(ig_ts_step(eval));
        IG_TRY(ig_python_assign(eval, clause->target, items->items[i]));
        IG_TRY(passes_conditions(eval, clause, &passes));
        if (passes) {
            IG_TRY(run_clause(eval, c, at + 1));
        }
    }
    return IG_OK;
}

/* Its names are its own: a frame that sees those around it. */
static ig_status evaluate_comprehension(ig_ts_eval *eval, const ig_ast *node,
                                        ig_ts_value *out) {
    comprehension c = { .node = node };
    bool is_dict = node->as.comprehension.key != NULL;
    ig_ts_frame *outer = eval->frame;
    ig_ts_frame *frame = ig_python_frame(eval, outer->scope->module, outer->label);
    frame->caller = outer->caller;
    frame->around = outer;
    frame->line = outer->line;
    *frame->scope = *outer->scope;
    frame->scope->rest = NULL;
    if (is_dict) {
        c.dict = ig_ts_dict_create(eval);
    } else {
        c.list = ig_ts_list_create(eval, 0);
    }
    eval->frame = frame;
    ig_status status = run_clause(eval, &c, 0);
    eval->frame = outer;
    *out = is_dict ? ig_ts_of_dict(c.dict) : ig_ts_of_list(c.list);
    bool is_set = !is_dict && node->as.comprehension.bracket == '{';
    return status == IG_OK && is_set ? ig_ts_unite(eval, c.list) : status;
}

/* ---- choices ---- */

/* A value that the run chooses: bound to a name of its own on either side. */
typedef struct choice {
    const char *name;
    const ig_ast *yes, *no; /* NULL: the value below */
    ig_ts_value given;
    bool wants_truth;
} choice;

static ig_status choose_side(ig_ts_eval *eval, const choice *c, const ig_ast *node) {
    ig_ts_value value = c->given;
    if (node) {
        IG_TRY(c->wants_truth ? ig_python_condition(eval, node, &value)
                              : ig_python_evaluate(eval, node, &value));
    }
    ig_ts_name_set(eval, eval->frame, c->name, value);
    return IG_OK;
}

static ig_status choose_yes(ig_ts_eval *eval, void *user) {
    return choose_side(eval, user, ((const choice *)user)->yes);
}

static ig_status choose_no(ig_ts_eval *eval, void *user) {
    return choose_side(eval, user, ((const choice *)user)->no);
}

static ig_status choose_between(ig_ts_eval *eval, const ig_ast *node, choice *c,
                                const ig_ts_value *condition, ig_ts_value *out) {
    c->name = ig_python_intern(eval, ig_arena_printf(eval->arena, "<%u>", node->id));
    ig_ts_name_set(eval, eval->frame, c->name, (ig_ts_value){ 0 });
    IG_TRY(ig_python_branch(eval, node, condition, choose_yes, choose_no, c));
    const ig_ts_value *value = ig_ts_name_get(eval->frame, c->name);
    *out = value ? *value : ig_ts_none();
    return ig_ts_use(eval, out);
}

static ig_status evaluate_conditional(ig_ts_eval *eval, const ig_ast *node,
                                      ig_ts_value *out) {
    ig_ts_value condition;
    IG_TRY(ig_python_condition(eval, node->as.conditional.test, &condition));
    if (condition.form == IG_TS_KNOWN) {
        return ig_python_evaluate(
            eval, condition.as.b ? node->as.conditional.yes : node->as.conditional.no,
            out);
    }
    choice c = { .yes = node->as.conditional.yes, .no = node->as.conditional.no };
    return choose_between(eval, node, &c, &condition, out);
}

/* `a and b`: a where that is false, else b. */
static ig_status evaluate_logical(ig_ts_eval *eval, const ig_ast *node,
                                  ig_ts_value *out) {
    bool is_and = node->op == IG_AST_OP_AND;
    ig_ts_value truth;
    IG_TRY(ig_python_evaluate(eval, node->as.binary.left, out));
    IG_TRY(ig_python_truth(eval, out, &truth));
    if (truth.form == IG_TS_KNOWN) {
        return truth.as.b == is_and
                   ? ig_python_evaluate(eval, node->as.binary.right, out)
                   : IG_OK;
    }
    choice c = { .given = *out };
    c.yes = is_and ? node->as.binary.right : NULL;
    c.no = is_and ? NULL : node->as.binary.right;
    return choose_between(eval, node, &c, &truth, out);
}

/* Where only the truth counts, the two sides may be of different kinds. */
ig_status ig_python_condition(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    bool is_logical = node->kind == IG_AST_BINARY &&
                      (node->op == IG_AST_OP_AND || node->op == IG_AST_OP_OR);
    ig_ts_value value;
    if (!is_logical) {
        IG_TRY(ig_python_evaluate(eval, node, &value));
        return ig_python_truth(eval, &value, out);
    }
    bool is_and = node->op == IG_AST_OP_AND;
    const ig_ast *right = node->as.binary.right;
    IG_TRY(ig_python_condition(eval, node->as.binary.left, out));
    if (out->form == IG_TS_KNOWN) {
        return out->as.b == is_and ? ig_python_condition(eval, right, out) : IG_OK;
    }
    ig_ts_value left = *out;
    choice c = { .given = left, .wants_truth = true };
    c.yes = is_and ? right : NULL;
    c.no = is_and ? NULL : right;
    return choose_between(eval, node, &c, &left, out);
}

/* ---- operators ---- */

/* -1, -1.5: false for anything but a known number. */
static bool negate_known(ig_ts_value *number) {
    if (number->form != IG_TS_KNOWN || !ig_ts_is_number(number)) {
        return false;
    }
    if (number->kind == IG_TS_FLOAT) {
        number->as.f = -number->as.f;
    } else if (number->kind == IG_TS_COMPLEX) {
        *number = ig_ts_of_complex(-number->as.complex.re, -number->as.complex.im);
    } else {
        int64_t i = number->kind == IG_TS_BOOL ? number->as.b : number->as.i;
        *number = ig_ts_of_int((int64_t)(0 - (uint64_t)i));
    }
    return true;
}

static ig_status evaluate_unary(ig_ts_eval *eval, const ig_ast *node,
                                ig_ts_value *out) {
    ig_ts_value value, truth;
    if (node->op != IG_AST_OP_NOT) {
        IG_TRY(ig_python_evaluate(eval, node->as.value, &value));
        if (node->op == IG_AST_OP_NEG && negate_known(&value)) {
            *out = value;
            return IG_OK;
        }
        return ig_python_unary(eval, (ig_ast_operator)node->op, &value, out);
    }
    IG_TRY(ig_python_condition(eval, node->as.value, &truth));
    if (truth.form == IG_TS_KNOWN) {
        *out = ig_ts_of_bool(!truth.as.b);
        return IG_OK;
    }
    return ig_python_op(eval, "aten::__not__", &truth, 1, out);
}

static ig_status evaluate_binary(ig_ts_eval *eval, const ig_ast *node,
                                 ig_ts_value *out) {
    ig_ts_value left, right;
    if (node->op == IG_AST_OP_AND || node->op == IG_AST_OP_OR) {
        return evaluate_logical(eval, node, out);
    }
    IG_TRY(ig_python_evaluate(eval, node->as.binary.left, &left));
    IG_TRY(ig_python_evaluate(eval, node->as.binary.right, &right));
    return ig_python_binary(eval, (ig_ast_operator)node->op, &left, &right, out);
}

/* a < b < c: all of them; one that is known to fail ends it. */
static ig_status evaluate_compare(ig_ts_eval *eval, const ig_ast *node,
                                  ig_ts_value *out) {
    ig_ts_value left, right, one;
    IG_TRY(ig_python_evaluate(eval, node->as.compare.first, &left));
    for (size_t i = 0; i < node->as.compare.count; i++) {
        IG_TRY(ig_python_evaluate(eval, node->as.compare.values[i], &right));
        IG_TRY(ig_python_compare(eval, (ig_ast_operator)node->as.compare.ops[i], &left,
                                 &right, &one));
        if (i == 0) {
            *out = one;
        } else {
            ig_ts_value pair[2];
            IG_TRY(ig_python_truth(eval, out, &pair[0]));
            IG_TRY(ig_python_truth(eval, &one, &pair[1]));
            IG_TRY(ig_python_op(eval, "aten::__and__", pair, 2, out));
        }
        bool is_false = out->kind == IG_TS_BOOL && out->form == IG_TS_KNOWN &&
                        !out->as.b;
        if (is_false) {
            return IG_OK;
        }
        left = right;
    }
    return IG_OK;
}

static ig_status evaluate_named(ig_ts_eval *eval, const ig_ast *node,
                                ig_ts_value *out) {
    IG_TRY(ig_python_evaluate(eval, node->as.binary.right, out));
    return ig_python_assign(eval, node->as.binary.left, *out);
}

static ig_status evaluate_attribute(ig_ts_eval *eval, const ig_ast *node,
                                    ig_ts_value *out) {
    ig_ts_value object;
    bool is_done = false;
    if (eval->frame->is_dialect) {
        IG_TRY(ig_dialect_attribute(eval, node, out, &is_done));
    }
    if (is_done) {
        return IG_OK;
    }
    IG_TRY(ig_python_evaluate(eval, node->as.attribute.object, &object));
    return ig_python_attribute(eval, &object, node->as.attribute.name, out);
}

/* ---- the whole ---- */

static ig_status evaluate_node(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    switch ((int)node->kind) {
    case IG_AST_NAME:
        return evaluate_name(eval, node, out);
    case IG_AST_FORMATTED:
        return ig_python_formatted(eval, node, out);
    case IG_AST_TUPLE:
    case IG_AST_LIST:
    case IG_AST_SET:
        return evaluate_items(eval, node, out);
    case IG_AST_DICT:
        return evaluate_dict(eval, node, out);
    case IG_AST_COMPREHENSION:
        return evaluate_comprehension(eval, node, out);
    case IG_AST_UNARY:
        return evaluate_unary(eval, node, out);
    case IG_AST_BINARY:
        return evaluate_binary(eval, node, out);
    case IG_AST_COMPARE:
        return evaluate_compare(eval, node, out);
    case IG_AST_CONDITIONAL:
        return evaluate_conditional(eval, node, out);
    case IG_AST_NAMED:
        return evaluate_named(eval, node, out);
    case IG_AST_LAMBDA:
        return ig_python_def(eval, node, out);
    case IG_AST_ATTRIBUTE:
        return evaluate_attribute(eval, node, out);
    case IG_AST_SUBSCRIPT:
        return ig_python_subscript(eval, node, out);
    case IG_AST_CALL:
        return ig_python_call_node(eval, node, out);
    default:
        return ig_ts_error(eval, IG_UNSUPPORTED, "a %s is not supported here",
                           ig_ast_kind_words(node->kind));
    }
}

/* Calls inside of brackets inside of calls: the C stack is what bounds this. */
ig_status ig_python_evaluate(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    uint32_t line = eval->frame->line;
    IG_TRY(ig_ts_step(eval));
    if (ig_ts_literal(node, out)) {
        return IG_OK;
    }
    if (eval->nesting >= NESTING_MAX) {
        return ig_ts_error(eval, IG_LIMIT,
                           "calls and expressions are nested more than %d deep",
                           NESTING_MAX);
    }
    eval->nesting++;
    if (!eval->frame->is_dialect) {
        eval->frame->line = node->line;
    }
    ig_status status = evaluate_node(eval, node, out);
    eval->nesting--;
    if (status == IG_OK) {
        eval->frame->line = line;
    }
    return status;
}
