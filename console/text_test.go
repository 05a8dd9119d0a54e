package console

import (
	"fmt"
	"strings"
	"testing"
)

// Words of ours show code as code, and numbers with the thing that they count.
func TestText_OurWords(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "[{plain false}]", "the `to` of it": "[{the  false} {to true} { of it false}]", "`a``b`": "[{a true} {b true}]", "one ` alone": "[{one ` alone false}]", "": "[]",
	} {
		if got := fmt.Sprint(marked(in)); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
	for n, want := range map[any]string{0: "0 rows", 1: "1 row", int64(1): "1 row", 2: "2 rows", 1000: "1\u202f000 rows"} {
		if got := many(n, "row"); got != want {
			t.Errorf("%v is %q", n, got)
		}
	}
	if got := brief(strings.Repeat("ä", foldAt+1)); got != strings.Repeat("ä", foldAt)+"…" || brief("x\u202e") != "x‹U+202E›" {
		t.Errorf("the begin is %q", got)
	}
}
