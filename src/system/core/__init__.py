"""The System: topology, realization, transport of States."""
