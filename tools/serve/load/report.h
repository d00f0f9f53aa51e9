/* Tables and pictures of a run of requests.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_LOAD_REPORT_H
#define IG_TOOLS_SERVE_LOAD_REPORT_H

#include "tools/serve/load/drive.h"

#include <stdio.h>

/* Sorts the samples: those that were answered well first, by their time. */
void load_sort(load_result *of);
void load_print(const load_plan *plan, const load_result *of);
void load_put_json(const load_plan *plan, const load_result *of);
/* The time of requests by how many took no more, as a picture (SVG). */
void load_draw(FILE *to, const load_plan *plan, const load_result *of);

#endif
