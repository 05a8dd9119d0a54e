//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// userHZ is the unit of CPU times in /proc/PID/stat. Linux fixes it at 100 for programs, whatever the kernel's own tick is.
const userHZ = 100

// stat is what one line of /proc/PID/stat tells us.
type stat struct {
	pid, parent int
	cpu         float64 // seconds, user and system, of the process and of the children that it has waited for
}

// parseStat reads a line of /proc/PID/stat (proc(5)). The second field is a name in brackets that may itself hold
// blanks and brackets, so the fields are counted from the last closing one.
func parseStat(line string) (stat, error) {
	open, last := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || last < open {
		return stat{}, fmt.Errorf("stat line %.40q has no name", line)
	}
	f := strings.Fields(line[last+1:]) // f[0] is field 3, state
	if len(f) < 15 {
		return stat{}, fmt.Errorf("stat line %.40q is too short", line)
	}
	var s stat
	var err error
	if s.pid, err = strconv.Atoi(strings.TrimSpace(line[:open])); err != nil {
		return stat{}, fmt.Errorf("stat line: %w", err)
	}
	if s.parent, err = strconv.Atoi(f[1]); err != nil {
		return stat{}, fmt.Errorf("stat line: %w", err)
	}
	for _, field := range f[11:15] { // utime, stime, cutime, cstime
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("stat line: %w", err)
		}
		s.cpu += float64(ticks) / userHZ
	}
	return s, nil
}

// treeCPU returns the CPU seconds that pid and everything below it have used so far. Processes that end while
// it reads are left out; their parent counts them once it has waited for them.
func treeCPU(pids ...int) float64 {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	all := map[int]stat{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if s, err := parseStat(string(b)); err == nil {
			all[s.pid] = s
		}
	}
	return sumTree(all, pids)
}

func sumTree(all map[int]stat, roots []int) (cpu float64) {
	for _, s := range all {
		for p, ok := s, true; ok; p, ok = all[p.parent] {
			if slices.Contains(roots, p.pid) {
				cpu += s.cpu
				break
			}
		}
	}
	return cpu
}

// memory is resident memory in MiB (2^20 bytes).
type memory struct {
	Now  float64 `json:"rss_mib"`
	Peak float64 `json:"peak_mib"` // since the process started
}

// readMemory reads /proc/PID/status.
func readMemory(pid int) (memory, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, err
	}
	return parseStatus(b)
}

func parseStatus(b []byte) (m memory, err error) {
	if m.Now, err = statusKiB(b, "VmRSS:"); err != nil {
		return memory{}, err
	}
	m.Peak, err = statusKiB(b, "VmHWM:")
	return m, err
}

func statusKiB(b []byte, name string) (mib float64, err error) {
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		if len(f) == 3 && f[0] == name && f[2] == "kB" {
			n, err := strconv.ParseFloat(f[1], 64)
			return n / 1024, err
		}
	}
	return 0, fmt.Errorf("status has no %s", name)
}

// machineCPU returns the CPU seconds that all processes of the machine have used, and those that its host gave to
// other machines ("steal").
func machineCPU() float64 {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return parseMachine(string(b))
}

// parseMachine reads the first line of /proc/stat (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal.
// Idle and iowait are nobody's use; guest times, which follow, are part of user already.
func parseMachine(text string) (cpu float64) {
	line, _, _ := strings.Cut(text, "\n")
	for i, field := range strings.Fields(line) {
		ticks, err := strconv.ParseFloat(field, 64)
		if err == nil && i >= 1 && i <= 8 && i != 4 && i != 5 {
			cpu += ticks / userHZ
		}
	}
	return cpu
}
