/** A CephCluster by its name. */
export interface ClusterName {
  readonly namespace: string
  readonly name: string
}

/**
 * Which CephClusters Cofferdam acts on, as its own administrator says. A CephCluster is an object of whoever may create one, so
 * nothing that it says of itself can put it in here.
 */
export interface CephTrust {
  /** `namespace/name`. All others are observed at most. */
  readonly named: readonly string[]
  /** Clusters whose OSD Deployments Cofferdam writes, not Rook. */
  readonly own: readonly string[]
  /** Clusters for which Cofferdam also creates new OSDs. */
  readonly grow: readonly string[]
  /** The image that has Rook's program, which prepares disks. */
  readonly rookImage: string | undefined
}

export const trustsNone: CephTrust = { named: [], own: [], grow: [], rookImage: undefined }

/** No Rook is there: Cofferdam alone manages these clusters. Without an image they do not grow. */
export function trustsAlone(clusters: readonly ClusterName[], rookImage?: string): CephTrust {
  const keys = clusters.map(keyOf)
  return { named: keys, own: keys, grow: rookImage === undefined ? [] : keys, rookImage }
}

export function isNamed({ named }: CephTrust, cluster: ClusterName): boolean {
  return named.includes(keyOf(cluster))
}

/** Whether the administrator says that no Rook writes the OSD Deployments there. */
export function mayOwn({ own }: CephTrust, cluster: ClusterName): boolean {
  return own.includes(keyOf(cluster))
}

/**
 * Whether a Rook is to be reckoned with there. That none runs now says nothing: it may be scaled down for an hour, or
 * come back in five seconds. Only the administrator's word does, and that is void while one runs.
 */
export function isRooks(trust: CephTrust, cluster: ClusterName, { rookRuns }: { readonly rookRuns: boolean }): boolean {
  return !mayOwn(trust, cluster) || rookRuns
}

export function isContested(
  trust: CephTrust,
  cluster: ClusterName,
  { rookRuns }: { readonly rookRuns: boolean },
): boolean {
  return mayOwn(trust, cluster) && rookRuns
}

/** The image to prepare disks with; undefined where no OSDs are added. */
export function growthImage({ grow, rookImage }: CephTrust, cluster: ClusterName): string | undefined {
  return grow.includes(keyOf(cluster)) ? rookImage : undefined
}

/** Namespaces with a named cluster: what others have there counts. */
export function namedNamespaces({ named }: CephTrust): ReadonlySet<string> {
  return new Set(named.map(namespaceOf))
}

/** Namespaces with a cluster that OSDs are added to. */
export function growingNamespaces({ grow }: CephTrust): ReadonlySet<string> {
  return new Set(grow.map(namespaceOf))
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

export function nameOf({
  metadata,
}: {
  readonly metadata: { readonly namespace?: string; readonly name: string }
}): ClusterName {
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}

/** Whether what is seen of a cluster counts. Where nobody has said which do, all count, as they hold things back. */
export function doesCount(trust: CephTrust | undefined, cluster: ClusterName): boolean {
  return trust === undefined || isNamed(trust, cluster)
}

export const notNamedText = 'not named: observed only; to manage it add it to --ceph-clusters of the operator'

function keyOf({ namespace, name }: ClusterName): string {
  return `${namespace}/${name}`
}
