/* TorchScript's types.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Types are interned in an ig_script_types: equal types are one pointer.  They print as
 * annotations are written ("Dict[str, List[Optional[Tensor]]]"), and what prints,
 * parses.  Operator schemas (schema.h) use the same types, and the few kinds that only
 * they have.
 *
 * Types of values that are known at import are found by the evaluator; there is no
 * inference here.  A class is a name; its kind (Module, NamedTuple, Enum, Interface)
 * is known by the ig_code, which is asked when subtyping needs it.
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_TYPE_H
#define IG_FRONTEND_TORCH_LANGUAGE_TYPE_H

#include "frontend/torch/language/ast.h"

#include "base/context.h"

/*  TYPE(name, text): simple ones print as `text`, others start with it.
 *  number is torch's Scalar.  dtypes, layouts and memory formats are int. */
#define IG_SCRIPT_TYPE_LIST(TYPE)                           \
    TYPE(TENSOR, "Tensor")                                  \
    TYPE(INT, "int")                                        \
    TYPE(FLOAT, "float")                                    \
    TYPE(BOOL, "bool")                                      \
    TYPE(COMPLEX, "complex")                                \
    TYPE(NUMBER, "number")                                  \
    TYPE(STR, "str")                                        \
    TYPE(NONE, "NoneType")                                  \
    TYPE(ANY, "Any")                                        \
    TYPE(DEVICE, "Device")                                  \
    TYPE(GENERATOR, "Generator")                            \
    TYPE(STREAM, "Stream")                                  \
    TYPE(STORAGE, "Storage")                                \
    TYPE(QSCHEME, "QScheme")                                \
    TYPE(CAPSULE, "Capsule")                                \
    TYPE(ANY_LIST, "list")                                  \
    TYPE(ANY_TUPLE, "tuple")                                \
    TYPE(ANY_CLASS, "AnyClassType")                         \
    TYPE(ANY_ENUM, "AnyEnumType")                           \
    TYPE(LIST, "List")         /* 1 element */              \
    TYPE(OPTIONAL, "Optional") /* 1, never None/Optional */ \
    TYPE(TUPLE, "Tuple")       /* any number */             \
    TYPE(DICT, "Dict")         /* key, value */             \
    TYPE(UNION, "Union")       /* 2 or more */              \
    TYPE(FUTURE, "Future")     /* 1 */                      \
    TYPE(AWAIT, "Await")       /* 1 */                      \
    TYPE(RREF, "RRef")         /* 1 */                      \
    TYPE(CLASS, "class")       /* `name` is the class */    \
    TYPE(VARIABLE, "variable") /* t of a schema: `name` */

typedef enum ig_script_kind {
#define IG_SCRIPT_KIND(name, text) IG_SCRIPT_##name,
    IG_SCRIPT_TYPE_LIST(IG_SCRIPT_KIND)
#undef IG_SCRIPT_KIND
        IG_SCRIPT_KIND_COUNT
} ig_script_kind;

typedef struct ig_script_type ig_script_type;

struct ig_script_type {
    ig_script_kind kind;
    uint32_t id;      /* dense over its ig_script_types */
    const char *name; /* as it prints; of a CLASS its qualified name */
    const ig_script_type **items;
    size_t count;
    bool has_variable; /* a VARIABLE is in it */
    uint16_t depth;
};

struct ig_code;

typedef struct ig_script_types {
    ig_arena *arena;
    ig_context *context;
    ig_map table; /* printed form -> ig_script_type */
    uint32_t count;
    /* Whose classes ig_script_type_is_subtype knows; NULL: classes are only names. */
    struct ig_code *code;
    const ig_script_type *simple[IG_SCRIPT_KIND_COUNT]; /* simple[IG_SCRIPT_INT] … */
} ig_script_types;

void ig_script_types_init(ig_script_types *types, ig_context *context, ig_arena *arena);

/* The interned type.  Optional[Optional[T]] is Optional[T]; Union[T, None] is
 * Optional[T]; a Union drops what another member covers. */
const ig_script_type *ig_script_type_list(ig_script_types *types,
                                          const ig_script_type *element);
const ig_script_type *ig_script_type_optional(ig_script_types *types,
                                              const ig_script_type *element);
const ig_script_type *ig_script_type_future(ig_script_types *types,
                                            const ig_script_type *element);
const ig_script_type *ig_script_type_dict(ig_script_types *types,
                                          const ig_script_type *key,
                                          const ig_script_type *value);
const ig_script_type *ig_script_type_tuple(ig_script_types *types,
                                           const ig_script_type *const *items,
                                           size_t count);
const ig_script_type *ig_script_type_union(ig_script_types *types,
                                           const ig_script_type *const *items,
                                           size_t count);
const ig_script_type *ig_script_type_class(ig_script_types *types, const char *name);
const ig_script_type *ig_script_type_variable(ig_script_types *types, const char *name);
/* AWAIT, RREF and the others by kind; `count` items. */
const ig_script_type *ig_script_type_make(ig_script_types *types, ig_script_kind kind,
                                          const ig_script_type *const *items,
                                          size_t count);

/* A type from its annotation.  Defects are reported at the node. */
ig_status ig_script_type_of_ast(ig_script_types *types, const char *file,
                                const ig_ast *annotation,
                                const ig_script_type **out_type);
/* From text ("Dict[str, int]" of restore_type_tag). */
ig_status ig_script_type_of_text(ig_script_types *types, const ig_location *where,
                                 ig_str text, const ig_script_type **out_type);

/* As TorchScript rules: int, float, complex are numbers, bool is not; T and None are
 * Optional[T]; tuples element by element; lists and dicts only when equal; everything
 * is Any; a class implements an interface by its methods. */
bool ig_script_type_is_subtype(ig_script_types *types, const ig_script_type *type,
                               const ig_script_type *of);
/* The smallest type that covers both, or NULL (None and T give Optional[T]). */
const ig_script_type *ig_script_type_unify(ig_script_types *types,
                                           const ig_script_type *a,
                                           const ig_script_type *b);
/* An Optional or Union without its None; any other type is itself. */
const ig_script_type *ig_script_type_without_none(ig_script_types *types,
                                                  const ig_script_type *type);
/* None, Optional, Any, or a Union with None? */
bool ig_script_type_admits_none(const ig_script_type *type);

#endif
