import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../../shared/kinds/node-disruption.ts'
import { madeForLabel } from '../../../../shared/made-for.ts'
import { known } from '../../../../shared/observed.ts'
import { decideKured } from '../decide.ts'
import { handedAnnotation } from '../handed-places.ts'
import { type KuredNode, type KuredSnapshot, parseKuredDaemonSet } from '../snapshot.ts'

/** Noon of a Wednesday. */
export const nowMs = Date.UTC(2026, 0, 7, 12)

export const lockAnnotation = 'weave.works/kured-node-lock'

export interface SmallKured {
  readonly args?: readonly string[]
  readonly lock?: unknown
  readonly handed?: unknown
  readonly isOptedIn?: boolean
  readonly nodes?: readonly KuredNode[]
  readonly requests?: readonly NodeDisruption[]
  readonly atMs?: number
}

/** A place of the lock as kured writes it. */
export function lockOf(nodeID: string, { agoSeconds = 0, ttlSeconds = 0, unschedulable = false } = {}): object {
  const created = rfc3339(nowMs - agoSeconds * 1_000)
  return { nodeID, metadata: { unschedulable }, created, TTL: ttlSeconds * 1_000_000_000 }
}

export const ownLock = (agoSeconds = 0) => lockOf('cofferdam', { agoSeconds, ttlSeconds: 600 })

export function handedTo(nodeName: string, { agoSeconds = 0 } = {}): object {
  const created = rfc3339(nowMs - agoSeconds * 1_000)
  return { [nodeName]: { boot: 'boot-1', created, since: created } }
}

export function kuredNode(name: string, fields: Partial<KuredNode> = {}): KuredNode {
  return { name, uid: `uid of ${name}`, bootID: 'boot-1', isReady: true, ...fields }
}

/** One that kured wants to reboot. */
export function wantedNode(name: string, fields: Partial<KuredNode> = {}): KuredNode {
  return kuredNode(name, { wantedSince: rfc3339(nowMs - 60_000), ...fields })
}

export function requestOf(
  nodeName: string,
  phase: NonNullable<NodeDisruption['status']>['phase'],
  { sinceSeconds = 60, cordonedBy = `nodedisruption/request-${nodeName}`, isDeleted = false } = {},
): NodeDisruption {
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: {
      name: `request-${nodeName}`,
      uid: `uid of request-${nodeName}`,
      labels: { [madeForLabel]: 'kured' },
      ...(isDeleted ? { deletionTimestamp: rfc3339(nowMs) } : {}),
    },
    spec: { nodeName, intent: 'Reboot', honourSkipDrain: false, requester: 'kured' },
    status: {
      ...(phase === undefined ? {} : { phase }),
      phaseSince: rfc3339(nowMs - sinceSeconds * 1_000),
      bootIDBefore: 'boot-1',
      cordonedBy,
    },
  }
}

/** A request that does not say since when it is in its phase. */
export function undatedOf(...request: Parameters<typeof requestOf>): NodeDisruption {
  const { status: { phaseSince: _, ...status } = {}, ...rest } = requestOf(...request)
  return { ...rest, status }
}

export function kuredSnapshot({
  args = ['--annotate-nodes'],
  lock,
  handed,
  isOptedIn = true,
  nodes = [],
  requests = [],
  atMs = nowMs,
}: SmallKured): KuredSnapshot {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const annotations = {
    ...(isOptedIn ? { 'cofferdam.io/manage-lock': 'true' } : {}),
    ...(lock === undefined ? {} : { [lockAnnotation]: text(lock) }),
    ...(handed === undefined ? {} : { [handedAnnotation]: text(handed) }),
  }
  const daemonSet = parseKuredDaemonSet({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'kube-system', name: 'kured', uid: 'uid of kured', resourceVersion: '7', annotations },
    spec: {
      selector: {},
      template: { metadata: {}, spec: { containers: [{ name: 'kured', command: ['/usr/bin/kured', ...args] }] } },
    },
  })
  return { now: rfc3339(atMs), daemonSet: known(daemonSet), nodes, requests: known(requests) }
}

/** `lock cofferdam`, `request node-1`, `withdraw request-node-1`, `Warning KuredLockUnreadable`. */
export function said(snapshot: KuredSnapshot): string[] {
  return decideKured(snapshot).steps.flatMap((step) => {
    if (step.do === 'report') return step.standing.map(({ type, reason }) => `${type} ${reason}`)
    if (step.write === 'request') return [`request ${step.request.spec.nodeName}`]
    if (step.write === 'withdrawal') return [`withdraw ${step.name}`]
    const holders = holdersIn(step.annotations[lockAnnotation] ?? null)
    const record = step.annotations[handedAnnotation]
    const handed = record == null ? [] : [`handed to ${Object.keys(JSON.parse(record) as object).join(', ')}`]
    return [`lock ${holders}`, ...handed, ...step.news.map(({ about, reason }) => `${about.name} ${reason}`)]
  })
}

function holdersIn(text: string | null): string {
  if (text === null) return 'of nobody'
  const { nodeID, locks = [] } = JSON.parse(text) as { nodeID?: string; locks?: { nodeID: string }[] }
  return nodeID ?? `[${locks.map((lock) => lock.nodeID).join(', ')}]`
}
