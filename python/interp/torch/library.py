"""Operators of libraries are not registered.  SPDX-License-Identifier: Apache-2.0"""


def register_autograd(*args, **kwargs):
    return lambda function: function


register_fake = register_kernel = impl_abstract = register_autograd
