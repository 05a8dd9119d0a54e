-- From version 3 to 4: rows that ended may be erased, down to key, outcome and times; receipts whose row never came age out.
ALTER TABLE counts ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER notifications_kept;
DROP TRIGGER attempts_kept;
DROP TRIGGER settlements_kept;
DROP TRIGGER receipts_kept;
CREATE TRIGGER notifications_kept BEFORE DELETE ON notifications WHEN OLD.seq = (SELECT max(seq) FROM notifications)
    OR NOT EXISTS (SELECT 1 FROM erased e WHERE e.seq = OLD.seq AND e.dedupe_key = OLD.dedupe_key AND e.source = OLD.source)
  BEGIN SELECT RAISE(ABORT, 'a key is never freed'); END;
CREATE TABLE erased (
  seq           INTEGER PRIMARY KEY,
  id            BLOB    NOT NULL CHECK (length(id) = 16),
  source        TEXT    NOT NULL,
  dedupe_key    TEXT    NOT NULL,
  recipe        TEXT    NOT NULL CHECK (recipe <> ''),
  channel       TEXT    NOT NULL,
  state         TEXT    NOT NULL CHECK (state = 'sent' OR state = 'failed' OR state = 'cancelled' OR state = 'expired'),
  reason        TEXT,
  maybe_sent    INTEGER NOT NULL CHECK (maybe_sent = 0 OR maybe_sent = 1 AND state <> 'sent'),
  delivery      TEXT,
  attempt_count INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  duplicate_count   INTEGER NOT NULL,
  last_duplicate_at INTEGER,
  claimed_at    INTEGER NOT NULL,
  confirmed_at  INTEGER,
  updated_at    INTEGER NOT NULL,
  erased_at     INTEGER NOT NULL,
  CHECK ((confirmed_at IS NOT NULL) = (state = 'sent'))
) STRICT;
CREATE UNIQUE INDEX erased_key ON erased (dedupe_key, source);
CREATE UNIQUE INDEX erased_id  ON erased (id);
CREATE TRIGGER erased_once BEFORE INSERT ON notifications
    WHEN EXISTS (SELECT 1 FROM erased WHERE dedupe_key = NEW.dedupe_key AND source = NEW.source)
  BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER erased_born BEFORE INSERT ON erased WHEN NOT EXISTS (SELECT 1 FROM notifications n WHERE n.seq = NEW.seq AND n.id = NEW.id
    AND n.dedupe_key = NEW.dedupe_key AND n.source = NEW.source AND n.state = NEW.state AND n.maybe_sent = NEW.maybe_sent)
  BEGIN SELECT RAISE(ABORT, 'only a row that is there is erased'); END;
CREATE TRIGGER erased_moves AFTER INSERT ON erased BEGIN
  DELETE FROM contents      WHERE notification = NEW.seq;
  DELETE FROM attempts      WHERE notification = NEW.seq;
  DELETE FROM message_ids   WHERE notification = NEW.seq;
  DELETE FROM settlements   WHERE notification = NEW.seq;
  DELETE FROM receipts      WHERE notification = NEW.seq;
  DELETE FROM duplicates    WHERE notification = NEW.seq;
  DELETE FROM notifications WHERE seq = NEW.seq;
END;
CREATE TRIGGER erased_fixed BEFORE UPDATE OF seq, id, source, dedupe_key, recipe, channel, state, reason, maybe_sent, delivery, attempt_count,
    version, claimed_at, confirmed_at, updated_at, erased_at ON erased
  BEGIN SELECT RAISE(ABORT, 'an erased row is never changed'); END;
CREATE TRIGGER erased_kept BEFORE DELETE ON erased
  BEGIN SELECT RAISE(ABORT, 'a key is never freed'); END;
CREATE TRIGGER attempts_kept BEFORE DELETE ON attempts WHEN NOT EXISTS (SELECT 1 FROM erased WHERE seq = OLD.notification)
  BEGIN SELECT RAISE(ABORT, 'an attempt is never deleted'); END;
CREATE TRIGGER settlements_kept BEFORE DELETE ON settlements WHEN NOT EXISTS (SELECT 1 FROM erased WHERE seq = OLD.notification)
  BEGIN SELECT RAISE(ABORT, 'a settlement is never deleted'); END;
CREATE TRIGGER receipts_kept BEFORE DELETE ON receipts WHEN OLD.notification IS NOT NULL AND NOT EXISTS (SELECT 1 FROM erased WHERE seq = OLD.notification)
  BEGIN SELECT RAISE(ABORT, 'a receipt is never deleted'); END;
CREATE INDEX        receipts_ageing    ON receipts (arrived_at) WHERE notification IS NULL;
