package schedule

// places are the chunks of a buffer, kept in pages that come when they are first touched,
// as do blocks of pages: of 16,384 ranks, most touch few of the chunks there are.
type places struct {
	blocks  []*[blockSize]*page
	initial func(chunk int32) value // nil: never written
}

const (
	pageSize  = 64
	blockSize = 256 // pages
)

type page [pageSize]value

// page is that of a chunk; nil where none has been touched.
func (p *places) page(chunk int32) *page {
	if at := int(chunk / (pageSize * blockSize)); at < len(p.blocks) && p.blocks[at] != nil {
		return p.blocks[at][chunk/pageSize%blockSize]
	}
	return nil
}

// get is what a place holds.
func (p *places) get(chunk int32) value {
	if x := p.page(chunk); x != nil {
		return x[chunk%pageSize]
	}
	if p.initial == nil {
		return value{}
	}
	return p.initial(chunk)
}

func (p *places) set(chunk int32, v value) {
	x := p.page(chunk)
	if x == nil {
		x = p.touch(chunk)
	}
	x[chunk%pageSize] = v
}

// touch makes the page of a chunk.
func (p *places) touch(chunk int32) *page {
	at := int(chunk / (pageSize * blockSize))
	if at >= len(p.blocks) {
		p.blocks = append(p.blocks, make([]*[blockSize]*page, at+1-len(p.blocks))...)
	}
	if p.blocks[at] == nil {
		p.blocks[at] = new([blockSize]*page)
	}
	x := new(page)
	for i := range x {
		if p.initial != nil {
			x[i] = p.initial(chunk/pageSize*pageSize + int32(i))
		}
	}
	p.blocks[at][chunk/pageSize%blockSize] = x
	return x
}

// placeSet is a set of places, kept in pages of bits.
type placeSet struct {
	pages   []*[pageSize]uint64
	touched []int32 // pages with places
}

func (p *placeSet) add(chunk int32) {
	at := chunk / (64 * pageSize)
	if int(at) >= len(p.pages) {
		p.pages = append(p.pages, make([]*[pageSize]uint64, int(at)+1-len(p.pages))...)
	}
	if p.pages[at] == nil {
		p.pages[at] = new([pageSize]uint64)
		p.touched = append(p.touched, at)
	}
	p.pages[at][chunk/64%pageSize] |= 1 << (chunk % 64)
}

func (p *placeSet) has(chunk int32) bool {
	at := int(chunk / (64 * pageSize))
	return at < len(p.pages) && p.pages[at] != nil && p.pages[at][chunk/64%pageSize]>>(chunk%64)&1 == 1
}

func (p *placeSet) clear() {
	for _, at := range p.touched {
		p.pages[at] = nil
	}
	p.touched = p.touched[:0]
}
