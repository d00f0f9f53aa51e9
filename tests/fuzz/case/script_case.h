/* One program imported as a harness wants it: refused with words, or a module that
 * verifies.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The text is the source of a module M, behind lines that say what the call takes:
 *
 *     #0=f32[3, 4]
 *     class M(Module):
 *       def forward(self: __torch__.M, x: Tensor) -> Tensor: …
 *
 * The archive around it is made here: M() has w, a float tensor of 4 x 4, and n = 3.
 */
#ifndef IG_TESTS_FUZZ_CASE_SCRIPT_CASE_H
#define IG_TESTS_FUZZ_CASE_SCRIPT_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Aborts on what is not as it should be; false when the program was refused. */
bool ig_fuzz_import(const uint8_t *text, size_t size);
/* The same of plain Python: the module `m` of a torch.package, which holds an object of
 * its class M, with w a parameter, n = 3, act = torch.nn.functional.relu and lin a
 * torch.nn.Linear of 4 x 4. */
bool ig_fuzz_import_plain(const uint8_t *text, size_t size);

#endif
