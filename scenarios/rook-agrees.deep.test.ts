import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type Agreement, compareAnswers, compareBudgets } from './testing/explain-agreement.ts'

const besideRook = `
pace: { readyAfterSeconds: 1, terminationSeconds: 1 }
zones: [{ name: x }, { name: y }, { name: z }]
nodes: [{ name: "node-{zone}", roles: [worker] }]
ceph:
  rook: true
  osds: { perNode: 2 }
  pools: [{ name: data, failureDomain: zone, pgs: 16 }]
`

let fixture: CephFixture
let seen: Agreement[]
let ofBudgets: string[]
beforeEach(async () => {
  fixture = await openCephFixture(besideRook, { isGuarded: true })
  fixture.startOperator()
  await fixture.seconds(30)
  seen = []
  ofBudgets = []
})
afterEach(() => fixture.close())

async function compareFor(steps: number, everySeconds: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    seen.push(await compareAnswers(fixture))
    ofBudgets.push(...(await compareBudgets(fixture)))
    await fixture.seconds(everySeconds)
  }
}

function expectAgreement(): void {
  expect([...seen.flatMap(({ disagreements }) => disagreements), ...ofBudgets]).toEqual([])
  // A comparison in which all say the same all the time shows little.
  expect([seen.some(({ free }) => free > 0), seen.some(({ refused }) => refused > 0)]).toEqual([true, true])
}

const say = (budgets: 'observe' | 'manage') =>
  fixture.api.patch(
    cephClusters,
    { namespace: 'rook-ceph', name: 'rook-ceph' },
    {
      type: 'merge',
      body: {
        metadata: { annotations: { 'cofferdam.io/budgets': budgets } },
        spec: { disruptionManagement: { managePodBudgets: budgets === 'observe' } },
      } as never,
    },
  )

it('two drains at once where Rook keeps the budgets and we only observe: explain, the page and the eviction API say the same', async () => {
  const drains = [fixture.drain('node-x'), fixture.drain('node-y')]
  await compareFor(40, 2)
  expect(drains.some((drain) => drain.isOver())).toBe(true)
  for (const node of ['node-x', 'node-y']) await fixture.uncordon(node)
  await compareFor(15, 4)
  expectAgreement()
})

it('the budgets are adopted in the middle of two drains, and released in the middle of the next: the answers agree all the time', async () => {
  for (const [budgets, first, second] of [
    ['manage', 'node-x', 'node-y'],
    ['observe', 'node-y', 'node-z'],
  ] as const) {
    fixture.drain(first)
    await compareFor(5, 1)
    fixture.drain(second)
    await say(budgets)
    await compareFor(40, 1)
    for (const node of [first, second]) await fixture.uncordon(node)
    await compareFor(15, 4)
  }
  expectAgreement()
})
