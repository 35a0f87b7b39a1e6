/** Reads the records of scheduled-events-bridge: see the README of the package. */
export { type Actions, type ActOnceOptions, actOnce } from './act-once.ts';
export { type BlobClient, blobStore } from './blob-store.ts';
export { FleetView, type FleetViewOptions, type StreamState, type VmState } from './fleet-view.ts';
export { type EventState, type EventView, isSilent, type VmId } from './fold-event.ts';
export {
  ConsumerGroupNotFoundError,
  type FollowHubOptions,
  followHub,
  type HubClient,
  type HubReader,
  type ReceivedMessage,
} from './follow-hub.ts';
export { gapsOf, type StreamGap } from './gaps.ts';
export { countOf, type NumberRange } from './number-ranges.ts';
export { type EventDataLike, type HttpRequestLike, type Message, parseEventData, parseHttp } from './parse.ts';
export { azureTime, type Heartbeat, isEnd, type LifecycleRecord, type Phase } from './record.ts';
export { fileStore, memoryStore, StateConflictError, type StateStore } from './state-store.ts';
