package nccl

import (
	"railyard/model/collective"
	"railyard/model/units"
)

// Channels are those that NCCL would open for a collective, each a block of threads that
// fills a multiprocessor (NCCL's environment variables, NCCL_MAX_CTAS); 0 where its model
// does not say: of sends and receives, and on GPUs that RCCL runs on.
func (r *Runtime) Channels(kind collective.Kind, size units.Bytes) int {
	if r.model == nil {
		return 0
	}
	e, err := r.model.Choose(kind, size)
	if err != nil {
		return 0
	}
	return e.Channels
}
