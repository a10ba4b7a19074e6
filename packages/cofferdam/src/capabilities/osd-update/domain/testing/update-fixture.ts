import { type ExampleMap, exampleMap } from '../../../../safety/testing/example-map.ts'
import { known } from '../../../../shared/observed.ts'
import { decideOsdUpdate } from '../decide.ts'
import type { CephForUpdate, OsdUpdateSnapshot, UpdatableOsd, UpdatedCluster, UpdateRecord } from '../snapshot.ts'
import { freshRecord } from '../update-record.ts'
import { defaultUpdateSettings, type UpdateSettings } from '../update-settings.ts'

export const nowMs = 1_800_000_000_000

export interface UpdateFixture {
  readonly nowMs?: number
  readonly settings?: Partial<UpdateSettings>
  readonly cluster?: Partial<UpdatedCluster>
  /** By id; those not named are up to date and ready. */
  readonly osds?: Readonly<Record<number, Partial<UpdatableOsd>>>
  /** Which of 0 to 5 have a Deployment; all unless told. */
  readonly ids?: readonly number[]
  /** Which need an update; all unless told. */
  readonly needing?: readonly number[]
  readonly map?: ExampleMap
  readonly ceph?: Partial<CephForUpdate> | OsdUpdateSnapshot['ceph']
  readonly record?: Partial<UpdateRecord>
  readonly arbiter?: OsdUpdateSnapshot['arbiter']
  readonly cordonedNodes?: OsdUpdateSnapshot['cordonedNodes']
  readonly recordProblem?: string
}

/** 0 to 5 on three hosts of two; the placement groups tie 0, 2, 4 and 1, 3, 5, and each can spare one copy. */
export const twoTriples: ExampleMap = {
  pgs: [
    { pg: '1.0', acting: [0, 2, 4] },
    { pg: '1.1', acting: [1, 3, 5] },
  ],
}

/** All six need an update, all is well, and as many may go at once as their placement groups allow. */
export function updateSnapshot(given: UpdateFixture = {}): OsdUpdateSnapshot {
  const ids = given.ids ?? [0, 1, 2, 3, 4, 5]
  const map = exampleMap(given.map ?? twoTriples)
  const peered = new Set(map.osds.filter(({ isUp }) => isUp).map(({ id }) => id))
  const ceph = given.ceph ?? {}
  return {
    nowMs: given.nowMs ?? nowMs,
    cluster: {
      namespace: 'rook-ceph',
      name: 'rook-ceph',
      uid: 'uid-1',
      generation: 1,
      isBeingDeleted: false,
      mode: 'own',
      isUpgrade: false,
      settings: { ...defaultUpdateSettings, maxInParallel: { kind: 'count', count: 6 }, ...given.settings },
      ...given.cluster,
    },
    osds: ids.map((id) => ({
      id,
      deployment: `rook-ceph-osd-${id}`,
      needsUpdate: (given.needing ?? ids).includes(id),
      isPodReady: true,
      hasStalled: false,
      ...given.osds?.[id],
    })),
    ceph: 'known' in ceph ? ceph : known({ map, isHealthy: true, isClean: known(true), peered, ...ceph }),
    record: { ...freshRecord(1), ...given.record },
    ...(given.arbiter !== undefined && { arbiter: given.arbiter }),
    ...(given.cordonedNodes !== undefined && { cordonedNodes: given.cordonedNodes }),
    ...(given.recordProblem !== undefined && { recordProblem: given.recordProblem }),
  }
}

/** Why, and who starts. */
export function told(given: UpdateFixture): readonly [string, readonly number[]] {
  const { reason, start } = decideOsdUpdate(updateSnapshot(given))
  return [reason, start]
}

/** Its update began so many seconds ago, and its pod is gone. */
export const away = (seconds: number) => ({ needsUpdate: false, isPodReady: false, startedMs: nowMs - seconds * 1000 })
export const osdDown = (id: number) => ({ id, isUp: false, downAt: 5 })
