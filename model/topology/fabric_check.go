package topology

// checkFabrics finds the mistakes of fabrics that show before they are built; a file
// used with one node is checked as well.
func (b *builder) checkFabrics() {
	names := map[string]bool{}
	for i := range b.f.fabrics {
		f := &b.f.fabrics[i]
		if names[f.name] {
			b.AddAt(f.pos, "fabrics: the name %q is used twice", f.name)
		}
		names[f.name] = true
		b.checkClass(f, f.class, f.pos)
		for j := range f.levels {
			b.checkLevel(f, &f.levels[j])
		}
		b.checkEndpoints(f)
	}
}

func (b *builder) checkClass(f *fabricSpec, class string, p pos) {
	if _, ok := b.classes[class]; !ok && class != "" {
		b.AddAt(p, "fabric %s: class %q is not defined under classes", f.name, class)
	}
}

func (b *builder) checkLevel(f *fabricSpec, l *levelSpec) {
	b.checkClass(f, l.uplink, l.pos)
	if l.model == "" || l.odd {
		return
	}
	m, ok := b.models[l.model]
	switch {
	case !ok:
		b.AddAt(l.pos, "level: model %q is not defined under models", l.model)
	case b.t.models[m].Kind != l.kind:
		b.AddAt(l.pos, "level: kind is %v but model %s is a %v", l.kind, l.model, b.t.models[m].Kind)
	}
}

// checkEndpoints needs the nodes' templates; what is wrong with those was reported.
func (b *builder) checkEndpoints(f *fabricSpec) {
	if f.odd {
		return
	}
	seen := map[string]bool{}
	for _, n := range b.f.nodes {
		s := b.expanded[n.template]
		if s == nil || seen[n.template] {
			continue
		}
		seen[n.template] = true
		count := len(s.endpoints(f.endpoints))
		if count == 0 {
			b.AddAt(f.pos, "fabric %s: a %s node has no endpoint %q", f.name, n.template, f.endpoints)
		} else if len(f.links) != 1 && len(f.links) != count {
			b.AddAt(f.pos, "fabric %s: links lists %d numbers for %d endpoints", f.name, len(f.links), count)
		}
	}
}

// endpoints are the devices of a node, by number, that match a kind or an id pattern.
func (s *shape) endpoints(pattern string) []int32 {
	var out []int32
	for local, d := range s.devices {
		if d.Kind.String() == pattern {
			out = append(out, int32(local))
		}
	}
	if ids, err := expandIDs(pattern); err == nil && len(out) == 0 {
		for _, id := range ids {
			if local, ok := s.local[id]; ok {
				out = append(out, local)
			}
		}
	}
	return out
}
