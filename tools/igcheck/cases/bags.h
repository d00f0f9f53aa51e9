/* Modules of cases whose tables are read by bags, as text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of the case count "tables" (rows, dim, pooling), "batch", "weighted", and "pooling"
 * of the tables that name none.  Table I is %tI; ids and offsets of all tables are one
 * list, tables outermost.
 */
#ifndef IG_TOOLS_IGCHECK_CASES_BAGS_H
#define IG_TOOLS_IGCHECK_CASES_BAGS_H

#include "tools/igcheck/cases/fields.h"

#include <stdio.h>

/* Of all tables side by side. */
int64_t bags_columns(const json_t *json);
/* %ids, %offsets and, where they are weighted, %psw. */
void bags_write_inputs(const json_t *json, FILE *to);
/* The tables, after other inputs. */
void bags_write_tables(const json_t *json, FILE *to);
/* %bags: f32[batch, columns]. */
void bags_write_body(const json_t *json, FILE *to);

#endif
