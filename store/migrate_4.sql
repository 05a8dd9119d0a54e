-- From version 3 to 4. First: a derived key is kept as its bytes, which halves the index that every claim touches at random. The table is
-- made anew. Without legacy_alter_table the tables that refer to it would follow the old one.
DROP VIEW readable;
PRAGMA legacy_alter_table = ON;
ALTER TABLE notifications RENAME TO notifications_3;
PRAGMA legacy_alter_table = OFF;
CREATE TABLE notifications (
  seq           INTEGER PRIMARY KEY,
  id            BLOB    NOT NULL CHECK (length(id) = 16),
  source        TEXT    NOT NULL CHECK (length(source) <= 128),
  dedupe_key    ANY     NOT NULL CHECK (CASE typeof(dedupe_key)
    WHEN 'blob' THEN length(dedupe_key) = 20 OR length(dedupe_key) = 32
    WHEN 'text' THEN length(dedupe_key) BETWEEN 1 AND 128
                     AND NOT ((length(dedupe_key) = 40 OR length(dedupe_key) = 64) AND dedupe_key NOT GLOB '*[^0-9a-f]*')
    ELSE 0 END),
  recipe        TEXT    NOT NULL CHECK (recipe <> ''),
  source_in_key INTEGER NOT NULL CHECK (source_in_key = 0 OR source_in_key = 1),
  event_id      TEXT    NOT NULL CHECK (event_id <> ''),
  event_type    TEXT    CHECK (event_type <> ''),
  user_id       TEXT    CHECK (user_id <> ''),
  channel       TEXT    NOT NULL CHECK (channel = 'sms' OR channel = 'email' OR channel = 'push' OR channel = 'webhook'),
  provider      TEXT    NOT NULL CHECK (provider <> ''),
  pinned        INTEGER NOT NULL CHECK (pinned = 0 OR pinned = 1),
  lane          INTEGER NOT NULL CHECK (lane = 0 OR lane = 1),
  state         TEXT    NOT NULL,
  reason        TEXT,
  maybe_sent    INTEGER NOT NULL DEFAULT 0 CHECK (maybe_sent = 0 OR maybe_sent = 1),
  next_action   TEXT    CHECK (next_action = 'send' OR next_action = 'repeat' OR next_action = 'look_up'
                            OR next_action = 'policy' OR next_action = 'expire'),
  due_at        INTEGER,
  send_at       INTEGER,
  expires_at    INTEGER,
  attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  deferrals     INTEGER NOT NULL DEFAULT 0 CHECK (deferrals >= 0),
  tried         TEXT    NOT NULL DEFAULT '',
  message_id    TEXT    CHECK (message_id <> ''),
  delivery      TEXT    CHECK (delivery = 'queued' OR delivery = 'passed_on' OR delivery = 'delayed' OR delivery = 'undelivered'
                            OR delivery = 'delivered' OR delivery = 'bounced' OR delivery = 'complained'),
  resend_of     BLOB    REFERENCES notifications (id),
  resend_number INTEGER CHECK (resend_number >= 1),
  suspected_of  BLOB    CHECK (length(suspected_of) = 16),
  version       INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  duplicate_count   INTEGER NOT NULL DEFAULT 0,
  last_duplicate_at INTEGER,
  occurred_at   INTEGER,
  claimed_at    INTEGER NOT NULL,
  confirmed_at  INTEGER,
  updated_at    INTEGER NOT NULL,
  CHECK ((next_action IS NULL) = (due_at IS NULL)),
  CHECK ((resend_of IS NULL) = (resend_number IS NULL)),
  CHECK ((confirmed_at IS NOT NULL) = (state = 'sent')),
  CHECK (CASE state
    WHEN 'claimed'   THEN next_action IS 'send'
    WHEN 'held'      THEN next_action IS NULL OR next_action = 'expire'
    WHEN 'sending'   THEN next_action IS NULL AND attempt_count > 0
    WHEN 'ambiguous' THEN next_action IS NOT 'send' AND maybe_sent = 1
    WHEN 'sent'      THEN next_action IS NULL AND maybe_sent = 0
    WHEN 'failed'    THEN next_action IS NULL
    WHEN 'cancelled' THEN next_action IS NULL
    WHEN 'expired'   THEN next_action IS NULL AND expires_at IS NOT NULL
    ELSE 0 END),
  CHECK (CASE state
    WHEN 'claimed'   THEN reason IS NULL OR reason = 'scheduled' OR reason = 'retry' OR reason = 'released'
                       OR reason = 'provider_paused' OR reason = 'provider_missing' OR reason = 'restored'
    WHEN 'ambiguous' THEN reason IS NOT NULL AND (reason = 'no_answer' OR reason = 'unreadable_answer' OR reason = 'unlisted_answer'
                       OR reason = 'partial' OR reason = 'process_ended' OR reason = 'restored'
                       OR reason = 'repeat_deferred' OR reason = 'repeat_rejected' OR reason = 'repeat_ambiguous')
    WHEN 'failed'    THEN reason IS NOT NULL AND (reason = 'rejected' OR reason = 'exhausted' OR reason = 'unbuildable'
                       OR reason = 'abandoned' OR reason = 'expired_unknown')
    WHEN 'sent'      THEN reason IS NULL OR reason = 'confirmed' OR reason = 'assumed' OR reason = 'proof' OR reason = 'message_id_shared'
    ELSE reason IS NULL END)
) STRICT;
INSERT INTO notifications
SELECT seq, id, source, CASE WHEN (length(dedupe_key) = 40 OR length(dedupe_key) = 64) AND dedupe_key NOT GLOB '*[^0-9a-f]*' THEN unhex(dedupe_key) ELSE dedupe_key END, recipe, source_in_key, event_id, event_type, user_id, channel, provider, pinned, lane, state, reason,
 maybe_sent, next_action, due_at, send_at, expires_at, attempt_count, deferrals, tried, message_id, delivery, resend_of, resend_number,
 suspected_of, version, duplicate_count, last_duplicate_at, occurred_at, claimed_at, confirmed_at, updated_at
FROM notifications_3 ORDER BY seq;
DROP TABLE notifications_3;
CREATE UNIQUE INDEX notifications_key     ON notifications (dedupe_key, source);
CREATE UNIQUE INDEX notifications_id      ON notifications (id);
CREATE INDEX        notifications_event   ON notifications (event_id);
CREATE UNIQUE INDEX notifications_resends ON notifications (resend_of, resend_number) WHERE resend_of IS NOT NULL;
CREATE INDEX notifications_due     ON notifications (provider, lane, due_at) WHERE state = 'claimed';
CREATE INDEX notifications_expires ON notifications (expires_at) WHERE state = 'claimed';
CREATE INDEX notifications_waiting ON notifications (state, due_at) WHERE state = 'ambiguous' OR state = 'held';
CREATE INDEX notifications_ended   ON notifications (state) WHERE state = 'failed' OR state = 'cancelled' OR state = 'expired';
CREATE TRIGGER notifications_moves AFTER UPDATE OF state ON notifications WHEN NOT (NEW.state = OLD.state OR CASE OLD.state
    WHEN 'claimed'   THEN NEW.state = 'sending' OR NEW.state = 'held' OR NEW.state = 'cancelled' OR NEW.state = 'expired'
                       OR NEW.state = 'failed' OR NEW.state = 'ambiguous' OR NEW.state = 'sent'
    WHEN 'sending'   THEN NEW.state = 'sent' OR NEW.state = 'failed' OR NEW.state = 'claimed' OR NEW.state = 'ambiguous'
    WHEN 'ambiguous' THEN NEW.state = 'sending' OR NEW.state = 'sent' OR NEW.state = 'claimed' OR NEW.state = 'failed'
    WHEN 'held'      THEN NEW.state = 'claimed' OR NEW.state = 'cancelled' OR NEW.state = 'expired' OR NEW.state = 'ambiguous'
                       OR NEW.state = 'sent'
    WHEN 'failed'    THEN NEW.state = 'claimed' OR NEW.state = 'sent'
    WHEN 'expired'   THEN NEW.state = 'sent'
    WHEN 'cancelled' THEN NEW.state = 'sent'
    ELSE 0 END)
  BEGIN SELECT RAISE(ABORT, 'no row goes from this state to that one'); END;
CREATE TRIGGER notifications_born AFTER INSERT ON notifications
    WHEN NOT (NEW.state = 'claimed' AND NEW.attempt_count = 0 OR NEW.state = 'sending' AND NEW.attempt_count = 1 AND NEW.version = 2)
  BEGIN SELECT RAISE(ABORT, 'a row begins as claimed, or claimed and taken at once'); END;
CREATE TRIGGER notifications_fixed BEFORE UPDATE OF seq, id, source, dedupe_key, recipe, source_in_key, event_id, event_type, channel,
    pinned, lane, resend_of, resend_number, occurred_at, send_at, claimed_at ON notifications
  BEGIN SELECT RAISE(ABORT, 'what an event was is never changed'); END;
CREATE VIEW readable AS
SELECT lower(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-' || substr(h, 13, 4) || '-' || substr(h, 17, 4) || '-' || substr(h, 21)) AS id,
  source, CASE typeof(dedupe_key) WHEN 'blob' THEN lower(hex(dedupe_key)) ELSE dedupe_key END AS dedupe_key,
  event_id, event_type, user_id, channel, recipient, provider, state, reason, maybe_sent, next_action,
  strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1000.0, 'unixepoch') AS due_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS expires_at,
  attempt_count, message_id, delivery, duplicate_count, version,
  strftime('%Y-%m-%dT%H:%M:%fZ', claimed_at / 1000.0, 'unixepoch') AS claimed_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', confirmed_at / 1000.0, 'unixepoch') AS confirmed_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
FROM (SELECT hex(n.id) AS h, n.*, c.recipient FROM notifications n LEFT JOIN contents c ON c.notification = n.seq);
-- Second: rows that ended may be erased, down to key, outcome and times; receipts whose row never came age out.
ALTER TABLE counts ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
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
  dedupe_key    ANY     NOT NULL,
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
