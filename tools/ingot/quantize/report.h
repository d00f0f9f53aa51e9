/* What quantising cost, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_QUANTIZE_REPORT_H
#define IG_TOOLS_INGOT_QUANTIZE_REPORT_H

#include "tools/ingot/cli/console.h"

#include <ingot/quantize.h>

/* As --json and --quiet ask; `seconds` is its time. */
void quantize_report_print(const settings *given, const ig_quantized *made,
                           double seconds);

/* Lines, or an array, of what became of tables. */
void quantize_tables_text(const ig_quantize_table *tables, size_t count);
void quantize_tables_json(const ig_quantize_table *tables, size_t count);

#endif
