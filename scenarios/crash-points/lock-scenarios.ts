import { type LockFixture, openLockFixture } from '../testing/lock-fixture.ts'
import { type LockScenario, lockScenarios } from '../testing/lock-stories.ts'
import { type CrashScenario, crashScenario } from './crash-scenario.ts'

function fromStory({ title, seed, act }: LockScenario): CrashScenario {
  return crashScenario<LockFixture>({
    title,
    async open() {
      const fixture = await openLockFixture()
      await seed(fixture)
      fixture.rebootForSeconds(45)
      return fixture
    },
    async act(fixture) {
      await fixture.seconds(5)
      await act(fixture)
    },
  })
}

export const lockCrashScenarios = {
  'skip-drain-reboot': fromStory(lockScenarios['skip-drain-reboot']),
  'crossed-pdbs': fromStory(lockScenarios['crossed-pdbs']),
  'app-lock-blocks': fromStory(lockScenarios['app-lock-blocks']),
  'app-lock-expires': fromStory(lockScenarios['app-lock-expires']),
} satisfies Record<string, CrashScenario>
