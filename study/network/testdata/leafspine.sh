#!/bin/bash
# NODES nodes (namespaces), half of them on each of 2 leaves, and a spine (bridges); node links RATE, leaf uplinks UP (tbf), all names
# begin with PREFIX; TCP shares links as Reno does, which every kernel has. Usage: leafspine.sh up PREFIX RATE UP NODES | slow PREFIX NODE RATE | down PREFIX
set -eu
p=$2
shape() { # how where device rate
 $2 qdisc $1 dev "$3" root tbf rate "$4" burst 256k latency 20ms
}
case $1 in
up)
 for b in leaf0 leaf1 spine; do ip link add $p$b type bridge; ip link set $p$b up; done
 for l in 0 1; do
  ip link add ${p}up$l type veth peer name ${p}dn$l; ip link set ${p}up$l master ${p}leaf$l up; ip link set ${p}dn$l master ${p}spine up
  shape add tc ${p}up$l "$4"; shape add tc ${p}dn$l "$4"
 done
 for n in $(seq 0 $(($5-1))); do
  ip netns add ${p}node$n; ip link add ${p}e$n type veth peer name eth0 netns ${p}node$n; ip link set ${p}e$n master ${p}leaf$((n/($5/2))) up
  ip -n ${p}node$n addr add 10.8.0.1$n/24 dev eth0; ip -n ${p}node$n link set eth0 up; ip -n ${p}node$n link set lo up
  ip netns exec ${p}node$n sysctl -q -w net.ipv4.tcp_congestion_control=reno
  shape add "tc -n ${p}node$n" eth0 "$3"; shape add tc ${p}e$n "$3"
 done;;
slow)
 shape change "tc -n ${p}node$3" eth0 "$4"; shape change tc ${p}e$3 "$4";;
down)
 for n in 0 1 2 3 4 5 6 7; do ip netns del ${p}node$n 2>/dev/null || true; done
 for b in up0 up1 leaf0 leaf1 spine; do ip link del $p$b 2>/dev/null || true; done;;
esac
