import { basename } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'

/** Suites whose figures stand in a table beside a goal or a peer: a lab beside them would be in the figures. */
const measured = ['test/lab/reaction.lab.ts', 'test/lab/rook-drains.lab.ts']

/** Those that run only where one of them is named, and no other suite: a run of everything is long enough. */
const named = ['test/lab/ceph-timing.lab.ts', 'test/lab/image-arm64.lab.ts', 'test/lab/real-node.lab.ts']

/** Those that take minutes, the longest first: begun late, one of them would run alone at the end. */
const long = [
  'under-fire',
  'rook-osds',
  'longhorn-brain',
  'two-drains',
  'osd-update',
  'rolling',
  'drain-lock',
  'uninstall',
  'upgrade',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]): ReturnType<BaseSequencer['sort']> {
    const rankOf = ({ moduleId }: (typeof files)[number]) => {
      const place = long.indexOf(basename(moduleId, '.lab.ts'))
      return place === -1 ? long.length : place
    }
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other))
  }
}

const suite = {
  setupFiles: [
    'test/seed-properties.ts',
    'test/lab/processes/tell-failures.ts',
    'test/lab/processes/end-with-the-run.ts',
  ],
  pool: 'forks' as const,
  // The longest takes 160 s where four others share its cores.
  testTimeout: 300_000,
  hookTimeout: 180_000,
  teardownTimeout: 30_000,
}

/** Suites with real parts. A lab waits more than it works, so two run side by side; those that measure come after, one at a time. */
export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...suite,
          name: 'together',
          include: ['test/lab/**/*.lab.ts'],
          exclude: [...measured, ...named],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...suite,
          name: 'alone',
          include: measured,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...suite, name: 'named', include: named, sequence: { groupOrder: 2 } } },
    ],
  },
})
