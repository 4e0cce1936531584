// Package batch has the shards of some work run by an engine: Slurm, Kubernetes or this machine. It writes the script or
// manifest that the engine is given, submits the shards whose journals are not complete, and watches the journals. What is
// known of a job is in its directory and asked of the engine; so whoever calls again, after whatever was killed, goes on.
package batch
