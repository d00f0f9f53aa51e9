/* backend.py as a text of this program: there is no file to be found at run time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/engine.h"

__asm__(".section .rodata\n"
        ".global backend_script\n"
        ".type backend_script, @object\n"
        "backend_script:\n"
        ".incbin \"" BACKEND_SCRIPT "\"\n"
        ".byte 0\n"
        ".previous\n");
