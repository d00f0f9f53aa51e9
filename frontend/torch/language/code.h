/* The code of an archive: classes and functions by their qualified names.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_code code;
 *     ig_code_init(&code, archive, "code/");
 *     const ig_class *class;
 *     IG_TRY(ig_code_class(&code, "__torch__.a.b.Net", &where, &class));
 *     const ig_function *forward = ig_class_method(class, "forward");
 *
 * `__torch__.a.b.C` is in the entry code/__torch__/a/b.py, `__torch__.C` in
 * code/__torch__.py.  A file is read and parsed when something in it is first asked
 * for, a class when that class is; nothing is executed.  All of it lives in the
 * archive's arena and is immutable for its readers.
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_CODE_H
#define IG_FRONTEND_TORCH_LANGUAGE_CODE_H

#include "frontend/torch/language/parse.h"
#include "frontend/torch/language/type.h"

typedef struct ig_class ig_class;
typedef struct ig_function ig_function;
typedef struct ig_code ig_code;

typedef enum ig_class_kind {
    IG_CLASS_PLAIN, /* a script class */
    IG_CLASS_MODULE,
    IG_CLASS_NAMED_TUPLE,
    IG_CLASS_ENUM,
    IG_CLASS_INTERFACE,        /* of classes */
    IG_CLASS_MODULE_INTERFACE, /* of modules */
    /* __torch__.torch.classes.NS.NAME: written in C++, has no source. */
    IG_CLASS_CUSTOM,
} ig_class_kind;

/* An attribute, a constant (Final) or the member of an enum. */
typedef struct ig_field {
    const char *name;           /* interned; any text, "0" for example */
    const ig_script_type *type; /* of an enum's member NULL */
    const ig_ast *value;        /* constants, enum members, NamedTuple defaults */
    const ig_ast *node;         /* where it is declared */
} ig_field;

typedef struct ig_field_list {
    ig_field *items;
    size_t count;
} ig_field_list;

typedef struct ig_param {
    const char *name; /* interned */
    const ig_script_type
        *type;           /* of `self` without annotation the class; else Tensor */
    const ig_ast *value; /* default, or NULL */
    ig_ast_param_kind kind;
} ig_param;

struct ig_function {
    const char *name;      /* qualified: "__torch__.a.b.C.forward" */
    const char *file;      /* "model.pt/code/__torch__/a/b.py", for messages */
    const ig_class *class; /* whose method it is, or NULL */
    const ig_ast *node;    /* DEF */
    ig_param *params;
    size_t param_count;
    const ig_script_type *returns;       /* NULL: not written */
    const struct ig_python_thing *plain; /* of plain Python; NULL: of the dialect */
    const struct ig_ts_native *native;   /* what runs it, where it has no source */
};

struct ig_class {
    const char *name; /* "__torch__.a.b.___torch_mangle_3.C" */
    const char *file; /* of a CUSTOM one NULL */
    ig_class_kind kind;
    const ig_script_type *type;
    const ig_ast *node;       /* CLASS; of a CUSTOM one NULL */
    ig_field_list attributes; /* in order of declaration; tuple fields */
    ig_field_list constants;  /* Final */
    ig_field_list members;    /* of an enum */
    ig_function *methods;
    size_t method_count;
    /* Interned names; see __parameters__ and so on. */
    const char **parameters, **buffers, **forward_pre_hooks, **forward_hooks;
    size_t parameter_count, buffer_count, pre_hook_count, hook_count;
    const struct ig_python_class *plain; /* of plain Python; NULL: of the dialect */
};

struct ig_code {
    ig_context *context;
    ig_arena *arena;
    const char *file;   /* of the archive, for messages */
    const char *folder; /* "code/" */
    /* Text of the entry `name` (folder included), *out_found false when there is
     * none. */
    ig_status (*read)(void *user, const char *name, ig_str *out_text, bool *out_found);
    void *user;
    ig_script_types types;
    ig_map names;           /* interned */
    uint32_t node_count;    /* ids of all trees are below it */
    ig_map files;           /* entry name -> its content (private) */
    ig_map definitions;     /* qualified name -> class or function (private) */
    int64_t op_version_set; /* as stated by files of old archives; 0: none did */
};

/* `file` and `folder` must outlive the code.  Fields `read` and `user` are the
 * caller's to set. */
void ig_code_init(ig_code *code, ig_context *context, ig_arena *arena, const char *file,
                  const char *folder);

/* A class that no file holds, under its qualified name; the first of a name stays. */
void ig_code_add_class(ig_code *code, ig_class *class);
/* The class or function of a qualified name; both NULL: there is none.  A file with a
 * defect is an error. */
ig_status ig_code_find(ig_code *code, const char *name, const ig_class **out_class,
                       const ig_function **out_function);
/* The class, or an error at `where` that there is none of that name. */
ig_status ig_code_class(ig_code *code, const char *name, const ig_location *where,
                        const ig_class **out_class);

/* NULL when there is none.  Names need not be interned. */
const ig_function *ig_class_method(const ig_class *class, const char *name);
const ig_field *ig_class_attribute(const ig_class *class, const char *name);
const ig_field *ig_class_constant(const ig_class *class, const char *name);
const ig_field *ig_class_member(const ig_class *class, const char *name);
/* "__torch__.a.b.C" without "___torch_mangle_N" components and without "__torch__.": as
 * the user knows it.  In the code's arena. */
const char *ig_code_plain_name(ig_code *code, const char *name);
/* The position of a node of `file`, for messages. */
ig_location ig_code_where(const char *file, const ig_ast *node);

#endif
