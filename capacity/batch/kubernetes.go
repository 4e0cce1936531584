package batch

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"text/template"
	"time"

	"railyard/model/units"
)

// Kubernetes runs shards as the indexes of a Job. The work's directory lies on a volume.
type Kubernetes struct {
	Image     string // has railyard and a shell
	Claim     string // a PersistentVolumeClaim
	Mount     string // where its volume is mounted, here and in pods
	Namespace string // "": kubectl's own
	CPU       string // of a pod, as Kubernetes writes it; "": as the namespace says
	Memory    string
}

//go:embed job.yaml.tmpl
var manifest string

var manifestTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("job").Funcs(template.FuncMap{
		"quote": func(text string) (string, error) { out, err := json.Marshal(text); return string(out), err }, // JSON's texts are YAML's
	}).Parse(manifest))
})

// Script implements Engine.
func (k *Kubernetes) Script(w *Work, shards []int) (name, text string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	for _, dir := range []string{w.Dir, here} {
		if in, err := filepath.Rel(k.Mount, dir); err != nil || !filepath.IsLocal(in) {
			return "", "", fmt.Errorf("%s is not below %s, where pods have the volume of %s: run this there, with --dir there", dir,
				k.Mount,
				k.Claim)
		}
	}
	var out strings.Builder
	err = manifestTemplate().Execute(&out, struct {
		*Kubernetes
		Name, Question, Line, Dir, Here, List, Words string
		Shards, Count                                int
	}{k, w.Name(), w.comment(), w.line(), quote(w.Dir), here, units.Ranges(shards, ","), strings.Trim(fmt.Sprint(shards), "[]"), w.Shards,
		len(shards)})
	return "job.yaml", out.String(), err
}

// Submit implements Engine.
func (k *Kubernetes) Submit(ctx context.Context, w *Work, script string, shards []int) (string, error) {
	said, err := command(ctx, "kubectl", k.args("create", "--filename="+script)...)
	return fmt.Sprintf("shards %s of %d: %s (%s)", units.Ranges(shards, ","), w.Shards, strings.TrimSpace(said), script), err
}

func (k *Kubernetes) args(args ...string) []string {
	if k.Namespace != "" {
		args = append(args, "--namespace="+k.Namespace)
	}
	return args
}

// jobList is what kubectl says of the jobs of some work.
type jobList struct {
	Items []struct {
		Metadata struct {
			Name        string            `json:"name"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Status struct {
			CompletedIndexes string `json:"completedIndexes"`
			FailedIndexes    string `json:"failedIndexes"`
			Conditions       []struct{ Type, Status string }
		} `json:"status"`
	} `json:"items"`
}

// Active implements Engine: the indexes of jobs that have not ended.
func (k *Kubernetes) Active(ctx context.Context, w *Work) (map[int]bool, error) {
	out, err := command(ctx, "kubectl", k.args("get", "jobs", "--selector=railyard-batch="+w.Name(), "--output=json")...)
	if err != nil {
		return nil, err
	}
	var jobs jobList
	if err := json.Unmarshal([]byte(out), &jobs); err != nil {
		return nil, fmt.Errorf("kubectl get jobs: %w", err)
	}
	active := map[int]bool{}
	for _, job := range jobs.Items {
		shards, err := units.ParseRanges(job.Metadata.Annotations["railyard-shards"], w.Shards+1)
		if err != nil {
			return nil, fmt.Errorf("job %s: railyard-shards: %w", job.Metadata.Name, err)
		}
		ended := map[int]bool{}
		for _, list := range []string{job.Status.CompletedIndexes, job.Status.FailedIndexes} {
			indexes, err := units.ParseRanges(list, len(shards))
			if err != nil {
				return nil, fmt.Errorf("job %s: indexes %w", job.Metadata.Name, err)
			}
			for _, i := range indexes {
				ended[i] = true
			}
		}
		for _, c := range job.Status.Conditions {
			for i := range shards {
				ended[i] = ended[i] || (c.Type == "Complete" || c.Type == "Failed") && c.Status == "True"
			}
		}
		for i, shard := range shards {
			if !ended[i] {
				active[shard] = true
			}
		}
	}
	return active, nil
}

// Every implements Engine.
func (*Kubernetes) Every() time.Duration { return 5 * time.Second }

// Leave implements Engine.
func (*Kubernetes) Leave() string { return "the shards go on in Kubernetes" }
