"""An honest loopback Bot API with a phone page, to try and to test the hub without Telegram."""

from bridge.simulator.faults import Fault, FaultKind
from bridge.simulator.human import Human, Message
from bridge.simulator.limits import STRICT, UNLIMITED, Limits
from bridge.simulator.simulator import Simulator
from bridge.simulator.stage import AgentChoice

__all__ = ["STRICT", "UNLIMITED", "AgentChoice", "Fault", "FaultKind", "Human", "Limits", "Message", "Simulator"]
