/* A function of glibc 2.36 that a static C++ library asks for, for systems before it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * std::random_device of Debian's libstdc++.a calls it; wheels link that with LLVM and
 * are for glibc 2.34.  Code generation draws no random number.
 */
#include <stdint.h>
#include <sys/random.h>

uint32_t arc4random(void);

uint32_t arc4random(void) {
    uint32_t bits = 0;
    (void)!getrandom(&bits, sizeof bits, 0);
    return bits;
}
