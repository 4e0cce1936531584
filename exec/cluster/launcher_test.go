package cluster

import (
	"strings"
	"testing"
)

// environment is variables as "A=1 B=2".
func environment(text string) func(string) string {
	all := map[string]string{}
	for _, f := range strings.Fields(text) {
		name, value, _ := strings.Cut(f, "=")
		all[name] = value
	}
	return func(name string) string { return all[name] }
}

// step is what srun -N2 -n3 sets, seen with Slurm 22.05.
const step = "SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=3 SLURM_NTASKS=3 SLURM_NNODES=2 SLURM_LOCALID=0 " +
	"SLURM_NODEID=1 " +
	"SLURM_STEP_TASKS_PER_NODE=2,1 SLURM_STEP_NODELIST=n[2,4] SLURMD_NODENAME=n4 "

// batch is what the script of that job has.
const batch = "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_NTASKS=3 SLURM_NNODES=2 SLURM_TASKS_PER_NODE=2,1 "

const openMPI = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 RAILYARD_ROOT=a:1 "

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		env  string
		want World
	}{
		{"", World{Size: 1}},
		{"RAILYARD_SECRET_FILE=x HOME=/root", World{Size: 1}},
		{"RAILYARD_RANK=3 RAILYARD_SIZE=4 RAILYARD_ROOT=127.0.0.1:29400", World{3, 4, 0, "127.0.0.1:29400", "", "RAILYARD_RANK"}},
		{"RAILYARD_RANK=3 RAILYARD_SIZE=4 RAILYARD_LOCAL_RANK=1 RAILYARD_LOCAL_SIZE=2 RAILYARD_ROOT=[::1]:5 " + step,
			World{3, 4, 1, "[::1]:5", "", "RAILYARD_RANK"}},
		{"RAILYARD_RANK=0 RAILYARD_SIZE=1", World{0, 1, 0, "", "", "RAILYARD_RANK"}},
		{"RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=29500", World{1, 2, 1, "h:29501", "",
			"torchrun"}},
		{openMPI + step, World{1, 4, 1, "a:1", "", "Open MPI"}},
		{"PMI_RANK=5 PMI_SIZE=8 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4 RAILYARD_ROOT=a:1", World{5, 8, 1, "a:1", "", "PMI"}},
		{step, World{2, 3, 0, "n2:20429", "n4", "srun"}},
		{step + "PMI_RANK=2 PMI_SIZE=3", World{2, 3, 0, "n2:20429", "n4", "srun"}},
		{step + "PMI_RANK=1 PMI_SIZE=3 RAILYARD_ROOT=a:1", World{1, 3, 0, "a:1", "", "PMI"}},
		{step + "RAILYARD_ROOT=b:9", World{2, 3, 0, "b:9", "n4", "srun"}},
		{"JOB_COMPLETION_INDEX=2 RAILYARD_SIZE=4 RAILYARD_ROOT=job-0.svc:29400", World{2, 4, 0, "job-0.svc:29400", "",
			"Kubernetes Indexed Job"}},
		{"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_NNODES=1", World{Size: 1}},
		{"NODE_RANK=0 NNODES=1", World{Size: 1}},
	} {
		got, err := Detect(environment(c.env))
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.env, got, err, c.want)
		}
	}
}

func TestDetectErrors(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"RAILYARD_RANK=1", "RAILYARD_SIZE is not set"},
		{"RAILYARD_SIZE=2", "RAILYARD_SIZE=2 is set and RAILYARD_RANK is not"},
		{"RAILYARD_ROOT=a:1", "RAILYARD_ROOT=a:1 is set and no launcher"},
		{"RAILYARD_RANK=2 RAILYARD_SIZE=2", "RAILYARD_RANK=2 must be a number from 0 to 1: RAILYARD_SIZE=2"},
		{"RAILYARD_RANK=-1 RAILYARD_SIZE=2", "RAILYARD_RANK=-1 must be a number from 0 to 1"},
		{"RAILYARD_RANK=x RAILYARD_SIZE=2", "RAILYARD_RANK=x must be"},
		{"RAILYARD_RANK=1 RAILYARD_SIZE=99999999", "RAILYARD_SIZE=99999999 must be a number from 1 to 65536"},
		{"RAILYARD_RANK=1 RAILYARD_SIZE=2", "RAILYARD_ROOT is not set"},
		{"RAILYARD_RANK=1 RAILYARD_SIZE=2 RAILYARD_ROOT=host", "must be HOST:PORT"},
		{"RAILYARD_RANK=1 RAILYARD_SIZE=2 RAILYARD_ROOT=:5", "must be HOST:PORT"},
		{"RAILYARD_RANK=1 RAILYARD_SIZE=2 RAILYARD_ROOT=h:70000", "must be HOST:PORT"},
		{"RAILYARD_RANK=1 RAILYARD_SIZE=2 RAILYARD_LOCAL_RANK=2", "RAILYARD_LOCAL_RANK=2 must be a number from 0 to 1"},
		{"RANK=1", "WORLD_SIZE is not set"},
		{"WORLD_SIZE=1", "WORLD_SIZE=1 is set and RANK is not"},
		{"RANK=1 WORLD_SIZE=2", "MASTER_ADDR is not set"},
		{"RANK=1 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=65535", "MASTER_PORT=65535 must be"},
		{strings.ReplaceAll(openMPI, "RAILYARD_ROOT=a:1", ""), "mpirun -x RAILYARD_ROOT"},
		{"NODE_RANK=1 NNODES=4 NGPUS=8", "NODE_RANK=1 says that this runs on one of NNODES=4 nodes"},
		{"PET_NNODES=4 PET_NODE_RANK=1", "PET_NODE_RANK=1 says that this runs on one of PET_NNODES=4 nodes"},
		{batch, "this is the script of Slurm job 7, which has SLURM_NTASKS=3: start railyard with srun there"},
		{strings.ReplaceAll(step, "n[2,4]", "n[2,"), "SLURM_STEP_NODELIST"},
		{"JOB_COMPLETION_INDEX=2", "RAILYARD_SIZE is not set"},
		{"JOB_COMPLETION_INDEX=2 RAILYARD_SIZE=4", "headless service"},
	} {
		if got, err := Detect(environment(c.env)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", c.env, got, err, c.want)
		}
	}
}
