import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createKey, keyringText, operatorCaps } from './keyring.ts'

it('a key has the form of those that Ceph makes, so that its daemons take it', () => {
  const key = createKey(
    Uint8Array.from({ length: 16 }, (_, index) => index),
    0x65_00_00_01,
  )
  expect(Buffer.from(key, 'base64').toString('hex')).toBe(
    `0100010000650000000010${'00'}000102030405060708090a0b0c0d0e0f`,
  )
})

it('a right that names a command keeps its quotes inside the keyring', () => {
  const caps = { mon: 'allow command "osd set-group"' }
  expect(keyringText([{ name: 'client.cofferdam', key: 'abc', caps }])).toBe(
    '[client.cofferdam]\n\tkey = abc\n\tcaps mon = "allow command \\"osd set-group\\""\n',
  )
})

it('the operator of the lab has the rights that its guide asks for, and no others', () => {
  const guide = readFileSync(new URL('../../../docs/ceph-drain.md', import.meta.url), 'utf8')
  const asked = /ceph auth get-or-create client\.cofferdam \\\n {2}mon '([^']*)' \\\n {2}mgr '([^']*)'\n/.exec(guide)
  expect(operatorCaps).toEqual({ mon: asked?.[1], mgr: asked?.[2] })
})
