package step

import (
	"railyard/model/units"
	"railyard/model/workload"
)

// builder makes the engine's lanes of a layout.
type builder struct {
	*replicas
	shard  workload.Sharding
	stages []stage
	memo   *memo // of passes: all layouts' or, where they are measured or shown, this one's
	works  map[workKey]*work
	calls  map[int]*callTable // by stage
	travel units.Time

	sent     Prediction // between stages
	sentSize units.Bytes
}

// workKey names blocks of a chunk by where they lie.
type workKey struct {
	first    *workload.Block
	count    int
	backward bool
}

// pass is a block's forward pass, or its backward pass with what is computed again and
// the packing of its gradients left out.
func (b *builder) pass(x workload.Block, backward bool) (*pass, error) {
	key := passKey{block: x, backward: backward, shard: b.shard, batch: b.l.MicroBatch, recompute: b.l.Recompute, silent: b.silent}
	if !b.silent {
		key.tensor, key.context, key.expert = b.families.tensor.key, b.families.context.key, b.families.expert.key
	}
	return b.memo.pass(key, func() (*pass, error) {
		batch := float64(b.l.MicroBatch)
		if !backward {
			return b.play(x.Forward(b.shard, batch))
		}
		again := workload.Repeated(x, b.shard, batch, b.l.Recompute)
		p, err := b.play(append(again, x.Backward(b.shard, batch)...))
		if err != nil {
			return nil, err
		}
		for i := range again {
			kernels, _ := b.parts(&again[i])
			p.again += kernels
		}
		return p, nil
	})
}

// split says whether a slot's blocks are tasks of their own, since communication with
// replicas happens between them.
func (b *builder) split(s slot) bool {
	first, last := s.micro == 0, s.micro == b.l.MicroBatches()-1
	switch {
	case b.families.data.Size < 2 && b.families.expertData.Size < 2:
		return false
	case b.l.Zero == 3:
		return true
	case s.backward:
		return last || b.l.Zero == 2
	}
	return first && b.l.Zero > 0
}

// lanes are the tasks of all stages.
func (b *builder) lanes() ([]lane, error) {
	lanes := make([]lane, len(b.stages))
	at := make([]map[slot]int, len(b.stages)) // last task of each slot
	for i := range b.stages {
		at[i] = map[slot]int{}
		if err := b.lane(&lanes[i], &b.stages[i], at[i]); err != nil {
			return nil, err
		}
	}
	for i := range lanes {
		b.link(lanes, i, at)
	}
	return lanes, nil
}

// lane makes a stage's tasks in order.
func (b *builder) lane(l *lane, s *stage, at map[slot]int) error {
	table := &callTable{index: map[callKey]int{}}
	b.calls[s.index] = table
	for _, x := range order(b.l, s.index) {
		chunk := s.chunks[x.chunk]
		if b.split(x) {
			if err := b.blocks(l, chunk, x, table); err != nil {
				return err
			}
		} else {
			w, err := b.work(chunk, x.backward)
			if err != nil {
				return err
			}
			l.tasks = append(l.tasks, task{work: w, slot: x, from: -1})
		}
		at[x] = len(l.tasks) - 1
	}
	count(l, table)
	return b.gathers(l, table)
}

// count adds the collectives inside tasks.
func count(l *lane, table *callTable) {
	times := map[*work]float64{}
	for i := range l.tasks {
		times[l.tasks[i].work]++
	}
	for i := range l.tasks {
		w := l.tasks[i].work
		if n := times[w]; n > 0 {
			for _, p := range w.parts {
				table.add(p.calls, n)
			}
			times[w] = 0
		}
	}
}

// work is a pass through some blocks.
func (b *builder) work(blocks []workload.Block, backward bool) (*work, error) {
	return once(b.works, workKey{&blocks[0], len(blocks), backward}, func() (*work, error) {
		w := &work{}
		for i := range blocks {
			p, err := b.pass(blocks[blockAt(blocks, i, backward)], backward)
			if err != nil {
				return nil, err
			}
			w.add(p)
		}
		return w, nil
	})
}

// blockAt is the number of the i-th block that a pass goes through.
func blockAt(chunk []workload.Block, i int, backward bool) int {
	if backward {
		return len(chunk) - 1 - i
	}
	return i
}

// blocks makes a task of each block; gradients leave when a backward pass has ended.
func (b *builder) blocks(l *lane, chunk []workload.Block, x slot, table *callTable) error {
	reduce := x.backward && (b.l.Zero >= 2 || x.micro == b.l.MicroBatches()-1)
	var waiting shares
	for n := range chunk {
		i := blockAt(chunk, n, x.backward)
		w, err := b.work(chunk[i:i+1], x.backward)
		if err != nil {
			return err
		}
		t := task{work: w, slot: x, block: chunk[i], from: -1}
		if reduce {
			sent, err := b.gradients(t.block, &waiting, n == len(chunk)-1)
			if err != nil {
				return err
			}
			t.ends, t.convert = sent.transfers, b.convert(t.block)
			table.add(sent.calls, 1)
		}
		l.tasks = append(l.tasks, t)
	}
	return nil
}

// gathers adds the gathers of parameters: with ZeRO 3 of a block while the one before it
// is at work; with ZeRO 1 and 2 of all blocks, in the order of use, when the step begins:
// the last update has changed them.
func (b *builder) gathers(l *lane, table *callTable) error {
	if b.l.Zero == 0 || b.families.data.Size < 2 && b.families.expertData.Size < 2 {
		return nil
	}
	counts := make([]int, len(l.tasks)) // transfers that gather a task's block
	for i := range l.tasks {
		t := &l.tasks[i]
		if t.block == nil || b.l.Zero < 3 && (t.slot.backward || t.slot.micro > 0) {
			continue
		}
		gathered, err := b.parameters(t.block)
		if err != nil {
			return err
		}
		table.add(gathered.calls, 1)
		counts[i] = len(gathered.transfers)
		if b.l.Zero == 3 && i > 0 {
			l.tasks[i-1].begins = gathered.transfers
		} else {
			l.queue = append(l.queue, gathered.transfers...)
		}
	}
	b.need(l, counts)
	return nil
}

// need says up to which transfer each task waits: transfers are numbered as they queue
// up, and a task's gather is the last that has queued up before it.
func (b *builder) need(l *lane, counts []int) {
	before := 0
	if b.l.Zero == 3 {
		before = len(l.queue)
	}
	for i := range l.tasks {
		t := &l.tasks[i]
		if b.l.Zero < 3 {
			if before += counts[i]; counts[i] > 0 {
				t.needs = before
			}
			continue
		}
		if i == 0 {
			t.needs = before
		}
		before += len(t.begins)
		if i+1 < len(l.tasks) {
			l.tasks[i+1].needs = before
		}
		before += len(t.ends)
	}
}

// link says which task of another stage each slot waits for.
func (b *builder) link(lanes []lane, stage int, at []map[slot]int) {
	last := len(lanes) - 1
	seen := map[slot]bool{}
	for i := range lanes[stage].tasks {
		t := &lanes[stage].tasks[i]
		if seen[t.slot] {
			continue
		}
		seen[t.slot] = true
		from, want := -1, t.slot
		switch {
		case !t.slot.backward && stage > 0:
			from = stage - 1
		case !t.slot.backward && t.slot.chunk > 0:
			from, want.chunk = last, t.slot.chunk-1
		case t.slot.backward && stage < last:
			from = stage + 1
		case t.slot.backward && t.slot.chunk < b.l.Virtual-1:
			from, want.chunk = 0, t.slot.chunk+1
		}
		if from >= 0 && (from != stage || want != t.slot) {
			t.from, t.after, t.travel = from, at[from][want], b.travel
			if from == stage {
				t.travel = 0
			}
		}
	}
}
