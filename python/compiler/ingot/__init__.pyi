from ingot_runtime import (CancelledError as CancelledError, Diagnostic as Diagnostic,
                           Error as Error, FileError as FileError,
                           InternalError as InternalError, InvalidError as InvalidError,
                           LimitError as LimitError, LogRecord as LogRecord, Tensor as Tensor,
                           UnsupportedError as UnsupportedError, level as level,
                           set_log as set_log)

from .operators import operator as operator
from .program import Program as Program, compile as compile, dump as dump, load as load
from .session import Session as Session

__version__: str
__all__: list[str]
