#!/bin/sh
# Of 64 shards of the question
#   capacity size superpod-h100 '--name=a b'
# this runs the one whose number is its argument.
shard=$1
exec /bin/railyard capacity sweep --shard $shard/64 --output '/data/my sweep/shard-'$shard'.jsonl' -- capacity size superpod-h100 '--name=a b'
