import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import {
  isPodBefore,
  isRestartedFor,
  parseRestartRequest,
  type RestartRequest,
  restartToCarry,
  withRestart,
} from './restart-request.ts'
import { startedDeployment } from './started-deployment.ts'
import { cephCluster, osdDeployment, osdPod } from './testing/pass-fixture.ts'

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

describe('an OSD that is restarted on request', () => {
  const plain = osdDeployment(0, 'ceph:new')
  const restarted = withRestart(plain, now)

  it('is marked in its template, and the same request changes nothing more: it would restart for ever', () => {
    expect([isRestartedFor(plain, now), isRestartedFor(restarted, now)]).toEqual([false, true])
    expect(withRestart(restarted, now)).toBe(restarted)
    expect(isRestartedFor(restarted, now + 1_000)).toBe(false)
  })

  it('counts what is asked for within the same second as done, for the mark has no parts of one', () => {
    expect(isRestartedFor(restarted, now + 900)).toBe(true)
  })

  it('goes along with another change only where that restarts the OSD anyway', () => {
    const spec = { ...cephCluster().spec, labels: { osd: { team: 'storage' } } }
    const marked = (deployment: typeof plain) =>
      startedDeployment(deployment, { ...asking('2026-11-15T09:00:00Z'), spec }, now).spec.template.metadata
        ?.annotations?.['cofferdam.io/restarted-at']
    const ready = startedDeployment(plain, { ...asking(undefined), spec }, now)
    const unlabelled = { ...ready, metadata: plain.metadata }
    expect([marked(osdDeployment(0, 'ceph:old')), marked(ready), marked(unlabelled)]).toEqual([
      '2026-11-15T09:00:00Z',
      '2026-11-15T09:00:00Z',
      undefined,
    ])
  })

  it.each([
    ['created before it was asked for is to go', { creationTimestamp: '2026-11-15T08:00:00Z' }, true],
    ['created since stays', { creationTimestamp: '2026-11-15T09:30:00Z' }, false],
    ['of unknown age is to go, for it may be the old one', {}, true],
    ['that is going already is not sent again', { deletionTimestamp: '2026-11-15T09:00:00Z' }, false],
  ])('a pod %s', (_, metadata, isBefore) => {
    const pod = osdPod(0)
    expect(isPodBefore({ ...pod, metadata: { ...pod.metadata, ...metadata } }, now)).toBe(isBefore)
  })
})
