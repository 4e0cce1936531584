package nccl

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// found is what the search finds in a system; not to be changed.
type found struct {
	ring, tree, nvls *channels
	staged           map[[2]int]bool // GPUs that exchange data through host memory
	relays           map[[2]int]int  // by index of GPU: over which third one two send that have NVLink to it alone (NVB)
	perPeer          int             // channels that a peer gets at most
}

// searches are those made so far, by the picture of the system: the parts of a machine, and
// all machines of a node type, have the same systems.
var searches sync.Map // [sha256.Size]byte → func() *found

// searched is what is found in a system, which is searched once.
func (s *system) searched(cc int, nvls bool) *found {
	key := sha256.Sum256(fmt.Appendln(s.picture(), cc, nvls))
	once, ok := searches.Load(key)
	if !ok {
		once, _ = searches.LoadOrStore(key, sync.OnceValue(func() *found {
			s.computePaths()
			s.measure()
			return s.search(cc, nvls)
		}))
	}
	return once.(func() *found)()
}

// search finds the channels of rings, trees and, where there is one, NVLS.
func (s *system) search(cc int, nvls bool) *found {
	f := &found{relays: s.relays(), staged: s.staged, perPeer: s.channelsPerPeer(), nvls: &channels{pattern: nvlsPattern}}
	f.ring = s.find(ringPattern, cc, 1, maxChannels/2)
	f.tree = s.find(balancedTree, cc, f.ring.n, f.ring.n)
	if nvls {
		f.nvls = s.find(nvlsPattern, cc, 1, maxChannels)
	}
	return f
}

// relays are the GPUs in the middle of paths of two NVLinks.
func (s *system) relays() map[[2]int]int {
	out := map[[2]int]int{}
	for a, gpu := range s.of[vGPU] {
		for b, p := range gpu.paths[vGPU] {
			if p.kind == pathNVB {
				out[[2]int{a, b}] = p.hops[0].to.index
			}
		}
	}
	return out
}

// picture is all that the search looks at: vertices and links, hosts by the order in which
// they first occur.
func (s *system) picture() []byte {
	text := fmt.Appendln(nil, s.cpu, s.inter, s.nets, s.hosts, s.gdr, s.level, s.p2p, s.apart)
	hosts := map[int32]int{}
	for _, list := range s.of {
		for _, v := range list {
			if _, ok := hosts[v.host]; !ok {
				hosts[v.host] = len(hosts)
			}
			text = fmt.Appendln(text, v.kind, hosts[v.host], v.cc, v.dev, v.netBW)
			for _, l := range v.links {
				text = fmt.Appendln(text, l.kind, l.bw, l.to.kind, l.to.index)
			}
		}
	}
	return text
}
