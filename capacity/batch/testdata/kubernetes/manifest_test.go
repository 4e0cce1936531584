// Package kubernetes holds manifests against Kubernetes's own types. It is a module of its own, so that railyard needs none of them.
package kubernetes

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// job is a Job as Kubernetes reads it where no field may be unknown or given twice.
func job(t *testing.T, text []byte) *batchv1.Job {
	t.Helper()
	var j batchv1.Job
	if err := yaml.UnmarshalStrict(text, &j); err != nil {
		t.Fatal(err)
	}
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || *j.Spec.CompletionMode != batchv1.IndexedCompletion {
		t.Fatalf("%s %s %v", j.APIVersion, j.Kind, j.Spec.CompletionMode)
	}
	return &j
}

// TestSweep: the manifest of a sweep means what railyard's documentation says of it.
func TestSweep(t *testing.T) {
	text, err := os.ReadFile("../job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	j := job(t, text)
	s, pod := j.Spec, j.Spec.Template.Spec
	if *s.Completions != 3 || *s.Parallelism != 3 || *s.BackoffLimitPerIndex != 3 || j.Annotations["railyard-shards"] != "2-3,64" {
		t.Errorf("%d of %d at once, %d times again, shards %s", *s.Completions, *s.Parallelism, *s.BackoffLimitPerIndex,
			j.Annotations["railyard-shards"])
	}
	wrong, drained := s.PodFailurePolicy.Rules[0], s.PodFailurePolicy.Rules[1]
	if wrong.Action != batchv1.PodFailurePolicyActionFailIndex || !slices.Equal(wrong.OnExitCodes.Values, []int32{2}) ||
		*wrong.OnExitCodes.ContainerName != pod.Containers[0].Name ||
		wrong.OnExitCodes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn {
		t.Errorf("wrong usage: %+v", wrong)
	}
	if drained.Action != batchv1.PodFailurePolicyActionIgnore || drained.OnPodConditions[0].Type != corev1.DisruptionTarget ||
		drained.OnPodConditions[0].Status != corev1.ConditionTrue {
		t.Errorf("a drained node: %+v", drained)
	}
	c := pod.Containers[0]
	if pod.RestartPolicy != corev1.RestartPolicyNever || *pod.TerminationGracePeriodSeconds != 30 || c.Image != "registry/railyard:1" ||
		c.Resources.Requests.Cpu().String() != "4" || c.Resources.Requests.Memory().String() != "8Gi" {
		t.Errorf("%+v", pod)
	}
	if c.VolumeMounts[0].Name != pod.Volumes[0].Name || pod.Volumes[0].PersistentVolumeClaim.ClaimName != "data" {
		t.Errorf("%+v", pod.Volumes)
	}
	if len(c.Args) != 1 || !strings.HasPrefix(c.Args[0], "set -- 2 3 64\nshift \"$JOB_COMPLETION_INDEX\"\nshard=$1\nexec ") {
		t.Errorf("%q", c.Args)
	}
}

// TestRun: the manifests in docs/clusters.md are what Kubernetes reads, and fit one another.
func TestRun(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d manifests", len(blocks))
	}
	parts := strings.Split(string(blocks[0][1]), "---\n")
	var service corev1.Service
	if err := yaml.UnmarshalStrict([]byte(parts[0]), &service); err != nil {
		t.Fatal(err)
	}
	j := job(t, []byte(parts[1]))
	pod := j.Spec.Template.Spec
	if service.Spec.ClusterIP != corev1.ClusterIPNone || service.Spec.Selector["job-name"] != j.Name || pod.Subdomain != service.Name {
		t.Errorf("the service selects %v, pods are of %s in %s", service.Spec.Selector, j.Name, pod.Subdomain)
	}
	env := map[string]string{}
	for _, e := range pod.Containers[0].Env {
		env[e.Name] = e.Value
	}
	if env["RAILYARD_SIZE"] != "4" || *j.Spec.Completions != 4 || *j.Spec.Parallelism != 4 ||
		env["RAILYARD_ROOT"] != j.Name+"-0."+service.Name+":29400" {
		t.Errorf("%v", env)
	}
}

// TestExportedJob: the Job that railyard export writes is what Kubernetes reads, and its Service names its first pod.
func TestExportedJob(t *testing.T) {
	text, err := os.ReadFile("../../../../interop/kubernetes/testdata/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "---\n")
	var service corev1.Service
	if err := yaml.UnmarshalStrict([]byte(parts[0]), &service); err != nil {
		t.Fatal(err)
	}
	j := job(t, []byte(parts[1]))
	pod := j.Spec.Template.Spec
	if service.Spec.ClusterIP != corev1.ClusterIPNone || service.Spec.Selector["job-name"] != j.Name || pod.Subdomain != service.Name {
		t.Errorf("the service selects %v, pods are of %s in %s", service.Spec.Selector, j.Name, pod.Subdomain)
	}
	c := pod.Containers[0]
	gpus := c.Resources.Limits["nvidia.com/gpu"]
	if *j.Spec.Completions != 4 || *j.Spec.Parallelism != 4 || gpus.Value() != 8 || pod.RestartPolicy != corev1.RestartPolicyNever ||
		!slices.Equal(c.Command, []string{"sh", "-c", `exec ./run "a b"`}) {
		t.Errorf("%+v", j.Spec)
	}
	if j.Spec.Template.Annotations["kueue.x-k8s.io/podset-preferred-topology"] != "fabric.topograph.run/tier-0" {
		t.Errorf("%v", j.Spec.Template.Annotations)
	}
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	if env["NNODES"] != "4" || env["MASTER_ADDR"] != j.Name+"-0."+service.Name || env["NCCL_ALGO"] != "allreduce:Ring,Tree" {
		t.Errorf("%v", env)
	}
	if c.VolumeMounts[0].Name != pod.Volumes[0].Name || pod.Volumes[0].EmptyDir.Medium != corev1.StorageMediumMemory {
		t.Errorf("%+v", pod.Volumes)
	}
}

// kueueTopology is Kueue's Topology (kueue.x-k8s.io/v1beta2), whose module needs more than this is worth.
type kueueTopology struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Levels []struct {
			NodeLabel string `json:"nodeLabel"`
		} `json:"levels"`
	} `json:"spec"`
}

func TestExportedTopology(t *testing.T) {
	text, err := os.ReadFile("../../../../interop/kubernetes/testdata/kueue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var x kueueTopology
	if err := yaml.UnmarshalStrict(text, &x); err != nil {
		t.Fatal(err)
	}
	if n := len(x.Spec.Levels); x.Kind != "Topology" || x.Metadata.Name == "" || n < 1 || n > 16 ||
		x.Spec.Levels[n-1].NodeLabel != "kubernetes.io/hostname" {
		t.Errorf("%+v", x)
	}
}
