/* The CUDA driver, opened at run time.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CUDA_DRIVER_H
#define IG_RUNTIME_CUDA_DRIVER_H

#include "ingot/runtime.h"
#include "runtime/message.h"

typedef struct ig_cuda_driver {
    void *library;
#define DRIVER(name, symbol, parameters) int(*name) parameters;
#include "runtime/cuda/driver.def"
#undef DRIVER
} ig_cuda_driver;

/* IG_UNSUPPORTED where there is none.  It stays open until the process ends. */
ig_status ig_cuda_driver_open(ig_cuda_driver *out_driver, const ig_message *message);
/* IG_OK for 0; else a status and "what: the driver's words". */
ig_status ig_cuda_driver_check(const ig_cuda_driver *driver, int error,
                               const char *what, const ig_message *message);

#endif
