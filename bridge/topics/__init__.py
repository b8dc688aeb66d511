"""One actor per topic: its inbox, its queue, its session and its running turn.

The hub starts an ``actor.Actor`` for each topic and puts items (``inbox``) into it; nothing else changes a topic.
"""
