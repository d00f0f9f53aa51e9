/* Inside overload resolution: shared by overload*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_OVERLOAD_INSIDE_H
#define IG_FRONTEND_TORCH_LANGUAGE_OVERLOAD_INSIDE_H

#include "frontend/torch/language/overload.h"

#include "base/vec.h"

typedef enum ig_overload_pass {
    IG_PASS_EXACT,
    IG_PASS_CONVERTING,
    IG_PASS_TOLERANT,
} ig_overload_pass;

typedef enum ig_mismatch_kind {
    IG_MISMATCH_NONE,
    IG_MISMATCH_TYPE,    /* argument `name` wants `wanted`, is `actual` */
    IG_MISMATCH_MISSING, /* no value for `name` */
    IG_MISMATCH_MANY,    /* more positional arguments than the schema takes */
    IG_MISMATCH_UNKNOWN, /* no argument called `name` */
    IG_MISMATCH_TWICE,   /* `name` by position and by keyword */
} ig_mismatch_kind;

/* Why a candidate does not fit. */
typedef struct ig_mismatch {
    ig_mismatch_kind kind;
    const char *name;
    const ig_script_type *wanted, *actual;
} ig_mismatch;

typedef struct ig_script_type_variable_value {
    const char *name;
    const ig_script_type *type;
} ig_script_type_variable_value;

/* State while candidates are tried. */
typedef struct ig_matcher {
    ig_script_types *types;
    ig_overload_pass pass;
    size_t used, used_keywords;
    IG_VEC(ig_script_type_variable_value) variables;
    ig_mismatch why;
} ig_matcher;

/* One candidate in the matcher's pass; `arguments` has room for all of the schema. */
bool ig_overload_try(ig_matcher *matcher, const ig_schema *schema,
                     const ig_call_shape *call, ig_bound_argument *arguments);
/* The formal type with its variables bound to what `actual` says; NULL: impossible. */
const ig_script_type *ig_overload_resolve(ig_matcher *matcher,
                                          const ig_script_type *formal,
                                          const ig_script_type *actual);

#endif
