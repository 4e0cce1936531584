package gpu

import (
	"railyard/model/units"
	"railyard/model/yamlfile"
)

// Kernel is a kind of kernel whose time is that of its memory traffic.
type Kernel string

// The kinds. Copies are all that compute next to nothing: copies, sums, conversions.
const (
	Copy               Kernel = "copy"
	Norm               Kernel = "norm"
	RMSNorm            Kernel = "rms_norm"
	NormBackward       Kernel = "norm_backward"
	Activation         Kernel = "activation"
	ActivationBackward Kernel = "activation_backward"
	Softmax            Kernel = "softmax"
	Loss               Kernel = "loss"
	Optimizer          Kernel = "optimizer"
	GradientNorm       Kernel = "gradient_norm"
)

// Kernels are all kinds.
func Kernels() []Kernel {
	return []Kernel{Copy, Norm, RMSNorm, NormBackward, Activation, ActivationBackward, Softmax, Loss, Optimizer, GradientNorm}
}

// Choices are their names.
func (Kernel) Choices() []string { return yamlfile.Words(Kernels()...) }

// Streams is the share of the memory's bandwidth that each kind reaches.
type Streams map[Kernel]float64

// Stream is the time of a kernel that only reads and writes bytes.
func (g *GPU) Stream(k Kernel, bytes float64) units.Time {
	if bytes == 0 {
		return 0
	}
	return launch + seconds(bytes/g.streamed(k))
}

// Where the shares were measured: H200's bandwidth in bytes/s, its multiprocessors, and the share
// that the best kernels reach (of copies of 1 GiB and more, validation/gpu-steady.csv).
const (
	streamsBandwidth = 4.8e12
	streamsSMs       = 132
	streamsBest      = 0.92
)

// streamed is what a kind of kernel reaches, bytes/s. What it lost to the best on H200 goes with the
// multiprocessors, which issue its instructions, not with the memory: on slower memory it
// loses less of it.
func (g *GPU) streamed(k Kernel) float64 {
	issue := (1/g.Streams[k] - 1/streamsBest) / streamsBandwidth * streamsSMs / float64(max(g.SMs, 1))
	return 1 / (1/g.best() + max(issue, 0))
}

// best is what the best kernels reach of the memory's bandwidth, bytes/s.
func (g *GPU) best() float64 { return streamsBest * float64(g.Bandwidth) }

// launch is what a small kernel costs on the GPU when the host runs ahead: H200,
// 2026-11-21, the launch gap that the fits of matrix products show (gpus.yaml).
const launch = 3 * units.Microsecond
