package planner

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// builder makes a schedule, or says why it does not apply.
type builder func(*request) (*schedule.Schedule, error)

// What algorithms make.
var (
	allReduce    = []collective.Kind{collective.AllReduce}
	inParts      = append(allReduce[:1:1], collective.AllGather, collective.ReduceScatter)
	dense        = append(inParts[:3:3], collective.Broadcast, collective.Reduce)
	treeKinds    = append(allReduce[:1:1], collective.Broadcast, collective.Reduce)
	blockKinds   = append(treeKinds[:3:3], collective.Gather, collective.Scatter, collective.Barrier)
	exchanges    = []collective.Kind{collective.AllToAll, collective.AllToAllV}
	flowKinds    = append(exchanges[:2:2], collective.SendRecv, collective.Gather, collective.Scatter)
	rerouteKinds = append(dense[:5:5], collective.AllToAll)
)

// refuses says that an algorithm does not make a collective.
func (a *Algorithm) refuses(k collective.Kind) error {
	if a.makes == nil || slices.Contains(a.makes, k) {
		return nil
	}
	return fmt.Errorf("%s: %w", a.Name, notApplicable("it does not make %v", k))
}

// algorithms are alphabetical, so that ties are broken by name.
var algorithms = []Algorithm{
	{Name: "alternating_ring", Doc: "a ring for each NIC, direction alternating from node to node, so that every NIC works",
		Paper: "S. Ozog, Penny, 2025",
		makes: dense, build: buildAlternatingRing, depth: ringDepths, cost: flat},
	{Name: "balanced_rails", Doc: "all_to_allv in equal parts over all rails, through the GPUs on them", Paper: "Valiant 1982",
		makes: exchanges[1:], build: buildBalancedRails, depth: tierDepths},
	{Name: "breadth_first", Doc: "store and forward on shortest paths over direct links, evenly spread",
		Paper: "Zhao et al., BFB, 2022",
		build: buildBreadthFirst, depth: breadthFirstDepths},
	{Name: "bruck", Doc: "⌈log₂ n⌉ steps for any number of ranks", Paper: "Bruck et al. 1997",
		makes:   append(inParts[:3:3], collective.AllToAll, collective.Barrier),
		applies: (*request).allRoutable, build: inOneGroup(schedule.GenBruck, halves), spare: inPairs},
	{Name: "direct", Doc: "every rank sends to every other; all_reduce: one-shot",
		applies: (*request).allRoutable, build: inOneGroup(schedule.GenDirect, parts), cost: ofDirect},
	{Name: "double_binary_tree", Doc: "two trees with half the bytes each; every rank is an inner node of one at most",
		Paper: "Sanders, Speck, Träff 2009",
		makes: treeKinds, applies: (*request).allRoutable, build: buildDoubleBinaryTree, depth: treeDepths, cost: flatFromRoot},
	{Name: "doubling", Doc: "recursive doubling: log₂ n exchanges of everything", Paper: "Thakur et al. 2005",
		makes: allReduce, applies: (*request).allRoutable, build: inOneGroup(schedule.GenDoubling, whole)},
	{Name: "few_trees", Doc: "packed_trees with each root's data in eight parts at most: fewer messages",
		Paper: "Edmonds 1973; Zhao et al., ForestColl, 2024",
		makes: dense, build: ofTrees((*request).fewTrees), depth: fewDepths, spare: spareTrees},
	{Name: "flows", Doc: "every pair's data over paths that load all direct links evenly, or over all rails between nodes that differ",
		Paper: "Garg, Könemann 1998; Sanders, Träff 2002; Zhao et al. 2023",
		makes: flowKinds, build: buildFlows, depth: flowDepths},
	{Name: "halving_doubling", Doc: "recursive halving, then doubling", Paper: "Rabenseifner 2004",
		makes: inParts, applies: (*request).powerOfTwo, build: inOneGroup(schedule.GenDoubling, halves)},
	{Name: "hierarchical_all_to_all", Doc: "aggregate inside the node, then one message for each node on its rail",
		Paper: "Sanders, Träff 2002",
		makes: exchanges, build: buildHierarchicalAllToAll, depth: tierDepths},
	{Name: "hierarchical_direct", Doc: "reduce-scatter in each node, rings over the NICs, all-gather back", Paper: "Jia et al. 2018",
		makes: append(inParts[:3:3], collective.Gather, collective.Scatter), build: buildHierarchicalDirect, depth: tierDepths},
	{Name: "hierarchical_in_network", Doc: "switches reduce and multicast inside the node, and between nodes where they can; else rings",
		Paper: "Graham et al., SHARP, 2016",
		makes: dense, build: buildHierarchicalInNetwork, depth: hierarchicalSwitchDepths},
	{Name: "hierarchical_ring", Doc: "a ring at every tier, one after the other", Paper: "Jia et al. 2018",
		makes: dense, build: buildHierarchicalRing, depth: tierDepths, spare: (*request).separateDimensions, cost: chainOfNodes},
	{Name: "hierarchical_tree", Doc: "reduce-scatter in each node, a double binary tree over the NICs, all-gather back",
		Paper: "Sanders, Speck, Träff 2009",
		makes: treeKinds, build: buildHierarchicalTree, depth: tierDepths, cost: overNodes},
	{Name: "hierarchical_two_shot", Doc: "every GPU to every other in each node, then over the NICs",
		makes: dense, build: buildHierarchicalTwoShot, depth: tierDepths},
	{Name: "in_network", Doc: "switches combine what goes to a rank and multicast what it sends to all",
		Paper: "Graham et al., SHARP, 2016",
		makes: dense, applies: (*request).switchesWorkForAll, build: inOneGroup(schedule.GenSwitch, halves), depth: switchDepths},
	{Name: "knomial", Doc: "binomial tree", Paper: "Thakur et al. 2005",
		makes: blockKinds, applies: (*request).allRoutable, build: nomial(2), depth: treeDepths},
	{Name: "ordered_flows", Doc: "flows whose messages are sent one by one, in the order of a list schedule",
		Paper: "Leighton, Maggs, Rao 1994; Adam, Chandy, Dickson 1974",
		makes: flowKinds, build: buildOrderedFlows, depth: orderedDepths},
	{Name: "packed_trees", Doc: "spanning trees that fill scale-up links and NICs at once",
		Paper: "Edmonds 1973; Zhao et al., ForestColl, 2024",
		makes: dense, build: ofTrees((*request).allTrees), depth: packedDepths, spare: spareTrees},
	{Name: "parallel_trees", Doc: "packed_trees whose parts or levels overlap, where links behind switches are shared",
		Paper: "Edmonds 1973; Zhao et al., ForestColl, 2024",
		makes: dense, build: buildParallelTrees, depth: parallelDepths, spare: spareTrees},
	{Name: "quadrinomial", Doc: "4-nomial tree: fewer levels, more children", Paper: "Thakur et al. 2005",
		makes: blockKinds, applies: (*request).allRoutable, build: nomial(4), depth: treeDepths, spare: few},
	{Name: "rail_shares", Doc: "hierarchical plans for nodes that differ: each rail and root takes a share by its capacity",
		Paper: "Garg, Könemann 1998; Zhao et al., ForestColl, 2024",
		makes: inParts, build: buildRailShares, depth: railDepths, spare: spareShares},
	{Name: "rerouted_in_network", Doc: "rerouted_rails with switches that reduce and multicast inside the node",
		Paper: "Graham et al., SHARP, 2016",
		makes: dense, build: buildReroutedInNetwork, depth: hierarchicalSwitchDepths, spare: spareReroutes},
	{Name: "rerouted_rails", Doc: "hierarchical_two_shot whose rails are rerouted around what nodes have lost",
		makes: append(rerouteKinds[:6:6], collective.Gather, collective.Scatter), build: buildReroutedRails, depth: tierDepths,
		spare: spareReroutes},
	{Name: "ring", Doc: "as many link-disjoint rings as the topology has, both directions", Paper: "Patarasuk, Yuan 2009",
		makes: dense, build: buildRing, depth: ringDepths, cost: flat},
	{Name: "scatter_exchange", Doc: "broadcast as a scatter to all others, which then exchange their parts",
		makes:   []collective.Kind{collective.Broadcast},
		applies: (*request).allRoutable, build: buildScatterExchange, cost: betweenOthers},
	{Name: "short_flows", Doc: "flows on paths of as few links as the fullest link allows",
		Paper: "Garg, Könemann 1998; Zhao et al. 2023",
		makes: flowKinds, build: buildShortFlows, depth: flowDepths},
	{Name: "simple_ring", Doc: "one ring, for small buffers", Paper: "Patarasuk, Yuan 2009",
		makes: dense, build: buildSimpleRing, depth: ringDepths, spare: spareRing, cost: flat},
	{Name: "tiered_rails", Doc: "rerouted_rails tier by tier, of groups of any sizes",
		Paper: "Sanders, Träff 2002",
		makes: inParts, build: buildTieredRails, depth: tierDepths},
	{Name: "two_shot", Doc: "direct reduce-scatter and direct all-gather",
		makes: allReduce, applies: (*request).allRoutable, build: inOneGroup(schedule.GenDirect, halves), cost: betweenAll},
}
