package ipynb

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Notebook is what matters here of the nbformat 4 schema.
type Notebook struct {
	Cells    []Cell `json:"cells"`
	Format   int    `json:"nbformat"`
	Minor    int    `json:"nbformat_minor"`
	Metadata struct {
		Kernel struct {
			Name string `json:"name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

// Cell is a cell with what it has put out, if it has run.
type Cell struct {
	ID       string   `json:"id"`
	Kind     string   `json:"cell_type"` // code or markdown
	Source   Text     `json:"source"`
	Executed *int     `json:"execution_count"`
	Outputs  []Output `json:"outputs"`
}

// Output is a stream of text, a display or an error.
type Output struct {
	Kind string `json:"output_type"` // stream, display_data, execute_result, error
	Name string `json:"name"`        // of a stream: stdout, stderr
	Text Text   `json:"text"`        // of a stream
	// Of an error: its name, and what it says.
	Error   string `json:"ename"`
	Message string `json:"evalue"`
}

// Text is a string that the schema also allows as a list of lines.
type Text string

// UnmarshalJSON reads either form.
func (t *Text) UnmarshalJSON(data []byte) error {
	var lines []string
	if err := json.Unmarshal(data, &lines); err == nil {
		*t = Text(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// Read reads a notebook.
func Read(file string) (*Notebook, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	n, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: not a notebook: %w", file, err)
	}
	return n, nil
}

// Parse reads a notebook from its text.
func Parse(data []byte) (*Notebook, error) {
	var n Notebook
	if err := json.Unmarshal(data, &n); err != nil {
		return nil, err
	}
	if n.Format != 4 || len(n.Cells) == 0 {
		return nil, fmt.Errorf("nbformat %d with %d cells: want 4, and some", n.Format, len(n.Cells))
	}
	return &n, nil
}
