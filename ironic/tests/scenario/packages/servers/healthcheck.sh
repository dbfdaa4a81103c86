#!/bin/bash
# --connect: a client logs in. --innodb_initialized: the engine is ready.
set -eu
[ "$*" = "--connect --innodb_initialized" ]
found=$(mariadb --batch --skip-column-names --execute "SELECT 1 FROM information_schema.ENGINES
    WHERE engine = 'innodb' AND support IN ('YES', 'DEFAULT')")
[ "$found" = 1 ]
