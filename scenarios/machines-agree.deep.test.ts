import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, expect, it } from 'vitest'
import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from './testing/fencing-fixture.ts'
import { doHostileDeed } from './testing/fencing-hostile.ts'
import type { RemediatorStyle } from './testing/fencing-remediators.ts'
import { agreeOnMachines } from './testing/machine-agreement.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const patient = 600_000
const quick = {
  notReadySeconds: 60,
  timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
} as const

async function openAttended(options: FencingFixtureOptions): Promise<void> {
  fixture = await openFencingFixture({ ...quick, ...options })
  await writeOperatorLease(fixture)
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
}

async function agreeFor(seconds: number, every: number) {
  const disagreements: string[] = []
  const reasons = new Set<string>()
  const end = fixture.clock.now() + seconds * 1_000
  while (fixture.clock.now() < end) {
    const look = await agreeOnMachines(fixture)
    disagreements.push(...look.disagreements.map((each) => `${fixture.clock.now()}: ${each}`))
    for (const reason of look.reasons) reasons.add(reason)
    await fixture.seconds(every)
  }
  return { disagreements, reasons }
}

it.each(['budget', 'openshift', 'medik8s', 'cluster-api'] as const)(
  'monitors die with their machines: explain says which machine brings the quorum back as the operator does, instead of that nobody knows (%s)',
  async (remediator) => {
    const remedy = remediator === 'cluster-api' ? 'delete' : 'reboot'
    await openAttended({ storage: 4, monsOn: 'storage', remedy, remediator })
    fixture.kill('storage-1')
    const one = await agreeFor(60, 7)
    fixture.kill('storage-2')
    fixture.kill('storage-3')
    const more = await agreeFor(420, 9)
    expect([...one.disagreements, ...more.disagreements]).toEqual([])
    expect([...more.reasons]).toEqual(expect.arrayContaining(['QuorumLost', 'FenceRestoresQuorum']))
  },
  patient,
)

it(
  'a drain holds the storage: all say that no machine may go, and why',
  async () => {
    await openAttended({ storage: 4 })
    await fixture.request('reboot-2', 'storage-2')
    await fixture.until('it is drained', () => fixture.phaseOf('reboot-2') === 'Drained', 300)
    fixture.sicken('storage-3')
    const { disagreements, reasons } = await agreeFor(60, 10)
    expect(disagreements).toEqual([])
    expect([...reasons].some((reason) => reason === 'StorageKeyHeld' || reason === 'FenceWaitsForData')).toBe(true)
  },
  patient,
)

const scenarios: readonly (readonly [number, RemediatorStyle])[] = [
  [1, 'budget'],
  [2, 'openshift'],
  [3, 'medik8s'],
  [4, 'cluster-api'],
]
it.each(scenarios)(
  'whatever befalls machines, data and budgets, nobody contradicts anybody (seed %i, %s)',
  async (seed, remediator) => {
    await openAttended({ storage: 5, osdsPerNode: 2, seed, remediator })
    const random = seededRandom(seed * 7_919)
    const found: string[] = []
    for (let step = 0; step < 20; step += 1) {
      const deed = await doHostileDeed(fixture, random)
      const { disagreements } = await agreeFor(1, 1)
      found.push(...disagreements.map((each) => `${deed}: ${each}`))
      await fixture.seconds(Math.floor(random.next() * 40))
    }
    expect(found).toEqual([])
  },
  patient,
)
