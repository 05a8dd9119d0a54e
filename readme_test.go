package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

// The README's picture of states is the table of transitions, no line more and none less.
func TestReadme_StatePictureIsTheTable(t *testing.T) {
	want := []string{"[*] claimed claim"}
	for _, tr := range ledger.Transitions {
		by := string(tr.By)
		if tr.Unsettled {
			by += " (maybe_sent)"
		}
		want = append(want, string(tr.From)+" "+string(tr.To)+" "+by)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^  (\S+) --> (\S+): (.+)$`).FindAllStringSubmatch(read(t, "README.md"), -1) {
		got = append(got, m[1]+" "+m[2]+" "+m[3])
	}
	slices.Sort(want)
	slices.Sort(got)
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("the picture has a line that the table lacks: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("the picture lacks: %s", line)
		}
	}
}

// Each reason has its paragraph, under the heading of each state that it may stand beside.
func TestReasons_EachHasAParagraph(t *testing.T) {
	page := read(t, "docs/reasons.md")
	for state, reasons := range ledger.Reasons {
		_, section, found := strings.Cut(page, "\n## "+string(state)+"\n")
		if !found {
			t.Errorf("docs/reasons.md has no heading %s", state)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, r := range reasons {
			if !strings.Contains(section, "**"+string(r)+"**") {
				t.Errorf("docs/reasons.md does not explain %s under %s", r, state)
			}
		}
	}
}

// Each module that go.mod requires directly stands in docs/dependencies.md.
func TestDependencies_EachHasItsReason(t *testing.T) {
	page := read(t, "docs/dependencies.md")
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(read(t, "go.mod"), -1)
	if len(direct) < 5 {
		t.Fatalf("only %d direct requirements found in go.mod", len(direct))
	}
	for _, m := range direct {
		if name := strings.TrimSuffix(m[1], "/v2"); !strings.Contains(page, m[1]) && !strings.Contains(page, name) && !strings.Contains(m[1], "/koanf/") {
			t.Errorf("docs/dependencies.md gives no reason for %s", m[1])
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z0-9.-]+\.[a-z]+/[^ ,]+)`).FindAllStringSubmatch(page, -1) {
		if !slices.ContainsFunc(direct, func(m []string) bool { return under(row[1], m[1]) }) {
			t.Errorf("docs/dependencies.md has a reason for %s, which go.mod does not require", row[1])
		}
	}
}

// A link of a page leads to a file that is there, and to a heading that it has.
func TestReadme_LinksOfAllPagesLead(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	seen := 0
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md") {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			path, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			seen++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			} else if heading != "" && !slices.Contains(headings(read(t, target)), heading) {
				t.Errorf("%s: %s has no heading for the link %s", page, target, m[1])
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d links were looked at", seen)
	}
}

// headings are a page's, as links name them.
func headings(page string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(name, " ", "-"))
	}
	return list
}

// No page of the documents is left out of the README's list.
func TestReadme_NamesEachPage(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages found: %v", len(pages), err)
	}
	for _, page := range pages {
		if !strings.Contains(read(t, "README.md"), "]("+page+")") {
			t.Errorf("the README does not lead to %s", page)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
