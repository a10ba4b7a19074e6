import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import type { CephCommands } from '../world/ceph/ceph-commands.ts'

export interface CephStatus {
  readonly fsid: string
  /** `HEALTH_OK`, `HEALTH_WARN`, `HEALTH_ERR` */
  readonly health: string
  readonly upOsdCount: number
  readonly pgCount: number
  readonly cleanPgCount: number
}

/** Why no mon answers, in words. */
export interface SilentCeph {
  readonly silent: string
}

/** The part that is used of what the simulated Ceph answers to `status`. */
interface StatusAnswer {
  readonly fsid: string
  readonly health: { readonly status: string }
  readonly osdmap: { readonly num_up_osds: number }
  readonly pgmap: {
    readonly num_pgs: number
    readonly pgs_by_state: readonly { readonly state_name: string; readonly count: number }[]
  }
}

export async function askCephStatus(
  commands: CephCommands,
  options: { readonly signal?: AbortSignal } = {},
): Promise<CephStatus | SilentCeph> {
  try {
    const { out } = await commands.run({ prefix: 'status' }, options)
    const { fsid, health, osdmap, pgmap } = JSON.parse(out) as StatusAnswer
    return {
      fsid,
      health: health.status,
      upOsdCount: osdmap.num_up_osds,
      pgCount: pgmap.num_pgs,
      cleanPgCount: pgmap.pgs_by_state.find(({ state_name }) => state_name === 'active+clean')?.count ?? 0,
    }
  } catch (error) {
    if (hasCode(error, 'CEPH_UNREACHABLE')) return { silent: error.message }
    throw error
  }
}
