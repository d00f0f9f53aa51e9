/* A program as the evaluator takes it: values and source, whatever file they came from.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_ts_program program;
 *     IG_TRY(ig_ts_program_open(context, arena, path, bytes, NULL, &program));
 *     ig_code_init(&code, context, arena, path, program.code_folder);
 *     code.read = program.read;
 *     code.user = program.user;
 *
 * A TorchScript archive gives its own data.pkl, constants.pkl and code/.  A
 * torch.package gives one resource: a ScriptModule that it holds, or a tree of objects
 * whose classes are plain Python, of the package or torch's own (stock/).  Other
 * formats are refused by name, with advice.
 */
#ifndef IG_FRONTEND_TORCH_EVAL_PROGRAM_H
#define IG_FRONTEND_TORCH_EVAL_PROGRAM_H

#include "frontend/torch/pickle/pickle.h"
#include "ir/signature.h"

/* The possible extents of a symbol, or of an expression of symbols: as text. */
typedef struct ig_ts_range {
    const char *extent;
    int64_t min, max;
} ig_ts_range;

struct ig_code;
struct ig_ts_source;

/* Sources of plain Python, where a program's classes are written in it. */
typedef struct ig_ts_sources {
    /* The module "a.b"; *out_found false: it is not there.  `file` is for messages. */
    ig_status (*read)(void *user, ig_str module, struct ig_ts_source *out,
                      bool *out_found);
    void *user;
} ig_ts_sources;

/* The text of one module. */
typedef struct ig_ts_source {
    ig_str text;
    const char *file;
    bool is_package; /* an __init__.py */
} ig_ts_source;

typedef struct ig_ts_program {
    const char *file;
    ig_archive *archive;
    ig_pickle_set *pickles;
    ig_py *root;          /* an OBJECT */
    ig_py *constants;     /* the TUPLE of CONSTANTS.c0 … */
    ig_py *traced;        /* method -> example inputs, a DICT; NULL: not recorded */
    int64_t version;      /* of the operators: 1 to 10 */
    const char *resource; /* "model/model.pkl" of a package; else NULL */
    const char *code_folder;
    /* The file's statements about the method's arguments, by position, and about the
     * symbols in the types of their tensors. */
    const ig_node_list *trees;
    size_t tree_count;
    const struct ig_ts_range *ranges;
    size_t range_count;
    /* Adds the classes that have no source; NULL: there are none. */
    void (*declare)(void *user, struct ig_code *code);
    /* The source file of that name (folder included); *out_found false: there is
     * none. */
    ig_status (*read)(void *user, const char *name, ig_str *out_text, bool *out_found);
    void *user;
    const ig_ts_sources *sources; /* NULL: all is of the dialect */
} ig_ts_program;

/* Opens a file of one format or another.  `bytes` is the whole file, mapped for as long
 * as the values made of it; `file` is for messages.  `resource` names the member to
 * take from a package ("script/model.pkl"); NULL: its one module, or the one in
 * model.pkl. */
typedef ig_status (*ig_ts_program_opener)(ig_context *context, ig_arena *arena,
                                          const char *file, ig_str bytes,
                                          const char *resource,
                                          ig_ts_program *out_program);
/* Completes a program from the ScriptModule in `folder` ("": the archive itself). */
ig_status ig_ts_program_of_script(ig_ts_program *program, const char *folder);

#endif
