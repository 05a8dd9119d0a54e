-- From version 2 to 3: how many receipts there are and how many wait for their row; a row's receipts are found by attempt.
ALTER TABLE counts ADD COLUMN receipts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counts ADD COLUMN unmatched INTEGER NOT NULL DEFAULT 0;
UPDATE counts SET receipts = (SELECT count(*) FROM receipts), unmatched = (SELECT count(*) FROM receipts WHERE notification IS NULL);
DROP INDEX receipts_of;
CREATE INDEX receipts_of ON receipts (notification, number) WHERE notification IS NOT NULL;
-- A row may begin with its first attempt open: claimed and taken in one commit.
DROP TRIGGER notifications_born;
CREATE TRIGGER notifications_born AFTER INSERT ON notifications
    WHEN NOT (NEW.state = 'claimed' AND NEW.attempt_count = 0 OR NEW.state = 'sending' AND NEW.attempt_count = 1 AND NEW.version = 2)
  BEGIN SELECT RAISE(ABORT, 'a row begins as claimed, or claimed and taken at once'); END;
