"""Which VMs the open events affect, by the rules for consumers in infra/record.md."""

import json
import re
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple

LISTINGS = {"Scheduled", "Updated", "Started"}
ENDS = {"Completed", "Canceled", "Ended"}
RECORD_TYPE = re.compile(r"com\.scheduledeventsbridge\.scheduledevent\.[a-z]+\.v1")


class Vm(NamedTuple):
    """Names alone are not enough: two resource groups may have a VM of the same name."""

    name: str
    subscriptionId: str
    resourceGroup: str

    @property
    def key(self) -> str:
        return f"{self.subscriptionId}/{self.resourceGroup}/{self.name}".lower()


@dataclass(frozen=True)
class Record:
    """The fields of a record that a subscriber needs."""

    recordId: str
    streamId: str
    eventId: str
    eventType: str | None
    notBefore: str | None
    phase: str
    evidence: list
    sequence: int
    observedAt: str
    clockOffsetSeconds: int | None
    affectedResources: list
    affectedResourceCount: int
    observerAffected: bool
    vmId: str
    vmName: str
    subscriptionId: str | None
    resourceGroup: str | None
    isTest: bool
    eventsInSight: list | None

    @property
    def at(self) -> float:
        """When it was observed, by Azure's clock, in seconds. An offset below two seconds is noise."""
        offset = self.clockOffsetSeconds or 0
        return datetime.fromisoformat(self.observedAt).timestamp() + (offset if abs(offset) >= 2 else 0)

    def vm(self, name: str) -> Vm:
        return Vm(name, self.subscriptionId or "", self.resourceGroup or "")


def parse(properties: dict, body: bytes) -> Record | None:
    """The record in a message; None: the message is another one. Raises ValueError if it claims to be a record and is not."""
    kind = properties.get("cloudEvents:type") or properties.get("cloudEvents_type")
    if kind is not None and not RECORD_TYPE.fullmatch(kind):
        return None
    try:
        data = json.loads(body)
    except ValueError:
        if kind is None:
            return None
        raise
    # Some forwarders lose the properties: then the body decides.
    if not isinstance(data, dict) or (kind is None and not {"recordId", "schemaVersion"} <= data.keys()):
        return None
    if not str(data.get("schemaVersion")).startswith("1."):
        return None
    values = {"eventsInSight": None} | {field.name: data[field.name] for field in fields(Record) if field.name in data}
    try:
        record = Record(**values)
        record.at, record.sequence + 0, [*record.evidence, *record.affectedResources]
    except TypeError as error:
        raise ValueError(f"invalid record: {error}") from error
    return record


class Fleet:
    """Folds records. The result depends on which records were added, not on their order, nor on copies."""

    def __init__(self):
        self._records = {}  # by event id, then by stream and record id
        self._snapshots = {}  # by VM id, then by stream
        self._reported_by = {}  # event ids by VM id
        self._forgotten = {}  # time of the last record, by event id

    def add(self, record: Record) -> set:
        """Returns the ids of the events whose state may have changed."""
        vm_id, event_id = record.vmId.lower(), record.eventId.lower()
        if record.isTest:
            return set()
        if record.phase == "Snapshot":
            self._snapshots.setdefault(vm_id, {})[record.streamId] = record
            return set(self._reported_by.get(vm_id, ()))
        if record.phase not in LISTINGS | ENDS | {"Approved"} or record.at <= self._forgotten.get(event_id, 0):
            return set()
        records = self._records.setdefault(event_id, {})
        if (record.streamId, record.recordId) in records:
            return set()
        records[record.streamId, record.recordId] = record
        self._reported_by.setdefault(vm_id, set()).add(event_id)
        return {event_id}

    def events(self) -> list:
        return list(self._records)

    def latest(self, event_id: str) -> Record | None:
        """The last record of the event; None: there is none in the hub."""
        return max(self._records.get(event_id, {}).values(), key=lambda record: record.at, default=None)

    def affected(self, event_id: str) -> dict:
        """The VMs that the event affects now, by their keys. Empty once it is over."""
        records = sorted(self._records.get(event_id, {}).values(), key=lambda record: (record.at, record.recordId))
        returns = [record for record in records if "reappeared" in record.evidence]
        ends = [record for record in records if record.phase in ENDS]
        if any(not any(revokes(back, end) for back in returns) for end in ends) or self._is_presumed_over(records):
            return {}
        return named_vms([record for record in records if record.phase in LISTINGS])

    def _is_presumed_over(self, records: list) -> bool:
        """A VM that reported the event lost its state, and its Snapshot, later than every record, does not list the event."""
        return any(
            snapshot.streamId != record.streamId
            and snapshot.at > records[-1].at
            and snapshot.eventsInSight is not None
            and record.eventId.lower() not in map(str.lower, snapshot.eventsInSight)
            for record in records
            for snapshot in self._snapshots.get(record.vmId.lower(), {}).values()
        )

    def forget(self, before: float, kept: set) -> None:
        """Drops events that are over and of which every record is older (seconds since 1970), except those in `kept`."""
        for event_id in set(self._records) - kept:
            last = max(record.at for record in self._records[event_id].values())
            if last < before and not self.affected(event_id):
                self._forgotten[event_id] = last
                for record in self._records.pop(event_id).values():
                    self._reported_by[record.vmId.lower()].discard(event_id)


def revokes(back: Record, end: Record) -> bool:
    """An event that is listed again had not ended. In one stream, its own numbers decide: a clock may be set back."""
    return end.at < back.at or (end.streamId == back.streamId and end.sequence < back.sequence)


def named_vms(listings: list) -> dict:
    """VMs that are in a list or report that they are affected, unless a later complete list or their own report lacks them."""
    vms, named_at, denied_at, complete_at = {}, {}, {}, 0.0
    for record in listings:
        own = record.vm(record.vmName)
        names = [*record.affectedResources, *([record.vmName] if record.observerAffected else [])]
        for vm in map(record.vm, names):
            vms.setdefault(vm.key, vm)
            named_at[vm.key] = record.at
        if not record.observerAffected:
            denied_at[own.key] = record.at
        if record.affectedResourceCount == len(record.affectedResources):
            complete_at = record.at
    return {key: vm for key, vm in vms.items() if named_at[key] >= max(complete_at, denied_at.get(key, 0))}
