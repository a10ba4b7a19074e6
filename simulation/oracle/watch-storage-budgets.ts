import { longhornReplicas, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { unknown } from '@cofferdam/product/shared/observed.ts'
import { isHealthy, watchLonghorn } from '../../scenarios/testing/longhorn-oracle.ts'
import { watchOver } from '../../scenarios/testing/oracle.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'

/** How many looks in a row an OSD may be under two budgets: a swap is two writes, and a look may fall between them. */
const overlapLooks = 5
const settlingMs = 60_000

/**
 * S11: running OSDs without a budget are of one failure domain at most. S3: no budget of Longhorn goes while it covers a last copy, no
 * volume loses its last healthy copy on purpose, and what was rebuilt holds what was written.
 */
export function watchStorageBudgets(stage: Stage, { blame }: Blame, excuses: Excuses): { look(): void; stop(): void } {
  const { views, description, shape, clock, longhorn, world } = stage
  const isAttended = () => excuses.isAttendedFor(settlingMs)
  const osds =
    description.ceph &&
    watchOver({
      views,
      namespace: description.ceph.namespace,
      domainLabel: `topology-location-${shape.domain}`,
      // Placement groups are judged by what Ceph really has.
      observeCeph: async () => unknown('not asked here'),
      isUnattended: () => !isAttended() || excuses.isMeddledWith('storage'),
      overlapLooks,
    })
  const volumes =
    description.longhorn &&
    longhorn &&
    watchLonghorn({
      namespace: description.longhorn.namespace,
      views,
      clock,
      isOn: world.kubelet.isOn,
      verify: longhorn.controls.verify,
      isAttended,
      isBroken: (volume) => excuses.brokeAt(`volume ${volume}`) !== undefined || excuses.isMeddledWith('nodes'),
      tell: () => {},
    })
  let seen = { osds: 0, volumes: 0 }

  /** A volume with all its copies has no excuse any more, and when all have theirs, machines that fell out before excuse nothing. */
  function mendWholeVolumes(): void {
    const copies = [...views.of(longhornReplicas).values()].filter(isHealthy)
    const robust = shape.volumes.filter((name) => {
      const volume = views.of(longhornVolumes).get(`${description.longhorn?.namespace}/${name}`)
      const healthy = copies.filter(({ spec }) => spec?.volumeName === name).length
      return volume !== undefined && healthy >= (volume.spec?.numberOfReplicas ?? 0)
    })
    for (const name of robust) {
      const brokeMs = excuses.brokeAt(`volume ${name}`)
      if (brokeMs !== undefined && clock.now() - brokeMs > settlingMs) excuses.mended(`volume ${name}`)
    }
    if (robust.length === shape.volumes.length && !excuses.isMeddledWith('nodes')) volumes?.forgetOutages()
  }

  return {
    look() {
      osds?.look()
      mendWholeVolumes()
      volumes?.look()
      const isMeddled = excuses.isMeddledWith('storage')
      for (const sentence of osds?.violations.slice(seen.osds) ?? []) if (!isMeddled) blame('S11', sentence)
      // What a restored backup does not hold nobody has let go.
      const isRestored = excuses.isMeddledWith('etcd')
      for (const sentence of volumes?.violations.slice(seen.volumes) ?? []) if (!isRestored) blame('S3', sentence)
      seen = { osds: osds?.violations.length ?? 0, volumes: volumes?.violations.length ?? 0 }
    },
    stop() {
      osds?.stop()
      volumes?.stop()
    },
  }
}
