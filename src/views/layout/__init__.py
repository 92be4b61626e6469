"""Layers, order and places of the nodes of a drawing."""
