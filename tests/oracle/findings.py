"""For each quirk the shortest sequence of commands that shows it.

The answer to the last command is what differs between the real library and the contract. The
letters are those under which the finding was first written down.
"""

from typing import NamedTuple

from tests.oracle.quirks import Quirk


class Finding(NamedTuple):
    """A sequence of commands, one per line, and what it is about."""

    letter: str
    title: str
    script: str

    @property
    def commands(self) -> list[str]:
        """The commands, one by one."""
        return self.script.strip().splitlines()


FINDINGS = {
    Quirk.ADD_SUBSYSTEM_ANY_STAGE: Finding(
        "o1",
        "adding a subsystem to a realized state",
        """
realize Topology
add_subsystem s 1
""",
    ),
    Quirk.SET_NUM_KEEPS_SYSTEM: Finding(
        "m4",
        "set_num_subsystems on a realized state",
        """
realize Topology
set_num_subsystems 1
system_stage
""",
    ),
    Quirk.CLEAR_RESTARTS_VERSIONS: Finding(
        "q1",
        "a state that is cleared, compared with itself before",
        """
realize Topology
sysver_save 0
clear
realize Topology
lowest_diff 0
""",
    ),
    Quirk.PENDING_SURVIVES: Finding(
        "q2",
        "what is allocated in a subsystem that is behind, when the others are backed up",
        """
add_subsystem a 1
add_subsystem b 1
advance_subsystem 0 Topology
alloc_lazy_ce 1 Time 1
invalidate_all Topology
has_ce 1 0
""",
    ),
    Quirk.ALLOC_STAGE_NEXT: Finding(
        "e1",
        "the allocation stage of an entry allocated at Empty",
        """
add_subsystem s 1
alloc_lazy_ce 0 Time 1
ce_alloc_stage 0 0
""",
    ),
    Quirk.AUTO_DV_ANY_STAGE: Finding(
        "g4",
        "an auto-update variable that invalidates Time",
        """
add_subsystem s 1
alloc_auto_dv 0 Time Position 4
""",
    ),
    Quirk.AUTO_DV_NOT_ATOMIC: Finding(
        "g4",
        "an auto-update variable with an update entry that is refused",
        """
add_subsystem s 1
alloc_auto_dv 0 Dynamics Infinity 5
has_dv 0 0
""",
    ),
    Quirk.TOPOLOGY_DV_ASSERTS: Finding(
        "e2",
        "a discrete variable that invalidates Topology",
        """
add_subsystem s 1
alloc_dv 0 Topology 1
""",
    ),
    Quirk.TRIGGER_ANY_STAGE: Finding(
        "q3",
        "event triggers of stage Infinity",
        """
add_subsystem s 1
alloc_event_trigger 0 Infinity 1
""",
    ),
    Quirk.KEYS_CHECKED_LATE: Finding(
        "l2",
        "a prerequisite that does not exist, and a stage out of range",
        """
add_subsystem s 1
alloc_ce_pre 0 Infinity Infinity 0 0 0 0:5 - 2
""",
    ),
    Quirk.PREREQUISITE_MAY_GO_FIRST: Finding(
        "l1",
        "a prerequisite that is forgotten before its dependent",
        """
add_subsystem a 1
add_subsystem b 1
advance_subsystem 1 Topology
alloc_lazy_ce 1 Time 1
alloc_ce_pre 0 Time Infinity 0 0 0 - 1:0 2
""",
    ),
    Quirk.DEPENDENTS_AS_REGISTERED: Finding(
        "q4",
        "the order of the dependents of q",
        """
add_subsystem a 1
add_subsystem b 1
alloc_ce_pre 1 Time Infinity 1 0 0 - - 1
alloc_ce_pre 0 Time Infinity 1 0 0 - - 2
q_dependents
""",
    ),
    Quirk.PRESUMED_AT_ALLOCATION: Finding(
        "q5",
        "an entry allocated when its latest stage is already reached",
        """
add_subsystem s 1
realize Topology
alloc_ce 0 Topology Topology 5
get_ce 0 0
""",
    ),
    Quirk.LATEST_HIDES_WRITE: Finding(
        "b1",
        "writing z, which an entry with latest stage Velocity depends on",
        """
add_subsystem s 1
alloc_z 0 1
alloc_ce_pre 0 Time Velocity 0 0 1 - - 5
realize Velocity
set z * 2
get_ce 0 0
""",
    ),
    Quirk.LATEST_HIDES_UNMARK: Finding(
        "c1",
        "invalidating an entry explicitly, with its latest stage reached",
        """
add_subsystem s 1
alloc_ce 0 Time Velocity 5
realize Velocity
ce_unmark 0 0
get_ce 0 0
""",
    ),
    Quirk.UPSTREAM_STAGE_IGNORED: Finding(
        "f1",
        "an entry whose prerequisite in another subsystem is below its earliest stage",
        """
add_subsystem a 1
add_subsystem b 1
alloc_lazy_ce 1 Time 10
alloc_ce_pre 0 Time Infinity 0 0 0 - 1:0 20
realize Instance
advance_subsystem 0 Time
ce_mark 0 0
get_ce 0 0
""",
    ),
    Quirk.EARLY_MARK_SURVIVES: Finding(
        "i3",
        "an entry marked at Time, its earliest stage being Position, before a write of q",
        """
add_subsystem s 1
alloc_q 0 1
alloc_lazy_ce 0 Position 10
realize Time
ce_mark 0 0
set q * 5
realize Position
get_ce 0 0
""",
    ),
    Quirk.ZWEIGHTS_DYNAMICS: Finding(
        "a1",
        "writing the weights of all z",
        """
add_subsystem s 1
alloc_z 0 1
realize Report
set zWeights * 2
system_stage
""",
    ),
    Quirk.TRIGGER_READ_EARLY: Finding(
        "q6",
        "event triggers of stage Model at Model",
        """
realize Model
get_triggers * Model
""",
    ),
    Quirk.INFINITY_CAN_BE_REACHED: Finding(
        "q7",
        "realizing Infinity",
        """
realize Infinity
""",
    ),
    Quirk.SWAP_SILENT: Finding(
        "g1",
        "an entry that depends on a variable that is auto-updated",
        """
add_subsystem s 1
alloc_auto_dv 0 Dynamics Position 4
alloc_ce_pre 0 Position Infinity 0 0 0 0:0 - 7
realize Position
dv_update_mark 0 0
ce_mark 0 1
auto_update
get_ce 0 1
""",
    ),
    Quirk.SWAP_TIME_AT_EMPTY: Finding(
        "g3",
        "an auto-update while only the subsystem has reached Topology",
        """
add_subsystem s 1
alloc_auto_dv 0 Report Topology 4
dv_update_mark 0 0
advance_subsystem 0 Topology
auto_update
""",
    ),
    Quirk.COPY_RESURRECTS: Finding(
        "p1",
        "a stale entry in a copy",
        """
add_subsystem s 1
alloc_q 0 1
alloc_lazy_ce 0 Position 10
realize Position
ce_mark 0 0
set q * 5
copy
realize Position
get_ce 0 0
""",
    ),
    Quirk.COPY_DROPS_MARKS: Finding(
        "d1",
        "an entry with an explicit prerequisite in a copy",
        """
add_subsystem s 1
alloc_ce_pre 0 Topology Infinity 1 0 0 - - 16
realize Topology
ce_mark 0 0
copy
get_ce 0 0
""",
    ),
    Quirk.COPY_VERSIONS: Finding(
        "n13",
        "a state that was assigned to, compared with itself before",
        """
realize Model
save 0
sysver_save 0
assign_from 0
lowest_diff 0
""",
    ),
    Quirk.SS_VERSIONS_RESET: Finding(
        "n2",
        "the stage versions of a subsystem that goes back to Empty",
        """
add_subsystem s 1
realize Topology
invalidate_all Topology
ss_versions 0
""",
    ),
}
