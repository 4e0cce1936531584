#!/bin/bash
# Imports all public plans of MSCCL's scheduler and of MSCCL++'s tests, which are not kept here, and proves each:
# public-plans.sh RAILYARD FOLDER. FOLDER keeps what was fetched and what came of it. MSCCL and MSCCLPP name other
# places of the two repositories, such as clones on this machine. One that is not read makes the exit code 1.
set -u
railyard=${1:?which railyard?}
out=${2:?which folder?}
mkdir -p "$out"
failed=0

# fetch NAME PLACE COMMIT PATH…: these paths of a repository as of a commit, into OUT/NAME.
fetch() {
  local into=$out/$1 from=$2 commit=$3
  shift 3
  [ -d "$into" ] || git clone -q --no-checkout "$from" "$into" || exit 2
  git -C "$into" checkout -q "$commit" -- "$@" || exit 2
}

# read_plan FORMAT FILE RANKS: on one node, or on as many of eight GPUs as it takes.
read_plan() {
  local gpus=$3 nodes=1 said
  [ "$3" -le 8 ] || { gpus=8 nodes=$(($3 / 8)); }
  local on=(-t dgx-h100 --gpus "$gpus" --nodes "$nodes" --force -o "$out/plan.json")
  said=$("$railyard" import --from "$1" "$2" "${on[@]}" 2>&1) && { echo "$said"; return; }
  case $said in
    *"an order that the file allows"*) # a race, which is shown
      "$railyard" import --from "$1" "$2" "${on[@]}" --how racy && return ;;
  esac
  echo "$said"
  failed=1
}

fetch msccl "${MSCCL:-https://github.com/Azure/msccl-scheduler}" a0bfca14a1869bd8ef71328c26ee998bd2dcc368 tools/msccl-algorithms
fetch mscclpp "${MSCCLPP:-https://github.com/microsoft/mscclpp}" 1f5f065d7b13ab02df32c22568f38785d1eeec01 \
  test/execution-files test/executor-tests/execution-plans
for f in "$out"/msccl/tools/msccl-algorithms/*/*.xml; do
  read_plan msccl-xml "$f" "$(grep -o 'ngpus="[0-9]*"' "$f" | head -1 | grep -o '[0-9]*')"
done
for f in "$out"/mscclpp/test/execution-files/*.json "$out"/mscclpp/test/executor-tests/execution-plans/*.json; do
  read_plan mscclpp "$f" "$(grep -c '"input_chunks"' "$f")"
done
exit $failed
