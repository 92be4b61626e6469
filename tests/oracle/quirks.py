"""Where the real library departs from the contract: one named quirk for each way.

A model with all quirks on answers as Simbody 3.7 does; with none on it is our contract. The
shortest sequence that shows each of them is in `findings.py`.
"""

from enum import Enum


class Quirk(Enum):
    """One departure of the real library; `sentence` describes it."""

    # ------------------------------------------------------------------ allocation
    ADD_SUBSYSTEM_ANY_STAGE = "A subsystem can be added to a state that is realized."
    SET_NUM_KEEPS_SYSTEM = "set_num_subsystems keeps the system's stage, t and y."
    CLEAR_RESTARTS_VERSIONS = "After clear all versions start at 1 again."
    PENDING_SURVIVES = (
        "Invalidating a stage forgets what was allocated while that stage was being realized "
        "only in subsystems that had reached it."
    )
    ALLOC_STAGE_NEXT = (
        "The allocation stage that is reported is the one being worked on, not the one reached."
    )
    AUTO_DV_ANY_STAGE = "An auto-update variable may invalidate Time or a stage below it."
    AUTO_DV_NOT_ATOMIC = (
        "If the update entry of an auto-update variable is refused, the variable stays, without it."
    )
    TOPOLOGY_DV_ASSERTS = (
        "A discrete variable that invalidates Topology passes the checks of stages, and "
        "ends the process."
    )
    TRIGGER_ANY_STAGE = "Event triggers can be allocated for the stages Empty and Infinity."
    KEYS_CHECKED_LATE = (
        "A discrete variable that does not exist, or a prerequisite that stands twice, is found "
        "after all other checks."
    )
    PREREQUISITE_MAY_GO_FIRST = (
        "A prerequisite may be allocated at a later stage than its dependent, and be forgotten "
        "earlier."
    )
    DEPENDENTS_AS_REGISTERED = "Dependents are listed in the order in which they were allocated."

    # ------------------------------------------------------------------ validity
    PRESUMED_AT_ALLOCATION = "An entry allocated when its latest stage is reached is realized."
    LATEST_HIDES_WRITE = (
        "While an entry's latest stage is reached, a write of its explicit prerequisite "
        "does not show."
    )
    LATEST_HIDES_UNMARK = (
        "While an entry's latest stage is reached, an explicit invalidation, its own or of "
        "an entry upstream, does not show."
    )
    UPSTREAM_STAGE_IGNORED = (
        "An entry can be realized while an entry upstream is below its own earliest stage."
    )
    EARLY_MARK_SURVIVES = (
        "An entry marked one stage before its earliest does not notice that this stage changes "
        "before it is reached."
    )
    ZWEIGHTS_DYNAMICS = "A write of the whole zWeights invalidates Dynamics, not Report."
    TRIGGER_READ_EARLY = "Triggers of stages below Instance can be read before Instance, empty."

    INFINITY_CAN_BE_REACHED = "A subsystem or the system can advance to Infinity."

    # ------------------------------------------------------------------ auto-update
    SWAP_SILENT = (
        "An auto-update changes neither the version of the variable nor the validity of its "
        "explicit dependents."
    )
    SWAP_TIME_AT_EMPTY = "An auto-update that has to swap raises while the system is at Empty."

    # ------------------------------------------------------------------ copies and versions
    COPY_RESURRECTS = (
        "Validity goes by version numbers of stages: in a copy a stale entry can become valid."
    )
    COPY_DROPS_MARKS = (
        "In a copy an entry with explicit prerequisites is not realized, even if its earliest "
        "stage is at most Instance."
    )
    COPY_VERSIONS = "Versions of q, u, z and stages can fall, or stay the same, in an assignment."
    SS_VERSIONS_RESET = "The stage versions of a subsystem start at 1 again at Empty."

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    def __str__(self) -> str:
        return self.name.lower()


ALL = frozenset(Quirk)
NONE: frozenset[Quirk] = frozenset()
