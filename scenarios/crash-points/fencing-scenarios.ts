import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from '../testing/fencing-fixture.ts'
import { type CrashScenario, type CrashStory, crashScenario } from './crash-scenario.ts'

/** Health checks that do not wait for long, machines that come quickly: what is waited for is the data. */
const quick: FencingFixtureOptions = {
  storage: 4,
  notReadySeconds: 30,
  recoveryPgsPerSecond: 16,
  timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 20 },
  truthEvery: 4,
  remedy: 'reboot',
}

type Story = Pick<CrashStory<FencingFixture>, 'title' | 'act'> & { readonly cluster?: FencingFixtureOptions }

async function open(fixture: FencingFixture, cluster?: string): Promise<void> {
  await fixture.until('one machine may go', () => fixture.isOpen(cluster), 400)
}

function onMachines({ title, act, cluster = {} }: Story): CrashScenario {
  return crashScenario<FencingFixture>({
    title,
    open: () => openFencingFixture({ ...quick, ...cluster }),
    async act(fixture) {
      await open(fixture)
      await act(fixture)
      await open(fixture)
      await fixture.until('nobody has the storage', async () => (await fixture.storageKeys()).length === 0, 300)
    },
    facts: (fixture) => [
      `fenced: ${[...new Set(fixture.oracle.taken)].sort().join()}`,
      `labelled: ${fixture.labelled().join()}`,
      `budget: ${fixture.budget()}`,
    ],
  })
}

const isTaken = (fixture: FencingFixture, node: string) => () => fixture.oracle.taken.includes(node)

export const fencingCrashScenarios = {
  'fence-dead-node': onMachines({
    title: 'a dead machine is replaced',
    cluster: { remedy: 'delete' },
    async act(fixture) {
      fixture.kill('storage-1')
      await fixture.until('it is gone', () => !fixture.machineNames().includes('storage-1'), 400)
    },
  }),
  'fence-while-degraded': onMachines({
    title: 'a sick machine waits until the data of a dead disk is elsewhere',
    cluster: { outAfterSeconds: 60 },
    async act(fixture) {
      fixture.failDisk(3)
      await fixture.seconds(15)
      fixture.sicken('storage-1')
      await fixture.until('it is fenced', isTaken(fixture, 'storage-1'), 600)
    },
  }),
  'fence-two-nodes': onMachines({
    title: 'two sick machines are fenced one after the other',
    async act(fixture) {
      fixture.sicken('storage-1', 'storage-2')
      for (const node of ['storage-1', 'storage-2']) {
        await fixture.until(`${node} is fenced`, isTaken(fixture, node), 600)
      }
    },
  }),
  'two-clusters-one-node': onMachines({
    title: 'a machine has OSDs of two clusters and goes when both can do without it',
    cluster: { beside: [{ namespace: 'archive', name: 'archive' }], outAfterSeconds: 60 },
    async act(fixture) {
      await open(fixture, 'archive-archive')
      fixture.ceph[1]?.controls.failDisk(3)
      await fixture.seconds(15)
      fixture.sicken('storage-1')
      await fixture.until('it is fenced', isTaken(fixture, 'storage-1'), 600)
      await open(fixture, 'archive-archive')
    },
  }),
} satisfies Record<string, CrashScenario>
