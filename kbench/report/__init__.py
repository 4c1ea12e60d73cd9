"""What people look at: verdicts, tables, pages. Reads records; judges nothing."""
