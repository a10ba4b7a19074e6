import type { Deployment } from '../../api/apps.ts'
import type { Container, PodSpec } from '../../api/core.ts'
import { isSameJson } from '../../api/json.ts'
import { parseQuantity } from '../../api/quantity.ts'
import type { CephCluster } from '../../api/rook.ts'

/** The container that is the OSD itself; others are its company. */
const osdContainer = 'osd'

/**
 * What the Deployment of an OSD should be, by the spec of its CephCluster: image, resources, labels, annotations, priority class
 * and tolerations. Whatever the spec does not speak of stays as it is.
 *
 * Guarantees: where nothing differs the very same object comes back; labels that select the pods are never touched.
 */
export function adaptOsdDeployment(existing: Deployment, cluster: CephCluster): Deployment {
  const spec = cluster.spec ?? {}
  const { template, selector } = existing.spec
  const fixed = new Set(Object.keys(selector.matchLabels ?? {}))
  const labels = without({ ...spec.labels?.['all'], ...spec.labels?.['osd'] }, fixed)
  const annotations = { ...spec.annotations?.['all'], ...spec.annotations?.['osd'] }
  const metadata = withField(
    withField(existing.metadata, 'labels', merged(existing.metadata.labels, labels)),
    'annotations',
    merged(existing.metadata.annotations, annotations),
  )
  const templateMetadata = withField(
    withField(template.metadata ?? {}, 'labels', merged(template.metadata?.labels, labels)),
    'annotations',
    merged(template.metadata?.annotations, annotations),
  )
  const podSpec = adaptPodSpec(template.spec, cluster, existing.metadata.labels?.['device-class'])
  const isTemplateSame =
    podSpec === template.spec && (templateMetadata === template.metadata || Object.keys(templateMetadata).length === 0)
  if (isTemplateSame && metadata === existing.metadata) return existing
  if (isTemplateSame) return { ...existing, metadata }
  return {
    ...existing,
    metadata,
    spec: { ...existing.spec, template: { ...template, metadata: templateMetadata, spec: podSpec } },
  }
}

export function needsUpdate(existing: Deployment, cluster: CephCluster): boolean {
  return adaptOsdDeployment(existing, cluster) !== existing
}

/** The image that the OSD runs, or undefined where the Deployment has no such container. */
export function osdImage({ spec }: Deployment): string | undefined {
  return spec.template.spec.containers.find(({ name }) => name === osdContainer)?.image
}

function adaptPodSpec(spec: PodSpec, cluster: CephCluster, deviceClass: string | undefined): PodSpec {
  const { cephVersion, resources, priorityClassNames, placement } = cluster.spec ?? {}
  const before = spec.containers.find(({ name }) => name === osdContainer)?.image
  const own = (deviceClass === undefined ? undefined : resources?.[`osd-${deviceClass}`]) ?? resources?.['osd']
  const adapt = (container: Container): Container => {
    const isCeph = container.name === osdContainer || (before !== undefined && container.image === before)
    const imaged = isCeph ? withField(container, 'image', cephVersion?.image ?? container.image) : container
    if (container.name !== osdContainer || own === undefined) return imaged
    return withField(imaged, 'resources', isSameAmount(own, container.resources ?? {}) ? container.resources : own)
  }
  const wanted = [...(placement?.['all']?.tolerations ?? []), ...(placement?.['osd']?.tolerations ?? [])]
  const had = spec.tolerations ?? []
  const missing = wanted.filter((one) => !had.some((other) => isSameJson(one, other)))
  const priority = priorityClassNames?.['osd'] ?? priorityClassNames?.['all'] ?? spec.priorityClassName
  const contained = withField(spec, 'containers', adaptedList(spec.containers, adapt))
  const begun = withField(contained, 'initContainers', spec.initContainers && adaptedList(spec.initContainers, adapt))
  const tolerant = missing.length === 0 ? begun : { ...begun, tolerations: [...had, ...missing] }
  return withField(tolerant, 'priorityClassName', priority)
}

type Resources = NonNullable<Container['resources']>

/** The API server writes quantities in its own way, so `1000m` comes back as `1`: that is no reason to restart an OSD. */
function isSameAmount(wanted: Resources, had: Resources): boolean {
  return (['requests', 'limits'] as const).every((kind) => {
    const [a, b] = [wanted[kind] ?? {}, had[kind] ?? {}]
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSameQuantity(a[name], b[name]))
  })
}

function isSameQuantity(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b
  try {
    return parseQuantity(String(a)) === parseQuantity(String(b))
  } catch {
    return false
  }
}

/** The same object when the field has that value already; a field that is to be nothing is not added. */
function withField<T extends object, K extends keyof T>(object: T, field: K, value: T[K] | undefined): T {
  return object[field] === value ? object : { ...object, [field]: value }
}

function adaptedList<T>(list: readonly T[], adapt: (item: T) => T): readonly T[] {
  const adapted = list.map(adapt)
  return adapted.every((item, at) => item === list[at]) ? list : adapted
}

type Texts = Readonly<Record<string, string>>

function merged(had: Texts | undefined, wanted: Texts): Texts | undefined {
  return Object.entries(wanted).every(([key, value]) => had?.[key] === value) ? had : { ...had, ...wanted }
}

function without(texts: Texts, keys: ReadonlySet<string>): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !keys.has(key)))
}
