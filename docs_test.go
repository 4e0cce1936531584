package railyard_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"railyard/exec/cluster"
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

var (
	link     = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]+))?\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unslug   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	verbatim = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
)

// anchors are what links may name in a page: its headings as GitHub writes them.
func anchors(page []byte) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllSubmatch(page, -1) {
		out[strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(string(m[1])), ""), " ", "-")] = true
	}
	return out
}

// TestLinksResolve: links between pages lead to files, and to headings where they name one.
func TestLinksResolve(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", "*/*/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(verbatim.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[0])
			} else if m[2] != "" {
				if text, err := os.ReadFile(to); err != nil || !anchors(text)[m[2]] {
					t.Errorf("%s: %s has no heading %q", page, to, m[2])
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found", links)
	}
}

// TestDocumentedJob: the numbers of a Kubernetes job that must be the same are, and rank 0 is where its service says.
func TestDocumentedJob(t *testing.T) {
	var service struct {
		Metadata struct{ Name string }
	}
	var job struct {
		Metadata struct{ Name string }
		Spec     struct {
			Completions, Parallelism int
			CompletionMode           string `yaml:"completionMode"`
			Template                 struct {
				Spec struct {
					Subdomain  string
					Containers []struct {
						Args []string
						Env  []struct{ Name, Value string }
					}
				}
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(block(t, "docs/clusters.md", "yaml")))
	for _, into := range []any{&service, &job} {
		if err := decoder.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	pod := job.Spec.Template.Spec
	env := map[string]string{"JOB_COMPLETION_INDEX": "0"}
	for _, e := range pod.Containers[0].Env {
		env[e.Name] = e.Value
	}
	world, err := cluster.Detect(func(name string) string { return env[name] })
	nodes := slices.Index(pod.Containers[0].Args, "--nodes") + 1
	if err != nil || world.Launcher == "" || world.Size != job.Spec.Completions || job.Spec.Parallelism != world.Size ||
		job.Spec.CompletionMode != "Indexed" ||
		pod.Containers[0].Args[nodes] != strconv.Itoa(world.Size) {
		t.Errorf("%+v, %v for %d pods", world, err, job.Spec.Completions)
	}
	if want := job.Metadata.Name + "-0." + pod.Subdomain; !strings.HasPrefix(world.Root, want+":") ||
		service.Metadata.Name != pod.Subdomain {
		t.Errorf("rank 0 at %s, which is %s", world.Root, want)
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
