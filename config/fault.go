package config

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Fault is one thing that is wrong with the configuration. It never holds a value: a misplaced secret would
// travel with it into logs.
type Fault struct {
	Source string `json:"source"` // "sendonce.yaml:12", "SENDONCE_LISTEN", "--listen" or "default"
	Key    string `json:"key"`    // "channels.sms.timeout", "auth.keys[0].sha256"; empty: the source as a whole
	Detail string `json:"detail"` // what is right
}

// String is the fault as one line.
func (f Fault) String() string {
	if f.Key == "" {
		return f.Source + ": " + f.Detail
	}
	return f.Source + ": " + f.Key + ": " + f.Detail
}

// Error is every fault that was found.
type Error struct{ Faults []Fault }

// Error has one line for each fault.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// faults collects, so that a person mends a file once and not line by line.
type faults struct{ list []Fault }

// add notes a fault. No argument may be a value of a setting, only names and bounds.
func (f *faults) add(source, key, format string, args ...any) {
	f.list = append(f.list, Fault{Source: source, Key: printable(key), Detail: fmt.Sprintf(format, args...)})
}

// covers reports whether a fault stands at the key, above it or below it, or at the file that was to hold it: what follows from it
// is no news.
func (f *faults) covers(key string) bool {
	for _, k := range f.list {
		if k.Key != "" && (k.Key == key || k.Key == key+fileSuffix || within(k.Key, key) || within(key, k.Key)) {
			return true
		}
	}
	return false
}

// within reports whether key lies below section.
func within(key, section string) bool {
	rest, ok := strings.CutPrefix(key, section)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// err returns nil or an *Error in a fixed order.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	sort.SliceStable(f.list, func(i, j int) bool {
		a, b := f.list[i], f.list[j]
		if a.Source != b.Source {
			return lineOrder(a.Source, b.Source)
		}
		return a.Key < b.Key
	})
	return &Error{Faults: f.list}
}

// lineOrder sorts "file:9" before "file:10".
func lineOrder(a, b string) bool {
	fileA, lineA := splitLine(a)
	fileB, lineB := splitLine(b)
	if fileA != fileB {
		return fileA < fileB
	}
	return lineA < lineB
}

// splitLine parts "file:12"; a source without a line has 0.
func splitLine(source string) (string, int) {
	i := strings.LastIndexByte(source, ':')
	if i < 0 {
		return source, 0
	}
	n, err := strconv.Atoi(source[i+1:])
	if err != nil {
		return source, 0
	}
	return source[:i], n
}

// printable quotes what could not stand in one line of a terminal.
func printable(key string) string {
	for _, r := range key {
		if !strconv.IsPrint(r) {
			return strconv.Quote(key)
		}
	}
	return key
}

// suggest adds the known word that is nearest, where one is near enough to be meant.
func suggest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// distance counts the letters to insert, delete or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
