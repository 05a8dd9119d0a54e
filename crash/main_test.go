package crash

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	cycles     = flag.Int("cycles", 20, "kills of the service in TestCrash")
	seed       = flag.Uint64("seed", 0, "of TestCrash's choices; 0 takes one from the clock")
	raceBinary = flag.Bool("racebinary", false, "build the service with the race detector")
)

// build makes the binary that all tests share, with the named points in it, and returns its path.
var build = sync.OnceValues(func() (string, error) {
	if err := os.MkdirAll(folder(), 0o700); err != nil {
		return "", err
	}
	bin := filepath.Join(folder(), "sendonce")
	args := []string{"build", "-tags", "crashpoints", "-o", bin}
	env := append(os.Environ(), "CGO_ENABLED=0")
	if *raceBinary {
		args, env = append(args, "-race"), append(os.Environ(), "CGO_ENABLED=1")
	}
	cmd := exec.Command("go", append(args, "sendonce")...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "6"); err != nil { // they wait for the service more than they work; -parallel has the last word
		panic(err)
	}
	flag.Parse()
	code := m.Run()
	_ = os.RemoveAll(folder())
	os.Exit(code)
}

// folder is where this process keeps the binary.
func folder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("sendonce-crash-%d", os.Getpid()))
}

// program is the path of the service's binary.
func program(t *testing.T) string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// packages are the Debian packages of tools that are not named like them.
var packages = map[string]string{"mkfs.ext4": "e2fsprogs", "umount": "mount"}

// needs skips a test that cannot run without a tool.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			name := tool
			if p, ok := packages[tool]; ok {
				name = p
			}
			t.Skipf("NOT TESTED: %s is missing; install it with: apt-get install %s", tool, name)
		}
	}
}
