import type { MachineHealthCheck, NodeHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { gateMarks, isOwnPauseRequest, pausedAnnotation, remediationStrategyAnnotation } from './marks.ts'
import { setBy } from './parse-machine.ts'
import type { RemediatorView } from './snapshot.ts'

/** A health check of machines, of OpenShift or Cluster API. */
export function parseMachineHealthCheck(
  check: MachineHealthCheck,
  kind: 'openshift-mhc' | 'cluster-api-mhc',
  nodesOf: (selector: LabelSelector) => readonly string[],
): RemediatorView {
  const { namespace = '', name, annotations = {} } = check.metadata
  const pause = setBy(annotations, pausedAnnotation, gateMarks.pause)
  const selector: LabelSelector | undefined = check.spec?.selector
  return {
    kind,
    key: `${namespace}/${name}`,
    nodes: selector === undefined ? undefined : nodesOf(selector),
    isAlive: aliveness(check.status?.expectedMachines, 'status.expectedMachines'),
    isHeldByHooks:
      kind === 'openshift-mhc' &&
      annotations[remediationStrategyAnnotation] === undefined &&
      check.spec?.remediationTemplate === undefined,
    isPausedByUs: pause === 'ours',
    isPausedByOthers: pause === 'others',
    remediating: [],
  }
}

/** A health check of nodes, of medik8s. */
export function parseNodeHealthCheck(
  check: NodeHealthCheck,
  nodesOf: (selector: LabelSelector) => readonly string[],
): RemediatorView {
  const requests: unknown = check.spec?.pauseRequests
  const pauses = Array.isArray(requests) ? (requests as readonly unknown[]) : []
  const unhealthy: unknown = check.status?.unhealthyNodes
  const selector: LabelSelector | undefined = check.spec?.selector
  return {
    kind: 'medik8s-nhc',
    key: check.metadata.name,
    nodes: selector === undefined ? undefined : nodesOf(selector),
    isAlive: aliveness(check.status?.observedNodes ?? check.status?.phase, 'status.phase'),
    isHeldByHooks: false,
    isPausedByUs: pauses.some(isOwnPauseRequest),
    isPausedByOthers: pauses.some((request) => !isOwnPauseRequest(request)),
    remediating: (Array.isArray(unhealthy) ? (unhealthy as readonly unknown[]) : []).flatMap(remediatedNode),
  }
}

/** Whoever manages a health check writes its status; where there is none, nobody does. */
function aliveness(written: unknown, field: string): Observed<true> {
  return written === undefined || written === null
    ? unknown(`${field} is not set, so no controller manages it yet`)
    : known(true)
}

function remediatedNode(entry: unknown): string[] {
  if (typeof entry !== 'object' || entry === null || !('name' in entry) || typeof entry.name !== 'string') return []
  const isStarted = 'remediations' in entry && Array.isArray(entry.remediations) && entry.remediations.length > 0
  return isStarted ? [entry.name] : []
}
