"""Qpid Proton, a general AMQP client, against the simulator: signs in, sends and reads. A line of JSON for each check.

Usage: qpid_proton.py HUB, with the simulator's addresses in the environment variable SIMULATOR.
"""
import base64
import hashlib
import hmac
import json
import os
import sys
import time
from urllib.parse import quote_plus

from proton import ConnectionException, Described, Message, symbol, ulong
from proton.reactor import Filter
from proton.utils import BlockingConnection, LinkDetached

address = json.loads(os.environ["SIMULATOR"])["eventHubs"]
secret = dict(field.split("=", 1) for field in address["connectionString"].split(";"))
name, key = secret["SharedAccessKeyName"], secret["SharedAccessKey"]
hub = sys.argv[1]


def report(check, saw):
    print(json.dumps({"check": check, "saw": saw}, ensure_ascii=False), flush=True)


def connect(mechanism, **options):
    url = f"amqp://localhost:{address['plainPort']}"
    return BlockingConnection(
        url, allowed_mechs=mechanism, allow_insecure_mechs=True, reconnect=False, timeout=10, **options
    )


def signature(audience):
    scope, expiry = quote_plus(audience), int(time.time()) + 600
    signed = hmac.new(key.encode(), f"{scope}\n{expiry}".encode(), hashlib.sha256).digest()
    return f"SharedAccessSignature sr={scope}&sig={quote_plus(base64.b64encode(signed))}&se={expiry}&skn={name}"


def ask(connection, node, body, properties):
    """A request to a service node and the properties of its answer."""
    requests, answers = connection.create_sender(node), connection.create_receiver(node, name=f"{node}-answers")
    requests.send(Message(id=1, reply_to=f"{node}-answers", body=body, properties=properties))
    answer = answers.receive(timeout=10)
    requests.close()
    answers.close()
    return answer


def read(connection, selector, count):
    """Bodies of the first events of partition 1 that match the selector."""
    described = {symbol("apache.org:selector-filter:string"): Described(ulong(0x468C00000004), selector)}
    node = f"{hub}/ConsumerGroups/$Default/Partitions/1"
    receiver = connection.create_receiver(node, credit=count, options=Filter(described))
    events = [receiver.receive(timeout=10) for _ in range(count)]
    receiver.close()
    return events


# With the name and the value of a shared access key instead of a token, as documented for general clients.
connection = connect("PLAIN", user=name, password=key)
sender = connection.create_sender(f"{hub}/Partitions/1")
for body in ["one", "two", "three"]:
    sender.send(Message(body=body, properties={"long": 1}))
events = read(connection, "amqp.annotation.x-opt-offset > '-1'", 3)
report("from the beginning", [[one.body, one.properties["long"], type(one.properties["long"]).__name__] for one in events])
first, second, _ = [one.annotations for one in events]
offset, sequence = first[symbol("x-opt-offset")], second[symbol("x-opt-sequence-number")]
report("from an offset", [one.body for one in read(connection, f"amqp.annotation.x-opt-offset > '{offset}'", 2)])
report("from a number", [one.body for one in read(connection, f"amqp.annotation.x-opt-sequence-number >= '{sequence}'", 2)])
connection.close()

try:
    connect("PLAIN", user=name, password="wrong")
    report("a wrong key", None)
except ConnectionException as error:
    report("a wrong key", str(error).split("'")[1])

# With a token, as Microsoft's clients do it.
connection = connect("ANONYMOUS")
try:
    connection.create_sender(hub)
    report("no token", None)
except LinkDetached as error:
    report("no token", error.condition)
audience = f"sb://localhost/{hub}"
put = {"operation": "put-token", "type": "servicebus.windows.net:sastoken", "name": audience}
report("a token", ask(connection, "$cbs", signature(audience), put).properties["status-code"])
connection.create_sender(hub).send(Message(body="four"))
asked = {"operation": "READ", "type": "com.microsoft:eventhub", "name": hub}
report("properties", list(ask(connection, "$management", None, asked).body["partition_ids"]))
connection.close()
