"""Writing files: locks between processes, drafts that replace a file in one step."""
