/* What torch itself writes in Python: torch.nn's layers and functions over operators.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The files below torch/ are plain Python.  The build embeds them, the evaluator of
 * Python reads them as modules of those names, and the module torch of embedded
 * interpreters has the same files.
 */
#ifndef IG_FRONTEND_TORCH_STOCK_STOCK_H
#define IG_FRONTEND_TORCH_STOCK_STOCK_H

#include "base/str.h"

typedef struct ig_stock_module {
    const char *name, *file; /* "torch.nn.functional", "torch/nn/functional.py" */
    ig_str text;
    bool is_package; /* an __init__.py */
} ig_stock_module;

/* All of them, as the build writes them. */
extern const ig_stock_module ig_stock_modules[];
extern const size_t ig_stock_count;

/* The module of that name; NULL: there is none. */
const ig_stock_module *ig_stock_find(ig_str name);
/* Does that module define the class? */
bool ig_stock_has_class(ig_str module, ig_str class);
/* The line, from 1, of "class NAME" at the margin of a text of Python; 0: none. */
uint32_t ig_stock_class_line(ig_str text, ig_str name);

#endif
