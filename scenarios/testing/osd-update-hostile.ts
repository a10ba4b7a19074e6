import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { openUpdateFixture, type UpdateFixture } from './osd-update-fixture.ts'

/** What `osd ok-to-stop` says, whatever is true. */
export type Lie = 'yes' | 'no' | 'silent' | 'of-others' | 'tentacle' | 'honest'

interface Draw {
  below(count: number): number
  oneOf<T>(items: readonly T[]): T
}

interface Scene extends UpdateFixture {
  readonly draw: Draw
}

function drawFrom(random: Random): Draw {
  const below = (count: number) => Math.min(count - 1, Math.floor(random.next() * count))
  return { below, oneOf: (items) => items[below(items.length)] as (typeof items)[number] }
}

const storage = 5
const nodeName = ({ draw }: Scene) => `storage-${draw.below(storage) + 1}`
const anOsd = ({ draw, osdIds }: Scene) => draw.oneOf(osdIds())
const forAWhile = ({ clock, draw }: Scene, end: () => void) => void clock.after(5_000 + draw.below(40_000), end)
const versions = ['v19.2.3', 'v19.2.4', 'v19.2.5', 'v20.1.0']
const mostOsds = 14

/** What befalls a cluster, and what people do; all of it at any moment. */
const deeds: Readonly<Record<string, (scene: Scene) => void | Promise<void>>> = {
  'another image is wanted': (scene) => scene.want(scene.draw.oneOf(versions)),
  'another image is wanted at once': (scene) => scene.want(scene.draw.oneOf(versions)),
  'a pod of an OSD is killed': (scene) => scene.killPod(anOsd(scene)),
  'two pods of OSDs are killed': async (scene) => {
    await scene.killPod(anOsd(scene))
    await scene.killPod(anOsd(scene))
  },
  'a disk fails': (scene) => scene.ceph.controls.failDisk(anOsd(scene)),
  'disks are mended': (scene) => {
    for (const osd of scene.osdIds()) scene.ceph.controls.mendDisk(osd)
  },
  'a node is cordoned': (scene) => scene.cordon(nodeName(scene)),
  'nodes are opened': async (scene) => {
    for (let number = 1; number <= storage; number += 1) await scene.cordon(`storage-${number}`, false)
  },
  'a machine reboots': (scene) => scene.world.kubelet.reboot(nodeName(scene), 5 + scene.draw.below(30)),
  'the floor of a pool is moved': async (scene) => {
    const command = { prefix: 'osd pool set', pool: 'data', var: 'min_size', val: String(1 + scene.draw.below(3)) }
    await scene.ceph.commands.run(command)
    scene.oracle.poolsChanged()
  },
  'a pool is made': async (scene) => {
    await scene.ceph.commands.run({ prefix: 'osd pool create', pool: `pool-${scene.draw.below(3)}`, pg_num: 4 })
    scene.oracle.poolsChanged()
  },
  'an OSD is added': async (scene) => {
    if (scene.osdIds().length < mostOsds) await scene.addOsd(nodeName(scene), scene.draw.oneOf(versions))
  },
  'the limit is moved': (scene) =>
    scene.patchCluster({
      metadata: { annotations: { 'cofferdam.io/update-max-in-parallel': String(1 + scene.draw.below(5)) } },
    }),
  'the mgr dies': ({ ceph, draw }) => ceph.controls.killMgr(2_000 + draw.below(40_000)),
  'the line to Ceph is cut for a while': (scene) => {
    scene.cephLine.cut()
    forAWhile(scene, () => scene.cephLine.mend())
  },
  'the operator dies soon': (scene) => scene.newestOperator()?.killAfter(scene.draw.below(12)),
  'the operator stands still soon': (scene) => {
    const operator = scene.newestOperator()
    operator?.freezeAfter(scene.draw.below(12))
    forAWhile(scene, () => operator?.thaw())
  },
  'recovery slows down or speeds up': ({ ceph, draw }) => ceph.controls.setRecoveryRate(draw.oneOf([1, 4, 16])),
}

function lying(lie: Lie): ((commands: CephCommands) => CephCommands) | undefined {
  if (lie !== 'silent' && lie !== 'of-others') return undefined
  return (commands) => ({
    async run(command, options) {
      if (command.prefix !== 'osd ok-to-stop') return commands.run(command, options)
      if (lie === 'silent') throw new CofferdamError('CEPH_UNREACHABLE', 'osd ok-to-stop was not answered in time')
      const body = { ok_to_stop: true, osds: [97, 98], num_ok_pgs: 4, num_not_ok_pgs: 0 }
      return { code: 0, out: JSON.stringify(body), err: '' }
    },
  })
}

export interface HostileScenario {
  readonly seed: number
  readonly lie: Lie
  readonly minutes: number
}

/** A story drawn from a seed: what the oracle found with what had happened by then, and how often one with data was started. */
export async function tellHostileUpdate({ seed, lie, minutes }: HostileScenario): Promise<{
  readonly found: readonly string[]
  readonly taken: number
}> {
  const draw = drawFrom(seededRandom(seed * 7_919))
  const lagMs = draw.oneOf([0, 0, 1_500])
  const fixture = await openUpdateFixture({
    storage,
    seed,
    pgs: 10,
    domain: seed % 3 === 0 ? 'zone' : 'host',
    readySeconds: draw.oneOf([2, 8]),
    outAfterSeconds: 120,
    patienceSeconds: 4 + lagMs / 1_000,
    annotations: {
      'cofferdam.io/update-max-in-parallel': '4',
      'cofferdam.io/update-deadline-seconds': '90',
      'cofferdam.io/update-pace': draw.oneOf(['rolling', 'barrier']),
    },
  })
  try {
    if (lie === 'yes' || lie === 'no') fixture.ceph.controls.lieOkToStop(lie)
    fixture.ceph.controls.tentacleOkToStop(lie === 'tentacle')
    fixture.distort(lying(lie))
    const road = { lagMs, conflictRate: lagMs === 0 ? 0 : 0.1, random: seededRandom(seed).stream('road') }
    const options = { isReplaced: true, ...(lagMs > 0 && { road }) }
    fixture.operate(options)
    await fixture.seconds(30)
    await fixture.want('v19.2.4')
    const scene: Scene = { ...fixture, draw }
    const end = fixture.clock.now() + minutes * 60_000
    const names = Object.keys(deeds)
    while (fixture.clock.now() < end) {
      await fixture.seconds(3 + draw.below(25))
      const name = draw.oneOf(names)
      fixture.trace.chapter(name)
      await deeds[name]?.(scene)
    }
    const { violations } = fixture.oracle
    const found = [`seed ${seed}, where ok-to-stop is ${lie}`, ...violations, fixture.trace.text()]
    return { found: violations.length === 0 ? [] : found, taken: fixture.oracle.taken() }
  } finally {
    await fixture.close()
  }
}
