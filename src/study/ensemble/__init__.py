"""Ensembles: one study of many members, which differ in values of variables."""
