import { type LonghornFixture, openLonghornFixture } from '../testing/longhorn-fixture.ts'
import { type CrashScenario, crashScenario } from './crash-scenario.ts'

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 128 * mib }

/** node-1 is drained and comes back; what happens to its copies on the way differs. */
function onLonghorn(
  title: string,
  policy: string,
  during: (fixture: LonghornFixture) => Promise<void> = async () => {},
): CrashScenario {
  return crashScenario<LonghornFixture>({
    title,
    async open() {
      const fixture = await openLonghornFixture(
        {
          volumes: [
            { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...data },
            { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...data },
          ],
          timings: { rebuildBytesPerSecond: 16 * mib },
          blocks: { count: 16, bytes: 128 },
        },
        { policy },
      )
      await fixture.use('db', 'node-2', 'node-3')
      await fixture.use('solo', 'node-2', 'node-3')
      return fixture
    },
    async act(fixture) {
      await fixture.seconds(10)
      const drain = fixture.drainAgain('node-1')
      await during(fixture)
      await fixture.until('the drain is over', drain.isOver, 600)
      await fixture.cordon('node-1', false)
      await fixture.until('all is healthy', () => isWhole(fixture), 300)
      await fixture.until('all are guarded', () => fixture.guarded().length === 3, 120)
    },
    facts: (fixture) => [
      `copies: ${['db', 'solo'].map((volume) => fixture.placesOf(volume).length).join()}`,
      `intact: ${fixture.isIntact('db', 'solo')}`,
      `flags: ${fixture.flags().join()}`,
      `asked: ${fixture.askedDisks().join()}`,
      `policy: ${fixture.policyInForce()}`,
    ],
  })
}

function isWhole(fixture: LonghornFixture): boolean {
  return ['db', 'solo'].every((volume) => fixture.robustnessOf(volume) === 'healthy')
}

export const longhornCrashScenarios = {
  'lh-last-replica': onLonghorn(
    'the last copy on a node moves away before the node is empty',
    'block-for-eviction-if-contains-last-replica',
  ),
  'lh-evict-all': onLonghorn('all copies on a node move away before the node is empty', 'block-for-eviction'),
  'lh-rebuild-fails': onLonghorn(
    'the copy that is being rebuilt elsewhere fails once in the middle of a drain',
    'block-for-eviction',
    async (fixture) => {
      await fixture.seconds(8)
      fixture.controls.setRate(0)
      await fixture.seconds(20)
      fixture.controls.setRate(16 * mib)
    },
  ),
} satisfies Record<string, CrashScenario>
