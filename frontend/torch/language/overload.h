/* Which overload of an operator a call means.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Archives do not say it; libtorch finds it again at each load, and so do we, by its
 * rules: candidates in order of registration; the first pass takes none but exact
 * types, the second also converts (a tensor of one element to a number, a string to a
 * device, loose integers to a list); the first that fits wins.  One candidate alone is
 * tried with conversions at once.
 *
 * A third pass is ours: it takes what archives hold though libtorch would not: an int
 * where a float belongs (its printer writes 1e15 without a point), a list of tensors
 * for a list of optional ones (libtorch has twins of such operators).
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_OVERLOAD_H
#define IG_FRONTEND_TORCH_LANGUAGE_OVERLOAD_H

#include "frontend/torch/language/schema.h"

/* A call as it is written: types of its arguments; NULL: not known, fits everything. */
typedef struct ig_call_shape {
    const ig_script_type *const *positional;
    size_t positional_count;
    const char *const *keywords; /* names */
    const ig_script_type *const *keyword_types;
    size_t keyword_count;
} ig_call_shape;

/* The conversion of an argument's value before the operator sees it. */
typedef enum ig_conversion {
    IG_CONVERT_NONE,
    IG_CONVERT_REPEAT,     /* n for int[N]: [n] * N */
    IG_CONVERT_TO_LIST,    /* a tuple for a list */
    IG_CONVERT_GATHER,     /* all positional arguments from here on make one list; the
                            * tensors among them are item()s */
    IG_CONVERT_TENSOR_INT, /* item() of a tensor */
    IG_CONVERT_TENSOR_FLOAT,
    IG_CONVERT_TENSOR_NUMBER,
    IG_CONVERT_TENSOR_COMPLEX,
    IG_CONVERT_NUMBER_INT, /* of a bool too */
    IG_CONVERT_NUMBER_FLOAT,
    IG_CONVERT_NUMBER_COMPLEX,
    IG_CONVERT_STR_DEVICE,
    IG_CONVERT_TUPLE, /* element by element: of tuples that hold such values */
} ig_conversion;

/* Where the value of one schema argument comes from. */
typedef struct ig_bound_argument {
    int source; /* >= 0: positional; IG_FROM_DEFAULT; else -1 - keyword */
    ig_conversion conversion;
} ig_bound_argument;
#define IG_FROM_DEFAULT (-1000000)

typedef struct ig_overload_match {
    const ig_schema *schema;
    size_t index;                        /* among the candidates */
    ig_bound_argument *arguments;        /* one for each of the schema */
    size_t extra;                        /* vararg: first positional after them */
    const ig_script_type **result_types; /* variables replaced; schema->result_count */
} ig_overload_match;

/* False when none fits; nothing is reported. */
bool ig_overload_find(ig_script_types *types, const ig_schema *const *candidates,
                      size_t count, const ig_call_shape *call,
                      ig_overload_match *out_match);
/* Reports why none fits, candidate by candidate, and returns IG_UNSUPPORTED: torch
 * saves calls that it has an overload for. */
ig_status ig_overload_explain(ig_script_types *types,
                              const ig_schema *const *candidates, size_t count,
                              const ig_call_shape *call, const ig_location *where);

/* "(Tensor, int, dim=int)"; a value without type is "?". */
void ig_call_shape_print(const ig_call_shape *call, ig_writer *w);

#endif
