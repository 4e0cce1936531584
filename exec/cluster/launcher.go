package cluster

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// World is a process's place among those that a launcher has started together.
type World struct {
	Rank, Size int
	LocalRank  int    // among those of its node
	LocalSize  int    // how many there are on its node; 0: the launcher does not say
	Root       string // host:port at which rank 0 listens; "" where there is no other rank
	Host       string // its node's name, where the launcher says it
	Launcher   string // who said so, as messages name it
}

// MaxRanks bounds what a launcher may say: a control connection for each is held by rank 0.
const MaxRanks = 1 << 16

// launcher is how one says who a process is: names of variables.
type launcher struct {
	name, sign                       string // sign is set in what it starts, and nowhere else
	rank, size, localRank, localSize string
	// root says where rank 0 listens, where RAILYARD_ROOT does not.
	root func(variables) (string, error)
}

// variables is the environment of a process.
type variables func(string) string

// launchers are asked in this order: mpirun inside a Slurm allocation sets SLURM_PROCID to
// another meaning, and what a person has set stands above all.
var launchers = []launcher{
	{"RAILYARD_RANK", "RAILYARD_RANK", "RAILYARD_RANK", "RAILYARD_SIZE", "RAILYARD_LOCAL_RANK", "RAILYARD_LOCAL_SIZE",
		rootNotSet("export it on every rank")},
	{"torchrun", "RANK", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", afterStore},
	{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_LOCAL_SIZE", rootNotSet("mpirun -x RAILYARD_ROOT=HOST:PORT …")},
	{"PMI", "PMI_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
		rootNotSet("mpiexec -genv RAILYARD_ROOT HOST:PORT …")},
	{"srun", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", firstNode},
	{"Kubernetes Indexed Job", "JOB_COMPLETION_INDEX", "JOB_COMPLETION_INDEX", "RAILYARD_SIZE", "", "",
		rootNotSet("in the manifest's env: JOB-0.SERVICE:29400, SERVICE being the headless service that subdomain names")},
}

// Detect says who this process is; false where no launcher has started it among others, which
// is one process by itself. env is os.Getenv. Errors say which variables do not fit, and what
// to do.
func Detect(env func(string) string) (World, bool, error) {
	for _, l := range launchers {
		if env(l.sign) != "" && !(l.sign == "PMI_RANK" && srunSpeaksPMI(env)) {
			return l.world(env)
		}
	}
	for _, l := range launchers {
		if env(l.size) != "" {
			return World{}, false, fmt.Errorf("%s=%s is set and %s is not: set both, or neither to run as one process", l.size,
				env(l.size), l.rank)
		}
	}
	if root := env("RAILYARD_ROOT"); root != "" {
		return World{}, false, fmt.Errorf("RAILYARD_ROOT=%s is set and no launcher says which rank this is: set RAILYARD_RANK and "+
			"RAILYARD_SIZE, "+
			"or unset it to run as one process", root)
	}
	return World{}, false, batchStep(env)
}

// srunSpeaksPMI reports whether PMI's variables are srun's (--mpi=pmi2), whose own say more.
func srunSpeaksPMI(env variables) bool {
	return env("SLURM_STEP_ID") != "" && env("SLURM_PROCID") == env("PMI_RANK") && env("SLURM_STEP_NUM_TASKS") == env("PMI_SIZE")
}

// world reads what a launcher has set.
func (l launcher) world(env variables) (World, bool, error) {
	w := World{Launcher: l.name}
	if l.sign == "SLURM_STEP_ID" {
		w.Host = env("SLURMD_NODENAME")
	}
	var err error
	if w.Size, err = env.number(l.size, 1, MaxRanks); err != nil {
		return w, false, fmt.Errorf("%w (%s=%s says that this is one rank of several)", err, l.rank, env(l.rank))
	}
	if w.Rank, err = env.number(l.rank, 0, w.Size-1); err != nil {
		return w, false, fmt.Errorf("%w: %s=%s", err, l.size, env(l.size))
	}
	if env(l.localRank) != "" {
		if w.LocalRank, err = env.number(l.localRank, 0, w.Size-1); err != nil {
			return w, false, err
		}
	}
	if w.LocalSize, err = l.ranksOnNode(env, w); err != nil || w.Size == 1 {
		return w, err == nil, err
	}
	if w.Root = env("RAILYARD_ROOT"); w.Root == "" {
		if w.Root, err = l.root(env); err != nil {
			return w, false, err
		}
	}
	err = checkAddress(w.Root)
	return w, err == nil, err
}

// ranksOnNode is how many ranks there are on this node.
func (l launcher) ranksOnNode(env variables, w World) (int, error) {
	text := env(l.localSize)
	if text == "" {
		return 0, nil
	}
	if l.localSize == "SLURM_STEP_TASKS_PER_NODE" {
		return tasksOf(text, env("SLURM_NODEID"))
	}
	return env.number(l.localSize, w.LocalRank+1, w.Size)
}

// number reads a variable that must be from least to most.
func (env variables) number(name string, least, most int) (int, error) {
	text := env(name)
	if text == "" {
		return 0, fmt.Errorf("%s is not set", name)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s=%s must be a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// checkAddress refuses what is no host:port.
func checkAddress(root string) error {
	host, port, err := net.SplitHostPort(root)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || host == "" || n == 0 {
		return fmt.Errorf("RAILYARD_ROOT=%s must be HOST:PORT, HOST being rank 0's node and PORT from 1 to 65535", root)
	}
	return nil
}

// rootNotSet is for launchers that do not say where rank 0 is.
func rootNotSet(how string) func(variables) (string, error) {
	return func(variables) (string, error) {
		return "", fmt.Errorf("RAILYARD_ROOT is not set, which says where rank 0 listens, as HOST:PORT: %s", how)
	}
}

// afterStore is the port after torchrun's, where its own store listens.
func afterStore(env variables) (string, error) {
	host := env("MASTER_ADDR")
	if host == "" {
		return "", fmt.Errorf("MASTER_ADDR is not set: start it with torchrun, or set RAILYARD_ROOT=HOST:PORT")
	}
	port, err := env.number("MASTER_PORT", 1, 1<<16-2)
	return net.JoinHostPort(host, strconv.Itoa(port+1)), err
}

// Ports of Slurm's steps lie below those that Linux gives to connections (from 32768 on).
const firstPort, ports = 20000, 10000

// firstNode is the first node of a step, where srun puts rank 0, and a port of that step's.
func firstNode(env variables) (string, error) {
	nodes, err := Hostnames(env("SLURM_STEP_NODELIST"))
	if err != nil {
		return "", fmt.Errorf("SLURM_STEP_NODELIST: %w", err)
	}
	if len(nodes) == 0 {
		return "", fmt.Errorf("SLURM_STEP_NODELIST is not set: start it with srun, or set RAILYARD_ROOT=HOST:PORT")
	}
	job, err := strconv.ParseUint(env("SLURM_JOB_ID"), 10, 64)
	if err != nil {
		return "", fmt.Errorf("SLURM_JOB_ID=%s must be a number", env("SLURM_JOB_ID"))
	}
	step, err := strconv.ParseUint(env("SLURM_STEP_ID"), 10, 64)
	if err != nil {
		return "", fmt.Errorf("SLURM_STEP_ID=%s must be a number", env("SLURM_STEP_ID"))
	}
	return net.JoinHostPort(nodes[0], strconv.FormatUint(firstPort+(job%ports*61+step%ports)%ports, 10)), nil
}

// tasksOf reads Slurm's count of tasks by node, "2,1" or "4(x3)".
func tasksOf(text, node string) (int, error) {
	want, err := strconv.Atoi(node)
	if err != nil || want < 0 {
		return 0, fmt.Errorf("SLURM_NODEID=%s must be a number", node)
	}
	for _, part := range strings.Split(text, ",") {
		tasks, times, many := strings.Cut(part, "(x")
		n, err := strconv.Atoi(tasks)
		repeat := 1
		if err == nil && many {
			repeat, err = strconv.Atoi(strings.TrimSuffix(times, ")"))
		}
		if err != nil || n < 0 || repeat < 1 {
			return 0, fmt.Errorf(`SLURM_STEP_TASKS_PER_NODE=%s must be as "2,1" or "4(x3)"`, text)
		}
		if want -= repeat; want < 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("SLURM_STEP_TASKS_PER_NODE=%s has no node %s", text, node)
}

// batchStep refuses to be one process in a job's script that has several tasks: the others
// would stand idle, and nobody would notice.
func batchStep(env variables) error {
	if env("SLURM_JOB_ID") == "" || env("SLURM_STEP_ID") != "" {
		return nil
	}
	for _, name := range []string{"SLURM_NTASKS", "SLURM_NNODES"} {
		if n, err := strconv.Atoi(env(name)); err == nil && n > 1 {
			return fmt.Errorf("this is the script of Slurm job %s, which has %s=%d: start railyard with srun there (srun -n 1 -N 1 for "+
				"one process)",
				env("SLURM_JOB_ID"), name, n)
		}
	}
	return nil
}
