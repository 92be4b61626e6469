"""Explanations of statuses, and impacts of writes."""
