import { medik8sLeaseNamespace, nodeHealthChecks } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { microTimestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { computeNodes, storageNodes } from './testing/fencing-cluster.ts'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'
import type { RemediatorStyle } from './testing/fencing-remediators.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const storage = 5
const compute = 5

/** What others set before: none of it is ours to change. */
async function plant(): Promise<void> {
  const { api, views, kinds, oracle } = fixture
  for (const { metadata } of Array.from(views.of(kinds.machines).values())) {
    const { name, namespace = '' } = metadata
    const annotations = {
      'example.com/rack': 'r7',
      ...(name === 'compute-1' ? { 'cluster.x-k8s.io/skip-remediation': 'bob' } : {}),
    }
    await api.patch(kinds.machines, { namespace, name }, { type: 'merge', body: { metadata: { annotations } } })
  }
  oracle.keep('the annotation of compute-1', () => {
    const found = fixture.machine('compute-1')
    return found === undefined || found.metadata.annotations?.['cluster.x-k8s.io/skip-remediation'] === 'bob'
  })
  oracle.keep('the annotations of storage machines', () =>
    [...views.of(kinds.machines).values()]
      .filter(({ metadata }) => /^storage-[1-5]$/.test(metadata.name))
      .every(({ metadata }) => metadata.annotations?.['example.com/rack'] === 'r7'),
  )
  views.of(kinds.healthChecks)
  oracle.keep('the health check', () =>
    [...views.of(kinds.healthChecks).values()].every(
      ({ metadata, spec }) => metadata.annotations?.['example.com/owner'] === 'bob' && spec?.maxUnhealthy === '100%',
    ),
  )
  oracle.keep('the node health check', () =>
    [...views.of(nodeHealthChecks).values()].every(({ spec }) => spec?.maxUnhealthy === '100%'),
  )
}

/** Somebody maintains the first compute node, and says so as medik8s does. */
async function leaseToOther(): Promise<void> {
  const name = 'node-compute-1'
  await fixture.api.create(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: medik8sLeaseNamespace },
    spec: {
      holderIdentity: 'node-maintenance',
      leaseDurationSeconds: 36_000,
      renewTime: microTimestamp(fixture.clock),
    },
  })
  fixture.oracle.keep('the lease of compute-1', () => {
    const lease = fixture.views.of(leases).get(`${medik8sLeaseNamespace}/${name}`)
    return lease?.spec?.holderIdentity === 'node-maintenance'
  })
}

const remediated = () => (fixture.remediator?.controls.remediated() ?? []).map(({ node }) => node)
const taken = () => [...fixture.oracle.taken]

/** Who is not asked to spare a node: in Cluster API and medik8s the first compute node is somebody else's. */
const goingOf: Readonly<Record<string, number>> = { 'cluster-api': compute - 1, medik8s: compute - 1 }

describe('ten nodes are sick at once, and their OSDs run: those without OSDs go freely, those with OSDs one at a time', () => {
  it.each<RemediatorStyle>(['budget', 'openshift', 'cluster-api', 'medik8s'])('under %s', async (remediator) => {
    fixture = await openFencingFixture({
      storage,
      compute,
      remediator,
      notReadySeconds: 60,
      recoveryPgsPerSecond: 8,
      timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
    })
    await plant()
    if (remediator === 'medik8s') await leaseToOther()
    fixture.operate()
    await fixture.until('one machine may go', fixture.isOpen, 60)

    fixture.sicken(...storageNodes(storage), ...computeNodes(compute))
    const going = goingOf[remediator] ?? compute
    const isComputeGone = () => remediated().filter((node) => node.startsWith('compute')).length >= going
    await fixture.until('those without OSDs are gone', isComputeGone, 180)
    await fixture.until('the first with OSDs is taken', () => taken().length > 0, 180)
    expect(taken()).toHaveLength(1)

    await fixture.until('all with OSDs were taken, one after the other', () => taken().length === storage, 1_500)
    expect(taken().sort()).toEqual(storageNodes(storage))
    await fixture.until('one machine may go again', fixture.isOpen, 400)
    await fixture.seconds(20)
    expect(await fixture.storageKeys()).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
  })
})

it('the oracle is not blind: without an operator it sees machines of several domains go at once, and data out of reach', async () => {
  fixture = await openFencingFixture({ storage: 4, remediator: 'openshift', notReadySeconds: 60 })
  fixture.sicken(...storageNodes(4))
  await fixture.seconds(70)
  expect(taken()).toHaveLength(4)
  expect(fixture.oracle.violations.join()).toMatch(/before all was clean.*fell below its floor/)
})

it('a health check of OpenShift that reboots hosts cannot be told which: it waits until only one of them is sick', async () => {
  fixture = await openFencingFixture({
    storage: 3,
    remediator: 'openshift',
    remedy: 'reboot',
    notReadySeconds: 60,
    timings: { rebootSeconds: 30 },
  })
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  fixture.sicken('storage-1', 'storage-2')
  await fixture.seconds(150)
  expect(taken()).toEqual([])
  fixture.heal('storage-2')
  await fixture.until('the one that is sick is rebooted', () => taken().length === 1, 150)
  await fixture.until('one machine may go again', fixture.isOpen, 300)
  expect(taken()).toEqual(['storage-1'])
  expect(fixture.oracle.violations).toEqual([])
})

it('without leases a node health check is paused as a whole while nobody may go, and nobody else is unpaused', async () => {
  fixture = await openFencingFixture({
    storage: 3,
    remediator: 'medik8s-without-leases',
    notReadySeconds: 60,
    outAfterSeconds: 3_600,
  })
  const key = { name: 'workers' }
  const requests = async () => (await fixture.api.get(nodeHealthChecks, key)).spec?.pauseRequests ?? []
  await fixture.api.patch(nodeHealthChecks, key, {
    type: 'merge',
    body: { spec: { pauseRequests: ['bob: not today'] } },
  })
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  fixture.failDisk(2)
  await fixture.until('the budget is closed', () => !fixture.isOpen(), 60)
  fixture.sicken('storage-1')
  await fixture.until('it is asked to pause', async () => (await requests()).length === 2, 60)
  fixture.heal('storage-1')
  await fixture.until('our own request is taken back', async () => (await requests()).length === 1, 60)
  expect(await requests()).toEqual(['bob: not today'])
  expect(fixture.oracle.violations).toEqual([])
})
