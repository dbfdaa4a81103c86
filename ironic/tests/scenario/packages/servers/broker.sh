#!/bin/bash
# The user of the variables is made when the broker starts without data.
set -eu
chown rabbitmq:rabbitmq /var/lib/rabbitmq
cat > /etc/rabbitmq/rabbitmq.conf << CONF
listeners.tcp.default = 5672
default_user = $RABBITMQ_DEFAULT_USER
default_pass = $RABBITMQ_DEFAULT_PASS
log.console = true
log.file = false
CONF
exec setpriv --reuid rabbitmq --regid rabbitmq --init-groups env HOME=/var/lib/rabbitmq /usr/lib/rabbitmq/bin/rabbitmq-server
