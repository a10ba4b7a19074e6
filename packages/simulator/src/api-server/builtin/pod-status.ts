import { isIP } from 'node:net'
import type { ContainerStatus, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { FieldError } from '../schema/field-error.ts'
import { immutableErrors, invalidErrors } from './field-rules.ts'
import { qualifiedNameErrors, subdomainErrors } from './name-rules.ts'

interface Address {
  readonly ip?: string
}

type PodStatus = NonNullable<Pod['status']> & {
  readonly podIPs?: readonly Address[]
  readonly hostIPs?: readonly Address[]
  readonly nominatedNodeName?: string
  readonly observedGeneration?: number
} & { readonly [kind in (typeof containerKinds)[number]]?: readonly ContainerStatus[] }

const containerKinds = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const

/**
 * One address is the first of all: where the two differ, the one counts. The quality of service, and which generation was seen, stay as they
 * were where nothing is said of them. A container has a last state, if an empty one.
 */
export function completePodStatus(next: Pod, previous: Pod): Pod {
  const status = next.status as PodStatus | undefined
  if (status === undefined || status === previous.status) return next
  const before: PodStatus = previous.status ?? {}
  const { podIP = '', podIPs = [], conditions } = status
  const first = podIPs[0]?.ip ?? ''
  const completed: PodStatus = {
    ...status,
    ...(podIP === first ? {} : podIP === '' ? { podIP: first } : { podIPs: [{ ip: podIP }] }),
    ...keptFields(status, before, ['qosClass', 'observedGeneration']),
    ...(conditions && { conditions: conditions.map((condition) => withGenerationOf(condition, before.conditions)) }),
    ...Object.fromEntries(
      containerKinds.flatMap((kind) => (status[kind] === undefined ? [] : [[kind, status[kind].map(withStates)]])),
    ),
  }
  return isSameJson(completed, status) ? next : { ...next, status: completed }
}

function keptFields<T extends object>(next: T, before: T | undefined, fields: readonly (keyof T)[]): Partial<T> {
  const lost = fields.filter((field) => !next[field] && before?.[field])
  return Object.fromEntries(lost.map((field) => [field, before?.[field]])) as Partial<T>
}

function withGenerationOf(condition: Condition, before: readonly Condition[] = []): Condition {
  const former = before.find(({ type }) => type === condition.type)
  return { ...condition, ...keptFields(condition, former, ['observedGeneration']) }
}

function withStates(container: ContainerStatus): ContainerStatus {
  return container.state && container.lastState ? container : { state: {}, lastState: {}, ...container }
}

export function podStatusErrors(next: Pod, previous: Pod): FieldError[] {
  const status: PodStatus = next.status ?? {}
  const before: PodStatus = previous.status ?? {}
  const { podIPs = [], hostIPs = [], hostIP, nominatedNodeName = '', conditions = [], observedGeneration = 0 } = status
  const host = hostIPs[0]?.ip
  return [
    ...(before.qosClass === undefined ? [] : immutableErrors(status.qosClass, before.qosClass, 'status.qosClass')),
    ...nominationErrors(nominatedNodeName, next.spec.nodeName, before.nominatedNodeName),
    ...(observedGeneration < 0
      ? invalidErrors(['must be a non-negative integer'], observedGeneration, 'status.observedGeneration')
      : []),
    ...conditions.flatMap(({ type }, index) =>
      invalidErrors(qualifiedNameErrors(type), type, `status.conditions[${index}].Type`),
    ),
    ...addressErrors(podIPs, 'status.podIPs'),
    ...(hostIPs.length > 0 && host !== hostIP
      ? invalidErrors(['must be equal to `hostIP`'], host, 'status.hostIPs[0].ip')
      : []),
    ...addressErrors(hostIPs, 'status.hostIPs'),
  ]
}

function nominationErrors(name: string, bound: string | undefined, before = ''): FieldError[] {
  if (name === '') return []
  const field = 'status.nominatedNodeName'
  const detail = 'may not be set on pods that are already bound to a node'
  return [
    ...invalidErrors(subdomainErrors(name), name, field),
    ...(bound && name !== before ? [{ kind: 'Forbidden' as const, field, detail }] : []),
  ]
}

function addressErrors(addresses: readonly Address[], field: string): FieldError[] {
  const errors = addresses.flatMap(({ ip = '' }, index) =>
    isIP(ip) === 0
      ? invalidErrors(['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'], ip, `${field}[${index}]`)
      : [],
  )
  const families = new Set(addresses.map(({ ip = '' }) => isIP(ip)))
  if (errors.length > 0 || families.size === addresses.length) return errors
  return invalidErrors(['may specify no more than one IP for each IP family'], addresses, field)
}
