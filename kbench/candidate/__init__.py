"""The untrusted side: what runs in the candidate's sandbox. Imports nothing of kbench but this package; holds no secret."""
