import { expect, it } from 'vitest'
import type { CephCommand } from './ceph-commands.ts'
import { openCeph } from './testing/ceph-stage.ts'

const questions: readonly CephCommand[] = [
  { prefix: 'osd dump' },
  { prefix: 'osd crush dump' },
  { prefix: 'osd tree' },
  { prefix: 'osd metadata' },
  { prefix: 'versions' },
  { prefix: 'pg dump', dumpcontents: ['pgs'] },
  { prefix: 'pg dump', dumpcontents: ['pgs_brief'] },
  { prefix: 'pg dump', dumpcontents: ['pgs'], format: 'plain' },
  { prefix: 'status' },
  { prefix: 'quorum_status' },
]

// An answer that outlives its truth would let a drain go on over data that is no longer whole.
it('what is remembered is what would be said anew, at every moment of a drain and of a lost mgr', async () => {
  const stage = await openCeph()
  let compared = 0
  async function compareFor(seconds: number): Promise<void> {
    for (let step = 0; step < seconds * 4; step += 1) {
      await stage.seconds(0.25)
      for (const { prefix, ...asked } of questions) {
        const remembered = await stage.run(prefix, asked)
        // Not among the remembered ones: after it everything is made anew.
        await stage.run('osd stat')
        expect(await stage.run(prefix, asked)).toEqual(remembered)
        // Twice without anything between is where the memory serves.
        expect(await stage.run(prefix, asked)).toEqual(remembered)
        compared += 1
      }
    }
  }
  await compareFor(3)
  await stage.emptyNode('node-1')
  await compareFor(12)
  await stage.run('osd set-group', { flags: 'noout', who: ['node-1'] })
  await compareFor(3)
  stage.ceph.controls.killMgr(2_000)
  await stage.seconds(10)
  await stage.cordon('node-1', false)
  await compareFor(15)
  expect(compared).toBe(33 * 4 * questions.length)
  stage.stop()
})

it('one who asks all the time hears at the end what one hears who asks once', async () => {
  async function lastWords(asksAllTheTime: boolean): Promise<string[]> {
    const stage = await openCeph()
    await stage.emptyNode('node-1')
    for (let step = 0; step < 60; step += 1) {
      await stage.seconds(0.5)
      if (asksAllTheTime) for (const { prefix, ...asked } of questions) await stage.run(prefix, asked)
      if (step === 30) await stage.cordon('node-1', false)
    }
    const words: string[] = []
    for (const { prefix, ...asked } of questions) words.push((await stage.run(prefix, asked)).out)
    stage.stop()
    return words
  }
  expect(await lastWords(true)).toEqual(await lastWords(false))
})
