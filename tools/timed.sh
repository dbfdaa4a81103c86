#!/usr/bin/env bash
# Run one named check and print how long it took; print its output only when it failed.
#   timed.sh NAME COMMAND...
set -u
name=$1; shift
began=$(date +%s.%N)
output=$("$@" 2>&1)
status=$?
[ $status -eq 0 ] || printf '%s\n' "$output"
printf '%-10s %6.1f s  %s\n' "$name" "$(awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { print b - a }')" \
    "$([ $status -eq 0 ] && echo ok || echo FAILED)"
exit $status
