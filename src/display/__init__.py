"""Objects as people see them: tables in notebooks and in terminals."""
