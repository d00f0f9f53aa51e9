import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar, overload

from .report import Report as Report
from .session import (Connection as Connection, InferenceError as InferenceError,
                      RemoteInferenceSession as RemoteInferenceSession,
                      get_default_backends as get_default_backends,
                      get_supported_backends as get_supported_backends,
                      print_supported_backends as print_supported_backends)
from .spec import BackendSpec as BackendSpec

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])

class ProfileHandle:
    def report(self) -> Report: ...

@overload
def accelerate(function: Wrapped, *, dynamic: bool = False,
               local_backend: str = "ingot") -> Wrapped: ...
@overload
def accelerate(function: None = None, *, dynamic: bool = False,
               local_backend: str = "ingot") -> Callable[[Wrapped], Wrapped]: ...
def remote_profile(session: RemoteInferenceSession | None = None, *,
                   backends: str | Sequence[str] | None = None,
                   server_addr: str | None = None, insecure: bool | None = None,
                   access_token: str | None = None, num_repeats: int = 10,
                   num_warmups: int = 1, print_results_to: io.TextIOBase | None = ...,
                   prices: Mapping[str, float] | str | os.PathLike[str] | None = None,
                   tolerance: float = 1e-3) -> AbstractContextManager[ProfileHandle]: ...
def remote_inference(session: RemoteInferenceSession | None = None, *,
                     backend: str | None = None, server_addr: str | None = None,
                     insecure: bool | None = None, access_token: str | None = None,
                     ) -> AbstractContextManager[RemoteInferenceSession]: ...
