"""What compiler and runtime have to say, for logs.

    ingot.set_log("json")                             # lines on stderr; "text": for people
    ingot.set_log(logging.getLogger("ingot"))
    ingot.set_log(lambda record: records.append(record))
    ingot.set_log(None)                               # nothing, as at first

Exceptions stay as they are: a log has the same errors once more, and warnings and notes too.

SPDX-License-Identifier: Apache-2.0
"""
import sys
from collections import namedtuple

LogRecord = namedtuple("LogRecord", "level component code words fields")
LogRecord.__doc__ = """A line of the log: level ("info", "warning", "error"), component ("compiler", \
"runtime"), a code that stays ("INVALID"), words for people, and a dict of what the words say in parts."""

_LEVELS = "info", "warning", "error"
_hook = None


def _line_of_json(record):
    import json
    head = {"time": _time(), "level": record.level, "component": record.component,
            "code": record.code, **record.fields}
    return json.dumps({**head, "words": record.words} if record.words else head)


def _line_of_text(record):
    fields = "".join(f" {name}={value}" for name, value in record.fields.items())
    line = f"{_time()} {record.level} {record.component} {record.code}{fields}: {record.words}"
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line)


def _time():
    import datetime
    now = datetime.datetime.now(datetime.timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


def _writer(line_of):
    def write(record):
        line = line_of(record) + "\n"
        sys.stderr.write(line.encode("utf-8", "replace").decode())
    return write


def _to_logger(logger):
    def log(record):
        logger.log(10 * (_LEVELS.index(record.level) + 2), "%s", record.words,
                   extra={"ingot": record})
    return log


def set_log(to):
    """Where records go from now on: "text", "json", a logging.Logger, a function of a
    LogRecord, or None.  The function is called on whichever thread found the fact."""
    global _hook
    if to is None or callable(to):
        _hook = to
    elif hasattr(to, "log"):
        _hook = _to_logger(to)
    elif to in ("text", "json"):
        _hook = _writer(_line_of_json if to == "json" else _line_of_text)
    else:
        raise ValueError(f"set_log takes \"text\", \"json\", a logger, a function or None, not {to!r}")


def tell(level, component, code, words, fields):
    """Called by the libraries."""
    hook = _hook
    if hook:
        hook(LogRecord(_LEVELS[level], component, code, words, fields))
