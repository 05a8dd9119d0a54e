package browser

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience bounds every single wait: what takes longer is broken.
const patience = 20 * time.Second

var shots = flag.String("screenshots", "", "folder that TestScreenshots writes to; it is not run without")

// scratch is the folder of this process: the binary and the browser's profile.
var scratch string

// program is the real binary, built once.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "sendonce")
	cmd := exec.Command("go", "build", "-o", path, "sendonce")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

var errNoChromium = errors.New("no Chromium")

// chromium is the browser that all tests share; each has windows of its own in it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errNoChromium
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(filepath.Join(scratch, "profile")),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(patience),
	)
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx) // both end in TestMain
	return ctx, chromedp.Do(ctx)
})

// started says that there is a browser to end.
var started atomic.Bool

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if scratch, err = os.MkdirTemp("", "sendonce-browser-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if started.Load() {
		ctx, err := chromium()
		if err == nil {
			_ = chromedp.Cancel(ctx)
		}
	}
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// browser is the browser, or the end of the test: where CI runs it must be there.
func browser(t *testing.T) context.Context {
	t.Helper()
	ctx, err := chromium()
	if errors.Is(err, errNoChromium) && os.Getenv("CI") == "" {
		t.Skip("NOT TESTED: chromium is missing; install it with: apt-get install chromium")
	}
	if err != nil {
		t.Fatal(err)
	}
	started.Store(true)
	return ctx
}
