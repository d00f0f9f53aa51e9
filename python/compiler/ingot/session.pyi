from collections.abc import Mapping, Sequence
from typing import Any

import ingot_runtime

from .program import Program

TYPE_NAMES: dict[str, str]

def value_type(dtype: str | None) -> str: ...
def maps_type(keys: Sequence[int | str]) -> str: ...
def split_extents(text: str) -> list[str]: ...

class NodeArg:
    def __init__(self, port: ingot_runtime.Port,
                 keys: Sequence[int | str] | None = None) -> None: ...
    name: str
    type: str
    shape: list[int | str]

class Session:
    program: Program
    def __init__(self, model: Any, *, threads: int = 1, **options: Any) -> None: ...
    def get_inputs(self) -> list[NodeArg]: ...
    def get_outputs(self) -> list[NodeArg]: ...
    def run(self, output_names: Sequence[str] | None,
            feed: Mapping[str, Any]) -> list[Any]: ...
