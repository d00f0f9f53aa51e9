/* What an isolated process may still do.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_COMPILE_CONFINE_H
#define IG_DRIVER_COMPILE_CONFINE_H

#include "base/str.h"

/* Bounds the calling process for good: bytes of memory that it writes (0: no bound),
 * and a filter of system calls.  Left are: reading and writing files that are open,
 * memory that is not code, threads, clocks, signals to itself and the end.  Looking for
 * a file fails with EACCES; any other call kills the process by SIGSYS.  False and a
 * phrase in `why` (128 bytes): this system cannot do it.  There must be one thread.
 * Builds with sanitizers are not confined. */
bool ig_confine(uint64_t memory_bytes, char *why);

/* Is most of the bound in use?  For a handler of SIGABRT: libraries abort when they get
 * no memory.  Async-signal-safe; false where ig_confine has not been called. */
bool ig_confine_is_full(void);

#endif
