"""What a site in production adds to the service: it imports only what plug-ins import."""
