import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'

interface PgStat {
  readonly pgid: string
  state: string
}

interface StateCount {
  state_name: string
  count: number
}

export interface DamagedGroup {
  /** What `ceph pg repair` does, when it is done. */
  repair(): void
}

const found = '+inconsistent'

/** From now on Ceph reports that a scrub found a bad copy of this placement group, whatever else happens to it. */
export function damageGroup(commands: CephCommands, pgid: string): DamagedGroup {
  const run = commands.run.bind(commands)
  let isDamaged = true
  let healthy = 'active+clean'
  const changed: CephCommands['run'] = async (command, options) => {
    const answer = await run(command, options)
    if (!isDamaged || (command.prefix !== 'pg dump' && command.prefix !== 'status') || answer.code !== 0) return answer
    const json = JSON.parse(answer.out) as {
      pg_map?: { pg_stats?: PgStat[] }
      pg_stats?: PgStat[]
      pgmap?: { pgs_by_state: StateCount[] }
    }
    for (const stat of json.pg_map?.pg_stats ?? json.pg_stats ?? []) {
      if (stat.pgid !== pgid || !stat.state.includes('active')) continue
      healthy = stat.state
      stat.state += found
    }
    const counts = json.pgmap?.pgs_by_state
    const count = counts?.find(({ state_name: name }) => name === healthy)
    if (counts !== undefined && count !== undefined) {
      count.count -= 1
      counts.push({ state_name: `${healthy}${found}`, count: 1 })
    }
    return { ...answer, out: JSON.stringify(json) }
  }
  Object.assign(commands, { run: changed })
  return {
    repair() {
      isDamaged = false
    },
  }
}
