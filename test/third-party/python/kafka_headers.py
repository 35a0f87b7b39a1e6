"""The Kafka reader of infra/examples against the mock broker of librdkafka. A line of JSON for each check.

Usage: kafka_headers.py MESSAGES, a file with a list of {properties, body}.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys

from azure.eventhub._pyamqp._encode import encode_value
from confluent_kafka import Producer

examples = pathlib.Path(__file__).parents[3] / "infra/examples/kafka"
sys.path.insert(0, str(examples))
from reader import text_of  # noqa: E402


def report(check, saw):
    print(json.dumps({"check": check, "saw": saw}), flush=True)


def amqp(value):
    """As Microsoft's client for Python encodes a property."""
    output = bytearray()
    encode_value(output, value)
    return bytes(output)


# https://github.com/fission/fission/issues/2295: the header Aeg-Metadata-Version, which Event Grid set over AMQP.
report("recorded", text_of(b"\xa1\x011"))
# https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-types-v1.0-os.html, figure 1.3.
report("specification", text_of(b"\xa1\x1ehttp://example.org/hello-world"))
report("of Microsoft's encoder", [text_of(amqp(text)) == text for text in ("", "käse", "x" * 255, "x" * 256, "x" * 70_000)])
report("plain", text_of("käse".encode()))

producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
brokers = ",".join(f"{one.host}:{one.port}" for one in producer.list_topics(timeout=30).brokers.values())
for message in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    body = base64.b64decode(message["bodyBase64"]) if "bodyBase64" in message else json.dumps(message["body"]).encode()
    headers = [(name, amqp(value)) for name, value in message.get("properties", {}).items()]
    producer.produce("vm-lifecycle", value=body, headers=headers, partition=0)
producer.flush(30)
reader = subprocess.Popen(
    [sys.executable, str(examples / "reader.py")],
    env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": brokers},
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
)
lines = []
while len(lines) < int(sys.argv[2]) and (line := reader.stdout.readline()):
    lines.append(line.strip())
reader.terminate()
report("read", lines)
report("complaints", reader.communicate(timeout=30)[1].strip().splitlines())
