"""Reports: records in; tables, a page, LaTeX, Markdown and figures out."""
