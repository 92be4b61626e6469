"""Kinematics: qdot = N u, prescribed motion, differences."""
