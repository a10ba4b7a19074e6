import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createPlanDrainCommand } from '@cofferdam/product/cli/plan/plan-drain.ts'
import { createSnapshotCommand } from '@cofferdam/product/cli/snapshot/snapshot.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { parseCluster } from '@cofferdam/product/library/domain.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'

const threeZones = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: a }, { name: b }, { name: c }]
nodes: [{ name: 'worker-{zone}{n}', count: 2 }]
apps:
  - { name: web, namespace: shop, replicas: 3, spread: host, pdb: { maxUnavailable: 1 } }
ceph:
  osds: { perNode: 2 }
  pools: [{ name: replicapool, failureDomain: zone }, { name: .mgr, failureDomain: zone, pgs: 1 }]
`

let fixture: CephFixture
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cofferdam-saved-'))
})
afterEach(async () => {
  await fixture.close()
  await rm(directory, { recursive: true, force: true })
})

const nobody = () => Promise.reject(new Error('a saved cluster is asked, and no other'))

it('a plan and explanations are the same from a file as they were live, for what Ceph allows is in it; the library gives them too, and status prints it', async () => {
  fixture = await openCephFixture(threeZones)
  fixture.startOperator()
  await fixture.seconds(60)
  const drain = fixture.drain('worker-a1')
  await fixture.until('worker-a1 is drained', drain.isOver)
  await fixture.seconds(10)
  const { clock, api } = fixture
  const live = { connect: inProcess(api).connect, clock }
  const path = join(directory, 'cluster.json')
  await writeFile(path, (await runCommand(createSnapshotCommand(live), 'snapshot')).out)
  const saved = { connect: nobody, clock: { now: () => 0, after: () => () => {} } }

  const plan = async (ports: typeof live | typeof saved, ...more: string[]) => {
    const { out } = await runCommand(createPlanDrainCommand(ports), 'drain', '--all', '-o', 'json', ...more)
    return JSON.parse(out)
  }
  expect(await plan(saved, '--from', path)).toEqual(await plan(live))

  const explain = (ports: typeof live | typeof saved, ...argv: string[]) =>
    runCommand(createExplainCommand(ports), 'explain', ...argv)
  for (const node of ['worker-a2', 'worker-b1']) {
    const [before, after] = [await explain(live, node), await explain(saved, node, '--from', path)]
    expect(after).toMatchObject({
      code: before.code,
      out: expect.stringMatching(/^as of 2026-01-01T.*, from a snapshot\n/),
    })
    const verdictOf = (out: string) => out.split('\n').find((line) => line.startsWith(`node/${node}`))
    expect(verdictOf(after.out)).toBe(verdictOf(before.out))
    expect(verdictOf(after.out)).toContain(node === 'worker-a2' ? 'free' : 'blocked')
  }

  const library = parseCluster(JSON.parse(await readFile(path, 'utf8')))
  if (!library.known) throw new Error(library.why)
  const { waves, lowerBound, notSeen } = await plan(live)
  expect(await library.value.planDrain()).toMatchObject({ waves, lowerBound, notSeen })
  expect(await library.value.explain('worker-b1')).toMatchObject({
    object: 'node/worker-b1',
    verdict: 'blocked',
    blockers: expect.arrayContaining([
      expect.objectContaining({ reason: 'OtherDomainDown', unblocks: expect.stringContaining('zone a back') }),
    ]),
  })
  expect(await library.value.explain('worker-a2')).toMatchObject({ verdict: 'free', blockers: [] })
  await expect(library.value.explain('worker-z9')).rejects.toThrow('worker-z9')
  await expect(library.value.planDrain({ nodes: ['worker-z9'] })).rejects.toThrow('worker-z9')

  const status = await runCommand(createStatusCommand(saved), 'status', '--from', path)
  expect([status.code, status.out]).toEqual([0, expect.stringMatching(/^as of 2026-01-01T.*\n\nStatus/)])
  const watched = await runCommand(createStatusCommand(saved), 'status', '--from', path, '--watch')
  expect(watched.code).toBe(2)
})
