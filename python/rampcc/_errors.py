"""What the engine raises."""


class RampError(Exception):
    """A run, a file or the machine failed; the text is that of the command."""


class InputError(RampError, ValueError):
    """What was asked for is wrong: the text names the field, what was found, and what is allowed."""


class RampWarning(UserWarning):
    """Something was done otherwise than it was asked for; the text says why."""


for _each in (RampError, InputError, RampWarning):
    _each.__module__ = "rampcc"
