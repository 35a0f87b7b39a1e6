package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync"
	"time"
)

const (
	format      = "scheduled-events-bridge-consumer/1"
	retryAfter  = 5 * time.Second
	rememberFor = 24 * time.Hour
	isDraining  = "draining"
	isDrained   = "drained"
	forgetEvery = time.Hour
)

// drainedVM is what was done for a VM: its events, each draining or drained.
type drainedVM struct {
	VM     VM                `json:"vm"`
	Events map[string]string `json:"events"`
}

// Subscriber acts for each VM in a goroutine of its own.
type Subscriber struct {
	file string

	mutex         sync.Mutex // guards the rest
	drained       map[string]*drainedVM
	fleet         *Fleet
	affected      map[string]map[string]VM // of open events, by event id and VM
	busy          map[string]bool
	retryAt       map[string]time.Time // by VM and event whose action failed
	forgetAt      time.Time
	isHistoryRead bool
}

func newSubscriber(file string) (*Subscriber, error) {
	s := &Subscriber{file: file, drained: map[string]*drainedVM{}, fleet: newFleet(), affected: map[string]map[string]VM{},
		busy: map[string]bool{}, retryAt: map[string]time.Time{}}
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var state struct {
		Format  string
		Drained map[string]*drainedVM
	}
	if json.Unmarshal(text, &state) != nil || state.Format != format {
		return nil, fmt.Errorf("%s is not the state of a subscriber: move it aside to start with an empty state", file)
	}
	s.drained = state.Drained
	return s, nil
}

// onRecords is also called without records, every second: then it retries what failed.
func (s *Subscriber) onRecords(records []*Record) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var changed []string
	for _, record := range records {
		changed = append(changed, s.fleet.add(record)...)
	}
	if s.isHistoryRead {
		s.look(changed)
	}
}

func (s *Subscriber) onHistoryRead() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.isHistoryRead = true
	s.look(keys(s.fleet.records))
}

// look finds out whom the events affect now, and starts what has to be done.
func (s *Subscriber) look(eventIDs []string) {
	for _, eventID := range eventIDs {
		if vms := s.fleet.affected(eventID); len(vms) > 0 {
			s.affected[eventID] = vms
		} else {
			delete(s.affected, eventID)
		}
	}
	vms := map[string]bool{}
	for key := range s.drained {
		vms[key] = true
	}
	for _, ofEvent := range s.affected {
		for key := range ofEvent {
			vms[key] = true
		}
	}
	for key := range vms {
		if !s.busy[key] && s.nextAct(key) != nil {
			s.busy[key] = true
			go s.bringInLine(key)
		}
	}
	if time.Now().After(s.forgetAt) {
		s.forgetAt = time.Now().Add(forgetEvery)
		s.fleet.forget(time.Now().Add(-rememberFor), func(eventID string) bool {
			for _, vm := range s.drained {
				if vm.Events[eventID] != "" {
					return true
				}
			}
			return false
		})
	}
}

// bringInLine acts, one action after the other, until what was done for the VM matches its events.
func (s *Subscriber) bringInLine(key string) {
	for {
		s.mutex.Lock()
		act := s.nextAct(key)
		s.busy[key] = act != nil
		s.mutex.Unlock()
		if act == nil {
			return
		}
		if err := act.run(); err != nil {
			log.Printf("%s: %v; retrying in %v", key, err, retryAfter)
			s.mutex.Lock()
			s.retryAt[key+" "+act.eventID] = time.Now().Add(retryAfter)
			s.mutex.Unlock()
		}
	}
}

type act struct {
	eventID string
	run     func() error
}

// nextAct prefers new events, so that a VM is not restored between two of them.
func (s *Subscriber) nextAct(key string) *act {
	done := map[string]string{}
	if s.drained[key] != nil {
		done = s.drained[key].Events
	}
	isDue := func(eventID string) bool { return time.Now().After(s.retryAt[key+" "+eventID]) }
	for eventID, vms := range s.affected {
		if vm, isAffected := vms[key]; isAffected && done[eventID] != isDrained && isDue(eventID) {
			latest := s.fleet.latest(eventID)
			return &act{eventID, func() error {
				s.note(vm, eventID, isDraining)
				if err := drain(vm, latest); err != nil {
					return err
				}
				s.note(vm, eventID, isDrained)
				return nil
			}}
		}
	}
	for eventID := range done {
		_, isAffected := s.affected[eventID][key]
		// The hub may no longer hold the records of an event: unknown does not mean over.
		latest := s.fleet.latest(eventID)
		if latest != nil && !isAffected && isDue(eventID) {
			vm, isLast := s.drained[key].VM, len(done) == 1
			return &act{eventID, func() error {
				if isLast {
					if err := restore(vm, latest); err != nil {
						return err
					}
				}
				s.note(vm, eventID, "")
				return nil
			}}
		}
	}
	return nil
}

// note saves the state as a whole: after a crash, the file has this state or the one before.
func (s *Subscriber) note(vm VM, eventID, progress string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.drained[vm.key()] == nil {
		s.drained[vm.key()] = &drainedVM{vm, map[string]string{}}
	}
	if progress != "" {
		s.drained[vm.key()].Events[eventID] = progress
	} else if delete(s.drained[vm.key()].Events, eventID); len(s.drained[vm.key()].Events) == 0 {
		delete(s.drained, vm.key())
	}
	text, err := json.Marshal(map[string]any{"format": format, "drained": s.drained})
	if err == nil {
		err = replaceFile(s.file, text)
	}
	if err != nil { // actions continue: a VM with half a minute of notice cannot wait for a disk
		log.Printf("the state could not be saved: %v", err)
	}
}

func replaceFile(path string, text []byte) error {
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
