// Asks a plugin, which is built into it, as NCCL does: communicators made in several threads at once, a call a line of standard input
// (collective, bytes, nodes, ranks, and a bit for each algorithm and protocol that the call can use). Each thread is a rank, with
// operations in a group and registered buffers of its own; a line out has what each chose.
#include PLUGIN
#include <pthread.h>
#include <stdio.h>

enum { RANKS = 4, CALLS = 4096 };
static struct { int collective, nodes, ranks; unsigned usable; unsigned long long bytes; } calls[CALLS];
static char chosen[CALLS][RANKS][32];
static int n;
static pthread_barrier_t start;

static void* rank(void* p)
{
	long me = (long)p;
	pthread_barrier_wait(&start);
	for (int i = 0; i < n; i++) {
		void* c;
		int channels = 0;
		float costs[7][3];
		if (ncclTunerPlugin_v5.init(&c, 1, calls[i].ranks, calls[i].nodes, NULL, NULL, NULL)) return NULL;
		for (int k = 0; k < 21; k++) costs[k / 3][k % 3] = calls[i].usable >> k & 1 ? 100 : -1;
		ncclTunerPlugin_v5.choose(c, calls[i].collective, calls[i].bytes, 1 + me, (float**)costs, 7, 3, me & 1, &channels);
		snprintf(chosen[i][me], sizeof chosen[i][me], "none");
		for (int k = 0; k < 21; k++)
			if (costs[k / 3][k % 3] == 0) snprintf(chosen[i][me], sizeof chosen[i][me], "%d/%d/%d", k / 3, k % 3, channels);
		ncclTunerPlugin_v5.end(c);
	}
	return NULL;
}

int main(void)
{
	while (n < CALLS && scanf("%d %llu %d %d %u", &calls[n].collective, &calls[n].bytes, &calls[n].nodes, &calls[n].ranks, &calls[n].usable) == 5) n++;
	pthread_t t[RANKS];
	pthread_barrier_init(&start, NULL, RANKS);
	for (long r = 0; r < RANKS; r++) pthread_create(&t[r], NULL, rank, (void*)r);
	for (int r = 0; r < RANKS; r++) pthread_join(t[r], NULL);
	for (int i = 0; i < n; i++, puts(""))
		for (int r = 0; r < RANKS; r++) printf("%s ", chosen[i][r]);
}
