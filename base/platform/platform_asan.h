/* Marks memory that nobody may touch, where AddressSanitizer is at work.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_ASAN_H
#define IG_BASE_PLATFORM_PLATFORM_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define IG_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IG_HAS_ASAN 1
#endif
#endif

#ifdef IG_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define IG_POISON(pointer, size) __asan_poison_memory_region((pointer), (size))
#define IG_UNPOISON(pointer, size) __asan_unpoison_memory_region((pointer), (size))
#else
#define IG_POISON(pointer, size) ((void)(pointer), (void)(size))
#define IG_UNPOISON(pointer, size) ((void)(pointer), (void)(size))
#endif

#endif
