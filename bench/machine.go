//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// machine is what the figures depend on.
type machine struct {
	Date     string  `json:"date"`
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	Memory   float64 `json:"memory_gib"`
	Kernel   string  `json:"kernel"`
	Go       string  `json:"go"`
	Postgres string  `json:"postgres,omitempty"`
	Node     string  `json:"node,omitempty"`
	Redis    string  `json:"redis,omitempty"`
	Tmpfs    bool    `json:"tmpfs,omitempty"` // the ledgers are in memory: a commit costs nothing
}

// describe looks at the machine; dir is where the ledgers are.
func describe(dir string) machine {
	m := machine{Date: time.Now().Format(time.DateOnly), CPU: cpuModel(), Cores: runtime.NumCPU(), Go: runtime.Version()}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(b))
	}
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		m.Memory = float64(info.Totalram) * float64(info.Unit) / (1 << 30)
	}
	var fs syscall.Statfs_t
	const tmpfsMagic = 0x01021994 // statfs(2)
	m.Tmpfs = syscall.Statfs(dir, &fs) == nil && fs.Type == tmpfsMagic
	return m
}

// versions adds what the peers run on.
func (m *machine) versions(postgres, redis string) {
	m.Postgres, m.Node = firstLine(postgres, "--version"), firstLine("node", "--version")
	if text := strings.Fields(firstLine(redis, "--version")); len(text) > 2 {
		m.Redis = strings.TrimPrefix(text[2], "v=")
	}
}

func firstLine(name string, arg ...string) string {
	out, err := exec.Command(name, arg...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// String is one line for people.
func (m machine) String() string {
	s := fmt.Sprintf("%s · %s, %d cores, %.0f GiB · Linux %s · %s", m.Date, m.CPU, m.Cores, m.Memory, m.Kernel, m.Go)
	if m.Postgres != "" {
		s += " · " + m.Postgres
	}
	if m.Node != "" {
		s += " · Node " + m.Node
	}
	if m.Redis != "" {
		s += " · Redis " + m.Redis
	}
	if m.Tmpfs {
		s += " · ON TMPFS: a commit costs nothing here, the figures say little; set TMPDIR to a disk"
	}
	return s
}
