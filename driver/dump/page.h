/* The page around a graph's data: driver/dump/page/, as bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * cmake/embed_page.cmake makes these of the page's parts.
 */
#ifndef IG_DRIVER_DUMP_PAGE_H
#define IG_DRIVER_DUMP_PAGE_H

/* Before and behind the data. */
extern const unsigned char ig_page_head[], ig_page_tail[];
extern const unsigned ig_page_head_size, ig_page_tail_size;

#endif
