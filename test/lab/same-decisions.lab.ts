import { readFileSync } from 'node:fs'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openCephFixture } from '../../scenarios/testing/ceph-fixture.ts'
import { recordCluster } from '../../scenarios/testing/recorder.ts'
import { type Lab, openLab } from './lab.ts'

/** What both stages can do; one in real time, one in virtual time. */
interface Fixture {
  readonly api: KubeApi
  drain(node: string): Promise<void>
  uncordon(node: string): Promise<void>
  osdBudgets(): string[]
  nooutBuckets(): Promise<string[]>
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
}

const calm = 'rook-ceph-osd'
const namespace = 'rook-ceph'

/**
 * The same events on any stage; returns which budgets were put up and taken down, in order. Whether a budget is tightened for a
 * moment, or the rack that was away is held while its groups peer, depends on when one looks: both are left out.
 */
async function play(fixture: Fixture, views: Views): Promise<string[]> {
  const decided: string[] = []
  let away = 'rack-x'
  const tell = (line: string) => {
    const isOfRackAway = line.startsWith(`rook-ceph-osd-rack-${away}`)
    if (line.startsWith('rook-ceph-osd') && !isOfRackAway && !line.includes(' changed (')) decided.push(line)
  }
  const end = recordCluster(views, { tell })
  const isCalm = () => fixture.osdBudgets().join() === calm
  const scale = (replicas: number) =>
    fixture.api.patch(
      deployments,
      { namespace, name: 'rook-ceph-osd-2' },
      { type: 'merge', body: { spec: { replicas } } },
    )

  decided.push('# node-a is drained')
  await fixture.drain('node-a')
  await fixture.until('noout is set', async () => (await fixture.nooutBuckets()).join() === 'rack-x')
  await fixture.until('the default budget has gone', () => decided.includes('rook-ceph-osd disappeared'))
  decided.push('# node-a is back')
  await fixture.uncordon('node-a')
  await fixture.until('all is calm', isCalm, 120)
  await fixture.until('noout is gone', async () => (await fixture.nooutBuckets()).length === 0)

  away = 'rack-y'
  decided.push('# osd.2 is stopped, its node is not cordoned')
  await scale(0)
  // The default budget beside one of the two blocks would be two as well.
  await fixture.until('the other racks are held', () => decided.at(-1) === 'rook-ceph-osd selects nothing any more')
  decided.push(`noout on ${(await fixture.nooutBuckets()).join() || 'nothing'}`)
  await fixture.until('the default budget has gone', () => decided.at(-1) === 'rook-ceph-osd disappeared')
  decided.push('# osd.2 is started again')
  await scale(1)
  await fixture.until('all is calm', isCalm, 120)
  end()
  return decided
}

let lab: Lab
beforeAll(async () => {
  lab = await openLab('same-decisions')
  await lab.installOperator()
})
afterAll(() => lab?.close())

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

it('the same events lead to the same decisions on the simulated Ceph and on the real one', async () => {
  const simulated = await openCephFixture(readFileSync(new URL('./cluster.yaml', import.meta.url), 'utf8'))
  endings.push(() => simulated.close())
  simulated.startOperator()
  await simulated.until('the default budget is there', () => simulated.osdBudgets().join() === calm)
  const onSimulated = await play(
    {
      ...simulated,
      async drain(node) {
        const drain = simulated.drain(node)
        await simulated.until(`${node} is drained`, drain.isOver)
        await drain.ended
      },
    },
    simulated.views,
  )

  const onReal = await play(
    {
      ...lab,
      drain: async (node) => expect((await lab.drain(node).ended).code).toBe(0),
      uncordon: async (node) => void (await lab.kubectl('uncordon', node)),
    },
    lab.views,
  )
  expect(onReal).toEqual(onSimulated)
  expect(lab.oracle.violations).toEqual([])
  expect(simulated.oracle.violations).toEqual([])
})
