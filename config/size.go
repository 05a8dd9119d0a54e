package config

import (
	"errors"
	"strconv"
	"strings"
)

// Size is a number of bytes, written with a unit: 64MiB.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// UnmarshalText reads a whole number with a unit.
func (s *Size) UnmarshalText(text []byte) error {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(string(text), unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			break
		}
		*s = Size(int64(n) * unit.bytes)
		return nil
	}
	return errors.New("must be a whole number with a unit, B, KiB, MiB or GiB, such as 64MiB")
}

// String writes the size in the largest unit that leaves it whole.
func (s Size) String() string {
	for _, unit := range sizeUnits {
		if int64(s)%unit.bytes == 0 && s != 0 {
			return strconv.FormatInt(int64(s)/unit.bytes, 10) + unit.name
		}
	}
	return "0B"
}
