/* The CPU as a device.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CPU_CPU_H
#define IG_RUNTIME_CPU_CPU_H

#include "runtime/device.h"

extern const ig_device ig_device_cpu;

#endif
