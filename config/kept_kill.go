//go:build crashpoints

package config

import "time"

const leastKept = 10 * time.Millisecond // a crash test has no day to wait for rows to erase
