import { describe, expect, it } from 'vitest'
import { isAsPromised } from './compare-output.ts'

const equal: Record<string, readonly [printed: string, promised: string]> = {
  'ages differ with every reader, and columns with the ages': [
    'NAME     AGE\narchive  2m13s\n',
    'NAME   AGE\narchive   18s',
  ],
  'hashes in names of pods differ with every start': [
    'pod/instance-manager-809de4cfd17a302da57192baf20cd3ea evicted\npod/web-89794645f-jhclc evicted',
    'pod/instance-manager-8b18127f69626362eae685290e3c2540 evicted\npod/web-89794645f-z7pjj evicted',
  ],
  'moments, addresses and ports differ': [
    'since 2026-11-17T02:27:09Z at http://127.0.0.1:36671 as worker-a1-20261117-023000',
    'since 2026-07-01T10:00:00Z at http://127.0.0.1:7400 as worker-a1-20260701-100000',
  ],
  'how far a copy is differs': ['0 B of 1 GiB moved, 46 MiB/s', '573 MiB of 1 GiB moved, 61.5 MiB/s'],
  'the reader is not the author': ['locked by root@vm', 'locked by ann@laptop'],
  'a dot line stands for any lines, none too': ['first\nlast', 'first\n…\nlast'],
  'a dot line at the end stands for the rest': ['first\nsecond\nthird', 'first\n…'],
  'dots in a line stand for the rest of it': ['Pod a must stay: because', 'Pod a must stay: …'],
}
const different: Record<string, readonly [printed: string, promised: string]> = {
  'a line that was not promised is a difference, or the document hides what people see': [
    'first\nmore\nlast',
    'first\nlast',
  ],
  'a promised line that is missing is a difference': ['first', 'first\nlast'],
  'another state is a difference': ['node-a Ready', 'node-a NotReady'],
  'another count is a difference': ['rook-ceph-osd N/A 1 1 5s', 'rook-ceph-osd N/A 1 0 5s'],
  'a promised character that is special in patterns means itself': ['a-b', 'a.b'],
  'nothing printed is not what any text promises': ['', 'first'],
}

describe('what a command printed and what a document promises', () => {
  it.each(Object.entries(equal))('equal: %s', (_name, [printed, promised]) => {
    expect(isAsPromised(printed, promised)).toBe(true)
  })
  it.each(Object.entries(different))('different: %s', (_name, [printed, promised]) => {
    expect(isAsPromised(printed, promised)).toBe(false)
  })
})
