/* Order between threads that ThreadSanitizer cannot see: memory that each maps at an
 * address of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_TSAN_H
#define IG_BASE_PLATFORM_PLATFORM_TSAN_H

#include <stdint.h>

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
/* Writes before a release of `address` happen before reads after an acquire. */
#define IG_TSAN_RELEASE(address) __tsan_release((void *)(uintptr_t)(address))
#define IG_TSAN_ACQUIRE(address) __tsan_acquire((void *)(uintptr_t)(address))
#else
#define IG_TSAN_RELEASE(address) ((void)(address))
#define IG_TSAN_ACQUIRE(address) ((void)(address))
#endif

#endif
