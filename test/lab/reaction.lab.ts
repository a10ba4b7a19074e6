import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab('reaction')
  await lab.installOperator()
})
afterAll(() => lab?.close())

const rounds = ['node-a', 'node-b', 'node-c', 'node-d', 'node-e', 'node-f', 'node-a', 'node-b']
const percentile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)] ?? Number.NaN

/** Cordons a node and evicts one OSD of it, and times what the API server then holds. */
async function measure(node: string): Promise<{ readonly heldMs: number; readonly blockedMs: number }> {
  const began = performance.now()
  let heldMs: number | undefined
  let blockedMs: number | undefined
  const blocking = new Set<string>()
  const end = lab.views.of(podDisruptionBudgets).subscribe(({ after }) => {
    if (after === undefined) return
    const { name } = after.metadata
    if (name === 'rook-ceph-osd' && after.spec.maxUnavailable === 0) heldMs ??= performance.now() - began
    if (name.startsWith('rook-ceph-osd-rack-')) blocking.add(name)
    if (blocking.size === 2) blockedMs ??= performance.now() - began
  })
  await lab.api.patch(nodes, { name: node }, { type: 'merge', body: { spec: { unschedulable: true } } })
  const osd = [...lab.views.of(pods).values()].find(
    ({ metadata, spec }) => spec.nodeName === node && metadata.labels?.['app'] === 'rook-ceph-osd',
  )
  await evictPod(lab.api, { namespace: lab.namespace, name: osd?.metadata.name ?? '' })
  await lab.until('the other racks are held', () => blockedMs !== undefined)
  end()
  await lab.kubectl('uncordon', node)
  await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 90)
  return { heldMs: heldMs ?? (blockedMs as number), blockedMs: blockedMs as number }
}

it('from the cordon and the first eviction to budgets that hold everything else, on the real API server', async () => {
  const seen = []
  for (const node of rounds) seen.push(await measure(node))
  const row = (what: string, values: readonly number[]) =>
    `| ${what} | ${percentile(values, 0.5).toFixed(0)} ms | ${percentile(values, 0.95).toFixed(0)} ms |`
  const table = [
    '| npm run test:lab -- reaction | p50 | p95 |',
    '|---|---|---|',
    row(
      'no other OSD may go',
      seen.map(({ heldMs }) => heldMs),
    ),
    row(
      'blocking budgets of the other racks',
      seen.map(({ blockedMs }) => blockedMs),
    ),
  ].join('\n')
  lab.journal.tell('measured', table)
  console.log(`\n${table}\n`)
  expect(lab.oracle.violations).toEqual([])
})
