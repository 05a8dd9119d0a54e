package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a window with cookies of its own, on the console of a service.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu       sync.Mutex
	faults   []string
	expected []string     // parts of faults that are none
	bytes    atomic.Int64 // that were transferred for what has come to its end
}

// look is how somebody looks at pages.
type look struct {
	name  string
	width int64
	dark  bool
}

var (
	wide       = look{"wide", 1280, false}
	narrow     = look{"narrow", 360, false}
	dark       = look{"dark", 1280, true}
	narrowDark = look{"narrow-dark", 360, true}
	looks      = []look{wide, dark, narrow, narrowDark}
)

// open opens a window and logs in with the key of a name; "" logs in nobody.
func (s *service) open(key string) *tab {
	s.t.Helper()
	ctx, cancel := chromedp.NewContext(browser(s.t), chromedp.WithNewBrowserContext())
	w := &tab{t: s.t, ctx: ctx, base: s.base}
	s.t.Cleanup(func() {
		w.quiet()
		cancel()
	})
	w.do(chromedp.Do(ctx))
	w.do(chromedp.Listen(ctx, w.notice))
	w.do(chromedp.Do(ctx, command(log.Enable, cdp.Empty{}), command(network.Enable, network.EnableParams{}),
		command(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"}),
		command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})))
	w.looking(wide)
	if key != "" {
		w.login(key)
	}
	return w
}

// command is a step of one call of the protocol.
func command[P, R any](c cdp.Command[P, R], p P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, p)
		return err
	})
}

// notice keeps what should not happen.
func (w *tab) notice(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		w.faults = append(w.faults, fmt.Sprintf("the page wrote to the console: %s %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		w.faults = append(w.faults, fmt.Sprintf("an exception: %v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelVerbose { // advice, such as a user name beside a password
			w.faults = append(w.faults, fmt.Sprintf("the browser wrote to the console: %s %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *page.EventJavascriptDialogOpening:
		w.faults = append(w.faults, "a dialog: "+e.Message)
	case *network.EventLoadingFinished:
		w.bytes.Add(int64(e.EncodedDataLength))
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, w.base+"/console") && !strings.HasPrefix(e.Request.URL, "data:") {
			w.faults = append(w.faults, "a request to "+e.Request.URL)
		}
	}
}

// expect names what may stand in the browser's console: "403" where a refusal is wanted.
func (w *tab) expect(part string) { w.expected = append(w.expected, part) }

// quiet fails when something happened that should not.
func (w *tab) quiet() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		if !slices.ContainsFunc(w.expected, func(part string) bool { return strings.Contains(f, part) }) {
			w.t.Error(f)
		}
	}
	w.faults = nil
}

// do fails the test on an error.
func (w *tab) do(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// steps takes steps, each with its element there and visible.
func (w *tab) steps(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	for i, step := range steps {
		if err := chromedp.Do(ctx, step); err != nil {
			w.t.Fatalf("step %d: %v; the page is %s", i+1, err, w.text("body"))
		}
	}
}

func (w *tab) looking(l look) {
	w.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	w.steps(command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: 900, DeviceScaleFactor: 1}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

// visit loads a page of the console.
func (w *tab) visit(path string) {
	w.t.Helper()
	w.steps(chromedp.Navigate(w.base + "/console" + path))
}

func (w *tab) login(key string) {
	w.t.Helper()
	w.visit("/login")
	w.fill("#key", "key-"+key)
	w.click("main button")
	w.wait(`document.querySelector(".who form")`)
}

// click clicks on the first visible element of a CSS selector.
func (w *tab) click(selector string) {
	w.t.Helper()
	w.steps(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// fill types into an empty field.
func (w *tab) fill(selector, text string) {
	w.t.Helper()
	w.steps(chromedp.SendKeys(chromedp.CSS(selector), text, chromedp.NodeVisible))
}

// press presses keys, one after the other.
func (w *tab) press(keys string) {
	w.t.Helper()
	w.steps(chromedp.KeyEvent(keys))
}

// ask evaluates an expression in the page.
func ask[T any](w *tab, expression string) T {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatalf("%v: %.200s", err, expression)
	}
	return out
}

// wait waits until an expression is true in whatever page is there by then.
func (w *tab) wait(expression string) {
	w.t.Helper()
	until(w.t, expression, func() bool {
		yes, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](`document.readyState !== "loading" && Boolean(`+expression+`)`))
		return err == nil && yes // while a page goes there is none to ask
	}, func() string { return w.text("main") })
}

// text is what can be seen of an element.
func (w *tab) text(selector string) string {
	w.t.Helper()
	return ask[string](w, `document.querySelector(`+quote(selector)+`)?.innerText ?? "(nothing there)"`)
}

// has waits until a text can be seen in an element.
func (w *tab) has(selector, text string) {
	w.t.Helper()
	w.wait(`document.querySelector(` + quote(selector) + `)?.innerText.includes(` + quote(text) + `)`)
}

// count is how many elements there are.
func (w *tab) count(selector string) int {
	w.t.Helper()
	return ask[int](w, `document.querySelectorAll(`+quote(selector)+`).length`)
}

// quote is a text as JavaScript has it.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// bare switches JavaScript off for the pages that are loaded from now on.
func (w *tab) bare() {
	w.t.Helper()
	w.steps(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
}
