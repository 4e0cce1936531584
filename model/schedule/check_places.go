package schedule

// paged is a list by chunk, kept in pages that come when they are first touched, as do blocks of
// pages: of 16,384 ranks, most touch few of the chunks there are.
type paged[T any] struct {
	blocks []*[blockSize]*[pageSize]T
}

const (
	pageSize  = 64
	blockSize = 256 // pages
)

// get is what a chunk has, nil where its page has not been touched.
func (p *paged[T]) get(chunk int32) *T {
	at := int(chunk / (pageSize * blockSize))
	if at >= len(p.blocks) || p.blocks[at] == nil {
		return nil
	}
	if x := p.blocks[at][chunk/pageSize%blockSize]; x != nil {
		return &x[chunk%pageSize]
	}
	return nil
}

// touch is what a chunk has, in a page that is made where there is none.
func (p *paged[T]) touch(chunk int32, initial func(chunk int32) T) *T {
	if x := p.get(chunk); x != nil {
		return x
	}
	at := int(chunk / (pageSize * blockSize))
	if at >= len(p.blocks) {
		p.blocks = append(p.blocks, make([]*[blockSize]*[pageSize]T, at+1-len(p.blocks))...)
	}
	if p.blocks[at] == nil {
		p.blocks[at] = new([blockSize]*[pageSize]T)
	}
	x := new([pageSize]T)
	for i := range x {
		if initial != nil {
			x[i] = initial(chunk/pageSize*pageSize + int32(i))
		}
	}
	p.blocks[at][chunk/pageSize%blockSize] = x
	return &x[chunk%pageSize]
}

// places are the chunks of a buffer.
type places struct {
	paged[value]
	initial func(chunk int32) value // nil: never written
}

// get is what a place holds.
func (p *places) get(chunk int32) value {
	switch x := p.paged.get(chunk); {
	case x != nil:
		return *x
	case p.initial != nil:
		return p.initial(chunk)
	}
	return value{}
}

func (p *places) set(chunk int32, v value) { *p.touch(chunk, p.initial) = v }
