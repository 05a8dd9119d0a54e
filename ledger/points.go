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

// The points in what the store does by itself.
const (
	PointFolding   Point = "folding"   // before each page that goes from the log to the database
	PointMigrating Point = "migrating" // behind each step, and once more before the commit
)
