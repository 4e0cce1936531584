// Runs the kernels of messages on GPUS pretended GPUs and checks what arrives:
// it exits with 1 and says so where something is wrong.
#include "host.h"
#define ON_HOST
#include "../kernels.cu"

const int GPUS = PEERS + 1, LAUNCHES = 3;
typedef void (*Kernel)(const Args);

struct GPU {
	std::vector<uint4> src, dst, inbox;
	std::vector<u32> flags, counters;
};

std::vector<std::unique_ptr<Group>> groups;
std::vector<std::unique_ptr<Place>> places;

// launch adds a kernel's blocks on a GPU to those that run next.
void launch(Kernel k, const Args &a, int blocks, int threads)
{
	for (int b = 0; b < blocks; b++) {
		Group *block = groups.emplace_back(new Group(threads)).get(), *warp = nullptr;
		for (int t = 0; t < threads; t++) {
			if (t % 32 == 0) warp = groups.emplace_back(new Group(32)).get();
			places.emplace_back(
				new Place{{(unsigned)t, 0, 0}, {(unsigned)b, 0, 0}, {(unsigned)threads, 1, 1}, {(unsigned)blocks, 1, 1}, block, warp});
			fibers::add(places.back().get(), [=] { k(a); });
		}
	}
}

// run runs what was launched, to the end.
void run()
{
	fibers::run();
	groups.clear(), places.clear();
}

struct Case {
	const char *name;
	Kernel kernel;
	int peers, counts;
	bool own, sum, pull, ones;
	size_t box; // bytes of an inbox of a message, both halves
	bool cast = false; // GPU 0 sends to so many others, which send nothing
	bool relay = false; // of a cast: they pass on what they read
};

float value(int gpu, int launch, size_t i) { return gpu * 1000 + launch * 100 + i % 97 + 1; }

// wanted is the number i of what lies at a GPU after a launch: of peer part, or of all with its own.
float wanted(const Case &c, int gpu, int launch, int part, size_t n, size_t i)
{
	float total = c.sum ? value(gpu, launch, i) : 0;
	for (int p = 0; p < c.peers; p++) {
		const int from = (gpu - p - 1 + 2 * GPUS) % (c.peers == 1 ? 2 : GPUS);
		if (c.sum || p == part) total += value(from, launch, i + (c.own ? p * n : 0));
	}
	return total;
}

// accesses checks that copies whose places lie apart move every byte once, each to a place of its own.
bool accesses()
{
	const size_t bytes = 8 << 10;
	std::vector<uint4> src(bytes / 16 * apart + 1), dst(src.size());
	for (u32 i = 0; i < src.size(); i++) src[i] = make_uint4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
	Args a = {};
	a.src = (u64)src.data(), a.dst = (u64)dst.data(), a.bytes = bytes;
	for (a.mode = 0; a.mode < 2; a.mode++) {
		for (a.first = 16; a.first <= 4096; a.first *= 4)
			for (a.warmup = oneAfterAnother; a.warmup <= scattered; a.warmup++) {
				std::fill(dst.begin(), dst.end(), uint4{});
				launch(placed, a, 2, 64), run();
				const Pieces x(a);
				std::vector<bool> taken(src.size());
				for (size_t i = 0; i < bytes / 16; i++) {
					const u64 at = x.at(i);
					if (at + 1 >= src.size() || taken[at]) return printf("pattern %u, pieces of %u bytes: place %llu for two\n", a.warmup, a.first, at), false;
					taken[at] = true;
					if (dst[a.mode ? at : i].w != src[a.mode ? i : at].w) return printf("pattern %u, pieces of %u bytes: place %zu is wrong\n", a.warmup, a.first, i), false;
				}
			}
		for (a.first = 1; a.first <= 8; a.first *= 2) {
			std::fill(dst.begin(), dst.end(), uint4{});
			launch(placed_misaligned, a, 2, 64), run();
			const char *from = (const char *)src.data() + (a.mode ? 0 : a.first), *to = (const char *)dst.data() + (a.mode ? a.first : 0);
			if (memcmp(from, to, bytes)) return printf("%u bytes off 16, mode %u: something else arrived\n", a.first, a.mode), false;
		}
	}
	return true;
}

// With an argument, so many cases of a kernel and a size are taken as one: each kernel in one size of three.
int main(int argc, char **argv)
{
	const int blocks = 2, threads = 64, every = argc > 1 ? atoi(argv[1]) : 1;
	int number = 0, sizes = 0;
	if (!accesses()) return 1;
	u32 abort = 0;
	const size_t most = 64 << 10;
	const Case cases[] = {
		{"simple", simple_messages, PEERS, 1, false, false, false, false, 2},
		{"pull", pull_messages, PEERS, 2, false, true, true, false, 2},
		{"ll", ll_messages, PEERS, 1, false, false, false, false, 4}, {"ll sums", ll_sums, PEERS, 1, false, true, false, false, 4}, {"ll deals", ll_deals, PEERS, 1, true, false, false, false, 4}, {"ll dealsums", ll_dealsums, PEERS, 1, true, true, false, false, 4},
		{"ll128", ll128_messages, PEERS, 1, false, false, false, false, 4}, {"ll128 sums", ll128_sums, PEERS, 1, false, true, false, false, 4},
		{"ll128 deals", ll128_deals, PEERS, 1, true, false, false, false, 4}, {"ll128 dealsums", ll128_dealsums, PEERS, 1, true, true, false, false, 4},
		{"words sums", words_sums, PEERS, 1, false, true, false, true, 2}, {"words dealsums", words_dealsums, PEERS, 1, true, true, false, true, 2},
		{"simple casts", simple_casts, PEERS, 1, false, false, false, false, 2, true}, {"pull casts", pull_casts, PEERS, 1, false, false, true, false, 2, true},
		{"ll casts", ll_casts, PEERS, 1, false, false, false, false, 4, true}, {"ll128 casts", ll128_casts, PEERS, 1, false, false, false, false, 4, true},
		{"ll casts to one", ll_casts, 1, 1, false, false, false, false, 4, true}, {"ll128 casts to one", ll128_casts, 1, 1, false, false, false, false, 4, true},
		{"relays", relays, PEERS, 2, false, false, false, false, 2, true, true},
	};
	for (const Case &c : cases) {
		sizes = number++;
		for (size_t bytes : {240, 1200, 30720}) {
			if (sizes++ % every) continue;
			const int ROUNDS = c.cast ? 4 : 2; // a root could be ahead
			std::vector<GPU> gpus(GPUS);
			for (auto &g : gpus) {
				g.src.resize(most), g.dst.resize(most), g.inbox.resize(GPUS * most);
				if (c.ones) memset(g.inbox.data(), 0xff, g.inbox.size() * 16);
				g.flags.resize(GPUS * blocks * flagLine), g.counters.resize(blocks * flagLine);
				for (int b = 0; b < blocks; b++) g.counters[b * flagLine + 1] = ROUNDS * c.counts;
			}
			for (int l = 0; l < LAUNCHES; l++) {
				const int last = c.cast ? c.peers : GPUS - 1;
				for (int g = 0; g <= last; g++) {
					float *src = (float *)gpus[g].src.data();
					for (size_t i = 0; i < most * 4; i++) src[i] = value(g, l, i);
					Args a = {};
					a.src = (u64)src, a.dst = (u64)gpus[g].dst.data(), a.bytes = bytes, a.counters = (u64)gpus[g].counters.data();
					a.peers = c.cast && !c.relay && g > 0 ? 1 : c.peers, a.mode = g == 0, a.rounds = ROUNDS, a.turn = l & 1, a.abort = (u64)&abort;
					a.deadline = 1'000'000'000; // of turns, 16 ns each: far more than any message takes
					for (int p = 0; p < (int)a.peers; p++) {
						const int other = p < g ? p : p + 1; // in order, the root first
						const int to = c.cast ? other : (g + p + 1) % GPUS, from = c.cast ? other : (g - p - 1 + GPUS) % GPUS;
						auto box = [&](int at, int by) { return (u64)(gpus[at].inbox.data() + by * most); };
						auto flags = [&](int at, int by) { return (u64)(gpus[at].flags.data() + by * blocks * flagLine); };
						a.peer[p] = {box(g, from), c.pull || (c.relay && from == 0) ? (u64)gpus[from].src.data() : box(to, g), flags(g, from), flags(to, g)};
					}
					launch(c.kernel, a, blocks, threads);
				}
				run();
				if (abort) return printf("%s, %zu bytes, launch %d: a flag did not come\n", c.name, bytes, l), 1;
				const size_t n = bytes / 4;
				for (int g = 1; c.relay && g <= last; g++)
					for (int by = 1; by <= last; by++)
						for (size_t i = 0; by != g && i < n; i++)
							if (((float *)(gpus[g].inbox.data() + by * most))[i] != value(0, l, i)) return printf("relays, %zu bytes, launch %d: GPU %d has something else at %zu of what %d passed on\n", bytes, l, g, i, by), 1;
				for (int g = c.cast ? 1 : 0; g <= last; g++)
					for (int part = 0; part < (c.sum || c.cast ? 1 : c.peers); part++)
						for (size_t i = 0; i < n; i++) {
							const bool pushed = c.kernel == simple_messages || c.kernel == simple_casts; // it lies in the box
							const int from = c.cast ? 0 : (g - part - 1 + GPUS) % GPUS;
							const size_t half = c.cast ? 0 : (size_t)(((l + 1) * ROUNDS) & 1) * n;
							const float got = pushed ? ((float *)(gpus[g].inbox.data() + from * most))[half + i] : ((float *)gpus[g].dst.data())[part * n + i];
							const float want = c.cast ? value(0, l, i) : wanted(c, g, l, part, n, i);
							if (got != want) return printf("%s, %zu bytes, launch %d: GPU %d has %g at %zu of part %d, not %g\n", c.name, bytes, l, g, got, i, part, want), 1;
						}
			}
		}
	}
	return 0;
}
