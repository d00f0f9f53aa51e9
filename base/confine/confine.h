/* Limits and filters of processes that run what nobody trusts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_CONFINE_H
#define IG_BASE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Bounds the calling process for good: bytes of memory that it writes (0: no bound),
 * and a filter of system calls.  Left are: reading and writing files that are open,
 * memory that is not code, threads, clocks, signals to itself and the end.  Looking for
 * a file fails with EACCES; any other call kills the process by SIGSYS.  False and a
 * phrase in `why` (128 bytes): this system cannot do it.  There must be one thread.
 * Builds with sanitizers are not confined. */
bool ig_confine(uint64_t memory_bytes, char *why);

/* Bounds a process that becomes a program of the user, a Python say, and all that it
 * starts: bytes of memory and of a file that each writes (0: no bound).  Refused with
 * EPERM are sockets, signals to others, and calls that look into other processes or
 * change the system; all else is allowed, as nobody knows what such a program needs. */
bool ig_confine_guest(uint64_t memory_bytes, char *why);

/* As a guest; and no program is begun, and no file is made, changed or removed by name:
 * EACCES.  Files can be read, and those that are open are as they were. */
bool ig_confine_reader(uint64_t memory_bytes, char *why);

/* Is most of the bound in use?  For a handler of SIGABRT: libraries abort when they get
 * no memory.  Async-signal-safe; false where ig_confine has not been called. */
bool ig_confine_is_full(void);

#endif
