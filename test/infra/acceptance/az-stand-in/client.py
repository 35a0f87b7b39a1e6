"""The programs `az` and `bicep` of a test: hands the call to the server whose socket is named in AZ_STAND_IN_SOCKET or BICEP_STAND_IN_SOCKET."""

import array
import json
import os
import socket
import struct
import sys

program = os.path.basename(sys.argv[0])
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ[f"{program.upper()}_STAND_IN_SOCKET"])
text = json.dumps({"args": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}).encode()
standard = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
server.sendmsg([struct.pack(">I", len(text))], standard)
server.sendall(text)
if program == "bicep":
    # The answer is the exit code, then what it prints.
    code, printed = server.recv(1), server.makefile("rb").read()
    (sys.stdout if code == b"\0" else sys.stderr).buffer.write(printed)
else:
    code = server.recv(1)
if not code:
    sys.exit(f"{program}: the process that carried out the call ended without a result")
sys.exit(code[0])
