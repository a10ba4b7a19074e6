import { describe, expect, it } from 'vitest'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { evidenceBeside } from './outdated-evidence.ts'
import type { CephEvidence, FencedCluster, FencedOsd } from './snapshot.ts'
import { decide, exampleCluster, smallFencing, startMs } from './testing/small-fencing.ts'

const leaving = { isReady: false, isLeaving: true }

function seen(osd: Partial<FencedOsd>, evidence: Partial<CephEvidence> = {}, more: Partial<FencedCluster> = {}) {
  const cluster = exampleCluster(['a', 'b', 'c'])
  const osds = cluster.osds.map((each) => (each.id === 1 ? { ...each, ...osd } : each))
  const said = { polledAtMs: startMs, isClean: known(true), upOsds: new Set([0, 1, 2]), ...evidence }
  return { ...cluster, osds, evidence: known(said), ...more }
}

function cleanOf(cluster: FencedCluster, silent: readonly string[] = []): Observed<boolean> | 'no evidence' {
  const evidence = evidenceBeside(cluster, (node) => !silent.includes(node))
  return evidence.known ? evidence.value.isClean : 'no evidence'
}

const clean = known(true)
const left = unknown('Ceph was polled, and osd.1 is leaving, which it has not noticed yet')
const changed = unknown('Ceph was polled, and osd.1 started or stopped after that')

describe('that all data is clean', () => {
  const cases: Record<string, [FencedCluster, Observed<boolean>, silent?: readonly string[]]> = {
    'is believed while every OSD runs as it did when Ceph was polled': [
      seen({ isLeaving: false, changedMs: startMs - 1_000 }),
      clean,
    ],
    'is not known once an OSD was evicted: Ceph counts its copies until it notices, and a machine that is fenced meanwhile takes the second copy':
      [seen(leaving), left],
    'is not known when the OSD was evicted from a node that nobody knows': [
      seen({ ...leaving, nodeName: unknown('no pod') }),
      left,
    ],
    'is believed when Ceph counts without the OSD: its copies are elsewhere by now': [
      seen(leaving, { upOsds: new Set([0, 2]) }),
      clean,
    ],
    'is believed where the node is not Ready: its pods are deleted because it is silent, and else it could never be fenced':
      [seen(leaving), clean, ['b']],
    'is not known when an OSD restarted after the poll: what was written meanwhile is not on it': [
      seen({ changedMs: startMs + 5_000 }),
      changed,
    ],
    'is not known when it restarted in the second of the poll, for which came first is not on record': [
      seen({ changedMs: startMs }),
      changed,
    ],
    'is believed again by a poll that is a second younger': [
      seen({ changedMs: startMs }, { polledAtMs: startMs + 1_000 }),
      clean,
    ],
    'is not known when an OSD came that Ceph counted as down: data moves to it': [
      seen({ changedMs: startMs + 5_000 }, { upOsds: new Set([0, 2]) }),
      changed,
    ],
    'is believed of a record, which the operator does not write where it is outdated': [
      seen({ changedMs: startMs + 5_000 }, { isRecord: true }),
      clean,
    ],
    'is not known of a record either once an OSD leaves': [seen(leaving, { isRecord: true }), left],
    'is not known while OSDs cannot be read, for any of them may be gone': [
      seen({}, {}, { osds: [], osdsUnread: 'Forbidden' }),
      unknown('its OSDs cannot be read: Forbidden'),
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [cluster, expected, silent]) => {
    expect(cleanOf(cluster, silent)).toEqual(expected)
  })

  it('is asked again within seconds: a poll that says the same as before is told to nobody', () => {
    const objects = smallFencing({ clusters: [seen({ changedMs: startMs })] })
    expect([decide(objects), decide(smallFencing())].map(({ recheckAfterSeconds }) => recheckAfterSeconds)).toEqual([
      5, 60,
    ])
  })

  it('stays false when it was: what is known to be missing is no question of what came since', () => {
    expect(cleanOf(seen(leaving, { isClean: known(false) }))).toEqual(known(false))
  })

  it('is asked of nobody while Ceph is silent', () => {
    expect(cleanOf(seen(leaving, {}, { evidence: unknown('no answer') }))).toBe('no evidence')
  })
})
