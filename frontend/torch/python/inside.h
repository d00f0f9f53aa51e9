/* Declarations that the files of this folder share: the evaluator of Python, in the two
 * dialects that files hold.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     module.c      modules, and their globals when they are first used; imports
 *     piecewise.c   torch's own modules, which are parsed as they are used
 *     class.c       classes: bases, attributes, instances
 *     statement.c, branch.c  statements; where the run chooses, and its consequences
 *     dialect.c, special.c   meaning of names and calls in TorchScript's dialect
 *     assign.c      targets of assignments
 *     expression.c  expressions
 *     operation.c   operators and comparisons
 *     subscript.c   x[…], read and written
 *     attribute.c   x.name of anything
 *     call.c        calls: arguments, frames
 *     items.c       iterables
 *     method.c      methods of lists, dicts, texts
 *     builtin.c     len, range, isinstance …  (builtin.def)
 *     external.c    names of torch, math and others that no source tells
 *     text.c        texts of values, formatted strings
 *     load.c        pickled values
 *     report.c      which classes were compiled, which stay Python
 *     survey.c …    calls of the sources, and which stay Python, without running them
 *     missing.c, walk.c  operators without a row, at once; names that a source binds
 */
#ifndef IG_FRONTEND_TORCH_PYTHON_INSIDE_H
#define IG_FRONTEND_TORCH_PYTHON_INSIDE_H

#include "frontend/torch/container/container.h"
#include "frontend/torch/eval/control.h"
#include "frontend/torch/python/python.h"

typedef struct ig_python_module ig_python_module;
typedef struct ig_python_class ig_python_class;
typedef struct ig_python_thing ig_python_thing;
typedef struct ig_python_scope ig_python_scope;

/* The content of a value of kind FUNCTION. */
typedef enum ig_python_kind {
    IG_PYTHON_DEF,      /* a function of the sources */
    IG_PYTHON_NATIVE,   /* one without source */
    IG_PYTHON_BOUND,    /* a method and its self */
    IG_PYTHON_CLASS,    /* a class of the sources */
    IG_PYTHON_MODULE,   /* a module of the sources */
    IG_PYTHON_EXTERNAL, /* a name elsewhere: "torch.relu", "builtins.len" */
    IG_PYTHON_SUPER,    /* super(): attributes after `owner` of the class of `self` */
    IG_PYTHON_PARTIAL,  /* functools.partial */
} ig_python_kind;

struct ig_python_thing {
    ig_python_kind kind;
    const char *name; /* qualified; of a BOUND builtin the method's */
    ig_ts_function value;
    const ig_ast *node;        /* of a DEF: DEF or LAMBDA */
    const ig_function *native; /* of a NATIVE */
    ig_python_module *module;
    ig_ts_frame *around;          /* of a nested function */
    const ig_python_class *owner; /* whose method it is; of a SUPER the present one */
    ig_python_class *class;
    ig_ts_value *defaults; /* of a DEF, by parameter; UNSET: evaluated by each call */
    ig_ts_value self, function; /* `function` NONE: the builtin method `name` */
    const ig_ts_arguments *given;
};

/* Names that a body binds are found in it when one of them is first used. */
typedef struct ig_python_space {
    ig_ts_frame *frame; /* that they are bound in */
    const ig_ast_list *body;
    ig_map states; /* IG_MAP_PTR(name) -> one of ig_python_state */
} ig_python_space;

struct ig_python_module {
    const char *name, *file;
    bool is_package;
    bool is_dialect; /* of a function of TorchScript's dialect */
    bool is_stock;   /* torch's own (stock/) */
    ig_map *pieces;  /* of which these are not parsed yet (piecewise.c); else NULL */
    ig_ast_list body;
    ig_python_space space;
    ig_python_thing thing;
};

typedef enum ig_python_class_kind {
    IG_PYTHON_PLAIN,
    IG_PYTHON_NN_MODULE,
    IG_PYTHON_NAMED_TUPLE,
    IG_PYTHON_DATACLASS,
    IG_PYTHON_ENUM,
} ig_python_class_kind;

struct ig_python_class {
    const char *name; /* "mynet.net.Net" */
    ig_python_class_kind kind;
    ig_python_module *module;
    const ig_ast *node; /* NULL: of a GraphModule or namedtuple */
    ig_python_space space;
    const ig_python_class **order; /* itself, then bases as Python looks at them */
    size_t order_count;
    const char *external; /* "torch.nn.Linear": a base elsewhere; NULL: none */
    ig_class *class;      /* as the evaluator knows it */
    ig_python_thing thing;
};

typedef enum ig_python_flow {
    IG_PYTHON_ON,
    IG_PYTHON_BREAK,
    IG_PYTHON_CONTINUE,
    IG_PYTHON_DONE /* all is done to the end of a trip that the run counts */
} ig_python_flow;

/* The work left when a statement ends, innermost first: the statements after it, or the
 * trips that a loop still makes. */
typedef struct ig_python_rest {
    ig_ast_list body;
    size_t next;
    const ig_ast *loop;      /* FOR or WHILE, else NULL */
    const ig_ts_list *items; /* of a FOR; `next` counts them */
    bool is_barrier;         /* a loop of the run: nothing outside can follow */
    const struct ig_python_rest *outer;
} ig_python_rest;

struct ig_python_scope {
    ig_python_module *module;
    const ig_python_thing *function; /* NULL: a module's or class's body */
    const ig_python_class *class;    /* whose body it is; else NULL */
    ig_python_flow flow;
    const ig_python_rest *rest;
};

struct ig_python {
    const ig_ts_sources *sources; /* NULL: all is of the dialect */
    ig_ts_frame *top;             /* of the dialect, around everything */
    ig_map modules;               /* name -> ig_python_module, or &no_module */
    ig_map externals;             /* name -> ig_python_thing */
    ig_map things; /* IG_MAP_PTR(node) -> ig_python_thing, of defs and classes */
    ig_map called; /* IG_MAP_PTR(class) -> it, of those that a call reached */
    const ig_python_thing *failed; /* the function in which evaluation ended */
    ig_map results; /* IG_MAP_PTR(tuple) -> the schema whose results it holds */
    uint32_t calls; /* of functions of the sources that are open */
    struct ig_python_branching *branching;
};

/* ---- helpers ---- */

const char *ig_python_intern(ig_ts_eval *eval, const char *name);
static inline ig_ts_value ig_python_value(const ig_python_thing *thing) {
    return (ig_ts_value){ .kind = IG_TS_FUNCTION,
                          .as.function = (ig_ts_function *)(uintptr_t)&thing->value };
}
/* NULL when the value is none of ours. */
const ig_python_thing *ig_python_thing_of(const ig_ts_value *value);
ig_python_thing *ig_python_thing_make(ig_ts_eval *eval, ig_python_kind kind,
                                      const char *name);
ig_ts_value ig_python_external(ig_ts_eval *eval, const char *name);
/* "torch.relu" of an EXTERNAL, else NULL. */
const char *ig_python_external_name(const ig_ts_value *value);
ig_ts_value ig_python_poison(ig_ts_eval *eval, const char *what);
/* Calls an operator; several results are a tuple. */
ig_status ig_python_op(ig_ts_eval *eval, const char *name, const ig_ts_value *values,
                       uint32_t count, ig_ts_value *out);
ig_status ig_python_op_with(ig_ts_eval *eval, const char *name,
                            const ig_ts_arguments *arguments, ig_ts_value *out);
/* Python's truth of any value: known, or of the run. */
ig_status ig_python_truth(ig_ts_eval *eval, const ig_ts_value *value, ig_ts_value *out);

/* ---- module.c, class.c ---- */

/* The module of that name; *out NULL: the sources have none. */
ig_status ig_python_module_find(ig_ts_eval *eval, const char *name,
                                ig_python_module **out);
ig_status ig_python_module_parse(ig_ts_eval *eval, const char *name,
                                 const ig_ts_source *from, ig_python_module **out);
void ig_python_space_open(ig_ts_eval *eval, ig_python_space *space,
                          ig_python_module *module, const char *label,
                          const ig_ast_list *body);
/* Statements that come to the body later: their names. */
void ig_python_space_declare(ig_ts_eval *eval, ig_python_space *space,
                             const ig_ast_list *body);
/* The value that a body binds to `name` (interned); *out_found false: nothing. */
ig_status ig_python_space_get(ig_ts_eval *eval, ig_python_space *space,
                              const char *name, ig_ts_value *out, bool *out_found);
ig_status ig_python_global(ig_ts_eval *eval, ig_python_module *module, const char *name,
                           ig_ts_value *out, bool *out_found);
/* "a.b.name" where `module` is "a.b", from the sources or elsewhere. */
ig_status ig_python_import_from(ig_ts_eval *eval, const char *module, const char *name,
                                ig_ts_value *out);
ig_status ig_python_run_import(ig_ts_eval *eval, const ig_ast *node);
ig_ts_frame *ig_python_frame(ig_ts_eval *eval, ig_python_module *module,
                             const char *label);

ig_status ig_python_find_class(ig_ts_eval *eval, const char *name,
                               const ig_class **out_class);
ig_status ig_python_class_of(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out);
/* An attribute of the class, looked up past `after` (NULL: of all) in its order. */
ig_status ig_python_class_get(ig_ts_eval *eval, const ig_python_class *class,
                              const ig_python_class *after, const char *name,
                              ig_ts_value *out, bool *out_found);
ig_status ig_python_construct(ig_ts_eval *eval, ig_python_class *class,
                              const ig_ts_arguments *arguments, ig_ts_value *out);
bool ig_python_derives(const ig_python_class *class, const ig_python_class *from);
/* A class with named fields, as namedtuple() makes one. */
ig_python_class *ig_python_tuple_class(ig_ts_eval *eval, const char *name,
                                       const char *const *fields, size_t count);

/* A class with named fields is made; an absent argument has its default. */
ig_status ig_python_make_tuple(ig_ts_eval *eval, const ig_class *class,
                               const ig_ts_arguments *arguments, ig_ts_value *out);
/* The member of that name: one value, whoever asks. */
ig_ts_value ig_python_enum_member(ig_ts_eval *eval, const ig_class *class,
                                  const char *name, ig_ts_value value);

/* ---- statement.c, assign.c ---- */

ig_status ig_python_run_block(ig_ts_eval *eval, ig_ast_list body);
/* A context, by its full name, that changes nothing that a forward computes. */
bool ig_python_is_idle_context(const char *name);
ig_status ig_python_assign(ig_ts_eval *eval, const ig_ast *target, ig_ts_value value);
ig_status ig_python_assign_item(ig_ts_eval *eval, const ig_ast *subscript,
                                ig_ts_value value);
ig_status ig_python_delete(ig_ts_eval *eval, const ig_ast *target);

/* ---- expression.c, operation.c, subscript.c, attribute.c ---- */

ig_status ig_python_evaluate(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out);
/* The truth of an expression. */
ig_status ig_python_condition(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out);
ig_status ig_python_binary(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                           const ig_ts_value *b, ig_ts_value *out);
/* `a op= b`: in place where Python works in place. */
ig_status ig_python_augment(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                            const ig_ts_value *b, ig_ts_value *out);
ig_status ig_python_compare(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                            const ig_ts_value *b, ig_ts_value *out);
ig_status ig_python_unary(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                          ig_ts_value *out);
ig_status ig_python_subscript(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out);
ig_status ig_python_item(ig_ts_eval *eval, const ig_ts_value *object,
                         const ig_ts_value *index, ig_ts_value *out);
/* An attribute; *out_found false where there is no such attribute. */
ig_status ig_python_attribute_find(ig_ts_eval *eval, const ig_ts_value *object,
                                   const char *name, ig_ts_value *out, bool *out_found);
ig_status ig_python_formatted(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out);
/* str() of a value; *out_known false: only the run knows it. */
ig_status ig_python_put(ig_ts_eval *eval, const ig_ts_value *value, ig_writer *out,
                        bool *out_known);

/* ---- call.c, items.c, method.c, builtin.c, external.c ---- */

ig_status ig_python_call_node(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out);
ig_status ig_python_read_arguments(ig_ts_eval *eval, const ig_ast *node,
                                   ig_ts_arguments *out);
/* A function that a class or an archive has, as a value. */
const ig_python_thing *ig_python_function(ig_ts_eval *eval,
                                          const ig_function *function);
ig_status ig_python_call(ig_ts_eval *eval, const ig_ts_value *function,
                         const ig_ts_arguments *arguments, ig_ts_value *out);
/* The function of a `def` or `lambda`. */
ig_status ig_python_def(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out);
/* Items of an iterable, as a list that nobody else sees. */
ig_status ig_python_items(ig_ts_eval *eval, const ig_ts_value *value, ig_ts_list **out);
/* Those that a module holds, and their names. */
ig_ts_list *ig_python_members(ig_ts_eval *eval, const ig_ts_object *object,
                              ig_ts_list **out_names);
/* A module that holds others: the name of its class; false for another object. */
bool ig_python_is_container(const ig_ts_object *object, const char **out_class);
/* Method `name` of a builtin value. */
ig_status ig_python_method(ig_ts_eval *eval, const ig_ts_value *self, const char *name,
                           const ig_ts_arguments *arguments, ig_ts_value *out);

typedef ig_status (*ig_python_hook)(ig_ts_eval *eval, const ig_ts_arguments *arguments,
                                    ig_ts_value *out);
ig_status ig_python_written(ig_ts_eval *eval, const ig_ts_arguments *a,
                            ig_ts_value *out);
/* NULL: no row of builtin.def has that name.  The one above: stock/ writes it. */
ig_python_hook ig_python_builtin(const char *name);
/* How many of `count` arguments it reads: messages for people are not read. */
uint32_t ig_python_builtin_uses(ig_python_hook hook, uint32_t count);
/* A constant of that name: math.pi, torch.float32; false: none. */
bool ig_python_constant(const char *name, ig_ts_value *out);
ig_status ig_python_call_external(ig_ts_eval *eval, const char *name,
                                  const ig_ts_arguments *arguments, ig_ts_value *out);
/* torch.<name> or x.<name>(): an operator under Python's names of its arguments. */
ig_status ig_python_call_torch(ig_ts_eval *eval, const char *name,
                               const ig_ts_arguments *arguments, ig_ts_value *out);

/* ---- arguments ---- */

/* The argument of a parameter, by place or name; NULL: not given. */
const ig_ts_value *ig_python_argument(const ig_ts_arguments *arguments,
                                      uint32_t position, const char *name);
/* With `self` before the others. */
ig_ts_arguments ig_python_with_self(ig_ts_eval *eval, ig_ts_value self,
                                    const ig_ts_arguments *arguments);

/* Notes each method that calls of these classes may reach and that is refused anywhere,
 * but for the one in which evaluation ended. */
void ig_python_survey(ig_ts_eval *eval, const ig_python_class *const *classes,
                      size_t count);

#endif
