"""Carries out command lines of the real Azure CLI in processes that are forked from this one, which has loaded its code before.

Usage: server.py SOCKET. `client.py` connects to it as `az`, and hands over its arguments, folder, environment, standard input and output. Each
call has a process of its own, which is killed when its client ends. The CLI is unchanged but for its transport: every HTTP request
goes to the address in the variable AZ_STAND_IN of the caller, with the requested address in the header `x-requested-url`, and
the step of the run from AZ_STAND_IN_STEP in `x-step`. Waits between
two polls of an operation are shortened.
"""

import array
import gc
import hashlib
import importlib
import io
import logging
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import redirect_stderr, redirect_stdout

os.environ.update(
    AZURE_EXTENSION_USE_DYNAMIC_INSTALL="no",
    AZURE_CORE_COLLECT_TELEMETRY="no",
    AZURE_CORE_NO_COLOR="yes",
    AZURE_CORE_SURVEY_MESSAGE="no",
)

import azure.cli.core._config  # noqa: E402
import requests  # noqa: E402
from azure.cli.core import get_default_cli  # noqa: E402

SETTINGS = {key: value for key, value in os.environ.items() if key.startswith("AZURE_") and key != "AZURE_CONFIG_DIR"}
LONGEST_WAIT = 0.05


def receive(connection):
    """The folder, arguments and environment of a client, and its standard input, output and error."""
    fds = array.array("i")
    first, ancillary, _flags, _address = connection.recvmsg(4, socket.CMSG_SPACE(3 * fds.itemsize))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    (size,) = struct.unpack(">I", first)
    text = b""
    while len(text) < size:
        part = connection.recv(size - len(text))
        if not part:
            raise EOFError
        text += part
    cwd, count, *rest = text.split(b"\0")
    args = [os.fsdecode(word) for word in rest[: int(count)]]
    env = dict(os.fsdecode(variable).split("=", 1) for variable in rest[int(count) :])
    return os.fsdecode(cwd), args, env, fds


def end_with_client(connection):
    """The client never sends anything more: reading ends when it does."""
    connection.recv(1)
    os.killpg(0, signal.SIGKILL)


def replace_transport(address):
    send = requests.adapters.HTTPAdapter.send

    def to_stand_in(self, request, **options):
        requested = request.url
        request.url = address + requests.utils.urlparse(requested).path
        request.headers["x-requested-url"] = requested
        request.headers["x-step"] = os.environ.get("AZ_STAND_IN_STEP", "")
        response = send(self, request, **{**options, "proxies": {}})
        request.url = response.url = requested
        return response

    requests.adapters.HTTPAdapter.send = to_stand_in
    connect = socket.socket.connect

    def only_here(self, to):
        if self.family != socket.AF_UNIX and to[0] not in ("127.0.0.1", "::1"):
            raise OSError(f"there is no network in this test: {to}")
        return connect(self, to)

    socket.socket.connect = only_here
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, LONGEST_WAIT))


def invoke(args):
    try:
        # The folder of the caller's profile was not known when this module was loaded.
        azure.cli.core._config.GLOBAL_CONFIG_DIR = os.environ["AZURE_CONFIG_DIR"]
        return get_default_cli().invoke(args)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)


def with_memory(args):
    """What a command of Bicep prints depends on the files of the repository alone: it is carried out once."""
    place = os.path.join(os.path.dirname(sys.argv[1]), hashlib.sha256(repr((os.getcwd(), args)).encode()).hexdigest())
    code = 0
    if not os.path.exists(place):
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = invoke(args)
        if code:
            sys.stdout.write(printed.getvalue())
            return code
        with open(f"{place}.{os.getpid()}", "w", encoding="utf-8") as file:
            file.write(printed.getvalue())
        os.rename(f"{place}.{os.getpid()}", place)
    with open(place, encoding="utf-8") as file:
        sys.stdout.write(file.read())
    return code


def carry_out(connection, known):
    """One call. Returns the modules that it had to import."""
    cwd, args, env, fds = receive(connection)
    os.setpgid(0, 0)
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update({**env, **SETTINGS})
    threading.Thread(target=end_with_client, args=[connection], daemon=True).start()
    replace_transport(env["AZ_STAND_IN"])
    # Those of this process were made for its own output.
    for name in (None, "cli", "azure"):
        logging.getLogger(name).handlers.clear()
    code = with_memory(args) if args[:1] == ["bicep"] else invoke(args)
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(bytes([code or 0]))
    return [name for name in sys.modules if name not in known]


def batched(names, count):
    return [names[start : start + count] for start in range(0, len(names), count)]


def load(modules):
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - what cannot be imported here is imported by the next call.
            pass


def main(path):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    reports, report = os.pipe()
    # Loads what every call needs.
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            get_default_cli().invoke(["account", "show", "--help"])
        except SystemExit:
            pass
    print("ready", flush=True)
    rest = b""
    while True:
        ready, _, _ = select.select([listener, reports, sys.stdin], [], [])
        if sys.stdin in ready and not sys.stdin.buffer.read1():
            return
        if reports in ready:
            *lines, rest = (rest + os.read(reports, 1 << 20)).split(b"\n")
            for line in lines:
                load(line.decode().split())
        if listener in ready:
            connection, _address = listener.accept()
            known = set(sys.modules)
            # A collection would touch, and so copy, every page of this process.
            gc.freeze()
            if os.fork() == 0:
                gc.disable()
                listener.close()
                # A write of this size is not mixed with those of other processes.
                for names in batched(carry_out(connection, known), 30):
                    os.write(report, " ".join(names).encode() + b"\n")
                os._exit(0)
            connection.close()


main(sys.argv[1])
