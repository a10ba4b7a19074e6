import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { deployments, namespaces, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { lockedLabel } from '@cofferdam/product/eviction-guard/domain/namespace-labels.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Write } from '../stage/witness.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'
import type { DataOracle } from './watch-data.ts'
import type { watchFences } from './watch-fences.ts'
import type { watchQuorum } from './watch-quorum.ts'

export interface WriteOracle {
  /** Before it is carried out; what it returns is called when it was. */
  judge(write: Write): (() => void) | undefined
  /** An owner locks this budget from now on. */
  locked(budget: string): void
  /** A node as the server has just stored it. */
  sawNode(node: Node, isGone: boolean): void
  /** The cluster is what it was in a backup: whoever closed a node since has not. */
  restored(): void
}

export interface WriteOraclePorts {
  readonly stage: () => Stage
  readonly data: () => DataOracle | undefined
  readonly fences: ReturnType<typeof watchFences>
  readonly quorum: ReturnType<typeof watchQuorum>
  /** Who writes at this moment. */
  readonly writer: () => string
  readonly excuses: Pick<Excuses, 'isAttendedFor' | 'isMeddledWith' | 'wasMeddledWith'>
}

const neverDeleted = [
  'pods',
  'persistentvolumeclaims',
  'persistentvolumes',
  'machines',
  'volumes',
  'nodes',
  'namespaces',
]
/** No object is written so often within a second, but by who answers to each of its own writes. */
const mostInASecond = 200
/** Until the guard has heard of a lock it lets evictions through. The mark on the namespace says that it has. */
const heardMs = 10_000

/**
 * What may be written: S4, no eviction under a locked budget is let through; S15, the operator deletes nothing that holds data or runs;
 * S16, it opens only nodes that it closed itself; S20, no private key is in anything but a Secret. L8: no write begins the next one.
 */
export function watchWrites(ports: WriteOraclePorts, { blame }: Blame): WriteOracle {
  const { stage, data, fences, quorum, writer, excuses } = ports
  /** Nodes that are closed, and who closed them. */
  const closedBy = new Map<string, string>()
  const lockedSince = new Map<string, number>()
  let lately: { readonly second: number; readonly counts: Map<string, number> } = { second: 0, counts: new Map() }

  /** Called by the server as soon as a node is stored: whoever writes at that moment did it. */
  function sawNode({ metadata, spec }: Node, isGone: boolean): void {
    const { name } = metadata
    const isClosed = !isGone && spec?.unschedulable === true
    const closer = closedBy.get(name)
    if (isClosed && closer === undefined) closedBy.set(name, writer())
    if (isClosed || closer === undefined) return
    closedBy.delete(name)
    // A cordon that was put back with a backup is whoever's it was then.
    const isRestored = closer === 'the cluster' && excuses.wasMeddledWith('etcd')
    if (!isGone && writer() === 'operator' && closer !== 'operator' && !isRestored)
      blame('S16', `the operator opened ${name}, which ${closer} had closed`)
  }

  /** Where no time passes between writes the scenario would never end, so the one that is too many fails. */
  function judgeHaste({ type, key, subresource = '' }: Write): void {
    const second = Math.floor(stage().clock.now() / 1_000)
    if (lately.second !== second) lately = { second, counts: new Map() }
    const object = `${type.plural}/${key.namespace ?? ''}/${key.name ?? ''}/${subresource}`
    const count = (lately.counts.get(object) ?? 0) + 1
    lately.counts.set(object, count)
    if (count < mostInASecond) return
    blame('L8', `the operator writes ${object} without an end`)
    throw new Error(`${object} was written ${count} times within a second`)
  }

  function judgeOperator(write: Write): (() => void) | undefined {
    const { verb, type, key, body } = write
    judgeHaste(write)
    fences.judge(write)
    if (verb === 'deletecollection') blame('S15', `the operator deletes all ${type.plural}`)
    if (verb === 'delete' && neverDeleted.includes(type.plural) && !isOsdPod(write))
      blame('S15', `the operator deletes a ${type.kind}`)
    if (type.plural !== 'secrets' && hasPrivateKey(body))
      blame('S20', `the operator writes a private key into ${type.plural}`)
    if (verb === 'delete' && isOsdPod(write)) return data()?.taking(key, 'the operator')
    if (type.plural === 'deployments' && verb === 'update') return judgeRestart(write)
    return undefined
  }

  function isOsdPod({ type, key }: Write): boolean {
    const pod = type.plural === 'pods' ? stage().views.of(pods).get(`${key.namespace}/${key.name}`) : undefined
    return pod?.metadata.labels?.['app'] === 'rook-ceph-osd'
  }

  /** Only another template ends the pod; marks on the Deployment itself, which an update leaves and takes away, do not. */
  function judgeRestart({ key, body }: Write): (() => void) | undefined {
    const osd = /^rook-ceph-osd-(\d+)$/.exec(key.name)?.[1]
    const stored = stage().views.of(deployments).get(`${key.namespace}/${key.name}`)
    const { spec } = body as Deployment
    if (osd === undefined || isSameJson(spec.template, stored?.spec.template)) return undefined
    return () => data()?.restarted(Number(osd))
  }

  function judgeEviction({ actor, key }: Write): () => void {
    const { views, clock } = stage()
    const pod = views.of(pods).get(`${key.namespace}/${key.name}`)
    // Owners' locks do not count for a request with an override.
    const isOverridden = actor === 'operator' && excuses.isMeddledWith('glass')
    const locks = [...views.of(podDisruptionBudgets).values()].filter(({ metadata, spec }) => {
      const sinceMs = lockedSince.get(metadata.name)
      return (
        pod !== undefined &&
        !isOverridden &&
        isCounted(pod) &&
        metadata.namespace === key.namespace &&
        isSelected(spec.selector ?? {}, pod.metadata.labels) &&
        isLocked(metadata) &&
        sinceMs !== undefined &&
        clock.now() - sinceMs > heardMs &&
        (excuses.isAttendedFor(heardMs) || (isMarked(key.namespace) && areClocksRight()))
      )
    })
    const letGo = data()?.taking(key, `an eviction by ${actor}`)
    return () => {
      for (const { metadata } of locks) {
        // The guard may answer late, and the owner may have taken the lock away by then.
        const stored = views.of(podDisruptionBudgets).get(`${metadata.namespace}/${metadata.name}`)
        if (stored === undefined || !isLocked(stored.metadata)) continue
        blame('S4', `an eviction by ${actor} got through although ${metadata.name} was locked`)
      }
      quorum.taken(key, `an eviction by ${actor}`)
      letGo?.()
    }
  }

  function isLocked({ annotations = {} }: ObjectMeta): boolean {
    const until = lockEnd(annotations[appLockAnnotation])
    return until !== undefined && stage().clock.now() < until - heardMs
  }

  function isMarked(namespace = ''): boolean {
    return stage().views.of(namespaces).get(namespace)?.metadata.labels?.[lockedLabel] === 'true'
  }

  /** When a lock ends is read from the clock of the replica that answers. */
  function areClocksRight(): boolean {
    return stage().processes.running.every(({ skewMs }) => skewMs === 0)
  }

  return {
    judge(write) {
      if (write.isDryRun) return undefined
      if (write.verb === 'evict') return judgeEviction(write)
      if (write.actor === 'operator') return judgeOperator(write)
      return undefined
    },
    sawNode,
    restored() {
      for (const name of closedBy.keys()) closedBy.set(name, 'the cluster')
    },
    locked: (budget) => void lockedSince.set(budget, stage().clock.now()),
  }
}

/** No budget counts on a pod that does not run yet, or that leaves: Kubernetes lets it go whatever they say. */
function isCounted({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Running'
}

function lockEnd(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  try {
    return parseRfc3339((JSON.parse(text) as { readonly until?: string }).until ?? '')
  } catch {
    return undefined
  }
}

/** In any text of it. Not by its JSON as a whole: every write of the operator is searched. */
function hasPrivateKey(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('PRIVATE KEY')
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(hasPrivateKey)
}
