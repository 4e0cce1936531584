package cluster

import (
	"fmt"
	"net"
	"strconv"
)

// World is a process's place among those that a launcher has started together.
type World struct {
	Rank, Size int
	LocalRank  int    // among those of its node
	Root       string // host:port at which rank 0 listens; "" where there is no other rank
	Host       string // its node's name, where the launcher says it
	Launcher   string // who said so, as messages name it; "" where nobody has, and this is the only process
}

// MaxRanks bounds what a launcher may say: a control connection for each is held by rank 0.
const MaxRanks = 1 << 16

// launcher is how one says who a process is: names of variables.
type launcher struct {
	name, sign            string // sign is set in what it starts, and nowhere else
	rank, size, localRank string
	// root says where rank 0 listens, where RAILYARD_ROOT does not.
	root func(variables) (string, error)
}

// variables is the environment of a process.
type variables func(string) string

// launchers are asked in this order: mpirun inside a Slurm allocation sets SLURM_PROCID to
// another meaning, and what a person has set stands above all.
var launchers = []launcher{
	{"RAILYARD_RANK", "RAILYARD_RANK", "RAILYARD_RANK", "RAILYARD_SIZE", "RAILYARD_LOCAL_RANK",
		rootNotSet("export it on every rank")},
	{"torchrun", "RANK", "RANK", "WORLD_SIZE", "LOCAL_RANK", afterStore},
	{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
		rootNotSet("mpirun -x RAILYARD_ROOT=HOST:PORT …")},
	{"PMI", "PMI_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", rootNotSet("mpiexec -genv RAILYARD_ROOT HOST:PORT …")},
	{"srun", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", firstNode},
	{"Kubernetes Indexed Job", "JOB_COMPLETION_INDEX", "JOB_COMPLETION_INDEX", "RAILYARD_SIZE", "",
		rootNotSet("in the manifest's env: JOB-0.SERVICE:29400, SERVICE being the headless service that subdomain names")},
}

// Detect says who this process is: one by itself where no launcher has started it among others. env is os.Getenv. Errors say which
// variables do not fit, and what to do.
func Detect(env func(string) string) (World, error) {
	for _, l := range launchers {
		if env(l.sign) != "" && !(l.sign == "PMI_RANK" && srunSpeaksPMI(env)) {
			return l.world(env)
		}
	}
	for _, l := range launchers {
		if env(l.size) != "" {
			return World{}, fmt.Errorf("%s=%s is set and %s is not: set both, or neither to run as one process", l.size,
				env(l.size), l.rank)
		}
	}
	if root := env("RAILYARD_ROOT"); root != "" {
		return World{}, fmt.Errorf("RAILYARD_ROOT=%s is set and no launcher says which rank this is: set RAILYARD_RANK and "+
			"RAILYARD_SIZE, or "+
			"unset it to run as one process", root)
	}
	if err := nodeScript(env); err != nil {
		return World{}, err
	}
	return World{Size: 1}, batchStep(env)
}

// srunSpeaksPMI reports whether PMI's variables are srun's (--mpi=pmi2), whose own say more.
func srunSpeaksPMI(env variables) bool {
	return env("SLURM_STEP_ID") != "" && env("SLURM_PROCID") == env("PMI_RANK") && env("SLURM_STEP_NUM_TASKS") == env("PMI_SIZE")
}

// world reads what a launcher has set.
func (l launcher) world(env variables) (w World, err error) {
	w.Launcher = l.name
	if l.sign == "SLURM_STEP_ID" {
		w.Host = env("SLURMD_NODENAME")
	}
	if w.Size, err = env.number(l.size, 1, MaxRanks); err != nil {
		return w, fmt.Errorf("%w (%s=%s says that this is one rank of several)", err, l.rank, env(l.rank))
	}
	if w.Rank, err = env.number(l.rank, 0, w.Size-1); err != nil {
		return w, fmt.Errorf("%w: %s=%s", err, l.size, env(l.size))
	}
	if env(l.localRank) != "" {
		if w.LocalRank, err = env.number(l.localRank, 0, w.Size-1); err != nil {
			return w, err
		}
	}
	if w.Root = env("RAILYARD_ROOT"); w.Size == 1 {
		w.Root = ""
		return w, nil
	}
	if w.Root == "" {
		if w.Root, err = l.root(env); err != nil {
			return w, err
		}
	}
	return w, checkAddress(w.Root)
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

// nodeScript refuses to be one process in what runs once on each of several nodes, as some platforms have it before torchrun does: each
// node would measure itself alone and call that the cluster.
func nodeScript(env variables) error {
	for _, prefix := range []string{"", "PET_"} {
		rank := env(prefix + "NODE_RANK")
		if n, err := strconv.Atoi(env(prefix + "NNODES")); err == nil && n > 1 && rank != "" {
			return fmt.Errorf("%[1]sNODE_RANK=%[2]s says that this runs on one of %[1]sNNODES=%[3]d nodes, and no launcher which rank "+
				"it is: start railyard with torchrun --no-python there, or set RAILYARD_RANK and RAILYARD_SIZE", prefix, rank, n)
		}
	}
	return nil
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
				"one process)", env("SLURM_JOB_ID"), name, n)
		}
	}
	return nil
}
