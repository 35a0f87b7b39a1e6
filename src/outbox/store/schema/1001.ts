/**
 * Format 1.1: checksums of what the lifecycle remembers. Null: written by a version that knows none. Such a version changes a row
 * and leaves the checksum of the one before; the triggers, which it carries out without knowing of them, take that away.
 */
export const sql = `
ALTER TABLE events ADD COLUMN crc INTEGER;     -- CRC-32 of key, open and json
ALTER TABLE undecided ADD COLUMN crc INTEGER;  -- CRC-32 of json

CREATE TRIGGER events_without_crc AFTER UPDATE OF json, open ON events
WHEN NEW.crc IS OLD.crc AND (NEW.json IS NOT OLD.json OR NEW.open IS NOT OLD.open)
BEGIN
  UPDATE events SET crc = NULL WHERE eventKey = NEW.eventKey;
END;

CREATE TRIGGER meta_without_crc AFTER UPDATE OF value ON meta
WHEN NEW.key IN ('lifecycle', 'observer') AND NEW.value IS NOT OLD.value
BEGIN
  DELETE FROM meta WHERE key = NEW.key || '.crc';
END;
`;
