import type { CephCommand, CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import type { PoolDescription } from '@cofferdam/simulator/world/ceph/ceph-description.ts'

/** Makes the pools in the order of their description, which gives them the numbers that the simulated Ceph gives them. */
export async function createPools(commands: CephCommands, pools: readonly PoolDescription[]): Promise<void> {
  for (const pool of pools) await createPool(commands, pool)
  await Promise.all(
    pools.flatMap(({ name, minSize }) => [
      obey(commands, { prefix: 'osd pool set', pool: name, var: 'min_size', val: String(minSize) }),
      obey(commands, { prefix: 'osd pool application enable', pool: name, app: applicationOf(name), ...really }),
    ]),
  )
}

/** Runs a command that has to succeed, and returns what it printed. */
export async function obey(commands: CephCommands, command: CephCommand): Promise<string> {
  const { code, out, err } = await commands.run(command)
  if (code !== 0) throw new Error(`${JSON.stringify(command)} ended with ${code}: ${err.trim()}`)
  return out
}

const really = { yes_i_really_mean_it: true }

async function createPool(commands: CephCommands, pool: PoolDescription): Promise<void> {
  const { name, kind, size, pgCount } = pool
  const create = { prefix: 'osd pool create', pool: name, pg_num: pgCount, pgp_num: pgCount, rule: name, ...really }
  if (kind === 'replicated') {
    await obey(commands, { ...create, pool_type: kind, size })
    return
  }
  const profile = `${name}_ecprofile`
  await obey(commands, { prefix: 'osd erasure-code-profile set', name: profile, profile: profileOf(pool) })
  await obey(commands, { ...create, pool_type: kind, erasure_code_profile: profile })
}

function profileOf({ size, k, m, failureDomain, deviceClass }: PoolDescription): string[] {
  const coding = m ?? (k === undefined ? 1 : size - k)
  return [
    'plugin=jerasure',
    `k=${k ?? size - coding}`,
    `m=${coding}`,
    `crush-failure-domain=${failureDomain}`,
    ...(deviceClass === undefined ? [] : [`crush-device-class=${deviceClass}`]),
  ]
}

function applicationOf(pool: string): string {
  if (pool === '.mgr') return 'mgr'
  return pool.includes('rgw') ? 'rgw' : 'rbd'
}
