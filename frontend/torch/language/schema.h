/* Operator schemas: what an operator takes and gives, as torch writes it.
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

#include "frontend/torch/language/type.h"

typedef enum ig_literal_kind {
    IG_LITERAL_NONE,
    IG_LITERAL_BOOL,
    IG_LITERAL_INT, /* also Mean, contiguous_format, strided, long … */
    IG_LITERAL_FLOAT,
    IG_LITERAL_STR, /* a device too */
    IG_LITERAL_LIST,
} ig_literal_kind;

/* A default value. */
typedef struct ig_literal ig_literal;
struct ig_literal {
    ig_literal_kind kind;
    bool b;
    int64_t i;
    double f;
    ig_str text;
    ig_literal *items; /* of a LIST */
    size_t count;
};

/* Alias sets: 'a' of Tensor(a!), '*' the wildcard, 0 none. */
typedef struct ig_alias {
    char before, after; /* of (a -> *) they differ */
    char other;         /* of (b|a) 'a', while both above are 'b' */
    bool is_written;    /* ! */
} ig_alias;

typedef struct ig_schema_argument {
    const char *name; /* interned in ig_schemas.names; of a result maybe NULL */
    const ig_script_type *type;
    int64_t list_size;             /* N of int[N], which one int stands for; else 0 */
    ig_alias alias, element_alias; /* Tensor(a)[](b!): b, then a */
    bool is_keyword_only, has_default;
    ig_literal value; /* the default */
} ig_schema_argument;

typedef struct ig_schema {
    const char *text;     /* the whole, as in the table */
    const char *name;     /* "aten::add_" */
    const char *overload; /* "Tensor"; "" */
    ig_schema_argument *arguments, *results;
    size_t argument_count, result_count;
    bool is_vararg; /* "..." follows the arguments */
    bool is_varret; /* "..." for the results */
} ig_schema;

/* Reports a defect at `where`; tables of ours have none (a test reads them all). */
ig_status ig_schema_parse(ig_script_types *types, ig_map *names, const char *text,
                          const ig_location *where, ig_schema **out_schema);
/* As torch prints it, but for int in place of SymInt, ScalarType and their like. */
void ig_schema_print(ig_writer *writer, const ig_schema *schema);
/* Index of the argument, -1 when there is none of that name. */
int ig_schema_argument_index(const ig_schema *schema, const char *name);

#endif
