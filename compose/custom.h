/* Operators that the user gives as graphs (--ops, docs/custom-operators.md).
 * SPDX-License-Identifier: Apache-2.0
 *
 * A module of IR text holds them: graph @"domain::Op" serves the operator of that name,
 * and @"domain::Op.anything" is one more form of it.  The forms are tried in the order
 * of the file; the first whose arguments have the call's dtypes and ranks, and known
 * extents that do not differ, is inlined.
 */
#ifndef IG_COMPOSE_CUSTOM_H
#define IG_COMPOSE_CUSTOM_H

#include "ir/build/expr.h"

#define IG_CUSTOM_ADVICE                                                    \
    "give it as a graph (--ops FILE.ig), as C (--ops LIB.so) or as Python " \
    "(ingot.compile(…, ops=…)): docs/custom-operators.md"

/* The modules that the user gave, in their order. */
typedef struct ig_custom_functions {
    ig_module **modules;
    size_t count;
} ig_custom_functions;

/* IG_INVALID, reported, where a graph of `functions` cannot serve as one. */
ig_status ig_custom_check_all(const ig_module *functions, const char *file);

/* The form of `name` ("domain::Op") after `after` (NULL: the first); NULL: there is no
 * more.  `functions` may be NULL. */
const ig_graph *ig_custom_next(const ig_custom_functions *functions, const char *name,
                               const ig_graph *after);
/* Do values of these types fit its arguments? */
bool ig_custom_fits(const ig_graph *function, ig_value *const *args, uint32_t count);
/* Inlines it; the run checks extents that must be equal.  Writes a value for each of
 * its results (ig_custom_result_count).  Failures stay in `e`. */
void ig_custom_inline(ig_expr *e, const ig_graph *function, ig_value *const *args,
                      ig_value **out_results);
uint32_t ig_custom_result_count(const ig_graph *function);

#endif
