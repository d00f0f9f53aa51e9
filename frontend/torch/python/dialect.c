/* What names and calls mean in TorchScript's dialect.
 * SPDX-License-Identifier: Apache-2.0
 *
 * There is one evaluator: expressions, statements, calls, containers and attributes of
 * the dialect go the way of plain Python.  The sources that torch.jit.save prints
 * differ in the meaning of names, and this file and special.c hold just that:
 *
 *     inf, nan, infj, nanj          numbers
 *     torch.x(…), ops.ns.x(…)       operators aten::x, ns::x, by their schemas
 *     x.name of a tensor            operator prim::name
 *     x.name(…), no script class    operator aten::name, or the custom class's
 *     __torch__.a.b                 a class, function or enum's member of the archive
 *     CONSTANTS.cN                  a constant of constants.pkl
 *     annotate(T, x), isinstance …  special.c
 *
 * and in three habits: a name that is declared without a value is undefined, not
 * unbound; poison may be moved as long as nobody reads it; `with` calls
 * __enter__ and __exit__.  A frame says whether its function is of the dialect.
 */
#include "frontend/torch/python/dialect.h"

#include <math.h>
#include <string.h>

/* ---- names ---- */

/* torch.a.b: the dialect has operators of torch, and nothing else of it. */
static ig_status refuse_torch(ig_ts_eval *eval, const char *dotted) {
    static const char gradient[] =
        ": gradients that a model takes of itself are not computed; write their formula "
        "into the model, or leave that part to Python";
    bool is_gradient = strcmp(dotted, "torch.autograd.grad") == 0;
    return ig_ts_error(eval, IG_UNSUPPORTED, "%s%s", dotted,
                       is_gradient ? gradient : " is not a supported operator");
}

ig_status ig_dialect_name(ig_ts_eval *eval, const char *name, ig_ts_value *out) {
    static const struct {
        const char *name;
        double re, im;
    } numbers[] = {
        { "inf", HUGE_VAL, 0 },
        { "nan", (double)NAN, 0 },
        { "infj", 0, HUGE_VAL },
        { "nanj", 0, (double)NAN },
    };
    for (size_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            *out = name[3] == 'j' ? ig_ts_of_complex(0, numbers[i].im)
                                  : ig_ts_of_float(numbers[i].re);
            return IG_OK;
        }
    }
    return strcmp(name, "torch") == 0
               ? refuse_torch(eval, name)
               : ig_ts_error(eval, IG_INVALID, "name '%s' is not defined", name);
}

static ig_status constant_number(ig_ts_eval *eval, const char *name, ig_ts_value *out) {
    int64_t index;
    bool is_one = name[0] == 'c' && ig_str_to_i64(ig_str_of(name + 1), &index) &&
                  index >= 0 && eval->constants &&
                  (uint64_t)index < eval->constants->count;
    if (!is_one) {
        return ig_ts_error(eval, IG_INVALID, "CONSTANTS.%s is not in constants.pkl",
                           name);
    }
    *out = eval->constants->items[index];
    const ig_ts_tensor *tensor = out->kind == IG_TS_TENSOR ? out->as.tensor : NULL;
    if (tensor && tensor->type->rank == 0 && !tensor->dtype->is_quantised) {
        ig_ts_tensor *number = IG_NEW(eval->arena, ig_ts_tensor);
        *number = *tensor;
        number->is_constant = true;
        *out = ig_ts_of_tensor(number);
    }
    return IG_OK;
}

ig_status ig_dialect_enum_member(ig_ts_eval *eval, const ig_class *class,
                                 const char *name, ig_ts_value *out) {
    const ig_field *field = ig_class_member(class, name);
    ig_ts_value value;
    if (!field) {
        return ig_ts_error(eval, IG_INVALID, "%s has no member '%s'", class->name,
                           name);
    }
    IG_TRY(ig_python_evaluate(eval, field->value, &value));
    *out = ig_python_enum_member(eval, class, field->name, value);
    return IG_OK;
}

/* A qualified name: function, class, member of an enum, method of a class. */
static ig_status qualified_name(ig_ts_eval *eval, const char *name, ig_ts_value *out) {
    const ig_class *class = NULL;
    const ig_function *function = NULL;
    IG_TRY(ig_code_find(eval->code, name, &class, &function));
    if (!class && !function) {
        const char *dot = strrchr(name, '.');
        const char *owner = ig_arena_copy(eval->arena, name, (size_t)(dot - name));
        IG_TRY(ig_code_find(eval->code, owner, &class, &function));
        if (class && class->kind == IG_CLASS_ENUM) {
            return ig_dialect_enum_member(eval, class, dot + 1, out);
        }
        function = class ? ig_class_method(class, dot + 1) : NULL;
        class = NULL;
        if (!function) {
            return ig_ts_error(eval, IG_INVALID, "'%s' is not in the archive", name);
        }
    }
    if (function) {
        *out = ig_python_value(ig_python_function(eval, function));
        return IG_OK;
    }
    ig_ts_function *value = IG_NEW(eval->arena, ig_ts_function);
    value->class = class;
    *out = (ig_ts_value){ .kind = IG_TS_FUNCTION, .as.function = value };
    return IG_OK;
}

ig_status ig_dialect_attribute(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out,
                               bool *out_done) {
    const char *dotted = ig_ast_dotted(node, eval->arena);
    bool is_qualified = dotted && strncmp(dotted, "__torch__.", 10) == 0;
    if (dotted && strncmp(dotted, "torch.", 6) == 0) {
        return refuse_torch(eval, dotted);
    }
    *out_done = is_qualified || (dotted && strncmp(dotted, "CONSTANTS.", 10) == 0);
    return is_qualified ? qualified_name(eval, dotted, out)
           : *out_done  ? constant_number(eval, dotted + 10, out)
                        : IG_OK;
}

/* ---- classes ---- */

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

ig_status ig_dialect_construct(ig_ts_eval *eval, const ig_class *class,
                               const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_value nothing;
    if (class->kind == IG_CLASS_NAMED_TUPLE) {
        return ig_python_make_tuple(eval, class, arguments, out);
    }
    ig_ts_object *object = ig_ts_object_create(eval, class->name);
    object->class = class;
    *out = ig_ts_of_object(object);
    return ig_python_call_method(eval, object, "__init__", arguments, &nothing);
}

/* ---- calls ---- */

const char *ig_dialect_operator(ig_ts_eval *eval, const char *dotted) {
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

static ig_status call_operator(ig_ts_eval *eval, const char *name, const ig_ast *node,
                               uint32_t names, ig_ts_value *out) {
    ig_ts_arguments arguments;
    IG_TRY(ig_python_read_arguments(eval, node, &arguments));
    eval->names = names;
    return ig_python_op_with(eval, name, &arguments, out);
}

/* A method of something that is not an object of a class with source. */
static ig_status call_builtin(ig_ts_eval *eval, const ig_ts_value *self,
                              const char *name, const ig_ast *node, ig_ts_value *out) {
    const char *ns = self->kind == IG_TS_OBJECT ? self->as.object->class_name : "aten";
    const char *custom = "__torch__.torch.classes.";
    ig_ts_arguments given;
    if (strncmp(ns, custom, strlen(custom)) == 0) {
        ns += strlen(custom); /* "fbgemm.AtomicCounter::increment" */
    }
    IG_TRY(ig_python_read_arguments(eval, node, &given));
    ig_ts_arguments with_self = ig_python_with_self(eval, *self, &given);
    return ig_python_op_with(eval, ig_arena_printf(eval->arena, "%s::%s", ns, name),
                             &with_self, out);
}

static ig_status call_method(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    const ig_ast *function = node->as.call.function;
    const char *name = function->as.attribute.name;
    ig_ts_value self;
    ig_ts_arguments arguments;
    IG_TRY(ig_python_evaluate(eval, function->as.attribute.object, &self));
    IG_TRY(ig_ts_use(eval, &self));
    if (self.kind != IG_TS_OBJECT || !self.as.object->class) {
        return call_builtin(eval, &self, name, node, out);
    }
    IG_TRY(ig_python_read_arguments(eval, node, &arguments));
    const ig_ts_value *member = ig_ts_object_get(self.as.object, name);
    return member && member->kind == IG_TS_FUNCTION /* a function as attribute */
               ? ig_python_call(eval, member, &arguments, out)
               : ig_python_call_method(eval, self.as.object, name, &arguments, out);
}

ig_status ig_dialect_call(ig_ts_eval *eval, const ig_ast *node, uint32_t names,
                          ig_ts_value *out, bool *out_done) {
    const ig_ast *function = node->as.call.function;
    bool is_attribute = function->kind == IG_AST_ATTRIBUTE;
    const char *dotted = ig_ast_dotted(function, eval->arena);
    bool is_bound = dotted && !is_attribute && ig_ts_name_get(eval->frame, dotted);
    const ig_special *special = dotted && !is_bound ? ig_special_of(dotted) : NULL;
    const char *name = dotted && is_attribute ? ig_dialect_operator(eval, dotted)
                                              : NULL;
    *out_done = true;
    *out = ig_ts_none();
    if (special) {
        return ig_special_call(eval, special, node, out);
    }
    if (name) {
        return call_operator(eval, name, node, names, out);
    }
    bool is_qualified = dotted && strncmp(dotted, "__torch__.", 10) == 0;
    if (is_attribute && strncmp(dotted ? dotted : "", "torch.", 6) == 0) {
        return refuse_torch(eval, dotted);
    }
    if (is_attribute && !is_qualified) {
        return call_method(eval, node, out);
    }
    if (is_qualified && ig_str_ends(ig_str_of(dotted), ".__new__")) {
        return make_object(eval, dotted, out);
    }
    *out_done = false;
    return IG_OK;
}

/* ---- with ---- */

static ig_status call_if_there(ig_ts_eval *eval, const ig_ts_value *object,
                               const char *method, uint32_t nones,
                               ig_ts_value *out_value) {
    ig_ts_value none[3] = { ig_ts_none(), ig_ts_none(), ig_ts_none() };
    ig_ts_arguments arguments = { .values = none, .positional = nones };
    *out_value = *object;
    if (object->kind != IG_TS_OBJECT ||
        !ig_python_has_method(object->as.object, method)) {
        return IG_OK;
    }
    return ig_python_call_method(eval, object->as.object, method, &arguments,
                                 out_value);
}

ig_status ig_dialect_with(ig_ts_eval *eval, const ig_ast *node) {
    size_t count = node->as.with.count;
    ig_ts_value *contexts = IG_NEW_ARRAY(eval->arena, ig_ts_value, count), entered;
    for (size_t i = 0; i < count; i++) {
        IG_TRY(ig_python_evaluate(eval, node->as.with.contexts[i], &contexts[i]));
        IG_TRY(call_if_there(eval, &contexts[i], "__enter__", 0, &entered));
        if (node->as.with.targets[i]) {
            IG_TRY(ig_python_assign(eval, node->as.with.targets[i], entered));
        }
    }
    IG_TRY(ig_python_run_block(eval, node->as.with.body));
    for (size_t i = count; i-- > 0;) {
        IG_TRY(call_if_there(eval, &contexts[i], "__exit__", 3, &entered));
    }
    return IG_OK;
}
