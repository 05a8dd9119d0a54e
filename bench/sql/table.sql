-- The table of all notification workers on PostgreSQL here: one row of eight columns a notification. Every start begins with
-- an empty one: runs do not feel what earlier ones left.
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
