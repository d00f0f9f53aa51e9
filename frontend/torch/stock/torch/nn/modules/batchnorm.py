"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class _NormBase(Module):
    num_batches_tracked = None  # what an older torch did not write


class _BatchNorm(_NormBase):
    def forward(self, input):
        factor = self.momentum
        if factor is None:
            if self.training:
                raise NotImplementedError("BatchNorm in training without momentum")
            factor = 0.0
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        of_batch = self.training or self.running_mean is None
        return torch.batch_norm(input, self.weight, self.bias, self.running_mean,
                                self.running_var, of_batch, factor, self.eps, False)


class BatchNorm1d(_BatchNorm):
    pass


class BatchNorm2d(_BatchNorm):
    pass


class BatchNorm3d(_BatchNorm):
    pass


class SyncBatchNorm(_BatchNorm):
    pass
