import { expect, it } from 'vitest'
import { readSample } from '../../../ceph/testing/read-sample.ts'
import { known } from '../../../shared/observed.ts'
import { parseOsdUuids } from './observe-osd-uuids.ts'

it('tells the UUID of every OSD that a real Ceph knows', () => {
  const dump = readSample('healthy-osd-dump') as {
    fsid: string
    osds: { osd: number; uuid: string }[]
  }
  const uuids = new Map(dump.osds.map(({ osd, uuid }) => [osd, uuid]))
  expect(uuids.size).toBeGreaterThan(1)
  expect(parseOsdUuids(dump)).toEqual(known({ fsid: dump.fsid, uuids }))
})

it('one OSD without a UUID makes all of it unknown, so that no result is judged by half an answer', () => {
  expect(parseOsdUuids({ fsid: 'f', osds: [{ osd: 0, uuid: 'u' }, { osd: 1 }] })).toMatchObject({ known: false })
})
