"""Problems of inverse kinematics: read from a file or generated, and solved."""
