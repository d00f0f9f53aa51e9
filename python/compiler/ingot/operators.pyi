from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

def operator(signature: str, version: int = 1) -> Callable[[F], F]: ...
