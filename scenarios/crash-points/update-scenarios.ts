import { openUpdateFixture, type UpdateFixture, type UpdateFixtureOptions } from '../testing/osd-update-fixture.ts'
import { type CrashScenario, type CrashStory, crashScenario } from './crash-scenario.ts'
import { drainPersistently } from './persistent-drain.ts'

const next = 'v19.2.4'

/** Four hosts with an OSD each, of which Cofferdam alone updates the OSDs, two at a time. */
const small: UpdateFixtureOptions = {
  storage: 4,
  osdsPerNode: 1,
  pgs: 8,
  annotations: { 'cofferdam.io/update-max-in-parallel': '2' },
}

type Story = Pick<CrashStory<UpdateFixture>, 'title' | 'act'> & {
  readonly cluster?: UpdateFixtureOptions
  /** The scenario itself takes OSDs down, so that data may be served by too few for a moment. */
  readonly takesOsdsDown?: boolean
}

function onUpdates({ title, act, cluster = {}, takesOsdsDown = false }: Story): CrashScenario {
  return crashScenario<UpdateFixture>({
    title,
    open: () => openUpdateFixture({ ...small, ...cluster }),
    async act(fixture) {
      await fixture.seconds(30)
      await act(fixture)
      await fixture.until('all are updated', () => fixture.isUpdated(next), 1_200)
      await fixture.until('the storage is given back', () => fixture.holders().length === 0, 300)
    },
    facts: (fixture) => [
      `updated: ${fixture.versionsByOsd().join()}`,
      ...(takesOsdsDown
        ? []
        : [...new Set(fixture.oracle.below.map((group) => `below its floor: ${group.replace(/^t\+\d+s: /, '')}`))]),
    ],
  })
}

async function someOnTheirWay(fixture: UpdateFixture): Promise<void> {
  await fixture.until(
    'some are on their way',
    () => fixture.oracle.onTheWay().length > 0 || fixture.oracle.started.length > 0,
    120,
  )
}

export const updateCrashScenarios = {
  'update-canary': onUpdates({
    title: 'one OSD first, and then the others',
    cluster: { annotations: { 'cofferdam.io/update-max-in-parallel': '2', 'cofferdam.io/update-canary': 'true' } },
    act: (fixture) => fixture.want(next),
  }),
  'update-osd-lost': onUpdates({
    title: 'the pod of an OSD is lost in the middle of an update',
    takesOsdsDown: true,
    async act(fixture) {
      await fixture.want(next)
      await someOnTheirWay(fixture)
      await fixture.seconds(20)
      await fixture.killPod(3)
    },
  }),
  'update-map-change': onUpdates({
    title: 'a pool asks for more copies in the middle of an update, and for fewer again',
    async act(fixture) {
      await fixture.want(next)
      await someOnTheirWay(fixture)
      for (const floor of ['3', '2']) {
        await fixture.ceph.commands.run({ prefix: 'osd pool set', pool: 'data', var: 'min_size', val: floor })
        fixture.oracle.poolsChanged()
        await fixture.seconds(30)
      }
    },
  }),
  'update-and-grow': onUpdates({
    title: 'a disk is put in when another image is wanted',
    cluster: { rookImage: 'registry.example/rook/ceph:v1.18.8' },
    async act(fixture) {
      await fixture.putDisks('storage-1', 'sdx')
      await fixture.want(next)
      await fixture.until('the new OSD is there', () => fixture.osdIds().length === 5, 300)
    },
  }),
  'update-vs-drain': onUpdates({
    title: 'a node is drained in the middle of an update, and comes back',
    async act(fixture) {
      await fixture.want(next)
      await someOnTheirWay(fixture)
      await drainPersistently(fixture, 'storage-2', 900)
      await fixture.cordon('storage-2', false)
    },
  }),
} satisfies Record<string, CrashScenario>
