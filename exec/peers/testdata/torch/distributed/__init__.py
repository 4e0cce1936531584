import threading
import types

groups = {}  # name: barrier, what each rank has put in
lock = threading.Lock()


class group:
    WORLD = None


def init_process_group(backend, rank, world_size):
    name = str(world_size)
    with lock:
        groups.setdefault(name, (threading.Barrier(world_size), {}))
        group.WORLD = types.SimpleNamespace(group_name=name)


def destroy_process_group():
    pass
