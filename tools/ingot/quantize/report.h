/* What quantising cost, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_QUANTIZE_REPORT_H
#define IG_TOOLS_INGOT_QUANTIZE_REPORT_H

#include "tools/ingot/cli/console.h"

#include <ingot/quantize.h>

void quantize_report_text(const ig_quantize_report *report, const char *output,
                          double seconds);
void quantize_report_json(const ig_quantize_report *report, const char *output,
                          double seconds);

/* Lines, or an array, of what became of tables. */
void quantize_tables_text(const ig_quantize_table *tables, size_t count);
void quantize_tables_json(const ig_quantize_table *tables, size_t count);

#endif
