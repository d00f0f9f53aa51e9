import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import ingot_runtime

from .inspect import Profile, Verification

class Program(ingot_runtime.Program):
    def __new__(cls, path: str | os.PathLike[str], *, threads: int = 1,
                hugepages: bool = False, level: str | None = None,
                check_weights: bool = False, op_files: Sequence[str] = (),
                libraries: Sequence[int] = ()) -> Self: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def dump(self, stage: str = "plan", format: str = "text") -> str: ...
    def profile(self, *args: Any, runs: int = 100, **kwargs: Any) -> Profile: ...
    def verify(self, *args: Any, rtol: float = 1e-3, atol: float = 1e-5,
               **kwargs: Any) -> Verification: ...
    def _repr_html_(self) -> str: ...

Ops = (str | os.PathLike[str] | dict[str, Callable[..., Any]]
       | Sequence[str | os.PathLike[str] | dict[str, Callable[..., Any]]] | None)

def load(path: str | os.PathLike[str], *, ops: Ops = None, **options: Any) -> Program: ...
def compile(model: Any, example_inputs: Any = None, dynamic_shapes: Any = None, *,
            inputs: Sequence[str] = (), target: str | None = None, threads: int = 1,
            entry: str | None = None, resource: str | None = None, isolate: bool = False,
            clamp_ids: bool = False, torch_empty: bool = False, cache: str | None = None,
            memory_limit: int = 0,
            progress: Callable[[str, int, int], object] | None = None,
            ops: Ops = None,
            external_data: Mapping[str, Any] | None = None,
            winograd: bool = False) -> Program: ...
def dump(model: Any, stage: str = "plan", format: str = "text", **options: Any) -> str: ...
