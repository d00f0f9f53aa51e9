/* Which overload of an operator a call means.
 * SPDX-License-Identifier: Apache-2.0
 *
 * overload.h has the essay.  Every candidate is tried by try_schema: it walks the
 * schema's arguments, takes for each the next positional one, a keyword or the default,
 * and asks match_argument whether its type will do in this pass.
 */
#include "frontend/torch/language/overload_inside.h"

#include <assert.h>
#include <string.h>

/* ---- type variables ---- */

static const ig_script_type *find_variable(const ig_matcher *matcher,
                                           const char *name) {
    for (size_t i = 0; i < matcher->variables.count; i++) {
        if (strcmp(matcher->variables.items[i].name, name) == 0) {
            return matcher->variables.items[i].type;
        }
    }
    return NULL;
}

/* The first use of `t` gives its type; later ones must get along with it. */
static const ig_script_type *match_variable(ig_matcher *matcher, const char *name,
                                            const ig_script_type *actual) {
    const ig_script_type *known = find_variable(matcher, name);
    if (known) {
        return ig_script_type_unify(matcher->types, known, actual) ? known : NULL;
    }
    IG_PUSH(matcher->types->arena, &matcher->variables,
            (ig_script_type_variable_value){ name, actual });
    return actual;
}

static const ig_script_type *match_items(ig_matcher *matcher,
                                         const ig_script_type *formal,
                                         const ig_script_type *actual) {
    if (formal->kind != actual->kind || formal->count != actual->count) {
        return NULL;
    }
    const ig_script_type **items = IG_NEW_ARRAY(matcher->types->arena,
                                                const ig_script_type *, formal->count);
    for (size_t i = 0; i < formal->count; i++) {
        items[i] = ig_overload_resolve(matcher, formal->items[i], actual->items[i]);
        if (!items[i]) {
            return NULL;
        }
    }
    return ig_script_type_make(matcher->types, formal->kind, items, formal->count);
}

/* A tuple (T, T) means a list of T. */
static const ig_script_type *match_list(ig_matcher *matcher,
                                        const ig_script_type *formal,
                                        const ig_script_type *actual) {
    if (actual->kind != IG_SCRIPT_TUPLE || actual->count == 0) {
        return match_items(matcher, formal, actual);
    }
    const ig_script_type *item = actual->items[0];
    for (size_t i = 1; item && i < actual->count; i++) {
        item = ig_script_type_unify(matcher->types, item, actual->items[i]);
    }
    item = item ? ig_overload_resolve(matcher, formal->items[0], item) : NULL;
    return item ? ig_script_type_list(matcher->types, item) : NULL;
}

static const ig_script_type *match_optional(ig_matcher *matcher,
                                            const ig_script_type *formal,
                                            const ig_script_type *actual) {
    if (actual->kind == IG_SCRIPT_NONE) {
        return NULL; /* nothing says what t is */
    }
    const ig_script_type *item = ig_overload_resolve(
        matcher, formal->items[0], ig_script_type_without_none(matcher->types, actual));
    return item ? ig_script_type_optional(matcher->types, item) : NULL;
}

const ig_script_type *ig_overload_resolve(ig_matcher *matcher,
                                          const ig_script_type *formal,
                                          const ig_script_type *actual) {
    if (!formal->has_variable) {
        return formal;
    }
    switch ((int)formal->kind) {
    case IG_SCRIPT_VARIABLE:
        return match_variable(matcher, formal->name, actual);
    case IG_SCRIPT_LIST:
        return match_list(matcher, formal, actual);
    case IG_SCRIPT_OPTIONAL:
        return match_optional(matcher, formal, actual);
    default:
        return match_items(matcher, formal, actual);
    }
}

/* With the variables that are known by now; NULL when one is not. */
static const ig_script_type *substitute_variables(ig_matcher *matcher,
                                                  const ig_script_type *type) {
    if (!type->has_variable) {
        return type;
    }
    if (type->kind == IG_SCRIPT_VARIABLE) {
        return find_variable(matcher, type->name);
    }
    const ig_script_type **items = IG_NEW_ARRAY(matcher->types->arena,
                                                const ig_script_type *, type->count);
    for (size_t i = 0; i < type->count; i++) {
        items[i] = substitute_variables(matcher, type->items[i]);
        if (!items[i]) {
            return NULL;
        }
    }
    return ig_script_type_make(matcher->types, type->kind, items, type->count);
}

/* ---- one argument ---- */

/* A number for int[N], which means N of it. */
static bool is_number_list_item(const ig_schema_argument *argument,
                                const ig_script_type *actual) {
    const ig_script_type *type = argument->type;
    type = type->kind == IG_SCRIPT_OPTIONAL ? type->items[0] : type;
    return argument->list_size > 0 && type->kind == IG_SCRIPT_LIST &&
           type->items[0] == actual &&
           (actual->kind == IG_SCRIPT_INT || actual->kind == IG_SCRIPT_FLOAT);
}

static bool tuple_is_list(ig_script_types *types, const ig_script_type *tuple,
                          const ig_script_type *list) {
    if (list->kind != IG_SCRIPT_LIST || tuple->kind != IG_SCRIPT_TUPLE) {
        return false;
    }
    for (size_t i = 0; i < tuple->count; i++) {
        if (!ig_script_type_is_subtype(types, tuple->items[i], list->items[0])) {
            return false;
        }
    }
    return true;
}

/* Second pass: what turns `actual` into `wanted`. */
static ig_conversion convert_implicitly(const ig_script_type *actual,
                                        const ig_script_type *wanted) {
    static const struct {
        ig_script_kind actual, wanted;
        ig_conversion conversion;
    } rows[] = {
        { IG_SCRIPT_TENSOR, IG_SCRIPT_INT, IG_CONVERT_TENSOR_INT },
        { IG_SCRIPT_TENSOR, IG_SCRIPT_FLOAT, IG_CONVERT_TENSOR_FLOAT },
        { IG_SCRIPT_TENSOR, IG_SCRIPT_COMPLEX, IG_CONVERT_TENSOR_COMPLEX },
        { IG_SCRIPT_TENSOR, IG_SCRIPT_NUMBER, IG_CONVERT_TENSOR_NUMBER },
        { IG_SCRIPT_NUMBER, IG_SCRIPT_INT, IG_CONVERT_NUMBER_INT },
        { IG_SCRIPT_NUMBER, IG_SCRIPT_FLOAT, IG_CONVERT_NUMBER_FLOAT },
        { IG_SCRIPT_NUMBER, IG_SCRIPT_COMPLEX, IG_CONVERT_NUMBER_COMPLEX },
        { IG_SCRIPT_BOOL, IG_SCRIPT_INT, IG_CONVERT_NUMBER_INT },
        { IG_SCRIPT_BOOL, IG_SCRIPT_NUMBER, IG_CONVERT_NUMBER_INT },
        { IG_SCRIPT_BOOL, IG_SCRIPT_FLOAT, IG_CONVERT_NUMBER_FLOAT },
        { IG_SCRIPT_STR, IG_SCRIPT_DEVICE, IG_CONVERT_STR_DEVICE },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (rows[i].actual == actual->kind && rows[i].wanted == wanted->kind) {
            return rows[i].conversion;
        }
    }
    return IG_CONVERT_NONE;
}

/* Third pass. */
static bool is_tolerated(ig_script_types *types, const ig_script_type *actual,
                         const ig_script_type *wanted, ig_conversion *out_conversion) {
    if (actual->kind == IG_SCRIPT_INT && wanted->kind == IG_SCRIPT_FLOAT) {
        *out_conversion = IG_CONVERT_NUMBER_FLOAT;
        return true;
    }
    if (actual->kind != IG_SCRIPT_LIST || wanted->kind != IG_SCRIPT_LIST) {
        return false;
    }
    bool is_int_of_float = actual->items[0]->kind == IG_SCRIPT_INT &&
                           wanted->items[0]->kind == IG_SCRIPT_FLOAT;
    return is_int_of_float ||
           ig_script_type_is_subtype(types, actual->items[0], wanted->items[0]);
}

static bool match_type(const ig_matcher *matcher, const ig_script_type *actual,
                       const ig_script_type *wanted, ig_conversion *out_conversion) {
    if (ig_script_type_is_subtype(matcher->types, actual, wanted)) {
        return true;
    }
    if (wanted->kind == IG_SCRIPT_OPTIONAL) {
        wanted = wanted->items[0];
    }
    if (tuple_is_list(matcher->types, actual, wanted)) {
        *out_conversion = IG_CONVERT_TO_LIST;
        return true;
    }
    if (matcher->pass == IG_PASS_EXACT) {
        return false;
    }
    *out_conversion = convert_implicitly(actual, wanted);
    return *out_conversion != IG_CONVERT_NONE ||
           (matcher->pass == IG_PASS_TOLERANT &&
            is_tolerated(matcher->types, actual, wanted, out_conversion));
}

static bool match_argument(ig_matcher *matcher, const ig_schema_argument *argument,
                           const ig_script_type *actual, ig_bound_argument *bound) {
    bound->conversion = IG_CONVERT_NONE;
    if (!actual) {
        return true;
    }
    if (is_number_list_item(argument, actual)) {
        bound->conversion = IG_CONVERT_REPEAT;
        return true;
    }
    const ig_script_type *wanted = ig_overload_resolve(matcher, argument->type, actual);
    bool fits = wanted && match_type(matcher, actual, wanted, &bound->conversion);
    if (!fits) {
        matcher->why = (ig_mismatch){ IG_MISMATCH_TYPE, argument->name, argument->type,
                                      actual };
    }
    return fits;
}

/* ---- one candidate ---- */

/* zeros(1, 2) for zeros(int[] size): the last positional argument is a plain list. */
static bool takes_loose_items(const ig_schema *schema, size_t index) {
    assert(index < schema->argument_count && "the schema has no such argument");
    const ig_schema_argument *argument = &schema->arguments[index];
    bool is_last = index + 1 == schema->argument_count ||
                   schema->arguments[index + 1].is_keyword_only;
    return is_last && argument->type->kind == IG_SCRIPT_LIST &&
           argument->list_size == 0 && !argument->type->has_variable;
}

static bool gather_items(ig_matcher *matcher, const ig_schema_argument *argument,
                         const ig_call_shape *call, size_t first) {
    assert(first < call->positional_count &&
           "the caller has a positional argument left");
    const ig_script_type *actual = call->positional[first];
    if (matcher->pass == IG_PASS_EXACT || actual->kind == IG_SCRIPT_LIST ||
        tuple_is_list(matcher->types, actual, argument->type)) {
        return false;
    }
    for (size_t i = first; i < call->positional_count; i++) {
        ig_conversion ignored;
        if (call->positional[i] && !match_type(matcher, call->positional[i],
                                               argument->type->items[0], &ignored)) {
            return false;
        }
    }
    return true;
}

static int find_keyword(const ig_call_shape *call, const char *name) {
    for (size_t i = 0; i < call->keyword_count; i++) {
        if (strcmp(call->keywords[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool bind_argument(ig_matcher *matcher, const ig_schema *schema, size_t index,
                          const ig_call_shape *call, ig_bound_argument *bound) {
    assert(matcher->used <= call->positional_count && "an argument is used once");
    const ig_schema_argument *argument = &schema->arguments[index];
    if (!argument->is_keyword_only && matcher->used < call->positional_count) {
        bound->source = (int)matcher->used;
        if (!call->positional[matcher->used]) {
            matcher->used = takes_loose_items(schema, index) ? call->positional_count
                                                             : matcher->used + 1;
            return true;
        }
        if (takes_loose_items(schema, index) &&
            gather_items(matcher, argument, call, matcher->used)) {
            bound->conversion = IG_CONVERT_GATHER;
            matcher->used = call->positional_count;
            return true;
        }
        return match_argument(matcher, argument, call->positional[matcher->used++],
                              bound);
    }
    int keyword = find_keyword(call, argument->name);
    if (keyword >= 0) {
        bound->source = -1 - keyword;
        matcher->used_keywords++;
        return match_argument(matcher, argument, call->keyword_types[keyword], bound);
    }
    bound->source = IG_FROM_DEFAULT;
    if (!argument->value) {
        matcher->why = (ig_mismatch){ .kind = IG_MISMATCH_MISSING,
                                      .name = argument->name };
    }
    return argument->value != NULL;
}

/* False for arguments that the schema does not take, or takes twice. */
static bool all_are_used(ig_matcher *matcher, const ig_schema *schema,
                         const ig_call_shape *call) {
    if (matcher->used < call->positional_count && !schema->is_vararg) {
        matcher->why.kind = IG_MISMATCH_MANY;
        return false;
    }
    const char *twice = NULL;
    for (size_t i = 0; i < call->keyword_count; i++) {
        int index = ig_schema_argument_index(schema, call->keywords[i]);
        if (index < 0) {
            matcher->why = (ig_mismatch){ .kind = IG_MISMATCH_UNKNOWN,
                                          .name = call->keywords[i] };
            return false;
        }
        bool is_positional = !schema->arguments[index].is_keyword_only &&
                             (size_t)index < call->positional_count;
        twice = is_positional ? call->keywords[i] : twice;
    }
    matcher->why = (ig_mismatch){ .kind = IG_MISMATCH_TWICE, .name = twice };
    return matcher->used_keywords == call->keyword_count;
}

bool ig_overload_try(ig_matcher *matcher, const ig_schema *schema,
                     const ig_call_shape *call, ig_bound_argument *arguments) {
    matcher->variables.count = 0;
    matcher->used = matcher->used_keywords = 0;
    matcher->why = (ig_mismatch){ 0 };
    for (size_t i = 0; i < schema->argument_count; i++) {
        if (!bind_argument(matcher, schema, i, call, &arguments[i])) {
            return false;
        }
    }
    return all_are_used(matcher, schema, call);
}

/* ---- all ---- */

/* Among other overloads, view.dtype cannot be told from view(int…), and libtorch passes
 * it over too; the other two have a keyword that no archive gives.  A single candidate
 * was named by the file (.pt2 names overloads). */
static bool is_passed_over(const ig_schema *schema) {
    bool is_view = strcmp(schema->name, "aten::view") == 0;
    bool is_extreme = strcmp(schema->name, "aten::max") == 0 ||
                      strcmp(schema->name, "aten::min") == 0;
    return (is_view && strcmp(schema->overload, "dtype") == 0) ||
           (is_extreme && strcmp(schema->overload, "unary_out") == 0);
}

static bool find_in_pass(ig_matcher *matcher, const ig_schema *const *candidates,
                         size_t count, const ig_call_shape *call,
                         ig_overload_match *out_match) {
    for (size_t i = 0; i < count; i++) {
        if ((count == 1 || !is_passed_over(candidates[i])) &&
            ig_overload_try(matcher, candidates[i], call, out_match->arguments)) {
            out_match->schema = candidates[i];
            out_match->index = i;
            return true;
        }
    }
    return false;
}

static void set_result_types(ig_matcher *matcher, ig_overload_match *match) {
    assert(match->schema && "a candidate was found");
    const ig_schema *schema = match->schema;
    match->extra = matcher->used;
    match->result_types = IG_NEW_ARRAY(matcher->types->arena, const ig_script_type *,
                                       schema->result_count);
    for (size_t i = 0; i < schema->result_count; i++) {
        const ig_script_type *type = substitute_variables(matcher,
                                                          schema->results[i].type);
        match->result_types[i] = type ? type : matcher->types->simple[IG_SCRIPT_ANY];
    }
}

bool ig_overload_find(ig_script_types *types, const ig_schema *const *candidates,
                      size_t count, const ig_call_shape *call,
                      ig_overload_match *out_match) {
    ig_matcher matcher = { .types = types };
    size_t max = 0;
    for (size_t i = 0; i < count; i++) {
        size_t arguments = candidates[i]->argument_count;
        max = arguments > max ? arguments : max;
    }
    *out_match = (ig_overload_match){ 0 };
    out_match->arguments = IG_NEW_ARRAY(types->arena, ig_bound_argument, max);
    for (int pass = IG_PASS_EXACT; pass <= IG_PASS_TOLERANT; pass++) {
        matcher.pass = (ig_overload_pass)pass;
        if (find_in_pass(&matcher, candidates, count, call, out_match)) {
            set_result_types(&matcher, out_match);
            return true;
        }
    }
    return false;
}
