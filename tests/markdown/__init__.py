"""What the renderer is measured on, and by: documents, a reference, and a judge."""
