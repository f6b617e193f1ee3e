"""The doctor: short probes of an agent, and the profile that they show."""

from harness.doctor.examination import Examination as Examination
from harness.doctor.examination import examine as examine
from harness.doctor.probe import Observation as Observation
from harness.doctor.probe import Probe as Probe
