import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CephAccess } from '../../../src/ceph/ceph-access.ts'
import { createRadosCommands } from '../../../src/ceph/rados-commands.ts'
import { realRandom } from '../../../src/runtime/random.ts'
import { realClock } from '../../../src/runtime/real-clock.ts'
import type { CephDescription } from '../../../src/world/ceph/ceph-description.ts'
import { ancestorsOf, buildCrushTree, type CrushTree } from '../../../src/world/ceph/crush-tree.ts'
import type { CephParts } from '../parts/parts.ts'
import { freePorts } from '../processes/free-port.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { askDaemon } from './admin-socket.ts'
import { cephConf } from './ceph-conf.ts'
import { type CephDaemons, createCephDaemons } from './ceph-daemons.ts'
import { createPools, obey } from './create-pools.ts'
import { crushText } from './crush-text.ts'
import { adminCaps, createUser, keyringText, mgrCaps, monCaps, operatorCaps, osdCaps } from './keyring.ts'
import type { LabCeph } from './lab-ceph.ts'
import { writeManagerModules } from './manager-modules.ts'
import { createTools, type Tools } from './tools.ts'
import { type DumpedOsd, type DumpedPg, whyNotClean } from './why-not-clean.ts'

export interface CephOptions {
  readonly parts: CephParts
  readonly description: CephDescription
  readonly mgrs?: readonly string[]
  readonly folder: LabFolder
  readonly journal: Journal
}

/** Where everything of one Ceph is, and what it is made of. */
interface Layout {
  readonly path: string
  readonly conf: string
  readonly keyring: string
  readonly monmap: string
  readonly fsid: string
  readonly mons: readonly { readonly name: string; readonly port: number }[]
  readonly mgrs: readonly string[]
  readonly tree: CrushTree
  readonly uuids: ReadonlyMap<number, string>
}

/**
 * Builds a whole real Ceph from a description and starts it.
 *
 * Guarantees: resolves when every placement group is active+clean; when it rejects, nothing of it runs any more.
 */
export async function startCeph(options: CephOptions): Promise<LabCeph> {
  const { parts, description, journal } = options
  const began = performance.now()
  const tell = (what: string) => journal.tell('ceph', `${what}, ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  const layout = await layOut(options)
  const { conf, path } = layout
  const admin: CephAccess = { conf, name: 'client.admin', keyring: join(path, 'admin.keyring') }
  const operator: CephAccess = { conf, name: 'client.cofferdam', keyring: join(path, 'operator.keyring') }
  const daemons = createCephDaemons({ ...options, conf, environmentOf: (id) => podOf(id, layout, options) })
  const commands = createRadosCommands({
    clock: realClock,
    random: realRandom,
    environment: process.env,
    access: admin,
  })
  const ceph: LabCeph = {
    version: parts.version,
    description,
    admin,
    operator,
    commands,
    start: daemons.start,
    daemon: daemons.daemon,
    ready: daemons.ready,
    untilClean: (withinSeconds = 60) => untilClean({ ceph, daemons, osds: layout.tree.osdIds, withinSeconds }),
    async close() {
      await daemons.killAll()
      await commands.close()
      journal.tell('ceph', 'closed')
    },
  }
  const tools = createTools()
  try {
    await bringUp({ ceph, layout, options, tools, tell })
    return ceph
  } catch (error) {
    await Promise.all([tools.killAll(), ceph.close()])
    throw error
  }
}

async function layOut({ description, mgrs = ['a'], folder, parts }: CephOptions): Promise<Layout> {
  const names = description.mons ?? ['a']
  // Mons are ranked by their addresses, and the first is to lead.
  const ports = (await freePorts(names.length)).sort((left, right) => left - right)
  const tree = buildCrushTree(description.crush, description.pools)
  const path = join(resolve(folder.path), 'ceph')
  const layout: Layout = {
    path,
    conf: join(path, 'ceph.conf'),
    keyring: join(path, 'keyring'),
    monmap: join(path, 'monmap'),
    fsid: description.fsid ?? randomUUID(),
    mons: names.map((name, index) => ({ name, port: ports[index] as number })),
    mgrs,
    tree,
    uuids: new Map(tree.osdIds.map((id) => [id, randomUUID()])),
  }
  const data = [
    ...names.map((name) => `mon.${name}`),
    ...mgrs.map((name) => `mgr.${name}`),
    ...tree.osdIds.map((id) => `osd.${id}`),
  ]
  await Promise.all(['run', 'crash', ...data].map((name) => mkdir(join(path, name), { recursive: true })))
  const admin = createUser('client.admin', adminCaps)
  const operator = createUser('client.cofferdam', operatorCaps)
  const users = [
    createUser('mon.', monCaps),
    admin,
    operator,
    ...mgrs.map((name) => createUser(`mgr.${name}`, mgrCaps)),
    ...tree.osdIds.map((id) => createUser(`osd.${id}`, osdCaps)),
  ]
  const { fsid, keyring, mons } = layout
  await Promise.all([
    writeFile(layout.conf, cephConf({ fsid, folder: path, keyring, mons, description })),
    writeFile(keyring, keyringText(users)),
    writeFile(join(path, 'admin.keyring'), keyringText([admin])),
    writeFile(join(path, 'operator.keyring'), keyringText([operator])),
    writeFile(join(path, 'crush.txt'), crushText(tree)),
    writeManagerModules(parts, join(path, 'modules')),
  ])
  return layout
}

interface BringUp {
  readonly ceph: LabCeph
  readonly layout: Layout
  readonly options: CephOptions
  readonly tools: Tools
  readonly tell: (what: string) => void
}

async function bringUp({ ceph, layout, options, tools, tell }: BringUp): Promise<void> {
  const { conf, path, monmap, mons, mgrs, tree, uuids } = layout
  const { parts, description } = options
  const { commands } = ceph
  await makeMonmap(layout, tools)
  const osdsMade = Promise.all(tree.osdIds.map((id) => makeOsd({ id, layout, parts, tools })))
  // Waited for further down, and heard there.
  osdsMade.catch(() => {})
  const crush = join(path, 'crush.bin')
  await Promise.all([
    tools.run(['crushtool', '-c', join(path, 'crush.txt'), '-o', crush]),
    ...mons.map(({ name }) =>
      tools.run(
        parts.command('ceph-mon', '-c', conf, '-i', name, '--mkfs', '--monmap', monmap, '--keyring', layout.keyring),
      ),
    ),
  ])
  for (const { name } of mons) ceph.start(`mon.${name}`)
  const newOsds = tree.osdIds.map((id) => obey(commands, { prefix: 'osd new', uuid: uuids.get(id) ?? '', id }))
  await Promise.all(newOsds)
  tell(`${mons.length} mons answer`)
  for (const name of mgrs) ceph.start(`mgr.${name}`)
  const crushSet = tools.run([
    'ceph',
    '-c',
    conf,
    '-n',
    'client.admin',
    '-k',
    join(path, 'admin.keyring'),
    'osd',
    'setcrushmap',
    '-i',
    crush,
  ])
  await osdsMade
  tell(`${tree.osdIds.length} OSDs made`)
  for (const id of tree.osdIds) ceph.start(`osd.${id}`)
  await crushSet
  await untilUp(ceph, tree.osdIds)
  tell('all OSDs up')
  await createPools(commands, description.pools)
  tell(`${description.pools.length} pools made`)
  await ceph.untilClean()
  tell('all placement groups clean')
}

function makeMonmap({ fsid, monmap, mons }: Layout, tools: Tools): Promise<string> {
  const addresses = mons.flatMap(({ name, port }) => ['--addv', name, `[v2:127.0.0.1:${port}/0]`])
  return tools.run([
    'monmaptool',
    '--create',
    '--clobber',
    '--fsid',
    fsid,
    '--enable-all-features',
    ...addresses,
    monmap,
  ])
}

function makeOsd(making: {
  readonly id: number
  readonly layout: Layout
  readonly parts: CephParts
  readonly tools: Tools
}): Promise<string> {
  const { id, layout, parts, tools } = making
  const { conf, uuids, monmap } = layout
  const what = ['--mkfs', '--osd-uuid', uuids.get(id) ?? '', '--no-mon-config', '--monmap', monmap]
  // Checking a store that was made a moment ago would take most of the time.
  const quick = ['--bluestore_fsck_on_mkfs=false', '--bdev_aio_poll_ms=5']
  return tools.run(parts.command('ceph-osd', '-c', conf, '-i', String(id), ...what, ...quick))
}

/** What Rook tells its daemons: in a pod Ceph takes the name of the node for that of the host. */
function podOf(id: number, { tree }: Layout, { parts, description }: CephOptions): Record<string, string> {
  const osd = tree.byId.get(id)
  const host = osd === undefined ? undefined : [...ancestorsOf(osd)].find(({ type }) => type === 'host')
  return {
    POD_NAME: `rook-ceph-osd-${id}`,
    POD_NAMESPACE: description.namespace,
    NODE_NAME: host?.name ?? '',
    CONTAINER_IMAGE: `quay.io/ceph/ceph:v${parts.version}`,
  }
}

async function untilUp(ceph: LabCeph, osds: readonly number[]): Promise<void> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const ended = osds.filter((id) => ceph.daemon(`osd.${id}`)?.isRunning() === false)
    if (ended.length > 0) throw new Error(`ended before they were up: ${ended.map((id) => `osd.${id}`).join(', ')}`)
    const { num_up_osds: up } = JSON.parse(await obey(ceph.commands, { prefix: 'osd stat' })) as { num_up_osds: number }
    if (up === osds.length) return
    if (performance.now() > deadline) throw new Error(`only ${up} of ${osds.length} OSDs came up within 60 s`)
    await pause(50)
  }
}

interface CleanWait {
  readonly ceph: LabCeph
  readonly daemons: CephDaemons
  readonly osds: readonly number[]
  readonly withinSeconds: number
}

async function untilClean(wait: CleanWait): Promise<void> {
  const deadline = performance.now() + wait.withinSeconds * 1_000
  for (;;) {
    const why = await lookForTrouble(wait)
    if (why === undefined) return
    if (performance.now() > deadline) throw new Error(`Ceph is not clean after ${wait.withinSeconds} s: ${why}`)
    await pause(100)
  }
}

async function lookForTrouble({ ceph, daemons, osds }: CleanWait): Promise<string | undefined> {
  const expectedOsds = osds.filter((id) => ceph.daemon(`osd.${id}`)?.isRunning() === true)
  // The map may still tell of the process before; only the OSD itself knows that it is the one meant.
  const states = await Promise.all(
    expectedOsds.map((id) =>
      askDaemon(daemons.socketOf(`osd.${id}`), 'status').then(
        ({ state }) => state,
        () => 'silent',
      ),
    ),
  )
  const booting = expectedOsds.filter((_, index) => states[index] !== 'active')
  if (booting.length > 0) return `not active yet: ${booting.map((id) => `osd.${id}`).join(', ')}`
  const dump = JSON.parse(await obey(ceph.commands, { prefix: 'osd dump' })) as {
    readonly osds: readonly DumpedOsd[]
    readonly pools: readonly { readonly pg_num: number }[]
  }
  const listed = await ceph.commands.run({ prefix: 'pg dump', dumpcontents: ['pgs'] })
  if (listed.code !== 0) return `pg dump ended with ${listed.code}: ${listed.err}`
  const { pg_ready: isReady = true, pg_stats: pgs } = JSON.parse(listed.out) as {
    pg_ready?: boolean
    pg_stats: DumpedPg[]
  }
  if (!isReady) return 'the manager has not heard from all OSDs'
  const pgCount = dump.pools.reduce((sum, { pg_num: count }) => sum + count, 0)
  return whyNotClean({ osds: dump.osds, pgs, pgCount, expectedOsds })
}
