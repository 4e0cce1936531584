package topology

import "sync"

// derived is what others have worked out from a topology alone, kept as long as it.
type derived struct{ known sync.Map }

// Once is what find returns, which is called once for each topology and key, whoever asks:
// for what follows from these alone and takes long to find. Keys are values of types of the
// caller's own; what is returned must not be changed.
func Once[T any](t *Topology, key any, find func() T) T {
	once, ok := t.derived.known.Load(key)
	if !ok {
		once, _ = t.derived.known.LoadOrStore(key, sync.OnceValue(find))
	}
	return once.(func() T)()
}

// OnceOr is Once for what may fail, as it then always does.
func OnceOr[T any](t *Topology, key any, find func() (T, error)) (T, error) {
	once, ok := t.derived.known.Load(key)
	if !ok {
		once, _ = t.derived.known.LoadOrStore(key, sync.OnceValues(find))
	}
	return once.(func() (T, error))()
}
