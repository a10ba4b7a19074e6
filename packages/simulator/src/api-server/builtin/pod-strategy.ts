import type { Pod, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import { qosClassOf, requestsFromLimits } from './pod-qos.ts'
import { podSpecErrors } from './pod-spec-validation.ts'
import { completePodStatus, podStatusErrors } from './pod-status.ts'
import { completePodSpec, type FullPodSpec } from './pod-template.ts'
import { podUpdateErrors } from './pod-update-rules.ts'
import { withDefaults, withField, withItems } from './with-defaults.ts'

/** @param account Under which pods run that name none; undefined where the admission plugin ServiceAccount is off. */
export function podStrategyWith({ account }: { readonly account: string | undefined }): ResourceStrategy {
  return { ...podRules, prepare: (next: Pod, previous: Pod | undefined) => preparePod(next, previous, account) }
}

function preparePod(sent: Pod, previous: Pod | undefined, account: string | undefined): Pod {
  const next = previous === undefined ? sent : completePodStatus(sent, previous)
  if (next.spec === undefined || next.spec === previous?.spec) return next
  const spec = completePod(next.spec, account)
  if (previous !== undefined) return { ...next, spec: isSameJson(spec, previous.spec) ? previous.spec : spec }
  return Object.assign({}, next, { spec, status: { phase: 'Pending', qosClass: qosClassOf(spec) } })
}

const podRules: ResourceStrategy = {
  validate(next: Pod, previous: Pod | undefined) {
    if (next.spec === undefined) return [{ kind: 'Required', field: 'spec.containers', detail: '' }]
    if (next.spec === previous?.spec) return []
    const errors = podSpecErrors(next.spec, 'spec')
    return previous === undefined ? errors : [...errors, ...podUpdateErrors(next.spec, previous.spec)]
  },

  validateStatus: podStatusErrors,

  gracePeriodSeconds(object: Pod, requested: number | undefined) {
    const { spec, status } = object
    if (spec.nodeName === undefined || spec.nodeName === '') return 0
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0
    const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 30
    return seconds < 0 ? 1 : seconds
  },
}

export const podStrategy: ResourceStrategy = podStrategyWith({ account: 'default' })

/** Priorities of classes that every server has; they need not be made. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
}

function completePod(given: FullPodSpec, defaultAccount: string | undefined): FullPodSpec {
  const spec = completePodSpec(given)
  const account = spec.serviceAccountName ?? spec.serviceAccount ?? defaultAccount
  const patient =
    (spec.terminationGracePeriodSeconds ?? 0) < 0 ? withField(spec, 'terminationGracePeriodSeconds', 1) : spec
  const completed = withDefaults(patient, {
    ...(account === undefined ? {} : { serviceAccountName: account, serviceAccount: account }),
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: systemPriorities[spec.priorityClassName ?? ''] ?? 0,
    tolerations: patience,
  })
  const tolerations = withDefaultTolerations(completed.tolerations ?? [])
  const containers = completed.containers && withItems(completed.containers, requestsFromLimits)
  return withField(withField(completed, 'tolerations', tolerations), 'containers', containers)
}

const waitFor = (key: string): Toleration => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })
const notReady = waitFor('node.kubernetes.io/not-ready')
const unreachable = waitFor('node.kubernetes.io/unreachable')

const patience = [notReady, unreachable]

/** A pod stays five minutes on a node that is not ready or cannot be reached, unless it says otherwise. */
function withDefaultTolerations(given: readonly Toleration[]): readonly Toleration[] {
  const missing = patience.filter(
    ({ key }) =>
      !given.some(
        (toleration) =>
          (toleration.key === key || !toleration.key) && (toleration.effect === 'NoExecute' || !toleration.effect),
      ),
  )
  return missing.length === 0 ? given : [...given, ...missing]
}
