import { leases, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'
import { type Maintenances, openMaintenances } from './testing/maintenance-operator.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'
import { requestsOf } from './testing/requests-of.ts'

let fixture: FencingFixture
let maintenances: Maintenances

/** compute-1, which a NodeHealthCheck manages, has been in maintenance for longer than medik8s holds its Lease. */
beforeEach(async () => {
  const timings = { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 20 }
  fixture = await openFencingFixture({
    storage: 3,
    compute: 2,
    notReadySeconds: 30,
    timings,
    remediator: 'medik8s',
    remedy: 'reboot',
    truthEvery: 60,
  })
  await writeOperatorLease(fixture)
  maintenances = await openMaintenances(fixture)
  requestsOf(fixture.views, 'node-maintenance')
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  await maintenances.maintain('compute-1')
  await fixture.until('it is drained', () => phase() === 'Drained', 120)
  await fixture.seconds(3_700)
})

afterEach(async () => {
  maintenances.stop()
  await fixture.close()
})

const phase = () => requestsOf(fixture.views, 'node-maintenance').get('compute-1')?.status?.phase

async function holder(): Promise<string | undefined> {
  const { items } = await fixture.api.list(leases, { namespace: 'medik8s-leases' })
  return items.find(({ metadata }) => metadata.name === 'node-compute-1')?.spec?.holderIdentity
}

it('the Lease that lapsed is left to medik8s: its next start goes on with the maintenance, and a node that is away is not fenced', async () => {
  expect(await holder()).toBe('node-maintenance')
  maintenances.restart()
  await fixture.seconds(60)
  expect(maintenances.statusOf('compute-1').phase).toBe('Succeeded')
  fixture.world.kubelet.powerOff('compute-1')
  await fixture.seconds(600)
  expect(fixture.remediator?.controls.remediated()).toEqual([])
  expect(await holder()).toBe('node-maintenance')
})

it('taken by Cofferdam, as for a node that is not excluded from remediation, it makes medik8s give up and uncordon the node', async () => {
  const body = { metadata: { labels: { 'remediation.medik8s.io/exclude-from-remediation': null } } }
  await fixture.api.patch(nodes, { name: 'compute-1' }, { type: 'merge', body })
  await fixture.until('the Lease is taken', async () => (await holder()) === 'cofferdam', 120)
  maintenances.restart()
  await fixture.seconds(60)
  expect(maintenances.statusOf('compute-1').phase).toBe('Failed')
  expect(fixture.views.of(nodes).get('compute-1')?.spec?.unschedulable).toBeUndefined()
})
