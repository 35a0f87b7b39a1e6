"""Puts command lines to the argument parser of the real Azure CLI and carries none of them out.

Standard input: a JSON list of argument lists, without the leading `az`. Standard output: a JSON list of the same length;
null where the line was accepted, else what the CLI says.

Everything that the CLI does with a line up to its validators is done: it looks for the command, loads its arguments and
parses them, then handles `--ids`. The network is cut off, and `AZURE_CONFIG_DIR` should name a folder of its own.
"""

import contextlib
import io
import json
import logging
import os
import socket
import sys
import tempfile

# An unknown command must be an answer, not an offer to install an extension.
os.environ.update(
    AZURE_EXTENSION_USE_DYNAMIC_INSTALL="no",
    AZURE_CORE_COLLECT_TELEMETRY="no",
    AZURE_CORE_ERROR_RECOMMENDATION="off",
    AZURE_CORE_NO_COLOR="yes",
)


def no_network(*_args, **_kwargs):
    raise OSError("there is no network in this test")


socket.socket.connect = no_network
socket.getaddrinfo = no_network

from azure.cli.core import get_default_cli  # noqa: E402
from knack.events import EVENT_INVOKER_POST_PARSE_ARGS  # noqa: E402


class Accepted(Exception):
    """The line was parsed: nothing more is done with it."""


def stop(cli, command, args, **_kwargs):
    known = cli.invocation.commands_loader.command_table[command]
    deprecated = [*getattr(args, "_argument_deprecations", []), *filter(None, [known.deprecate_info])]
    if deprecated:
        raise ValueError(deprecated[0].message)
    raise Accepted()


def refusal(cli, arguments):
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    handler.setLevel(logging.ERROR)
    logging.getLogger("cli").addHandler(handler)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            invocation = cli.invocation_cls(
                cli_ctx=cli,
                parser_cls=cli.parser_cls,
                commands_loader_cls=cli.commands_loader_cls,
                help_cls=cli.help_cls,
            )
            cli.invocation = invocation
            invocation.execute(list(arguments))
        return "it was carried out"
    except Accepted:
        return None
    except SystemExit as error:
        # Of --help.
        return None if error.code in (None, 0) else said.getvalue().strip() or f"exit code {error.code}"
    except Exception as error:  # Whatever the CLI raises is its answer.
        return f"{type(error).__name__}: {error}"
    finally:
        logging.getLogger("cli").removeHandler(handler)


def main():
    cli = get_default_cli()
    # Handlers are called in the order of their registration: after that of `--ids`.
    cli.register_event(EVENT_INVOKER_POST_PARSE_ARGS, stop)
    with tempfile.TemporaryDirectory() as folder:
        # Files that the reader of a document makes: some arguments are read when they are parsed.
        for name in ("config.json", "secrets.json"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("{}")
        os.chdir(folder)
        json.dump([refusal(cli, arguments) for arguments in json.load(sys.stdin)], sys.stdout)
        os.chdir("/")


main()
