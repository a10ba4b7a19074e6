import type { Observed } from '../shared/observed.ts'
import { countAt, listAt, objectAt, observeShape, textAt } from './json-shape.ts'

export interface CephStatus {
  readonly fsid: string
  /** `HEALTH_OK`, `HEALTH_WARN`, `HEALTH_ERR` */
  readonly health: string
  /** The names of what health complains about: `OSD_DOWN`, `PG_DEGRADED` ...; without those that an administrator has muted. */
  readonly healthChecks: readonly string[]
  readonly monsInQuorum: readonly string[]
  readonly osdEpoch: number
  readonly osdCount: number
  readonly upOsdCount: number
  readonly inOsdCount: number
  readonly pgCount: number
  /** How many PGs are in each state; what they say may be older than the last change of the map. */
  readonly pgsByState: Readonly<Record<string, number>>
  /** No mgr is active, so the mons say of PGs what the last one knew, however long ago that was. */
  readonly isWithoutMgr?: true
}

/** Reads `status`. Releases before Octopus put the OSD map one level deeper. */
export function parseStatus(json: unknown): Observed<CephStatus> {
  return observeShape('status', () => {
    const status = objectAt(json, 'status')
    const health = objectAt(status['health'], 'health')
    const outer = objectAt(status['osdmap'], 'osdmap')
    const osdMap = outer['osdmap'] === undefined ? outer : objectAt(outer['osdmap'], 'osdmap.osdmap')
    const pgMap = objectAt(status['pgmap'], 'pgmap')
    return {
      fsid: textAt(status['fsid'], 'fsid'),
      health: textAt(health['status'], 'health.status'),
      healthChecks: health['checks'] === undefined ? [] : readChecks(objectAt(health['checks'], 'health.checks')),
      monsInQuorum: listAt(status['quorum_names'], 'quorum_names').map((name, index) =>
        textAt(name, `quorum_names[${index}]`),
      ),
      osdEpoch: countAt(osdMap['epoch'], 'osdmap.epoch'),
      osdCount: countAt(osdMap['num_osds'], 'osdmap.num_osds'),
      upOsdCount: countAt(osdMap['num_up_osds'], 'osdmap.num_up_osds'),
      inOsdCount: countAt(osdMap['num_in_osds'], 'osdmap.num_in_osds'),
      pgCount: countAt(pgMap['num_pgs'], 'pgmap.num_pgs'),
      pgsByState: readStates(pgMap['pgs_by_state']),
      ...(isWithoutMgr(status['mgrmap']) ? { isWithoutMgr: true } : {}),
    }
  })
}

function readChecks(checks: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(checks).filter((name) => objectAt(checks[name], `health.checks.${name}`)['muted'] !== true)
}

function isWithoutMgr(mgrMap: unknown): boolean {
  return typeof mgrMap === 'object' && mgrMap !== null && 'available' in mgrMap && mgrMap.available === false
}

function readStates(value: unknown): Record<string, number> {
  const states = listAt(value, 'pgmap.pgs_by_state').map((item, index) => {
    const where = `pgmap.pgs_by_state[${index}]`
    const state = objectAt(item, where)
    return [textAt(state['state_name'], `${where}.state_name`), countAt(state['count'], `${where}.count`)] as const
  })
  return Object.fromEntries(states)
}
