/* Complex numbers where calls.txt has no line: in lists that loops fill, and refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

static const char listed[] = HEAD
    "  def forward(self: __torch__.M,\n    x: Tensor) -> Tuple[Tensor, Tensor]:\n"
    "    l = annotate(List[Tensor], [])\n"
    "    c = torch.complex(x, torch.neg(x))\n"
    "    for k in range(torch.size(x, 0)):\n"
    "      _0 = torch.append(l, torch.mul(torch.select(c, 0, k), 2))\n"
    "    s = torch.stack(l, 1)\n"
    "    u = torch.cat(torch.unbind(torch.conj(c)), 0)\n"
    "    return (torch.view_as_real(s), torch.view_as_real(u))\n";

/* As many rows as an extent says, put together by stack and by cat. */
TEST(lists_of_an_open_length_hold_complex_numbers) {
    const float x[] = { 1, 2, 3, 4 };
    const double stacked[] = { 2, -2, 6, -6, 4, -4, 8, -8 };
    const double joined[] = { 1, 1, 2, 2, 3, 3, 4, 4 };
    program p;
    CHECK_MSG(import_source(&p, listed, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], stacked, 8);
    check(&p.outputs[1], joined, 8);
    close(&p);
}
END_TEST

/* A result that tensors of real numbers have no room for, a factor that is complex, and
 * a size of bytes that no axis has. */
TEST(what_has_no_parts_is_refused) {
    static const struct {
        const char *use, *words;
        ig_status status;
    } uses[] = {
        { "torch.copy_(x, torch.complex(x, x))",
          "complex numbers to a tensor of float32", IG_UNSUPPORTED },
        { "torch.index_add(x, 0, torch.tensor([0, 1]), x, alpha=1j)", "complex",
          IG_UNSUPPORTED },
        { "torch._upsample_bilinear2d_aa(torch.to(torch.reshape(x, [1, 1, 2, 2]), 0), "
          "[-9223372036854775808, 5], True)",
          "axis 2", IG_INVALID },
    };
    for (size_t i = 0; i < IG_COUNT_OF(uses); i++) {
        char source[1000];
        program p;
        snprintf(source, sizeof source,
                 HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                      "    return %s\n",
                 uses[i].use);
        CHECK_INT(import_shaped(&p, source, "f32[2, 2]", NULL), uses[i].status);
        CHECK_MSG(strstr(p.c.why, uses[i].words), "%s: %s", uses[i].use, p.c.why);
        close(&p);
    }
}
END_TEST

UNIT_SUITE(torch_complex, lists_of_an_open_length_hold_complex_numbers,
           what_has_no_parts_is_refused)
