package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestScreenshots writes the pictures of docs/console.md; `make screenshots` runs it.
func TestScreenshots(t *testing.T) {
	if *shots == "" {
		t.Skip("only with -screenshots, since it tests nothing")
	}
	s := serve(t)
	windows := map[string]*tab{}
	for _, p := range s.places() {
		if slices.Contains([]string{"not-found", "mail", "reader", "refusal"}, p.name) {
			continue
		}
		if windows[p.key] == nil {
			windows[p.key] = s.open(p.key)
		}
		w := windows[p.key]
		for _, l := range []look{wide, dark, narrow} {
			w.looking(l)
			w.visit(p.path)
			w.wait(`document.readyState === "complete" && (!document.querySelector(".plot") || document.querySelector(".plot canvas"))`)
			w.steps(chromedp.Evaluate[chromedp.Void](`Promise.all([...document.querySelectorAll("iframe")].map(f => new Promise(r => { f.onload = r; f.loading = "eager"; f.src = f.src; })))`, chromedp.EvalAwaitPromise))
			w.steps(chromedp.Evaluate[chromedp.Void](`Promise.all(document.getAnimations().map(a => a.finished))`, chromedp.EvalAwaitPromise))
			height := min(ask[float64](w, `document.documentElement.scrollHeight`), 1100)
			if l == narrow {
				height = min(ask[float64](w, `document.documentElement.scrollHeight`), 1400)
			}
			beyond := true
			clip := &page.Viewport{Width: float64(l.width), Height: height, Scale: 1}
			res, err := cdp.Call(w.ctx, chromedp.FromContext(w.ctx).Target, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: clip, CaptureBeyondViewport: &beyond})
			w.do(err)
			w.do(os.WriteFile(filepath.Join(*shots, p.name+"-"+l.name+".png"), small(t, res.Data), 0o644))
		}
	}
}

// small writes a picture with its 256 most frequent colours: a third of the bytes, and nobody sees it.
func small(t *testing.T, b []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[color.RGBA]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			seen[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(seen), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(full.Bounds(), palette)
	draw.Draw(out, out.Rect, full, image.Point{}, draw.Src)
	var packed bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&packed, out); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
