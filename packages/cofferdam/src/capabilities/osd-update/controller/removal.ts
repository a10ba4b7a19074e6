import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import { type Observed, unknown } from '../../../shared/observed.ts'
import { decideRemoval, type LostOsds, type RemovableOsd } from '../domain/decide-removal.ts'
import type { OsdUpdateSnapshot } from '../domain/snapshot.ts'
import { whySpokenFor } from '../domain/why-left-alone.ts'
import type { UpdateReports } from '../report/report.ts'

export interface OsdRemovalPorts {
  readonly api: Pick<KubeApi, 'delete'>
  readonly reports: Pick<UpdateReports, 'events'>
  /** Which of these OSDs Ceph has lost, and which of those it could do without. */
  observeLostOsds(ceph: CephCommands, osds: readonly number[], signal: AbortSignal): Promise<Observed<LostOsds>>
}

export interface RemovalLook {
  readonly key: string
  readonly cluster: CephCluster
  readonly snapshot: Omit<OsdUpdateSnapshot, 'ceph'>
  readonly deployments: ReadonlyMap<number, Deployment>
  readonly commands: CephCommands | undefined
}

/** Removes the Deployments of OSDs that are gone for good, where the cluster wants that. */
export class OsdRemoval {
  readonly #ports: OsdRemovalPorts
  /** By cluster and OSD: since when its pod was seen not ready at every look. Whoever takes over begins to count anew. */
  readonly #unready = new Map<string, ReadonlyMap<number, number>>()

  constructor(ports: OsdRemovalPorts) {
    this.#ports = ports
  }

  forget(key: string): void {
    this.#unready.delete(key)
  }

  /**
   * Looks, asks Ceph if there is anything to ask, and removes. Tells when to look again.
   *
   * Assumes: called at every look while nothing is being updated.
   */
  async reconcile(look: RemovalLook, signal: AbortSignal): Promise<number | undefined> {
    const { snapshot, commands } = look
    const seen = { ...snapshot, osds: this.#osdsOf(look) }
    const first = decideRemoval({ ...seen, ceph: undefined })
    if (first.ask.length === 0) return first.recheckAfterSeconds
    const ceph =
      commands === undefined
        ? unknown('no way to reach this Ceph is known')
        : ofCluster(await this.#ports.observeLostOsds(commands, first.ask, signal), look.cluster)
    const { remove, recheckAfterSeconds } = decideRemoval({ ...seen, ceph })
    for (const osd of remove) await this.#remove(osd, look, signal)
    return recheckAfterSeconds
  }

  #osdsOf({ key, cluster, snapshot, deployments: byId }: RemovalLook): RemovableOsd[] {
    const before = this.#unready.get(key)
    const unready = new Map(
      snapshot.osds
        .filter(({ isPodReady }) => !isPodReady)
        .map(({ id }): [number, number] => [id, before?.get(id) ?? snapshot.nowMs]),
    )
    this.#unready.set(key, unready)
    return snapshot.osds.map(({ id, problem }) => {
      const deployment = byId.get(id)
      return {
        id,
        createdMs: parseRfc3339(deployment?.metadata.creationTimestamp ?? ''),
        unreadySinceMs: unready.get(id),
        isSpokenFor:
          problem !== undefined || deployment === undefined || whySpokenFor(deployment, cluster) !== undefined,
      }
    })
  }

  async #remove(osd: number, { cluster, deployments: byId }: RemovalLook, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = (byId.get(osd) as Deployment).metadata
    try {
      // Only the very one that was seen: a new one of the same name is another OSD.
      await this.#ports.api.delete(
        deployments,
        { namespace, name },
        {
          signal,
          ...(uid !== undefined && { preconditions: { uid } }),
        },
      )
    } catch (error) {
      if (hasReason(error, 'NotFound', 'Conflict')) return
      throw error
    }
    const note = `osd.${osd} is down and out, its pod has not been ready for long, and Ceph calls it safe to destroy: Deployment ${name} is removed; Ceph keeps its entry until it is purged`
    await this.#ports.reports.events.record(cluster, { type: 'Normal', reason: 'OsdRemoved', note })
  }
}

/** Another Ceph under the same name knows nothing of these OSDs. */
function ofCluster(answer: Observed<LostOsds>, { status }: CephCluster): Observed<LostOsds> {
  const fsid = status?.ceph?.fsid
  if (!answer.known || fsid === undefined || fsid === '' || answer.value.fsid === fsid) return answer
  return unknown(`Ceph ${answer.value.fsid} answers, and the CephCluster names ${fsid}`)
}
