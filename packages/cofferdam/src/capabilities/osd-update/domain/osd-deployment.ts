import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Container, PodSpec, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import {
  type AppliedSettings,
  adaptTexts,
  appliedAnnotation,
  formatAppliedSettings,
  oursOf,
  parseAppliedSettings,
  type Resources,
  type Texts,
} from './applied-settings.ts'
import { adaptPlacement, placementPut, type WantedPlacement, wantedPlacement } from './osd-placement.ts'
import { isSameAmount, type WantedResources, wantedResources } from './osd-resources.ts'

/** The container that is the OSD itself; others are its company. */
const osdContainer = 'osd'
const topologyVariable = 'ROOK_TOPOLOGY_AFFINITY'

/**
 * What the Deployment of an OSD should be, by the spec of its CephCluster: image, resources, labels, annotations, priority class
 * and placement. Whatever the spec does not speak of stays as it is, but for what we put there when it did.
 *
 * Guarantees: where nothing differs the very same object comes back; labels that select the pods are never touched; what others
 * put there is never taken away.
 */
export function adaptOsdDeployment(existing: Deployment, cluster: CephCluster): Deployment {
  const before = parseAppliedSettings(existing)
  const wanted = wantedSettings(existing, cluster)
  const { template } = existing.spec
  const metadata = adaptMetadata(existing.metadata, wanted, before)
  const podBefore = { labels: before.podLabels, annotations: before.podAnnotations }
  const podMetadata = adaptMetadata(template.metadata ?? {}, wanted, podBefore)
  const podSpec = adaptPodSpec(template.spec, { image: cluster.spec?.cephVersion?.image, wanted, before })
  const isTemplateSame =
    podSpec === template.spec && (podMetadata === template.metadata || Object.keys(podMetadata).length === 0)
  if (isTemplateSame && metadata === existing.metadata) return existing
  const applied = formatAppliedSettings(settingsPut(existing, podSpec, { wanted, before }))
  const noted = { ...existing, metadata: withNote(metadata, applied) }
  if (isTemplateSame) return noted
  return {
    ...noted,
    spec: { ...existing.spec, template: { ...template, metadata: podMetadata, spec: podSpec } },
  }
}

/** What the spec of the cluster says about this OSD. */
interface WantedSettings {
  readonly labels: Texts
  readonly annotations: Texts
  /** Undefined: it stays as it is. */
  readonly placement: WantedPlacement | undefined
  readonly resources: WantedResources
  readonly priorityClassName: string | undefined
}

function wantedSettings(existing: Deployment, cluster: CephCluster): WantedSettings {
  const { labels, annotations, priorityClassNames } = cluster.spec ?? {}
  const { matchLabels = {} } = existing.spec.selector
  const fixed = new Set(Object.keys(matchLabels))
  return {
    labels: without({ ...labels?.['all'], ...labels?.['osd'] }, fixed),
    annotations: { ...annotations?.['all'], ...annotations?.['osd'] },
    placement: wantedPlacement(existing, cluster),
    resources: wantedResources(existing, cluster),
    priorityClassName: priorityClassNames?.['osd'] ?? priorityClassNames?.['all'],
  }
}

/** What of it is ours, now that it is being written. */
function settingsPut(
  { metadata, spec }: Deployment,
  podSpec: PodSpec,
  { wanted, before }: { readonly wanted: WantedSettings; readonly before: AppliedSettings },
): AppliedSettings {
  const { template } = spec
  const { priorityClassName, placement } = wanted
  const had = template.spec.containers.find(({ name }) => name === osdContainer)?.resources ?? {}
  const resources = wanted.resources === 'undecided' ? before.resources : wanted.resources
  const isOwnResources =
    resources !== undefined &&
    (!isSameAmount(resources, had) || (before.resources !== undefined && isSameAmount(resources, before.resources)))
  const isOwnPriority =
    template.spec.priorityClassName !== priorityClassName || before.priorityClassName === priorityClassName
  return {
    labels: oursOf(metadata.labels, wanted.labels, before.labels),
    annotations: oursOf(metadata.annotations, wanted.annotations, before.annotations),
    podLabels: oursOf(template.metadata?.labels, wanted.labels, before.podLabels),
    podAnnotations: oursOf(template.metadata?.annotations, wanted.annotations, before.podAnnotations),
    tolerations: (placement?.tolerations ?? before.tolerations).filter(
      (one) => !isAmong(one, template.spec.tolerations ?? []) || isAmong(one, before.tolerations),
    ),
    placement:
      placement === undefined
        ? before.placement
        : placementPut(template.spec, podSpec, { wanted: placement, ours: before.placement }),
    ...(isOwnResources && { resources }),
    ...(priorityClassName !== undefined && isOwnPriority && { priorityClassName }),
  }
}

type Texted = { readonly labels?: Texts; readonly annotations?: Texts }

function adaptMetadata<T extends Texted>(had: T, wanted: WantedSettings, ours: Required<Texted>): T {
  const labels = adaptTexts(had.labels, wanted.labels, ours.labels)
  const annotations = adaptTexts(had.annotations, wanted.annotations, ours.annotations)
  return withField(withField(had, 'labels', labels), 'annotations', annotations)
}

function withNote(metadata: Deployment['metadata'], applied: string | undefined): Deployment['metadata'] {
  const { [appliedAnnotation]: had, ...others } = metadata.annotations ?? {}
  if (had === applied) return metadata
  return { ...metadata, annotations: applied === undefined ? others : { ...others, [appliedAnnotation]: applied } }
}

/** Thousands of Deployments stay as they are from one snapshot to the next, and so does their cluster. */
export function needsUpdate(existing: Deployment, cluster: CephCluster): boolean {
  const known = updatesOf.get(cluster) ?? new WeakMap<Deployment, boolean>()
  updatesOf.set(cluster, known)
  const before = known.get(existing)
  if (before !== undefined) return before
  const isNeeded = adaptOsdDeployment(existing, cluster) !== existing
  known.set(existing, isNeeded)
  return isNeeded
}

const updatesOf = new WeakMap<CephCluster, WeakMap<Deployment, boolean>>()

/** The image that the OSD runs, or undefined where the Deployment has no such container. */
export function osdImage({ spec }: Deployment): string | undefined {
  return spec.template.spec.containers.find(({ name }) => name === osdContainer)?.image
}

function adaptPodSpec(
  spec: PodSpec,
  given: { readonly image: string | undefined; readonly wanted: WantedSettings; readonly before: AppliedSettings },
): PodSpec {
  const { image, wanted, before } = given
  const ran = spec.containers.find(({ name }) => name === osdContainer)?.image
  const adapt = (container: Container): Container => {
    const isCeph = container.name === osdContainer || (ran !== undefined && container.image === ran)
    const imaged = isCeph ? withField(container, 'image', image ?? container.image) : container
    return container.name === osdContainer ? adaptResources(imaged, wanted.resources, before.resources) : imaged
  }
  const contained = withField(spec, 'containers', adaptedList(spec.containers, adapt))
  const begun = withField(contained, 'initContainers', spec.initContainers && adaptedList(spec.initContainers, adapt))
  const placed =
    wanted.placement === undefined ? begun : adaptPlacement(begun, wanted.placement, placedBefore(begun, before))
  const wantedTolerations = wanted.placement?.tolerations ?? before.tolerations
  const tolerations = adaptTolerations(spec.tolerations, wantedTolerations, before.tolerations)
  const priority =
    wanted.priorityClassName ??
    (spec.priorityClassName === before.priorityClassName ? undefined : spec.priorityClassName)
  return withField(withField(placed, 'tolerations', tolerations), 'priorityClassName', priority)
}

/** A volume that can move still has places where it can be attached: Rook says so in the environment of the OSD. */
function placedBefore({ containers, nodeSelector }: PodSpec, { placement: ours }: AppliedSettings) {
  const osd = containers.find(({ name }) => name === osdContainer)
  const isPinned = nodeSelector?.['kubernetes.io/hostname'] !== undefined
  const topology = isPinned ? undefined : osd?.env?.find(({ name }) => name === topologyVariable)?.value
  return { ours, topology }
}

function adaptResources(container: Container, wanted: WantedResources, ours: Resources | undefined): Container {
  const had = container.resources ?? {}
  if (wanted === 'undecided') return container
  if (wanted !== undefined) return isSameAmount(wanted, had) ? container : { ...container, resources: wanted }
  return ours !== undefined && isSameAmount(ours, had) ? withField(container, 'resources', undefined) : container
}

function adaptTolerations(
  had: readonly Toleration[] | undefined,
  wanted: readonly Toleration[],
  ours: readonly Toleration[],
): readonly Toleration[] | undefined {
  const kept = (had ?? []).filter((one) => !isAmong(one, ours) || isAmong(one, wanted))
  const missing = wanted.filter((one) => !isAmong(one, had ?? []))
  if (missing.length === 0 && kept.length === (had ?? []).length) return had
  return kept.length + missing.length === 0 ? undefined : [...kept, ...missing]
}

function isAmong(one: Toleration, others: readonly Toleration[]): boolean {
  return others.some((other) => isSameJson(one, other))
}

/** The same object when the field has that value already; a field that is to be nothing is not there. */
function withField<T extends object, K extends keyof T>(object: T, field: K, value: T[K] | undefined): T {
  if (object[field] === value) return object
  if (value !== undefined) return { ...object, [field]: value }
  const { [field]: _, ...others } = object
  return others as T
}

function adaptedList<T>(list: readonly T[], adapt: (item: T) => T): readonly T[] {
  const adapted = list.map(adapt)
  return adapted.every((item, at) => item === list[at]) ? list : adapted
}

function without(texts: Texts, keys: ReadonlySet<string>): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !keys.has(key)))
}
