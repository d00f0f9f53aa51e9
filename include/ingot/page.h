/* Ingot, seeing inside: a page that shows the model at each stage.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_page_options how = { .size = sizeof how, .profile = json };
 *     const char *html;
 *     size_t size;
 *     ig_module_page(module, &how, &html, &size);
 *
 * One HTML file that needs neither the net nor a server (docs/inspect.md): the graph
 * after each pass that changed it, side by side, the origins of each launch, its
 * kernel, LLVM IR and assembly, and with a profile where the time goes.
 */
#ifndef INGOT_PAGE_H
#define INGOT_PAGE_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_page_options {
    size_t size;
    const char *stage; /* how far: "import", "tensor", "plan", "kernel" (kernels as
                        * text), "llvm", "asm"; NULL: "asm", all there is */
    const ig_compile_options *compile; /* or NULL; its first target is shown */
    const char *profile; /* what `ingot profile --json` writes of the same model,
                          * or NULL */
} ig_page_options;

/* The text is the module's until the next call that hands something out.  Errors:
 * IG_INVALID for another stage and for a profile that is none, those of the passes and
 * of the code generator. */
IG_API IG_MUST_USE ig_status ig_module_page(ig_module *module,
                                            const ig_page_options *options,
                                            const char **out_html, size_t *out_size);

#ifdef __cplusplus
}
#endif
#endif
