#!/usr/bin/env bash
# Count the lines of the product that repeat other lines, five or more in a row; print them and fail above a budget.
#   repetition.sh SYMILAR BUDGET
# Migrations repeat the schema on purpose, and the rows of tests may look alike.
set -euo pipefail
mapfile -t files < <(find ironic -name '*.py' -not -path 'ironic/tests/*' -not -path 'ironic/db/migrations/*' | sort)
report=$("$1" --duplicates=5 --ignore-comments --ignore-imports --ignore-docstrings --ignore-signatures "${files[@]}")
count=$(sed -n 's/^TOTAL .*duplicates=\([0-9]*\) .*/\1/p' <<< "$report")
[ "$count" -le "$2" ] && exit
printf '%s\n%s\n' "$report" "$count repeated lines, $2 are allowed (REPEATED_LINES in the Makefile)"
exit 1
