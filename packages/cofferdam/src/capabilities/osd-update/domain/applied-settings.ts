import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Container, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Placement } from '@cofferdam/kubernetes/api/kinds/rook.ts'

/** On the Deployment of an OSD: which settings of the CephCluster we put there, so that they can leave again. */
export const appliedAnnotation = 'cofferdam.io/applied-settings'

export type Texts = Readonly<Record<string, string>>
export type Resources = NonNullable<Container['resources']>

/** What we put on a Deployment ourselves. What was there before us, or came from others since, is not in it. */
export interface AppliedSettings {
  readonly labels: Texts
  readonly annotations: Texts
  readonly podLabels: Texts
  readonly podAnnotations: Texts
  readonly tolerations: readonly Toleration[]
  /** But for the tolerations. */
  readonly placement: Placement
  readonly resources?: Resources
  readonly priorityClassName?: string
}

const nothing: AppliedSettings = {
  labels: {},
  annotations: {},
  podLabels: {},
  podAnnotations: {},
  tolerations: [],
  placement: {},
}

/** Fails closed: where it cannot be read nothing counts as ours, so nothing is taken away. */
export function parseAppliedSettings({ metadata }: Deployment): AppliedSettings {
  const text = metadata.annotations?.[appliedAnnotation]
  if (text === undefined) return nothing
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return nothing
  }
  if (!isJsonObject(fields)) return nothing
  const { resources, priorityClassName, tolerations, placement } = fields
  return {
    labels: textsOf(fields['labels']),
    annotations: textsOf(fields['annotations']),
    podLabels: textsOf(fields['podLabels']),
    podAnnotations: textsOf(fields['podAnnotations']),
    tolerations: Array.isArray(tolerations) ? (tolerations.filter(isJsonObject) as readonly Toleration[]) : [],
    placement: isJsonObject(placement) ? (placement as Placement) : {},
    ...(isJsonObject(resources) && { resources: resources as Resources }),
    ...(typeof priorityClassName === 'string' && { priorityClassName }),
  }
}

/** Undefined when there is nothing to remember. */
export function formatAppliedSettings(settings: AppliedSettings): string | undefined {
  const kept = Object.entries(settings).filter(
    ([, value]) => value !== undefined && (typeof value === 'string' || Object.keys(value as object).length > 0),
  )
  return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept))
}

/** Labels or annotations as they should be: what we put there and nobody wants any more goes, if it still is what we put. */
export function adaptTexts(had: Texts | undefined, wanted: Texts, ours: Texts): Texts | undefined {
  const leaving = Object.keys(ours).filter((key) => !Object.hasOwn(wanted, key) && had?.[key] === ours[key])
  const isThere = Object.entries(wanted).every(([key, value]) => had?.[key] === value)
  if (isThere && leaving.length === 0) return had
  const kept = Object.entries(had ?? {}).filter(([key]) => !leaving.includes(key))
  return { ...Object.fromEntries(kept), ...wanted }
}

/** The wanted settings that are ours: because we put them there now, or had done so before. */
export function oursOf(had: Texts | undefined, wanted: Texts, before: Texts): Texts {
  return Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => had?.[key] !== value || before[key] === value),
  )
}

function textsOf(value: unknown): Texts {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
