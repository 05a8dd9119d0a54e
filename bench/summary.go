//go:build linux

package main

// summary is what a run says in the end: for each system and cell the medians over the rounds.
type summary struct {
	Machine  machine  `json:"machine"`
	Rounds   int      `json:"rounds"`
	Seconds  float64  `json:"seconds"`
	LeftOut  string   `json:"left_out,omitempty"`
	Idle     float64  `json:"idle_mib"`
	Peak     float64  `json:"peak_mib"` // the highest of all loads
	PeakCell string   `json:"peak_cell"`
	Others   float64  `json:"others"`  // the most that strangers had of the machine during a measurement
	Results  []result `json:"results"` // medians, in the order of the plan
	Targets  []target `json:"targets"`
	Runs     []result `json:"runs"` // all of them
}

// summarize joins the rounds.
func summarize(s summary, runs []result) summary {
	s.Runs = runs
	seen := map[[2]string]bool{}
	for _, r := range runs {
		if r.System == sendonce && r.Memory.Peak > s.Peak {
			s.Peak, s.PeakCell = r.Memory.Peak, r.Cell
		}
		s.Others = max(s.Others, r.Others)
		id := [2]string{r.System, r.Cell}
		if !seen[id] {
			seen[id] = true
			s.Results = append(s.Results, medians(runs, r.System, r.Cell))
		}
	}
	s.Targets = targets(s)
	return s
}

// medians takes each figure by itself; errors are summed, since one is one too many in any round.
func medians(runs []result, system, cell string) result {
	m := result{System: system, Cell: cell}
	var rounds []result
	for _, r := range runs {
		if r.System == system && r.Cell == cell {
			rounds = append(rounds, r)
			m.Errors += r.Errors
			m.Requests += r.Requests
			if m.Sample == "" {
				m.Sample = r.Sample
			}
		}
	}
	of := func(figure func(result) float64) float64 {
		var values []float64
		for _, r := range rounds {
			values = append(values, figure(r))
		}
		return median(values)
	}
	m.PerSecond = of(func(r result) float64 { return r.PerSecond })
	m.P50 = of(func(r result) float64 { return r.P50 })
	m.P99 = of(func(r result) float64 { return r.P99 })
	m.Notifications = of(func(r result) float64 { return r.Notifications })
	m.CPU = of(func(r result) float64 { return r.CPU })
	m.LoadCPU = of(func(r result) float64 { return r.LoadCPU })
	m.StubCPU = of(func(r result) float64 { return r.StubCPU })
	m.Others = of(func(r result) float64 { return r.Others })
	m.HeapKiB = of(func(r result) float64 { return r.HeapKiB })
	m.Memory.Now = of(func(r result) float64 { return r.Memory.Now })
	m.Memory.Peak = of(func(r result) float64 { return r.Memory.Peak })
	return m
}

// get returns the medians of one system in one cell; all zero when it was not measured.
func (s summary) get(system, cell string) result {
	for _, r := range s.Results {
		if r.System == system && r.Cell == cell {
			return r
		}
	}
	return result{}
}
