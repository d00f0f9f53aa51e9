/* Says why no overload fits a call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/overload_inside.h"

static void put_type(const ig_script_type *type, ig_writer *w) {
    ig_put(w, "%s", type ? type->name : "?");
}

void ig_call_shape_print(const ig_call_shape *call, ig_writer *w) {
    ig_put_char(w, '(');
    for (size_t i = 0; i < call->positional_count; i++) {
        ig_put(w, i ? ", " : "");
        put_type(call->positional[i], w);
    }
    for (size_t i = 0; i < call->keyword_count; i++) {
        ig_put(w, "%s%s=", call->positional_count + i ? ", " : "", call->keywords[i]);
        put_type(call->keyword_types[i], w);
    }
    ig_put_char(w, ')');
}

static void put_reason(ig_writer *w, const ig_mismatch *why) {
    switch (why->kind) {
    case IG_MISMATCH_NONE:
        break;
    case IG_MISMATCH_TYPE:
        ig_put(w, "%s is %s, not %s", why->name, why->actual->name, why->wanted->name);
        break;
    case IG_MISMATCH_MISSING:
        ig_put(w, "%s is missing", why->name);
        break;
    case IG_MISMATCH_MANY:
        ig_put(w, "too many arguments");
        break;
    case IG_MISMATCH_UNKNOWN:
        ig_put(w, "has no argument %s", why->name);
        break;
    case IG_MISMATCH_TWICE:
        ig_put(w, "%s is given twice", why->name);
        break;
    }
}

ig_status ig_overload_explain(ig_script_types *types,
                              const ig_schema *const *candidates, size_t count,
                              const ig_call_shape *call, const ig_location *where) {
    enum { MAX = 8 };
    ig_matcher matcher = { .types = types, .pass = IG_PASS_TOLERANT };
    ig_writer w;
    ig_writer_init(&w, types->arena);
    ig_put(&w, "no supported overload takes ");
    ig_call_shape_print(call, &w);
    for (size_t i = 0; i < count && i < MAX; i++) {
        ig_bound_argument *arguments = IG_NEW_ARRAY(types->arena, ig_bound_argument,
                                                    candidates[i]->argument_count + 1);
        ig_overload_try(&matcher, candidates[i], call, arguments);
        ig_put(&w, "\n  %s: ", candidates[i]->text);
        put_reason(&w, &matcher.why);
    }
    if (count > MAX) {
        ig_put(&w, "\n  and %zu more", count - MAX);
    }
    return ig_error(&types->context->diag, IG_UNSUPPORTED, where, "%s", w.data);
}
