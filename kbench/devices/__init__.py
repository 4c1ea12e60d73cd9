"""Devices: memory that the lane owns and a worker sees, a worker's memory that the lane reads, caches, facts."""
