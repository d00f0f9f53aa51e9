/* Other dims in place of symbols, wherever a block mentions them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_substitution s;
 *     ig_substitution_init(&s, module, scratch);
 *     s.by_symbol[ig_symbol_index(module, batch)] = rows;
 *     ig_substitute_block(&s, body);
 */
#ifndef IG_PASSES_ENGINE_SUBSTITUTE_H
#define IG_PASSES_ENGINE_SUBSTITUTE_H

#include "ir/ops.h"

typedef struct ig_substitution {
    ig_module *module;
    ig_arena *scratch;
    ig_dim *by_symbol; /* the caller's to fill before the first use */
    uint32_t count;    /* rows of by_symbol: the symbols that there were at init */
    ig_map types;      /* type -> its replacement */
} ig_substitution;

/* Every symbol stays (IG_DIM_KEEP). */
void ig_substitution_init(ig_substitution *s, ig_module *module, ig_arena *scratch);
const ig_type *ig_substitute_type(ig_substitution *s, const ig_type *type);
/* In the types of its results and in its attributes; and in its bodies. */
void ig_substitute_op(ig_substitution *s, ig_op *op);
/* In its arguments and ops. */
void ig_substitute_block(ig_substitution *s, ig_block *block);
/* In the definitions of symbols, which may mention symbols that are gone. */
void ig_substitute_definitions(const ig_substitution *s);

#endif
