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
	passes map[memoKey]*pass
}

// memoKey is all that a pass depends on.
type memoKey struct {
	passKey
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
	if m.lists == nil {
		m.lists, m.passes = map[*workload.Workload][]workload.Block{}, map[memoKey]*pass{}
	}
	list := m.lists[w]
	if list == nil {
		list = w.Blocks()
		m.lists[w] = list
	}
	return list
}

// memoKey is the key of a builder's pass; ok is false where the pass is its own.
func (b *builder) memoKey(k passKey) (key memoKey, ok bool) {
	if b.spans || b.measured {
		return key, false
	}
	key = memoKey{passKey: k, shard: b.shard, batch: b.l.MicroBatch, recompute: b.l.Recompute, silent: b.silent}
	if !b.silent {
		key.tensor, key.context, key.expert = b.families.tensor.key, b.families.context.key, b.families.expert.key
	}
	return key, true
}

func (b *builder) recall(k passKey) *pass {
	key, ok := b.memoKey(k)
	if !ok {
		return nil
	}
	m := &b.predict.memo
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.passes[key]
}

func (b *builder) remember(k passKey, p *pass) {
	if key, ok := b.memoKey(k); ok {
		m := &b.predict.memo
		m.mu.Lock()
		defer m.mu.Unlock()
		m.passes[key] = p
	}
}
