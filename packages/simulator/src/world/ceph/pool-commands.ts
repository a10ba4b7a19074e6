import { type CommandTable, errno, failed, texts } from './answer-parts.ts'
import type { CephAnswer, CephCommand } from './ceph-commands.ts'
import type { CephState } from './ceph-state.ts'
import type { Pool } from './placement-group.ts'

export interface PoolEffects {
  /** A pool was made, has another floor, belongs elsewhere, or is to have another number of placement groups. */
  poolChanged(pool: Pool, change: 'made' | 'floor' | 'places' | 'count'): void
}

const mostCopies = 10
const mostGroups = 1_024

/** `osd pool set` and `osd pool create`. */
export function poolCommands(state: CephState, effects: PoolEffects): CommandTable {
  const { map } = state
  const [first] = state.pools
  /** What a cluster gives a new pool does not change with what somebody sets for another. */
  const pattern = first && { ...first, minSize: firstFloor(first) }
  const variables: Readonly<Record<string, (pool: Pool, value: string) => CephAnswer>> = {
    min_size: setFloor,
    size: setSize,
    crush_rule: setRule,
    pg_num: setCount,
  }

  function setPool(command: CephCommand): CephAnswer {
    const [[name = ''], [field = ''], [value = '']] = [command['pool'], command['var'], command['val']].map(texts) as [
      string[],
      string[],
      string[],
    ]
    const pool = state.pools.find((one) => one.name === name)
    if (pool === undefined) return failed(errno.noEntry, `unrecognized pool '${name}'`)
    const set = Object.hasOwn(variables, field) ? variables[field] : undefined
    if (set === undefined) return failed(errno.invalid, `Invalid command: ${field} cannot be set here`)
    return set(pool, value)
  }

  function setFloor(pool: Pool, value: string): CephAnswer {
    const least = pool.kind === 'replicated' ? 1 : pool.readable
    const minSize = Number(value)
    if (!Number.isInteger(minSize) || minSize < least || minSize > pool.size) {
      return failed(errno.invalid, `pool min_size must be between ${least} and size, which is set to ${pool.size}`)
    }
    pool.minSize = minSize
    map.bump()
    effects.poolChanged(pool, 'floor')
    return { code: 0, out: '', err: `set pool ${pool.id} min_size to ${minSize}` }
  }

  /** As Ceph does, with the floor that such a pool would get if it were new. */
  function setSize(pool: Pool, value: string): CephAnswer {
    if (pool.kind === 'erasure') return failed(errno.notSupported, 'can not change the size of an erasure-coded pool')
    const size = Number(value)
    if (!Number.isInteger(size) || size < 2 || size > mostCopies)
      return failed(errno.invalid, `pool size must be between 2 and ${mostCopies}`)
    pool.size = size
    pool.minSize = firstFloor(pool)
    map.bump()
    effects.poolChanged(pool, 'places')
    return { code: 0, out: '', err: `set pool ${pool.id} size to ${size}` }
  }

  function setRule(pool: Pool, value: string): CephAnswer {
    const rule = map.tree.rules.find(({ name }) => name === value)
    if (rule === undefined) return failed(errno.noEntry, `crush rule ${value} does not exist`)
    if (rule.kind !== pool.kind) return failed(errno.invalid, `crush rule ${rule.id} type does not match pool`)
    pool.rule = rule
    map.bump()
    effects.poolChanged(pool, 'places')
    return { code: 0, out: '', err: `set pool ${pool.id} crush_rule to ${value}` }
  }

  /** More are there at once; fewer become fewer when they are clean. */
  function setCount(pool: Pool, value: string): CephAnswer {
    const count = Number(value)
    if (!Number.isInteger(count) || count < 1 || count > mostGroups)
      return failed(errno.invalid, `specified pg_num ${value} is out of range`)
    pool.pgTarget = count
    pool.pgCount = Math.max(pool.pgCount, count)
    map.bump()
    effects.poolChanged(pool, 'count')
    return { code: 0, out: '', err: `set pool ${pool.id} pg_num to ${count}` }
  }

  /** As the first pool was in the beginning, but for its name and how many placement groups it has. */
  function createPool(command: CephCommand): CephAnswer {
    const [name = ''] = texts(command['pool'])
    if (pattern === undefined || name === '')
      return failed(errno.invalid, 'a pool needs a name, and one to be made after')
    if (state.pools.some((one) => one.name === name)) return failed(errno.exists, `pool '${name}' already exists`)
    const id = Math.max(...state.pools.map((one) => one.id)) + 1
    const pool: Pool = { ...pattern, id, name, pgCount: Number(command['pg_num'] ?? 8) }
    state.pools.push(pool)
    map.bump()
    effects.poolChanged(pool, 'made')
    return { code: 0, out: '', err: `pool '${name}' created` }
  }

  return { 'osd pool set': setPool, 'osd pool create': createPool }
}

/** The floor that Ceph gives a pool by itself, not one that somebody gave it. */
function firstFloor({ readable, size, minSize }: Pool): number {
  return readable === 1 ? size - Math.floor(size / 2) : minSize
}
