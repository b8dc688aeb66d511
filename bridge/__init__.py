"""Between Telegram and the agents: journal, topics, approvals, rendering, delivery."""
