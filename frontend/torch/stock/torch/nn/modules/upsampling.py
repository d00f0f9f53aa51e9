"""SPDX-License-Identifier: Apache-2.0"""
from .. import functional as F
from .module import Module


class Upsample(Module):
    recompute_scale_factor = None  # what an older torch did not write

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             self.recompute_scale_factor)


class UpsamplingNearest2d(Upsample):
    pass


class UpsamplingBilinear2d(Upsample):
    pass
