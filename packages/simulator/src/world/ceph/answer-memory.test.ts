import { expect, it } from 'vitest'
import type { CephCommand } from './ceph-commands.ts'
import { openCeph } from './testing/ceph-fixture.ts'

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
  const fixture = await openCeph()
  let compared = 0
  async function compareFor(seconds: number): Promise<void> {
    for (let step = 0; step < seconds * 4; step += 1) {
      await fixture.seconds(0.25)
      for (const { prefix, ...asked } of questions) {
        const remembered = await fixture.run(prefix, asked)
        // Not among the remembered ones: after it everything is made anew.
        await fixture.run('osd stat')
        expect(await fixture.run(prefix, asked)).toEqual(remembered)
        // Twice without anything between is where the memory serves.
        expect(await fixture.run(prefix, asked)).toEqual(remembered)
        compared += 1
      }
    }
  }
  await compareFor(3)
  await fixture.emptyNode('node-1')
  await compareFor(12)
  await fixture.run('osd set-group', { flags: 'noout', who: ['node-1'] })
  await compareFor(3)
  fixture.ceph.controls.killMgr(2_000)
  await fixture.seconds(10)
  await fixture.cordon('node-1', false)
  await compareFor(15)
  expect(compared).toBe(33 * 4 * questions.length)
  fixture.stop()
})

it('one who asks all the time hears at the end what one hears who asks once', async () => {
  async function lastWords(asksAllTheTime: boolean): Promise<string[]> {
    const fixture = await openCeph()
    await fixture.emptyNode('node-1')
    for (let step = 0; step < 60; step += 1) {
      await fixture.seconds(0.5)
      if (asksAllTheTime) for (const { prefix, ...asked } of questions) await fixture.run(prefix, asked)
      if (step === 30) await fixture.cordon('node-1', false)
    }
    const words: string[] = []
    for (const { prefix, ...asked } of questions) words.push((await fixture.run(prefix, asked)).out)
    fixture.stop()
    return words
  }
  expect(await lastWords(true)).toEqual(await lastWords(false))
})
