/* ingot info --kernels: register tiles of a product, measured.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_TOOL_INFO_KERNELS_H
#define INGOT_TOOL_INFO_KERNELS_H

#include "tools/ingot/tool.h"

/* Measures the shape that given->kernels says; an exit status. */
int info_kernels(const settings *given, ig_context *context);

#endif
