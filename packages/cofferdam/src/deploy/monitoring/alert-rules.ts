export interface Alert {
  readonly name: string
  readonly expression: string
  /** How long it has to last. */
  readonly for: string
  readonly severity: 'critical' | 'warning'
  readonly summary: string
}

const ofCluster = '{{ $labels.ceph_namespace }}/{{ $labels.ceph_cluster }}'

/** What a person has to know, each with a section of docs/reference/alerts.md that says what to do. */
export const alerts: readonly Alert[] = [
  {
    name: 'CofferdamNoLeader',
    expression: 'absent(cofferdam_leader == 1)',
    for: '5m',
    severity: 'critical',
    summary: 'No replica of the operator leads: drains wait, and no budget is changed.',
  },
  {
    name: 'CofferdamTwoLeaders',
    expression: 'sum(cofferdam_leader) > 1',
    for: '2m',
    severity: 'critical',
    summary: 'More than one replica of the operator leads.',
  },
  {
    name: 'CofferdamViewOutdated',
    expression: 'max by (pod, resource) (cofferdam_cache_age_seconds) > 300',
    for: '5m',
    severity: 'warning',
    summary: 'The view of {{ $labels.resource }} is older than five minutes: decisions that need it wait.',
  },
  {
    name: 'CofferdamReconcilesFail',
    expression: 'sum by (controller) (increase(cofferdam_reconciles_total{result="failed"}[15m])) > 10',
    for: '15m',
    severity: 'warning',
    summary: 'The controller {{ $labels.controller }} fails again and again.',
  },
  {
    name: 'CofferdamCephSilent',
    expression: 'max by (ceph_namespace, ceph_cluster) (cofferdam_ceph_silent_seconds) > 300',
    for: '1m',
    severity: 'warning',
    summary: `Ceph cluster ${ofCluster} has not answered for five minutes: no further node with its OSDs may be drained.`,
  },
  {
    name: 'CofferdamCephDisagreement',
    expression: 'sum by (ceph_namespace, ceph_cluster) (increase(cofferdam_ceph_disagreements_total[1h])) > 0',
    for: '0m',
    severity: 'warning',
    summary: `Cofferdam and the ok-to-stop check of Ceph cluster ${ofCluster} disagree; the stricter of both counts.`,
  },
  {
    name: 'CofferdamCephRecordRefused',
    expression: 'max by (ceph_namespace, ceph_cluster) (cofferdam_ceph_record_refused_seconds) > 60',
    for: '1m',
    severity: 'critical',
    summary: `The record of Ceph cluster ${ofCluster} cannot be written: nothing is released until it can.`,
  },
  {
    name: 'CofferdamRightsMissing',
    expression: 'sum by (ceph_namespace, ceph_cluster) (increase(cofferdam_ceph_refused_writes_total[15m])) > 0',
    for: '0m',
    severity: 'critical',
    summary: `The operator lacks rights that it needs for Ceph cluster ${ofCluster}.`,
  },
  {
    name: 'CofferdamOsdUpdateFrozen',
    expression: 'max by (ceph_namespace, ceph_cluster) (cofferdam_osd_update_frozen) == 1',
    for: '0m',
    severity: 'warning',
    summary: `The OSD update of Ceph cluster ${ofCluster} has stopped: an updated OSD did not come back.`,
  },
  {
    name: 'CofferdamOsdUpdateChecksOff',
    expression: 'max by (ceph_namespace, ceph_cluster) (cofferdam_osd_update_checks_off) == 1',
    for: '1h',
    severity: 'warning',
    summary: `A setting of the CephCluster ${ofCluster} overrides the checks before OSD updates.`,
  },
  {
    name: 'CofferdamFencingProblems',
    expression: 'max(cofferdam_fencing_problems) > 0',
    for: '10m',
    severity: 'warning',
    summary:
      'Machines, budgets or remediators cannot be used as they are: nodes may be fenced without regard to storage.',
  },
  {
    name: 'CofferdamLonghornReverted',
    expression: 'sum by (object) (increase(cofferdam_longhorn_reverted_total[1h])) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'Another client undoes what Cofferdam writes for Longhorn ({{ $labels.object }}).',
  },
]
