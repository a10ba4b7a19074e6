import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { type CommandTable, errno, failed, parseOsd, said, texts } from './answer-parts.ts'
import { crushDump, crushRules, osdTree } from './answers/crush.ts'
import { mgrStat, osdFind, osdMetadata, osdVersion, quorumStatus, versions } from './answers/daemons.ts'
import { health } from './answers/health.ts'
import { okToStop } from './answers/ok-to-stop.ts'
import { okToUpgrade } from './answers/ok-to-upgrade.ts'
import { ecProfile, flagBits, osdDump } from './answers/osd-dump.ts'
import { pgDump, pgStat } from './answers/pg-dump.ts'
import { pgListing } from './answers/pg-listing.ts'
import { ecProfileName, poolList } from './answers/pool-record.ts'
import { safeToDestroy } from './answers/safe-to-destroy.ts'
import { osdStat, releaseOf, status } from './answers/status.ts'
import type { CephAnswer, CephCommand } from './ceph-commands.ts'
import type { CephState } from './ceph-state.ts'
import { type CrushEffects, crushCommands } from './crush-commands.ts'
import { type GroupTarget, groupFlags } from './osd-map.ts'
import { type PoolEffects, poolCommands } from './pool-commands.ts'
import { upmapCommands } from './upmap-commands.ts'

export interface CommandAnswers {
  /** Only the active mgr can answer this; the mons would wait for one. */
  needsMgr(command: CephCommand): boolean
  answer(command: CephCommand): CephAnswer
}

/** What changes when a command was obeyed. */
export interface CommandEffects extends PoolEffects, CrushEffects {
  moved(osd: number, change: 'in' | 'out'): void
  /** Flags may hold something back no longer. */
  flagsChanged(): void
}

const mgrCommands = new Set(['pg dump', 'pg stat', 'osd ok-to-stop', 'osd ok-to-upgrade', 'osd safe-to-destroy'])
const changeableFlags = Object.keys(flagBits).filter((flag) => !/^(sortbitwise|recovery|purged|pglog|pause)/.test(flag))

export function createCommandAnswers(state: CephState, effects: CommandEffects): CommandAnswers {
  const { map } = state
  const table: CommandTable = {
    ...poolCommands(state, effects),
    ...crushCommands(state, effects),
    ...upmapCommands(state),
    status: () => said(status(state)),
    health: ({ detail }) => said(health(state, { withDetail: texts(detail).includes('detail') })),
    'health detail': () => said(health(state, { withDetail: true })),
    quorum_status: () => said(quorumStatus(state)),
    versions: () => said(versions(state)),
    'mgr stat': () => said(mgrStat(state)),
    'osd dump': () => said(osdDump(state)),
    'osd stat': () => said(osdStat(state)),
    'osd ls': () => said([...map.osds.keys()]),
    'osd tree': ({ states }) => said(osdTree(state, texts(states))),
    'osd versions': () => said(versions(state)['osd'] ?? {}),
    'osd crush dump': () => said(crushDump(state)),
    'osd crush rule dump': () => said(crushRules(state)),
    'osd crush rule ls': () => said(map.tree.rules.map(({ name }) => name)),
    'osd erasure-code-profile get': ({ name }) => profile(texts(name)),
    'osd metadata': ({ id }) => metadata(id),
    'osd find': ({ id }) => find(id),
    'osd pool ls': ({ detail }) =>
      said(texts(detail).includes('detail') ? poolList(state) : state.pools.map(({ name }) => name)),
    'osd pool ls detail': () => said(poolList(state)),
    'pg dump': ({ dumpcontents, format }) => {
      const contents = texts(dumpcontents)
      const isListing = format === 'plain' && contents.includes('pgs')
      const out = isListing ? pgListing(state.seen()) : pgDump(state, contents)
      return { code: 0, out, err: `dumped ${contents.join(',') || 'all'}` }
    },
    'pg stat': () => said(pgStat(state)),
    'osd ok-to-stop': stopVerdict,
    'osd safe-to-destroy': destroyVerdict,
    'osd ok-to-upgrade': upgradeVerdict,
    'osd set': ({ key }) => setFlag(texts(key), true),
    'osd unset': ({ key }) => setFlag(texts(key), false),
    'osd set-group': (command) => setGroup(command, true),
    'osd unset-group': (command) => setGroup(command, false),
    'osd out': ({ ids }) => move(texts(ids), 'out'),
    'osd in': ({ ids }) => move(texts(ids), 'in'),
  }

  function metadata(id: Json | undefined): CephAnswer {
    const [name] = texts(id)
    if (name === undefined) return said([...map.osds.values()].map((osd) => osdMetadata(osd, state)))
    const osd = map.osds.get(parseOsd(name) ?? -1)
    return osd === undefined ? failed(errno.noEntry, `osd.${name} does not exist`) : said(osdMetadata(osd, state))
  }

  function profile([name = '']: readonly string[]): CephAnswer {
    const pool = state.pools.find((one) => one.kind === 'erasure' && ecProfileName(one) === name)
    if (pool === undefined) return failed(errno.noEntry, `unknown erasure code profile '${name}'`)
    return said(ecProfile(pool, state))
  }

  function find(id: Json | undefined): CephAnswer {
    const [name = ''] = texts(id)
    const osd = map.osds.get(parseOsd(name) ?? -1)
    return osd === undefined ? failed(errno.noEntry, `osd.${name} does not exist`) : said(osdFind(osd, state))
  }

  function stopVerdict({ ids, max }: CephCommand): CephAnswer {
    const names = texts(ids)
    if (names.length === 0) return failed(errno.invalid, 'must specify one or more OSDs')
    const osds = parseOsds(names, [...map.osds.keys()])
    if (typeof osds === 'string') return failed(errno.invalid, osds)
    const { code, body, err } = okToStop({
      seen: state.seen(),
      tree: map.tree,
      isUp: (osd) => map.isUp(osd),
      mood: state.okToStop,
      osds,
      max: Math.max(osds.length, Number(max ?? 1)),
    })
    return { code, out: JSON.stringify(body), err }
  }

  function upgradeVerdict(command: CephCommand): CephAnswer {
    if (releaseOf(state) === 'pacific') return failed(errno.invalid, 'command not known')
    const [bucket = ''] = texts(command['crush_bucket'])
    const [version = ''] = texts(command['ceph_version'])
    const { code, body, err } = okToUpgrade({
      seen: state.seen(),
      tree: map.tree,
      mood: state.okToStop,
      bucket,
      version,
      max: Number(texts(command['max'])[0] ?? 0),
      versionOf: (osd) => osdVersion(map.osds.get(osd), state),
    })
    return { code, out: body === undefined ? '' : JSON.stringify(body), err }
  }

  function destroyVerdict({ ids }: CephCommand): CephAnswer {
    const osds = parseOsds(texts(ids), [...map.osds.keys()])
    if (typeof osds === 'string') return failed(errno.invalid, osds)
    if (osds.length === 0) return failed(errno.invalid, 'must specify one or more OSDs')
    const verdict = safeToDestroy({
      seen: state.seen(),
      exists: (osd) => map.osds.has(osd),
      isUp: (osd) => map.isUp(osd),
      osds,
    })
    if (verdict !== undefined) return said(verdict)
    return failed(errno.tryAgain, 'pgs have unknown state; cannot draw any conclusions')
  }

  function setFlag([key = '']: readonly string[], on: boolean): CephAnswer {
    const flags = key === 'pause' ? ['pauserd', 'pausewr'] : [key]
    if (key !== 'pause' && !changeableFlags.includes(key)) {
      return failed(errno.invalid, `Invalid command: ${key} not in ${changeableFlags.join('|')}`)
    }
    for (const flag of flags) map.setFlag(flag, on)
    effects.flagsChanged()
    return { code: 0, out: '', err: `${flags.join(',')} is ${on ? 'set' : 'unset'}` }
  }

  function setGroup({ flags, who }: CephCommand, on: boolean): CephAnswer {
    const wanted = texts(flags).flatMap((text) => text.split(','))
    const odd = wanted.find((flag) => !groupFlags.includes(flag))
    if (wanted.length === 0 || odd !== undefined) {
      return failed(errno.invalid, `unrecognized flag '${odd ?? ''}', must be one of {${groupFlags.join(',')}}`)
    }
    const names = texts(who)
    if (names.length === 0) return failed(errno.invalid, 'must specify at least one or more targets to set/unset')
    const targets = names.map((name) => ({ name, target: targetOf(name) }))
    const unknown = targets.find(({ target }) => target === undefined)
    if (unknown !== undefined) {
      const what = 'unable to parse osd id or crush node or device class'
      return failed(errno.invalid, `${what}: "${unknown.name}". `)
    }
    for (const { target } of targets) if (target !== undefined) map.setGroupFlags(target, wanted, on)
    map.bump()
    effects.flagsChanged()
    return { code: 0, out: '', err: '' }
  }

  function targetOf(name: string): GroupTarget | undefined {
    const osd = parseOsd(name)
    if (osd !== undefined) return map.osds.has(osd) ? { kind: 'osd', name: String(osd) } : undefined
    if (map.tree.byName.has(name)) return { kind: 'bucket', name }
    return map.tree.deviceClasses.includes(name) ? { kind: 'class', name } : undefined
  }

  function move(names: readonly string[], change: 'in' | 'out'): CephAnswer {
    const osds = parseOsds(names, [...map.osds.keys()])
    if (typeof osds === 'string') return failed(errno.invalid, osds)
    const lines = osds.map((osd) => {
      if (!map.osds.has(osd)) return `osd.${osd} does not exist. `
      if (map.isIn(osd) === (change === 'in')) return `osd.${osd} is already ${change}. `
      if (change === 'in') map.markIn(osd)
      else map.markOut(osd, 'command')
      effects.moved(osd, change)
      return `marked ${change} osd.${osd}. `
    })
    return { code: 0, out: '', err: lines.join('') }
  }

  return {
    needsMgr: ({ prefix }) => mgrCommands.has(prefix),
    answer(command) {
      const found = Object.hasOwn(table, command.prefix) ? table[command.prefix] : undefined
      return found === undefined ? failed(errno.invalid, 'command not known') : found(command)
    },
  }
}

function parseOsds(names: readonly string[], all: readonly number[]): number[] | string {
  if (names.some((name) => ['all', 'any', '*'].includes(name))) return [...all]
  const osds = new Set<number>()
  for (const name of names) {
    const osd = parseOsd(name)
    if (osd === undefined) return `unable to parse osd id value '${name}'`
    osds.add(osd)
  }
  return [...osds].sort((a, b) => a - b)
}
