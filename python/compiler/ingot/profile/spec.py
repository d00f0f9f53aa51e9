"""Names of backends: "hardware/software[option, option=value]".

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import re

FORM = re.compile(r"([\w.-]+)/([\w.-]+)(?:\[([^\]]*)\])?")


@dataclasses.dataclass(frozen=True)
class BackendSpec:
    hardware: str
    software: str
    options: tuple = ()  # (name, value) in the order written; a name alone has value ""

    @staticmethod
    def parse(text):
        """Raises ValueError for text of another form."""
        if isinstance(text, BackendSpec):
            return text
        match = FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if not match:
            raise ValueError(f"{text!r} names no backend: expected "
                             "'hardware/software[option=value]', as 'local/ingot-cpu'")
        options = [o.strip() for o in (match[3] or "").split(",") if o.strip()]
        pairs = tuple((name.strip(), value.strip())
                      for name, _, value in (o.partition("=") for o in options))
        return BackendSpec(match[1], match[2], pairs)

    @property
    def name(self):
        """Without the options."""
        return f"{self.hardware}/{self.software}"

    def __str__(self):
        options = ",".join(f"{n}={v}" if v else n for n, v in self.options)
        return f"{self.name}[{options}]" if options else self.name
