package schedule

// places are the chunks of a buffer, kept in pages that come when they are first touched:
// of 16,384 ranks, most touch few of the chunks there are.
type places struct {
	pages   []*page
	initial func(chunk int32) value // nil: never written
}

const pageSize = 64

type page [pageSize]value

// get is what a place holds.
func (p *places) get(chunk int32) value {
	if at := int(chunk / pageSize); at < len(p.pages) && p.pages[at] != nil {
		return p.pages[at][chunk%pageSize]
	}
	if p.initial == nil {
		return value{}
	}
	return p.initial(chunk)
}

func (p *places) set(chunk int32, v value) {
	at := int(chunk / pageSize)
	if at >= len(p.pages) {
		p.pages = append(p.pages, make([]*page, at+1-len(p.pages))...)
	}
	if p.pages[at] == nil {
		p.pages[at] = new(page)
		for i := range p.pages[at] {
			if p.initial != nil {
				p.pages[at][i] = p.initial(chunk/pageSize*pageSize + int32(i))
			}
		}
	}
	p.pages[at][chunk%pageSize] = v
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
