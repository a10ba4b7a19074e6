import { readFileSync } from 'node:fs'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps, events, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type ConfigMapIntruder, openIntruder } from './testing/config-map-intruder.ts'

const threeZones = readFileSync(new URL('../examples/clusters/ceph-zones.yaml', import.meta.url), 'utf8')
const namespace = 'rook-ceph'
const xIsOpen = ['rook-ceph-osd-zone-zone-y', 'rook-ceph-osd-zone-zone-z']

let fixture: CephFixture
let intruder: ConfigMapIntruder
afterEach(() => fixture.close())

const isCalm = () => fixture.osdBudgets().join() === 'rook-ceph-osd'

async function openAttacked(): Promise<void> {
  fixture = await openCephFixture(threeZones)
  fixture.startOperator()
  await fixture.until('the default budget is there', isCalm, 30)
  await fixture.seconds(5)
  intruder = await openIntruder(fixture)
  expect(await intruder.mayDeleteBudget()).toBe(false)
}

const statusText = async () => {
  const { connect } = inProcess(fixture.api)
  return (await runCommand(createStatusCommand({ connect, clock: fixture.clock }), 'status', '-o', 'wide')).out
}
const explainText = async (what: string) => {
  const { connect } = inProcess(fixture.api)
  return (await runCommand(createExplainCommand({ connect, clock: fixture.clock }), 'explain', what)).out
}
const record = () => fixture.api.get(configMaps, { namespace, name: 'rook-ceph-pdbstatemap' })
const told = async () =>
  (await fixture.api.list(events, { namespace })).items
    .filter(({ type }) => type === 'Warning')
    .map(({ reason }) => reason)

/** An administrator's slip: the budgets of the OSDs are gone. */
async function loseBudget(): Promise<void> {
  for (const name of fixture.osdBudgets()) await fixture.api.delete(podDisruptionBudgets, { namespace, name })
}

/** All that the oracle saw, but for the moments at which the administrator took a budget away and it was put back. */
const harm = () => fixture.oracle.violations.filter((sentence) => !sentence.startsWith('when '))

/** Evicts whatever the budgets allow at this moment, in every zone. */
async function evictEverything(): Promise<void> {
  const { items } = await fixture.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
  for (const { metadata } of items) {
    try {
      await evictPod(fixture.api, { namespace, name: metadata.name })
    } catch (error) {
      // Held, held twice while budgets are exchanged, or gone already.
      if (!(error instanceof ApiError)) throw error
    }
  }
}

describe('somebody who may only update ConfigMaps in rook-ceph', () => {
  it('fills the record: a deleted budget is restored, no placement group stops, and a drain goes to its end', async () => {
    await openAttacked()
    await intruder.fill()
    await evictEverything()
    await fixture.seconds(3)
    await intruder.fill()
    await loseBudget()
    await fixture.seconds(3)
    expect(fixture.osdBudgets().length).toBeGreaterThan(0)
    await evictEverything()
    await fixture.seconds(30)
    expect(harm()).toEqual([])
    await fixture.until(
      'the evicted OSD is back and its data clean',
      () => isCalm() && fixture.runningOsds().length === 6,
    )

    await intruder.fill()
    const drain = fixture.drain('node-a')
    await fixture.seconds(4)
    await intruder.fill()
    await fixture.until('the drain is over', drain.isOver)
    await drain.ended
    expect(fixture.osdBudgets()).toEqual(xIsOpen)
    await intruder.fill()
    await fixture.uncordon('node-a')
    await fixture.until('the default budget is back', isCalm)
    expect(await fixture.nooutBuckets()).toEqual([])
    expect((await record()).metadata.annotations?.['evil.example/fill']).toBeUndefined()
    expect(await told()).toContain('ObjectsUnusable')
    expect(harm()).toEqual([])
    expect(fixture.oracle.looks()).toBeGreaterThan(50)
  })

  it('locks the record: OSDs stay held, nothing begins, and status, explain, an event and a metric say what to do', async () => {
    await openAttacked()
    await intruder.makeImmutable()
    fixture.failOsd(0)
    await fixture.until('nothing may go', () => fixture.budgetText('rook-ceph-osd') === 'maxUnavailable 0', 30)
    await evictEverything()
    await loseBudget()
    await fixture.seconds(3)
    await evictEverything()
    await fixture.seconds(60)
    expect(fixture.runningOsds().length).toBeGreaterThanOrEqual(5)
    expect(harm()).toEqual([])

    const drain = fixture.drain('node-b')
    await fixture.seconds(30)
    expect(drain.isOver()).toBe(false)
    expect(fixture.osdsOn('node-b')).toEqual(['osd.2', 'osd.3'])
    const toDo = 'kubectl -n rook-ceph get configmap rook-ceph-pdbstatemap -o yaml'
    expect(await statusText()).toContain('Storage   rook-ceph/rook-ceph: RecordRefused')
    expect(await statusText()).toContain(toDo)
    const explained = await explainText('node/node-b')
    expect(explained).toContain(toDo)
    expect(explained).toContain('a state ConfigMap that can be written again')
    expect((await told()).filter((reason) => reason === 'RecordRefused')).toHaveLength(1)
    const metrics = await fixture.metrics.registry.metrics()
    expect(metrics).toMatch(
      /cofferdam_ceph_record_refused_seconds\{ceph_namespace="rook-ceph",ceph_cluster="rook-ceph"\} [1-9]/,
    )
    expect(metrics).toMatch(
      /cofferdam_ceph_decision\{ceph_namespace="rook-ceph",ceph_cluster="rook-ceph",reason="RecordRefused"\} 1/,
    )
  })

  it('locks the record, and an administrator unlocks it again: the drain that waited goes on by itself', async () => {
    await openAttacked()
    await intruder.makeImmutable()
    const drain = fixture.drain('node-a')
    await fixture.seconds(90)
    expect(drain.isOver()).toBe(false)

    const { metadata, data } = await record()
    const { annotations = {} } = metadata
    await fixture.api.delete(configMaps, { namespace, name: metadata.name })
    const unlocked = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: metadata.name, annotations } }
    await fixture.api.create(configMaps, { ...unlocked, data: data ?? {} })
    await fixture.until('the drain is over', drain.isOver)
    await drain.ended
    expect(fixture.osdBudgets()).toEqual(xIsOpen)
    expect(await statusText()).toContain('Storage   rook-ceph/rook-ceph: DomainReleased')
    await fixture.uncordon('node-a')
    await fixture.until('the default budget is back', isCalm)
    expect(fixture.oracle.violations).toEqual([])
  })
})
