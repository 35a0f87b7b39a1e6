/**
 * Format 1.0. SQL in a TypeScript file, so that the same text is found when run unbuilt and in the bundle.
 *
 * Read by every later version: within a major, tables and nullable columns are only added, never renamed or given another
 * meaning. `meta` keeps its shape for ever: it is how an older build learns which version to ask for.
 */
export const sql = `
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the lifecycle remembers of one scheduled event.
CREATE TABLE events (
  eventKey TEXT PRIMARY KEY,           -- lower-case EventId
  open     INTEGER NOT NULL,
  json     TEXT NOT NULL
) STRICT;

-- Documents seen before the observer was known.
CREATE TABLE undecided (
  number INTEGER PRIMARY KEY,
  json   TEXT NOT NULL
) STRICT;

-- The entries. Small rows apart from their bytes: looking for what to send or to drop never reads a body.
CREATE TABLE records (
  position   INTEGER PRIMARY KEY,
  eventKey   TEXT NOT NULL,
  recordId   TEXT NOT NULL,
  phase      TEXT NOT NULL,
  observedAt TEXT NOT NULL,
  appendedAt TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  crc        INTEGER NOT NULL          -- CRC-32 of the body: SQLite has no checksums of its own
) STRICT;

CREATE INDEX records_of_event ON records (eventKey, position, bytes);

CREATE TABLE bodies (
  position INTEGER PRIMARY KEY,
  json     BLOB NOT NULL
) STRICT;

-- One row per sink and record.
CREATE TABLE deliveries (
  sink      TEXT NOT NULL,
  position  INTEGER NOT NULL,
  eventKey  TEXT NOT NULL,
  state     TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead', 'abandoned')),
  attempts  INTEGER NOT NULL DEFAULT 0,
  settledAt TEXT,
  code      TEXT,
  reason    TEXT,
  PRIMARY KEY (sink, position)
) STRICT, WITHOUT ROWID;

-- 100,000 pending rows: the first 1,000 in 5 ms, also past one event that holds most of them.
CREATE INDEX deliveries_pending ON deliveries (sink, position, eventKey) WHERE state = 'pending';
CREATE INDEX deliveries_pending_of_event ON deliveries (sink, eventKey, position) WHERE state = 'pending';
CREATE INDEX deliveries_unsettled ON deliveries (position) WHERE state IN ('pending', 'dead');

-- Counters and progress of every sink that ever was configured.
CREATE TABLE sinks (
  name            TEXT PRIMARY KEY,
  configured      INTEGER NOT NULL,
  accepted        INTEGER NOT NULL DEFAULT 0,
  delivered       INTEGER NOT NULL DEFAULT 0,
  pending         INTEGER NOT NULL DEFAULT 0,
  dead            INTEGER NOT NULL DEFAULT 0,
  expired         INTEGER NOT NULL DEFAULT 0,
  abandoned       INTEGER NOT NULL DEFAULT 0,
  undurable       INTEGER NOT NULL DEFAULT 0,
  step            INTEGER NOT NULL DEFAULT 0,
  retryAt         TEXT,
  lastSuccessAt   TEXT,
  lastErrorAt     TEXT,
  lastErrorCode   TEXT,
  lastErrorReason TEXT
) STRICT;

-- What was given up before every sink had it.
CREATE TABLE tombstones (
  position   INTEGER PRIMARY KEY,
  eventKey   TEXT NOT NULL,
  recordId   TEXT NOT NULL,
  phase      TEXT NOT NULL,
  observedAt TEXT NOT NULL,
  expiredAt  TEXT NOT NULL,
  sinks      TEXT NOT NULL             -- JSON list of the sinks that never got it
) STRICT;

-- The intent to approve an event is written before Azure is told.
CREATE TABLE approvals (
  eventKey  TEXT PRIMARY KEY,
  eventId   TEXT NOT NULL,
  cause     TEXT NOT NULL,             -- who or which rule wanted it
  intendedAt TEXT NOT NULL,
  terms     TEXT,                      -- JSON: what the event was when it was wanted
  outcome   TEXT,                      -- accepted, refused, outcome-unknown; null while open
  outcomeAt TEXT,
  reason    TEXT
) STRICT;

-- What other processes ask of the service; it writes the answer beside it.
CREATE TABLE requests (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  verb        TEXT NOT NULL,
  argument    TEXT NOT NULL,           -- JSON
  requestedAt TEXT NOT NULL,
  answeredAt  TEXT,
  answer      TEXT                     -- JSON
) STRICT;
`;
