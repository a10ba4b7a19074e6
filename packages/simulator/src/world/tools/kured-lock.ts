import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { daemonSets } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../actor.ts'

export const kuredLockAnnotation = 'weave.works/kured-node-lock'

export interface KuredLockEntry {
  readonly nodeID: string
  readonly metadata?: { readonly unschedulable: boolean }
  readonly created: string
  /** In nanoseconds, as Go writes a duration; 0: it never lapses. */
  readonly TTL: number
}

interface ManyOwners {
  readonly maxOwners: number
  readonly locks: readonly KuredLockEntry[] | null
}

export interface KuredLockOptions {
  readonly daemonSet: ObjectKey
  readonly nodeName: string
  /** More than 1 makes another form of the annotation. */
  readonly concurrency: number
  readonly ttlMs: number
}

/** The lock of one kured pod: an annotation on its DaemonSet, which is changed by compare-and-swap. */
export interface KuredLock {
  acquire(isUnschedulable: boolean): Promise<boolean>
  /** The entry of this node, while it has not lapsed. */
  holding(): Promise<KuredLockEntry | undefined>
  /** False where the lock is not this node's. */
  release(): Promise<boolean>
}

const retryMs = 1_000

export function openKuredLock({ api, clock }: ActorTools, options: KuredLockOptions): KuredLock {
  const { daemonSet, nodeName, concurrency, ttlMs } = options
  const isMany = concurrency > 1
  const read = () => api.get(daemonSets, daemonSet)

  /** Tries again for as long as others are faster. An undefined change ends it. */
  async function change(next: (text: string | undefined) => string | null | undefined): Promise<boolean> {
    for (;;) {
      const set = await read()
      const text = next(textOf(set))
      if (text === undefined) return false
      const { [kuredLockAnnotation]: _, ...others } = set.metadata.annotations ?? {}
      const annotations = text === null ? others : { ...others, [kuredLockAnnotation]: text }
      try {
        await api.update(daemonSets, { ...set, metadata: { ...set.metadata, annotations } })
        return true
      } catch (error) {
        if (!hasReason(error, 'Conflict')) throw error
        await sleep(clock, retryMs)
      }
    }
  }

  const own = (unschedulable: boolean): KuredLockEntry => ({
    nodeID: nodeName,
    metadata: { unschedulable },
    created: new Date(clock.now()).toISOString(),
    TTL: ttlMs * 1_000_000,
  })

  return {
    async acquire(isUnschedulable) {
      let isHeldAlready = false
      const isTaken = await change((text) => {
        if (isMany) return withOneMore(text, own(isUnschedulable))
        const entry = text === undefined ? undefined : (JSON.parse(text) as KuredLockEntry)
        if (entry === undefined || hasLapsed(entry, clock)) return JSON.stringify(own(isUnschedulable))
        isHeldAlready = entry.nodeID === nodeName
        return undefined
      })
      return isTaken || isHeldAlready
    },
    async holding() {
      const text = textOf(await read())
      if (text === undefined) return undefined
      const entries = isMany ? locksOf(text) : [JSON.parse(text) as KuredLockEntry]
      return entries.find((entry) => entry.nodeID === nodeName && !hasLapsed(entry, clock))
    },
    release: () =>
      change((text) => {
        if (text === undefined) return undefined
        if (!isMany) return (JSON.parse(text) as KuredLockEntry).nodeID === nodeName ? null : undefined
        const locks = locksOf(text)
        const index = locks.findIndex(({ nodeID }) => nodeID === nodeName)
        if (index < 0) return undefined
        return JSON.stringify({ ...(JSON.parse(text) as ManyOwners), locks: locks.toSpliced(index, 1) })
      }),
  }

  function withOneMore(text: string | undefined, entry: KuredLockEntry): string | undefined {
    const locks = locksOf(text ?? '{}')
    const kept = locks.length < concurrency ? locks : locks.filter((each) => !hasLapsed(each, clock))
    if (locks.length >= concurrency && kept.length === locks.length) return undefined
    return JSON.stringify({ maxOwners: concurrency, locks: [...kept, entry] } satisfies ManyOwners)
  }
}

/** A text of the other form has no `locks`: to this kured nobody holds anything. */
function locksOf(text: string): readonly KuredLockEntry[] {
  return (JSON.parse(text) as Partial<ManyOwners>).locks ?? []
}

function textOf({ metadata }: DaemonSet): string | undefined {
  return metadata.annotations?.[kuredLockAnnotation]
}

function hasLapsed({ created, TTL = 0 }: Partial<KuredLockEntry>, clock: Pick<Clock, 'now'>): boolean {
  const createdMs = parseRfc3339(created ?? '') ?? 0
  return TTL > 0 && clock.now() - createdMs >= TTL / 1_000_000
}
