import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'

/** Rook leaves OSDs alone whose Deployment has this label, whatever its value. */
export const doNotReconcile = 'ceph.rook.io/do-not-reconcile'
/** The value by which a label of ours is known. Any other value is a person's, or Rook's own while it replaces an OSD. */
export const paceLabelValue = 'cofferdam-pace'

/** `ours`: held for the pace. `theirs`: somebody else wants it left alone. `none`: Rook may change it. */
export type PaceHold = 'ours' | 'theirs' | 'none'

export function paceHoldOf({ metadata }: Pick<Deployment, 'metadata'>): PaceHold {
  const value = metadata.labels?.[doNotReconcile]
  if (value === undefined) return 'none'
  return value === paceLabelValue ? 'ours' : 'theirs'
}

/** One label to be put on or taken off, if the Deployment still is what was seen: a person's label is never overwritten. */
export interface LabelChange {
  readonly osd: number
  readonly namespace: string
  readonly name: string
  readonly version: string | undefined
  readonly change: 'hold' | 'free'
}

export function labelChange(osd: number, { metadata }: Deployment, change: LabelChange['change']): LabelChange {
  const { namespace = '', name, resourceVersion } = metadata
  return { osd, namespace, name, version: resourceVersion, change }
}

/** As a merge patch. */
export function labelPatch({ version, change }: LabelChange) {
  const labels = { [doNotReconcile]: change === 'hold' ? paceLabelValue : null }
  return { metadata: { ...(version !== undefined && { resourceVersion: version }), labels } }
}
