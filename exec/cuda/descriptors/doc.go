// Package descriptors hands file descriptors to other processes of this machine, over Unix sockets: what stands for GPU
// memory, or for a page that all of them map. Only processes of the same user are let in, who have been told the
// address and a token by other means.
package descriptors

// Card is what a process tells the others before it meets them.
type Card struct {
	Machine string // equal where two processes can meet: same kernel, user and folder for sockets
	Path    string // of the socket
	Token   string
}
