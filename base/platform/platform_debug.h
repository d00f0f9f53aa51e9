/* Is this a debug build?  As a constant, so that code needs no condition of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_DEBUG_H
#define IG_BASE_PLATFORM_PLATFORM_DEBUG_H

#ifdef NDEBUG
enum { IG_IS_DEBUG_BUILD = 0 };
#else
enum { IG_IS_DEBUG_BUILD = 1 };
#endif

#endif
