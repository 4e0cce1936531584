//go:build cgo

package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/singleflight"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/kernel"
	"railyard/internal/outfile"
	"railyard/model/block"
	"railyard/model/collective"
)

// defines select a type and a reduction in the kernels' sources.
func defines(t collective.DType, op collective.ReduceOp) ([]string, error) {
	ops := map[collective.ReduceOp]string{collective.Sum: "R_SUM", collective.Avg: "R_SUM", collective.Prod: "R_PROD",
		collective.Min: "R_MIN", collective.Max: "R_MAX"}
	if err := Supports(t); err != nil {
		return nil, err
	}
	return []string{"-D" + types[t], "-D" + ops[op]}, nil
}

// kernelOptions are a configuration's: its type, its reduction, whether operations are delayed, and a block's threads: with the
// bytes of a plan of constants the compiler then knows how often loops run. What no kernel may carry is refused.
func kernelOptions(cfg Config, how Method) ([]string, error) {
	if how.Mechanism.InWords() && cfg.DType == collective.Int32 {
		return nil, fmt.Errorf("%v in words: they carry floating-point numbers only", cfg.DType)
	}
	options, err := defines(cfg.DType, cfg.Op)
	options = append(options, fmt.Sprintf("-DTHREADS=%d", how.Threads))
	if cfg.Jitter > 0 {
		options = append(options, "-DJITTER")
	}
	return options, err
}

// compile makes machine code of a source file, or takes it from the user's cache, where
// it lies under the hash of everything that went into it.
func compile(file, arch string, options []string, extra map[string]string) ([]byte, error) {
	version, err := driver.LoadCompiler()
	if err != nil {
		return nil, err
	}
	headers := kernel.Headers()
	for name, text := range extra {
		headers[name] = text
	}
	options = append([]string{"-arch=" + arch, "--std=c++20"}, options...)
	source := kernel.Source(file)
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%q\n%d\n", version, options, source, driver.Version())
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(h, "%q %q\n", name, headers[name])
	}
	path := cachePath(hex.EncodeToString(h.Sum(nil)))
	made, err, _ := compiling.Do(path, func() (any, error) { return compiled(path, file, source, arch, version, options, headers) })
	if err != nil {
		return nil, err
	}
	return made.([]byte), nil
}

// compiling lets those who want the same machine code at once wait for one of them.
var compiling singleflight.Group

func compiled(path, file, source, arch, version string, options []string, headers map[string]string) ([]byte, error) {
	if code, err := os.ReadFile(path); err == nil && len(code) > 0 {
		return code, nil
	}
	code, err := driver.Compile(file, source, headers, options)
	if err != nil {
		if strings.Contains(err.Error(), "arch") && strings.Contains(err.Error(), "invalid value") {
			return nil, fmt.Errorf("NVRTC %s does not know this GPU's architecture %s: install a newer CUDA runtime compiler (%w)",
				version, arch, err)
		}
		return nil, err
	}
	store(path, code)
	return code, nil
}

func cachePath(hash string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "railyard", "kernels", hash+".cubin")
}

// store writes the cache, whole or not at all; a cache that cannot be written is none.
func store(path string, code []byte) {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	_ = outfile.Write(path, func(w io.Writer) error { _, err := w.Write(code); return err })
}

// kernels loads a source's machine code on every GPU.
func (n *Node) kernels(s source) (string, error) {
	return s.key(), n.each(func(g *gpu) error { return g.load(s) })
}

// source is a file with what makes it a kernel.
type source struct {
	file    string
	options []string
	extra   map[string]string // more headers
}

func (s source) compile(arch string) ([]byte, error) {
	return compile(s.file, arch, s.options, s.extra)
}

// key names a source among a GPU's modules.
func (s source) key() string { return fmt.Sprint(s.file, s.options, s.extra) }

// load compiles a source for the GPU and loads it, once.
func (g *gpu) load(s source) error {
	key := s.key()
	if _, ok := g.modules[key]; ok {
		return nil
	}
	code, err := s.compile(g.Arch)
	if err != nil {
		return err
	}
	g.modules[key], err = driver.LoadModule(code)
	return err
}

// kernel is one of a source's, which it loads.
func (g *gpu) kernel(s source, name string) (driver.Kernel, error) {
	if err := g.load(s); err != nil {
		return driver.Kernel{}, err
	}
	return g.modules[s.key()].Kernel(name)
}

func (how Method) options(cfg Config) block.Options {
	return block.Options{Count: cfg.Count, Size: cfg.DType.Size(), Op: cfg.Op, InPlace: cfg.InPlace, Instances: how.Blocks,
		Mechanism: how.Mechanism}
}
