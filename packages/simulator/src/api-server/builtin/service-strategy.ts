import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { choiceErrors, invalidErrors, requiredError } from './field-rules.ts'
import { labelsErrors } from './labels-validation.ts'
import { serviceNameErrors } from './name-rules.ts'
import { withDefaults, withItems } from './with-defaults.ts'

interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly targetPort?: number | string
  readonly nodePort?: number
  readonly protocol?: string
}

interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string
    readonly clusterIP?: string
    readonly clusterIPs?: readonly string[]
    readonly selector?: Labels
    readonly ports?: readonly ServicePort[]
    readonly externalName?: string
    readonly sessionAffinity?: string
    readonly sessionAffinityConfig?: object
  }
  readonly status?: object
}

type Spec = NonNullable<Service['spec']>

const specDefaults = { type: 'ClusterIP', sessionAffinity: 'None' }
const threeHours = { clientIP: { timeoutSeconds: 10_800 } }
const addressDefaults = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', internalTrafficPolicy: 'Cluster' }

export const serviceStrategy: ResourceStrategy = {
  prepare(next: Service, previous: Service | undefined) {
    if (next.spec === previous?.spec && previous !== undefined) return next
    let spec: Spec = withDefaults(next.spec ?? {}, specDefaults)
    if (spec.sessionAffinity === 'ClientIP') spec = withDefaults(spec, { sessionAffinityConfig: threeHours })
    if (spec.type !== 'ExternalName') {
      const clusterIP = spec.clusterIP || previous?.spec?.clusterIP || addressFor(next)
      spec = withDefaults(
        { ...spec, clusterIP, clusterIPs: spec.clusterIPs ?? [clusterIP] },
        clusterIP === 'None' ? { ...addressDefaults } : addressDefaults,
      )
    }
    const needsNodePort = spec.type === 'NodePort' || spec.type === 'LoadBalancer'
    const ports = withItems(spec.ports ?? [], (port) =>
      withDefaults(port, {
        protocol: 'TCP',
        targetPort: port.port,
        ...(needsNodePort ? { nodePort: nodePortFor(next, port, previous) } : {}),
      }),
    )
    if (needsNodePort) spec = withDefaults(spec, { externalTrafficPolicy: 'Cluster' })
    if (spec.ports !== undefined) spec = { ...spec, ports }
    return withDefaults({ ...next, spec }, { status: { loadBalancer: {} } })
  },

  validate(next: Service, previous: Service | undefined) {
    const spec = next.spec ?? {}
    if (spec === previous?.spec) return []
    const errors: FieldError[] = []
    if (previous === undefined) {
      errors.push(...invalidErrors(serviceNameErrors(next.metadata.name), next.metadata.name, 'metadata.name'))
    } else if (previous.spec?.clusterIP && spec.clusterIP !== previous.spec.clusterIP && spec.type !== 'ExternalName') {
      const detail = 'may not change once set'
      errors.push({ kind: 'Invalid', field: 'spec.clusterIPs[0]', value: spec.clusterIPs ?? null, detail })
    }
    errors.push(...choiceErrors(spec.type, ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'], 'spec.type'))
    errors.push(...labelsErrors(spec.selector, 'spec.selector'))
    return [...errors, ...portErrors(spec)]
  },
}

function portErrors({ ports = [], type, clusterIP, externalName }: Spec): FieldError[] {
  if (type === 'ExternalName') return externalName ? [] : [requiredError('spec.externalName')]
  const errors: FieldError[] = []
  if (ports.length === 0 && clusterIP !== 'None') errors.push(requiredError('spec.ports'))
  const names = new Set<string>()
  const seen = new Set<string>()
  for (const [index, { name, port, protocol = 'TCP' }] of ports.entries()) {
    const field = `spec.ports[${index}]`
    if (!name && ports.length > 1) errors.push(requiredError(`${field}.name`))
    if (name && names.has(name)) errors.push({ kind: 'Duplicate', field: `${field}.name`, value: name, detail: '' })
    if (name) names.add(name)
    if (!(port >= 1 && port <= 65_535)) {
      const detail = 'must be between 1 and 65535, inclusive'
      errors.push({ kind: 'Invalid', field: `${field}.port`, value: port ?? 0, detail })
    }
    if (seen.has(`${protocol} ${port}`)) {
      errors.push({ kind: 'Duplicate', field, value: { protocol, port }, detail: '' })
    }
    seen.add(`${protocol} ${port}`)
    errors.push(...choiceErrors(protocol, ['SCTP', 'TCP', 'UDP'], `${field}.protocol`))
  }
  return errors
}

/** Nobody routes to it here: an address of the usual range that is always the same for the same service will do. */
function addressFor({ metadata }: Service): string {
  const { namespace, name } = metadata
  if (namespace === 'default' && name === 'kubernetes') return '10.96.0.1'
  const place = 2 + (hash(`${namespace}/${name}`) % (2 ** 20 - 4))
  return `10.${96 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}`
}

function nodePortFor({ metadata }: Service, port: ServicePort, previous: Service | undefined): number {
  const before = previous?.spec?.ports?.find((other) => other.port === port.port && other.name === port.name)
  return before?.nodePort ?? 30_000 + (hash(`${metadata.namespace}/${metadata.name}/${port.port}`) % 2768)
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return value >>> 0
}
