import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type OperatedLonghorn,
  openOperatedLonghorn,
} from '../../capabilities/longhorn-drain/testing/longhorn-operator.ts'
import { createDrainCommand } from '../drain/drain.ts'
import { createStatusCommand } from '../status/status.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { writeOperatorLease } from '../testing/write-operator-lease.ts'
import { createExplainCommand } from './explain.ts'
import type { Explained } from './question.ts'

const mib = 2 ** 20

/** One volume with three copies and one with a single copy, on four nodes. */
const described: LonghornDescription = {
  timings: { rebuildBytesPerSecond: 10 * mib },
  volumes: [
    {
      name: 'three',
      numberOfReplicas: 3,
      sizeBytes: 1024 * mib,
      filled: 0.5,
      placedOn: ['node-1', 'node-2', 'node-3'],
    },
    { name: 'single', numberOfReplicas: 1, sizeBytes: 1024 * mib, filled: 0.25, placedOn: ['node-1'] },
  ],
}

let fixture: OperatedLonghorn
afterEach(() => fixture.close())

async function open(policy: string) {
  fixture = await openOperatedLonghorn({ ...described, settings: { 'node-drain-policy': policy } }, { nodeCount: 4 })
  await writeOperatorLease(fixture)
}

async function explain(argv: readonly string[], api: KubeApi = fixture.api) {
  return runCommand(createExplainCommand({ connect: inProcess(api).connect, clock: fixture.clock }), 'explain', ...argv)
}

async function status(api: KubeApi = fixture.api) {
  return runCommand(
    createStatusCommand({ connect: inProcess(api).connect, clock: fixture.clock }),
    'status',
    '-o',
    'wide',
  )
}

async function rehearse(node: string) {
  const ports = {
    connect: inProcess(fixture.api).connect,
    clock: fixture.clock,
    random: seededRandom(1),
    requester: () => 'me',
  }
  return runCommand(createDrainCommand(ports), 'drain', node, '--intent', 'remove', '--dry-run')
}

async function managerOf(node: string): Promise<string> {
  const { items } = await fixture.api.list(podDisruptionBudgets, { namespace: 'longhorn-system' })
  return items.find(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] === node)?.metadata.name ?? ''
}

/** The lines of a text that are about Longhorn: a fact and what is below it. */
function longhornLines(text: string): string[] {
  const lines = text.split('\n')
  const from = lines.findIndex((line) => /^ *longhorn /i.test(line))
  const rest = lines.slice(from)
  const to = rest.findIndex((line, at) => at > 0 && !/^ {10}/.test(line))
  return from < 0 ? [] : rest.slice(0, to)
}

describe('explain, where Longhorn is installed', () => {
  it('says before a drain what would move, and the drain then ends as it said', async () => {
    await open('block-for-eviction')
    const before = await explain(['node/node-1'])
    expect({ code: before.code, lines: longhornLines(before.out) }).toEqual({
      code: 0,
      lines: [
        '  longhorn  Longhorn decides, guided and held by the operator (hold), policy block-for-eviction; 2 replicas here',
        '            drained now, 2 replicas (768 MiB) would move first',
      ],
    })
    await fixture.cordon('node-1')
    await fixture.seconds(20)
    const during = await explain(['node/node-1'])
    expect(during.code).toBe(3)
    expect(longhornLines(during.out)[1]).toMatch(
      /^ {12}2 replicas to move: \d+ MiB of 768 MiB moved, \d+ MiB\/s, about \d+ s left$/,
    )
    expect(during.out).toMatch(/\nreplica\/single-r-\w+, replica\/three-r-\w+ {2}ReplicaMoving for \d+s\n/)
    await fixture.until(async () => (await explain(['node/node-1'])).code === 0)
    expect(await fixture.evict('node-1')).toBe('going')
  })

  it('names the last copy that holds a node, in every answer about it', async () => {
    await open('block-if-contains-last-replica')
    const rehearsed = await rehearse('node-1')
    expect(rehearsed.code).toBe(3)
    expect(rehearsed.out).toContain('is the last protected copy of volume single')
    expect((await rehearse('node-2')).code).toBe(0)
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    const manager = await managerOf('node-1')
    for (const object of ['node/node-1', `pod/longhorn-system/${manager}`, `pdb/longhorn-system/${manager}`]) {
      const { code, out } = await explain([object, '-o', 'json'])
      const { mayGo, blockers, longhorn } = JSON.parse(out) as Explained
      expect({ code, mayGo, held: blockers.map(({ object: held, reason }) => `${held} ${reason}`) }).toEqual({
        code: 3,
        mayGo: false,
        held: [expect.stringMatching(/^replica\/single-r-\w+ LastReplica$/)],
      })
      expect(longhorn).toMatchObject({
        node: 'node-1',
        mode: 'hold',
        policy: 'block-if-contains-last-replica',
        trigger: 'cordon',
        isAttended: true,
        isRehearsed: false,
        mayDrain: false,
        reason: 'LastReplica',
        replicas: 2,
        moving: [],
      })
    }
    expect(await fixture.evict('node-1')).toBe('refused')
  })

  it('says who decides where nobody put us in charge, and nothing of an operator', async () => {
    await open('block-if-contains-last-replica')
    await fixture.annotate(null)
    expect(longhornLines((await explain(['node/node-2'])).out)).toEqual([
      '  longhorn  Longhorn decides (observe), policy block-if-contains-last-replica; 1 replica here',
      '            drained now, nothing of Longhorn would hold it',
    ])
  })

  it('without the right to read replicas a node with copies stays blocked by its budget, and what is missing is named', async () => {
    await open('block-for-eviction')
    const refusing = changedApi(fixture.api, {
      list: (type, query) =>
        type.plural === 'replicas'
          ? Promise.reject(new ApiError('Forbidden', 'replicas is forbidden'))
          : fixture.api.list(type, query),
    })
    const { code, out } = await explain(['node/node-1'], refusing)
    expect({ code, first: out.split('\n')[0] }).toEqual({
      code: 3,
      first: 'node/node-1  blocked: 1 of 2 pods may not go now.',
    })
    expect(out).toContain('\nnot seen: replicas.longhorn.io: replicas is forbidden')
    expect(longhornLines(out)).toEqual([])
  })
})

describe('status, where Longhorn is installed', () => {
  it('of a calm Longhorn is one line more', async () => {
    await open('block-for-eviction')
    expect((await status()).out.split('\n').filter((line) => /^(Budgets|Longhorn) /.test(line))).toEqual([
      "Budgets   4, none blocks an eviction now, 4 of Longhorn's until their nodes are cordoned",
      'Longhorn  Longhorn decides, guided and held by the operator (hold), policy block-for-eviction: 2 volumes, 2 not in use',
    ])
  })

  it('tells of each node that leaves how far it is, and of what is wrong', async () => {
    await open('block-for-eviction')
    await fixture.cordon('node-1')
    await fixture.annotate('sometimes', 'trigger')
    await fixture.seconds(20)
    const { code, out } = await status()
    expect(code).toBe(0)
    expect(longhornLines(out)).toEqual([
      expect.stringMatching(
        /^Longhorn {2}Longhorn decides, guided and held by the operator \(hold\), policy block-for-eviction: 2 volumes, /,
      ),
      expect.stringMatching(
        /^ {10}node-1: held by \d things \(\w+\), 2 replicas to move: \d+ MiB of 768 MiB moved, \d+ MiB\/s, about \d+ s left$/,
      ),
      expect.stringMatching(
        /^ {10}problem: setting\/node-drain-policy: annotation cofferdam\.io\/trigger: "sometimes" /,
      ),
    ])
    expect(out).toContain(`\nHeld as said under Longhorn: longhorn-system/${await managerOf('node-1')}\n`)
  })
})

describe('explain of volumes, claims and zones', () => {
  it('the only copy of a volume holds its node, and the node, the zone and the volume agree', async () => {
    await open('block-if-contains-last-replica')
    const single = await explain(['volume/single'])
    expect(single.code).toBe(3)
    expect(single.out).toContain('volume/single  blocked: Because of it node-1 may not be drained now.\n')
    expect(single.out).toMatch(/\n {2}longhorn {2}longhorn-system: \w+, 1 of 1 copies healthy\n/)
    expect(single.out).toMatch(/\nsingle-r-\S+ +node-1 +healthy +no\n/)
    expect((await explain(['node-1'])).code).toBe(3)
    const zone = await explain(['zone/zone-a'])
    expect(zone.code).toBe(3)
    expect(zone.out).toMatch(/^zone\/zone-a {2}blocked: 1 of its 2 nodes may not be drained now\.\n/)
    expect(zone.out).toMatch(/\nnode-1 +blocked +/)
    expect(zone.out).toMatch(/\nnode-4 +free +/)
  })

  it('a volume with copies elsewhere holds no node', async () => {
    await open('block-if-contains-last-replica')
    const three = await explain(['lhv', 'three'])
    expect(three.code).toBe(0)
    expect(three.out).toContain(
      'volume/three  free: Any one of its 3 nodes may be drained as far as this volume is concerned.\n',
    )
    expect((await explain(['zone/zone-b'])).out).toMatch(/^zone\/zone-b {2}free: Its only node may be drained now\.\n/)
  })
})
