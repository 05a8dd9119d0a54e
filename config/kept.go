//go:build !crashpoints

package config

import "time"

const leastKept = 24 * time.Hour
