"""Every exception that kbench raises on purpose. The command line maps them to exit codes in one place.

KBenchError
|- ConfigError      the command, a flag or a file it names is wrong          exit 2
|- ProblemError     a problem file cannot be loaded, run or judged           exit 2
|- SchemaError      a stored record is torn, foreign or of a newer version   exit 2
|- ModelError       a model cannot be asked: key, name, address, request     exit 2
|- ModelUnavailable a provider or the way to it failed; asked again later    recorded as infra_error
|- SandboxError     the sandbox that was asked for is not to be had          exit 2
`- RefereeError     the referee itself failed; never the candidate's fault   recorded as infra_error
"""


class KBenchError(Exception):
    """Base of all; its text is one line that says what, where and how to mend it."""


class ConfigError(KBenchError):
    pass


class ProblemError(KBenchError):
    pass


class SchemaError(KBenchError):
    pass


class ModelError(KBenchError):
    pass


class ModelUnavailable(KBenchError):
    pass


class SandboxError(KBenchError):
    pass


class RefereeError(KBenchError):
    pass
