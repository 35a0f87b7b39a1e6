"""The programs `az` and `bicep` of a test: hands the call to the server whose socket is named in AZ_STAND_IN_SOCKET or BICEP_STAND_IN_SOCKET.

Imports only modules that are compiled into Python: `socket` and `json` take longer than everything else that this program does.
"""

import sys

import _socket
from posix import environ, getcwd

program = sys.argv[0].rpartition("/")[2]
server = _socket.socket(_socket.AF_UNIX)
server.connect(environ[f"{program.upper()}_STAND_IN_SOCKET".encode()])
variables = [b"%b=%b" % variable for variable in environ.items()]
words = [word.encode(errors="surrogateescape") for word in (getcwd(), str(len(sys.argv) - 1), *sys.argv[1:])]
text = b"\0".join([*words, *variables])
standard = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([len(text).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, standard)])
server.sendall(text)
if program == "bicep":
    # The answer is the exit code, then what it prints.
    code, printed = server.recv(1), b""
    while part := server.recv(1 << 16):
        printed += part
    (sys.stdout if code == b"\0" else sys.stderr).buffer.write(printed)
else:
    code = server.recv(1)
if not code:
    sys.exit(f"{program}: the process that carried out the call ended without a result")
sys.exit(code[0])
