"""What runs by itself and when: the table of jobs, their heartbeats, and the schedulers that start them."""
