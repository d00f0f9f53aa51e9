/* Operator schemas: an operator's arguments and results, as torch writes them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
 *
 * Types become those of type.h: Scalar is number; ScalarType, Layout, MemoryFormat and
 * SymInt are int; `int[2]` is List[int] that also takes one int; `t` is a VARIABLE;
 * `__torch__.torch.classes.quantized.X` is a CLASS.
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_SCHEMA_H
#define IG_FRONTEND_TORCH_LANGUAGE_SCHEMA_H

#include "frontend/torch/language/ast.h"
#include "frontend/torch/language/type.h"

/* Alias sets: 'a' of Tensor(a!), '*' the wildcard, 0 none. */
typedef struct ig_alias {
    char before, after; /* of (a -> *) they differ; of (b|a) both are 'b' */
    bool is_written;    /* ! */
} ig_alias;

typedef struct ig_schema_argument {
    const char *name; /* interned in ig_schemas.names; of a result maybe NULL */
    const ig_script_type *type;
    int64_t list_size; /* N of int[N], for which one int may be given; else 0 */
    ig_alias alias, element_alias; /* Tensor(a)[](b!): b, then a */
    bool is_keyword_only;
    ig_ast *value; /* the default, a literal or a list of them; NULL: there is none */
} ig_schema_argument;

typedef struct ig_schema {
    const char *text;     /* the whole, as in the table */
    const char *name;     /* "aten::add_" */
    const char *overload; /* "Tensor"; "" */
    ig_schema_argument *arguments, *results;
    size_t argument_count, result_count;
    bool is_vararg; /* "..." follows the arguments */
} ig_schema;

/* Reports a defect at `where`; tables of ours have none (a test reads them all). */
ig_status ig_schema_parse(ig_script_types *types, ig_map *names, const char *text,
                          const ig_location *where, ig_schema **out_schema);
/* Index of the argument, -1 when there is none of that name. */
int ig_schema_argument_index(const ig_schema *schema, const char *name);

#endif
