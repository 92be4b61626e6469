"""Models of other programs: OpenSim and URDF, and data of motion capture."""
