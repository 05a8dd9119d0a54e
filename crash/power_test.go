package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sendonce/fake"
)

const (
	powerCuts = 8
	ext4Stop  = 0x8004587d // EXT4_IOC_SHUTDOWN of the kernel's fs/ext4/ext4.h
	noFlush   = 2          // what was not synced is lost, the file system's own journal included
)

// disk is an ext4 file system of its own whose power can be cut. It needs root.
type disk struct {
	t          *testing.T
	image, dir string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	needs(t, "mkfs.ext4", "mount", "umount")
	d := &disk{t: t, image: filepath.Join(t.TempDir(), "disk"), dir: t.TempDir()}
	f, err := os.Create(d.image)
	if err == nil {
		err = f.Truncate(128 << 20)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if out, err := exec.Command("mkfs.ext4", "-q", d.image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.dir).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: a disk image can't be mounted; run the tests as root on Linux with loop devices: %v %s", err, out)
	}
	t.Cleanup(func() { d.command("umount", d.dir) })
	return d
}

func (d *disk) command(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Errorf("%s: %v %s", name, err, out)
	}
}

// cut stops the file system at once: every later write fails, and what was never synced is gone.
func (d *disk) cut() {
	f, err := os.Open(d.dir)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), ext4Stop, noFlush)
		_ = f.Close()
	}
	if err != nil {
		d.t.Errorf("the power can't be cut: %v", err)
	}
}

// freeze stops all threads of the service and waits until none is inside a system call. ext4 may call a sync that runs
// during its shutdown a success, which no disk does whose power goes.
func (s *service) freeze() {
	_ = s.cmd.Process.Signal(syscall.SIGSTOP)
	eventually(s.t, "every thread of the service is stopped", func() bool {
		states, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.cmd.Process.Pid))
		if err != nil {
			return false
		}
		for _, file := range states {
			b, err := os.ReadFile(file)
			_, rest, found := strings.Cut(string(b), ") ")
			if err == nil && found && !strings.HasPrefix(rest, "T") {
				return false
			}
		}
		return len(states) > 0
	})
}

// restore mounts the disk as it is after a cut. Nobody may have a file open on it.
func (d *disk) restore() {
	d.t.Helper()
	d.command("umount", d.dir)
	d.command("mount", "-o", "loop", d.image, d.dir)
}

// Keeps out a ledger that survives kill -9 and not a power cut: an acknowledgement or a call to the provider on what is
// in the kernel's memory only. A kill alone can't show that, since the kernel lives on.
func TestPower_Cut(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	r := &run{t: t, began: time.Now(), rows: map[string]bool{}, tally: newTally()}
	r.place = newPlace(t, fake.Options{WellBehaved: true, Delay: 8 * time.Millisecond, Slow: 150 * time.Millisecond},
		setting{"DATABASE", filepath.Join(d.dir, "sendonce.db")})
	for n := range powerCuts {
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		first := len(r.events)
		s := r.place.start()
		timer := time.AfterFunc(longest/5+time.Duration(rng.Int64N(int64(longest))), func() {
			s.freeze()
			d.cut()
			s.kill()
		})
		r.load(s, rng, 1<<20)
		timer.Stop()
		s.killed()
		at := time.Now()
		d.restore()
		r.place.check()
		s = r.place.start()
		r.acknowledge(s, r.events[first:])
		s.idle()
		r.judgeAmbiguous(s, at)
		s.stop(patience)
	}
	r.verdict()
	t.Log("\n" + r.tally.String())
}
