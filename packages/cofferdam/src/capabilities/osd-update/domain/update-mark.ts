import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** On the Deployment of an OSD: when its update began. */
export const updateStartedAnnotation = 'cofferdam.io/update-started'

/** The Deployment as it is written when its update begins. To the millisecond, for the order of starts and returns counts. */
export function markUpdateStarted(deployment: Deployment, nowMs: number): Deployment {
  const fraction = String(Math.floor(nowMs) % 1000).padStart(3, '0')
  const mark = rfc3339(nowMs).replace('Z', `.${fraction}Z`)
  const { metadata } = deployment
  return {
    ...deployment,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [updateStartedAnnotation]: mark } },
  }
}

export type UpdateMark = { readonly startedMs: number | undefined } | { readonly problem: string }

export function parseUpdateMark({ metadata }: Deployment): UpdateMark {
  const text = metadata.annotations?.[updateStartedAnnotation]
  if (text === undefined) return { startedMs: undefined }
  const startedMs = parseRfc3339(text)
  if (startedMs !== undefined) return { startedMs }
  return { problem: `its annotation ${updateStartedAnnotation} ${JSON.stringify(text)} is no time` }
}
