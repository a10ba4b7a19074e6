import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** On a CephCluster: pods of OSDs that are older than this RFC 3339 time are restarted. */
export const restartAnnotation = 'cofferdam.io/restart-osds'
/** On the pod template of an OSD: which request it was restarted for. */
export const restartedAnnotation = 'cofferdam.io/restarted-at'

/** Clocks differ a little: so far ahead a time still counts as now. */
const skewMs = 60_000

export interface RestartRequest {
  /** What is to be carried out now. */
  readonly dueMs: number | undefined
  /** Lies ahead: until then nothing is restarted for it. */
  readonly waitMs: number | undefined
  readonly problem?: string
}

export function parseRestartRequest({ metadata }: CephCluster, nowMs: number): RestartRequest {
  const text = metadata.annotations?.[restartAnnotation]
  if (text === undefined) return { dueMs: undefined, waitMs: undefined }
  const askedMs = parseRfc3339(text)
  if (askedMs === undefined) {
    const problem = `annotation ${restartAnnotation} ${JSON.stringify(text)} is no RFC 3339 time such as 2026-11-15T08:00:00Z; no OSD is restarted`
    return { dueMs: undefined, waitMs: undefined, problem }
  }
  if (askedMs <= nowMs) return { dueMs: askedMs, waitMs: undefined }
  const waiting = { dueMs: undefined, waitMs: askedMs - nowMs }
  if (waiting.waitMs <= skewMs) return waiting
  return { ...waiting, problem: `annotation ${restartAnnotation} ${text} lies ahead; no OSD is restarted before that` }
}

/** Another number whenever somebody asks for something else. */
export function restartGeneration({ metadata }: CephCluster): number {
  return parseRfc3339(metadata.annotations?.[restartAnnotation] ?? '') ?? 0
}

/** Whether the pod was there before, and is not going yet. */
export function isPodBefore({ metadata }: Pod, askedMs: number | undefined): boolean {
  if (askedMs === undefined || metadata.deletionTimestamp !== undefined) return false
  const createdMs = parseRfc3339(metadata.creationTimestamp ?? '')
  return createdMs === undefined || createdMs < askedMs
}

/** Whether its template carries this request already, so that its old pod is terminating. */
export function isRestartedFor({ spec }: Deployment, askedMs: number): boolean {
  const restartedMs = parseRfc3339(spec.template.metadata?.annotations?.[restartedAnnotation] ?? '')
  return restartedMs !== undefined && restartedMs >= Math.floor(askedMs / 1000) * 1000
}

/** The Deployment whose pods are replaced for this request, by a change of its template that means nothing else. */
export function withRestart(deployment: Deployment, askedMs: number): Deployment {
  if (isRestartedFor(deployment, askedMs)) return deployment
  const { template } = deployment.spec
  const annotations = { ...template.metadata?.annotations, [restartedAnnotation]: rfc3339(askedMs) }
  const metadata = { ...template.metadata, annotations }
  return { ...deployment, spec: { ...deployment.spec, template: { ...template, metadata } } }
}

/** What of a request a write of the template may carry, so that one restart does for both. */
export function restartToCarry(cluster: CephCluster, nowMs: number): number | undefined {
  const { dueMs, waitMs } = parseRestartRequest(cluster, nowMs)
  return dueMs ?? (waitMs !== undefined && waitMs <= skewMs ? nowMs + waitMs : undefined)
}
