package topology

// checkFabrics finds the mistakes of fabrics that show before they are built; a file
// used with one node is checked as well.
func (b *builder) checkFabrics() {
	names := map[string]bool{}
	for i := range b.f.Fabrics {
		f := &b.f.Fabrics[i]
		if names[f.Name] {
			b.AddAt(f.Pos, "fabrics: the name %q is used twice", f.Name)
		}
		names[f.Name] = true
		b.checkClass(f, f.Class, f.Pos)
		for j := range f.Levels {
			b.checkLevel(f, &f.Levels[j])
		}
		b.checkEndpoints(f)
	}
}

func (b *builder) checkClass(f *fabricSpec, class string, p pos) {
	if _, ok := b.classes[class]; !ok && class != "" {
		b.AddAt(p, "fabric %s: class %q is not defined under classes", f.Name, class)
	}
}

func (b *builder) checkLevel(f *fabricSpec, l *levelSpec) {
	b.checkClass(f, l.Uplink, l.Pos)
	if l.Model == "" || l.Faulty {
		return
	}
	m, ok := b.models[l.Model]
	switch {
	case !ok:
		b.AddAt(l.Pos, "level: model %q is not defined under models", l.Model)
	case b.t.models[m].Kind != l.Kind:
		b.AddAt(l.Pos, "level: kind is %v but model %s is a %v", l.Kind, l.Model, b.t.models[m].Kind)
	}
}

// checkEndpoints needs the nodes' templates; what is wrong with those was reported.
func (b *builder) checkEndpoints(f *fabricSpec) {
	if f.Faulty {
		return
	}
	seen := map[string]bool{}
	for _, n := range b.f.Nodes {
		s := b.expanded[n.Template]
		if s == nil || seen[n.Template] {
			continue
		}
		seen[n.Template] = true
		count := len(s.endpoints(f.Endpoints))
		if count == 0 {
			b.AddAt(f.Pos, "fabric %s: a %s node has no endpoint %q", f.Name, n.Template, f.Endpoints)
		} else if len(f.Links) != 1 && len(f.Links) != count {
			b.AddAt(f.Pos, "fabric %s: links lists %d numbers for %d endpoints", f.Name, len(f.Links), count)
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
