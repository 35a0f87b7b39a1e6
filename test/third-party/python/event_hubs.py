"""azure-eventhub against the simulator: asks, sends, reads, is throttled and is refused. A line of JSON for each check.

Usage: event_hubs.py WAY, with the simulator's addresses in the environment variable SIMULATOR.
"""
import json
import os
import re
import sys
import threading

from azure.eventhub import EventData, EventHubConsumerClient, EventHubProducerClient, TransportType
from azure.eventhub._eventprocessor.in_memory_checkpoint_store import InMemoryCheckpointStore
from azure.eventhub.exceptions import EventDataSendError, EventHubError
from azure.identity import ManagedIdentityCredential

simulator = json.loads(os.environ["SIMULATOR"])
address = simulator["eventHubs"]
way = sys.argv[1]
hub = "python-" + way.replace(" ", "-")


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


def report(check, saw):
    print(json.dumps({"check": check, "saw": saw}, ensure_ascii=False), flush=True)


def send(producer, *bodies):
    batch = producer.create_batch(partition_key="käse")
    for body in bodies:
        batch.add(EventData(body))
    producer.send_batch(batch)


def read(partition, position, count, inclusive=False):
    """Reads until `count` events have come, or none for five seconds."""
    events = []
    consumer = client(EventHubConsumerClient, consumer_group="$Default")

    def on_event(_, event):
        if event is not None:
            events.append(event)
        if event is None or len(events) == count:
            consumer.close()

    consumer.receive(
        on_event,
        partition_id=partition,
        starting_position=position,
        starting_position_inclusive=inclusive,
        max_wait_time=5,
    )
    return events


def read_at_the_end(partition, act):
    """Reads one event from the end, and acts once the reader waits there."""
    events, waits = [], threading.Event()
    consumer = client(EventHubConsumerClient, consumer_group="$Default")

    def on_event(_, event):
        if event is None:
            waits.set()
        else:
            events.append(event)
            consumer.close()

    options = {"partition_id": partition, "starting_position": "@latest", "max_wait_time": 2}
    reader = threading.Thread(target=consumer.receive, args=[on_event], kwargs=options, daemon=True)
    reader.start()
    waits.wait(30)
    act()
    reader.join(30)
    return events


def take_over(partition):
    """What becomes of a reader when one of a higher level takes its partition."""
    reads, lost, seen = threading.Event(), threading.Event(), []
    low, high = (client(EventHubConsumerClient, consumer_group="$Default") for _ in range(2))

    def on_error(_, error):
        seen.append(type(error).__name__)
        lost.set()

    def run(consumer, level, **handlers):
        options = {"partition_id": partition, "starting_position": "-1", "owner_level": level, **handlers}
        threading.Thread(target=consumer.receive, kwargs=options, daemon=True).start()

    run(low, 1, on_event=lambda *_: reads.set(), on_error=on_error)
    reads.wait(30)
    run(high, 2, on_event=lambda *_: None)
    lost.wait(30)
    low.close()
    high.close()
    return seen[:1]


def process(store, partition, count):
    """What a processor reads, which begins where another has left its checkpoint."""
    bodies = []
    options = {"consumer_group": "$Default", "checkpoint_store": store, "load_balancing_interval": 1}
    consumer = client(EventHubConsumerClient, **options)

    def on_event(context, event):
        bodies.append(event.body_as_str())
        context.update_checkpoint(event)
        if len(bodies) == count:
            consumer.close()

    consumer.receive(on_event, starting_position="-1")
    return bodies


with client(EventHubProducerClient) as producer:
    properties = producer.get_eventhub_properties()
    report("properties", {"name": properties["eventhub_name"], "partitions": properties["partition_ids"]})

    send(producer, "one", "two", "three")
    [partition] = [one for one in properties["partition_ids"] if not producer.get_partition_properties(one)["is_empty"]]
    report("a batch under a key", {"partition": partition})

    events = read(partition, "-1", 3)
    report("from the beginning", [[one.body_as_str(), one.sequence_number, one.partition_key.decode()] for one in events])
    report("from an offset", [one.body_as_str() for one in read(partition, events[0].offset, 2)])
    report("from a sequence number", [one.body_as_str() for one in read(partition, events[1].sequence_number, 2, True)])
    send(producer, "four")
    report("from a time", [one.body_as_str() for one in read(partition, events[2].enqueued_time, 1)])

    report("from the end", [one.body_as_str() for one in read_at_the_end(partition, lambda: send(producer, "five"))])
    report("a lower owner level", take_over(partition))
    store = InMemoryCheckpointStore()
    process(store, partition, 5)
    send(producer, "six")
    report("from a checkpoint", process(store, partition, 1))
    send(producer, "x" * 200_000)
    send(producer, "last")

    refusals = []
    while not refusals or refusals[-1]:
        try:
            send(producer, f"throttled {hub}")
            refusals.append(None)
        except EventDataSendError as error:
            refusals.append(re.search(r"condition: (\S+)", str(error)).group(1))
    report("throttled", refusals)

if way == "connection string":
    wrong = address["connectionString"].replace("SharedAccessKey=", "SharedAccessKey=wrong")
    with client(EventHubProducerClient, wrong) as stranger:
        try:
            send(stranger, "never")
            report("a wrong key", None)
        except EventHubError as error:
            report("a wrong key", type(error).__name__)
