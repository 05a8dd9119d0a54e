-- From version 1 to 2: the first message id of an attempt is found by an index of the attempts, message_ids keeps the others; triggers that
-- run for each notification stand AFTER.
DROP TRIGGER notifications_moves;
DROP TRIGGER notifications_born;
DROP TRIGGER attempts_closed;
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
CREATE TRIGGER notifications_born AFTER INSERT ON notifications WHEN NEW.state <> 'claimed' OR NEW.attempt_count <> 0
  BEGIN SELECT RAISE(ABORT, 'a row begins as claimed'); END;
CREATE TRIGGER attempts_closed AFTER UPDATE OF notification, number, kind, provider, account, request_hash, started_at, ended_at,
    outcome, phase, status, code, message_id, error ON attempts WHEN OLD.outcome IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'a closed attempt is never changed'); END;
CREATE INDEX attempts_message ON attempts (message_id, provider) WHERE message_id IS NOT NULL;
CREATE VIEW message_id_rows AS
SELECT message_id, provider, notification, number FROM attempts WHERE message_id IS NOT NULL
UNION ALL SELECT message_id, provider, notification, number FROM message_ids;
DELETE FROM message_ids WHERE EXISTS (SELECT 1 FROM attempts a WHERE a.notification = message_ids.notification
 AND a.number = message_ids.number AND a.message_id = message_ids.message_id AND a.provider = message_ids.provider);
