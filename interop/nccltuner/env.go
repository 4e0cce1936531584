package nccltuner

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/collective"
)

// Env is what a shell file tells NCCL.
type Env struct {
	Plan   string // what it follows, in words
	Rows   []Row
	Config string // the file of the plugin (.so), or of the example plugin's table, which then chooses; "" leaves the tuner out
	Own    int    // the channels that NCCL makes by itself; 0: not known
}

// WriteEnv writes a shell file to be sourced before the job starts, with a comment on
// each line.
func WriteEnv(w io.Writer, e Env) error {
	settings, notes, err := e.Settings()
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n# To be sourced before the job starts: . FILE\n", foreign.OneLine(e.Plan))
	for _, note := range notes {
		fmt.Fprintf(b, "# %s\n", foreign.OneLine(note))
	}
	settings = append(settings, foreign.Setting{Name: "NCCL_DEBUG_SUBSYS", Value: "INIT,ENV,TUNING",
		Why: "with NCCL_DEBUG=INFO, NCCL prints what it takes"})
	for _, v := range settings {
		fmt.Fprintf(b, "export %s=%s # %s\n", v.Name, foreign.Quote(v.Value), v.Why)
	}
	return b.Flush()
}

func (e *Env) notes() []string {
	var out []string
	for _, r := range e.Rows {
		if r.Note != "" && !slices.Contains(out, r.Note) {
			out = append(out, r.Note)
		}
	}
	return out
}

// Settings are variables of NCCL 2.30 (src/graph/tuning.cc, src/graph/connect.cc,
// src/plugin/tuner.cc, src/debug.cc). NCCL_NVLS_ENABLE is left alone: by default NCCL uses
// NVLS where it finds it, while 1 has it take for granted what may not be there
// (src/transport/nvls.cc).
// Notes say what had to be replaced.
func (e *Env) Settings() (out []foreign.Setting, notes []string, err error) {
	for i := range e.Rows {
		if err := e.Rows[i].check(); err != nil {
			return nil, nil, err
		}
	}
	if len(e.Rows) == 0 {
		return nil, nil, fmt.Errorf("no row to make an environment of")
	}
	set := func(name, value, why string) { out = append(out, foreign.Setting{Name: name, Value: value, Why: why}) }
	if e.Config == "" {
		set("NCCL_ALGO", e.list(func(r *Row) string { return algorithms[r.Algorithm] }),
			"the algorithms of the plan, by collective (NCCL 2.24 or newer); which at which size, NCCL decides"+e.alone())
		set("NCCL_PROTO", e.list(func(r *Row) string { return protocols[r.Protocol] }),
			"the protocols of the plan, by collective"+e.forced())
	}
	if strings.HasSuffix(e.Config, ".so") {
		set("NCCL_TUNER_PLUGIN", e.Config, "the plugin made of railyard export --to nccl-tuner-plugin: where it has no row, NCCL chooses")
		return out, e.notes(), nil
	}
	if most := e.channels(); most > e.Own {
		set("NCCL_MIN_NCHANNELS", fmt.Sprint(most), e.more())
	}
	if e.Config != "" {
		set("NCCL_TUNER_PLUGIN", "libnccl-tuner-example.so", "the plugin that reads the table: plugins/tuner/example of NCCL's source; "+
			"for one GPU a process, else it may hang (--to nccl-tuner-plugin)")
		set("NCCL_TUNER_CONFIG_FILE", e.Config,
			"the table: algorithm, protocol and channels by size; a call that cannot use a row takes the table's last rows")
	}
	return out, e.notes(), nil
}

// channels are the most of the communicator's channels that rows take. Within a node NVLS has its own. Fewer than NCCL's own are no
// reason to limit them: it takes fewer for small sizes by itself.
func (e *Env) channels() (most int) {
	for _, r := range e.Rows {
		if r.Algorithm != "nvls_tree" && (r.Algorithm != "nvls" || r.Nodes > 1) {
			most = max(most, r.Channels)
		}
	}
	return most
}

// more says why there should be more channels than NCCL's own.
func (e *Env) more() string {
	if e.Own == 0 {
		return "the most channels of any size"
	}
	return fmt.Sprintf("the most channels of any size, where NCCL makes %d by itself", e.Own)
}

// alone warns of collectives that are left without what works for every call.
func (e *Env) alone() string {
	var kinds []string
	for _, k := range Kinds {
		list := e.valuesOf(k, func(r *Row) string { return r.Algorithm })
		if len(list) > 0 && !slices.Contains(list, "ring") {
			kinds = append(kinds, names[k])
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	return fmt.Sprintf("; calls of %s with types or operations that these cannot do fail: add Ring where there are such",
		strings.Join(kinds, ", "))
}

// forced warns of LL128, which NCCL leaves out by itself where it is not safe.
func (e *Env) forced() string {
	if !slices.ContainsFunc(e.Rows, func(r Row) bool { return r.Protocol == "ll128" }) {
		return ""
	}
	return "; naming LL128 has NCCL use it without looking whether the machine keeps 128-byte stores whole: " +
		"only for the machine of the plan"
}

// list is NCCL's per-collective form: allreduce:Ring,Tree;allgather:Ring.
func (e *Env) list(of func(*Row) string) string {
	var parts []string
	for _, k := range Kinds {
		if v := e.valuesOf(k, of); len(v) > 0 {
			parts = append(parts, names[k]+":"+strings.Join(v, ","))
		}
	}
	return strings.Join(parts, ";")
}

func (e *Env) valuesOf(k collective.Kind, of func(*Row) string) []string {
	var out []string
	for i := range e.Rows {
		if v := of(&e.Rows[i]); e.Rows[i].Kind == k && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
