"""What tests of Simbody and Drake show, shown here: the cases that no other room has."""
