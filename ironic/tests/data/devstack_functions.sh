# DevStack's functions, played: each call is a line of $CALLS, its words quoted. Those that answer do so as DevStack does.
function _record { printf '%q ' "$@" >> "$CALLS"; echo >> "$CALLS"; }
for played in configure_keystone_authtoken_middleware create_service_user define_plugin echo_summary enable_service \
    get_or_create_endpoint get_or_create_service iniset_rpc_backend openstack pip_install recreate_database \
    run_process setup_develop stop_process test_with_retry wait_for_service; do
    eval "function $played { _record $played \"\$@\"; }"
done
function die { _record die "${@:2}"; exit 1; }
function database_connection_url { echo "sqlite:///$DATA_DIR/ironic.sqlite"; }
function get_python_exec_prefix { echo "$PROGRAMS"; }
function iniset {
    _record iniset "$@"
    printf '[%s]\n%s = %s\n' "${@:2}" >> "$1"
}
function is_service_enabled { [[ " $ENABLED " == *" $1 "* ]]; }
function sudo { "$@"; }
