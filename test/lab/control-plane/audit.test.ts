import { describe, expect, it } from 'vitest'
import { parseAudit, writtenByAll } from './audit.ts'

const event = (change: object) =>
  `${JSON.stringify({
    verb: 'update',
    user: { username: 'rook' },
    objectRef: { resource: 'poddisruptionbudgets', namespace: 'rook-ceph', name: 'rook-ceph-osd' },
    responseStatus: { code: 200 },
    requestURI: '/apis/policy/v1/namespaces/rook-ceph/poddisruptionbudgets/rook-ceph-osd',
    stageTimestamp: '2026-01-01T10:00:00.250000Z',
    ...change,
  })}\n`

describe('who wrote what', () => {
  it('a write is known by its user, its object and its time', () => {
    expect(parseAudit(event({}))).toEqual([
      {
        user: 'rook',
        verb: 'update',
        resource: 'poddisruptionbudgets',
        key: 'rook-ceph/rook-ceph-osd',
        atMs: Date.UTC(2026, 0, 1, 10, 0, 0, 250),
      },
    ])
  })

  it('what was refused, or only tried, is no write', () => {
    const tried = event({ requestURI: '/apis/policy/v1/namespaces/a/poddisruptionbudgets?dryRun=All' })
    expect(parseAudit(event({ responseStatus: { code: 409 } }) + tried)).toEqual([])
  })

  it('a line that the server has not finished is left for the next time', () => {
    expect(parseAudit(event({}) + event({}).slice(0, 40))).toHaveLength(1)
  })
})

describe('who fights over an object', () => {
  const other = { user: { username: 'cofferdam' } }
  const later = { stageTimestamp: '2026-01-01T10:00:01Z' }
  const map = { objectRef: { resource: 'configmaps', namespace: 'rook-ceph', name: 'rook-ceph-osd' } }

  it('two that write the same object do, also when one of them only created it', () => {
    const writes = parseAudit(event({ verb: 'create' }) + event(other))
    expect(writtenByAll(writes, ['rook', 'cofferdam'])).toEqual(['poddisruptionbudgets/rook-ceph/rook-ceph-osd'])
  })

  it('two objects of one name are not one, and a third writer is nobody we asked about', () => {
    const writes = parseAudit(event({}) + event({ ...other, ...map }) + event({ user: { username: 'admin' } }))
    expect(writtenByAll(writes, ['rook', 'cofferdam'])).toEqual([])
  })

  it('what was written before the hand-over is no fight after it', () => {
    const writes = parseAudit(event({}) + event({ ...other, ...later }))
    expect(writtenByAll(writes, ['rook', 'cofferdam'], Date.UTC(2026, 0, 1, 10, 0, 0, 500))).toEqual([])
  })
})
