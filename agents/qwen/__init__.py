"""Qwen Code (measured on 0.24.4): one process for all topics, the ACP layer with Qwen's own extensions."""
