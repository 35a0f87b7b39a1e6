"""azure-eventhub against the simulator: asks, sends, reads, is throttled and is refused. A line of JSON for each check.

Usage: event_hubs.py WAY, with the simulator's addresses in the environment variable SIMULATOR.
"""
import json
import os
import re
import sys

from azure.eventhub import EventData, EventHubConsumerClient, EventHubProducerClient, TransportType
from azure.eventhub.exceptions import EventDataSendError, EventHubError
from azure.identity import ManagedIdentityCredential

simulator = json.loads(os.environ["SIMULATOR"])
address = simulator["eventHubs"]
way = sys.argv[1]
hub = way.replace(" ", "-")


def client(kind, connection_string=address["connectionString"], **options):
    options = {"eventhub_name": hub, "retry_total": 0, **options}
    if way == "connection string":
        return kind.from_connection_string(connection_string, **options)
    transport, endpoint = {
        "tls": (TransportType.Amqp, address["customEndpoint"]),
        "websockets": (TransportType.AmqpOverWebsocket, address["websocketEndpoint"].replace("wss:", "sb:")),
    }[way]
    return kind(
        fully_qualified_namespace=address["fullyQualifiedNamespace"],
        credential=ManagedIdentityCredential(),
        custom_endpoint_address=endpoint,
        transport_type=transport,
        connection_verify=simulator["caFile"],
        **options,
    )


def tell(check, saw):
    print(json.dumps({"check": check, "saw": saw}, ensure_ascii=False), flush=True)


def send(producer, *bodies):
    batch = producer.create_batch(partition_key="käse")
    for body in bodies:
        batch.add(EventData(body))
    producer.send_batch(batch)


def read(partition, position, count):
    """Reads until `count` events have come, or none for five seconds."""
    events = []
    consumer = client(EventHubConsumerClient, consumer_group="$Default")

    def on_event(_, event):
        if event is not None:
            events.append(event)
        if event is None or len(events) == count:
            consumer.close()

    consumer.receive(on_event, partition_id=partition, starting_position=position, max_wait_time=5)
    return events


with client(EventHubProducerClient) as producer:
    properties = producer.get_eventhub_properties()
    tell("properties", {"name": properties["eventhub_name"], "partitions": properties["partition_ids"]})

    send(producer, "one", "two", "three")
    [partition] = [one for one in properties["partition_ids"] if not producer.get_partition_properties(one)["is_empty"]]
    tell("a batch under a key", {"partition": partition})

    events = read(partition, "-1", 3)
    tell("from the beginning", [[one.body_as_str(), one.sequence_number, one.partition_key.decode()] for one in events])
    tell("from an offset", [one.body_as_str() for one in read(partition, events[0].offset, 2)])
    send(producer, "four")
    tell("from a time", [one.body_as_str() for one in read(partition, events[2].enqueued_time, 1)])

    refusals = []
    while not refusals or refusals[-1]:
        try:
            send(producer, f"throttled {hub}")
            refusals.append(None)
        except EventDataSendError as error:
            refusals.append(re.search(r"condition: (\S+)", str(error)).group(1))
    tell("throttled", refusals)

if way == "connection string":
    wrong = address["connectionString"].replace("SharedAccessKey=", "SharedAccessKey=wrong")
    with client(EventHubProducerClient, wrong) as stranger:
        try:
            send(stranger, "never")
            tell("a wrong key", None)
        except EventHubError as error:
            tell("a wrong key", type(error).__name__)
