"""Nothing is differentiated, so nothing is computed twice.  SPDX-License-Identifier: Apache-2.0"""


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True):
    return function(*args)
