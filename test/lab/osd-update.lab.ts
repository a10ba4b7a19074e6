import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startClientLoad } from './ceph/client-load.ts'
import type { ClientLoad } from './ceph/lab-ceph.ts'
import { type Lab, openLab } from './lab.ts'
import { updateScenario } from './osd-update/update-scenario.ts'
import { watchGroups } from './osd-update/watch-groups.ts'

/** The one that is made of the disk that is put in. */
const newOsd = 12
const everyOsd = Array.from({ length: 12 }, (_, id) => id)
const [newImage, badImage, curedImage] = ['v19.2.4', 'v19.2.5-broken', 'v19.2.5'].map(
  (tag) => `registry.example/ceph/ceph:${tag}`,
) as [string, string, string]

/** A write that waits for peering and a changed map; far below what a client would give up after. */
const shortStallMs = 10_000

let lab: Lab
let scenario: ReturnType<typeof updateScenario>
let load: ClientLoad
let groups: ReturnType<typeof watchGroups>
beforeAll(async () => {
  lab = await openLab('osd-update')
  await lab.installOperator()
  scenario = updateScenario(lab)
  await scenario.annotate({ 'update-max-in-parallel': '100%' })
})
afterAll(() => lab?.close())

function begin(): void {
  load = startClientLoad({ ...lab, pools: ['replicapool', 'ecpool'] })
  groups = watchGroups(lab.ceph)
}

/** Whatever happened to OSDs, those who use the data have not seen more than a short stall. */
async function endWithAllDataServed() {
  const [client, seen] = [await load.stop(), await groups.stop()]
  expect({ faults: client.faults, below: seen.below }).toEqual({ faults: [], below: [] })
  expect(client.longestStallMs).toBeLessThan(shortStallMs)
  for (const count of [client.writes, client.reads, seen.looks]) expect(count).toBeGreaterThan(20)
  return { client, seen }
}

it('another image: all OSDs are updated in few rounds under load, and no placement group falls below its floor', async () => {
  const planned = await scenario.plan()
  const before = await scenario.lives()
  const asked = scenario.questions().length
  const { waves, stop } = scenario.watchWaves()
  begin()
  const began = performance.now()
  await scenario.wantImage(newImage)
  await lab.until('every OSD is updated', () => scenario.isThrough(newImage), 120)
  const seconds = (performance.now() - began) / 1_000
  stop()

  const after = await scenario.lives()
  for (const osd of everyOsd) {
    const [old, now] = [before.get(osd), after.get(osd)]
    expect({
      osd,
      isUp: now?.isUp,
      isNewPod: now?.pod !== old?.pod,
      isRestarted: (now?.upFrom ?? 0) > (old?.upFrom ?? 0),
    }).toEqual({ osd, isUp: true, isNewPod: true, isRestarted: true })
  }
  expect(
    waves()
      .flat()
      .sort((a, b) => a - b),
  ).toEqual(everyOsd)
  expect(waves().length).toBeLessThanOrEqual(planned.rounds.length + 1)
  const questions = scenario.questions().slice(asked)
  for (const wave of waves()) {
    // Whoever was still on the way is asked about as well.
    expect(
      questions.filter((ids) => wave.every((osd) => ids.includes(osd))),
      `Ceph was asked about ${wave.join(', ')}`,
    ).not.toEqual([])
  }
  for (const reason of ['CephDisagrees', 'ChecksDisagree'])
    expect((await scenario.events()).get(reason)).toBeUndefined()
  const { client, seen } = await endWithAllDataServed()
  expect({ peering: seen.peering, broken: lab.oracle.violations }).toEqual({ peering: [], broken: [] })

  const [, byHand = '?'] = /by hand +(.*)/.exec(planned.text) ?? []
  const [, byRook = '?'] = /Rook's way +(.*)/.exec(planned.text) ?? []
  const table = [
    '| npm run test:lab -- osd-update | 12 OSDs, real Ceph |',
    '|---|---|',
    `| plan osd-update said before | ${planned.rounds.length} rounds, at least ${planned.lowerBound.rounds} |`,
    `| domain by domain | ${byHand} |`,
    `| Rook's way | ${byRook} |`,
    `| waves | ${waves().length}: ${waves()
      .map((wave) => wave.join(' '))
      .join(' / ')} |`,
    `| most at once | ${Math.max(...waves().map(({ length }) => length))}, seen down ${seen.mostDown} |`,
    `| seconds | ${seconds.toFixed(1)} |`,
    `| longest stall of a client | ${client.longestStallMs.toFixed(0)} ms in ${client.writes + client.reads} operations |`,
    `| questions to ok-to-stop, all kinds | ${questions.length}, none disagreed |`,
    `| looks at all placement groups | ${seen.looks}, none below min_size |`,
  ].join('\n')
  lab.journal.tell('measured', table)
  console.log(`\n${table}\n`)
})

it('a bad image stops at its first OSD and is told; data stays available', async () => {
  begin()
  await scenario.annotate({ 'update-canary': 'true', 'update-deadline-seconds': '4' })
  const { waves, stop } = scenario.watchWaves()
  await scenario.wantImage(badImage)
  await lab.until('the update is frozen', async () => (await scenario.told()).reason === 'OsdUpdateFrozen')
  const [canary = -1] = scenario.osdsWith(badImage)
  lab.chapter('Time passes, and nobody follows the first one')
  await lab.seconds(6)
  stop()
  expect(scenario.osdsWith(badImage)).toEqual([canary])
  expect(waves()).toEqual([[canary]])
  const down = [...(await scenario.lives())].filter(([, { isUp }]) => !isUp).map(([osd]) => osd)
  expect(down).toEqual([canary])
  expect(await scenario.told()).toEqual({
    reason: 'OsdUpdateFrozen',
    explanation: expect.stringContaining(`osd.${canary} froze the update`),
  })
  expect((await scenario.events()).get('OsdUpdateFrozen')).toContain(`osd.${canary}`)
  const { stdout } = await lab.cofferdam('status', '-o', 'wide').ended
  expect(stdout).toMatch(new RegExp(`OsdUpdateFrozen.*osd\\.${canary} froze the update`))
  expect((await endWithAllDataServed()).seen.peering).toEqual([])
})

async function leader(): Promise<string> {
  return (await lab.api.get(leases, operatorAccount)).spec?.holderIdentity ?? ''
}

it('with the cure it goes on, also when the leader is killed; a new disk joins, a drain in between waits, and all of it ends', async () => {
  begin()
  lab.chapter('A disk is put into node-b, and the image is a good one again')
  await scenario.allowGrowth()
  await lab.kubectl('annotate', 'node', 'node-b', 'cofferdam.io/disks=sdc')
  await scenario.annotate({ 'update-canary': undefined, 'update-deadline-seconds': undefined })
  const { waves, stop } = scenario.watchWaves()
  await scenario.wantImage(curedImage)
  await lab.until('the first OSDs have the cure', () => scenario.osdsWith(curedImage).length > 1)

  lab.chapter('An administrator drains a node whose OSDs are not on their way, and the leader is killed')
  const drain = lab.drain('node-f')
  await lab.until('the drain is told to wait', () => /will retry after/.test(drain.output()))
  const before = await leader()
  const [, leading] = [...lab.operators()].find(([pod]) => before.includes(pod)) ?? []
  leading?.signal('SIGKILL')
  await lab.until('somebody else leads', async () => !['', before].includes(await leader()))
  await lab.until('the new disk is an OSD that is up', async () => (await scenario.lives()).get(newOsd)?.isUp === true)
  expect((await drain.ended).code).toBe(0)
  expect(lab.osdsOn('node-f')).toEqual([])

  lab.chapter('node-f is back')
  await lab.kubectl('uncordon', 'node-f')
  await lab.until('every OSD is updated', () => scenario.isThrough(curedImage), 90)
  await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 90)
  await lab.ceph.untilClean()
  stop()
  expect([...(await scenario.lives()).values()].filter(({ isUp }) => !isUp)).toEqual([])
  expect(await lab.nooutBuckets()).toEqual([])
  const joined = await scenario.placeOf(newOsd)
  expect(joined).toMatchObject({ host: 'node-b', rack: 'rack-y' })
  expect(joined.groups).toBeGreaterThan(0)
  expect(
    waves()
      .flat()
      .sort((a, b) => a - b),
  ).toEqual(everyOsd)
  // It did not wait for the update.
  expect(joined.createdMs).toBeLessThan(scenario.lastStartMs())
  const { seen } = await endWithAllDataServed()
  // Those that a new OSD has Ceph move peer anew, with whoever is up.
  const others = lab.oracle.violations.filter((broken) => seen.peering.length === 0 || !/below its floor/.test(broken))
  expect(others).toEqual([])
}, 240_000)
