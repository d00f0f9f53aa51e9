"""SPDX-License-Identifier: Apache-2.0"""
from . import functional, init, modules, parameter
from .modules import *  # noqa: F403
from .modules.module import Module
from .parameter import Parameter
