import type { Container, PodSpec, PodTemplateSpec, Probe } from '@cofferdam/kubernetes/api/core.ts'
import { withDefaults, withField, withItems } from './with-defaults.ts'

/** Parts of a pod that only the server and the kubelet care about. */
export interface FullContainer extends Container {
  readonly imagePullPolicy?: string
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
  readonly ports?: readonly Port[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly restartPolicy?: string
}

export interface Port {
  readonly name?: string
  readonly containerPort: number
  readonly hostPort?: number
  readonly protocol?: string
}

export interface FullPodSpec extends PodSpec {
  readonly containers: readonly FullContainer[]
  readonly initContainers?: readonly FullContainer[]
  readonly hostNetwork?: boolean
  readonly dnsPolicy?: string
  readonly dnsConfig?: { readonly nameservers?: readonly string[] }
  readonly activeDeadlineSeconds?: number
  readonly schedulerName?: string
  readonly preemptionPolicy?: string
  readonly enableServiceLinks?: boolean
  readonly serviceAccount?: string
  readonly schedulingGates?: readonly { readonly name: string }[]
}

const specDefaults = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
}

/** What the server fills in wherever a pod is described: in pods and in the templates of those that make pods. */
export function completePodSpec(spec: FullPodSpec): FullPodSpec {
  let next = withDefaults(spec, specDefaults)
  const complete = spec.hostNetwork === true ? completeHostContainer : completeContainer
  if (next.containers !== undefined) next = withField(next, 'containers', withItems(next.containers, complete))
  if (next.initContainers !== undefined) {
    next = withField(next, 'initContainers', withItems(next.initContainers, complete))
  }
  if (next.volumes !== undefined) next = withField(next, 'volumes', withItems(next.volumes, completeVolume))
  return next
}

export function completeTemplate(template: PodTemplateSpec | undefined): PodTemplateSpec | undefined {
  return template?.spec === undefined ? template : withField(template, 'spec', completePodSpec(template.spec))
}

const containerDefaults = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
}

const pulledAlways = { ...containerDefaults, imagePullPolicy: 'Always' }
const pulledOnce = { ...containerDefaults, imagePullPolicy: 'IfNotPresent' }

function completeContainer(container: FullContainer): FullContainer {
  let next = withDefaults(container, isLatest(container.image ?? '') ? pulledAlways : pulledOnce)
  if (next.livenessProbe !== undefined) next = withField(next, 'livenessProbe', completeProbe(next.livenessProbe))
  if (next.readinessProbe !== undefined) next = withField(next, 'readinessProbe', completeProbe(next.readinessProbe))
  if (next.startupProbe !== undefined) next = withField(next, 'startupProbe', completeProbe(next.startupProbe))
  return next
}

/** On the host's network a container's port is the host's port. */
function completeHostContainer(container: FullContainer): FullContainer {
  const next = completeContainer(container)
  if (next.ports === undefined) return next
  return withField(
    next,
    'ports',
    withItems(next.ports, (port) => withDefaults(port, { hostPort: port.containerPort })),
  )
}

/** No tag and no digest, or the tag `latest`: the image may change under its name. */
function isLatest(image: string): boolean {
  if (image.includes('@')) return false
  const name = image.slice(image.lastIndexOf('/') + 1)
  const colon = name.indexOf(':')
  return colon < 0 || name.slice(colon + 1) === 'latest'
}

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }
const httpDefaults = { path: '/', scheme: 'HTTP' }
const grpcDefaults = { service: '' }

function completeProbe(probe: Probe): Probe {
  let next = withDefaults(probe, probeDefaults)
  if (next.httpGet !== undefined) next = withField(next, 'httpGet', withDefaults(next.httpGet, httpDefaults))
  if (next.grpc !== undefined) next = withField(next, 'grpc', withDefaults(next.grpc, grpcDefaults))
  return next
}

type Volume = NonNullable<PodSpec['volumes']>[number]

const sourceDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  secret: { defaultMode: 0o644 },
  configMap: { defaultMode: 0o644 },
  downwardAPI: { defaultMode: 0o644 },
  projected: { defaultMode: 0o644 },
  hostPath: { type: '' },
}

function completeVolume(volume: Volume): Volume {
  let hasSource = false
  for (const field in volume) {
    if (field === 'name') continue
    hasSource = true
    const defaults = sourceDefaults[field]
    const source = (volume as unknown as Readonly<Record<string, unknown>>)[field]
    if (defaults === undefined || typeof source !== 'object' || source === null) continue
    const completed = withDefaults(source, defaults)
    if (completed !== source) return { ...volume, [field]: completed }
  }
  return hasSource ? volume : { ...volume, emptyDir: {} }
}
