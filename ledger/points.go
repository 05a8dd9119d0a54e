package ledger

// Point names a place between two steps at which a process may die. Only a build with the tag crashpoints stops there.
type Point string

// The points, in the order in which a notification reaches them.
const (
	PointClaimCommitted Point = "claim_committed"
	PointAttemptOpened  Point = "attempt_opened"
	PointRequestWritten Point = "request_written"
	PointAnswerRead     Point = "answer_read" // and not committed
	PointClosed         Point = "closed"
	PointErasing        Point = "erasing" // moved to the erased ones, and not committed
	PointErased         Point = "erased"
)

// PointFolding lies before each page that goes from the log to the database.
const PointFolding Point = "folding"
