/* Machine code in memory.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CPU_CODE_H
#define IG_RUNTIME_CPU_CODE_H

#include "runtime/device.h"

ig_status ig_code_load(const void *code, size_t size, ig_image *out_image,
                       const ig_message *message);
void ig_code_unload(ig_image *image);

#endif
