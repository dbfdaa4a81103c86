"""What third-party plug-ins find behind the doors, where no room of the service has it in their shape."""
