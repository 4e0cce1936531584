#!/bin/bash
# 4 nodes (namespaces), 2 leaves and a spine (bridges); node links RATE, leaf uplinks UP (tbf), all names begin with PREFIX.
# Usage: leafspine.sh up PREFIX RATE UP | down PREFIX
set -eu
p=$2
shape() { # where device rate
 $1 qdisc add dev "$2" root tbf rate "$3" burst 256k latency 20ms
}
case $1 in
up)
 for b in leaf0 leaf1 spine; do ip link add $p$b type bridge; ip link set $p$b up; done
 for l in 0 1; do
  ip link add ${p}up$l type veth peer name ${p}dn$l; ip link set ${p}up$l master ${p}leaf$l up; ip link set ${p}dn$l master ${p}spine up
  shape tc ${p}up$l "$4"; shape tc ${p}dn$l "$4"
 done
 for n in 0 1 2 3; do
  ip netns add ${p}node$n; ip link add ${p}e$n type veth peer name eth0 netns ${p}node$n; ip link set ${p}e$n master ${p}leaf$((n/2)) up
  ip -n ${p}node$n addr add 10.8.0.1$n/24 dev eth0; ip -n ${p}node$n link set eth0 up; ip -n ${p}node$n link set lo up
  shape "tc -n ${p}node$n" eth0 "$3"; shape tc ${p}e$n "$3"
 done;;
down)
 for n in 0 1 2 3; do ip netns del ${p}node$n 2>/dev/null || true; done
 for b in up0 up1 leaf0 leaf1 spine; do ip link del $p$b 2>/dev/null || true; done;;
esac
