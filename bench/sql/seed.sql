-- The worker's table, with the rows that repeat.sql claims again.
DROP TABLE IF EXISTS notification_claim;
CREATE TABLE notification_claim (
  dedupe_key   text PRIMARY KEY,
  event_id     text NOT NULL,
  channel      text NOT NULL,
  state        text NOT NULL DEFAULT 'claimed',
  message_id   text,
  claimed_at   timestamptz NOT NULL DEFAULT now(),
  confirmed_at timestamptz,
  attempts     int NOT NULL DEFAULT 0
);
CREATE INDEX notification_claim_stuck ON notification_claim (claimed_at) WHERE state = 'claimed';
INSERT INTO notification_claim (dedupe_key, event_id, channel, state)
SELECT left(encode(sha256(convert_to('evt_' || i, 'UTF8')), 'hex'), 40), 'evt_' || i, 'sms', 'sent' FROM generate_series(1, 10000) i;
CHECKPOINT;
