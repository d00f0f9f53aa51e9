/* The syntax tree of Python source, as the parser builds it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One node struct for expressions and statements; `kind` says which member of `as`
 * counts.  Nodes live in the arena of the ig_code (code.h) and never change.  A tree is
 * at most limits.source_depth deep, statements and expressions together, so readers may
 * recurse on it.
 *
 * Names and attribute names are interned (ig_names_intern): two equal names of one
 * ig_code are one pointer, so tables may be keyed by IG_MAP_PTR(name).
 *
 * The whole of Python's statement grammar that a class of a model may use is here, not
 * only what TorchScript's printer writes; the evaluator refuses unknown ones by the
 * kind's words (ig_ast_kind_words).
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_AST_H
#define IG_FRONTEND_TORCH_LANGUAGE_AST_H

#include "base/map.h"
#include "base/writer.h"

/*  KIND(name, words): expressions first, then statements.  */
#define IG_AST_KIND_LIST(KIND)                                                  \
    KIND(NAME, "name") /* as.name */                                            \
    KIND(NONE, "None")                                                          \
    KIND(BOOL, "truth value")           /* as.b */                              \
    KIND(INT, "integer")                /* as.i; -1 too */                      \
    KIND(FLOAT, "number")               /* as.f */                              \
    KIND(IMAGINARY, "imaginary number") /* as.f; 1.+2.j is a BINARY */          \
    KIND(STRING, "string")              /* as.text, joined and unescaped */     \
    KIND(BYTES, "bytes")                /* as.text */                           \
    KIND(FORMATTED, "formatted string") /* as.text, braces unread */            \
    KIND(ELLIPSIS, "...")                                                       \
    KIND(ATTRIBUTE, "attribute")             /* as.attribute */                 \
    KIND(CALL, "call")                       /* as.call */                      \
    KIND(SUBSCRIPT, "subscript")             /* as.subscript */                 \
    KIND(SLICE, "slice")                     /* as.slice, in subscripts only */ \
    KIND(TUPLE, "tuple")                     /* as.list */                      \
    KIND(LIST, "list")                       /* as.list */                      \
    KIND(SET, "set")                         /* as.list */                      \
    KIND(DICT, "dict")                       /* as.dict */                      \
    KIND(UNARY, "operation")                 /* as.value: - + ~ not */          \
    KIND(BINARY, "operation")                /* as.binary, and `and`, `or` */   \
    KIND(COMPARE, "comparison")              /* as.compare: a < b < c */        \
    KIND(CONDITIONAL, "conditional")         /* as.conditional */               \
    KIND(STARRED, "starred value")           /* as.value; lists, calls */       \
    KIND(LAMBDA, "lambda")                   /* as.def; body is one RETURN */   \
    KIND(COMPREHENSION, "comprehension")     /* as.comprehension */             \
    KIND(NAMED, "named expression")          /* as.binary: NAME := value */     \
    KIND(AWAIT, "await")                     /* as.value */                     \
    KIND(YIELD, "yield")                     /* as.value, or NULL */            \
    KIND(EXPRESSION, "expression statement") /* as.value */                     \
    KIND(ASSIGN, "assignment")               /* as.assign */                    \
    KIND(ANNOTATED, "annotated assignment")  /* as.annotated */                 \
    KIND(AUGMENTED, "augmented assignment")  /* as.binary */                    \
    KIND(IF, "if")                           /* as.branch */                    \
    KIND(WHILE, "while")                     /* as.branch */                    \
    KIND(FOR, "for")                         /* as.loop */                      \
    KIND(WITH, "with")                       /* as.with */                      \
    KIND(TRY, "try")                         /* as.try */                       \
    KIND(DEF, "function")                    /* as.def */                       \
    KIND(CLASS, "class")                     /* as.class */                     \
    KIND(RETURN, "return")                   /* as.value, or NULL */            \
    KIND(PASS, "pass")                                                          \
    KIND(BREAK, "break")                                                        \
    KIND(CONTINUE, "continue")                                                  \
    KIND(RAISE, "raise")   /* as.pair; either may be NULL */                    \
    KIND(ASSERT, "assert") /* as.pair: claim, message */                        \
    KIND(DELETE, "del")    /* as.list */                                        \
    KIND(GLOBAL, "global") /* as.names; nonlocal too */                         \
    KIND(IMPORT, "import") /* as.import */

typedef enum ig_ast_kind {
#define IG_AST_KIND(name, words) IG_AST_##name,
    IG_AST_KIND_LIST(IG_AST_KIND)
#undef IG_AST_KIND
        IG_AST_KIND_COUNT
} ig_ast_kind;

/*  OPERATOR(name, text, precedence): a higher one binds tighter.  */
/* clang-format off */
#define IG_AST_OPERATOR_LIST(OPERATOR) \
    OPERATOR(OR, "or", 1) \
    OPERATOR(AND, "and", 2) \
    OPERATOR(NOT, "not", 3) \
    OPERATOR(IN, "in", 4) \
    OPERATOR(NOT_IN, "not in", 4) \
    OPERATOR(IS, "is", 4) \
    OPERATOR(IS_NOT, "is not", 4) \
    OPERATOR(LT, "<", 4) \
    OPERATOR(LE, "<=", 4) \
    OPERATOR(GT, ">", 4) \
    OPERATOR(GE, ">=", 4) \
    OPERATOR(NE, "!=", 4) \
    OPERATOR(EQ, "==", 4) \
    OPERATOR(BIT_OR, "|", 5) \
    OPERATOR(BIT_XOR, "^", 6) \
    OPERATOR(BIT_AND, "&", 7) \
    OPERATOR(LEFT, "<<", 8) \
    OPERATOR(RIGHT, ">>", 8) \
    OPERATOR(ADD, "+", 9) \
    OPERATOR(SUB, "-", 9) \
    OPERATOR(MUL, "*", 10) \
    OPERATOR(MATMUL, "@", 10) \
    OPERATOR(DIV, "/", 10) \
    OPERATOR(FLOOR_DIV, "//", 10) \
    OPERATOR(MOD, "%", 10) \
    OPERATOR(PLUS, "+", 11) \
    OPERATOR(NEG, "-", 11) \
    OPERATOR(INVERT, "~", 11) \
    OPERATOR(POW, "**", 12)
/* clang-format on */

typedef enum ig_ast_operator {
#define IG_AST_OPERATOR(name, text, precedence) IG_AST_OP_##name,
    IG_AST_OPERATOR_LIST(IG_AST_OPERATOR)
#undef IG_AST_OPERATOR
        IG_AST_OPERATOR_COUNT
} ig_ast_operator;

typedef struct ig_ast ig_ast;

typedef struct ig_ast_list {
    ig_ast **items;
    size_t count;
} ig_ast_list;

typedef struct ig_ast_keyword {
    const char *name; /* NULL: **value */
    ig_ast *value;    /* as a class: `metaclass=…` and the like */
} ig_ast_keyword;

typedef enum ig_ast_param_kind {
    IG_AST_PARAM_POSITIONAL, /* before a `/` */
    IG_AST_PARAM_NORMAL,
    IG_AST_PARAM_STAR, /* *args */
    IG_AST_PARAM_KEYWORD,
    IG_AST_PARAM_STARS, /* **kwargs */
} ig_ast_param_kind;

typedef struct ig_ast_param {
    const char *name;
    ig_ast *annotation, *value; /* NULL where there is none */
    ig_ast_param_kind kind;
} ig_ast_param;

typedef struct ig_ast_def {
    const char *name; /* of a LAMBDA: "<lambda>" */
    ig_ast_param *params;
    size_t param_count;
    ig_ast *returns; /* annotation, or NULL */
    ig_ast_list body, decorators;
    bool is_async;
} ig_ast_def;

typedef struct ig_ast_class {
    const char *name;
    ig_ast_list bases, body, decorators;
    ig_ast_keyword *keywords;
    size_t keyword_count;
} ig_ast_class;

/* One `for … in … if …` of a comprehension. */
typedef struct ig_ast_clause {
    ig_ast *target, *iterable;
    ig_ast_list conditions;
} ig_ast_clause;

typedef struct ig_ast_handler {
    ig_ast *type;     /* NULL: all */
    const char *name; /* or NULL */
    ig_ast_list body;
} ig_ast_handler;

typedef struct ig_ast_try {
    ig_ast_list body, orelse, finally;
    ig_ast_handler *handlers;
    size_t handler_count;
} ig_ast_try;

typedef struct ig_ast_alias {
    const char *name; /* dotted; "*" */
    const char *as;   /* or NULL */
} ig_ast_alias;

/* Bits of ig_ast.flags. */
enum {
    /* Of a TUPLE, LIST and CALL: a comma precedes the end.  "a, b, = x" unpacks
     * the one value x; "a, b = f()" takes the results of an operator. */
    IG_AST_COMMA = 1,
    IG_AST_PARENS = 2, /* is in parentheses of its own */
    IG_AST_ASYNC = 4,  /* FOR, WITH */
};

struct ig_ast {
    ig_ast_kind kind;
    uint8_t op; /* ig_ast_operator of UNARY, BINARY, AUGMENTED */
    uint8_t flags;
    uint16_t depth;        /* of the tree below, itself included */
    uint32_t id;           /* dense over an ig_code, from 0: for side tables */
    uint32_t line, column; /* 1-based; column in bytes */
    ig_str source;         /* of a value that is a statement; else empty */
    union {
        const char *name; /* interned */
        bool b;
        int64_t i;
        double f;
        ig_str text;
        ig_ast *value;
        ig_ast_list list;
        struct {
            ig_ast *object;
            const char *name;
        } attribute;
        struct {
            ig_ast *function;
            ig_ast_list arguments;
            ig_ast_keyword *keywords;
            size_t keyword_count;
        } call;
        struct {
            ig_ast *object, *index; /* x[1, 2]: index is a TUPLE; x[a:b]: a SLICE */
        } subscript;
        struct {
            ig_ast *start, *stop, *step; /* each may be NULL */
        } slice;
        struct {
            ig_ast **keys, **values; /* key NULL: **value */
            size_t count;
        } dict;
        struct {
            ig_ast *left, *right;
        } binary; /* AUGMENTED: target, value */
        struct {
            ig_ast *first;
            ig_ast **values;
            uint8_t *ops; /* ig_ast_operator */
            size_t count;
        } compare;
        struct {
            ig_ast *test, *yes, *no;
        } conditional;
        struct {
            ig_ast *key, *value; /* key: of a dict, else NULL */
            ig_ast_clause *clauses;
            uint32_t clause_count;
            char bracket; /* one of "([{" */
        } comprehension;
        struct {
            ig_ast_list targets; /* a = b = value has two; a, b = … is one TUPLE */
            ig_ast *value;
        } assign;
        struct {
            ig_ast *target, *type, *value; /* value may be NULL */
        } annotated;
        struct {
            ig_ast *test;
            ig_ast_list body, orelse;
        } branch;
        struct {
            ig_ast *target, *iterable;
            ig_ast_list body, orelse;
        } loop;
        struct {
            ig_ast **contexts, **targets; /* target NULL: no `as` */
            size_t count;
            ig_ast_list body;
        } with;
        struct {
            ig_ast *first, *second;
        } pair;
        struct {
            const char **items;
            size_t count;
        } names;
        struct {
            const char *module; /* `from module import`; NULL: `import` */
            uint32_t level;     /* leading dots */
            ig_ast_alias *aliases;
            size_t count;
        } import;
        ig_ast_def *def;
        ig_ast_class *class;
        ig_ast_try *try;
    } as;
};

const char *ig_ast_kind_words(ig_ast_kind kind);
const char *ig_ast_operator_text(ig_ast_operator op);
/* Visits the children of a node.  Functions and classes inside are others' affair,
 * annotations nobody's. */
typedef void (*ig_ast_visit)(void *user, const ig_ast *child);
void ig_ast_each_child(const ig_ast *node, ig_ast_visit visit, void *user);
/* "a.b.c" of a chain of attributes that starts with a name, else NULL. */
const char *ig_ast_dotted(const ig_ast *node, ig_arena *arena);

#endif
