import { nodeHealthChecks } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from './fencing-fixture.ts'
import type { StagedOperator } from './lock-fixture.ts'
import { writeOperatorLease } from './operator-lease.ts'
import type { OperateOptions } from './staged-operators.ts'

export const remediatorStyles = ['openshift', 'cluster-api', 'medik8s', 'medik8s-without-leases'] as const
type Style = (typeof remediatorStyles)[number]

/** Health checks that do not wait for long, and machines that come quickly. */
const quick: FencingFixtureOptions = {
  storage: 3,
  compute: 2,
  notReadySeconds: 30,
  timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 20 },
}

/** compute-1, which has no OSD, is drained for a reboot. */
export async function openDrained(
  remediator: Style,
  returnWithin?: string,
  operate: OperateOptions = {},
): Promise<FencingFixture & { readonly operator: StagedOperator }> {
  const remedy = remediator.startsWith('medik8s') ? ('reboot' as const) : ('delete' as const)
  const fixture = await openFencingFixture({ ...quick, remediator, remedy })
  await writeOperatorLease(fixture)
  const operator = fixture.operate(operate)
  if (!operate.without?.includes('fencing')) await fixture.until('one machine may go', fixture.isOpen, 60)
  await fixture.request('reboot-1', 'compute-1', returnWithin === undefined ? {} : { returnWithin })
  await fixture.until('it is drained', () => fixture.phaseOf('reboot-1') === 'Drained', 120)
  await fixture.seconds(5)
  return { ...fixture, operator }
}

/** Whether somebody took compute-1 away, or switched it off and on. */
export function isRemediated({ remediator, machineNames }: FencingFixture): boolean {
  const taken = remediator?.controls.remediated() ?? []
  return taken.some(({ node }) => node === 'compute-1') || !machineNames().includes('compute-1')
}

/** What keeps remediators from compute-1. */
export async function gatesOf({ api, kinds, machine }: FencingFixture): Promise<string[]> {
  const skip = machine('compute-1')?.metadata.annotations?.['cluster.x-k8s.io/skip-remediation']
  const { items } = await api.list(kinds.healthChecks)
  const paused = items.flatMap(({ metadata }) => metadata.annotations?.['cluster.x-k8s.io/paused'] ?? [])
  const checks = (await api.list(nodeHealthChecks)).items
  const held = (await api.list(leases, { namespace: 'medik8s-leases' })).items
  return [
    ...(skip === undefined ? [] : [`skip ${skip}`]),
    ...paused.map((by) => `paused ${by}`),
    ...checks.flatMap(({ spec }) => ((spec?.pauseRequests ?? []).length > 0 ? ['pauseRequests'] : [])),
    ...held.map(({ metadata, spec }) => `${metadata.name} ${spec?.holderIdentity}`),
  ]
}

/** Single nodes are protected before they go; what waits as a whole only while the node is away. */
export const gatesWhileReady: Record<Style, string[]> = {
  openshift: [],
  'cluster-api': ['skip cofferdam'],
  medik8s: ['node-compute-1 cofferdam'],
  'medik8s-without-leases': [],
}
export const gatesWhileAway: Record<Style, string[]> = {
  ...gatesWhileReady,
  openshift: ['paused cofferdam'],
  'medik8s-without-leases': ['pauseRequests'],
}
