package report

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
)

// WriteBrief writes the document of a run in one line, without the tasks that did well and the dishes that have no
// others. A task with findings has no excerpt of its output, which would repeat them.
func WriteBrief(w io.Writer, doc *Run) error {
	brief := *doc
	brief.CriticalPath, brief.Bentos = []string{}, []bentoOf[runDish]{}
	for _, b := range doc.Bentos {
		var dishes []runDish
		for _, d := range b.Dishes {
			if d.Tasks = needReaders(d.Tasks); len(d.Tasks) > 0 || d.Install != nil && d.Install.Error != "" {
				dishes = append(dishes, d)
			}
		}
		if b.Dishes = dishes; len(dishes) > 0 {
			brief.Bentos = append(brief.Bentos, b)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(brief); err != nil {
		return err
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// needReaders returns the tasks that failed, were skipped, are flaky or have findings.
func needReaders(tasks []runTask) []runTask {
	list := []runTask{}
	for _, t := range tasks {
		well := t.Outcome.Kind == "cache_hit" || t.Outcome.Kind == "built"
		if well && !t.Flaky && len(t.Diagnostics) == 0 {
			continue
		}
		if len(t.Diagnostics) > 0 {
			t.Output, t.Outcome.Stderr = "", ""
			t.Diagnostics = distinct(t.Diagnostics)
		}
		list = append(list, t)
	}
	return slices.Clip(list)
}
