"""What published deployment tools render, run and expect, each played with a machine from enrolment to use."""
