/* The parser of Python source: one file's text -> its statements.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_ast_list statements;
 *     IG_TRY(ig_parse_source(&source, text, &statements));
 *
 * It reads what TorchScript's printer writes, what libtorch's own parser accepts, and
 * the statements of ordinary Python; only `match` is not read.  Nesting is bounded by
 * limits.source_depth, names and strings by limits.string_bytes.
 *
 * The first defect is reported ("model.pt/code/__torch__/m.py:12:5: expected ')', found
 * 'return'") and ends the file: the rest would be guesswork.
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_PARSE_H
#define IG_FRONTEND_TORCH_LANGUAGE_PARSE_H

#include "frontend/torch/language/ast.h"

#include "base/context.h"

/* Shared by the files of one archive. */
typedef struct ig_script_source {
    ig_context *context;
    ig_arena *arena;      /* of the trees */
    ig_map *names;        /* see ig_names_intern */
    uint32_t *node_count; /* the id of the next node */
    const char *file;     /* "model.pt/code/__torch__/m.py", for messages */
    uint32_t line;        /* at which the text begins in it; 0 is 1 */
    /* Escapes of bytes are bytes ("\303\251" is é), as libtorch reads them, and not
     * code points as in Python; strings join byte by byte. */
    bool is_dialect;
} ig_script_source;

/* `text` must outlive the trees. */
ig_status ig_parse_source(const ig_script_source *source, ig_str text,
                          ig_ast_list *out_statements);
/* One expression and nothing else: a type as a string, for example. */
ig_status ig_parse_expression(const ig_script_source *source, ig_str text,
                              ig_ast **out_expression);

/* The one copy of `name` in the map; zero-terminated.  Names made here and names of
 * trees compare as pointers. */
const char *ig_names_intern(ig_map *names, ig_str name);

#endif
