\set a random(1, 10000)
INSERT INTO notification_claim (dedupe_key, event_id, channel)
VALUES (left(encode(sha256(convert_to('evt_' || :a, 'UTF8')), 'hex'), 40), 'evt_' || :a, 'sms')
ON CONFLICT (dedupe_key) DO NOTHING;
