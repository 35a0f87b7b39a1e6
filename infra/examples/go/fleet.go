package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
)

// VM is identified by more than its name: two resource groups may have a VM of the same name.
type VM struct {
	Name           string `json:"name"`
	SubscriptionID string `json:"subscriptionId"`
	ResourceGroup  string `json:"resourceGroup"`
}

func (vm VM) key() string {
	return strings.ToLower(vm.SubscriptionID + "/" + vm.ResourceGroup + "/" + vm.Name)
}

// Record has the fields of a record that a subscriber needs.
type Record struct {
	RecordID, StreamID, SchemaVersion, EventID, EventType, NotBefore, Phase string
	VMID, VMName, SubscriptionID, ResourceGroup                             string
	Evidence, AffectedResources, EventsInSight                              []string
	AffectedResourceCount, Sequence, ClockOffsetSeconds                     int
	ObserverAffected, IsTest                                                bool
	ObservedAt                                                              time.Time
}

// at is when the record was observed, by Azure's clock. An offset below two seconds is noise.
func (r *Record) at() time.Time {
	if r.ClockOffsetSeconds > -2 && r.ClockOffsetSeconds < 2 {
		return r.ObservedAt
	}
	return r.ObservedAt.Add(time.Duration(r.ClockOffsetSeconds) * time.Second)
}

func (r *Record) vm(name string) VM { return VM{name, r.SubscriptionID, r.ResourceGroup} }

func (r *Record) isEnd() bool {
	return r.Phase == "Completed" || r.Phase == "Canceled" || r.Phase == "Ended"
}

func (r *Record) isListing() bool {
	return r.Phase == "Scheduled" || r.Phase == "Updated" || r.Phase == "Started"
}

// revokes: an event that is listed again had not ended. In one stream, its own numbers decide: a clock may be set back.
func (r *Record) revokes(end *Record) bool {
	return slices.Contains(r.Evidence, "reappeared") &&
		(end.at().Before(r.at()) || end.StreamID == r.StreamID && end.Sequence < r.Sequence)
}

var recordType = regexp.MustCompile(`^com\.scheduledeventsbridge\.scheduledevent\.[a-z]+\.v1$`)

// parse returns the record in a message; nil if the message is another one. It fails if the message claims to be a record and is not.
func parse(properties map[string]any, body []byte) (*Record, error) {
	kind, hasKind := properties["cloudEvents:type"].(string)
	if !hasKind {
		kind, hasKind = properties["cloudEvents_type"].(string)
	}
	if hasKind && !recordType.MatchString(kind) {
		return nil, nil
	}
	var record Record
	if err := json.Unmarshal(body, &record); err != nil || record.RecordID == "" && record.SchemaVersion == "" {
		if hasKind {
			return nil, cmp.Or(err, errors.New("invalid record: no recordId"))
		}
		return nil, nil // some forwarders lose the properties: then the body decides
	}
	if !strings.HasPrefix(record.SchemaVersion, "1.") {
		return nil, nil
	}
	for _, required := range []string{record.RecordID, record.StreamID, record.EventID, record.Phase, record.VMID, record.VMName} {
		if required == "" || record.ObservedAt.IsZero() || record.Sequence < 1 {
			return nil, errors.New("invalid record: a required field is missing")
		}
	}
	return &record, nil
}

// Fleet folds records. The result depends on which records were added, not on their order, nor on copies.
type Fleet struct {
	records    map[string]map[string]*Record // by event id, then by stream and record id
	snapshots  map[string]map[string]*Record // by VM id, then by stream
	reportedBy map[string]map[string]bool    // event ids by VM id
	forgotten  map[string]time.Time          // time of the last record, by event id
}

func newFleet() *Fleet {
	return &Fleet{map[string]map[string]*Record{}, map[string]map[string]*Record{}, map[string]map[string]bool{}, map[string]time.Time{}}
}

// add returns the ids of the events whose state may have changed.
func (f *Fleet) add(r *Record) []string {
	vmID, eventID := strings.ToLower(r.VMID), strings.ToLower(r.EventID)
	if r.IsTest {
		return nil
	}
	if r.Phase == "Snapshot" {
		entry(f.snapshots, vmID)[r.StreamID] = r
		return keys(f.reportedBy[vmID])
	}
	if !r.isListing() && !r.isEnd() && r.Phase != "Approved" || !r.at().After(f.forgotten[eventID]) {
		return nil
	}
	records, id := entry(f.records, eventID), r.StreamID+" "+r.RecordID
	if records[id] != nil {
		return nil
	}
	records[id] = r
	entry(f.reportedBy, vmID)[eventID] = true
	return []string{eventID}
}

// sorted returns the records of an event by Azure's time.
func (f *Fleet) sorted(eventID string) []*Record {
	var records []*Record
	for _, r := range f.records[eventID] {
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b *Record) int {
		return cmp.Or(a.at().Compare(b.at()), cmp.Compare(a.RecordID, b.RecordID))
	})
	return records
}

// latest returns the last record of an event; nil if the hub has none.
func (f *Fleet) latest(eventID string) *Record {
	if records := f.sorted(eventID); len(records) > 0 {
		return records[len(records)-1]
	}
	return nil
}

// affected returns the VMs that the event affects now, by their keys. None once it is over.
func (f *Fleet) affected(eventID string) map[string]VM {
	records := f.sorted(eventID)
	for _, end := range records {
		isRevoked := slices.ContainsFunc(records, func(r *Record) bool { return r.revokes(end) })
		if end.isEnd() && !isRevoked {
			return nil
		}
	}
	if f.isPresumedOver(eventID, records) {
		return nil
	}
	vms, namedAt, deniedAt := map[string]VM{}, map[string]time.Time{}, map[string]time.Time{}
	var completeAt time.Time
	for _, r := range records {
		if !r.isListing() {
			continue
		}
		names := r.AffectedResources
		if r.ObserverAffected {
			names = append(slices.Clone(names), r.VMName)
		} else {
			deniedAt[r.vm(r.VMName).key()] = r.at()
		}
		for _, name := range names {
			key := r.vm(name).key()
			if _, known := vms[key]; !known {
				vms[key] = r.vm(name)
			}
			namedAt[key] = r.at()
		}
		if len(r.AffectedResources) == r.AffectedResourceCount {
			completeAt = r.at()
		}
	}
	for key := range vms { // a later complete list, or its own later report, lacks it
		if namedAt[key].Before(completeAt) || namedAt[key].Before(deniedAt[key]) {
			delete(vms, key)
		}
	}
	return vms
}

// isPresumedOver: a VM that reported the event lost its state, and its Snapshot, later than every record, does not list the event.
func (f *Fleet) isPresumedOver(eventID string, records []*Record) bool {
	for _, r := range records {
		for _, snapshot := range f.snapshots[strings.ToLower(r.VMID)] {
			lists := func(id string) bool { return strings.EqualFold(id, eventID) }
			if snapshot.StreamID != r.StreamID && snapshot.at().After(records[len(records)-1].at()) &&
				snapshot.EventsInSight != nil && !slices.ContainsFunc(snapshot.EventsInSight, lists) {
				return true
			}
		}
	}
	return false
}

// forget drops the events that are over and of which every record is older, except those to keep.
func (f *Fleet) forget(before time.Time, keep func(eventID string) bool) {
	for eventID := range f.records {
		if last := f.latest(eventID).at(); last.Before(before) && !keep(eventID) && len(f.affected(eventID)) == 0 {
			f.forgotten[eventID] = last
			delete(f.records, eventID)
			for _, events := range f.reportedBy {
				delete(events, eventID)
			}
		}
	}
}

func entry[V any](all map[string]map[string]V, key string) map[string]V {
	if all[key] == nil {
		all[key] = map[string]V{}
	}
	return all[key]
}

func keys[V any](all map[string]V) []string {
	var list []string
	for key := range all {
		list = append(list, key)
	}
	return list
}
