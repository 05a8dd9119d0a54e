-- The rows that repeat.sql claims again.
INSERT INTO notification_claim (dedupe_key, event_id, channel, state)
SELECT left(encode(sha256(convert_to('evt_' || i, 'UTF8')), 'hex'), 40), 'evt_' || i, 'sms', 'sent' FROM generate_series(1, 10000) i;
CHECKPOINT;
