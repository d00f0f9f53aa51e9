/* The page around a graph's data: driver/dump/page/, as bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * cmake/embed_page.cmake makes these of the page's parts.
 */
#ifndef IG_DRIVER_DUMP_PAGE_H
#define IG_DRIVER_DUMP_PAGE_H

#include "ingot/ingot.h"

/* Before the states, between them and the code of kernels, and after that. */
extern const unsigned char ig_page_head[], ig_page_middle[], ig_page_tail[];
extern const unsigned ig_page_head_size, ig_page_middle_size, ig_page_tail_size;

/* A page of the module as it is: one state. */
ig_status ig_page_of(ig_module *module, const char **out_html, size_t *out_size);

#endif
