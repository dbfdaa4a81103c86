"""Options of [console]: serial consoles of machines, offered over TCP by the conductor's host."""

from oslo_config import cfg

from ironic.conf.option_types import ListOpt, PortRange

PLACES = [
    cfg.IPOpt(
        "socat_address",
        default="$my_ip",
        help="Address of this host on which serial consoles are offered. There is no login: anyone who reaches the "
        "address and the port can type into the machine. Choose one that only the proxies of Nova and operators reach.",
    ),
    ListOpt(
        "port_range",
        item_type=PortRange(),
        sample_default=["10000:20000"],
        help="Ranges first:end of TCP ports for serial consoles; the end is not used. Without ranges each node needs "
        "a port of its own in its driver_info.",
    ),
    cfg.StrOpt(
        "terminal_pid_dir",
        help="Directory of the files with process IDs of serial consoles; created when missing. By default "
        "[DEFAULT]tempdir.",
    ),
]

TIMES = [
    cfg.IntOpt(
        "terminal_timeout",
        default=600,
        min=0,
        help="Seconds after which the connection of a viewer without traffic is closed; 0 is never.",
    ),
    cfg.IntOpt(
        "subprocess_timeout", default=10, min=1, help="Seconds that the program of a console may take to start."
    ),
    cfg.IntOpt(
        "subprocess_checking_interval", default=1, min=1, help="Longest pause in seconds between two looks meanwhile."
    ),
    cfg.IntOpt(
        "kill_timeout",
        default=1,
        min=0,
        help="Seconds that the program of a console may take to end by itself before it is killed.",
    ),
]

OPTIONS = {"console": PLACES + TIMES}
