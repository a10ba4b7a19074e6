import { type LockStage, lockText } from './lock-stage.ts'

/** A cluster, and what happens to it while an operator is there or comes back. It ends when all that was asked for is done. */
export interface LockStory {
  readonly title: string
  seed(stage: LockStage): Promise<void>
  act(stage: LockStage): Promise<void>
}

async function completed(stage: LockStage, ...requests: readonly string[]): Promise<void> {
  for (const name of requests) await stage.reach(name, 'Completed', 600)
  await stage.seconds(10)
}

export const lockStories = {
  'skip-drain-reboot': {
    title: 'a node reboots around the pod that stays, and all is as before',
    async seed(stage) {
      await stage.addStaying('db')
      await stage.addLeaving('web')
    },
    async act(stage) {
      stage.trace.chapter('node-1 is to be rebooted')
      await stage.request('reboot-1', { nodeName: 'node-1' })
      await completed(stage, 'reboot-1')
    },
  },
  'crossed-pdbs': {
    title: 'two nodes need the budgets of the same two applications; one goes, the other waits and goes then',
    async seed(stage) {
      await stage.addStaying('my-app')
      await stage.addStaying('your-app')
    },
    async act(stage) {
      stage.trace.chapter('node-1 and node-2 are to be rebooted, at the same moment')
      await Promise.all([
        stage.request('reboot-1', { nodeName: 'node-1' }),
        stage.request('reboot-2', { nodeName: 'node-2' }),
      ])
      await completed(stage, 'reboot-1', 'reboot-2')
    },
  },
  'app-lock-blocks': {
    title: 'the owner of an application has locked it; the drain waits until the lock is taken away',
    async seed(stage) {
      await stage.addStaying('db')
      await stage.addLeaving('web')
      await stage.lock('web', lockText(stage.clock, 3_600))
    },
    async act(stage) {
      stage.trace.chapter('node-1 is to be rebooted, and carries a pod of the locked application')
      await stage.request('reboot-1', { nodeName: 'node-1' })
      await stage.seconds(30)
      stage.trace.chapter('The owner is done')
      await stage.lock('web', undefined)
      await completed(stage, 'reboot-1')
    },
  },
  'app-lock-expires': {
    title: 'nobody takes the lock away, and it ends by itself',
    async seed(stage) {
      await stage.addStaying('db')
      await stage.addLeaving('web')
    },
    async act(stage) {
      stage.trace.chapter('The owner of db locks it for half a minute; node-1 is to be rebooted')
      await stage.lock('db', lockText(stage.clock, 30))
      await stage.request('reboot-1', { nodeName: 'node-1' })
      await completed(stage, 'reboot-1')
      await stage.lock('db', undefined)
    },
  },
} satisfies Record<string, LockStory>

export type LockStoryName = keyof typeof lockStories
