"""SPDX-License-Identifier: Apache-2.0"""
from .. import functional as F
from .module import Module


class _DropoutNd(Module):
    _options = {"p": 0.5, "inplace": False}


class Dropout(_DropoutNd):
    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class _FeatureDropout(_DropoutNd):
    def forward(self, input):
        return F.feature_dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_FeatureDropout):
    pass


class Dropout2d(_FeatureDropout):
    pass


class Dropout3d(_FeatureDropout):
    pass


class AlphaDropout(_DropoutNd):
    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
