import { expect, it } from 'vitest'
import type { CephCommands } from './ceph-commands.ts'
import { applyOsdNoout } from './osd-noout.ts'

function listening(codeOf: (who: readonly string[]) => number) {
  const asked: string[] = []
  const commands: CephCommands = {
    run: async ({ prefix, who }) => {
      const names = who as readonly string[]
      asked.push(`${prefix} ${names.join(' ')}`)
      return { code: codeOf(names), out: '', err: 'no' }
    },
  }
  return { commands, asked }
}

it('flags of many OSDs are one command each way', async () => {
  const { commands, asked } = listening(() => 0)
  expect(await applyOsdNoout(commands, { set: [0, 1], unset: [2] })).toEqual([])
  expect(asked).toEqual(['osd set-group osd.0 osd.1', 'osd unset-group osd.2'])
})

it('an OSD that was purged meanwhile keeps the flag of no other, and is no failure', async () => {
  const { commands, asked } = listening((who) => (who.includes('osd.1') ? 22 : 0))
  expect(await applyOsdNoout(commands, { set: [], unset: [0, 1] })).toEqual([])
  expect(asked).toEqual(['osd unset-group osd.0 osd.1', 'osd unset-group osd.0', 'osd unset-group osd.1'])
})

it('a refusal is said in words', async () => {
  const { commands } = listening(() => 13)
  expect(await applyOsdNoout(commands, { set: [4], unset: [] })).toEqual(['noout could not be set on osd.4: no'])
})
