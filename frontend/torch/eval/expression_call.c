/* Calls in expressions: operators, functions, methods, constructors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/expression.h"

#include <string.h>

static ig_status read_arguments(ig_ts_eval *eval, const ig_ast *node,
                                ig_ts_arguments *out) {
    size_t count = node->as.call.arguments.count,
           keywords = node->as.call.keyword_count;
    out->values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + keywords + 1);
    out->names = IG_NEW_ARRAY(eval->arena, const char *, keywords + 1);
    out->positional = (uint32_t)count;
    out->keywords = (uint32_t)keywords;
    for (size_t i = 0; i < count; i++) {
        IG_TRY(ig_ts_evaluate(eval, node->as.call.arguments.items[i], &out->values[i]));
    }
    for (size_t i = 0; i < keywords; i++) {
        out->names[i] = node->as.call.keywords[i].name;
        if (!out->names[i]) {
            return ig_ts_error(eval, IG_UNSUPPORTED, "'**' in a call is not supported");
        }
        IG_TRY(ig_ts_evaluate(eval, node->as.call.keywords[i].value,
                              &out->values[count + i]));
    }
    return IG_OK;
}

/* ---- operators ---- */

const char *ig_ts_operator_name(ig_ts_eval *eval, const char *dotted) {
    if (strncmp(dotted, "torch.", 6) == 0) {
        return strchr(dotted + 6, '.')
                   ? NULL
                   : ig_arena_printf(eval->arena, "aten::%s", dotted + 6);
    }
    const char *dot = strncmp(dotted, "ops.", 4) == 0 ? strchr(dotted + 4, '.') : NULL;
    return dot ? ig_arena_printf(eval->arena, "%.*s::%s", (int)(dot - dotted - 4),
                                 dotted + 4, dot + 1)
               : NULL;
}

/* ---- constructors ---- */

static ig_status make_tuple(ig_ts_eval *eval, const ig_class *class,
                            const ig_ts_arguments *arguments, ig_ts_value *out) {
    size_t count = class->attributes.count;
    ig_ts_list *tuple = ig_ts_list_create(eval, count);
    tuple->class = class;
    for (size_t i = 0; i < count; i++) {
        const ig_field *field = &class->attributes.items[i];
        ig_ts_value value;
        if (i < arguments->positional) {
            value = arguments->values[i];
        } else if (field->value) {
            IG_TRY(ig_ts_evaluate(eval, field->value, &value));
        } else {
            return ig_ts_error(eval, IG_INVALID, "%s is made without '%s'", class->name,
                               field->name);
        }
        ig_ts_list_add(eval, tuple, value);
    }
    *out = ig_ts_of_tuple(tuple);
    return IG_OK;
}

static ig_status construct_object(ig_ts_eval *eval, const ig_class *class,
                                  const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_value nothing;
    if (class->kind == IG_CLASS_NAMED_TUPLE) {
        return make_tuple(eval, class, arguments, out);
    }
    ig_ts_object *object = ig_ts_object_create(eval, class->name);
    object->class = class;
    *out = ig_ts_of_object(object);
    return ig_ts_call_method(eval, object, "__init__", arguments, &nothing);
}

/* `C.__new__(C)`. */
static ig_status make_object(ig_ts_eval *eval, const char *dotted, ig_ts_value *out) {
    const ig_class *class = NULL;
    ig_location where = ig_ts_where(eval);
    const char *name = ig_arena_copy(eval->arena, dotted,
                                     strlen(dotted) - strlen(".__new__"));
    IG_TRY(ig_code_class(eval->code, name, &where, &class));
    ig_ts_object *object = ig_ts_object_create(eval, class->name);
    object->class = class->kind == IG_CLASS_CUSTOM ? NULL : class;
    *out = ig_ts_of_object(object);
    return IG_OK;
}

/* ---- what is called ---- */

static ig_status call_value(ig_ts_eval *eval, const ig_ts_value *function,
                            const ig_ast *node, ig_ts_value *out) {
    ig_ts_arguments arguments;
    IG_TRY(ig_ts_use(eval, function));
    IG_TRY(read_arguments(eval, node, &arguments));
    if (function->kind != IG_TS_FUNCTION) {
        return ig_ts_error(eval, IG_INVALID, "calls %s", ig_ts_kind_name(function));
    }
    if (function->as.function->class) {
        return construct_object(eval, function->as.function->class, &arguments, out);
    }
    return ig_ts_call_function(eval, function->as.function, &arguments, out);
}

/* A method of something that is no object of a class with source. */
static ig_status call_builtin_method(ig_ts_eval *eval, const ig_ts_value *self,
                                     const char *name, const ig_ts_arguments *arguments,
                                     ig_ts_value *out) {
    uint32_t count = arguments->positional, results = 1;
    ig_ts_value *values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    ig_ts_arguments with_self = { .values = values, .positional = count + 1 };
    values[0] = *self;
    if (count) {
        memcpy(values + 1, arguments->values, count * sizeof(*values));
    }
    const char *ns = self->kind == IG_TS_OBJECT ? self->as.object->class_name : "aten";
    const char *custom = "__torch__.torch.classes.";
    if (strncmp(ns, custom, strlen(custom)) == 0) {
        ns += strlen(custom); /* "fbgemm.AtomicCounter::increment" */
    }
    return ig_ts_call_op(eval, ig_arena_printf(eval->arena, "%s::%s", ns, name),
                         &with_self, out, &results);
}

static ig_status call_method_node(ig_ts_eval *eval, const ig_ast *node,
                                  ig_ts_value *out) {
    const ig_ast *function = node->as.call.function;
    const char *name = function->as.attribute.name;
    ig_ts_value self, *member;
    ig_ts_arguments arguments;
    IG_TRY(ig_ts_evaluate(eval, function->as.attribute.object, &self));
    IG_TRY(ig_ts_use(eval, &self));
    IG_TRY(read_arguments(eval, node, &arguments));
    if (self.kind != IG_TS_OBJECT || !self.as.object->class) {
        return call_builtin_method(eval, &self, name, &arguments, out);
    }
    member = ig_ts_object_get(self.as.object, name); /* a function as attribute */
    if (member && member->kind == IG_TS_FUNCTION) {
        return ig_ts_call_function(eval, member->as.function, &arguments, out);
    }
    return ig_ts_call_method(eval, self.as.object, name, &arguments, out);
}

static bool ends_with(const char *text, const char *end) {
    return ig_str_ends(ig_str_of(text), end);
}

static ig_status call_dotted(ig_ts_eval *eval, const ig_ast *node, const char *dotted,
                             uint32_t names, ig_ts_value *out_results,
                             uint32_t *count) {
    const char *name = ig_ts_operator_name(eval, dotted);
    ig_ts_special_hook special = ig_ts_special_of(dotted);
    ig_ts_value function;
    ig_ts_arguments arguments;
    if (special) {
        *count = 1;
        return special(eval, node, out_results);
    }
    if (name) {
        IG_TRY(read_arguments(eval, node, &arguments));
        eval->names = names;
        return ig_ts_call_op(eval, name, &arguments, out_results, count);
    }
    *count = 1;
    if (strncmp(dotted, "__torch__.", 10) != 0) {
        return call_method_node(eval, node, out_results);
    }
    if (ends_with(dotted, ".__new__")) {
        return make_object(eval, dotted, out_results);
    }
    IG_TRY(ig_ts_evaluate(eval, node->as.call.function, &function));
    return call_value(eval, &function, node, out_results);
}

ig_status ig_ts_evaluate_results(ig_ts_eval *eval, const ig_ast *node,
                                 ig_ts_value *out_results, uint32_t *count) {
    uint32_t names = eval->names; /* for this call, and not for those inside of it */
    eval->names = 0;
    if (node->kind != IG_AST_CALL) {
        *count = 1;
        return ig_ts_evaluate(eval, node, out_results);
    }
    const ig_ast *function = node->as.call.function;
    const char *dotted = ig_ast_dotted(function, eval->arena);
    if (function->kind == IG_AST_ATTRIBUTE && dotted) {
        return call_dotted(eval, node, dotted, names, out_results, count);
    }
    *count = 1;
    if (function->kind == IG_AST_ATTRIBUTE) {
        return call_method_node(eval, node, out_results);
    }
    ig_ts_special_hook special = dotted && !ig_ts_name_get(eval->frame, dotted)
                                     ? ig_ts_special_of(dotted)
                                     : NULL;
    if (special) {
        return special(eval, node, out_results);
    }
    ig_ts_value value;
    IG_TRY(ig_ts_evaluate(eval, function, &value));
    return call_value(eval, &value, node, out_results);
}
