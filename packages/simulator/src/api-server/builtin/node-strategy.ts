import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { isCidr } from '../schema/formats.ts'
import { choiceErrors, invalidErrors } from './field-rules.ts'
import { labelValueErrors, qualifiedNameErrors } from './name-rules.ts'

export const nodeStrategy: ResourceStrategy = {
  prepare(next: Node) {
    const { unschedulable, ...spec } = next.spec ?? {}
    // To be schedulable is to say nothing: `false` is no change against it, and nobody's field.
    const open = next.spec === undefined || unschedulable === false ? { ...next, spec } : next
    const { capacity, allocatable } = open.status ?? {}
    if (capacity === undefined || allocatable !== undefined) return open
    return { ...open, status: { ...open.status, allocatable: capacity } }
  },

  validate(next: Node, previous: Node | undefined) {
    const { spec } = next
    if (spec === previous?.spec) return []
    const errors = [...taintErrors(spec?.taints), ...rangeErrors(spec?.podCIDRs)]
    for (const field of ['podCIDR', 'providerID'] as const) {
      const before = previous?.spec?.[field]
      if (before !== undefined && before !== '' && spec?.[field] !== before) {
        const detail = `node updates may not change ${field} except from "" to valid`
        errors.push({ kind: 'Forbidden', field: `spec.${field === 'podCIDR' ? 'podCIDRs' : field}`, detail })
      }
    }
    return errors
  },
}

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const

/** With the admission plugin TaintNodesByCondition: a new node takes no pods until its kubelet has reported. */
export const taintingNodeStrategy: ResourceStrategy = {
  ...nodeStrategy,
  admit(created: Node) {
    const { taints = [] } = created.spec ?? {}
    const isTainted = taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)
    return isTainted ? created : { ...created, spec: { ...created.spec, taints: [...taints, notReady] } }
  },
}

function rangeErrors(ranges: readonly string[] = []): FieldError[] {
  const detail = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  return ranges.flatMap((range, index) =>
    isCidr(range) ? [] : invalidErrors([detail], range, `spec.podCIDRs[${index}]`),
  )
}

/** The real server, too, says `metadata.taints` where it means `spec.taints`. */
function taintErrors(taints: NonNullable<Node['spec']>['taints']): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, taint] of (taints ?? []).entries()) {
    const field = `metadata.taints[${index}]`
    const { key, value = '', effect } = taint
    errors.push(...invalidErrors(qualifiedNameErrors(key ?? ''), key ?? '', `${field}.key`))
    errors.push(...invalidErrors(labelValueErrors(value), value, `${field}.value`))
    errors.push(...choiceErrors(effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'], `${field}.effect`))
    if (seen.has(`${effect} ${key}`)) {
      const detail = 'taints must be unique by key and effect pair'
      errors.push({ kind: 'Duplicate', field, value: taint, detail })
    }
    seen.add(`${effect} ${key}`)
  }
  return errors
}
