"""The tree of bodies: layout, poses, velocities, stations."""
