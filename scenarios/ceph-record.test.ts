import { readFileSync } from 'node:fs'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps, events, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type CephStage, openCephStage } from './testing/ceph-stage.ts'
import { type ConfigMapIntruder, openIntruder } from './testing/config-map-intruder.ts'

const threeZones = readFileSync(new URL('../examples/clusters/ceph-zones.yaml', import.meta.url), 'utf8')
const namespace = 'rook-ceph'
const xIsOpen = ['rook-ceph-osd-zone-zone-y', 'rook-ceph-osd-zone-zone-z']

vi.setConfig({ testTimeout: 120_000 })

let stage: CephStage
let intruder: ConfigMapIntruder
afterEach(() => stage.close())

const isCalm = () => stage.osdBudgets().join() === 'rook-ceph-osd'

async function openAttacked(): Promise<void> {
  stage = await openCephStage(threeZones)
  stage.startOperator()
  await stage.until('the default budget is there', isCalm, 30)
  await stage.seconds(5)
  intruder = await openIntruder(stage)
  expect(await intruder.mayDeleteBudget()).toBe(false)
}

const statusText = async () => {
  const { connect } = inProcess(stage.api)
  return (await runCommand(createStatusCommand({ connect, clock: stage.clock }), 'status')).out
}
const explainText = async (what: string) => {
  const { connect } = inProcess(stage.api)
  return (await runCommand(createExplainCommand({ connect, clock: stage.clock }), 'explain', what)).out
}
const record = () => stage.api.get(configMaps, { namespace, name: 'rook-ceph-pdbstatemap' })
const told = async () =>
  (await stage.api.list(events, { namespace })).items
    .filter(({ type }) => type === 'Warning')
    .map(({ reason }) => reason)

/** An administrator's slip: the budgets of the OSDs are gone. */
async function loseBudget(): Promise<void> {
  for (const name of stage.osdBudgets()) await stage.api.delete(podDisruptionBudgets, { namespace, name })
}

/** All that the oracle saw, but for the moments at which the administrator took a budget away and it was put back. */
const harm = () => stage.oracle.violations.filter((sentence) => !sentence.startsWith('when '))

/** Evicts whatever the budgets allow at this moment, in every zone. */
async function evictEverything(): Promise<void> {
  const { items } = await stage.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
  for (const { metadata } of items) {
    try {
      await evictPod(stage.api, { namespace, name: metadata.name })
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
    await stage.seconds(3)
    await intruder.fill()
    await loseBudget()
    await stage.seconds(3)
    expect(stage.osdBudgets().length).toBeGreaterThan(0)
    await evictEverything()
    await stage.seconds(30)
    expect(harm()).toEqual([])
    await stage.until('the evicted OSD is back and its data clean', () => isCalm() && stage.runningOsds().length === 6)

    await intruder.fill()
    const drain = stage.drain('node-a')
    await stage.seconds(4)
    await intruder.fill()
    await stage.until('the drain is over', drain.isOver)
    await drain.ended
    expect(stage.osdBudgets()).toEqual(xIsOpen)
    await intruder.fill()
    await stage.uncordon('node-a')
    await stage.until('the default budget is back', isCalm)
    expect(await stage.nooutBuckets()).toEqual([])
    expect((await record()).metadata.annotations?.['evil.example/fill']).toBeUndefined()
    expect(await told()).toContain('ObjectsUnusable')
    expect(harm()).toEqual([])
    expect(stage.oracle.looks()).toBeGreaterThan(50)
  })

  it('locks the record: OSDs stay held, nothing begins, and status, explain, an event and a metric say what to do', async () => {
    await openAttacked()
    await intruder.makeImmutable()
    stage.failOsd(0)
    await stage.until('nothing may go', () => stage.budgetText('rook-ceph-osd') === 'maxUnavailable 0', 30)
    await evictEverything()
    await loseBudget()
    await stage.seconds(3)
    await evictEverything()
    await stage.seconds(60)
    expect(stage.runningOsds().length).toBeGreaterThanOrEqual(5)
    expect(harm()).toEqual([])

    const drain = stage.drain('node-b')
    await stage.seconds(30)
    expect(drain.isOver()).toBe(false)
    expect(stage.osdsOn('node-b')).toEqual(['osd.2', 'osd.3'])
    const toDo = 'kubectl -n rook-ceph get configmap rook-ceph-pdbstatemap -o yaml'
    expect(await statusText()).toContain('Storage   rook-ceph/rook-ceph: RecordRefused')
    expect(await statusText()).toContain(toDo)
    const explained = await explainText('node/node-b')
    expect(explained).toContain(toDo)
    expect(explained).toContain('a state ConfigMap that can be written again')
    expect((await told()).filter((reason) => reason === 'RecordRefused')).toHaveLength(1)
    const metrics = await stage.metrics.registry.metrics()
    expect(metrics).toMatch(/cofferdam_ceph_record_refused_seconds\{cluster="rook-ceph\/rook-ceph"\} [1-9]/)
    expect(metrics).toMatch(/cofferdam_ceph_decision_bool\{cluster="rook-ceph\/rook-ceph",reason="RecordRefused"\} 1/)
  })

  it('locks the record, and an administrator unlocks it again: the drain that waited goes on by itself', async () => {
    await openAttacked()
    await intruder.makeImmutable()
    const drain = stage.drain('node-a')
    await stage.seconds(90)
    expect(drain.isOver()).toBe(false)

    const { metadata, data } = await record()
    const { annotations = {} } = metadata
    await stage.api.delete(configMaps, { namespace, name: metadata.name })
    const unlocked = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: metadata.name, annotations } }
    await stage.api.create(configMaps, { ...unlocked, data: data ?? {} })
    await stage.until('the drain is over', drain.isOver)
    await drain.ended
    expect(stage.osdBudgets()).toEqual(xIsOpen)
    expect(await statusText()).toContain('Storage   rook-ceph/rook-ceph: DomainReleased')
    await stage.uncordon('node-a')
    await stage.until('the default budget is back', isCalm)
    expect(stage.oracle.violations).toEqual([])
  })
})
