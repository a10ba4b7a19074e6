/** Marks that distinguish what we set from what others set. Only what carries one of these is ever taken back. */
export const marks = {
  /** On a Machine: the label keys that we put there, joined by commas. */
  labels: 'cofferdam.io/fence-labels',
  /** On a Machine or a health check: what else of ours is on it, `skip-remediation` or `paused`. */
  setByUs: 'cofferdam.io/set-by-fencing',
  /** On a machine budget: the CephCluster it is for. */
  clusterUid: 'cofferdam.io/cephcluster-uid',
  /** On a machine budget: fences that are not over, as JSON. */
  fences: 'cofferdam.io/fences',
  /** On a machine budget: what was known of Ceph when it was decided last, as JSON. */
  evidence: 'cofferdam.io/ceph-evidence',
  /** On a NodeDisruption: since when its node is away on plan. */
  awaySince: 'cofferdam.io/away-since',
} as const

/** What is written in `marks.setByUs`. */
export const gateMarks = { skip: 'skip-remediation', pause: 'paused' } as const
/** Remediators check whether their annotation is there; its value says who set it. */
export const gateValue = 'cofferdam'

/** The name of our lifecycle hook on a Machine. */
export const hookName = 'cofferdam-fencing'
export const hookOwner = 'cofferdam.io/fencing'
/** Our entry among the `pauseRequests` of a NodeHealthCheck. */
export const pauseRequest = 'cofferdam: a node of this check must not be fenced now'
/** What earlier versions left there. */
const formerPauseRequest = 'cofferdam: storage cannot spare a node now'

export function isOwnPauseRequest(entry: unknown): boolean {
  return entry === pauseRequest || entry === formerPauseRequest
}

/** Who holds a Lease of ours. */
export const leaseHolder = 'cofferdam'
/** Cluster API's annotation, read by OpenShift's health checks as well. */
export const pausedAnnotation = 'cluster.x-k8s.io/paused'
export const skipAnnotation = 'cluster.x-k8s.io/skip-remediation'
/** On a CephCluster: Rook's two older labels are written as well. */
export const rookLabelsAnnotation = 'cofferdam.io/rook-fence-labels'
/** On a health check of OpenShift: hosts are rebooted, and no Machine is deleted. */
export const remediationStrategyAnnotation = 'machine.openshift.io/remediation-strategy'
