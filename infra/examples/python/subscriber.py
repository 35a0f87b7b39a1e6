"""Moves work off a VM when Azure announces an event that affects it, and back when the last such event is over.

It reads everything that the hub holds before it acts, and then does what STATE_FILE does not list as done. An action is
repeated only if it failed, or if the process died before saving its outcome.
"""

import asyncio
import json
import os
import signal
import sys
import time

from azure.eventhub import TransportType
from azure.eventhub.aio import EventHubConsumerClient
from azure.identity.aio import DefaultAzureCredential

from fleet import Fleet, Record, Vm, parse

FORMAT = "scheduled-events-bridge-consumer/1"
RETRY_SECONDS = 5
REMEMBER_SECONDS = 24 * 3600


async def drain(vm: Vm, record: Record) -> None:
    """Your part. Both must be idempotent."""
    print(f"drain {vm.name}: {record.eventType}, not before {record.notBefore or 'an unknown time'}", flush=True)


async def restore(vm: Vm, record: Record) -> None:
    print(f"restore {vm.name}: {record.eventType} {record.phase}, {' '.join(record.evidence)}", flush=True)


def log(*words) -> None:
    print(*words, file=sys.stderr, flush=True)


class Subscriber:
    """Acts for each VM in a task of its own."""

    def __init__(self, state_file: str):
        self._state_file = state_file
        self._drained = load(state_file)  # by VM: its events, `draining` or `drained`
        self._fleet = Fleet()
        self._affected = {}  # open events: their VMs by key
        self._busy = {}  # the task of each VM with an action in progress
        self._retry_at = {}  # by VM and event whose action failed
        self._is_history_read = False
        self._forget_at = 0.0

    def on_records(self, records: list) -> None:
        """Also without records, every few seconds: then it retries what failed."""
        changed = set().union(*map(self._fleet.add, records))
        if self._is_history_read:
            self._look(changed)

    def on_history_read(self) -> None:
        self._is_history_read = True
        self._look(self._fleet.events())

    def _look(self, event_ids) -> None:
        """Finds out whom the events affect now, and starts what has to be done."""
        for event_id in event_ids:
            if affected := self._fleet.affected(event_id):
                self._affected[event_id] = affected
            else:
                self._affected.pop(event_id, None)
        for key in {*self._drained, *(key for vms in self._affected.values() for key in vms)} - set(self._busy):
            if self._next_act(key) is not None:
                self._busy[key] = asyncio.create_task(self._bring_in_line(key))
        if time.time() > self._forget_at:
            self._forget_at = time.time() + 3600
            noted = {event_id for entry in self._drained.values() for event_id in entry["events"]}
            self._fleet.forget(time.time() - REMEMBER_SECONDS, noted)

    async def _bring_in_line(self, key: str) -> None:
        """One action after the other, until what was done for the VM matches its events."""
        while (act := self._next_act(key)) is not None:
            event_id, run = act
            try:
                await run()
                self._retry_at.pop((key, event_id), None)
            except Exception as error:  # noqa: BLE001 - the action is the user's
                log(f"{key}: {error!r}; retrying in {RETRY_SECONDS} s")
                self._retry_at[key, event_id] = time.time() + RETRY_SECONDS
        del self._busy[key]

    def _next_act(self, key: str):
        """New events first, so that a VM is not restored between two of them."""

        def is_due(event_id: str) -> bool:
            return self._retry_at.get((key, event_id), 0) <= time.time()

        done = self._drained.get(key, {"events": {}})["events"]
        for event_id, vms in self._affected.items():
            if key in vms and done.get(event_id) != "drained" and is_due(event_id):
                return event_id, lambda: self._drain(vms[key], event_id)
        for event_id in done:
            # The hub may no longer hold the records of an event: unknown does not mean over.
            latest = self._fleet.latest(event_id)
            if latest is not None and key not in self._affected.get(event_id, {}) and is_due(event_id):
                return event_id, lambda: self._release(key, event_id, latest)
        return None

    async def _drain(self, vm: Vm, event_id: str) -> None:
        self._note(vm, event_id, "draining")
        await drain(vm, self._fleet.latest(event_id))
        self._note(vm, event_id, "drained")

    async def _release(self, key: str, event_id: str, latest: Record) -> None:
        entry = self._drained[key]
        vm = Vm(entry["vm"]["name"], entry["vm"]["subscriptionId"] or "", entry["vm"]["resourceGroup"] or "")
        if len(entry["events"]) == 1:
            await restore(vm, latest)
        self._note(vm, event_id, None)

    def _note(self, vm: Vm, event_id: str, progress: str | None) -> None:
        """Saves the state as a whole: after a crash, the file has this state or the one before."""
        entry = self._drained.setdefault(vm.key, {"vm": {"key": vm.key, **vm._asdict()}, "events": {}})
        entry["events"].pop(event_id, None)
        if progress is not None:
            entry["events"][event_id] = progress
        if not entry["events"]:
            del self._drained[vm.key]
        try:
            with open(self._state_file + ".new", "w", encoding="utf-8") as file:
                json.dump({"format": FORMAT, "drained": self._drained}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._state_file + ".new", self._state_file)
        except OSError as error:
            # Actions continue: a VM with half a minute of notice cannot wait for a disk.
            log(f"The state could not be saved: {error}")


def load(state_file: str) -> dict:
    try:
        with open(state_file, encoding="utf-8") as file:
            state = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError:
        state = {}
    if state.get("format") != FORMAT:
        sys.exit(f"{state_file} is not the state of a subscriber: move it aside to start with an empty state.")
    return state["drained"]


def create_client() -> EventHubConsumerClient:
    options = {"eventhub_name": os.environ.get("EVENT_HUB_NAME", "vm-lifecycle"), "retry_backoff_factor": 0.5}
    group = os.environ.get("CONSUMER_GROUP", "$Default")  # one subscriber for each
    if connection_string := os.environ.get("EVENT_HUBS_CONNECTION_STRING"):
        return EventHubConsumerClient.from_connection_string(connection_string, group, **options)
    namespace = os.environ.get("EVENT_HUBS_NAMESPACE")
    if not namespace:
        sys.exit("Set EVENT_HUBS_NAMESPACE or EVENT_HUBS_CONNECTION_STRING.")
    if endpoint := os.environ.get("EVENT_HUBS_CUSTOM_ENDPOINT"):  # the simulator
        options |= {"custom_endpoint_address": endpoint, "transport_type": TransportType.Amqp}
        options |= {"connection_verify": os.environ.get("SSL_CERT_FILE")}
    return EventHubConsumerClient(namespace, consumer_group=group, credential=DefaultAzureCredential(), **options)


async def main() -> None:
    subscriber = Subscriber(os.environ.get("STATE_FILE", "subscriber-state.json"))
    client = create_client()
    properties = [await client.get_partition_properties(id) for id in await client.get_partition_ids()]
    # The partitions of which history has not been read to this number.
    unread = {one["id"]: one["last_enqueued_sequence_number"] for one in properties if not one["is_empty"]}
    if not unread:
        subscriber.on_history_read()

    async def on_events(partition, events) -> None:
        subscriber.on_records([record for event in events if (record := read(partition.partition_id, event)) is not None])
        last = unread.get(partition.partition_id)
        if last is not None and events and events[-1].sequence_number >= last:
            del unread[partition.partition_id]
            if not unread:
                subscriber.on_history_read()

    async def on_error(partition, error) -> None:
        log(f"partition {partition and partition.partition_id}: {error}")

    reading = asyncio.create_task(
        client.receive_batch(on_events, on_error=on_error, starting_position="-1", max_wait_time=5, max_batch_size=100)
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, lambda: asyncio.create_task(client.close()))
    await reading


def read(partition_id: str, event) -> Record | None:
    try:
        properties = {text(name): text(value) for name, value in (event.properties or {}).items()}
        return parse(properties, b"".join(event.body))
    except (ValueError, TypeError) as error:
        log(f"partition {partition_id}, message {event.sequence_number}: {error}")
        return None


def text(value) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    asyncio.run(main())
