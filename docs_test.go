package railyard_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/topologies"
)

var fence = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// block is the first fenced block of a language in a document.
func block(t *testing.T, file, language string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllStringSubmatch(string(data), -1) {
		if m[1] == language {
			return m[2]
		}
	}
	t.Fatalf("%s has no %s block", file, language)
	return ""
}

// TestReadmeIsShort: a newcomer reads all of its tables.
func TestReadmeIsShort(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(readme)) {
		if rows++; !strings.HasPrefix(line, "|") {
			rows = 0
		}
		if rows > 22 { // with the header and what stands below it
			t.Fatal("a table of README.md has more than 20 rows: move some to a page of docs")
		}
	}
}

func TestDocumentedTopologyLoads(t *testing.T) {
	topo, err := topology.Parse("docs/topology-format.md", []byte(block(t, "docs/topology-format.md", "yaml")), topologies.Source,
		topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if topo.NumRanks() != 8 || topo.NumNodes() != 4 {
		t.Errorf("%d ranks on %d nodes", topo.NumRanks(), topo.NumNodes())
	}
}

func TestDocumentedScheduleIsRight(t *testing.T) {
	s, err := schedule.Decode(strings.NewReader(block(t, "docs/schedule-format.md", "json")))
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(s, nil); err != nil {
		t.Error(err)
	}
}

// TestTopologySchema holds the JSON Schema for editors against every shipped file, and
// against a wrong one.
func TestTopologySchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	schema, err := c.Compile("docs/topology.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(data []byte) error {
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			return err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			return err
		}
		return schema.Validate(doc)
	}
	files, err := filepath.Glob("topologies/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// Dates are dates to YAML and strings to us.
		if err := validate(regexp.MustCompile(`date: ([0-9-]+)`).ReplaceAll(data, []byte(`date: "$1"`))); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	bad, err := os.ReadFile("topologies/invalid/keys.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if validate(bad) == nil {
		t.Error("the schema accepts topologies/invalid/keys.yaml")
	}
}
