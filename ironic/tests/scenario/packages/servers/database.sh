#!/bin/bash
# Makes the database and its user at the first start; root logs in by the socket only, as its password is random.
set -eu
if [ ! -d /var/lib/mysql/mysql ]; then
    [ -n "$MARIADB_RANDOM_ROOT_PASSWORD" ]
    mariadb-install-db --user=mysql --skip-test-db --auth-root-authentication-method=socket > /dev/null
    cat > /tmp/first.sql << SQL
CREATE DATABASE $MARIADB_DATABASE;
CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';
GRANT ALL ON $MARIADB_DATABASE.* TO '$MARIADB_USER'@'%';
SQL
    set -- --init-file=/tmp/first.sql
fi
exec mariadbd --user=mysql --bind-address=0.0.0.0 "$@"
