\set a random(1, 2147483647)
\set b random(1, 2147483647)
INSERT INTO notification_claim (dedupe_key, event_id, channel)
VALUES (left(encode(sha256(convert_to('evt_' || :a || '_' || :b, 'UTF8')), 'hex'), 40), 'evt_' || :a || '_' || :b, 'sms')
ON CONFLICT (dedupe_key) DO NOTHING;
UPDATE notification_claim SET state = 'sent', message_id = 'msg_' || :a, confirmed_at = now(), attempts = attempts + 1
WHERE dedupe_key = left(encode(sha256(convert_to('evt_' || :a || '_' || :b, 'UTF8')), 'hex'), 40);
