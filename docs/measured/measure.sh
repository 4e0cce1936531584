#!/bin/bash
# Measures what the folders here hold on a machine with four GPUs: measure.sh RAILYARD LAB OUTPUT_FOLDER,
# the programs of cmd/railyard and cmd/lab.
# Each step has a time limit; one that fails is named in the log and the others go on.
# NVLink multicast stays off.
railyard=${1:?which railyard?}
lab=${2:?which lab?}
out=${3:?which output folder?}
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
run=$(date -u +%Y-%m-%dT%H:%M:%SZ)
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv | tee "$out/log"

# step SECONDS NAME COMMAND…: its output goes to NAME.out, its complaints to the log.
step() {
  local limit=$1 name=$2
  shift 2
  local began=$SECONDS
  timeout -k 5 "$limit" "$@" >"$out/$name.out" 2>>"$out/log"
  echo "$name: exit code $?, $((SECONDS - began)) s" | tee -a "$out/log"
}

# baseline NAME FLAGS…: adds rows to nccl.csv.
baseline() {
  local name=$1
  shift
  step 60 "$name" "$railyard" baseline "$@"
  [ -s "$out/nccl.csv" ] && sed -i 1d "$out/$name.out"
  cat "$out/$name.out" >>"$out/nccl.csv"
  rm "$out/$name.out"
}

others=all_gather,reduce_scatter,broadcast,reduce,all_to_all
forced=ring/ll,ring/ll128,ring/simple,tree/ll,tree/ll128,tree/simple
step 20 discover "$railyard" discover -o "$out/discovered.yaml"
step 20 matrix "$railyard" topo show --matrix -t live
step 90 probe-4 "$railyard" probe -o "$out/links-4.yaml"
step 60 probe-2 "$railyard" probe --gpus 2 -o "$out/links-2.yaml"
baseline all-reduce-4 --setting default,windows -b 1K -e 4G --how traffic
baseline forced-4 --setting $forced -b 1K -e 64M --how traffic
baseline others-4 -c $others --setting default,windows -b 1K -e 1G -f 4 --how traffic
baseline all-reduce-2 --gpus 2 --setting default,windows -b 1K -e 4G --how traffic
baseline others-2 --gpus 2 -c $others --setting default,windows -b 1K -e 1G -f 4 --how traffic
baseline bfloat16-4 -d bfloat16 --setting default,windows -b 1K -e 1G -f 4 --how traffic
baseline stream-4 --how launch=stream,traffic -b 1K -e 64M -f 4
step 300 peers "$(dirname "$0")/peers.sh" "$lab" "$out"
five=all_reduce,all_gather,reduce_scatter,broadcast,all_to_all
step 300 beside "$lab" cuda-sweep --specialise --nccl --gpus 4,3,2 -c $five -b 1K -e 4G --per-case 40ms --run "$run" -o "$out/beside.csv"
step 200 beside-bfloat16 "$lab" cuda-sweep --specialise --nccl --gpus 4,3,2 -c $five -d bfloat16 -b 1K -e 4G --per-case 30ms --fastest "$out/beside.csv" --run "$run" -o "$out/beside-bfloat16.csv"
for algo in hierarchical_direct hierarchical_ring hierarchical_tree hierarchical_two_shot; do
  step 30 "nodes-$algo" "$railyard" run --backend cuda -t dgx-a100 --nodes 2 --gpus 2 -c all_reduce --algo $algo -b 4K -e 16M -f 16 -o "$out/nodes-$algo"
done
tries=()
for way in direct/words direct/packets direct/lines two_shot/words two_shot/words_push two_shot/push two_shot/pull simple_ring/words; do
  tries+=(--try "$way/1/4/128" --try "$way/1/4/128+int")
done
step 40 specialised "$lab" cuda-sweep --gpus 4,3,2 -b 1K -e 64M --per-case 40ms --fastest "$out/beside.csv" --specialise -o "$out/specialised.csv"
step 40 interpreted "$lab" cuda-sweep --gpus 4,3,2 -b 1K -e 64M --per-case 40ms --fastest "$out/beside.csv" -o "$out/interpreted.csv"
step 90 stream "$lab" cuda-sweep --fastest "$out/beside.csv" --specialise --nccl --stream --gpus 4,3,2 -f 4 -b 1K -e 64M -o "$out/stream.csv"
step 30 traffic "$lab" cuda-sweep --gpus 4 -b 256M -e 256M --traffic --try two_shot/push/1/132/512 --try two_shot/words_push/1/128/512 --try simple_ring/words/1/128/512 -o "$out/traffic.csv"
step 120 memcheck compute-sanitizer --tool memcheck "$lab" cuda-sweep --gpus 4 -b 4K -e 64K -f 16 --replays 1 "${tries[@]}" -o "$out/memcheck.csv"
oneway=(--try direct/packets/1/4/64 --try direct/packets/1/4/64+int --try direct/lines/1/4/64 --try direct/lines/1/4/64+int)
step 60 memcheck-broadcast compute-sanitizer --tool memcheck "$lab" cuda-sweep --gpus 4 -c broadcast -b 4K -e 64K -f 16 --replays 1 "${oneway[@]}" -o "$out/memcheck-broadcast.csv"
step 40 stress-3 "$lab" cuda-stress --gpus 3 --for 30s --seed 20261129 -o "$out/stress-3.csv"
step 310 stress "$lab" cuda-stress --gpus 4 --for 301s --seed 20261125 -o "$out/stress.csv"

# append FILE OTHER: rows without their header.
append() { [ -s "$out/$2" ] && sed 1d "$out/$2" >>"$out/$1"; }
append beside.csv beside-bfloat16.csv
mv "$out/specialised.csv" "$out/interpreter.csv"
append interpreter.csv interpreted.csv
