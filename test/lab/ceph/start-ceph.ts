import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import type { CephAccess } from '@cofferdam/product/ceph/ceph-access.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { createRadosCommands } from '@cofferdam/product/ceph/rados-commands.ts'
import { ancestorsOf } from '@cofferdam/simulator/world/ceph/crush-tree.ts'
import type { CephRelease } from '../parts/parts.ts'
import { addOsd } from './add-osd.ts'
import { createCephDaemons } from './ceph-daemons.ts'
import { createPools, obey } from './create-pools.ts'
import type { LabCeph } from './lab-ceph.ts'
import { type CephLayout, type CephOptions, layOutCeph } from './lay-out-ceph.ts'
import { makeOsd } from './make-osd.ts'
import { createTools, type Tools } from './tools.ts'
import { untilClean } from './until-clean.ts'

/**
 * Builds a whole real Ceph from a description and starts it.
 *
 * Guarantees: resolves when every placement group is active+clean; when it rejects, nothing of it runs any more.
 */
export async function startCeph(options: CephOptions): Promise<LabCeph> {
  const { parts, description, journal } = options
  const began = performance.now()
  const tell = (what: string) => journal.tell('ceph', `${what}, ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  const layout = await layOutCeph(options)
  const { conf, path } = layout
  const admin: CephAccess = { conf, name: 'client.admin', keyring: join(path, 'admin.keyring') }
  const operator: CephAccess = { conf, name: 'client.cofferdam', keyring: join(path, 'operator.keyring') }
  const tools = createTools()
  const added = new Map<number, string>()
  const daemons = createCephDaemons({
    ...options,
    conf,
    environmentOf: (id) => podOf({ id, host: added.get(id), layout, options }),
  })
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
    async addOsd(host) {
      const id = await addOsd({ commands, layout, parts, tools })
      added.set(id, host)
      return id
    },
    untilClean: (withinSeconds = 60) =>
      untilClean({ ceph, daemons, osds: [...layout.tree.osdIds, ...added.keys()], withinSeconds }),
    async close() {
      await Promise.all([tools.killAll(), daemons.killAll()])
      await commands.close()
      journal.tell('ceph', 'closed')
    },
  }
  try {
    await bringUp({ ceph, layout, options, tools, tell })
    return ceph
  } catch (error) {
    await ceph.close()
    throw error
  }
}

interface BringUp {
  readonly ceph: LabCeph
  readonly layout: CephLayout
  readonly options: CephOptions
  readonly tools: Tools
  readonly tell: (what: string) => void
}

async function bringUp({ ceph, layout, options, tools, tell }: BringUp): Promise<void> {
  const { conf, path, monmap, mons, mgrs, tree, uuids } = layout
  const { parts, description } = options
  const { commands } = ceph
  await makeMonmap(layout, tools)
  const osdsMade = Promise.all(
    tree.osdIds.map((id) => makeOsd({ id, uuid: uuids.get(id) ?? '', layout, parts, tools })),
  )
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
  await untilMonsAnswer(commands)
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
  const mute = (code: string) => obey(commands, { prefix: 'health mute', code, sticky: true })
  await Promise.all(standingComplaints[parts.release].map(mute))
  await ceph.untilClean()
  tell('all placement groups clean')
}

/** What `health` would always say: from 20 on keys of the kind that the client of 16 knows are called insecure. */
export const standingComplaints: Readonly<Record<CephRelease, readonly string[]>> = {
  '16': [],
  '18': [],
  '20': [
    'AUTH_INSECURE_CLIENT_KEY_TYPE',
    'AUTH_INSECURE_KEYS_ALLOWED',
    'AUTH_INSECURE_KEYS_CREATABLE',
    'AUTH_INSECURE_ROTATING_SERVICE_KEY_TYPE',
    'AUTH_INSECURE_SERVICE_KEY_TYPE',
    'AUTH_INSECURE_SERVICE_TICKETS',
  ],
}

function makeMonmap({ fsid, monmap, mons }: CephLayout, tools: Tools): Promise<string> {
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

/** What Rook tells its daemons: in a pod Ceph takes the name of the node for that of the host. */
function podOf(pod: {
  readonly id: number
  /** Of one that came later. */
  readonly host: string | undefined
  readonly layout: CephLayout
  readonly options: CephOptions
}): Record<string, string> {
  const { id, layout, options } = pod
  const { parts, description } = options
  const osd = layout.tree.byId.get(id)
  const host = osd === undefined ? pod.host : [...ancestorsOf(osd)].find(({ type }) => type === 'host')?.name
  return {
    POD_NAME: `rook-ceph-osd-${id}`,
    POD_NAMESPACE: description.namespace,
    NODE_NAME: host ?? '',
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

const electionMs = 90_000

/** Beside other labs the mons may take longer for their first election than any command waits. */
async function untilMonsAnswer(commands: CephCommands): Promise<void> {
  const deadline = Date.now() + electionMs
  for (;;) {
    try {
      await obey(commands, { prefix: 'status' })
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await pause(500)
    }
  }
}
