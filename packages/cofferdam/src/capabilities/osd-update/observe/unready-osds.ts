import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { RemovableOsd } from '../domain/decide-removal.ts'
import type { UpdatableOsd } from '../domain/snapshot.ts'
import { whySpokenFor } from '../domain/why-left-alone.ts'

/** Since when pods of OSDs have not been ready. Whoever takes over begins to count anew. */
export class UnreadyOsds {
  /** By cluster and OSD: since when its pod was seen not ready in every snapshot. */
  readonly #since = new Map<string, ReadonlyMap<number, number>>()

  forget(key: string): void {
    this.#since.delete(key)
  }

  /** Assumes: called for every snapshot. */
  observe(
    key: string,
    given: {
      readonly nowMs: number
      readonly cluster: CephCluster
      readonly osds: readonly UpdatableOsd[]
      readonly deployments: ReadonlyMap<number, Deployment>
    },
  ): RemovableOsd[] {
    const { nowMs, cluster, osds, deployments } = given
    const before = this.#since.get(key)
    const unready = new Map(
      osds.filter(({ isPodReady }) => !isPodReady).map(({ id }): [number, number] => [id, before?.get(id) ?? nowMs]),
    )
    this.#since.set(key, unready)
    return osds.map(({ id, problem }) => {
      const deployment = deployments.get(id)
      return {
        id,
        createdMs: parseRfc3339(deployment?.metadata.creationTimestamp ?? ''),
        unreadySinceMs: unready.get(id),
        isSpokenFor:
          problem !== undefined || deployment === undefined || whySpokenFor(deployment, cluster) !== undefined,
      }
    })
  }
}
