import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { parseRestartRequest, type RestartRequest, restartToCarry } from './restart-request.ts'

const now = Date.parse('2026-11-15T09:00:00Z')

function asking(text: string | undefined): CephCluster {
  const annotations = text === undefined ? {} : { 'cofferdam.io/restart-osds': text }
  return { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: { name: 'c', namespace: 'n', annotations } }
}

const nobody = { dueMs: undefined, waitMs: undefined }

describe('a restart of all OSDs that somebody asks for', () => {
  const cases: Record<string, { text: string | undefined; request: RestartRequest; carried: number | undefined }> = {
    'is not asked for without the annotation': { text: undefined, request: nobody, carried: undefined },
    'is due when its time has come': {
      text: '2026-11-15T10:00:00+01:00',
      request: { dueMs: now, waitMs: undefined },
      carried: now,
    },
    'waits where clocks differ a little, and goes along with what is written meanwhile': {
      text: '2026-11-15T09:00:30Z',
      request: { dueMs: undefined, waitMs: 30_000 },
      carried: now + 30_000,
    },
    'waits for a time that lies ahead, and says so': {
      text: '2026-11-15T10:00:00Z',
      request: {
        dueMs: undefined,
        waitMs: 3_600_000,
        problem:
          'annotation cofferdam.io/restart-osds 2026-11-15T10:00:00Z lies ahead; no OSD is restarted before that',
      },
      carried: undefined,
    },
    'is refused when it is no time': {
      text: 'tomorrow',
      request: {
        ...nobody,
        problem:
          'annotation cofferdam.io/restart-osds "tomorrow" is no RFC 3339 time such as 2026-11-15T08:00:00Z; no OSD is restarted',
      },
      carried: undefined,
    },
    'is refused when it is empty': {
      text: '',
      request: {
        ...nobody,
        problem:
          'annotation cofferdam.io/restart-osds "" is no RFC 3339 time such as 2026-11-15T08:00:00Z; no OSD is restarted',
      },
      carried: undefined,
    },
  }
  for (const [name, { text, request, carried }] of Object.entries(cases)) {
    it(name, () => {
      expect([parseRestartRequest(asking(text), now), restartToCarry(asking(text), now)]).toEqual([request, carried])
    })
  }
})
