"""An honest loopback Bot API with a phone page, to try and to test the hub without Telegram."""

from bridge.simulator.faults import Fault, FaultKind
from bridge.simulator.human import Human, Message
from bridge.simulator.limits import STRICT, UNLIMITED, Limits
from bridge.simulator.simulator import Simulator

__all__ = ["STRICT", "UNLIMITED", "Fault", "FaultKind", "Human", "Limits", "Message", "Simulator"]
