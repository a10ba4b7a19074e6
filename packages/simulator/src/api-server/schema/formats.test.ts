import { describe, expect, it } from 'vitest'
import { durationSeconds, isOfFormat } from './formats.ts'

const texts: Record<string, { yes: string[]; no: string[] }> = {
  'date-time': {
    yes: ['2024-02-29T23:59:59Z', '2024-01-01T00:00:00.123456Z', '2024-01-01t00:00:00+02:00'],
    no: [
      '2023-02-29T00:00:00Z',
      '2024-13-01T00:00:00Z',
      '2024-01-01T24:00:00Z',
      '2024-01-01',
      '2024-01-00T00:00:00Z',
      '',
    ],
  },
  date: { yes: ['2024-12-31'], no: ['2024-11-31', '2024-1-1'] },
  duration: { yes: ['1h', '1h30m', '1.5s', '-3ms', '0'], no: ['1', '1 h', 'h', '1x', ''] },
  byte: { yes: ['', 'YQ==', 'YWJj'], no: ['YQ', 'Y Q=', '=YQ='] },
  ipv4: { yes: ['10.0.0.1'], no: ['10.0.0', '::1'] },
  ipv6: { yes: ['::1', 'fe80::1'], no: ['10.0.0.1', ':::'] },
  cidr: { yes: ['10.0.0.0/8', '::/0'], no: ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/08'] },
  uuid: { yes: ['6f1b2a3c-0000-4000-8000-00000000abcd'], no: ['6f1b2a3c'] },
  mac: { yes: ['00:1b:44:11:3a:b7'], no: ['00:1b:44:11:3a'] },
  'k8s-short-name': { yes: ['a-1'], no: ['A', 'a.b', '-a', 'a'.repeat(64)] },
}

describe('isOfFormat', () => {
  for (const [format, { yes, no }] of Object.entries(texts)) {
    it(`tells ${format} from what only looks like it`, () => {
      expect(yes.filter((text) => !isOfFormat(text, format))).toEqual([])
      expect(no.filter((text) => isOfFormat(text, format))).toEqual([])
    })
  }
})

describe('durationSeconds', () => {
  it('adds up the parts and keeps the sign', () => {
    expect(['1h30m', '-1.5s', '250ms', '0', 'soon'].map(durationSeconds)).toEqual([5400, -1.5, 0.25, 0, undefined])
  })
})
