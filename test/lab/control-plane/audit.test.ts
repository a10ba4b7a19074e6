import { describe, expect, it } from 'vitest'
import { parseAudit } from './audit.ts'

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
