import type { Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { parseQuantity } from '@cofferdam/kubernetes/api/quantity.ts'
import type { FieldError } from '../schema/field-error.ts'
import { choiceErrors, invalidErrors } from './field-rules.ts'
import { labelsErrors, selectorErrors } from './labels-validation.ts'
import { labelErrors, qualifiedNameErrors, subdomainErrors } from './name-rules.ts'
import type { FullContainer, FullPodSpec, Port } from './pod-template.ts'

/** Rules for a pod's spec, wherever it is found; `field` is where. `extraVolumes` exist without being listed. */
export function podSpecErrors(spec: FullPodSpec, field: string, extraVolumes: readonly string[] = []): FieldError[] {
  const errors: FieldError[] = []
  const volumes = new Set(extraVolumes)
  for (const [index, { name }] of (spec.volumes ?? []).entries()) {
    const place = `${field}.volumes[${index}].name`
    if (name === undefined || name === '') continue
    for (const detail of labelErrors(name)) errors.push({ kind: 'Invalid', field: place, value: name, detail })
    if (volumes.has(name) && !extraVolumes.includes(name)) {
      errors.push({ kind: 'Duplicate', field: place, value: name, detail: '' })
    }
    volumes.add(name)
  }
  if ((spec.containers ?? []).length === 0) errors.push({ kind: 'Required', field: `${field}.containers`, detail: '' })
  const names = new Set<string>()
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      errors.push(...containerErrors(container, `${field}.${list}[${index}]`, names, volumes))
    }
  }
  errors.push(...choiceErrors(spec.restartPolicy, ['Always', 'OnFailure', 'Never'], `${field}.restartPolicy`))
  errors.push(
    ...choiceErrors(
      spec.dnsPolicy,
      ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
      `${field}.dnsPolicy`,
    ),
  )
  if (spec.dnsPolicy === 'None' && (spec.dnsConfig?.nameservers ?? []).length === 0)
    errors.push(noNameServer(spec, field))
  const { activeDeadlineSeconds: deadline } = spec
  if (deadline !== undefined && !(deadline >= 1 && deadline <= 2_147_483_647)) {
    const detail = 'must be between 1 and 2147483647, inclusive'
    errors.push({ kind: 'Invalid', field: `${field}.activeDeadlineSeconds`, value: deadline, detail })
  }
  if (spec.nodeName !== undefined && spec.nodeName !== '') {
    for (const detail of subdomainErrors(spec.nodeName)) {
      errors.push({ kind: 'Invalid', field: `${field}.nodeName`, value: spec.nodeName, detail })
    }
  }
  if (spec.hostNetwork === true) errors.push(...hostPortErrors(spec.containers ?? [], field))
  if (spec.nodeSelector !== undefined) errors.push(...labelsErrors(spec.nodeSelector, `${field}.nodeSelector`))
  errors.push(...tolerationErrors(spec.tolerations, `${field}.tolerations`))
  errors.push(...placementErrors(spec, field))
  return errors
}

/** In the network of the host there is nothing between the two ports. */
function hostPortErrors(containers: readonly FullContainer[], field: string): FieldError[] {
  const detail = 'must match `containerPort` when `hostNetwork` is true'
  return containers.flatMap(({ ports = [] }, place) =>
    ports.flatMap(({ hostPort = 0, containerPort }, index) =>
      hostPort === containerPort
        ? []
        : invalidErrors([detail], hostPort, `${field}.containers[${place}].ports[${index}].hostPort`),
    ),
  )
}

function noNameServer({ dnsConfig }: FullPodSpec, field: string): FieldError {
  return dnsConfig === undefined
    ? {
        kind: 'Required',
        field: `${field}.dnsConfig`,
        detail: 'must provide `dnsConfig` when `dnsPolicy` is None',
      }
    : {
        kind: 'Required',
        field: `${field}.dnsConfig.nameservers`,
        detail: 'must provide at least one DNS nameserver when `dnsPolicy` is None',
      }
}

function containerErrors(
  container: FullContainer,
  field: string,
  names: Set<string>,
  volumes: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = []
  const { name, image, ports, volumeMounts, resources } = container
  if (name !== undefined && name !== '') {
    for (const detail of labelErrors(name))
      errors.push({ kind: 'Invalid', field: `${field}.name`, value: name, detail })
    if (names.has(name)) errors.push({ kind: 'Duplicate', field: `${field}.name`, value: name, detail: '' })
    names.add(name)
  }
  if (image === undefined || image === '') errors.push({ kind: 'Required', field: `${field}.image`, detail: '' })
  else if (image.trim() !== image) {
    const detail = 'must not have leading or trailing whitespace'
    errors.push({ kind: 'Invalid', field: `${field}.image`, value: image, detail })
  }
  for (const [index, port] of (ports ?? []).entries()) errors.push(...portErrors(port, `${field}.ports[${index}]`))
  const paths = new Set<string>()
  for (const [index, mount] of (volumeMounts ?? []).entries()) {
    const place = `${field}.volumeMounts[${index}]`
    if (mount.name && !volumes.has(mount.name)) {
      errors.push({ kind: 'NotFound', field: `${place}.name`, value: mount.name, detail: '' })
    }
    if (paths.has(mount.mountPath)) {
      const detail = 'must be unique'
      errors.push({ kind: 'Invalid', field: `${place}.mountPath`, value: mount.mountPath, detail })
    }
    paths.add(mount.mountPath)
  }
  if (resources !== undefined) errors.push(...resourceErrors(resources, `${field}.resources`))
  return errors
}

function portErrors({ name, containerPort, hostPort, protocol }: Port, field: string): FieldError[] {
  const errors: FieldError[] = []
  const range = 'must be between 1 and 65535, inclusive'
  if (containerPort === undefined || containerPort === 0) {
    errors.push({ kind: 'Required', field: `${field}.containerPort`, detail: '' })
  } else if (containerPort < 1 || containerPort > 65_535) {
    errors.push({ kind: 'Invalid', field: `${field}.containerPort`, value: containerPort, detail: range })
  }
  if (hostPort !== undefined && hostPort !== 0 && (hostPort < 1 || hostPort > 65_535)) {
    errors.push({ kind: 'Invalid', field: `${field}.hostPort`, value: hostPort, detail: range })
  }
  if (name !== undefined && name.length > 15) {
    errors.push({ kind: 'Invalid', field: `${field}.name`, value: name, detail: 'must be no more than 15 bytes' })
  }
  return [...errors, ...choiceErrors(protocol, ['SCTP', 'TCP', 'UDP'], `${field}.protocol`)]
}

function resourceErrors(resources: NonNullable<FullContainer['resources']>, field: string): FieldError[] {
  const errors: FieldError[] = []
  const { requests, limits } = resources
  for (const [list, amounts] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const resource in amounts) {
      const value = amounts[resource] as string
      if (value.startsWith('-')) {
        const detail = 'must be greater than or equal to 0'
        errors.push({ kind: 'Invalid', field: `${field}.${list}[${resource}]`, value, detail })
      }
    }
  }
  for (const resource in requests) {
    const limit = limits?.[resource]
    const request = requests[resource] as string
    if (limit === undefined || limit === request || parseQuantity(request) <= parseQuantity(limit)) continue
    const detail = `must be less than or equal to ${resource} limit of ${limit}`
    errors.push({ kind: 'Invalid', field: `${field}.requests`, value: request, detail })
  }
  return errors
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

function tolerationErrors(tolerations: readonly Toleration[] | undefined, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, { key, operator, value, effect, tolerationSeconds }] of (tolerations ?? []).entries()) {
    const place = `${field}[${index}]`
    if (key) {
      for (const detail of qualifiedNameErrors(key)) {
        errors.push({ kind: 'Invalid', field: `${place}.key`, value: key, detail })
      }
    } else if (operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push({ kind: 'Invalid', field: `${place}.operator`, value: operator ?? '', detail })
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
      errors.push({ kind: 'Invalid', field: `${place}.effect`, value: effect ?? '', detail })
    }
    if (operator === 'Exists' && value) {
      const detail = "value must be empty when `operator` is 'Exists'"
      errors.push({ kind: 'Invalid', field: `${place}.operator`, value, detail })
    }
    errors.push(...choiceErrors(operator, ['Equal', 'Exists'], `${place}.operator`))
    errors.push(...choiceErrors(effect, effects, `${place}.effect`))
  }
  return errors
}

function placementErrors(spec: FullPodSpec, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const place = `${field}.topologySpreadConstraints[${index}]`
    if (!(constraint.maxSkew > 0)) {
      errors.push({
        kind: 'Invalid',
        field: `${place}.maxSkew`,
        value: constraint.maxSkew,
        detail: 'must be greater than zero',
      })
    }
    const choices = ['DoNotSchedule', 'ScheduleAnyway']
    errors.push(...choiceErrors(constraint.whenUnsatisfiable, choices, `${place}.whenUnsatisfiable`))
    errors.push(...selectorErrors(constraint.labelSelector, `${place}.labelSelector`))
  }
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (required !== undefined && (required.nodeSelectorTerms ?? []).length === 0) {
    const place = `${field}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`
    errors.push({ kind: 'Required', field: place, detail: 'must have at least one node selector term' })
  }
  return errors
}
