"""Prints the records of the hub, read over the Kafka endpoint of its namespace."""

import json
import os
import re
import signal
import sys

from confluent_kafka import Consumer, KafkaException

RECORD_TYPE = re.compile(r"com\.scheduledeventsbridge\.scheduledevent\.[a-z]+\.v1")


# assumption: kafka-headers
def text_of(value: bytes) -> str:
    """The text in a header. Event Hubs hands application properties of AMQP to Kafka clients with their AMQP encoding:
    0xA1 and the length in one byte, or 0xB1 and the length in four, then UTF-8. No text in UTF-8 begins with these bytes, so
    headers of Kafka clients and those that the service itself sets are recognized."""
    if value[:1] == b"\xa1" and len(value) == 2 + value[1]:
        return value[2:].decode()
    if value[:1] == b"\xb1" and len(value) == 5 + int.from_bytes(value[1:5], "big"):
        return value[5:].decode()
    return value.decode()


def record_of(headers: list, value: bytes) -> dict | None:
    """The record in a message; None: the message is another one. Raises ValueError if it claims to be a record and is not."""
    kind = next((text_of(bytes_) for name, bytes_ in headers if name in ("cloudEvents:type", "cloudEvents_type")), None)
    if kind is None or not RECORD_TYPE.fullmatch(kind):
        return None
    record = json.loads(value)
    return record if str(record["schemaVersion"]).startswith("1.") else None


def settings() -> dict:
    connection_string = os.environ.get("EVENT_HUBS_CONNECTION_STRING")
    namespace = os.environ.get("EVENT_HUBS_NAMESPACE", "")
    common = {
        "bootstrap.servers": os.environ.get("KAFKA_BOOTSTRAP_SERVERS", f"{namespace}:9093"),
        "group.id": os.environ.get("CONSUMER_GROUP", "kafka-reader"),
        "auto.offset.reset": "earliest",
    }
    if connection_string is None:
        return common
    sasl = {"sasl.mechanism": "PLAIN", "sasl.username": "$ConnectionString", "sasl.password": connection_string}
    return common | {"security.protocol": "SASL_SSL"} | sasl


def main() -> None:
    consumer = Consumer(settings())
    consumer.subscribe([os.environ.get("EVENT_HUB_NAME", "vm-lifecycle")])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit())
    try:
        while True:
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error():
                print(message.error(), file=sys.stderr, flush=True)
                continue
            try:
                record = record_of(message.headers() or [], message.value() or b"")
                if record is not None and not record["isTest"]:
                    print(record["observedAt"], record["phase"], record["eventType"], *record["affectedResources"], flush=True)
            except (ValueError, KeyError, TypeError) as error:
                print(f"partition {message.partition()}, offset {message.offset()}: {error!r}", file=sys.stderr, flush=True)
    finally:
        consumer.close()


if __name__ == "__main__":
    try:
        main()
    except KafkaException as error:
        sys.exit(f"Cannot read the hub: {error}")
