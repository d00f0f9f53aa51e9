"""Names that graph modules and their code refer to.  SPDX-License-Identifier: Apache-2.0"""


class Tracer:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.fx traces nothing here")


def _assert_is_none(value, message):
    assert value is None, message
