"""What a driver implements and is handed: interfaces, tasks, steps, waits and periodics."""
