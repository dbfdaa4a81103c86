# DevStack sources this in each of its phases: $1 is stack, unstack or clean, $2 the phase of stack.

# shellcheck source=devstack/lib/ironic
source "$IRONIC_DIR/devstack/lib/ironic"

if is_service_enabled ironic; then
    case "$1 ${2:-}" in
        "stack install")
            echo_summary "Installing Ironic"
            install_ironic
            ;;
        "stack post-config")
            echo_summary "Configuring Ironic"
            configure_ironic
            create_ironic_accounts
            init_ironic
            ;;
        "stack extra")
            echo_summary "Starting Ironic"
            start_ironic
            enroll_fake_nodes
            ;;
        "stack test-config")
            if is_service_enabled tempest; then
                echo_summary "Configuring tempest for Ironic"
                configure_tempest_for_ironic
            fi
            ;;
        "unstack "*)
            stop_ironic
            ;;
        "clean "*)
            cleanup_ironic
            ;;
    esac
fi
