/* Machine code in memory.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CPU_CODE_H
#define IG_RUNTIME_CPU_CODE_H

#include "runtime/device.h"

ig_status ig_cpu_code_load(const ig_device *device, const ig_code_source *source,
                           ig_device_code *out_image, const ig_message *message);
void ig_cpu_code_unload(const ig_device *device, ig_device_code *image);
ig_status ig_cpu_code_find(const ig_device *device, const ig_device_code *image,
                           ig_kernel_id id, ig_device_kernel *out_kernel,
                           const ig_message *message);

#endif
