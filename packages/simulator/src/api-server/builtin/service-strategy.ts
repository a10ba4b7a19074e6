import { isIP } from 'node:net'
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

export interface ServiceSpec {
  readonly type?: string
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly selector?: Labels
  readonly ports?: readonly ServicePort[]
  readonly externalName?: string
  readonly sessionAffinity?: string
  readonly sessionAffinityConfig?: object
  readonly externalTrafficPolicy?: string
}

interface Service extends KubeObject {
  readonly spec?: ServiceSpec
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly object[] } }
}

const specDefaults = { type: 'ClusterIP', sessionAffinity: 'None' }
const threeHours = { clientIP: { timeoutSeconds: 10_800 } }
const addressDefaults = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }

export const serviceStrategy: ResourceStrategy = {
  prepare(next: Service, previous: Service | undefined) {
    if (next.spec === previous?.spec && previous !== undefined) return next
    let spec: ServiceSpec = withDefaults(next.spec ?? {}, specDefaults)
    if (spec.sessionAffinity === 'ClientIP') spec = withDefaults(spec, { sessionAffinityConfig: threeHours })
    if (spec.type !== 'ExternalName') spec = withDefaults(spec, { internalTrafficPolicy: 'Cluster' })
    if (hasNodePorts(spec)) spec = withDefaults(spec, { externalTrafficPolicy: 'Cluster' })
    if (spec.ports !== undefined) spec = { ...spec, ports: withItems(spec.ports, withPortDefaults) }
    const prepared = withDefaults({ ...next, spec }, { status: { loadBalancer: {} } })
    return previous === undefined ? prepared : allocated(leftBehind(prepared, previous), previous, false)
  },

  admit: (created: Service, isDryRun: boolean) => allocated(created, undefined, isDryRun),

  validateStatus({ spec, status }: Service) {
    if (spec?.type === 'LoadBalancer' || !status?.loadBalancer?.ingress?.length) return []
    const detail = "may only be used when `spec.type` is 'LoadBalancer'"
    return [{ kind: 'Forbidden', field: 'status.loadBalancer.ingress', detail }]
  },

  warn({ spec = {} }: Service) {
    const warnings: string[] = []
    if (spec.type === 'ClusterIP' && spec.clusterIP === 'None' && spec.sessionAffinity !== 'None')
      warnings.push('spec.SessionAffinity is ignored for headless services')
    if (spec.type !== 'ExternalName' && spec.externalName)
      warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"')
    return warnings
  },

  validate(next: Service, previous: Service | undefined) {
    const spec = next.spec ?? {}
    if (spec === previous?.spec) return []
    const unreadable = unreadableAddress(spec)
    // Addresses are taken before anything else is asked.
    if (previous === undefined && unreadable !== undefined) return [unreadable]
    const errors: FieldError[] = []
    if (previous === undefined) {
      errors.push(...invalidErrors(serviceNameErrors(next.metadata.name), next.metadata.name, 'metadata.name'))
    } else if (previous.spec?.clusterIP && spec.clusterIP !== previous.spec.clusterIP && spec.type !== 'ExternalName') {
      const detail = 'may not change once set'
      errors.push({ kind: 'Invalid', field: 'spec.clusterIPs[0]', value: spec.clusterIPs ?? null, detail })
    }
    errors.push(...choiceErrors(spec.type, ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'], 'spec.type'))
    errors.push(...choiceErrors(spec.sessionAffinity, ['ClientIP', 'None'], 'spec.sessionAffinity'))
    if (spec.type === 'ExternalName' && (spec.clusterIP || spec.clusterIPs?.length)) {
      const detail = 'may not be set for ExternalName services'
      errors.push({ kind: 'Forbidden', field: 'spec.clusterIPs', detail })
    }
    errors.push(...labelsErrors(spec.selector, 'spec.selector'))
    return [...errors, ...portErrors(spec)]
  },
}

function hasNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

function withPortDefaults(port: ServicePort): ServicePort {
  return withDefaults(port, { protocol: 'TCP', targetPort: port.port })
}

/** What only the former type had is dropped with it, unless it was sent anew. */
function leftBehind(sent: Service, { spec: former = {} }: Service): Service {
  const next = withoutFormerAddress(sent, former)
  const { spec = {} } = next
  if (hasNodePorts(spec) || !hasNodePorts(former)) return next
  const { externalTrafficPolicy, ...rest } = spec
  const isFormerPort = ({ nodePort }: ServicePort) => former.ports?.some((port) => port.nodePort === nodePort)
  const ports = spec.ports?.map((port) => {
    const { nodePort: _, ...plain } = port
    return isFormerPort(port) ? plain : port
  })
  const kept = externalTrafficPolicy === former.externalTrafficPolicy ? rest : spec
  return { ...next, spec: ports === undefined ? kept : { ...kept, ports } }
}

const addressFields = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']

function withoutFormerAddress(next: Service, former: ServiceSpec): Service {
  const spec = next.spec ?? {}
  const isOnlyName = spec.type === 'ExternalName' && former.type !== 'ExternalName'
  if (!isOnlyName || spec.clusterIP !== former.clusterIP) return next
  return { ...next, spec: Object.fromEntries(Object.entries(spec).filter(([field]) => !addressFields.includes(field))) }
}

/** With the addresses and ports that the server gives; nobody owns them. */
function allocated(service: Service, previous: Service | undefined, isDryRun: boolean): Service {
  let spec = service.spec ?? {}
  if (spec.type !== 'ExternalName') {
    const before = previous?.spec?.clusterIP
    const clusterIP = spec.clusterIP || before || (isDryRun ? firstAddress : addressFor(service, previous))
    spec = withDefaults({ ...spec, clusterIP, clusterIPs: spec.clusterIPs ?? [clusterIP] }, addressDefaults)
  }
  if (!hasNodePorts(spec) || spec.ports === undefined) return { ...service, spec }
  const ports = withItems(spec.ports, (port) => withDefaults(port, { nodePort: nodePortFor(service, port, previous) }))
  return { ...service, spec: { ...spec, ports } }
}

function unreadableAddress({ type, clusterIP }: ServiceSpec): FieldError | undefined {
  if (type === 'ExternalName' || !clusterIP || clusterIP === 'None' || isIP(clusterIP) !== 0) return undefined
  const detail = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
  return { kind: 'Invalid', field: 'spec.clusterIPs[0]', value: clusterIP, detail }
}

function portErrors({ ports = [], type, clusterIP, externalName }: ServiceSpec): FieldError[] {
  const isOnlyName = type === 'ExternalName'
  const errors: FieldError[] = []
  if (isOnlyName && !externalName) errors.push(requiredError('spec.externalName'))
  if (!isOnlyName && ports.length === 0 && clusterIP !== 'None') errors.push(requiredError('spec.ports'))
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

/** None is taken for what is only tried. */
const firstAddress = '10.96.0.1'

/** Nobody routes to it here: any address of the usual range will do, another one each time it is asked for. */
function addressFor({ metadata }: Service, previous: Service | undefined): string {
  const { namespace, name, uid } = metadata
  if (namespace === 'default' && name === 'kubernetes') return firstAddress
  const place = 2 + (hash(`${namespace}/${name}/${uid}/${previous?.metadata.resourceVersion}`) % (2 ** 20 - 4))
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
