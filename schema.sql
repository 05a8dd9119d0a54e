-- The ledger of sendonce, version 4: one SQLite file, to be read as documentation.
--
-- Times end in _at and are Unix milliseconds UTC. Whoever runs the SQL gives them; SQL never asks for the time.
-- For readable ones: SELECT * FROM readable WHERE event_id = 'evt_2291';
-- The rules stand here a second time, after ledger/state.go, so that no other program can break them unseen.
-- Lists of words are written as OR or CASE: an IN list of more than two builds a temporary tree on every insert.
PRAGMA application_id = 1397641300; -- 'SNDT'
PRAGMA user_version = 4;

-- What this file is. ledger_id and generation stand in the lock file beside it as well. A ledger that is older than its
-- lock file, or has none, was restored or moved: its open rows are never sent blindly.
CREATE TABLE ledger (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  ledger_id  BLOB    NOT NULL CHECK (length(ledger_id) = 16),
  generation INTEGER NOT NULL CHECK (generation >= 0), -- rises at each start, after a failed commit, and once a second of writing
  restored   BLOB    CHECK (length(restored) = 16),    -- which restoring waits to be accepted; in the lock file as well
  created_at INTEGER NOT NULL
) STRICT;

-- How many rows there are of each kind, moved with the commit that moves the rows: counting millions takes seconds.
CREATE TABLE counts (
  one          INTEGER PRIMARY KEY CHECK (one = 1),
  claimed      INTEGER NOT NULL DEFAULT 0,
  held         INTEGER NOT NULL DEFAULT 0,
  sending      INTEGER NOT NULL DEFAULT 0,
  ambiguous    INTEGER NOT NULL DEFAULT 0,
  sent         INTEGER NOT NULL DEFAULT 0,
  failed       INTEGER NOT NULL DEFAULT 0,
  cancelled    INTEGER NOT NULL DEFAULT 0,
  expired      INTEGER NOT NULL DEFAULT 0,
  maybe_sent   INTEGER NOT NULL DEFAULT 0,
  duplicates   INTEGER NOT NULL DEFAULT 0, -- repeats that sent nothing
  proven_twice INTEGER NOT NULL DEFAULT 0, -- second messages that a receipt proved
  shared       INTEGER NOT NULL DEFAULT 0, -- answers with a message id of another row
  newest_at    INTEGER NOT NULL DEFAULT 0, -- the newest time that was written
  receipts     INTEGER NOT NULL DEFAULT 0,
  unmatched    INTEGER NOT NULL DEFAULT 0, -- of them, those whose row is not known yet
  erased       INTEGER NOT NULL DEFAULT 0  -- rows of which only key, outcome and times are left; they are in no count of a state
) STRICT;
INSERT INTO counts (one) VALUES (1);

-- One row owns one key, for ever: here, or in erased once it ended and was erased. Of personal data it has at most event_id and user_id;
-- the rest stands in contents.
CREATE TABLE notifications (
  seq           INTEGER PRIMARY KEY,                       -- order of claiming, and cursor of lists
  id            BLOB    NOT NULL CHECK (length(id) = 16),  -- UUIDv7
  source        TEXT    NOT NULL CHECK (length(source) <= 128),
  dedupe_key    ANY     NOT NULL CHECK (CASE typeof(dedupe_key) -- derived keys as the bytes that their hex says, others as text
    WHEN 'blob' THEN length(dedupe_key) = 20 OR length(dedupe_key) = 32
    WHEN 'text' THEN length(dedupe_key) BETWEEN 1 AND 128
                     AND NOT ((length(dedupe_key) = 40 OR length(dedupe_key) = 64) AND dedupe_key NOT GLOB '*[^0-9a-f]*')
    ELSE 0 END),
  recipe        TEXT    NOT NULL CHECK (recipe <> ''),     -- event, type-user-event, one of the configuration, or given
  source_in_key INTEGER NOT NULL CHECK (source_in_key = 0 OR source_in_key = 1), -- 1: the key itself is the wire key
  event_id      TEXT    NOT NULL CHECK (event_id <> ''),
  event_type    TEXT    CHECK (event_type <> ''),
  user_id       TEXT    CHECK (user_id <> ''),
  channel       TEXT    NOT NULL CHECK (channel = 'sms' OR channel = 'email' OR channel = 'push' OR channel = 'webhook'),
  provider      TEXT    NOT NULL CHECK (provider <> ''),   -- the one to try next, then the one that took it
  pinned        INTEGER NOT NULL CHECK (pinned = 0 OR pinned = 1), -- the caller named it: no other is tried
  lane          INTEGER NOT NULL CHECK (lane = 0 OR lane = 1),     -- 0 urgent, goes before 1 normal
  state         TEXT    NOT NULL,
  reason        TEXT,                                      -- why it is in this state, where the state alone does not tell
  maybe_sent    INTEGER NOT NULL DEFAULT 0 CHECK (maybe_sent = 0 OR maybe_sent = 1), -- an unknown outcome is not settled
  next_action   TEXT    CHECK (next_action = 'send' OR next_action = 'repeat' OR next_action = 'look_up'
                            OR next_action = 'policy' OR next_action = 'expire'),
  due_at        INTEGER,                                   -- when next_action is to be done
  send_at       INTEGER,                                   -- not before, as the caller asked
  expires_at    INTEGER,
  attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  deferrals     INTEGER NOT NULL DEFAULT 0 CHECK (deferrals >= 0), -- steps of the ladder that were used
  tried         TEXT    NOT NULL DEFAULT '',               -- providers tried since the last wait, with commas between
  message_id    TEXT    CHECK (message_id <> ''),
  delivery      TEXT    CHECK (delivery = 'queued' OR delivery = 'passed_on' OR delivery = 'delayed' OR delivery = 'undelivered'
                            OR delivery = 'delivered' OR delivery = 'bounced' OR delivery = 'complained'),
  resend_of     BLOB    REFERENCES notifications (id),     -- the row that this one was sent again for, on purpose
  resend_number INTEGER CHECK (resend_number >= 1),        -- the how-many-th resend of that row
  suspected_of  BLOB    CHECK (length(suspected_of) = 16), -- a row with the same content under another key; a hint only
  version       INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),   -- moves with states and settlements: the ETag
  duplicate_count   INTEGER NOT NULL DEFAULT 0,            -- repeats that sent nothing; written with a later commit
  last_duplicate_at INTEGER,
  occurred_at   INTEGER,
  claimed_at    INTEGER NOT NULL,
  confirmed_at  INTEGER,
  updated_at    INTEGER NOT NULL,
  CHECK ((next_action IS NULL) = (due_at IS NULL)),
  CHECK ((resend_of IS NULL) = (resend_number IS NULL)),
  CHECK ((confirmed_at IS NOT NULL) = (state = 'sent')),
  CHECK (CASE state -- what a row may look like
    WHEN 'claimed'   THEN next_action IS 'send'
    WHEN 'held'      THEN next_action IS NULL OR next_action = 'expire'
    WHEN 'sending'   THEN next_action IS NULL AND attempt_count > 0
    WHEN 'ambiguous' THEN next_action IS NOT 'send' AND maybe_sent = 1
    WHEN 'sent'      THEN next_action IS NULL AND maybe_sent = 0
    WHEN 'failed'    THEN next_action IS NULL
    WHEN 'cancelled' THEN next_action IS NULL
    WHEN 'expired'   THEN next_action IS NULL AND expires_at IS NOT NULL
    ELSE 0 END),
  CHECK (CASE state -- which words may stand beside it
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
-- The promise. The key stands first: nearly every comparison ends in it.
CREATE UNIQUE INDEX notifications_key     ON notifications (dedupe_key, source);
CREATE UNIQUE INDEX notifications_id      ON notifications (id); -- grows at its right edge
CREATE INDEX        notifications_event   ON notifications (event_id);
CREATE UNIQUE INDEX notifications_resends ON notifications (resend_of, resend_number) WHERE resend_of IS NOT NULL;
-- Small ones: only rows with something still to happen, or that did not end well. A query must spell the state as they do.
CREATE INDEX notifications_due     ON notifications (provider, lane, due_at) WHERE state = 'claimed';
CREATE INDEX notifications_expires ON notifications (expires_at) WHERE state = 'claimed'; -- rows that wait at a closed gate
CREATE INDEX notifications_waiting ON notifications (state, due_at) WHERE state = 'ambiguous' OR state = 'held';
CREATE INDEX notifications_ended   ON notifications (state) WHERE state = 'failed' OR state = 'cancelled' OR state = 'expired';

-- The picture of states, line by line. A row may keep its state; a sent row stays sent. Triggers that run for each notification stand
-- AFTER: they cost less, and an ABORT undoes the change all the same.
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
CREATE TRIGGER notifications_kept BEFORE DELETE ON notifications WHEN OLD.seq = (SELECT max(seq) FROM notifications) -- its number would be given again
    OR NOT EXISTS (SELECT 1 FROM erased e WHERE e.seq = OLD.seq AND e.dedupe_key = OLD.dedupe_key AND e.source = OLD.source)
  BEGIN SELECT RAISE(ABORT, 'a key is never freed'); END;

-- What is left of a row that was erased: its key, its outcome and its times. To write a row here is to erase it: a trigger deletes all
-- else that the ledger has of it. A table of its own, since a row that is cut short where it stands gives no page back, and since the
-- index that every claim writes to stays as small as the rows that are still whole; this one it only reads.
CREATE TABLE erased (
  seq           INTEGER PRIMARY KEY,                       -- as it was
  id            BLOB    NOT NULL CHECK (length(id) = 16),
  source        TEXT    NOT NULL,
  dedupe_key    ANY     NOT NULL,
  recipe        TEXT    NOT NULL CHECK (recipe <> ''),     -- a claim under another recipe counts a key only if this one made it
  channel       TEXT    NOT NULL,
  state         TEXT    NOT NULL CHECK (state = 'sent' OR state = 'failed' OR state = 'cancelled' OR state = 'expired'),
  reason        TEXT,
  maybe_sent    INTEGER NOT NULL CHECK (maybe_sent = 0 OR maybe_sent = 1 AND state <> 'sent'), -- it was never settled, and never will be
  delivery      TEXT,
  attempt_count INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  duplicate_count   INTEGER NOT NULL,                      -- repeats are still counted, not listed
  last_duplicate_at INTEGER,
  claimed_at    INTEGER NOT NULL,
  confirmed_at  INTEGER,
  updated_at    INTEGER NOT NULL,                          -- when it came to its outcome
  erased_at     INTEGER NOT NULL,
  CHECK ((confirmed_at IS NOT NULL) = (state = 'sent'))
) STRICT;
CREATE UNIQUE INDEX erased_key ON erased (dedupe_key, source); -- the promise goes on
CREATE UNIQUE INDEX erased_id  ON erased (id);
CREATE TRIGGER erased_once BEFORE INSERT ON notifications
    WHEN EXISTS (SELECT 1 FROM erased WHERE dedupe_key = NEW.dedupe_key AND source = NEW.source)
  BEGIN SELECT RAISE(IGNORE); END; -- as the claim's ON CONFLICT does for a row that is whole
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

-- What goes to the person. Written once, never changed, deleted with all else when the row is erased.
CREATE TABLE contents (
  notification  INTEGER PRIMARY KEY REFERENCES notifications (seq),
  recipient     TEXT NOT NULL CHECK (recipient <> ''),     -- as written: where the message goes
  recipient_key TEXT NOT NULL CHECK (recipient_key <> ''), -- in the form that entered the key
  message       TEXT NOT NULL,                             -- JSON, byte for byte
  metadata      TEXT,
  content_hash  BLOB NOT NULL CHECK (length(content_hash) = 16)
) STRICT;
CREATE INDEX contents_recipient ON contents (recipient_key);
CREATE INDEX contents_written   ON contents (recipient) WHERE recipient <> recipient_key;
CREATE TRIGGER contents_fixed BEFORE UPDATE ON contents
  BEGIN SELECT RAISE(ABORT, 'a message is never changed'); END;

-- One handing of a row to one provider: opened before the first byte leaves, closed with what is known, then never changed.
CREATE TABLE attempts (
  notification INTEGER NOT NULL REFERENCES notifications (seq),
  number       INTEGER NOT NULL CHECK (number >= 1),
  kind         TEXT    NOT NULL CHECK (kind = 'send' OR kind = 'repeat'),
  provider     TEXT    NOT NULL CHECK (provider <> ''),
  account      BLOB    NOT NULL CHECK (length(account) = 8),       -- fingerprint of base URL and account
  request_hash BLOB    NOT NULL CHECK (length(request_hash) = 16), -- of the body that leaves
  request      BLOB,                                               -- the body, kept until the row is sent where a key is honoured
  started_at   INTEGER NOT NULL,
  ended_at     INTEGER,
  outcome      TEXT,
  phase        TEXT    CHECK (phase = 'not_written' OR phase = 'written' OR phase = 'answered'),
  status       INTEGER,                                            -- HTTP or SMTP
  code         TEXT    CHECK (code <> ''),                         -- the provider's own
  message_id   TEXT    CHECK (message_id <> ''),
  error        TEXT    CHECK (error <> ''),
  answer       BLOB,                                               -- raw, bounded, erasable
  PRIMARY KEY (notification, number),
  CHECK (CASE WHEN outcome IS NULL THEN ended_at IS NULL AND phase IS NULL AND status IS NULL AND code IS NULL
                                        AND message_id IS NULL AND error IS NULL AND answer IS NULL
    WHEN outcome = 'accepted' OR outcome = 'ambiguous' THEN ended_at IS NOT NULL
    WHEN outcome = 'rejected' OR outcome = 'deferred'  THEN ended_at IS NOT NULL AND message_id IS NULL
    ELSE 0 END)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX attempts_open ON attempts (notification) WHERE outcome IS NULL; -- one at a time; read at start
CREATE INDEX attempts_message ON attempts (message_id, provider) WHERE message_id IS NOT NULL;
CREATE TRIGGER attempts_closed AFTER UPDATE OF notification, number, kind, provider, account, request_hash, started_at, ended_at,
    outcome, phase, status, code, message_id, error ON attempts WHEN OLD.outcome IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'a closed attempt is never changed'); END;
CREATE TRIGGER attempts_kept BEFORE DELETE ON attempts WHEN NOT EXISTS (SELECT 1 FROM erased WHERE seq = OLD.notification)
  BEGIN SELECT RAISE(ABORT, 'an attempt is never deleted'); END;

-- Message ids beside those of the attempts: of the further parts of a long text, and what a person brought. Receipts find rows by
-- both, and both tell whether an id belongs to another row already: see message_id_rows.
CREATE TABLE message_ids (
  message_id   TEXT    NOT NULL CHECK (message_id <> ''),
  provider     TEXT    NOT NULL CHECK (provider <> ''),
  notification INTEGER NOT NULL REFERENCES notifications (seq),
  number       INTEGER NOT NULL CHECK (number >= 0),       -- the attempt; 0: a person brought it to a row without one
  PRIMARY KEY (message_id, provider, notification, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_ids_of ON message_ids (notification, number);
CREATE VIEW message_id_rows AS
SELECT message_id, provider, notification, number FROM attempts WHERE message_id IS NOT NULL
UNION ALL SELECT message_id, provider, notification, number FROM message_ids;

-- Every change of a row that is no attempt: by whom, when, why.
CREATE TABLE settlements (
  id           INTEGER PRIMARY KEY,
  notification INTEGER NOT NULL REFERENCES notifications (seq),
  at           INTEGER NOT NULL,                           -- Unix milliseconds, as *_at
  action       TEXT    NOT NULL CHECK (action <> ''),
  from_state   TEXT    NOT NULL CHECK (from_state <> ''),
  to_state     TEXT    NOT NULL CHECK (to_state <> ''),
  actor        TEXT    NOT NULL CHECK (actor <> ''),       -- the API key's name, policy:NAME, provider:NAME or sendonce
  person       TEXT    CHECK (person <> ''),               -- who, as the caller says; these three are erasable
  reason       TEXT    CHECK (reason <> ''),
  evidence     TEXT                                        -- JSON: ids and hashes, no content
) STRICT;
CREATE INDEX settlements_of ON settlements (notification);
CREATE TRIGGER settlements_fixed BEFORE UPDATE OF id, notification, at, action, from_state, to_state, actor ON settlements
  BEGIN SELECT RAISE(ABORT, 'a settlement is never changed'); END;
CREATE TRIGGER settlements_kept BEFORE DELETE ON settlements WHEN NOT EXISTS (SELECT 1 FROM erased WHERE seq = OLD.notification)
  BEGIN SELECT RAISE(ABORT, 'a settlement is never deleted'); END;

-- Delivery reports and other proofs. One that came before its row was known waits with notification NULL, and not for ever.
CREATE TABLE receipts (
  id           INTEGER PRIMARY KEY,
  provider     TEXT    NOT NULL CHECK (provider <> ''),
  event_key    TEXT    NOT NULL CHECK (event_key <> ''),   -- the provider's id of the report, else fact_key
  fact_key     TEXT    NOT NULL CHECK (fact_key <> ''),    -- of message id, kind and provider's time
  notification INTEGER REFERENCES notifications (seq),
  number       INTEGER CHECK (number >= 0),                -- the attempt that it proves
  message_id   TEXT    CHECK (message_id <> ''),
  kind         TEXT    NOT NULL,                           -- the provider's word, late_answer or look_up
  delivery     TEXT    CHECK (delivery = 'queued' OR delivery = 'passed_on' OR delivery = 'delayed' OR delivery = 'undelivered'
                           OR delivery = 'delivered' OR delivery = 'bounced' OR delivery = 'complained'),
  code         TEXT    CHECK (code <> ''),
  provider_at  INTEGER,
  arrived_at   INTEGER NOT NULL,
  body         BLOB,
  CHECK ((notification IS NULL) = (number IS NULL))
) STRICT;
CREATE UNIQUE INDEX receipts_event     ON receipts (provider, event_key);
CREATE UNIQUE INDEX receipts_fact      ON receipts (provider, fact_key);
CREATE INDEX        receipts_of        ON receipts (notification, number) WHERE notification IS NOT NULL;
CREATE INDEX        receipts_unmatched ON receipts (message_id, provider) WHERE notification IS NULL;
CREATE INDEX        receipts_ageing    ON receipts (arrived_at) WHERE notification IS NULL; -- those that wait too long are deleted
CREATE TRIGGER receipts_fixed BEFORE UPDATE OF id, provider, event_key, fact_key, message_id, kind, delivery, code, provider_at, arrived_at
    ON receipts BEGIN SELECT RAISE(ABORT, 'a receipt is never changed'); END;
CREATE TRIGGER receipts_matched BEFORE UPDATE OF notification, number ON receipts WHEN OLD.notification IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'a matched receipt stays with its row'); END;
CREATE TRIGGER receipts_kept BEFORE DELETE ON receipts WHEN OLD.notification IS NOT NULL AND NOT EXISTS (SELECT 1 FROM erased WHERE seq = OLD.notification)
  BEGIN SELECT RAISE(ABORT, 'a receipt is never deleted'); END;

-- The last 20 suppressed repeats of a row. Written with some later commit; a crash may lose a few.
CREATE TABLE duplicates (
  id           INTEGER PRIMARY KEY,
  notification INTEGER NOT NULL REFERENCES notifications (seq),
  at           INTEGER NOT NULL,                           -- Unix milliseconds, as *_at
  caller       TEXT    NOT NULL,
  differs      TEXT                                        -- names of fields, with commas between
) STRICT;
CREATE INDEX duplicates_of ON duplicates (notification);

-- What people paused. It outlives a restart.
CREATE TABLE pauses (
  provider TEXT    PRIMARY KEY CHECK (provider <> ''),
  since    INTEGER NOT NULL,                               -- Unix milliseconds, as *_at
  actor    TEXT    NOT NULL,
  reason   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- For people.
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
