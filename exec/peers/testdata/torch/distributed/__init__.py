import threading
import types

groups = {}  # name: barrier, what each rank has put in
lock = threading.Lock()


def init_process_group(backend, rank, world_size):
    pass


def new_group(ranks):
    name = str(ranks)
    with lock:
        groups.setdefault(name, (threading.Barrier(len(ranks)), {}))
    return types.SimpleNamespace(group_name=name)


def destroy_process_group():
    pass
