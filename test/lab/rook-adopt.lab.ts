import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AuditedWrite, writtenByAll } from './control-plane/audit.ts'
import { type Lab, openLab } from './lab.ts'
import type { ProgramEnd, RunningProgram } from './processes/run-program.ts'
import { rookAccount } from './rook/rook-access.ts'
import { startRookDisruption } from './rook/start-rook-disruption.ts'

const cluster = 'cephcluster/rook-ceph/rook-ceph'
const rook = `system:serviceaccount:rook-ceph:${rookAccount}`
const cofferdam = `system:serviceaccount:${operatorAccount.namespace}:${operatorAccount.name}`
/** What both have kept: each alone may write it. */
const isShared = ({ resource, key }: AuditedWrite) =>
  resource === 'poddisruptionbudgets' || key === 'rook-ceph/rook-ceph-pdbstatemap'

let lab: Lab
beforeAll(async () => {
  lab = await openLab('rook-adopt')
  await startRookDisruption(lab)
  await lab.installOperator({ besideRook: true })
})
afterAll(() => lab?.close())

/** Begins to drain a node, and returns when its first OSD has gone. */
async function beginDrain(node: string): Promise<RunningProgram> {
  const before = lab.osdsOn(node).length
  const drain = lab.drain(node)
  await lab.until(`the first OSD of ${node} is gone`, () => lab.osdsOn(node).length < before)
  return drain
}

/** Whatever it takes: the oracle watches. */
async function endOf(what: string, program: RunningProgram, withinSeconds = 240): Promise<ProgramEnd> {
  await lab.until(`${what} has ended`, () => !program.isRunning(), withinSeconds)
  return program.ended
}

async function uncordon(node: string): Promise<void> {
  await lab.kubectl('uncordon', node)
  await lab.until('one budget covers all OSDs again', () => lab.osdBudgets().join() === 'rook-ceph-osd', 240)
  await lab.ceph.untilClean()
}

/** Hands the budgets over while a node is being drained, and lets that drain end; returns when they had been handed over. */
async function handOver(command: 'adopt' | 'release', node: string): Promise<number> {
  const drain = await beginDrain(node)
  const { code, stdout, stderr } = await endOf(command, lab.cofferdam(command, cluster))
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: expect.stringMatching(/\b0 moments without/) })
  const sinceMs = Date.now()
  expect((await endOf(`the drain of ${node}`, drain)).code).toBe(0)
  await uncordon(node)
  return sinceMs
}

async function expectAlone(writer: string, other: string, sinceMs: number): Promise<void> {
  const writes = (await lab.plane.writes()).filter(isShared).filter(({ atMs }) => atMs >= sinceMs)
  expect(writes.filter(({ user }) => user === other)).toEqual([])
  expect(writtenByAll(writes, [writer, other])).toEqual([])
  // Without any, nothing would be shown.
  expect(writes.filter(({ user }) => user === writer).length).toBeGreaterThan(0)
}

it('in the middle of a drain Cofferdam adopts the budgets, and Rook writes none of them any more', async () => {
  const sinceMs = await handOver('adopt', 'node-a')
  lab.chapter('The next drain is Cofferdam’s')
  expect((await endOf('the drain of node-b', lab.drain('node-b'))).code).toBe(0)
  await uncordon('node-b')
  await expectAlone(cofferdam, rook, sinceMs)
  expect(lab.oracle.violations).toEqual([])
}, 720_000)

it('in the middle of a drain they are released to Rook, and Cofferdam writes none of them any more', async () => {
  const sinceMs = await handOver('release', 'node-c')
  await expectAlone(rook, cofferdam, sinceMs)
  expect(lab.oracle.violations).toEqual([])
}, 720_000)
