#!/bin/bash
# Times all-reduces of ours, NCCL and other libraries one after another on one machine:
# peers.sh LAB OUTPUT_FOLDER [GPUS]. GPUS is 2,3,4 where nothing is said;
# MSCCLPP names the program that exec/peers/mscclpp.cc says how to build. All rows name the
# same run, so `lab cuda-tables same-run.csv --profile … --date … --peers peers.csv --peers mscclpp.csv` can tell.
# What one of them cannot do is a row that says why. NVLink multicast stays off.
lab=${1:?which lab?}
out=${2:?which output folder?}
gpus=${3:-2,3,4}
here=$(dirname "$0")/../../exec/peers
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 MSCCLPP_FORCE_DISABLE_NVLS=1
run=$(date -u +%Y-%m-%dT%H:%M:%SZ)
types=float32,bfloat16
failed=0
mkdir -p "$out"

# part SECONDS NAME COMMAND…: how long it took; one that fails leaves what it had measured.
part() {
  local limit=$1 name=$2 began=$SECONDS code
  shift 2
  timeout -k 5 "$limit" "$@"
  code=$?
  echo "$name: exit code $code, $((SECONDS - began)) s" >&2
  [ $code = 0 ] || failed=1
}

part 120 ours "$lab" cuda-sweep --chosen --specialise --nccl --gpus "$gpus" -c all_reduce -d $types -b 1K -e 64M --per-case 40ms --run "$run" -o "$out/same-run.csv"
part 90 symmetric_memory python3 "$here/symmetric_memory.py" -g "$gpus" -d $types --run "$run" >"$out/peers.csv"
if [ -x "$MSCCLPP" ]; then
  for n in ${gpus//,/ }; do
    part 30 "mscclpp-$n" "$MSCCLPP" -g "$n" -d $types --run "$run"
  done >"$out/mscclpp.all"
  awk 'NR == 1 || !/^collective,/' "$out/mscclpp.all" >"$out/mscclpp.csv"
  rm "$out/mscclpp.all"
else
  echo "mscclpp: not measured, MSCCLPP names no program" >&2
fi
exit $failed
