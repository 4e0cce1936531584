package step

import (
	"sync"

	"railyard/model/workload"
)

// memo keeps what many layouts have in common: a workload's blocks, and passes through
// them. It is safe for concurrent use.
type memo struct {
	mu     sync.RWMutex
	lists  map[*workload.Workload][]workload.Block
	passes map[passKey]*pass
}

func newMemo() *memo {
	return &memo{lists: map[*workload.Workload][]workload.Block{}, passes: map[passKey]*pass{}}
}

// passKey is all that a pass depends on.
type passKey struct {
	block                   workload.Block
	backward                bool
	shard                   workload.Sharding
	batch                   int
	recompute               workload.Recompute
	tensor, context, expert string // families
	silent                  bool
}

// blocks are a workload's, the same values each time.
func (m *memo) blocks(w *workload.Workload) []workload.Block {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lists[w] == nil {
		m.lists[w] = w.Blocks()
	}
	return m.lists[w]
}

// pass is what was made for a key, or is made now.
func (m *memo) pass(k passKey, make func() (*pass, error)) (*pass, error) {
	m.mu.RLock()
	p := m.passes[k]
	m.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	p, err := make()
	if err == nil {
		m.mu.Lock()
		m.passes[k] = p
		m.mu.Unlock()
	}
	return p, err
}
